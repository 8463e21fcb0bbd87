/* losscone_arrays.h: loss-cone sweeps as kernels and host see them: rows of numbers, one a sweep, and the options of a
 * run as the model's tables.
 *
 * A sweep is 15 energies of 88 cells each. A cell without data has the flux 0 and the cosine 0; a row without
 * data has no cell. No row holds a number that is not finite.
 */
#ifndef PARITAS_LOSSCONE_ARRAYS_H
#define PARITAS_LOSSCONE_ARRAYS_H

#define SWEEP_ROWS 15
#define SWEEP_CELLS 88

/* normalised fluxes above it count as none: sums of their squares would reach what the searches call
 * unbounded */
#define LOSSCONE_FLUX_MOST 1e12
#define LOSSCONE_FLOOR 1e-6 /* Halekas: logarithms of flux and model + this */

/* Offsets in the row of a sweep. */
#define SWEEP_ENERGY 0     /* eV, a row each; above 0 */
#define SWEEP_POTENTIAL 16 /* of the spacecraft, V, a row each */
#define SWEEP_COSINE 32    /* of the pitch angle, SWEEP_CELLS a row; above 0: incident */
#define SWEEP_FLUX (SWEEP_COSINE + SWEEP_ROWS * SWEEP_CELLS) /* normalised, the same; 0: masked */
#define SWEEP_SIZE (SWEEP_FLUX + SWEEP_ROWS * SWEEP_CELLS)

#define SWEEP_ALL (SWEEP_ROWS * SWEEP_CELLS)

/* Evaluation: working memory of the entry losscone_misfit, a sweep prepared and sums of MISFIT_POINTS points
 * at once. */
#define MISFIT_POINTS 16
#define MISFIT_CELLS (3 * SWEEP_ALL + MISFIT_POINTS * SWEEP_ROWS)
#define MISFIT_SLAB (MISFIT_CELLS + 8)
#define MODEL_IN (SWEEP_FLUX + 8)
#define MODEL_OUT (SWEEP_ALL + 16)
#define COSINES_FIELD 0
#define COSINES_SIGN 48
#define COSINES_AZIMUTH 64
#define COSINES_IN (COSINES_AZIMUTH + SWEEP_ALL)

/* The options: mi */
#define LOSSCONE_METHOD 0 /* 0: Halekas, misfit of logarithms; 1: Lillis, of fluxes */
#define LOSSCONE_FOLDED 1 /* 1: the model is folded with the energy response */
#define LOSSCONE_BOX_LIMIT 2
#define LOSSCONE_POPULATION 3
#define LOSSCONE_GENERATIONS 4
#define LOSSCONE_SEED 5 /* low, high word */
#define LOSSCONE_INTS 8
/* and mr */
#define LOSSCONE_U_LOWER 0 /* surface potential, V */
#define LOSSCONE_U_UPPER 1
#define LOSSCONE_R_LOWER 2 /* field at the spacecraft over field at the surface */
#define LOSSCONE_R_UPPER 3
#define LOSSCONE_A_LOWER 4 /* amplitude of the beam */
#define LOSSCONE_A_UPPER 5
#define LOSSCONE_BEAM_WIDTH 6 /* eV */
#define LOSSCONE_BEAM_SIGMA 7 /* degrees of pitch angle */
#define LOSSCONE_BACKGROUND 8
#define LOSSCONE_RESPONSE 9 /* half width of the energy response as a part of the energy: 0.25 */
/* what the model is where 0, 1, .. 5 of the five energies of a folded row are in the cone, as the misfit
 * takes it: logarithms for Halekas. Of a hard edge: 0, 1 */
#define LOSSCONE_LEVEL 10
#define LOSSCONE_REALS 16

#endif
