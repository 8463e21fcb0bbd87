/* limit.h: limits by formulas and toys. */
#ifndef PARITAS_INFER_LIMIT_H
#define PARITAS_INFER_LIMIT_H

#include "infer/asymptotic.h"

/* INVALID_ARGUMENT unless qtilde or q and 0 < level < 1. */
paritas_status limit_check(paritas_context *context, paritas_test_statistic statistic, double level);
/* Fits nearest to the roots, in the arena; NULL: no root. */
struct limit_fits {
    const double *data[ASYMPTOTIC_CURVES], *asimov[ASYMPTOTIC_CURVES];
};

/* Within an open call; the POI's bound stays widened. fits: NULL allowed. */
paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits);
/* Largest bound of the POI; ask before widening. */
double limit_widest(const struct infer *infer);
/* Doubles the width. */
void limit_widen(struct infer *infer, double mu, double widest);

#endif
