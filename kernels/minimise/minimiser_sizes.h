/* minimiser_sizes.h: working space of the minimisers, as the host must provide it: one area that serves each
 * of them, and one behind the slab that only the entry of one minimiser has. */
#ifndef PARITAS_MINIMISER_SIZES_H
#define PARITAS_MINIMISER_SIZES_H

#define STEP_WIDTHS 6.0 /* largest step of a parameter, in widths of its constraint */

#define NEWTON_EQUALITIES 8                    /* violated bounds that one step turns into equalities */
#define NEWTON_VECTORS (9 + NEWTON_EQUALITIES) /* of as many elements as there are slots */

#define QN_PAIRS 8 /* corrections that a quasi-Newton fit remembers */
/* parameters at a bound, that of interest among them, that it takes */
#define QN_HELD 4

#define MINIMISER_VECTORS 21 /* the most that any of them needs: quasi-Newton */
#define MINIMISER_SCALARS 40 /* behind the vectors */

/* L-BFGS-B, behind the slab: the pairs, then their small matrices and vectors. */
#ifndef LBFGSB_PAIRS
/* on published analyses 5 need a sixth more evaluations, 12 save a tenth and spend it on their small
 * matrices */
#define LBFGSB_PAIRS 8
#endif
#define LBFGSB_MATRICES 7
#define LBFGSB_COLUMNS 6 /* vectors of 2 * PAIRS */
#define LBFGSB_MEMORY(slots)                                                      \
    (2 * LBFGSB_PAIRS * (slots) + LBFGSB_MATRICES * LBFGSB_PAIRS * LBFGSB_PAIRS + \
     (2 * LBFGSB_COLUMNS + 1) * LBFGSB_PAIRS + 16)

/* Differential evolution, behind the slab: the members and their values. */
#define DE_MEMORY(slots, members) ((members) * ((slots) + 1))

#endif
