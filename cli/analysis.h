/* analysis.h: commands that compute something for one model, or for each patch of a patch set. */
#ifndef PARITAS_CLI_ANALYSIS_H
#define PARITAS_CLI_ANALYSIS_H

#include "session.h"
#include "table.h"

/* Runs the analysis that the command line asks for. */
paritas_status analysis_run(struct session *session);
/* Does the command take a whole patch set? */
bool takes_patchset(const struct command *command);

/* The option --test-stat. */
paritas_test_statistic statistic_of(const struct session *session);
const char *statistic_name(const struct session *session); /* "qtilde", "q", "q0" */

/* "", or how a fit failed: the last column of many tables. */
const char *failure_word(paritas_fit_status status);

#endif
