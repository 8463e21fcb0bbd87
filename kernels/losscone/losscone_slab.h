/* losscone_slab.h: where everything stands in the slab, in numbers from its beginning. Plain C: the host asks
 * for the sizes.
 *
 *   cells ─┬─► search: boxes, heap, visits ─► beam ─► solve ─► profile ─┬─► confidence
 *          └─► point ─► evolve                                          └─► bootstrap
 *
 * The entry losscone_misfit has a slab of its own.
 */
#ifndef PARITAS_LOSSCONE_SLAB_H
#define PARITAS_LOSSCONE_SLAB_H

#include "losscone/losscone_rows.h"

/* A family is a row, or one of the five energies of a folded row. */
#define SWEEP_FAMILIES (SWEEP_SLOTS * LOSSCONE_ENERGIES)
#define SWEEP_SLOT_CELLS (SWEEP_SLOTS * SWEEP_CELLS)

/* ---- misfits at points (losscone_direct.h) ---- */

#define MISFIT_POINTS 16 /* at once */
#define MISFIT_ROWS (MISFIT_POINTS * SWEEP_ROWS)
enum misfit_slab {
    PLACE8(DIRECT_SINE, SWEEP_ALL),    /* sin^2 of the pitch angle; 2 of cells that are never in the cone */
    PLACE8(DIRECT_PROFILE, SWEEP_ALL), /* the beam's, in pitch angle */
    PLACE8(DIRECT_DATUM, SWEEP_ALL),   /* what the misfit compares with the model; DIRECT_NONE: nothing */
    PLACE8(MISFIT_SUMS, MISFIT_ROWS),
    MISFIT_CELLS,
    MISFIT_SLAB
};

/* ---- losscone_cells.h ---- */

/* A table over k = 0 .. SWEEP_CELLS, and an end; row i of k is at k SWEEP_SLOTS + i. */
#define CELLS_TABLE ((SWEEP_CELLS + 2) * SWEEP_SLOTS)
#define CELLS_TABLES (LOSSCONE_ENERGIES * CELLS_TABLE)
enum cells_slab {
    CELLS_BASE,                            /* misfit where no cell is in the cone */
    CELLS_NUMBER,                          /* valid cells, of both hemispheres */
    CELLS_LEVELS,                          /* most thresholds of a row */
    PLACE8(CELLS_INVERSE, SWEEP_FAMILIES), /* c of each family; those of a row by falling energy */
    PLACE8(CELLS_COUNT, SWEEP_SLOTS),      /* of each row: reflected valid cells, */
    PLACE8(CELLS_MOST, SWEEP_SLOTS),       /* thresholds, */
    PLACE8(CELLS_PART, SWEEP_SLOTS),       /* its part of CELLS_BASE, */
    PLACE8(CELLS_VALID, SWEEP_SLOTS),      /* and of CELLS_NUMBER */
    PLACE8(CELLS_THRESHOLD, CELLS_TABLE),  /* ascending; NO_THRESHOLD behind the last */
    PLACE8(CELLS_STEPS, CELLS_TABLES),     /* STEP or G_1 .. G_5 of each k */
    PLACE8(CELLS_BELOW, CELLS_TABLE),      /* how many cells the first k thresholds hold */
    /* reflected cells of row i from i SWEEP_CELLS on, in the order of the thresholds: ln(flux + 1e-6), of
     * Lillis the flux; and sin^2 of the pitch angle */
    PLACE8(CELLS_DATA, SWEEP_SLOT_CELLS),
    PLACE8(CELLS_SINE, SWEEP_SLOT_CELLS),
    PLACE8(CELLS_ALL, SWEEP_SLOT_CELLS), /* data of all cells, in the sweep's order */
    CELLS_SIZE
};

/* ---- losscone_bound.h, losscone_plateau.h ---- */

enum bounds_of_families {
    PLACE8(BOUND_LEAST, SWEEP_FAMILIES), /* least STEP */
    PLACE8(BOUND_FIRST, SWEEP_FAMILIES), /* least k, */
    PLACE8(BOUND_LINES, SWEEP_FAMILIES), /* and how much the largest is above it */
    /* by how much more the side in r moves an edge that is uncertain than the side in U */
    PLACE8(BOUND_LEAN, SWEEP_FAMILIES),
    BOUND_SIZE
};
#define POLYGON_ROOM (2 * (4 + 2 * SWEEP_FAMILIES)) /* a, b of each vertex */

