/* fit_rows.h: between the user's order and the kernels' rows, and launches of a frozen model. */
#ifndef PARITAS_FIT_ROWS_H
#define PARITAS_FIT_ROWS_H

#include "entry/entry_rows.h"
#include "fit/family.h"
#include "fit/launch.h"

/* The value that kernels answer outside a model's domain is at least this. */
#define ROWS_OUTSIDE 1e29

/* ---- rows ---- */

/* user → kernel: data row (n_places), point (n_slots; padding slots get `padding` unless NULL, then 0) */
void rows_put_data(const struct frozen *model, const double *data, double *row);
void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row);
/* kernel → user */
void rows_get_point(const struct frozen *model, const double *row, double *point);

/* Can datum i be that? A finite number, not negative where it is a count. */
static inline bool rows_is_datum(const struct frozen *model, size_t i, double value)
{
    return value - value == 0.0 && (value >= 0.0 || !frozen_counts(model, i));
}

/* INVALID_ARGUMENT for a data row, called `where`, whose templates the model cannot take. */
paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where);

/* The same for n rows, called data[0], ...; the second looks at all of their numbers. */
paritas_status rows_check_all_templates(paritas_context *context, const struct frozen *model, size_t n,
                                        const double *data);
paritas_status rows_check_data(paritas_context *context, const struct frozen *model, size_t n,
                               const double *data);

/* ---- launches ---- */

/* What a launch of this entry is, but for its rows. */
struct launch_plan rows_plan(const struct frozen *model, unsigned entry);

/* Points through an entry that takes them, each with its own data row where the model has templates. */
struct rows_points {
    const struct frozen *model;
    unsigned entry;
    size_t n;
    const double *points;     /* user's order */
    const double *directions; /* of the tangent entry, behind each point; NULL: zeros */
    const double *data;       /* a row each; NULL: the model's own. Not looked at without templates */
    size_t answer;            /* elements of a point's answer */
    /* The answer of point k; `point`: its row as it was launched. */
    void (*take)(void *user, size_t k, const double *point, const double *answer);
    void *user;
};
paritas_status rows_points_run(paritas_context *context, struct paritas_device *device,
                               const struct rows_points *call);

/* ---- fits ---- */

/* A fit, or a covariance, with nothing left open; arrays in the user's order. */
struct fit_job {
    size_t index; /* the caller's */
    const double *start, *lower, *upper;
    const unsigned char *fixed;
    const double *data; /* a user's row; or */
    const double *row;  /* the kernel's; equal pointers bring one row */
    ptrdiff_t held;     /* parameter that is held, too; -1: none */
    double held_at;
    double constant; /* what the likelihood has beyond its deviance form, where the caller wants it */
};

/* The first of the jobs before k with the same data; k: there is none. Lists hold few data sets that
 * alternate, or one for each job, so the last few are enough to look at. */
size_t fit_job_like(const struct fit_job *jobs, size_t k);

/* The vectors of a fit_job (entry/entry_rows.h) at `row`: the start within the bounds; a fixed parameter's
 * bounds are its value. */
void rows_put_fit(const struct frozen *model, const struct fit_job *job, double *row);

/* The point that an f32 kernel answered, as numbers of the job: what lies beyond a bound, or on what f32
 * makes of it, is on it; fixed parameters have their values. False: it is no point. */
bool rows_land(const struct frozen *model, const struct fit_job *job, double *point);

struct rows_fits {
    const struct frozen *model;
    unsigned entry;          /* of a minimiser, or the covariance */
    uint32_t args[FIT_ARGS]; /* from FIT_ARG_ITERATIONS on */
    size_t n;
    const struct fit_job *jobs;
    void (*take)(void *user, const struct fit_job *job, const double *answer);
    void *user;
};
paritas_status rows_fits_run(paritas_context *context, struct paritas_device *device,
                             const struct rows_fits *call);

/* How a fit ended (minimise/fit_answer.h). */
struct fit_outcome {
    paritas_fit_status status;
    bool inside, flat; /* outside the domain the numbers mean nothing */
    double value, edm, pull;
    unsigned iterations;
};
struct fit_outcome rows_get_outcome(const struct frozen *model, const double *answer);

/* Is the point of a covariance's answer in the domain, with a Hessian that has a factor? */
static inline bool rows_has_covariance(const struct frozen *model, const double *answer)
{
    return answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_VALUE)] < ROWS_OUTSIDE &&
           answer[COVARIANCE_SCALAR(model->n_slots, COVARIANCE_BAD)] == 0.0;
}

#endif
