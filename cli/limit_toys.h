/* limit_toys.h: the limits by toys of `paritas limit`. */
#ifndef PARITAS_CLI_LIMIT_TOYS_H
#define PARITAS_CLI_LIMIT_TOYS_H

#include "patch_runs.h"

/* `converged`: the observed fits are, each limit has the wished error, and not too many toys have no
 * answer. */
extern const struct patch_analysis limit_toys_analysis;
/* The answer for people; `result` is one of the analysis. */
void limit_toys_describe(struct session *session, const void *result);

#endif