/* ---- losscone_search.h, losscone_beam.h, losscone_solve.h, losscone_profile.h ---- */

/* What waits for its turn: boxes; cells, by a point of theirs. Intervals of a profile are boxes of one U. */
enum search_box_entry { BOX_U0, BOX_U1, BOX_R0, BOX_R1, BOX_LINES, BOX_LEAN, BOX_BOUND, BOX_KIND, BOX_SIZE };
enum search_cell_entry { CELL_U, CELL_R };

#define SEARCH_EDGES 7 /* of the slices of U, besides the bounds */
#define SEARCH_HEAP_MOST 1024
#define SEARCH_STACK_MOST 128
#define SEARCH_PENDING_MOST 4
#define SEARCH_REMEMBERED_MOST 64 /* cells that are known to be solved */
#define SEARCH_POOL_ROOM (SEARCH_HEAP_MOST * BOX_SIZE)
#define SEARCH_STACK_ROOM (SEARCH_STACK_MOST * BOX_SIZE)
#define SEARCH_BOXES_ROOM (SEARCH_PENDING_MOST * BOX_SIZE)
#define SEARCH_BOUNDS_ROOM (SEARCH_PENDING_MOST * BOUND_SIZE)
#define SEARCH_MEMORY (SEARCH_REMEMBERED_MOST * SWEEP_SLOTS)

#define VISIT_LINES 12 /* no box has more when its cells are visited */
#define VISIT_ROOM (8 + 4 * (VISIT_LINES + 1))
#define VISIT_ALL (VISIT_ROOM * (VISIT_LINES + 2))

#define BEAM_NODES 10
#define BEAM_STRIDE 96 /* of a table of a row, by how many of its cells are in the cone */
#define BEAM_TABLE (SWEEP_SLOTS * BEAM_STRIDE)
#define BEAM_TABLES (BEAM_NODES * BEAM_TABLE)
#define BEAM_SPARES 4
#define BEAM_SPARE_ROOM (BEAM_SPARES * SWEEP_SLOT_CELLS)

#define SOLVE_PASSING 5u /* samples of U where the beam passes a row */
#define SOLVE_SAMPLES (SWEEP_SLOTS * SOLVE_PASSING + 2)

#define PROFILE_LINES 24 /* at most: lines of an interval whose cells are visited */

enum search_slab {
    SEARCH_ACTION = CELLS_SIZE, /* what comes next: search_action */
    SEARCH_PENDING,             /* boxes to be bounded */
    SEARCH_BEST,                /* least misfit found */
    SEARCH_BOXES,               /* bounded so far */
    SEARCH_SOLVED,              /* cells evaluated so far */
    SEARCH_HEAPED,              /* boxes in the heap */
    SEARCH_STACKED,             /* boxes on the stack */
    SEARCH_USED,                /* places of the pool ever used */
    SEARCH_FREE,                /* places given back */
    SEARCH_SLICE,               /* the next one of U */
    SEARCH_SLICES,
    SEARCH_SIDE, /* 1 where the best plateau was found at U > 0 */
    SEARCH_GAP,
    SEARCH_NEAR,       /* SEARCH_CLOSE of this run */
    SEARCH_ROUGH,      /* 1: bound the pending boxes roughly (losscone_beam.h) */
    SEARCH_REMEMBERED, /* cells solved so far */
    SEARCH_BEST_U,     /* where the best was found, if there may be a beam */
    SEARCH_BEST_A,
    PLACE8(SEARCH_EDGE, SEARCH_EDGES + 2),
    PLACE8(SEARCH_PENDING_BOX, SEARCH_BOXES_ROOM),    /* the pending boxes, */
    PLACE8(SEARCH_PENDING_BOUND, SEARCH_BOUNDS_ROOM), /* and what is known of their families */
    PLACE8(SEARCH_KEY, SEARCH_HEAP_MOST),             /* the heap: bounds, */
    PLACE8(SEARCH_PLACE, SEARCH_HEAP_MOST),           /* and where in the pool their boxes are */
    PLACE8(SEARCH_GIVEN_BACK, SEARCH_HEAP_MOST),
    PLACE8(SEARCH_POOLED, SEARCH_POOL_ROOM),
    PLACE8(SEARCH_DEEP, SEARCH_STACK_ROOM),
    PLACE8(SEARCH_SOLVED_CELL, SEARCH_MEMORY), /* k of their rows */
    /* a visit: the families that lines cross, k of each, the sums so far, the least that the rest adds */
    PLACE8(VISIT_FAMILY, VISIT_LINES),
    PLACE8(VISIT_K, VISIT_LINES),
    PLACE8(VISIT_SUM, VISIT_LINES),
    PLACE8(VISIT_REST, VISIT_LINES),
    PLACE8(VISIT_MODE, SWEEP_SLOTS), /* of the beam's bounds for the box */
    PLACE8(VISIT_FACTOR, SWEEP_SLOTS),
    PLACE8(VISIT_POLYGONS, VISIT_ALL),
    PLACE8(SEARCH_TRIED, SWEEP_FAMILIES),  /* k of all families at the visited cell, */
    PLACE8(SEARCH_CHOSEN, SWEEP_FAMILIES), /* at the best */
    PLACE8(SEARCH_VALUES, SWEEP_FAMILIES),
    PLACE8(SEARCH_POLYGON, 3 * POLYGON_ROOM), /* the plateau, and room to clip it */
    PLACE8(SEARCH_OUTCOME, OUTCOME_SIZE),

