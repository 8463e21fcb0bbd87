/* sizes.h: working space of the minimisers, as the host must provide it: one area that serves each of them. */
#ifndef PARITAS_MINIMISE_SIZES_H
#define PARITAS_MINIMISE_SIZES_H

#define NEWTON_EQUALITIES 8                    /* violated bounds that one step turns into equalities */
#define NEWTON_VECTORS (9 + NEWTON_EQUALITIES) /* of as many elements as there are slots */

#define MINIMISER_VECTORS NEWTON_VECTORS /* the most that any of them needs */
#define MINIMISER_SCALARS 24             /* behind the vectors */

#endif
