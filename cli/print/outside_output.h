/* outside_output.h: the bins for which twice the NLL is infinite or undefined; those at the domain's edge. */
#pragma once

#include "session/session.h"

struct outside {
    bool looked; /* twice the NLL is not finite */
    size_t n;
    paritas_outside_bin *bins; /* in the session's arena */
};

/* Looks for bins, with the job's data, unless twice the NLL is finite. */
paritas_status outside_look(struct session *session, double twice_nll, const double *point,
                            struct outside *outside);
/* `outside`: a list of channel, bin, rate, observed; nothing where twice the NLL is finite. */
void outside_write(struct writer *writer, const struct outside *outside);
/* A line a bin, at most ten. */
void outside_print(struct text *out, const struct outside *outside);

/* The bins that hold a converged fit at the edge of its domain. */
paritas_status edge_look(struct session *session, const double *point, struct outside *edge);
/* `edge`: a list of channel and bin; nothing without them. */
void edge_write(struct writer *writer, const struct outside *edge);
void edge_print(struct text *out, const struct outside *edge);
