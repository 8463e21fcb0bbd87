/* losscone_rows.h: options and answers of loss cones as rows of numbers, shared by host and kernels. All
 * numbers are finite. What depends on the grid stands in sweep_layout.h. */
#pragma once

#include "numeric/places.h"

#define LOSSCONE_ENERGIES 5 /* of a folded row */
/* higher fluxes are masked: their squares would reach UNBOUNDED */
#define LOSSCONE_FLUX_MOST 1e12
#define LOSSCONE_FLOOR 1e-6 /* Halekas: added to flux and model */

enum losscone_ints {                  /* mi */
                     LOSSCONE_METHOD, /* 0: Halekas compares logarithms, 1: Lillis compares fluxes */
                     LOSSCONE_FOLDED, /* 1: with the energy response */
                     LOSSCONE_BOX_LIMIT,
                     LOSSCONE_POPULATION,
                     LOSSCONE_GENERATIONS,
                     LOSSCONE_SEED_LOW,
                     LOSSCONE_SEED_HIGH,
                     LOSSCONE_ROWS,  /* of the sweeps; sweep_grid.h has the most */
                     LOSSCONE_CELLS, /* the same, to a multiple of 8 */
                     LOSSCONE_INTS
};

enum losscone_reals { /* mr; first the bounds of a point */
                      LOSSCONE_U_LOWER,
                      LOSSCONE_U_UPPER,
                      LOSSCONE_R_LOWER,
                      LOSSCONE_R_UPPER,
                      LOSSCONE_A_LOWER,
                      LOSSCONE_A_UPPER,
                      LOSSCONE_BEAM_WIDTH, /* eV */
                      LOSSCONE_BEAM_SIGMA, /* degrees of pitch angle */
                      LOSSCONE_BACKGROUND,
                      /* the model with 0 .. 5 energies in the cone (hard edge: 0, 1); Halekas: its
                       * logarithm */
                      PLACE(LOSSCONE_LEVEL, LOSSCONE_ENERGIES + 1),
                      LOSSCONE_REALS
};

/* ---- arguments and rows of entry/entry_losscone_*.h ---- */

enum losscone_args {
    LOSSCONE_ARG_SWEEPS,
    LOSSCONE_ARG_FIRST_LOW, /* number of the first sweep: keys random numbers */
    LOSSCONE_ARG_FIRST_HIGH,
    LOSSCONE_ARG_COUNT /* points, potentials or draws */
};

/* Surface potential U (V), field at the spacecraft over the surface field r, beam amplitude A. */
enum losscone_point { LOSSCONE_U, LOSSCONE_R, LOSSCONE_A, LOSSCONE_POINT };

/* Misfits, then the number of cells. */
#define MISFITS_OUT(points) ((points) + 1)

/* Of a point, for the judgement of fits. */
enum quality_number {
    QUALITY_LEVELS, /* misfit of two levels a row, one for each hemisphere */
    QUALITY_STEPS,  /* squared differences of neighbours in one level of the model */
    QUALITY_PAIRS,  /* how many */
    QUALITY_INSIDE, /* data wholly in the cone, outside the beam */
    QUALITY_COUNT,  /* how many */
    QUALITY_HALF,   /* misfit with half the amplitude; at its bound only, else 0 */
    QUALITY_SIZE
};

#define OUTCOME_VERTICES_MOST 16
enum search_answer {
    OUTCOME_MISFIT, /* a sum, for Lillis too */
    OUTCOME_PROVEN, /* no point has less */
    OUTCOME_CELLS,
    PLACE(OUTCOME_POINT, LOSSCONE_POINT),
    OUTCOME_U_LOWER, /* the plateau */
    OUTCOME_U_UPPER,
    OUTCOME_R_LOWER,
    OUTCOME_R_UPPER,
    OUTCOME_CENTRE_U,
    OUTCOME_CENTRE_R,
    OUTCOME_BOXES,
    OUTCOME_SOLVED,
    OUTCOME_VERTICES,
    PLACE8(OUTCOME_VERTEX, 2 * OUTCOME_VERTICES_MOST), /* U, r of the first */
    PLACE8(OUTCOME_QUALITY, QUALITY_SIZE),
    OUTCOME_SIZE
};

/* Numbers behind a sweep of counts. */
enum counted_tail {
    COUNTED_TAIL_K,    /* 1 / relative variance beside that of counting */
    COUNTED_TAIL_FROM, /* bounds of U */
    COUNTED_TAIL_TO,
    COUNTED_TAIL_U, /* of sets: the minimum */
    COUNTED_TAIL_R,
    COUNTED_TAIL_LIMIT, /* highest deviance of the set; 0: none is asked */
    COUNTED_TAILS
};
/* Of counts, for the judgement of fits. */
enum judged_number {
    JUDGED_CELLS,
    JUDGED_FLAT,      /* deviance of one level a row */
    JUDGED_INSIDE,    /* counts of cells wholly in the cone, less background */
    JUDGED_SCALE,     /* their counts of a normalised flux of 1 */
    JUDGED_ROOM,      /* deviance of a model that is off by its own size */
    JUDGED_EDGE,      /* deviance of cells at the edge, neither wholly in the cone nor outside */
    JUDGED_EDGES,     /* these cells */
    JUDGED_EDGE_ROOM, /* their deviance if each is off by the incident flux */
    JUDGED_SIZE
};
enum counted_answer {
    FOUND_DEVIANCE,
    FOUND_PROVEN, /* no point has less */
    FOUND_U,
    FOUND_R,
    FOUND_BOXES,
    FOUND_AT_BOUND, /* least deviance near the minimum with r at its lower bound */
    PLACE(FOUND_JUDGED, JUDGED_SIZE),
    COUNTED_OUT
};

#define EVOLVE_STARTS 400 /* Latin hypercube */
enum evolve_shared { EVOLVE_FIRST_LOWER, EVOLVE_FIRST_UPPER /* of U in the hypercube */, EVOLVE_UNITS };
enum evolve_answer {
    EVOLVE_MISFIT,
    PLACE(EVOLVE_POINT, LOSSCONE_POINT),
    EVOLVE_CELLS,
    EVOLVE_GENERATIONS,
    EVOLVE_SETTLED, /* 1: the population came to rest */
    PLACE(EVOLVE_QUALITY, QUALITY_SIZE),
    EVOLVE_OUT
};

/* Of each potential; at a sweep's end the number of cells. */
enum profiled_potential { PROFILED_MISFIT, PROFILED_R, PROFILED_A, PROFILED_SIZE };
#define PROFILES_OUT(potentials) (PROFILED_SIZE * (potentials) + 1)

#define CONFIDENCE_SETS 8
/* Numbers behind a sweep's row. */
enum confidence_tail {
    CONFIDENCE_LIMIT, /* highest misfit of the set */
    CONFIDENCE_LOWER, /* the plateau */
    CONFIDENCE_UPPER,
    CONFIDENCE_TAIL = 8
};
enum confidence_answer { CONFIDENCE_INTERVALS, PLACE(CONFIDENCE_END, 2 * CONFIDENCE_SETS), CONFIDENCE_OUT };

/* Numbers behind a sweep's row. */
enum bootstrap_tail {
    BOOTSTRAP_U,
    BOOTSTRAP_R,
    BOOTSTRAP_FITTED,   /* 0: no fit */
    BOOTSTRAP_NOISE = 8 /* standard deviation of each cell's datum */
};
