/* profile_quasi_newton.c: rows of tasks and answers of the quasi-Newton entry. */
#include "fit/profiles/profile_quasi_newton.h"

#include <string.h>

#define SHARE_MOST 64u /* tasks per lane: lanes idle only in the last */

static size_t task_row(const struct quasi_newton *fits, size_t k)
{
    return fits->which ? fits->which[k] : k;
}

static uint32_t flags_of(const struct quasi_newton *fits)
{
    return fits->flags | (fits->plan->conditional ? PROFILE_CONDITIONAL : 0);
}

static const struct profile_metric *metric_of(const struct profile_plan *plan, bool conditional)
{
    return conditional ? plan->metric->conditional : plan->metric;
}

static size_t shared_of_fits(const struct profile_plan *plan, bool conditional, size_t count)
{
    return PROFILE_SHARED(paritas_model_frozen(plan->model)->n_slots, count,
                          metric_of(plan, conditional)->rank);
}

static size_t shared_size(const struct profile_plan *plan, size_t count)
{
    return shared_of_fits(plan, false, count) + (plan->conditional ? shared_of_fits(plan, true, count) : 0);
}

/* The product's table, `compact`, which is 0: the metric's free part. */
static void put_metric(const struct profile_metric *metric, size_t slots, const uint32_t *free_slots,
                       size_t count, double *in)
{
    const size_t rank = metric->rank, compact = PROFILE_COMPACT(slots),
                 columns = PROFILE_COLUMNS(slots, count), by_slot = PROFILE_BY_SLOT(slots, count, rank);
    if (rank == 0) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                in[compact + PROFILE_TABLE_AT(count, i, j)] =
                    metric->matrix[free_slots[i] * slots + free_slots[j]];
        return;
    }
    memcpy(in + compact, metric->diagonal, count * sizeof *in);
    for (size_t k = 0; k < rank; k++) {
        in[PROFILE_SIGNS(slots, count, rank) + k] = k < metric->added ? 1.0 : -1.0;
        for (size_t i = 0; i < count; i++)
            in[columns + PROFILE_TABLE_AT(rank, k, i)] = in[by_slot + PROFILE_TABLE_AT(count, i, k)] =
                metric->columns[k * count + i];
    }
}

/* Writes the way from free fits' ends to conditional fits' starts. */
static void put_response(const struct profile_plan *plan, double *in)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    const uint32_t poi = model->slot_of[plan->poi];
    const double *column = plan->metric->matrix + poi * slots, variance = column[poi];
    double *shift = in + PROFILE_VECTOR(slots, PROFILE_SHIFT),
           *response = in + PROFILE_VECTOR(slots, PROFILE_RESPONSE);
    for (size_t p = 0; p < model->n_parameters; p++)
        shift[model->slot_of[p]] = plan->conditional_start[p] - plan->start[p];
    for (size_t i = 0; i < slots && variance > 0.0; i++) response[i] = column[i] / variance;
    in[PROFILE_SCALAR(slots, PROFILE_POI_START)] = plan->start[plan->poi];
}

static void put_shared(const struct profile_plan *plan, bool conditional, const uint32_t *free_slots,
                       size_t count, double *in)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const struct profile_metric *metric = metric_of(plan, conditional);
    const size_t slots = model->n_slots, vectors = PROFILE_VECTOR(slots, PROFILE_CAP);
    const struct fit_job job = profile_job(plan, conditional, NULL, plan->start);
    memcpy(in, metric->matrix, slots * slots * sizeof *in);
    rows_put_fit(model, &job, in + PROFILE_VECTOR(slots, PROFILE_START));
    memset(in + vectors, 0, (shared_of_fits(plan, conditional, count) - vectors) * sizeof *in);
    for (size_t p = 0; p < model->n_parameters; p++)
        if (model->width[p] > 0.0) in[vectors + model->slot_of[p]] = STEP_WIDTHS * model->width[p];
    if (conditional) put_response(plan, in);
    if (plan->poi >= 0) in[PROFILE_VECTOR(slots, PROFILE_FREE) + model->slot_of[plan->poi]] = 0.0;
    put_metric(metric, slots, free_slots, count, in);
}

