/* limit.h: what limits by the asymptotic formulas and by toys share. */
#ifndef PARITAS_INFER_LIMIT_H
#define PARITAS_INFER_LIMIT_H

#include "infer/asymptotic.h"

/* INVALID_ARGUMENT unless there are limits with this statistic (qtilde, q) at this level (above 0, below
 * 1). */
paritas_status limit_check(paritas_context *context, paritas_test_statistic statistic, double level);
/* The fits nearest to the root of each curve: parameters, in the arena of the call; NULL where there is no
 * root. */
struct limit_fits {
    const double *data[ASYMPTOTIC_CURVES], *asimov[ASYMPTOTIC_CURVES];
};

/* paritas_limit within an open call. The bound of the parameter of interest stays as widened. fits: may be
 * NULL. */
paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits);
/* The largest value that the bound of the parameter of interest may be widened to; to be asked before it
 * is. */
double limit_widest(const struct infer *infer);
/* Makes room for mu, by doubling the width. */
void limit_widen(struct infer *infer, double mu, double widest);

#endif
