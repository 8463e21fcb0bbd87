/* analysis.h: commands that compute something for one model, or for each patch of a patch set.
 *
 *   command line ─► check ─► model, data ─► analyse ─► write_keys (JSON), write_text, or write_cells (a row)
 */
#ifndef PARITAS_CLI_ANALYSIS_H
#define PARITAS_CLI_ANALYSIS_H

#include "session.h"
#include "table.h"

struct analysis {
    size_t result_size;
    bool needs_poi;
    /* What the tables of options cannot say of a command line; NULL: nothing. */
    paritas_status (*check)(struct session *session);
    /* Answers for the session's model and job into `result`, which is cleared. Notes what did not converge.
     * Of a patch set: called from several threads, each with a session; the result may not point into it. */
    paritas_status (*analyse)(struct session *session, void *result);
    /* The command's keys, into an open object; write_provenance's follow. In one line a patch. */
    void (*write_keys)(struct session *session, struct writer *writer, const void *result);
    void (*write_text)(struct session *session, const void *result);
    /* Columns and cells of a row a patch; NULL: the command takes no patch set. */
    const char *headers, *formats;
    void (*write_cells)(struct table *table, const void *result);
};

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
