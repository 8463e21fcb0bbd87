/* patch_runs.h: one command over all patches of a patch set. */
#ifndef PARITAS_PATCH_RUNS_H
#define PARITAS_PATCH_RUNS_H

#include "session.h"
#include "table.h"

/* What became of one patch. */
struct patch_outcome {
    const char *name;
    const struct json *values;
    paritas_status status;
    char *error;     /* where status is not OK; in the session's arena */
    void *result;    /* `result_size` bytes, of the analysis */
    char device[32]; /* that the patch ran on; where status is OK */
};

struct patch_analysis {
    size_t result_size;
    /* Answers for the session's model, which has its job and a POI. Called from several threads, each with a
     * session. Once it returned the session goes on to the next patch: the result may not point into it. */
    paritas_status (*analyse)(struct session *session, void *result);
    bool (*converged)(const void *result);
    /* the command's keys, into an open object */
    void (*write_fields)(struct writer *writer, const void *result);
    /* of the columns that follow name and values */
    const char *headers, *alignment;
    void (*write_cells)(struct table *table, const void *result);
};

/* Reads the workspace and the patch set of --patchset once, checks the digests, runs every patch on its own
 * and writes one JSON line or table row a patch, in the patch set's order. On the CPU the patches run in
 * parallel over threads, a context each; on an accelerator one after the other in the session's context, so
 * that the device is opened once and has one user; with --device auto one of the threads may move to an
 * accelerator, and its lines say so. A patch that fails has a line of its own, and the command then fails
 * after all were run. */
paritas_status run_patches(struct session *session, const struct patch_analysis *analysis);

#endif
