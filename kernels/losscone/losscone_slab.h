/* losscone_slab.h: layout of the slab in numbers. Plain C: the host needs the sizes.
 *
 *   cells ─┬─► search ─► beam ─► solve ─► profile ─┬─► confidence
 *          └─► point ─► evolve                     └─► bootstrap
 *
 * losscone_misfit has a slab of its own. */
#pragma once

#include "losscone/sweep_layout.h"

/* A family is a row, or one energy of a folded row's five. */
#define SWEEP_FAMILIES (SWEEP_SLOTS * LOSSCONE_ENERGIES)
#define SWEEP_SLOT_CELLS (SWEEP_SLOTS * SWEEP_CELLS)

/* ---- losscone_direct.h ---- */

#define MISFIT_POINTS 16
enum misfit_slab {
    PLACE8(DIRECT_SINE, SWEEP_ALL),    /* sin^2 of the pitch angle; 2: never in the cone */
    PLACE8(DIRECT_PROFILE, SWEEP_ALL), /* the beam's, by pitch angle */
    PLACE8(DIRECT_DATUM, SWEEP_ALL),   /* DIRECT_NONE: not compared */
    PLACE8(MISFIT_SUMS, (MISFIT_POINTS * SWEEP_ROWS)),
    MISFIT_CELLS,
    MISFIT_SLAB
};

/* ---- losscone_cells.h ---- */

/* [k][row], k = 0 .. SWEEP_CELLS, and an end */
#define CELLS_TABLE ((SWEEP_CELLS + 2) * SWEEP_SLOTS)
enum cells_slab {
    CELLS_BASE,                                             /* misfit with no cell in the cone */
    CELLS_NUMBER,                                           /* valid cells */
    CELLS_LEVELS,                                           /* most thresholds of a row */
    PLACE8(CELLS_INVERSE, SWEEP_FAMILIES),                  /* c of each family, by falling energy */
    PLACE8(CELLS_COUNT, SWEEP_SLOTS),                       /* reflected valid cells */
    PLACE8(CELLS_MOST, SWEEP_SLOTS),                        /* thresholds */
    PLACE8(CELLS_PART, SWEEP_SLOTS),                        /* of CELLS_BASE */
    PLACE8(CELLS_VALID, SWEEP_SLOTS),                       /* of CELLS_NUMBER */
    PLACE8(CELLS_THRESHOLD, CELLS_TABLE),                   /* ascending, then NO_THRESHOLD */
    PLACE8(CELLS_STEPS, (LOSSCONE_ENERGIES * CELLS_TABLE)), /* STEP or G_1 .. G_5 of k */
    PLACE8(CELLS_BELOW, CELLS_TABLE),                       /* cells in the first k thresholds */
    /* reflected cells by threshold: ln(flux + 1e-6) (Lillis: flux), sin^2 of the pitch angle */
    PLACE8(CELLS_DATA, SWEEP_SLOT_CELLS),
    PLACE8(CELLS_SINE, SWEEP_SLOT_CELLS),
    PLACE8(CELLS_ALL, SWEEP_SLOT_CELLS),                 /* all cells in the sweep's order */
    PLACE8(CELLS_QUALITY, (QUALITY_SIZE * SWEEP_SLOTS)), /* quality_number of rows */
    CELLS_SIZE
};

/* ---- losscone_bound.h, losscone_plateau.h ---- */

enum bounds_of_families {
    PLACE8(BOUND_LEAST, SWEEP_FAMILIES),
    PLACE8(BOUND_FIRST, SWEEP_FAMILIES),
    PLACE8(BOUND_LINES, SWEEP_FAMILIES), /* largest k less BOUND_FIRST */
    /* > 0: an uncertain edge moves more with r than with U */
    PLACE8(BOUND_LEAN, SWEEP_FAMILIES),
    BOUND_SIZE
};
#define POLYGON_ROOM (2 * (4 + 2 * SWEEP_FAMILIES)) /* a, b of each vertex */

/* ---- losscone_search.h, losscone_beam.h, losscone_solve.h, losscone_profile.h ---- */

/* Boxes (a profile's: of one U), or cells as one of their points. */
enum search_box_entry { BOX_U0, BOX_U1, BOX_R0, BOX_R1, BOX_LINES, BOX_LEAN, BOX_BOUND, BOX_KIND, BOX_SIZE };
enum search_cell_entry { CELL_U, CELL_R };

