/* toy_runner.h: what every run of toys does: chunks, progress, the tally. Knows no statistics.
 *
 *   toys first .. end - 1 ─► chunks, each ensemble in turn ─► those not present ─► run ─► progress */
#ifndef PARITAS_INFER_TOY_RUNNER_H
#define PARITAS_INFER_TOY_RUNNER_H

#include "fit/ensemble.h"

struct toy_runner {
    paritas_context *context;
    /* chunks are as large as suits it and the device, which "auto" may change on the way */
    const struct ensemble *sized_by;
    int n_ensembles; /* chunks alternate between them, so that a run that is cancelled has as much of each */
    /* Marks toys first .. first + n - 1 of ensemble `which` that are there already; NULL: none is. */
    paritas_status (*present)(void *user, int which, uint64_t first, size_t n, unsigned char *present);
    /* Draws, fits and keeps toys that are not there. `context`: the runner's, with progress over all toys. */
    paritas_status (*run)(void *user, paritas_context *context, int which, uint64_t first, size_t n);
    void *user;
};

/* Toys that go together on the device as it is now: a twentieth of a second, which a kill may lose. */
size_t toy_runner_step(const paritas_context *context, const struct ensemble *ensemble);
paritas_status toy_runner_run(const struct toy_runner *runner, uint64_t first, uint64_t end);

/* Counts one toy that was fitted: its method, not its status. */
void toy_tally_add(paritas_toys_tally *tally, const struct profile *profile);

/* k / n and its standard error, whose variance takes (k + 1) / (n + 2), so that 0 and n claim no certainty;
 * NaN for n = 0. */
double toy_fraction(uint64_t k, uint64_t n, double *error);

#endif
