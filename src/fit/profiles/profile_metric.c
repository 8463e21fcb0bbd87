/* profile_metric.c: the inverse Hessian that quasi-Newton fits share, whole or as a diagonal and columns. */
#include "fit/profiles/profile_metric.h"
#include "fit/cholesky.h"

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
        to->usable =
            to->usable && (job->fixed[p] || (ptrdiff_t)p == job->held || (error > 0.0 && isfinite(error)));
    }
    for (size_t i = 0; i < slots * slots; i++) to->usable = to->usable && isfinite(to->matrix[i]);
}

/* Next column: at `pivot` of what the columns leave of the matrix, or, once all that add are there, of the
 * diagonal less that. `left`: its diagonal; 0 where there is nothing left. */
static void take_column(struct profile_metric *metric, const double *matrix, size_t n, bool subtracts,
                        size_t pivot, double *left)
{
    const double sign = subtracts ? -1.0 : 1.0, scale = 1.0 / sqrt(left[pivot]);
    double *column = metric->columns + metric->rank * n;
    for (size_t i = 0; i < n; i++) column[i] = sign * matrix[pivot * n + i];
    for (size_t k = 0; k < metric->rank; k++) {
        const double *before = metric->columns + k * n;
        const double factor = subtracts && k < metric->added ? before[pivot] : -before[pivot];
        for (size_t i = 0; i < n; i++) column[i] += factor * before[i];
    }
    column[pivot] = left[pivot];
    for (size_t i = 0; i < n; i++) {
        column[i] = left[i] != 0.0 ? scale * column[i] : 0.0;
        left[i] -= column[i] * column[i];
    }
    left[pivot] = 0.0;
    metric->rank++;
}

/* Columns of an n x n matrix, at most `most`: first those of parameters without a prior variance (diagonal
 * 0), unless their row is 0, then of what the others' variances have too much, while it is more than
 * RANK_PART of one. `left`: scratch, n. */
static bool take_columns(struct profile_metric *metric, const double *matrix, size_t n, size_t most,
                         double *left)
{
    for (size_t i = 0; i < n; i++) left[i] = matrix[i * n + i];
    for (size_t i = 0; i < n; i++) {
        if (metric->diagonal[i] > 0.0 || matrix[i * n + i] == 0.0) continue;
        if (metric->rank == most || !(left[i] > 0.0)) return false;
        take_column(metric, matrix, n, false, i, left);
    }
    metric->added = metric->rank;
    for (size_t i = 0; i < n; i++) left[i] = metric->diagonal[i] > 0.0 ? metric->diagonal[i] - left[i] : 0.0;
    for (;;) {
        size_t pivot = 0;
        double largest = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double part = metric->diagonal[i] > 0.0 ? left[i] / metric->diagonal[i] : 0.0;
            if (part > largest) pivot = i;
            largest = fmax(part, largest);
        }
        if (largest <= RANK_PART) return true;
        if (metric->rank == most) return false;
        take_column(metric, matrix, n, true, pivot, left);
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
            for (size_t j = 0; j <= i; j++) sum[i * n + j] += factor * column[j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) sum[j * n + i] = sum[i * n + j];
}

/* A fourth of the product, at least? */
static bool saves_products(size_t n, size_t rank)
{
    const size_t row = PROFILE_COMPACT_ROW(n);
    return 4 * (n * PROFILE_COMPACT_ROW(rank) + rank * row) <= 3 * n * row;
}

/* The metric's other form, where it is positive and saves work. */
static paritas_status split(const struct profile_plan *plan, bool conditional, struct arena *arena,
                            struct profile_metric *metric)
{
    const ptrdiff_t held = conditional ? plan->poi : -1;
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots, n = profile_free_count(plan), most = 3 * n / 8;
    double *rest = arena_array(arena, n * n + 1, sizeof *rest),
           *sum = arena_array(arena, n * n + 1, sizeof *sum);
    double *left = arena_array(arena, n + 1, sizeof *left);
    uint32_t *slot = arena_array(arena, n + 1, sizeof *slot);
    metric->diagonal = arena_array(arena, n + 1, sizeof *metric->diagonal);
    metric->columns = arena_array(arena, n * most + 1, sizeof *metric->columns);
    if (!rest || !sum || !left || !slot || !metric->diagonal || !metric->columns)
        return PARITAS_OUT_OF_MEMORY;
    for (size_t p = 0, i = 0; p < model->n_parameters; p++) {
        if (plan->fixed[p]) continue;
        const double variance = model->width[p] * model->width[p];
        slot[i] = model->slot_of[p];
        /* a bound on the variance after the fit, if the constraint is as wide at `start` */
        if ((ptrdiff_t)p != held && metric->matrix[slot[i] * slots + slot[i]] <= (1.0 + RANK_PART) * variance)
            metric->diagonal[i] = variance;
        i++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) rest[i * n + j] = metric->matrix[slot[i] * slots + slot[j]];
    bool whole = take_columns(metric, rest, n, most, left) && saves_products(n, metric->rank);
    sum_columns(metric, n, sum);
    memcpy(rest, sum, n * n * sizeof *rest);
    for (size_t i = 0; i < n && conditional; i++)
        if (slot[i] == model->slot_of[held]) rest[i * n + i] = 1.0;
    whole = whole && cholesky(n, rest);
    if (!whole) metric->rank = 0;
    for (size_t i = 0; i < n && whole; i++)
        for (size_t j = 0; j < n; j++) metric->matrix[slot[i] * slots + slot[j]] = sum[i * n + j];
    return PARITAS_OK;
}

