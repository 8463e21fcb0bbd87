/* minimiser_sizes.h: the minimisers' space: an area for all, and one behind the slab for a single method. */
#pragma once

#define STEP_WIDTHS 6.0 /* largest step, in widths of the parameter's constraint */

#define NEWTON_EQUALITIES 8 /* violated bounds a step turns into equalities */
#define NEWTON_PAIRS 8      /* steps that correct an older factor */
#define NEWTON_MEMORY(slots) (2 * NEWTON_PAIRS * (slots))

/* Newton's place for a parameter at its kink at 0, on either side: rates are those at 0. Smaller f32 numbers
 * would be flushed. */
#define KINK_SIDE_F64 1e-30
#define KINK_SIDE_F32 1e-12

#define QN_PAIRS 8 /* pairs that a fit remembers */
/* Parameters at active bounds, and those of interest. Bins with few simulated events bring several. */
#define QN_BOUNDS 16

#define MINIMISER_VECTORS 22 /* the most any needs: quasi-Newton */
/* the answer, quasi-Newton's numbers of pairs and of active bounds, L D L^T of these */
#define MINIMISER_SCALARS (16 + 2 * QN_PAIRS + 2 * QN_BOUNDS + QN_BOUNDS * (QN_BOUNDS + 1) / 2)

/* L-BFGS-B: the pairs, then their small matrices and vectors. */
#ifndef LBFGSB_PAIRS
/* 5 cost a sixth more evaluations; 12 save a tenth but spend it on small matrices */
#define LBFGSB_PAIRS 8
#endif
#define LBFGSB_MATRICES 7
#define LBFGSB_COLUMNS 6 /* vectors of 2 * PAIRS */
#define LBFGSB_MEMORY(slots)                                                      \
    (2 * LBFGSB_PAIRS * (slots) + LBFGSB_MATRICES * LBFGSB_PAIRS * LBFGSB_PAIRS + \
     (2 * LBFGSB_COLUMNS + 1) * LBFGSB_PAIRS + 16)

#define DE_MEMORY(slots, members) ((members) * ((slots) + 1))
