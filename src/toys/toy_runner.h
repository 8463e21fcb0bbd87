/* toy_runner.h: runs of toys, without statistics: chunks, progress, tally.
 *
 *   toys first .. end - 1 ─► chunks, ensembles in turn ─► those not present ─► run ─► progress */
#pragma once

#include "fit/profiles/ensemble.h"

struct toy_runner {
    paritas_context *context;
    /* gives the chunk size, with the device ("auto" may change it) */
    const struct ensemble *sized_by;
    int n_ensembles; /* chunks alternate, so a cancelled run has as much of each */
    /* Marks existing toys; NULL: there are none. */
    paritas_status (*present)(void *user, int which, uint64_t first, size_t n, unsigned char *present);
    /* Draws, fits and keeps missing toys. Meanwhile the context's progress is over all. */
    paritas_status (*run)(void *user, int which, uint64_t first, size_t n);
    void *user;
    const paritas_toys_tally *tally; /* of toys fitted until now: what one costs; NULL: unknown */
};

/* Chunk for the current device: about 1/20 s, the most that a kill can lose. Toys that take
 * longer come in chunks that just keep the device busy: on a CPU, eight toys a thread. */
size_t toy_runner_step(const paritas_context *context, const struct ensemble *ensemble,
                       const paritas_toys_tally *tally);
paritas_status toy_runner_run(const struct toy_runner *runner, uint64_t first, uint64_t end);

void toy_tally_add(paritas_toys_tally *tally, const struct profile *profile);

/* k / n and its standard error. Its variance uses (k + 1) / (n + 2), so 0 and n are not certain. n = 0:
 * NaN. */
double toy_fraction(uint64_t k, uint64_t n, double *error);
