/* conditional_starts.h: starts of conditional fits, predicted from known fits. */
#ifndef PARITAS_CONDITIONAL_STARTS_H
#define PARITAS_CONDITIONAL_STARTS_H

#include "infer/infer.h"

/* A row of n_parameters for each point. */
paritas_status infer_choose_starts(struct infer *infer, size_t n, const struct infer_point *const *points,
                                   double *starts);

#endif
