/* profiles.c: quasi-Newton profiles; Newton for the rest. */
#include "fit/cholesky.h"
#include "fit/ladder.h"

#include <math.h>
#include <string.h>

#define EVALUATIONS 40 /* per fit; then Newton takes over */
#define EVALUATIONS_HELD 24
/* then f64 starts afresh: the precisions may reach different minima (sbottom: one toy in 4000 with 40) */
#define EVALUATIONS_F32 24
#define EVALUATIONS_POLISH 16
#define RANK_PART 1e-2 /* of a variance: what the metric may leave out */
#define SHARE_MOST 32u /* tasks per lane: lanes idle only in the last */

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

static size_t free_count(const struct profile_plan *plan, size_t n)
{
    size_t count = 0;
    for (size_t p = 0; p < n; p++) count += !plan->fixed[p];
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
    const size_t slots = model->n_slots, n = free_count(plan, model->n_parameters), most = 3 * n / 8;
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

/* ---- quasi-Newton ---- */

/* Data rows with both fits' points (user's order). Without an answer, profile and end stay. */
struct tasks {
    const struct profile_plan *plan;
    const struct frozen *model;
    const double *data;
    struct profile *profiles;
    double *ends;
    size_t n;
    const size_t *which; /* n; NULL: 0 .. n - 1 */
    bool from_ends;      /* not at the plan's start */
    bool knows;          /* these are the ends of free fits */
    bool own_holds;      /* all fit the first data row; `ends` has starts and what moves */
    bool holds_poi;      /* the parameter of interest where the first end has it */
    double *slopes;      /* of twice the NLL by it, in the last fit; NULL: not asked for */
    bool wants_ends;
    bool closest;
    bool by_f32, raw;
    uint32_t evaluations;
};

static size_t task_row(const struct tasks *tasks, size_t k)
{
    return tasks->which ? tasks->which[k] : k;
}

static uint32_t task_flags(const struct tasks *tasks)
{
    const struct profile_plan *plan = tasks->plan;
    return (plan->conditional ? PROFILE_CONDITIONAL : 0) | (tasks->wants_ends ? PROFILE_POINTS : 0) |
           (plan->poi >= 0 && !plan->fixed[plan->poi] && !tasks->holds_poi ? PROFILE_POI_FREE : 0) |
           (tasks->from_ends ? PROFILE_STARTS : 0) | (tasks->knows ? PROFILE_KNOWN : 0) |
           (tasks->own_holds ? PROFILE_HOLDS : 0) | (tasks->closest ? PROFILE_CLOSEST : 0);
}

static size_t shared_size(const struct profile_plan *plan, size_t count)
{
    return PROFILE_SHARED(paritas_model_frozen(plan->model)->n_slots, count, plan->metric->rank);
}

/* The product's table: the metric's free part. */
static void put_metric(const struct profile_plan *plan, const uint32_t *free_slots, size_t count, double *in)
{
    const struct profile_metric *metric = plan->metric;
    const size_t slots = paritas_model_frozen(plan->model)->n_slots, rank = metric->rank,
                 row = PROFILE_COMPACT_ROW(count), rank_row = PROFILE_COMPACT_ROW(rank),
                 compact = PROFILE_COMPACT(slots);
    memset(in + compact, 0, (shared_size(plan, count) - compact) * sizeof *in);
    if (rank == 0) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                in[compact + i * row + j] = metric->matrix[free_slots[i] * slots + free_slots[j]];
        return;
    }
    memcpy(in + compact, metric->diagonal, count * sizeof *in);
    for (size_t k = 0; k < rank; k++) {
        in[PROFILE_SIGNS(slots, count, rank) + k] = k < metric->added ? 1.0 : -1.0;
        for (size_t i = 0; i < count; i++)
            in[PROFILE_COLUMNS(slots, count) + k * row + i] =
                in[PROFILE_BY_SLOT(slots, count, rank) + i * rank_row + k] = metric->columns[k * count + i];
    }
}

