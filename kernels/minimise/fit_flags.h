/* fit_flags.h: what a caller tells a fit, as its entry takes it; host and kernels. */
#ifndef PARITAS_FIT_FLAGS_H
#define PARITAS_FIT_FLAGS_H

#define FIT_FROM_NEAR 1u  /* the starts are near the minima */
#define FIT_TO_CLOSER 2u  /* to a smaller EDM: EDM_CLOSER (tolerances.h) */
#define FIT_TO_CLOSEST 4u /* to one smaller still: EDM_CLOSEST */

#endif
