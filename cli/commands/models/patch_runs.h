/* patch_runs.h: one command for all patches of a set. */
#pragma once

#include "commands/models/patches.h"
#include "print/table.h"

/* Checks digests. Close them even after a failure. */
paritas_status patches_open(struct session *session, struct patches *patches);
void patches_close(struct patches *patches);
/* Loads the model of one patch into a session without one. It must have a parameter of interest. */
paritas_status patch_load(struct session *session, const struct patches *patches, const struct patch *patch);

/* Checks digests, runs every patch, writes a JSON line or table row each, in order. CPU: in parallel, a
 * context each. Accelerator: one by one in the session's context. --device auto: one thread may use an
 * accelerator; its lines say so. A failed patch gets a line; the command fails at the end. */
paritas_status run_patches(struct session *session, const struct analysis *analysis);
