/* losscone_rows.h: sweeps, options and answers of loss cones as rows of numbers, shared by host and kernels.
 *
 * All numbers are finite. A cell without data has flux 0 and cosine 0. */
#ifndef PARITAS_LOSSCONE_ROWS_H
#define PARITAS_LOSSCONE_ROWS_H

#include "losscone/sweep_grid.h"
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

enum sweep_row {
    PLACE8(SWEEP_ENERGY, SWEEP_ROWS),    /* eV; above 0 */
    PLACE8(SWEEP_POTENTIAL, SWEEP_ROWS), /* of the spacecraft, V */
    /* [n][row]: energy n of a folded row's channel over the row's energy; falling */
    PLACE8(SWEEP_CHANNEL, (LOSSCONE_ENERGIES * SWEEP_ROWS)),
    PLACE8(SWEEP_COSINE, SWEEP_ALL), /* of the pitch angle; above 0: incident */
    PLACE8(SWEEP_FLUX, SWEEP_ALL),   /* normalised; 0: masked */
    SWEEP_SIZE
};

/* Misfits, then the number of cells. */
#define MISFITS_OUT(points) ((points) + 1)

enum model_row { MODEL_POINT = SWEEP_FLUX, MODEL_IN = MODEL_POINT + 8 }; /* a sweep with a point for fluxes */
enum model_answer { PLACE8(MODEL_CELL, SWEEP_ALL), PLACE8(MODEL_EDGE, SWEEP_ROWS), MODEL_OUT };

enum cosines_row {
    PLACE8(COSINES_FIELD, 3 * SWEEP_ROWS),
    PLACE8(COSINES_SIGN, SWEEP_ROWS),
    PLACE8(COSINES_AZIMUTH, SWEEP_ALL), /* degrees */
    COSINES_IN
};

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
enum confidence_row {
    CONFIDENCE_LIMIT = SWEEP_SIZE, /* highest misfit of the set */
    CONFIDENCE_LOWER,              /* the plateau */
    CONFIDENCE_UPPER,
    CONFIDENCE_IN = SWEEP_SIZE + 8
};
enum confidence_answer { CONFIDENCE_INTERVALS, PLACE(CONFIDENCE_END, 2 * CONFIDENCE_SETS), CONFIDENCE_OUT };

enum bootstrap_row {
    BOOTSTRAP_U = SWEEP_SIZE,
    BOOTSTRAP_R,
    BOOTSTRAP_FITTED, /* 0: no fit */
    /* standard deviation of each cell's datum */
    BOOTSTRAP_NOISE = SWEEP_SIZE + 8,
    BOOTSTRAP_IN = BOOTSTRAP_NOISE + SWEEP_ALL
};

#endif