    PLACE8(BEAM_KNOWN, SWEEP_SLOTS),  /* what is known of each row: beam_knowledge */
    PLACE8(BEAM_CELLS, SWEEP_SLOTS),  /* how many cells notice */
    PLACE8(BEAM_MODE, SWEEP_SLOTS),   /* of the box last bounded: beam_mode */
    PLACE8(BEAM_FACTOR, SWEEP_SLOTS), /* of BEAM_BY_SLOPE: amplitude */
    PLACE8(BEAM_PROFILES, SWEEP_SLOT_CELLS),
    PLACE8(BEAM_EXACTS, BEAM_TABLE), /* misfit of these cells without beam */
    PLACE8(BEAM_SLOPES, BEAM_TABLE),
    PLACE8(BEAM_GAINS, BEAM_TABLES),
    PLACE8(BEAM_SPARE_CELLS, BEAM_SPARE_ROOM),

    SOLVE_REST,  /* misfit of all cells that do not notice */
    SOLVE_COUNT, /* rows that do, in a list */
    SOLVE_U,     /* the answer */
    SOLVE_A,
    SOLVE_VALUE,
    PLACE8(SOLVE_ROW, SWEEP_SLOTS),
    PLACE8(SOLVE_CELLS, SWEEP_SLOTS),
    PLACE8(SOLVE_HEIGHT, SWEEP_SLOTS), /* of the beam, */
    PLACE8(SOLVE_TURN, SWEEP_SLOTS),   /* and its derivative by U */
    PLACE8(SOLVE_EXACT, SWEEP_SLOTS),  /* misfit without beam */
    /* Lillis: sums of profile times (datum - model without beam), and of the profile's squares */
    PLACE8(SOLVE_PULL, SWEEP_SLOTS),
    PLACE8(SOLVE_SQUARE, SWEEP_SLOTS),
    PLACE8(SOLVE_SAMPLE, SOLVE_SAMPLES), /* samples of U, of each the best value and its amplitude */
    PLACE8(SOLVE_SCANNED, SOLVE_SAMPLES),
    PLACE8(SOLVE_NODE, SOLVE_SAMPLES),
    PLACE8(SOLVE_BASES, BEAM_TABLE), /* model of a row's cells without beam */
    SEARCH_SLAB,

