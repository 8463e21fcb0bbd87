/* kappa_arrays.h: electron spectra and the options of their fits as kernels and host see them.
 *
 * A fit's parameters are y = ln(density / KAPPA_UNIT_DENSITY), kappa and t = ln(theta / KAPPA_UNIT_THETA):
 * numbers of the size of 1, which f32 holds well.
 */
#ifndef PARITAS_KAPPA_ARRAYS_H
#define PARITAS_KAPPA_ARRAYS_H

#include "losscone/sweep_grid.h"
#include "numeric/places.h"

#define KAPPA_UNIT_DENSITY 1e6 /* 1/m^3 */
#define KAPPA_UNIT_THETA 1e7   /* m/s */
#define KAPPA_PARAMETERS 3

enum kappa_args { KAPPA_ARG_JOBS, KAPPA_ARG_COUNT = 3 /* of points, of energies */ };

enum kappa_ints {
    KAPPA_WEIGHTS, /* 0: counts, 1: original, 2: none */
    KAPPA_DENSITY_HELD,
    KAPPA_FOLDED,
    KAPPA_MAX_ITERATIONS,
    KAPPA_GRID_KAPPAS, /* the grid of starts: this many kappas times this many t */
    KAPPA_GRID_THETAS,
    KAPPA_INTS
};

enum kappa_reals {
    KAPPA_SYSTEMATIC,                         /* squared */
    KAPPA_ALIVE,                              /* probability that a row without a count did measure */
    KAPPA_DEAD,                               /* and that it did not */
    KAPPA_SHARPNESS,                          /* of the response: 1 / (2 sigma^2) */
    PLACE(KAPPA_LOWER, KAPPA_PARAMETERS - 1), /* bounds of kappa, t */
    PLACE(KAPPA_UPPER, KAPPA_PARAMETERS - 1),
    KAPPA_GRID /* of each kappa: it and ln of its normalisation; of each t: it and ln of the thermal energy */
};
#define KAPPA_GRID_MOST 256 /* points */
#define KAPPA_REALS(kappas, thetas) (KAPPA_GRID + 2 * ((kappas) + (thetas)))

/* All numbers are finite. */
enum spectrum_row {
    PLACE8(SPECTRUM_ENERGY, SWEEP_SLOTS), /* eV; 0: masked */
    PLACE8(SPECTRUM_FLUX, SWEEP_SLOTS),   /* omnidirectional; below 0: masked */
    PLACE8(SPECTRUM_GAIN, SWEEP_SLOTS),   /* weights by counts: counts behind a flux of 1; original: counts */
    /* y, kappa, t to start from; kappa 0: not known. y is the density's where that is held */
    PLACE8(SPECTRUM_START, KAPPA_PARAMETERS),
    SPECTRUM_SIZE
};

enum kappa_answer {
    KAPPA_STATUS,
    KAPPA_ITERATIONS,
    KAPPA_MISFIT,
    KAPPA_EDM,
    PLACE(KAPPA_POINT, KAPPA_PARAMETERS),
    PLACE(KAPPA_STATES, KAPPA_PARAMETERS - 1), /* 0 free, 1 fixed, 2 at the lower, 3 at the upper bound */
    /* yy, y kappa, y t, kappa kappa, kappa t, t t: the inverse of half the second derivatives */
    PLACE(KAPPA_COVARIANCE, 6),
    KAPPA_ANSWER
};

#define KAPPA_MODELS 6 /* the model and its derivatives */
#define KAPPA_SUMS 16
enum kappa_slab {
    PLACE8(KAPPA_S_DATA, SPECTRUM_SIZE),
    PLACE8(KAPPA_S_EXPECTED, SWEEP_SLOTS), /* counts: sensitivity x flux; else ln(flux + floor) */
    PLACE8(KAPPA_S_LOG_ENERGY, SWEEP_SLOTS),
    PLACE8(KAPPA_S_LOG_FLUX, SWEEP_SLOTS),   /* for the starts, */
    PLACE8(KAPPA_S_COUNTS_FOR, SWEEP_SLOTS), /* and how much each row counts there */
    PLACE8(KAPPA_S_MODEL, KAPPA_MODELS *SWEEP_SLOTS),
    PLACE8(KAPPA_S_TERMS, KAPPA_SUMS *SWEEP_SLOTS),
    PLACE8(KAPPA_S_SUMS, KAPPA_SUMS),
    PLACE8(KAPPA_S_RESPONSE, SWEEP_SLOTS *SWEEP_SLOTS), /* (j, i): the weight of energy j in row i */
    PLACE8(KAPPA_S_GRID, 1)                             /* misfit of each start, then its y */
};
#define KAPPA_SLAB(points) (KAPPA_S_GRID + 2 * (points))

#endif
