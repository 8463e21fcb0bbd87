/* kappa_arrays.h: electron spectra and the options of their fits as kernels and host see them.
 *
 * A fit's parameters are y = ln(density / KAPPA_UNIT_DENSITY), kappa and t = ln(theta / KAPPA_UNIT_THETA):
 * numbers of the size of 1, which f32 holds well.
 */
#ifndef PARITAS_KAPPA_ARRAYS_H
#define PARITAS_KAPPA_ARRAYS_H

#define SPECTRUM_ROWS 15
#define SPECTRUM_PADDED 16

#define KAPPA_UNIT_DENSITY 1e6 /* 1/m^3 */
#define KAPPA_UNIT_THETA 1e7   /* m/s */

/* A spectrum's row: arrays of SPECTRUM_PADDED, then three numbers. No number is not finite. */
#define SPECTRUM_ENERGY 0 /* eV; 0: there is none, and the row is masked */
#define SPECTRUM_FLUX 16  /* omnidirectional; below 0: the row is masked */
#define SPECTRUM_GAIN 32  /* weights by counts: counts behind a flux of 1; original: counts */
#define SPECTRUM_START 48 /* y, kappa, t; kappa 0: not known. y is the density's where that is held */
#define SPECTRUM_SIZE 51

/* The options: mi */
#define KAPPA_WEIGHTS 0 /* 0: counts, 1: original, 2: none */
#define KAPPA_DENSITY_HELD 1
#define KAPPA_FOLDED 2
#define KAPPA_MAX_ITERATIONS 3
#define KAPPA_GRID_KAPPAS 4 /* points of the grid of starts: this many kappas times this many t */
#define KAPPA_GRID_THETAS 5
#define KAPPA_INTS 8
/* and mr */
#define KAPPA_SYSTEMATIC 0 /* squared */
#define KAPPA_ALIVE 1      /* probability that a row without a count did measure; and that it did not */
#define KAPPA_DEAD 2
#define KAPPA_SHARPNESS 3 /* of the response: 1 / (2 sigma^2) */
#define KAPPA_LOWER 4     /* kappa, t */
#define KAPPA_UPPER 6
/* for each kappa: kappa, ln of the normalisation; then for each t: t, ln of the thermal energy */
#define KAPPA_GRID 8
#define KAPPA_GRID_MOST 256 /* points */
#define KAPPA_REALS(kappas, thetas) (KAPPA_GRID + 2 * ((kappas) + (thetas)))

/* The answer of a fit. */
#define KAPPA_STATUS 0
#define KAPPA_ITERATIONS 1
#define KAPPA_MISFIT 2
#define KAPPA_EDM 3
#define KAPPA_POINT 4  /* y, kappa, t */
#define KAPPA_STATES 7 /* of kappa, t: 0 free, 1 fixed, 2 at the lower, 3 at the upper bound */
/* yy, y kappa, y t, kappa kappa, kappa t, t t: the inverse of half the second derivatives */
#define KAPPA_COVARIANCE 9
#define KAPPA_ANSWER 15

/* The slab. */
#define KAPPA_S_DATA 0      /* the spectrum's row */
#define KAPPA_S_EXPECTED 56 /* counts: sensitivity x flux; else ln(flux + floor) */
#define KAPPA_S_LOG_ENERGY 72
#define KAPPA_S_LOG_FLUX 88 /* for the starts, and how much each row counts there */
#define KAPPA_S_COUNTS_FOR 104
#define KAPPA_S_MODEL 120 /* model and its derivatives, 6 arrays */
#define KAPPA_S_TERMS 216 /* terms of KAPPA_SUMS sums */
#define KAPPA_SUMS 16
#define KAPPA_S_SUMS 472
#define KAPPA_S_RESPONSE 488 /* 16 x 16; element (j, i) is the weight of energy j in row i */
#define KAPPA_S_GRID 744     /* misfit of each start, then its y */
#define KAPPA_SLAB(points) (KAPPA_S_GRID + 2 * (points))

#endif