static void put_shared(const struct profile_plan *plan, const uint32_t *free_slots, size_t count, double *in)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    const struct fit_job job = profile_job(plan, false, NULL, plan->start);
    double *cap = in + PROFILE_VECTOR(slots, PROFILE_CAP), *shift = in + PROFILE_VECTOR(slots, PROFILE_SHIFT),
           *scalars = in + PROFILE_SCALAR(slots, 0), *compact = in + PROFILE_COMPACT(slots);
    memcpy(in, plan->metric->matrix, slots * slots * sizeof *in);
    rows_put_fit(model, &job, in + PROFILE_VECTOR(slots, PROFILE_START));
    memset(cap, 0, (size_t)(compact - cap) * sizeof *cap);
    for (size_t p = 0; p < model->n_parameters; p++) {
        const uint32_t slot = model->slot_of[p];
        if (model->width[p] > 0.0) cap[slot] = STEP_WIDTHS * model->width[p];
        if (plan->conditional) shift[slot] = plan->conditional_start[p] - plan->start[p];
    }
    scalars[PROFILE_MU] = plan->mu;
    if (plan->poi >= 0) in[PROFILE_VECTOR(slots, PROFILE_FREE) + model->slot_of[plan->poi]] = 0.0;
    put_metric(plan, free_slots, count, in);
}

static paritas_status fill_tasks(void *user, struct launch_rows *rows)
{
    const struct tasks *tasks = user;
    const struct profile_plan *plan = tasks->plan;
    const struct frozen *model = tasks->model;
    const size_t slots = model->n_slots, places = model->n_places, p = model->n_parameters,
                 count = free_count(plan, p);
    uint32_t *args = rows->args, *free_slots = args + PROFILE_ARGS;
    double *data = rows->in + shared_size(plan, count), *starts = data + rows->n * places;
    args[PROFILE_ARG_TASKS] = (uint32_t)rows->n;
    args[PROFILE_ARG_SHARE] = rows->share;
    args[PROFILE_ARG_POI] = plan->poi >= 0 ? model->slot_of[plan->poi] : PROFILE_NO_POI;
    args[PROFILE_ARG_FLAGS] = task_flags(tasks);
    args[PROFILE_ARG_EVALUATIONS] = tasks->evaluations;
    args[PROFILE_ARG_FREE] = (uint32_t)count;
    args[PROFILE_ARG_RANK] = (uint32_t)plan->metric->rank;
    for (size_t i = 0, at = 0; i < p; i++)
        if (!plan->fixed[i]) free_slots[at++] = model->slot_of[i];
    put_shared(plan, free_slots, count, rows->in);
    for (size_t k = 0; k < rows->n; k++) {
        const size_t row = task_row(tasks, rows->at + k);
        double *start = starts + k * PROFILE_STARTS_SIZE(slots);
        memcpy(data + k * places, tasks->data + (tasks->own_holds ? 0 : row * places), places * sizeof *data);
        for (size_t fit = 0; fit < 2 && tasks->from_ends; fit++)
            rows_put_point(model, tasks->ends + (2 * row + fit) * p,
                           fit == 1 && tasks->own_holds ? NULL : model->slot_template, start + fit * slots);
    }
    return PARITAS_OK;
}

/* Of the free fit of a row. */
static unsigned take_evaluations(const struct tasks *tasks, size_t row, const double *answer)
{
    return tasks->knows ? tasks->plan->known->evaluations[row] : (unsigned)answer[PROFILE_EVALUATIONS_FREE];
}

static void note_known(const struct tasks *tasks, size_t row, const double *answer)
{
    const struct profile_known *known = tasks->plan->known;
    const size_t p = tasks->model->n_parameters;
    if (!known || tasks->knows || tasks->by_f32 || row >= known->n) return;
    known->evaluations[row] = (unsigned)answer[PROFILE_EVALUATIONS_FREE];
    memcpy(known->ends + row * p, tasks->ends + 2 * row * p, p * sizeof *known->ends);
}

static paritas_status take_tasks(void *user, const struct launch_rows *rows)
{
    const struct tasks *tasks = user;
    const struct frozen *model = tasks->model;
    const size_t slots = model->n_slots, fits = tasks->plan->conditional ? 2 : 1;
    for (size_t k = 0; k < rows->n; k++) {
        const size_t row = task_row(tasks, rows->at + k);
        const double *answer = rows->out + k * PROFILE_ANSWER_SIZE(slots, tasks->wants_ends);
        struct profile *profile = &tasks->profiles[row];
        profile->iterations +=
            take_evaluations(tasks, row, answer) + (unsigned)answer[PROFILE_EVALUATIONS_FIXED];
        if (answer[PROFILE_STATUS] != PARITAS_FIT_CONVERGED || answer[PROFILE_FITS] != (double)fits) continue;
        profile->value_free = answer[PROFILE_VALUE_FREE];
        profile->value_fixed = answer[fits == 2 ? PROFILE_VALUE_FIXED : PROFILE_VALUE_FREE];
        profile->mu_hat = answer[PROFILE_POI];
        profile->edm = answer[PROFILE_EDM];
        if (tasks->slopes) tasks->slopes[row] = 2.0 * answer[PROFILE_SLOPE_POI];
        profile->status_free = profile->status_fixed = PARITAS_FIT_CONVERGED;
        profile->rung = PROFILE_QUASI_NEWTON;
        for (size_t fit = 0; fit < fits && tasks->wants_ends; fit++)
            rows_get_point(model, answer + PROFILE_POINT(slots, fit),
                           tasks->ends + (2 * row + fit) * model->n_parameters);
        note_known(tasks, row, answer);
    }
    return PARITAS_OK;
}

