/* fit_rows.c: fills and reads kernel rows. */
#include "fit/fit_rows.h"

#include <stdio.h>
#include <string.h>

void rows_put_data(const struct frozen *model, const double *data, double *row)
{
    memcpy(row, model->place_template, model->n_places * sizeof *row);
    for (size_t i = 0; i < model->n_data - model->n_templates; i++)
        if (!frozen_is_masked(model, i)) row[model->place_of[i]] = data[i];
    if (model->n_templates) model->family->put_templates(model, frozen_templates(model, data), row);
}

void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row)
{
    if (padding)
        memcpy(row, padding, model->n_slots * sizeof *row);
    else
        memset(row, 0, model->n_slots * sizeof *row);
    for (size_t p = 0; p < model->n_parameters; p++) row[model->slot_of[p]] = point[p];
}

void rows_get_point(const struct frozen *model, const double *row, double *point)
{
    for (size_t p = 0; p < model->n_parameters; p++) point[p] = row[model->slot_of[p]];
}

paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where)
{
    return model->n_templates
               ? model->family->check_templates(context, model, frozen_templates(model, data), where)
               : PARITAS_OK;
}

paritas_status rows_check_all_templates(paritas_context *context, const struct frozen *model, size_t n,
                                        const double *data)
{
    for (size_t k = 0; model->n_templates && k < n; k++) {
        char where[32];
        snprintf(where, sizeof where, "data[%zu]", k);
        TRY(rows_check_templates(context, model, data + k * model->n_data, where));
    }
    return PARITAS_OK;
}

paritas_status rows_check_data(paritas_context *context, const struct frozen *model, size_t n,
                               const double *data)
{
    for (size_t i = 0; i < n * model->n_data; i++)
        if (!rows_is_datum(model, i % model->n_data, data[i]))
            return paritas_refuse(context,
                                  "data[%zu][%zu]: must be a finite number, not negative where it is a count",
                                  i / model->n_data, i % model->n_data);
    return rows_check_all_templates(context, model, n, data);
}

void rows_put_fit(const struct frozen *model, const struct fit_job *job, double *row)
{
    const size_t slots = model->n_slots;
    double *start = row + FIT_JOB_START * slots, *lower = row + FIT_JOB_LOWER * slots,
           *upper = row + FIT_JOB_UPPER * slots, *is_free = row + FIT_JOB_FREE * slots;
    rows_put_point(model, job->start, model->slot_template, start);
    rows_put_point(model, job->lower, model->slot_template, lower);
    rows_put_point(model, job->upper, model->slot_template, upper);
    memset(is_free, 0, slots * sizeof *row);
    for (size_t p = 0; p < model->n_parameters; p++) {
        const uint32_t slot = model->slot_of[p];
        const bool held = (ptrdiff_t)p == job->held;
        if (held) start[slot] = job->held_at;
        is_free[slot] = held || job->fixed[p] ? 0.0 : 1.0;
        if (is_free[slot] == 0.0) lower[slot] = upper[slot] = start[slot];
        if (start[slot] < lower[slot]) start[slot] = lower[slot];
        if (start[slot] > upper[slot]) start[slot] = upper[slot];
    }
}

bool rows_is_kinked(const struct frozen *model, const struct fit_job *job, size_t p)
{
    return model->kinked && model->kinked[p] && !job->fixed[p] && (ptrdiff_t)p != job->held &&
           job->lower[p] <= 0.0 && job->upper[p] >= 0.0 && job->lower[p] < job->upper[p];
}

static void mark_kinks(const struct frozen *model, const struct fit_job *job, double *row)
{
    for (size_t p = 0; p < model->n_parameters; p++)
        if (rows_is_kinked(model, job, p))
            row[FIT_JOB_FREE * model->n_slots + model->slot_of[p]] = FIT_SLOT_KINKED;
}

static double within(double x, double lower, double upper)
{
    if (x <= lower || x == (double)(float)lower) return lower;
    return x >= upper || x == (double)(float)upper ? upper : x;
}