#define SEARCH_EDGES 7 /* of slices, besides the bounds */
#define SEARCH_HEAP_MOST 1024
#define SEARCH_STACK_MOST 128
#define SEARCH_PENDING_MOST 4
#define SEARCH_REMEMBERED_MOST 64

#define VISIT_LINES 12 /* most, in a visited box */
#define VISIT_ROOM (8 + 4 * (VISIT_LINES + 1))

#define BEAM_NODES 10
#define BEAM_STRIDE (SWEEP_CELLS + 8) /* of tables by a row's cells in the cone */
#define BEAM_TABLE (SWEEP_SLOTS * BEAM_STRIDE)
#define BEAM_SPARES 4

#define SOLVE_PASSING 5u /* samples where the beam passes a row */
#define SOLVE_SAMPLES (SWEEP_SLOTS * SOLVE_PASSING + 2)

#define PROFILE_LINES 24 /* most, in a visited interval */

enum search_slab {
    SEARCH_ACTION = CELLS_SIZE, /* search_action */
    SEARCH_PENDING,             /* boxes to bound */
    SEARCH_BEST,
    SEARCH_BOXES,  /* bounded so far */
    SEARCH_SOLVED, /* cells evaluated so far */
    SEARCH_HEAPED,
    SEARCH_STACKED,
    SEARCH_USED,  /* pool places ever used */
    SEARCH_FREE,  /* places given back */
    SEARCH_SLICE, /* next slice of U */
    SEARCH_SLICES,
    SEARCH_SIDE, /* 1: best at U > 0 */
    SEARCH_GAP,
    SEARCH_NEAR,       /* SEARCH_CLOSE of this run */
    SEARCH_ROUGH,      /* 1: bound the boxes roughly */
    SEARCH_REMEMBERED, /* cells solved so far */
    SEARCH_BEST_U,     /* with a beam */
    SEARCH_BEST_A,
    PLACE8(SEARCH_EDGE, SEARCH_EDGES + 2),
    PLACE8(SEARCH_PENDING_BOX, (SEARCH_PENDING_MOST * BOX_SIZE)),
    PLACE8(SEARCH_PENDING_BOUND, (SEARCH_PENDING_MOST * BOUND_SIZE)),
    PLACE8(SEARCH_KEY, SEARCH_HEAP_MOST),   /* heap: bounds */
    PLACE8(SEARCH_PLACE, SEARCH_HEAP_MOST), /* their boxes in the pool */
    PLACE8(SEARCH_GIVEN_BACK, SEARCH_HEAP_MOST),
    PLACE8(SEARCH_POOLED, (SEARCH_HEAP_MOST * BOX_SIZE)),
    PLACE8(SEARCH_DEEP, (SEARCH_STACK_MOST * BOX_SIZE)),
    PLACE8(SEARCH_SOLVED_CELL, (SEARCH_REMEMBERED_MOST * SWEEP_SLOTS)), /* k of rows */
    /* families that lines cross, their k, sums so far, least of the rest */
    PLACE8(VISIT_FAMILY, VISIT_LINES),
    PLACE8(VISIT_K, VISIT_LINES),
    PLACE8(VISIT_SUM, VISIT_LINES),
    PLACE8(VISIT_REST, VISIT_LINES),
    PLACE8(VISIT_MODE, SWEEP_SLOTS), /* beam bounds of the box */
    PLACE8(VISIT_FACTOR, SWEEP_SLOTS),
    PLACE8(VISIT_POLYGONS, (VISIT_ROOM * (VISIT_LINES + 2))),
    PLACE8(SEARCH_TRIED, SWEEP_FAMILIES),  /* k at the visited cell */
    PLACE8(SEARCH_CHOSEN, SWEEP_FAMILIES), /* k at the best */
    PLACE8(SEARCH_VALUES, SWEEP_FAMILIES),
    PLACE8(SEARCH_POLYGON, 3 * POLYGON_ROOM), /* the plateau, and room to clip it */
    PLACE8(SEARCH_OUTCOME, OUTCOME_SIZE),
    PLACE8(SEARCH_HALVED, LOSSCONE_POINT), /* a point with half the amplitude */

