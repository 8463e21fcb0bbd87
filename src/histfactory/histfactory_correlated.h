/* histfactory_correlated.h: correlations of constraints on the host. */
#pragma once

#include "histfactory/workspace/workspace_spec.h"

/* to[datum] += factor * ties * (x - a), for the data of correlated parameters x; a: those of a data row.
 * NULL: 0. */
void hf_pull_ties(const struct hf_spec *spec, double factor, const double *x, const double *data, double *to);
/* correlated_variances of fit/family.h */
paritas_status hf_correlated_variances(paritas_context *context, const struct hf_spec *spec,
                                       const unsigned char *fixed, double *covariance);
