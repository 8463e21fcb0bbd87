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
    /* The lowest point below the answer, whose fit did not converge; NaN: none. */
    double lower_known;
    paritas_fit_status lower_status;
    size_t n_minima; /* distinct, ascending; at most STARTS_MINIMA */
    struct {
        double twice_nll;
        size_t count;
    } minima[STARTS_MINIMA];
    /* a start each; in the session's arena */
    paritas_job *jobs;
    paritas_fit_result *results;
    const double **points; /* where the fits ended */
    int n_answers;         /* that were compared and failed */
};

/* Runs n fits as one list of jobs, then fits again from points below the minima found. Start 0 is the
 * job's own, the others are drawn around it. Start k does not depend on n. */
paritas_status starts_run(struct session *session, const paritas_fit_options *options, size_t n,
                          struct starts *starts);
/* Where the answer's fit begins. */
const double *starts_winner(const struct starts *starts);
/* Compares the answer with all points known. *again: it failed under the stricter checks of fits with errors
 * and another start is better now, so fit again from the winner. Notes a lower point for the exit code. */
paritas_status starts_answer(struct session *session, const paritas_fit_options *options,
                             const paritas_fit_result *answer, struct starts *starts, bool *again);
void starts_write(struct writer *writer, const struct starts *starts);
void starts_describe(struct text *out, const struct starts *starts, double answer);

#endif
