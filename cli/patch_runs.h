/* patch_runs.h: one command over all patches of a patch set. */
#ifndef PARITAS_PATCH_RUNS_H
#define PARITAS_PATCH_RUNS_H

#include "analysis.h"

/* Reads the workspace and the patch set of --patchset once, checks the digests, runs every patch on its own
 * and writes one JSON line or table row a patch, in the patch set's order. On the CPU the patches run in
 * parallel over threads, a context each; on an accelerator one after the other in the session's context, so
 * that the device is opened once and has one user; with --device auto one of the threads may move to an
 * accelerator, and its lines say so. A patch that fails has a line of its own, and the command then fails
 * after all were run. */
paritas_status run_patches(struct session *session, const struct analysis *analysis);

#endif
