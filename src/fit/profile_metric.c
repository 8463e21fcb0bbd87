/* profile_metric.c: the inverse Hessian that quasi-Newton fits share, whole or as a diagonal and columns. */
#include "fit/cholesky.h"
#include "fit/ladder.h"

#include <math.h>
#include <string.h>

#define RANK_PART 1e-2 /* of a variance: what the metric may leave out */

struct matrix {
    const struct profile_plan *plan;
    double *matrix;
    bool usable;
};

static void take_matrix(void *user, const struct fit_job *job, const double *answer)
{
    struct matrix *to = user;
    const struct frozen *model = paritas_model_frozen(to->plan->model);
    const size_t slots = model->n_slots;
    const double *errors = answer + COVARIANCE_ERRORS * slots;
    memcpy(to->matrix, answer + COVARIANCE_MATRIX(slots), slots * slots * sizeof *to->matrix);
    to->usable = rows_has_covariance(model, answer);
    for (size_t p = 0; p < model->n_parameters; p++) {
        const double error = errors[model->slot_of[p]];
        /* error 0: not determined by the data */
        to->usable = to->usable && (job->fixed[p] || (error > 0.0 && isfinite(error)));
    }
    for (size_t i = 0; i < slots * slots; i++) to->usable = to->usable && isfinite(to->matrix[i]);
}

size_t profile_free_count(const struct profile_plan *plan)
{
    size_t count = 0;
    for (size_t p = 0; p < paritas_model_frozen(plan->model)->n_parameters; p++) count += !plan->fixed[p];
    return count;
}

/* Rest of a matrix, n squared, from which columns are taken. */
static void take_column(double *rest, size_t n, size_t pivot, double *column)
{
    const double scale = 1.0 / sqrt(rest[pivot * n + pivot]);
    for (size_t i = 0; i < n; i++) column[i] = scale * rest[pivot * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) rest[i * n + j] -= column[i] * column[j];
    for (size_t i = 0; i < n; i++) rest[i * n + pivot] = rest[pivot * n + i] = 0.0;
}

/* Columns of an n x n matrix `rest` (scratch), at most `most`: first those of parameters without a variance
 * (diagonal 0), then of what the others' variances have too much, while it is more than RANK_PART of one. */
static bool take_columns(struct profile_metric *metric, double *rest, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++) {
        if (metric->diagonal[i] > 0.0) continue;
        if (metric->rank == most || !(rest[i * n + i] > 0.0)) return false;
        take_column(rest, n, i, metric->columns + metric->rank++ * n);
    }
    metric->added = metric->rank;
    for (size_t i = 0; i < n * n; i++) rest[i] = -rest[i];
    for (size_t i = 0; i < n; i++) rest[i * n + i] += metric->diagonal[i];
    for (;;) {
        size_t pivot = 0;
        double largest = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double part = metric->diagonal[i] > 0.0 ? rest[i * n + i] / metric->diagonal[i] : 0.0;
            if (part > largest) pivot = i;
            largest = fmax(part, largest);
        }
        if (largest <= RANK_PART) return true;
        if (metric->rank == most) return false;
        take_column(rest, n, pivot, metric->columns + metric->rank++ * n);
    }
}

static void sum_columns(const struct profile_metric *metric, size_t n, double *sum)
{
    memset(sum, 0, n * n * sizeof *sum);
    for (size_t i = 0; i < n; i++) sum[i * n + i] = metric->diagonal[i];
    for (size_t k = 0; k < metric->rank; k++) {
        const double *column = metric->columns + k * n;
        for (size_t i = 0; i < n; i++) {
            const double factor = k < metric->added ? column[i] : -column[i];
            for (size_t j = 0; j < n; j++) sum[i * n + j] += factor * column[j];
        }
    }
}

/* A fourth of the product, at least? */
static bool saves_products(size_t n, size_t rank)
{
    const size_t row = PROFILE_COMPACT_ROW(n);
    return 4 * (n * PROFILE_COMPACT_ROW(rank) + rank * row) <= 3 * n * row;
}

/* The metric's other form, where it is positive and saves work. */
static paritas_status split(const struct profile_plan *plan, struct arena *arena,
                            struct profile_metric *metric)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots, n = profile_free_count(plan), most = 3 * n / 8;
    double *rest = arena_array(arena, n * n + 1, sizeof *rest),
           *sum = arena_array(arena, n * n + 1, sizeof *sum);
    uint32_t *slot = arena_array(arena, n + 1, sizeof *slot);
    metric->diagonal = arena_array(arena, n + 1, sizeof *metric->diagonal);
    metric->columns = arena_array(arena, n * most + 1, sizeof *metric->columns);
    if (!rest || !sum || !slot || !metric->diagonal || !metric->columns) return PARITAS_OUT_OF_MEMORY;
    for (size_t p = 0, i = 0; p < model->n_parameters; p++) {
        if (plan->fixed[p]) continue;
        const double variance = model->width[p] * model->width[p];
        slot[i] = model->slot_of[p];
        /* a bound on the variance after the fit, if the constraint is as wide at `start` */
        if (metric->matrix[slot[i] * slots + slot[i]] <= (1.0 + RANK_PART) * variance)
            metric->diagonal[i] = variance;
        i++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) rest[i * n + j] = metric->matrix[slot[i] * slots + slot[j]];
    bool whole = take_columns(metric, rest, n, most) && saves_products(n, metric->rank);
    sum_columns(metric, n, sum);
    memcpy(rest, sum, n * n * sizeof *rest);
    whole = whole && cholesky(n, rest);
    if (!whole) metric->rank = 0;
    for (size_t i = 0; i < n && whole; i++)
        for (size_t j = 0; j < n; j++) metric->matrix[slot[i] * slots + slot[j]] = sum[i * n + j];
    return PARITAS_OK;
}

paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan, const double *row,
                               struct arena *arena, struct profile_metric *metric, bool *usable)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t n = model->n_parameters, slots = model->n_slots;
    *usable = false;
    *metric = (struct profile_metric){.matrix = arena_array(arena, slots * slots, sizeof *metric->matrix)};
    double *bounds = arena_array(arena, 2 * n + 1, sizeof *bounds);
    if (!bounds || !metric->matrix) return paritas_fail_memory(context);
    if (model->kinked) return PARITAS_OK; /* one Hessian does not tell what both sides of a kink do */
    for (size_t p = 0; p < n; p++) {
        bounds[p] = -1e300;
        bounds[n + p] = 1e300;
    }
    struct matrix to = {plan, metric->matrix, false};
    struct fit_job job = profile_job(plan, false, row, plan->start);
    job.lower = bounds;
    job.upper = bounds + n;
    TRY(rows_fits_run(context, context->host,
                      &(struct rows_fits){.model = model,
                                          .entry = model->family->covariance,
                                          .args = {[FIT_ARG_WHOLE] = 1},
                                          .n = 1,
                                          .jobs = &job,
                                          .take = take_matrix,
                                          .user = &to}));
    *usable = to.usable;
    return PARITAS_OK;
}

paritas_status profiles_metric(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, struct arena *arena, struct profile_metric *metric,
                               bool *usable)
{
    TRY(profiles_matrix(context, plan, expected, arena, metric, usable));
    return *usable && split(plan, arena, metric) != PARITAS_OK ? paritas_fail_memory(context) : PARITAS_OK;
}
