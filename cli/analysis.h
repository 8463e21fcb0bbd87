/* analysis.h: commands on one model, or each patch. */
#pragma once

#include "session/session.h"
#include "print/table.h"

paritas_status analysis_run(struct session *session);
bool takes_patchset(const struct command *command);

paritas_test_statistic statistic_of(const struct session *session);
const char *statistic_name(const struct session *session);

/* Confidences by --confidence, or the usual ones; in the arena. */
paritas_status read_confidences(struct session *session, size_t n_usual, const double *usual, size_t *n,
                                double **confidences);

/* "", or how a fit failed */
const char *failure_word(paritas_fit_status status);
/* "", or why a parameter is not free */
const char *state_word(paritas_parameter_state state);
/* Of a patch's line: is its point excluded, a strength of 1? null if that is not known. */
void write_excluded(struct writer *writer, bool known, bool excluded);
/* Prints, for example, "All fits converged. Best fit: mu = 0." `fits`: "fits" or "fits to the data". */
void describe_fits(struct text *out, const char *fits, paritas_fit_status status, const char *poi,
                   double best);
