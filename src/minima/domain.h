/* domain.h: which bins make the likelihood infinite or undefined. */
#pragma once

#include "minima/infer.h"

/* The first bin and how many more there are. *text is empty without one. */
paritas_status domain_say(paritas_context *context, const paritas_model *model, const double *point,
                          const double *data, size_t room, char *text);

/* Refuses a fit that ended as NON_FINITE (NOT_CONVERGED): "`fit` ended outside the domain: channel ...". */
paritas_status domain_check(struct infer *infer, paritas_fit_status status, const char *fit,
                            const double *point);
