/* patches.h: one command over all patches of a patch set. */
#ifndef PARITAS_CLI_PATCHES_H
#define PARITAS_CLI_PATCHES_H

#include "session.h"
#include "table.h"

/* What became of one patch. */
struct patch_outcome {
    const char *name;
    const struct json *values;
    paritas_status status;
    char *error;  /* where status is not OK; in the session's arena */
    void *result; /* `result_size` bytes, of the analysis */
};

struct patch_analysis {
    size_t result_size;
    /* Answers for the session's model, which has its job and a POI. Called from several threads, each with a session. */
    paritas_status (*analyse)(struct session *session, void *result);
    bool (*converged)(const void *result);
    void (*write_fields)(struct writer *writer, const void *result); /* the command's keys, into an open object */
    const char *headers, *alignment;                                 /* of the columns that follow name and values */
    void (*write_cells)(struct table *table, const void *result);
};

/* Reads the workspace and the patch set of --patchset once, checks the digests, runs every patch on its own (in parallel
 * over threads, a context each) and writes one JSON line or table row a patch, in the patch set's order. A patch that fails
 * has a line of its own, and the command then fails after all were run. */
paritas_status run_patches(struct session *session, const struct patch_analysis *analysis);

#endif
