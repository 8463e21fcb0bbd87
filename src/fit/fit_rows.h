/* fit_rows.h: user's order to kernel rows; launches of a frozen model. */
#pragma once

#include "entry/entry_rows.h"
#include "fit/family.h"
#include "fit/launch.h"

/* Least kernel value outside a model's domain. */
#define ROWS_OUTSIDE 1e29

/* ---- rows ---- */

/* user → kernel (n_places; n_slots). `padding` fills padding slots; NULL: 0 */
void rows_put_data(const struct frozen *model, const double *data, double *row);
void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row);
/* kernel → user */
void rows_get_point(const struct frozen *model, const double *row, double *point);

/* Can it be a datum: finite, and not negative if it is a count? */
static inline bool rows_is_datum(const struct frozen *model, size_t i, double value)
{
    return value - value == 0.0 && (value >= 0.0 || !frozen_counts(model, i));
}

/* INVALID_ARGUMENT for unusable templates in row `where`. */
paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where);

/* The same for rows data[0], ...; the second checks all numbers. */
paritas_status rows_check_all_templates(paritas_context *context, const struct frozen *model, size_t n,
                                        const double *data);
paritas_status rows_check_data(paritas_context *context, const struct frozen *model, size_t n,
                               const double *data);

/* ---- launches ---- */

/* Completes the model's tables for entries that read second derivatives. */
paritas_status rows_plan(paritas_context *context, const struct frozen *model, unsigned entry,
                         struct launch_plan *plan);

struct rows_points {
    const struct frozen *model;
    unsigned entry;
    size_t n;
    const double *points;     /* user's order */
    const double *directions; /* tangent only; NULL: zeros */
    const double *data;       /* with templates; NULL: the model's */
    size_t answer;
    /* `point`: as launched. */
    void (*take)(void *user, size_t k, const double *point, const double *answer);
    void *user;
};
paritas_status rows_points_run(paritas_context *context, struct paritas_device *device,
                               const struct rows_points *call);

/* ---- fits ---- */

/* A complete fit or covariance job, in the user's order. */
struct fit_job {
    size_t index;
    const double *start, *lower, *upper;
    const unsigned char *fixed;
    const double *data; /* user's row, or */
    const double *row;  /* kernel's; equal pointers share one row */
    ptrdiff_t held;     /* also fixed; -1: none */
    double held_at;
    double constant; /* likelihood beyond deviance form, if wanted */
};

/* First job before k with the same data, else k. Looks at the last few: lists alternate few data sets or have
 * one per job. */
size_t fit_job_like(const struct fit_job *jobs, size_t k);

/* Writes a fit_job's vectors (entry/entry_rows.h): start within bounds; a fixed parameter's bounds are its
 * value. */
void rows_put_fit(const struct frozen *model, const struct fit_job *job, double *row);

/* Is parameter p free in the job, with a kink inside its bounds? */
bool rows_is_kinked(const struct frozen *model, const struct fit_job *job, size_t p);

/* Moves an f32 point onto bounds it exceeds or rounds to; resets fixed parameters. False: not finite. */
bool rows_land(const struct frozen *model, const struct fit_job *job, double *point);

struct rows_fits {
    const struct frozen *model;
    unsigned entry;
    uint32_t args[FIT_ARGS]; /* from FIT_ARG_ITERATIONS on */
    size_t n;
    const struct fit_job *jobs;
    void (*take)(void *user, const struct fit_job *job, const double *answer);
    void *user;
};
paritas_status rows_fits_run(paritas_context *context, struct paritas_device *device,
                             const struct rows_fits *call);

/* See minimise/fit_answer.h. */
struct fit_outcome {
    paritas_fit_status status;
    bool inside, flat, edge; /* outside, numbers mean nothing */
    double value, edm, pull;
    unsigned iterations;
};
struct fit_outcome rows_get_outcome(const struct frozen *model, const double *answer);

/* Did the fit end in the domain, with a factored Hessian? */
static inline bool rows_has_covariance(const struct frozen *model, const double *answer)
{
    return answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_VALUE)] < ROWS_OUTSIDE &&
           answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_BAD)] == 0.0;
}