    PROFILE_BEST = SEARCH_SLAB,
    PROFILE_R,
    PROFILE_A,
    PROFILE_WAITING,                          /* intervals to be halved, in the search's pool */
    PLACE8(PROFILE_K, SWEEP_FAMILIES),        /* of the families, along a visit, */
    PLACE8(PROFILE_STEP, SWEEP_FAMILIES),     /* and what they add at least */
    PLACE8(PROFILE_KEPT, SWEEP_FAMILIES),     /* k at the best */
    PLACE8(PROFILE_EVENT, PROFILE_LINES + 8), /* thresholds inside an interval: r, ascending, */
    PLACE8(PROFILE_WHOSE, PROFILE_LINES + 8), /* and their families */
    PLACE8(PROFILE_PIECE, PROFILE_LINES + 8), /* bounds of what is between them */
    PROFILE_SLAB
};

/* ---- losscone_confidence.h, losscone_bootstrap.h ---- */

enum confidence_slab {
    CONFIDENCE_FOUND = PROFILE_SLAB, /* intervals */
    CONFIDENCE_AGAIN,
    PLACE8(CONFIDENCE_ENDS, 2 * CONFIDENCE_SETS + 2), /* theirs, and of one more until it is joined */
    PLACE8(CONFIDENCE_FLAG, 1)                        /* of each potential: confidence_flag */
};
#define CONFIDENCE_SLAB(potentials) (CONFIDENCE_FLAG + (size_t)(potentials))

enum bootstrap_slab {
    BOOTSTRAP_WIDE = PROFILE_SLAB, /* 1: all cells are drawn */
    /* what the misfit would compare with without noise: of reflected cells as CELLS_DATA, of all as
     * CELLS_ALL */
    PLACE8(BOOTSTRAP_REFLECTED, SWEEP_SLOT_CELLS),
    PLACE8(BOOTSTRAP_ALL, SWEEP_SLOT_CELLS),
    BOOTSTRAP_SLAB
};

/* ---- losscone_point.h, losscone_evolve.h ---- */

#define POINT_BUCKETS 128
#define POINT_STRIDE 136    /* buckets of a row, and one for x from 1 on */
#define POINT_ENTRY 8       /* a threshold and the steps behind it */
#define POINT_THRESHOLDS 96 /* of a row */
#define POINT_STARTS (SWEEP_SLOTS * POINT_STRIDE)
#define POINT_TABLES (SWEEP_SLOTS * POINT_ENTRY * POINT_THRESHOLDS)
#define EVOLVE_PATIENCE 10 /* generations without a gain end the fit */
enum evolve_slab {
    EVOLVE_BEGIN = CELLS_SIZE,
    PLACE8(EVOLVE_LEAST, EVOLVE_PATIENCE + 1), /* the least value after each generation, in turn */
    PLACE8(POINT_START, POINT_STARTS),
    PLACE8(POINT_TABLE, POINT_TABLES), /* of each row: threshold k, then STEP or G_1 .. G_5 of k */
    /* of row i from i SWEEP_CELLS on: the beam's profile, 0 in the padding */
    PLACE8(POINT_PROFILE, SWEEP_SLOT_CELLS),
    PLACE8(POINT_SINE, SWEEP_SLOT_CELLS), /* sin^2; 2 of cells that are never in the cone */
    PLACE8(POINT_DATUM, SWEEP_SLOT_CELLS),
    PLACE8(POINT_REACHED, SWEEP_SLOTS),    /* how many cells the beam may reach, up to a multiple of 8 */
    PLACE8(POINT_ENERGY, SWEEP_SLOTS),     /* eV */
    PLACE8(POINT_SPACECRAFT, SWEEP_SLOTS), /* its potential, V */
    PLACE8(EVOLVE_VALUES, EVOLVE_STARTS),  /* of the Latin hypercube */
    PLACE8(EVOLVE_MEMBERS, 1)
};
/* A number a member, `members` (a multiple of 8) apart, from EVOLVE_MEMBERS on. */
#define EVOLVE_WORDS 6 /* numbers of 16 random bits of a trial */
enum evolve_column {
    PLACE(EVOLVE_WORD, EVOLVE_WORDS),
    EVOLVE_NUMBER,                                /* 0, 1, 2, .. */
    PLACE(EVOLVE_TURN, 2 * (LOSSCONE_POINT + 1)), /* two populations in turn: U, r, A, value */
    EVOLVE_COLUMNS
};
#define EVOLVE_SLAB(members) (EVOLVE_MEMBERS + EVOLVE_COLUMNS * (size_t)(members))

#endif
