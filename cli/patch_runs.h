/* patch_runs.h: one command for all patches of a set. */
#ifndef PARITAS_PATCH_RUNS_H
#define PARITAS_PATCH_RUNS_H

#include "analysis.h"

/* Checks digests, runs every patch, writes a JSON line or table row each, in order. CPU: in parallel, a
 * context each. Accelerator: one by one in the session's context. --device auto: one thread may use an
 * accelerator; its lines say so. A failed patch gets a line; the command fails at the end. */
paritas_status run_patches(struct session *session, const struct analysis *analysis);

#endif
