/* kappa_arrays.h: electron spectra and fit options, shared with the host.
 *
 * Parameters of order 1, for f32: y = ln(density / KAPPA_UNIT_DENSITY), kappa, t = ln(theta /
 * KAPPA_UNIT_THETA). */
#pragma once

#include "kappa/spectrum_grid.h"
#include "numeric/places.h"

#define KAPPA_UNIT_DENSITY 1e6 /* 1/m^3 */
#define KAPPA_UNIT_THETA 1e7   /* m/s */
#define KAPPA_PARAMETERS 3

enum kappa_args { KAPPA_ARG_JOBS, KAPPA_ARG_COUNT = 3 /* points, energies */ };

enum kappa_ints {
    KAPPA_WEIGHTS, /* 0: counts, 1: original, 2: none */
    KAPPA_DENSITY_HELD,
    KAPPA_FOLDED,
    KAPPA_MAX_ITERATIONS,
    KAPPA_ROWS,        /* energies of a spectrum; read where spectra do not fill the grid */
    KAPPA_GRID_KAPPAS, /* starts: kappas times t */
    KAPPA_GRID_THETAS,
    KAPPA_INTS
};

enum kappa_reals {
    KAPPA_SYSTEMATIC,                         /* squared */
    KAPPA_ALIVE,                              /* probability that an empty row measured */
    KAPPA_DEAD,                               /* and that it did not */
    KAPPA_SHARPNESS,                          /* 1 / (2 sigma^2) of the response */
    PLACE(KAPPA_LOWER, KAPPA_PARAMETERS - 1), /* of kappa, t */
    PLACE(KAPPA_UPPER, KAPPA_PARAMETERS - 1),
    KAPPA_GRID /* kappas with ln(normalisation), ts with ln(thermal energy) */
};
/* Energies of a spectrum, and places with the padding that is worked on. */
#define SPECTRUM_ROWS_OF(mi) (SPECTRUM_FILLED ? SPECTRUM_ROWS : (mi)[KAPPA_ROWS])
#define SPECTRUM_SLOTS_OF(mi) (SPECTRUM_FILLED ? SPECTRUM_SLOTS : ((mi)[KAPPA_ROWS] + 7) / 8 * 8)

#define KAPPA_GRID_MOST 256
#define KAPPA_REALS(kappas, thetas) (KAPPA_GRID + 2 * ((kappas) + (thetas)))

/* All numbers are finite. */
enum spectrum_row {
    PLACE8(SPECTRUM_ENERGY, SPECTRUM_SLOTS), /* eV; 0: masked */
    /* eV, before the spacecraft's potential was subtracted; without an energy: no electrons arrive */
    PLACE8(SPECTRUM_CHANNEL, SPECTRUM_SLOTS),
    PLACE8(SPECTRUM_FLUX, SPECTRUM_SLOTS),       /* omnidirectional, with its background; below 0: masked */
    PLACE8(SPECTRUM_GAIN, SPECTRUM_SLOTS),       /* counts at flux 1; weights `original`: counts */
    PLACE8(SPECTRUM_BACKGROUND, SPECTRUM_SLOTS), /* flux that no plasma brings; with weights of counts */
    /* y, kappa, t; kappa 0: unknown. A held density gives y */
    PLACE8(SPECTRUM_START, KAPPA_PARAMETERS),
    SPECTRUM_SIZE
};

enum kappa_answer {
    KAPPA_STATUS,
    KAPPA_ITERATIONS,
    KAPPA_MISFIT,
    KAPPA_EDM,
    PLACE(KAPPA_POINT, KAPPA_PARAMETERS),
    PLACE(KAPPA_STATES, KAPPA_PARAMETERS - 1), /* 0 free, 1 fixed, 2 at lower, 3 at upper bound */
    /* of half the Hessian: yy, y kappa, y t, kappa kappa, kappa t, t t */
    PLACE(KAPPA_COVARIANCE, 6),
    KAPPA_ANSWER
};

#define KAPPA_MODELS 6
#define KAPPA_SUMS 16
enum kappa_slab {
    PLACE8(KAPPA_S_DATA, SPECTRUM_SIZE),
    PLACE8(KAPPA_S_EXPECTED, SPECTRUM_SLOTS), /* sensitivity x flux; without counts ln(flux + floor) */
    PLACE8(KAPPA_S_LOG_ENERGY, SPECTRUM_SLOTS),
    PLACE8(KAPPA_S_LOG_CHANNEL, SPECTRUM_SLOTS),
    PLACE8(KAPPA_S_GAINED, SPECTRUM_SLOTS), /* channel / energy; 0: no electrons */
    PLACE8(KAPPA_S_LOG_FLUX, SPECTRUM_SLOTS),
    PLACE8(KAPPA_S_COUNTS_FOR, SPECTRUM_SLOTS), /* row weights for starts */
    PLACE8(KAPPA_S_MODEL, KAPPA_MODELS *SPECTRUM_SLOTS),
    PLACE8(KAPPA_S_TERMS, KAPPA_SUMS *SPECTRUM_SLOTS),
    PLACE8(KAPPA_S_SUMS, KAPPA_SUMS),
    PLACE8(KAPPA_S_RESPONSE, SPECTRUM_SLOTS *SPECTRUM_SLOTS), /* (j, i): weight of energy j in row i */
    PLACE8(KAPPA_S_GRID, 1)                                   /* misfits, then y */
};
#define KAPPA_SLAB(points) (KAPPA_S_GRID + 2 * (points))