/* Inverse Hessian of the free or conditional fit at `start`, regardless of bounds and of edges: other fits
 * leave them. */
static paritas_status find_matrix(paritas_context *context, const struct profile_plan *plan, bool conditional,
                                  const double *start, const double *row, struct arena *arena,
                                  struct matrix *to)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t n = model->n_parameters, slots = model->n_slots;
    to->plan = plan;
    to->matrix = arena_array(arena, slots * slots, sizeof *to->matrix);
    double *bounds = arena_array(arena, 2 * n + 1, sizeof *bounds);
    if (!bounds || !to->matrix) return paritas_fail_memory(context);
    if (model->kinked) return PARITAS_OK; /* one Hessian does not tell what both sides of a kink do */
    for (size_t p = 0; p < n; p++) {
        bounds[p] = -1e300;
        bounds[n + p] = 1e300;
    }
    struct fit_job job = profile_job(plan, conditional, row, start);
    job.lower = bounds;
    job.upper = bounds + n;
    return rows_fits_run(
        context, context->host,
        &(struct rows_fits){.model = model,
                            .entry = model->family->covariance,
                            .args = {[FIT_ARG_WHOLE] = 1, [FIT_ARG_FLAGS] = FIT_PASSES_EDGES},
                            .n = 1,
                            .jobs = &job,
                            .take = take_matrix,
                            .user = to});
}

paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan, const double *row,
                               struct arena *arena, struct profile_metric *metric, bool *usable)
{
    struct matrix to = {.usable = false};
    const paritas_status status = find_matrix(context, plan, false, plan->start, row, arena, &to);
    *metric = (struct profile_metric){.matrix = to.matrix};
    *usable = to.usable;
    return status;
}

/* The free fits' matrix with the parameter of interest held. */
static void hold_poi(const struct profile_plan *plan, const double *matrix, double *held)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    const uint32_t poi = model->slot_of[plan->poi];
    const double *row = matrix + poi * slots, variance = row[poi];
    for (size_t i = 0; i < slots; i++)
        for (size_t j = 0; j < slots; j++) {
            const double part = variance > 0.0 ? row[i] * row[j] / variance : 0.0;
            held[i * slots + j] = i == poi || j == poi ? 0.0 : matrix[i * slots + j] - part;
        }
}

/* Kernel row of the data expected at the conditional fits' start. With other data, second derivatives of the
 * expectation would make the matrix's rank large. */
static paritas_status expect_conditional(paritas_context *context, const struct profile_plan *plan,
                                         const double *expected, struct arena *arena, double **row)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    double *data = arena_array(arena, model->n_data, sizeof *data),
           *there = arena_array(arena, model->n_data, sizeof *there);
    *row = arena_array(arena, model->n_places, sizeof **row);
    if (!data || !there || !*row) return paritas_fail_memory(context);
    for (size_t i = 0; i < model->n_data; i++) data[i] = expected[model->place_of[i]];
    TRY(paritas_expected_data_of(context, plan->model, 1, plan->conditional_start, data, there));
    rows_put_data(model, there, *row);
    return PARITAS_OK;
}

/* The metric of conditional fits. */
static paritas_status find_conditional(paritas_context *context, const struct profile_plan *plan,
                                       const double *expected, struct arena *arena,
                                       struct profile_metric *metric)
{
    const size_t slots = paritas_model_frozen(plan->model)->n_slots;
    struct profile_metric *own = metric->conditional = arena_array(arena, 1, sizeof *own);
    struct matrix to = {.usable = false};
    double *row = NULL;
    if (!own) return paritas_fail_memory(context);
    if (plan->conditional_start) {
        TRY(expect_conditional(context, plan, expected, arena, &row));
        TRY(find_matrix(context, plan, true, plan->conditional_start, row, arena, &to));
    }
    if (!to.matrix) to.matrix = arena_array(arena, slots * slots, sizeof *to.matrix);
    if (!to.matrix) return paritas_fail_memory(context);
    *own = (struct profile_metric){.matrix = to.matrix};
    if (!to.usable) hold_poi(plan, metric->matrix, own->matrix);
    return split(plan, true, arena, own) != PARITAS_OK ? paritas_fail_memory(context) : PARITAS_OK;
}

paritas_status profiles_metric(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, struct arena *arena, struct profile_metric *metric,
                               bool *usable)
{
    TRY(profiles_matrix(context, plan, expected, arena, metric, usable));
    if (!*usable) return PARITAS_OK;
    if (split(plan, false, arena, metric) != PARITAS_OK) return paritas_fail_memory(context);
    return plan->conditional ? find_conditional(context, plan, expected, arena, metric) : PARITAS_OK;
}
