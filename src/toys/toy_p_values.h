/* toy_p_values.h: p-values and expected bands from toys. */
#pragma once

#include "toys/toy_pool.h"

/* Set mu and q of `result` first. NOT_CONVERGED: weights degenerate. */
paritas_status toy_pool_result(struct toy_pool *pool, paritas_hypotest_toys_result *result);
