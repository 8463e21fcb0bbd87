/* fit_evaluate.c: likelihoods and derivatives for many points and data sets. */
#include "fit/fit_evaluate.h"
#include "base/sized.h"
#include "fit/fit_rows.h"

/* Points first .. first + count - 1 with all data sets (the launch's jobs). */
struct evaluation {
    const struct frozen *model;
    size_t first, count, n_data;
    const double *points, *data, *constants;
    const paritas_evaluate_answers *to; /* a row per point and data set */
};

static size_t answer_size(const struct evaluation *e)
{
    return e->to->hessian ? VALUE_SIZE_HESSIAN(e->model->n_slots)
                          : VALUE_SIZE(e->model->n_slots, e->to->gradient != NULL);
}

static paritas_status fill(void *user, struct launch_rows *rows)
{
    const struct evaluation *e = user;
    const struct frozen *model = e->model;
    double *points = rows->in + rows->n * model->n_places;
    rows->args[POINT_ARG_POINTS] = (uint32_t)e->count;
    rows->args[POINT_ARG_SETS] = (uint32_t)rows->n;
    rows->args[POINT_ARG_GRADIENT] = e->to->gradient != NULL;
    for (size_t d = 0; d < rows->n; d++)
        rows_put_data(model, e->data + (rows->at + d) * model->n_data, rows->in + d * model->n_places);
    for (size_t k = 0; k < e->count; k++)
        rows_put_point(model, e->points + (e->first + k) * model->n_parameters, model->slot_template,
                       points + k * model->n_slots);
    return PARITAS_OK;
}

static void put_answer(const struct evaluation *e, const double *answer, double constant, size_t to)
{
    const struct frozen *model = e->model;
    const size_t p = model->n_parameters, slots = model->n_slots;
    const double *gradient = answer + VALUE_GRADIENT, *hessian = answer + VALUE_HESSIAN(slots);
    const double nan = __builtin_nan("");
    const bool inside = answer[VALUE_VALUE] < ROWS_OUTSIDE;
    if (e->to->twice_nll) e->to->twice_nll[to] = inside ? 2.0 * (answer[VALUE_VALUE] + constant) : nan;
    for (size_t i = 0; i < p && e->to->gradient; i++)
        e->to->gradient[to * p + i] = inside ? 2.0 * gradient[model->slot_of[i]] : nan;
    for (size_t i = 0; i < p && e->to->hessian; i++)
        for (size_t j = 0; j < p; j++)
            e->to->hessian[(to * p + i) * p + j] =
                inside ? 2.0 * hessian[model->slot_of[i] * slots + model->slot_of[j]] : nan;
}

static paritas_status take(void *user, const struct launch_rows *rows)
{
    const struct evaluation *e = user;
    rows->context->work.points += e->count * rows->n;
    for (size_t k = 0; k < e->count; k++)
        for (size_t d = 0; d < rows->n; d++) {
            const size_t set = rows->at + d;
            put_answer(e, rows->out + (k * rows->n + d) * answer_size(e), e->constants[set],
                       (e->first + k) * e->n_data + set);
        }
    return PARITAS_OK;
}

/* Evaluates all points, as many per launch as fit with all data sets. */
static paritas_status evaluate(paritas_context *context, struct paritas_device *device, struct evaluation *e,
                               size_t n_points)
{
    const struct frozen *model = e->model;
    const size_t each = answer_size(e) + model->n_slots,
                 most = launch_jobs(e->n_data * (each + model->n_places));
    struct launch_plan plan;
    TRY(rows_plan(context, model, e->to->hessian ? model->family->hessian : model->family->evaluate, &plan));
    plan.args.once = POINT_ARGS;
    plan.in.job = model->n_places;
    plan.fill = fill;
    plan.take = take;
    plan.user = e;
    for (e->first = 0; e->first < n_points; e->first += e->count) {
        e->count = n_points - e->first < most ? n_points - e->first : most;
        plan.in.once = e->count * model->n_slots;
        plan.out.job = e->count * answer_size(e);
        plan.rows_of_job = e->count;
        TRY(launch_run(context, device, &plan, e->n_data));
    }
    return PARITAS_OK;
}

paritas_status fit_evaluate(paritas_context *context, struct paritas_device *device,
                            const paritas_model *given, size_t n_points, const double *points, size_t n_data,
                            const double *data, const paritas_evaluate_answers *answers)
{
    const struct frozen *model = paritas_model_frozen(given);
    if (!data) {
        data = model->data;
        n_data = 1;
    }
    if (n_points == 0 || n_data == 0) return PARITAS_OK;
    TRY(rows_check_data(context, model, n_data, data));
    double *constants = paritas_allocate(context, n_data, sizeof *constants);
    if (!constants) return paritas_fail_memory(context);
    for (size_t d = 0; d < n_data; d++) constants[d] = model->constant(model, data + d * model->n_data);
    struct evaluation e = {.model = model,
                           .n_data = n_data,
                           .points = points,
                           .data = data,
                           .constants = constants,
                           .to = answers};
    const paritas_status status = evaluate(context, device, &e, n_points);
    paritas_release(&context->allocator, constants);
    return status;
}

paritas_status paritas_evaluate(paritas_context *context, const paritas_model *model, size_t n_points,
                                const double *points, size_t n_data, const double *data,
                                const paritas_evaluate_answers *answers)
{
    REQUIRE(context, model);
    if (n_points > 0) REQUIRE(context, points);
    TRY(SIZED_CHECK(context, paritas_evaluate_answers, "answers", n_points, answers));
    return fit_evaluate(context, context->device, model, n_points, points, n_data, data, answers);
}
