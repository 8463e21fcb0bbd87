/* sizes.h: working space of the minimisers, as the host must provide it: one area that serves each of them. */
#ifndef PARITAS_MINIMISE_SIZES_H
#define PARITAS_MINIMISE_SIZES_H

#define NEWTON_EQUALITIES 8                    /* violated bounds that one step turns into equalities */
#define NEWTON_VECTORS (9 + NEWTON_EQUALITIES) /* of as many elements as there are slots */

#define QN_PAIRS 8  /* corrections that a quasi-Newton fit remembers */
#define QN_HELD 4  /* parameters at a bound, that of interest among them, that it takes */

#define MINIMISER_VECTORS 21 /* the most that any of them needs: quasi-Newton */
#define MINIMISER_SCALARS 40 /* behind the vectors */

#endif
