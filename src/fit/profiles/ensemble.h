/* ensemble.h: toys, drawn at one point of a model, and their fits.
 *
 *   point ─► expected data ─► toy t: main and auxiliary data drawn by kernels, keyed by (seed, t, purpose)
 *       ─► profile (profiles.h)
 *
 * Toy t is the same in any call, chunk, shard, order and device. */
#pragma once

#include "fit/known_fits.h"

struct ensemble_options {
    struct profile_plan plan; /* the ensemble chooses `metric` */
    /* centre of draws: main, then auxiliary data (fix_aux: kept), user's order */
    const double *expected;
    /* random stream of each main and auxiliary datum, below 2^24, user's order; NULL: its number */
    const uint32_t *items;
    uint64_t seed;
    uint32_t purpose; /* < 256, each with its own random numbers */
    bool fix_aux;
    bool newton_only;
    bool may_have_several; /* minima: toys tell */
    bool has_several;      /* it is known */
};

struct ensemble {
    struct ensemble_options options;
    const struct frozen *model;
    struct arena arena;
    struct profile_metric metric; /* whole only with has_metric */
    bool sought_metric, has_metric;
    double *expected; /* kernel data row */
    uint32_t *items;  /* random stream per place */
    /* decided by toys 0 .. ENSEMBLE_PROBES - 1 alone: all shards agree */
    bool quasi_newton;
    struct profile *probes;   /* those toys' fits; NULL: none */
    double below;             /* largest of the probes' (struct profile), if several minima matter; else 0 */
    struct known_fits *known; /* set by the caller; NULL: none. Not for calls at the same time */
};

#define ENSEMBLE_PROBES 32
/* of a Newton iteration, in evaluations of quasi-Newton fits: measured 6 (13 parameters) to 15 (240) */
#define ENSEMBLE_STEP_COST 8.0

/* Refuses expected data that cannot be drawn: negative, not finite, too large (INVALID_ARGUMENT). */
paritas_status ensemble_check(paritas_context *context, const paritas_model *model, const double *expected);
/* Borrows `options`' pointers. Close also after a failure. */
paritas_status ensemble_open(paritas_context *context, const struct ensemble_options *options,
                             struct ensemble *ensemble);
/* Later fits have further starts each, as toys of several minima need: the other sides of parameters where
 * these find in the first toys what many random starts find, else random starts. */
paritas_status ensemble_use_further_starts(paritas_context *context, struct ensemble *ensemble);
void ensemble_close(struct ensemble *ensemble);

/* Draws toys first .. first + n - 1 without fits, n rows of n_data in the user's order: the data that an
 * ensemble of these options fits. */
paritas_status ensemble_draw(paritas_context *context, const struct ensemble_options *options, uint64_t first,
                             size_t n, double *data);

/* Toys per call that keep memory flat. */
size_t ensemble_chunk(const struct ensemble *ensemble);

/* Draws and fits toys first .. first + n - 1. Outputs in the user's order, NULL allowed except `profiles`:
 * data (n_data), free fits' parameters, likelihood beyond deviance form. */
paritas_status ensemble_run(paritas_context *context, const struct ensemble *ensemble, uint64_t first,
                            size_t n, struct profile *profiles, double *data, double *parameters,
                            double *constants);