static paritas_status tasks_run(paritas_context *context, struct paritas_device *device, struct tasks *tasks)
{
    const struct frozen *model = tasks->model;
    const size_t slots = model->n_slots, count = free_count(tasks->plan, model->n_parameters);
    struct launch_plan plan = rows_plan(model, model->family->profile);
    plan.in.once = shared_size(tasks->plan, count);
    plan.in.job = model->n_places + (tasks->from_ends ? PROFILE_STARTS_SIZE(slots) : 0);
    plan.out.job = PROFILE_ANSWER_SIZE(slots, tasks->wants_ends);
    plan.args.once = PROFILE_ARGS + count;
    plan.share_most = SHARE_MOST;
    plan.fill = fill_tasks;
    plan.take = take_tasks;
    plan.user = tasks;
    return launch_run(context, device, &plan, tasks->n);
}

paritas_status profiles_closest(paritas_context *context, const struct profile_plan *plan, size_t n,
                                const double *data, struct profile *profiles, double *slopes, double *ends)
{
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
    struct tasks tasks = {.plan = plan,
                          .model = paritas_model_frozen(plan->model),
                          .data = data,
                          .profiles = profiles,
                          .ends = ends,
                          .n = n,
                          .slopes = slopes,
                          .wants_ends = true,
                          .closest = true,
                          .evaluations = EVALUATIONS};
    return tasks_run(context, launch_device_f64(context), &tasks);
}

paritas_status profiles_closest_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                                     const double *data, struct profile *profiles, double *slopes,
                                     double *ends)
{
    struct profile_plan held = *plan;
    held.conditional = false;
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
    struct tasks tasks = {.plan = &held,
                          .model = paritas_model_frozen(plan->model),
                          .data = data,
                          .profiles = profiles,
                          .ends = ends,
                          .n = n,
                          .from_ends = true,
                          .holds_poi = true,
                          .wants_ends = true,
                          .slopes = slopes,
                          .closest = true,
                          .evaluations = EVALUATIONS};
    return tasks_run(context, launch_device_f64(context), &tasks);
}

paritas_status profiles_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                             const double *row, struct profile *profiles, double *ends)
{
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
    struct tasks tasks = {.plan = plan,
                          .model = paritas_model_frozen(plan->model),
                          .data = row,
                          .profiles = profiles,
                          .ends = ends,
                          .n = n,
                          .from_ends = true,
                          .own_holds = true,
                          .wants_ends = true,
                          .evaluations = EVALUATIONS_HELD};
    return tasks_run(context, launch_device_f64(context), &tasks);
}

/* ---- quasi-Newton in f32, continued in f64 ---- */

static paritas_status run_stage(paritas_context *context, struct paritas_device *device, void *user,
                                enum launch_stage stage, size_t n, const size_t *which)
{
    struct tasks tasks = *(const struct tasks *)user;
    const bool in_f32 = stage == STAGE_FIRST && tasks.by_f32;
    tasks.n = n;
    tasks.which = which;
    tasks.from_ends = stage == STAGE_NEAR;
    tasks.wants_ends = tasks.wants_ends || in_f32;
    tasks.closest = in_f32 && !tasks.raw;
    tasks.evaluations = stage == STAGE_NEAR ? EVALUATIONS_POLISH : in_f32 ? EVALUATIONS_F32 : EVALUATIONS;
    return tasks_run(context, device, &tasks);
}

static void forget(struct profile *profile)
{
    const unsigned spent = profile->iterations;
    *profile = profile_without_answer;
    profile->iterations = spent;
}