    PLACE8(BEAM_KNOWN, SWEEP_SLOTS),  /* beam_knowledge */
    PLACE8(BEAM_CELLS, SWEEP_SLOTS),  /* in the beam */
    PLACE8(BEAM_MODE, SWEEP_SLOTS),   /* beam_mode for the last box */
    PLACE8(BEAM_FACTOR, SWEEP_SLOTS), /* for BEAM_BY_SLOPE */
    PLACE8(BEAM_PROFILES, SWEEP_SLOT_CELLS),
    PLACE8(BEAM_EXACTS, BEAM_TABLE), /* misfit without beam */
    PLACE8(BEAM_SLOPES, BEAM_TABLE),
    PLACE8(BEAM_GAINS, (BEAM_NODES * BEAM_TABLE)),
    PLACE8(BEAM_SPARE_CELLS, (BEAM_SPARES * SWEEP_SLOT_CELLS)),

    SOLVE_REST,  /* misfit outside the beam */
    SOLVE_COUNT, /* rows in the beam */
    SOLVE_U,
    SOLVE_A,
    SOLVE_VALUE,
    PLACE8(SOLVE_ROW, SWEEP_SLOTS),
    PLACE8(SOLVE_CELLS, SWEEP_SLOTS),
    PLACE8(SOLVE_HEIGHT, SWEEP_SLOTS),
    PLACE8(SOLVE_TURN, SWEEP_SLOTS),  /* height's derivative by U */
    PLACE8(SOLVE_EXACT, SWEEP_SLOTS), /* misfit without beam */
    /* Lillis: sums of profile (datum - model without beam), profile^2 */
    PLACE8(SOLVE_PULL, SWEEP_SLOTS),
    PLACE8(SOLVE_SQUARE, SWEEP_SLOTS),
    PLACE8(SOLVE_SAMPLE, SOLVE_SAMPLES), /* samples of U, their best value and amplitude */
    PLACE8(SOLVE_SCANNED, SOLVE_SAMPLES),
    PLACE8(SOLVE_NODE, SOLVE_SAMPLES),
    PLACE8(SOLVE_BASES, BEAM_TABLE), /* model without beam */
    SEARCH_SLAB,

    PROFILE_BEST = SEARCH_SLAB,
    PROFILE_R,
    PROFILE_A,
    PROFILE_WAITING,                          /* intervals to halve, in the search's pool */
    PLACE8(PROFILE_K, SWEEP_FAMILIES),        /* along a visit */
    PLACE8(PROFILE_STEP, SWEEP_FAMILIES),     /* least contributions */
    PLACE8(PROFILE_KEPT, SWEEP_FAMILIES),     /* k at the best */
    PLACE8(PROFILE_EVENT, PROFILE_LINES + 8), /* r of thresholds, ascending */
    PLACE8(PROFILE_WHOSE, PROFILE_LINES + 8), /* their families */
    PLACE8(PROFILE_PIECE, PROFILE_LINES + 8), /* bounds between them */
    PROFILE_SLAB
};

/* ---- losscone_confidence.h, losscone_bootstrap.h ---- */

enum confidence_slab {
    CONFIDENCE_FOUND = PROFILE_SLAB,
    CONFIDENCE_AGAIN,
    PLACE8(CONFIDENCE_ENDS, 2 * CONFIDENCE_SETS + 2), /* and one not joined yet */
    PLACE8(CONFIDENCE_FLAG, 1)                        /* confidence_flag of a potential */
};
#define CONFIDENCE_SLAB(potentials) (CONFIDENCE_FLAG + (size_t)(potentials))

enum bootstrap_slab {
    BOOTSTRAP_WIDE = PROFILE_SLAB, /* 1: all cells are drawn */
    /* without noise, as CELLS_DATA, CELLS_ALL */
    PLACE8(BOOTSTRAP_REFLECTED, SWEEP_SLOT_CELLS),
    PLACE8(BOOTSTRAP_ALL, SWEEP_SLOT_CELLS),
    /* standard deviation of their noise */
    PLACE8(BOOTSTRAP_SIZE_REFLECTED, SWEEP_SLOT_CELLS),
    PLACE8(BOOTSTRAP_SIZE_ALL, SWEEP_SLOT_CELLS),
    BOOTSTRAP_SLAB
};

/* ---- counted_*.h ---- */