static paritas_status fill_tasks(void *user, struct launch_rows *rows)
{
    const struct quasi_newton *fits = user;
    const struct profile_plan *plan = fits->plan;
    const struct frozen *model = paritas_model_frozen(plan->model);
    const bool holds = fits->flags & PROFILE_HOLDS, starts_own = fits->flags & PROFILE_STARTS;
    const size_t slots = model->n_slots, places = model->n_places, p = model->n_parameters,
                 count = profile_free_count(plan);
    uint32_t *args = rows->args, *free_slots = args + PROFILE_ARGS;
    double *data = rows->in + shared_size(plan, count), *starts = data + rows->n * places;
    args[PROFILE_ARG_TASKS] = (uint32_t)rows->n;
    args[PROFILE_ARG_SHARE] = rows->share;
    args[PROFILE_ARG_POI] = plan->poi >= 0 ? model->slot_of[plan->poi] : PROFILE_NO_POI;
    args[PROFILE_ARG_FLAGS] = flags_of(fits);
    args[PROFILE_ARG_EVALUATIONS] = fits->evaluations;
    args[PROFILE_ARG_FREE] = (uint32_t)count;
    args[PROFILE_ARG_RANK] = (uint32_t)plan->metric->rank;
    if (plan->conditional) args[PROFILE_ARG_RANK_CONDITIONAL] = (uint32_t)plan->metric->conditional->rank;
    for (size_t i = 0, at = 0; i < p; i++)
        if (!plan->fixed[i]) free_slots[at++] = model->slot_of[i];
    put_shared(plan, false, free_slots, count, rows->in);
    if (plan->conditional)
        put_shared(plan, true, free_slots, count, rows->in + shared_of_fits(plan, false, count));
    for (size_t k = 0; k < rows->n; k++) {
        const size_t row = task_row(fits, rows->at + k);
        double *start = starts + k * PROFILE_STARTS_SIZE(slots);
        memcpy(data + k * places, fits->data + (holds ? 0 : row * places), places * sizeof *data);
        for (size_t fit = 0; fit < 2 && starts_own; fit++)
            rows_put_point(model, fits->ends + (2 * row + fit) * p,
                           fit == 1 && holds ? NULL : model->slot_template, start + fit * slots);
    }
    return PARITAS_OK;
}

/* Evaluations of the free fit of a row. */
static unsigned take_evaluations(const struct quasi_newton *fits, size_t row, const double *answer)
{
    return fits->flags & PROFILE_KNOWN ? fits->known->evaluations[row]
                                       : (unsigned)answer[PROFILE_EVALUATIONS_FREE];
}

static void note_known(const struct quasi_newton *fits, size_t p, size_t row, const double *answer)
{
    const struct profile_known *known = fits->known;
    if (!known || (fits->flags & PROFILE_KNOWN) || row >= known->n) return;
    known->evaluations[row] = (unsigned)answer[PROFILE_EVALUATIONS_FREE];
    memcpy(known->ends + row * p, fits->ends + 2 * row * p, p * sizeof *known->ends);
}

static paritas_status take_tasks(void *user, const struct launch_rows *rows)
{
    const struct quasi_newton *fits = user;
    const struct frozen *model = paritas_model_frozen(fits->plan->model);
    const size_t slots = model->n_slots, p = model->n_parameters, n_fits = fits->plan->conditional ? 2 : 1;
    paritas_work *work = &rows->context->work;
    work->fits += rows->n * n_fits;
    for (size_t k = 0; k < rows->n; k++) {
        const size_t row = task_row(fits, rows->at + k);
        const double *answer = rows->out + k * PROFILE_ANSWER_SIZE(slots, flags_of(fits));
        struct profile *profile = &fits->profiles[row];
        const unsigned spent =
            take_evaluations(fits, row, answer) + (unsigned)answer[PROFILE_EVALUATIONS_FIXED];
        profile->iterations += spent;
        work->gradients += spent;
        if (answer[PROFILE_STATUS] != PARITAS_FIT_CONVERGED || answer[PROFILE_FITS] != (double)n_fits)
            continue;
        profile->value_free = answer[PROFILE_VALUE_FREE];
        profile->value_fixed = answer[n_fits == 2 ? PROFILE_VALUE_FIXED : PROFILE_VALUE_FREE];
        profile->mu_hat = answer[PROFILE_POI];
        profile->edm = answer[PROFILE_EDM];
        if (fits->slopes) fits->slopes[row] = 2.0 * answer[PROFILE_SLOPE_POI];
        profile->status_free = profile->status_fixed = PARITAS_FIT_CONVERGED;
        profile->method = PROFILE_QUASI_NEWTON;
        for (size_t fit = 0; fit < n_fits && (fits->flags & PROFILE_POINTS); fit++)
            rows_get_point(model, answer + PROFILE_POINT(slots, fit), fits->ends + (2 * row + fit) * p);
        note_known(fits, p, row, answer);
    }
    return PARITAS_OK;
}

paritas_status quasi_newton_run(paritas_context *context, struct paritas_device *device,
                                struct quasi_newton *fits)
{
    const struct frozen *model = paritas_model_frozen(fits->plan->model);
    const size_t slots = model->n_slots, count = profile_free_count(fits->plan);
    struct launch_plan plan;
    TRY(rows_plan(context, model, model->family->profile, &plan));
    plan.in.once = shared_size(fits->plan, count);
    plan.in.job = model->n_places + (fits->flags & PROFILE_STARTS ? PROFILE_STARTS_SIZE(slots) : 0);
    plan.out.job = PROFILE_ANSWER_SIZE(slots, flags_of(fits));
    plan.args.once = PROFILE_ARGS + count;
    plan.share_most = SHARE_MOST;
    plan.fill = fill_tasks;
    plan.take = take_tasks;
    plan.user = fits;
    return launch_run(context, device, &plan, fits->n);
}
