/* patch_runs.h: one command over all patches of a patch set. */
#ifndef PARITAS_PATCH_RUNS_H
#define PARITAS_PATCH_RUNS_H

#include "analysis.h"

/* Reads workspace and patch set once, checks the digests, runs every patch, and writes one JSON line or
 * table row a patch, in the patch set's order. On the CPU patches run in parallel, a context each. On an
 * accelerator they run one after the other in the session's context. With --device auto one thread may
 * move to an accelerator; its lines say so. A failed patch has a line, too; the command fails after all
 * have run. */
paritas_status run_patches(struct session *session, const struct analysis *analysis);

#endif
