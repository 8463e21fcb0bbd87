/* random_starts.h: where conditional fits start: what is known of a profile predicts what is asked next. */
#ifndef PARITAS_RANDOM_STARTS_H
#define PARITAS_RANDOM_STARTS_H

#include "infer/infer.h"

/* Starts of n conditional fits, a row of n_parameters each. */
paritas_status infer_choose_starts(struct infer *infer, size_t n, const struct infer_point *const *points,
                                   double *starts);

#endif
