/* ensemble.h: toys, data sets drawn at one point of a model, and their fits. Knows no statistics.
 *
 *   point ─► expected data ─► toy t: main and auxiliary data drawn by the kernels, keyed by (seed, t,
 *       purpose) ─► profile (profiles.h)
 *
 * Toy t is the same in any call, chunk, shard and order, on any device.
 */
#ifndef PARITAS_FIT_ENSEMBLE_H
#define PARITAS_FIT_ENSEMBLE_H

#include "fit/profiles.h"

struct ensemble_options {
    struct profile_plan plan; /* `matrix` is the ensemble's to choose */
    /* what the data are drawn around: main, then auxiliary data, user's order; auxiliary data stand as they
     * are where fix_aux */
    const double *expected;
    uint64_t seed;
    uint32_t purpose; /* below 256: ensembles with different ones have independent random numbers */
    bool fix_aux;
    bool newton_only; /* no quasi-Newton */
};

struct ensemble {
    struct ensemble_options options;
    const struct frozen *model;
    struct arena arena;
    double *expected; /* as a kernel data row */
    uint32_t *items;  /* n_places: the random stream of each place */
    /* decided by the toys 0 .. ENSEMBLE_PROBES - 1 alone, so that every shard decides alike */
    bool quasi_newton;
};

#define ENSEMBLE_PROBES 32

/* INVALID_ARGUMENT: expected data (main, then auxiliary) that nothing can be drawn from, named: negative, not
 * finite, too large. */
paritas_status ensemble_check(paritas_context *context, const paritas_model *model, const double *expected);
/* Borrows what `options` points to. Checks the expected data. Close it also after a failure. */
paritas_status ensemble_open(paritas_context *context, const struct ensemble_options *options,
                             struct ensemble *ensemble);
void ensemble_close(struct ensemble *ensemble);

/* Most toys that one call should ask for, so that memory stays flat. */
size_t ensemble_chunk(const struct ensemble *ensemble);

/* Draws and fits the toys first .. first + n - 1. Outputs, each but `profiles` NULL or the caller's: the data
 * (n rows of n_data), the free fits' parameters (n rows of n_parameters), and what the likelihood has beyond
 * its deviance form (n), all in the user's order. */
paritas_status ensemble_run(paritas_context *context, const struct ensemble *ensemble, uint64_t first,
                            size_t n, struct profile *profiles, double *data, double *parameters,
                            double *constants);

#endif
