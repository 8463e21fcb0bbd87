/* domain.h: which bins make the likelihood infinite or undefined. */
#ifndef PARITAS_MINIMA_DOMAIN_H
#define PARITAS_MINIMA_DOMAIN_H

#include "minima/infer.h"

/* A rate below 0, or of 0 where something was observed. */
struct domain_bin {
    const char *channel; /* NULL: a model without channels */
    size_t bin;          /* of the channel, from 0; without channels of all main data */
    double rate, observed;
};

/* The bins at one point. `data`: a data row; NULL: the model's. *n: how many there are; the
 * first `room` of them are in `bins`. None for a model without expectations. */
paritas_status domain_find_outside(paritas_context *context, const paritas_model *model, const double *point,
                                   const double *data, size_t room, struct domain_bin *bins, size_t *n);

/* "channel SR, bin 3 has the rate -1.27 where 13 were observed" */
void domain_describe(const struct domain_bin *bin, size_t room, char *text);
/* The first bin and how many more there are. *text is empty without one. */
paritas_status domain_say(paritas_context *context, const paritas_model *model, const double *point,
                          const double *data, size_t room, char *text);

/* Refuses a fit that ended as NON_FINITE (NOT_CONVERGED): "`fit` ended outside the domain: channel ...". */
paritas_status domain_check(struct infer *infer, paritas_fit_status status, const char *fit,
                            const double *point);

#endif
