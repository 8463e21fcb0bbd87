/* fit_starts.h: fits from several starts, to find other minima. */
#ifndef PARITAS_FIT_STARTS_H
#define PARITAS_FIT_STARTS_H

#include "session.h"

#define STARTS_MINIMA 8

struct starts {
    size_t n, converged;
    size_t best;            /* winning start; 0: the suggested one */
    double first;           /* twice the NLL from start 0; NaN: not converged */
    double lowest, highest; /* twice the NLL, converged fits */
    const double *winner;
    size_t n_minima; /* distinct, ascending; at most STARTS_MINIMA */
    struct {
        double twice_nll;
        size_t count;
    } minima[STARTS_MINIMA];
};

/* Runs n fits as one list of jobs: start 0 is the job's own, the others are drawn around it. Start k does
 * not depend on n. */
paritas_status starts_run(struct session *session, const paritas_fit_options *options, size_t n,
                          struct starts *starts);
void starts_write(struct writer *writer, const struct starts *starts);
void starts_describe(struct text *out, const struct starts *starts);

#endif
