/* limit.h: shared by limits from formulas and from toys. */
#pragma once

#include "statistics/asymptotic.h"

/* The fits nearest to the roots, in the arena; NULL: no root. The free fit, and the one behind the Asimov
 * data; NULL: outside the domain. */
struct limit_fits {
    const double *free, *origin;
    const double *data[ASYMPTOTIC_CURVES], *asimov[ASYMPTOTIC_CURVES];
};

/* paritas_limit in an open call. The POI's bound stays widened. fits: NULL allowed. */
paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits);
