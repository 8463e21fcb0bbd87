/* fit_rows.h: converts user's order to kernel rows; launches of a frozen model. */
#ifndef PARITAS_FIT_ROWS_H
#define PARITAS_FIT_ROWS_H

#include "entry/entry_rows.h"
#include "fit/family.h"
#include "fit/launch.h"

/* Least kernel value outside a model's domain. */
#define ROWS_OUTSIDE 1e29

/* ---- rows ---- */

/* user → kernel: data row (n_places), point (n_slots). `padding`: for padding slots, NULL: 0 */
void rows_put_data(const struct frozen *model, const double *data, double *row);
void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row);
/* kernel → user */
void rows_get_point(const struct frozen *model, const double *row, double *point);

/* Is the value finite, and not negative if a count? */
static inline bool rows_is_datum(const struct frozen *model, size_t i, double value)
{
    return value - value == 0.0 && (value >= 0.0 || !frozen_counts(model, i));
}

/* INVALID_ARGUMENT for a row `where` with unusable templates. */
paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where);

/* The same for rows data[0], ...; the second checks all numbers. */
paritas_status rows_check_all_templates(paritas_context *context, const struct frozen *model, size_t n,
                                        const double *data);
paritas_status rows_check_data(paritas_context *context, const struct frozen *model, size_t n,
                               const double *data);

/* ---- launches ---- */

/* The entry's launch, without rows. */
struct launch_plan rows_plan(const struct frozen *model, unsigned entry);

/* Points for an entry, each with its data row if there are templates. */
struct rows_points {
    const struct frozen *model;
    unsigned entry;
    size_t n;
    const double *points;     /* user's order */
    const double *directions; /* tangent only, behind each point; NULL: zeros */
    const double *data;       /* a row each; NULL: the model's. Templates only */
    size_t answer;            /* per point */
    /* Answer of point k; `point`: as launched. */
    void (*take)(void *user, size_t k, const double *point, const double *answer);
    void *user;
};
paritas_status rows_points_run(paritas_context *context, struct paritas_device *device,
                               const struct rows_points *call);

/* ---- fits ---- */

/* A complete fit or covariance job, user's order. */
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

/* First of the jobs before k with the same data, else k. Checks only the last few: lists alternate few data
 * sets or have one per job. */
size_t fit_job_like(const struct fit_job *jobs, size_t k);

/* Writes a fit_job's vectors (entry/entry_rows.h) to `row`: start within bounds; fixed parameters have bounds
 * at their value. */
void rows_put_fit(const struct frozen *model, const struct fit_job *job, double *row);

/* Makes an f32 point legal: moves it onto bounds it exceeds or rounds to, and resets fixed parameters. False:
 * not finite. */
bool rows_land(const struct frozen *model, const struct fit_job *job, double *point);

struct rows_fits {
    const struct frozen *model;
    unsigned entry;          /* minimiser or covariance */
    uint32_t args[FIT_ARGS]; /* from FIT_ARG_ITERATIONS on */
    size_t n;
    const struct fit_job *jobs;
    void (*take)(void *user, const struct fit_job *job, const double *answer);
    void *user;
};
paritas_status rows_fits_run(paritas_context *context, struct paritas_device *device,
                             const struct rows_fits *call);

/* A fit's end (minimise/fit_answer.h). */
struct fit_outcome {
    paritas_fit_status status;
    bool inside, flat; /* outside the domain numbers mean nothing */
    double value, edm, pull;
    unsigned iterations;
};
struct fit_outcome rows_get_outcome(const struct frozen *model, const double *answer);

/* Is a covariance's point in the domain, its Hessian factored? */
static inline bool rows_has_covariance(const struct frozen *model, const double *answer)
{
    return answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_VALUE)] < ROWS_OUTSIDE &&
           answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_BAD)] == 0.0;
}

#endif