bool rows_land(const struct frozen *model, const struct fit_job *job, double *point)
{
    bool whole = true;
    for (size_t p = 0; p < model->n_parameters; p++) {
        point[p] = (ptrdiff_t)p == job->held ? job->held_at
                   : job->fixed[p]           ? job->start[p]
                                             : within(point[p], job->lower[p], job->upper[p]);
        whole = whole && point[p] - point[p] == 0.0;
    }
    return whole;
}

struct fit_outcome rows_get_outcome(const struct frozen *model, const double *answer)
{
    const double *scalars = answer + model->n_slots;
    const bool inside = scalars[FIT_VALUE] < ROWS_OUTSIDE;
    return (struct fit_outcome){.status = inside ? (paritas_fit_status)(int)scalars[FIT_STATUS]
                                                 : PARITAS_FIT_NON_FINITE,
                                .inside = inside,
                                .flat = scalars[FIT_FLAT] != 0.0,
                                .edge = scalars[FIT_EDGE] != 0.0,
                                .value = scalars[FIT_VALUE],
                                .edm = scalars[FIT_EDM],
                                .pull = scalars[FIT_PULL],
                                .iterations = (unsigned)scalars[FIT_ITERATIONS]};
}

paritas_status rows_plan(paritas_context *context, const struct frozen *model, unsigned entry,
                         struct launch_plan *made)
{
    const struct paritas_family *family = model->family;
    const bool at_points = entry == family->evaluate || entry == family->expected ||
                           (family->data_derivatives && entry == family->tangent);
    const struct frozen *complete = model;
    if (!at_points && entry != family->draw) TRY(frozen_complete(context, model, &complete));
    struct launch_plan plan = {.module = family->module,
                               .tables = &complete->tables,
                               .serial = complete->serial,
                               .entry = entry,
                               .slab = model->slab,
                               .slab_most = model->slab_covariance,
                               .matrix = model->matrix,
                               .touched = model->slab,
                               .cost = model->cost};
    if (entry == family->covariance) plan.slab = model->slab_covariance;
    for (size_t m = 0; m < PARITAS_MINIMIZER_COUNT; m++)
        if (entry == family->fit[m]) plan.slab = model->slab_fit[m];
    if (entry == family->draw) {
        plan.touched = model->n_places;
    } else if (at_points) {
        plan.touched = model->slab_value;
        plan.cost = model->cost / 16.0; /* measured, of a fit's */
    } else if (entry == family->profile) {
        plan.touched = model->slab_value + MINIMISER_VECTORS * model->n_slots;
    }
    *made = plan;
    return PARITAS_OK;
}

static size_t point_size(const struct rows_points *call)
{
    return call->entry == call->model->family->tangent && call->model->family->data_derivatives
               ? POINT_TANGENT_SIZE(call->model->n_slots)
               : call->model->n_slots;
}

static paritas_status fill_points(void *user, struct launch_rows *rows)
{
    const struct rows_points *call = user;
    const struct frozen *model = call->model;
    const size_t size = point_size(call), sets = model->n_templates ? rows->n : 0;
    rows->args[POINT_ARG_POINTS] = (uint32_t)rows->n;
    rows->args[POINT_ARG_SETS] = (uint32_t)sets;
    for (size_t k = 0; k < rows->n; k++) {
        const size_t job = rows->at + k;
        double *point = rows->in + sets * model->n_places + k * size;
        if (sets)
            rows_put_data(model, call->data ? call->data + job * model->n_data : model->data,
                          rows->in + k * model->n_places);
        rows_put_point(model, call->points + job * model->n_parameters, model->slot_template, point);
        if (size == model->n_slots) continue;
        if (call->directions)
            rows_put_point(model, call->directions + job * model->n_parameters, NULL, point + model->n_slots);
        else
            memset(point + model->n_slots, 0, model->n_slots * sizeof *point);
    }
    return PARITAS_OK;
}

static paritas_status take_points(void *user, const struct launch_rows *rows)
{
    const struct rows_points *call = user;
    const size_t size = point_size(call);
    const double *points = rows->in + (rows->n_in - rows->n * size);
    for (size_t k = 0; k < rows->n; k++)
        call->take(call->user, rows->at + k, points + k * size, rows->out + k * call->answer);
    return PARITAS_OK;
}

