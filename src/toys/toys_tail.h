/* toys_tail.h: p-values from toys with weights.
 *
 *   pool ─► toys by falling q ─► sums of weights down to a q ─► p-values with errors, expected band */
#pragma once

#include "toys/toy_pool.h"

/* toy_pool_result of a weighted pool. */
paritas_status toy_tail_result(struct toy_pool *pool, paritas_hypotest_toys_result *result);
