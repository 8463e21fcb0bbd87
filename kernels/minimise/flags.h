/* flags.h: what a caller tells a Newton fit, as its entry takes it; host and kernels. */
#ifndef PARITAS_MINIMISE_FLAGS_H
#define PARITAS_MINIMISE_FLAGS_H

#define NEWTON_FROM_NEAR 1u  /* the starts are near the minima */
#define NEWTON_TO_CLOSER 2u  /* to a smaller EDM: EDM_CLOSER (tolerances.h) */

#endif