paritas_status rows_points_run(paritas_context *context, struct paritas_device *device,
                               const struct rows_points *call)
{
    struct rows_points own = *call;
    struct launch_plan plan;
    TRY(rows_plan(context, call->model, call->entry, &plan));
    plan.in.job = point_size(call) + (call->model->n_templates ? call->model->n_places : 0);
    plan.out.job = call->answer;
    plan.args.once = POINT_ARGS;
    plan.fill = fill_points;
    plan.take = take_points;
    plan.user = &own;
    return launch_run(context, device, &plan, call->n);
}

static size_t answer_size(const struct rows_fits *call)
{
    const size_t slots = call->model->n_slots;
    return call->entry == call->model->family->covariance ? COVARIANCE_SIZE(slots, call->args[FIT_ARG_WHOLE])
                                                          : FIT_ANSWER_SIZE(slots);
}

size_t fit_job_like(const struct fit_job *jobs, size_t k)
{
    for (size_t j = k; j > 0 && k - j < 8; j--)
        if (jobs[j - 1].data == jobs[k].data && jobs[j - 1].row == jobs[k].row) return j - 1;
    return k;
}

static paritas_status fill_fits(void *user, struct launch_rows *rows)
{
    const struct rows_fits *call = user;
    const struct frozen *model = call->model;
    const struct fit_job *jobs = call->jobs + rows->at;
    const size_t size = FIT_JOB_SIZE(model->n_slots);
    uint32_t n_sets = 0, *sets = rows->args + FIT_ARGS;
    memcpy(rows->args, call->args, sizeof call->args);
    for (size_t k = 0; k < rows->n; k++) {
        const size_t like = fit_job_like(jobs, k);
        sets[k] = like < k ? sets[like] : n_sets;
        if (like < k) continue;
        double *row = rows->in + n_sets++ * model->n_places;
        if (jobs[k].row)
            memcpy(row, jobs[k].row, model->n_places * sizeof *row);
        else
            rows_put_data(model, jobs[k].data, row);
    }
    double *first = rows->in + n_sets * model->n_places;
    for (size_t k = 0; k < rows->n; k++) {
        rows_put_fit(model, &jobs[k], first + k * size);
        if (model->kinked) mark_kinks(model, &jobs[k], first + k * size);
    }
    if (model->kinked) rows->args[FIT_ARG_FLAGS] |= FIT_HAS_KINKS;
    rows->args[FIT_ARG_JOBS] = (uint32_t)rows->n;
    rows->args[FIT_ARG_SETS] = n_sets;
    rows->n_in = n_sets * model->n_places + rows->n * size;
    return PARITAS_OK;
}

static paritas_status take_fits(void *user, const struct launch_rows *rows)
{
    const struct rows_fits *call = user;
    paritas_work *work = call->entry == call->model->family->covariance ? NULL : &rows->context->work;
    if (work) work->fits += rows->n;
    for (size_t k = 0; k < rows->n; k++) {
        const double *answer = rows->out + k * answer_size(call);
        if (work) work->iterations += rows_get_outcome(call->model, answer).iterations;
        call->take(call->user, &call->jobs[rows->at + k], answer);
    }
    return PARITAS_OK;
}

paritas_status rows_fits_run(paritas_context *context, struct paritas_device *device,
                             const struct rows_fits *call)
{
    struct rows_fits own = *call;
    const struct frozen *model = call->model;
    struct launch_plan plan;
    TRY(rows_plan(context, model, call->entry, &plan));
    plan.in.job = model->n_places + FIT_JOB_SIZE(model->n_slots);
    plan.out.job = answer_size(call);
    plan.args = (struct launch_size){FIT_ARGS, 1};
    plan.fill = fill_fits;
    plan.take = take_fits;
    plan.user = &own;
    if (call->entry == model->family->fit[PARITAS_MINIMIZER_DE]) {
        plan.slab += DE_MEMORY(model->n_slots, (size_t)call->args[FIT_ARG_MEMBERS]);
        plan.cost = 0.0; /* a population's cost is unknown */
        plan.limit_arg = FIT_ARG_ITERATIONS;
        plan.before_arg = FIT_ARG_BEFORE;
    }
    return launch_run(context, device, &plan, call->n);
}