static enum launch_stage next_stage(void *user, enum launch_stage stage, size_t i)
{
    const struct tasks *tasks = user;
    const struct profile_plan *plan = tasks->plan;
    const size_t p = tasks->model->n_parameters;
    const bool answered = tasks->profiles[i].rung == PROFILE_QUASI_NEWTON;
    if (!tasks->by_f32 || stage == STAGE_ANEW) return STAGE_DONE;
    if (stage == STAGE_NEAR || !answered) return answered ? STAGE_DONE : STAGE_ANEW;
    double *ends = tasks->ends + i * 2 * p;
    const bool whole =
        profile_land(plan, false, ends) && (!plan->conditional || profile_land(plan, true, ends + p));
    if (whole && tasks->raw) return STAGE_DONE;
    forget(&tasks->profiles[i]);
    return whole ? STAGE_NEAR : STAGE_ANEW;
}

/* ---- all methods ---- */

/* Profiles for Newton, in `which`: no answer, or the free fit above its conditional one. */
static size_t left_for_newton(const paritas_context *context, const struct profile_plan *plan, size_t n,
                              struct profile *profiles, size_t *which)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const bool above =
            profiles[i].rung == PROFILE_QUASI_NEWTON &&
            profiles[i].value_fixed < profiles[i].value_free - profile_same_minimum(context, plan);
        if (above) forget(&profiles[i]);
        if (profiles[i].rung == PROFILE_NO_ANSWER) which[left++] = i;
    }
    return left;
}

/* Rows whose free fit is known, or the others. `which`: scratch. */
static paritas_status run_part(paritas_context *context, const struct tasks *all, bool knows, size_t *which)
{
    const struct profile_known *known = all->plan->known;
    const size_t p = all->model->n_parameters;
    struct tasks tasks = *all;
    tasks.n = 0;
    tasks.which = which;
    tasks.knows = tasks.from_ends = knows;
    tasks.evaluations = EVALUATIONS;
    for (size_t i = 0; i < all->n; i++) {
        if ((i < known->n && known->evaluations[i] > 0) != knows) continue;
        which[tasks.n++] = i;
        if (knows) memcpy(all->ends + 2 * i * p, known->ends + i * p, p * sizeof *known->ends);
    }
    return tasks_run(context, profile_device(context, all->plan), &tasks);
}

static paritas_status by_known(paritas_context *context, const struct tasks *tasks)
{
    size_t *which = paritas_allocate(context, tasks->n + 1, sizeof *which);
    paritas_status status = which ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) status = run_part(context, tasks, true, which);
    if (status == PARITAS_OK) status = run_part(context, tasks, false, which);
    paritas_release(&context->allocator, which);
    return status;
}

static paritas_status by_quasi_newton(paritas_context *context, struct tasks *tasks, double *points)
{
    const size_t p = tasks->model->n_parameters;
    const struct launch_stages stages = {run_stage, next_stage, tasks};
    if (tasks->plan->known && !tasks->by_f32)
        TRY(by_known(context, tasks));
    else
        TRY(launch_in_stages(context, profile_device(context, tasks->plan), &stages, tasks->n));
    for (size_t i = 0; i < tasks->n && points; i++)
        if (tasks->profiles[i].rung == PROFILE_QUASI_NEWTON)
            memcpy(points + i * p, tasks->ends + i * 2 * p, p * sizeof *points);
    return PARITAS_OK;
}

paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters, step = launch_jobs(model->n_places + 8 * model->n_slots);
    struct tasks tasks = {.plan = plan,
                          .model = paritas_model_frozen(plan->model),
                          .data = data,
                          .profiles = profiles,
                          .n = n,
                          .wants_ends = plan->metric && (points || plan->known),
                          .by_f32 = profile_begins_in_f32(context, plan),
                          .raw = context->no_polish};
    const bool wants_ends = tasks.wants_ends || (plan->metric && tasks.by_f32);
    size_t *which = paritas_allocate(context, n + 1, sizeof *which);
    tasks.ends = wants_ends ? paritas_allocate_clear(context, n * 2 * p + 1, sizeof *tasks.ends) : NULL;
    paritas_status status = which && (tasks.ends || !wants_ends) ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
    if (status == PARITAS_OK && plan->metric) status = by_quasi_newton(context, &tasks, points);
    const size_t left = status == PARITAS_OK ? left_for_newton(context, plan, n, profiles, which) : 0;
    for (size_t k = 0; k < left && status == PARITAS_OK; k += step)
        status =
            ladder_fit(context, plan, left - k < step ? left - k : step, which + k, data, profiles, points);
    paritas_release(&context->allocator, which);
    paritas_release(&context->allocator, tasks.ends);
    return status;
}