#define COUNTED_STRIDE (SWEEP_CELLS + 8) /* of sums over a row's cells */
#define COUNTED_SLICES 9
#define COUNTED_BOXES_MOST 1024
#define COUNTED_ENTRY 8 /* U, r from and to, bound */
#define COUNTED_NUMBERS 9
enum counted_slab {
    COUNTED_WAITING = CELLS_SIZE, /* boxes */
    COUNTED_BOUNDED,              /* boxes so far */
    COUNTED_FOUND,                /* slices */
    COUNTED_PROVEN,
    PLACE8(COUNTED_TURN, COUNTED_ENTRY),
    PLACE8(COUNTED_CELLS, SWEEP_SLOTS), /* reflected valid cells */
    PLACE8(COUNTED_LOW, SWEEP_SLOTS),   /* E' between which the channel lies, V */
    PLACE8(COUNTED_HIGH, SWEEP_SLOTS),
    PLACE8(COUNTED_SINE, SWEEP_SLOT_CELLS), /* sin^2 of the pitch angle, rising */
    PLACE8(COUNTED_COUNTS, SWEEP_SLOT_CELLS),
    PLACE8(COUNTED_SCALES, SWEEP_SLOT_CELLS),
    PLACE8(COUNTED_BASES, SWEEP_SLOT_CELLS),
    PLACE8(COUNTED_PER_COUNT, SWEEP_SLOT_CELLS), /* 1 / count, or 0; 1 / (count + k) */
    PLACE8(COUNTED_PER_WIDE, SWEEP_SLOT_CELLS),
    PLACE8(COUNTED_SPARES, (4 * SWEEP_SLOT_CELLS)),
    PLACE8(COUNTED_BELOW, (SWEEP_SLOTS * COUNTED_STRIDE)),
    PLACE8(COUNTED_ABOVE, (SWEEP_SLOTS * COUNTED_STRIDE)),
    PLACE8(COUNTED_TOTALS, (8 * COUNTED_NUMBERS * SWEEP_SLOTS)), /* eight partial sums each */
    PLACE8(COUNTED_POINT, (8 * 8 * SWEEP_SLOTS)),
    PLACE8(COUNTED_FAMILIES, BOUND_SIZE),
    PLACE8(COUNTED_BOXES, (COUNTED_BOXES_MOST * COUNTED_ENTRY)),
    COUNTED_SLAB
};

/* ---- losscone_point.h, losscone_evolve.h ---- */

#define POINT_BUCKETS 128
#define POINT_STRIDE 136 /* buckets, and one for x >= 1 */
#define POINT_ENTRY 8    /* a threshold and its steps */
#define POINT_THRESHOLDS (SWEEP_CELLS + 8)
#define EVOLVE_PATIENCE 10 /* generations without gain before the end */
enum evolve_slab {
    EVOLVE_BEGIN = CELLS_SIZE,
    PLACE8(EVOLVE_OUTCOME, LOSSCONE_POINT), /* the point */
    PLACE8(EVOLVE_QUALITIES, QUALITY_SIZE),
    PLACE8(EVOLVE_LEAST, EVOLVE_PATIENCE + 1), /* after each generation, cyclic */
    PLACE8(POINT_START, (SWEEP_SLOTS * POINT_STRIDE)),
    PLACE8(POINT_TABLE,
           (SWEEP_SLOTS * POINT_ENTRY * POINT_THRESHOLDS)), /* threshold k, then STEP or G_1 .. G_5 */
    /* the beam's, padded with 0 */
    PLACE8(POINT_PROFILE, SWEEP_SLOT_CELLS),
    PLACE8(POINT_SINE, SWEEP_SLOT_CELLS), /* sin^2; 2: never in the cone */
    PLACE8(POINT_DATUM, SWEEP_SLOT_CELLS),
    PLACE8(POINT_REACHED, SWEEP_SLOTS),    /* cells in the beam, to a multiple of 8 */
    PLACE8(POINT_ENERGY, SWEEP_SLOTS),     /* eV */
    PLACE8(POINT_SPACECRAFT, SWEEP_SLOTS), /* V */
    PLACE8(EVOLVE_VALUES, EVOLVE_STARTS),  /* Latin hypercube */
    PLACE8(EVOLVE_MEMBERS, 1)
};
/* Columns, each `members` long (a multiple of 8). */
#define EVOLVE_WORDS 6 /* of 16 random bits */
enum evolve_column {
    PLACE(EVOLVE_WORD, EVOLVE_WORDS),
    EVOLVE_NUMBER,                                /* 0, 1, 2, .. */
    PLACE(EVOLVE_TURN, 2 * (LOSSCONE_POINT + 1)), /* populations in turn: U, r, A, value */
    EVOLVE_COLUMNS
};
#define EVOLVE_SLAB(members) (EVOLVE_MEMBERS + EVOLVE_COLUMNS * (size_t)(members))
