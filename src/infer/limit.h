/* limit.h: shared by asymptotic limits and limits from toys. */
#ifndef PARITAS_INFER_LIMIT_H
#define PARITAS_INFER_LIMIT_H

#include "infer/asymptotic.h"

/* INVALID_ARGUMENT unless the statistic is qtilde or q and 0 < level < 1. */
paritas_status limit_check(paritas_context *context, paritas_test_statistic statistic, double level);
/* Parameters of the fit nearest to each root, in the arena; NULL: no root. */
struct limit_fits {
    const double *data[ASYMPTOTIC_CURVES], *asimov[ASYMPTOTIC_CURVES];
};

/* paritas_limit within an open call. Leaves the POI's bound widened. fits: NULL allowed. */
paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits);
/* The POI's largest allowed bound; ask before widening. */
double limit_widest(const struct infer *infer);
/* Makes room for mu, by doubling the width. */
void limit_widen(struct infer *infer, double mu, double widest);

#endif
