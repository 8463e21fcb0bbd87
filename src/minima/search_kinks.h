/* search_kinks.h: minima beyond kinks (interpolation codes 0 and 1). */
#pragma once

#include "minima/search_targets.h"

/* Crosses kinks of all fits while that lowers an answer, which then is a start for all fits. Models without
 * kinks cost nothing. */
paritas_status search_kinks(struct search *search);
