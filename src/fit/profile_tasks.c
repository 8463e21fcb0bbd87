/* profile_tasks.c: rows of tasks and answers of the quasi-Newton entry. */
#include "fit/profile_tasks.h"

#include <string.h>

#define SHARE_MOST 32u /* tasks per lane: lanes idle only in the last */

static size_t task_row(const struct profile_tasks *tasks, size_t k)
{
    return tasks->which ? tasks->which[k] : k;
}

static uint32_t task_flags(const struct profile_tasks *tasks)
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
    if (rank == 0) {
        for (size_t i = 0; i < count; i++) {
            double *to = in + compact + i * row;
            const double *from = metric->matrix + free_slots[i] * slots;
            for (size_t j = 0; j < count; j++) to[j] = from[free_slots[j]];
            for (size_t j = count; j < row; j++) to[j] = 0.0;
        }
        return;
    }
    memset(in + compact, 0, (shared_size(plan, count) - compact) * sizeof *in);
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
    const struct profile_tasks *tasks = user;
    const struct profile_plan *plan = tasks->plan;
    const struct frozen *model = tasks->model;
    const size_t slots = model->n_slots, places = model->n_places, p = model->n_parameters,
                 count = profile_free_count(plan);
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
static unsigned take_evaluations(const struct profile_tasks *tasks, size_t row, const double *answer)
{
    return tasks->knows ? tasks->plan->known->evaluations[row] : (unsigned)answer[PROFILE_EVALUATIONS_FREE];
}

static void note_known(const struct profile_tasks *tasks, size_t row, const double *answer)
{
    const struct profile_known *known = tasks->plan->known;
    const size_t p = tasks->model->n_parameters;
    if (!known || tasks->knows || tasks->by_f32 || row >= known->n) return;
    known->evaluations[row] = (unsigned)answer[PROFILE_EVALUATIONS_FREE];
    memcpy(known->ends + row * p, tasks->ends + 2 * row * p, p * sizeof *known->ends);
}

static paritas_status take_tasks(void *user, const struct launch_rows *rows)
{
    const struct profile_tasks *tasks = user;
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

paritas_status profile_tasks_run(paritas_context *context, struct paritas_device *device,
                                 struct profile_tasks *tasks)
{
    const struct frozen *model = tasks->model;
    const size_t slots = model->n_slots, count = profile_free_count(tasks->plan);
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
