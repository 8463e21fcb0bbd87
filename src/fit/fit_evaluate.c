/* fit_evaluate.c: likelihoods, derivatives and expected data for many points and data sets in one call. */
#include "fit/fit_rows.h"

#include <stdio.h>
#include <string.h>

/* Derivatives by points x data sets; `hessian` decides the entry. */
static paritas_status evaluate_chunk(paritas_context *context, const struct frozen *model, size_t n_points,
                                     const double *points, size_t n_data, const double *data,
                                     const double *constants, double *twice_nll, double *gradient,
                                     double *hessian)
{
    const size_t p = model->n_parameters, slots = model->n_slots, rows_total = n_points * n_data;
    const size_t stride = 1 + (gradient || hessian ? slots : 0) + (hessian ? slots * slots : 0);
    struct rows rows;
    paritas_status status =
        rows_allocate(context, n_data * model->n_places + n_points * slots, rows_total * stride, 4, &rows);
    if (status != PARITAS_OK) return status;
    for (size_t d = 0; d < n_data; d++)
        rows_put_data(model, data + d * model->n_data, rows.in + d * model->n_places);
    for (size_t k = 0; k < n_points; k++)
        rows_put_point(model, points + k * p, model->slot_template,
                       rows.in + n_data * model->n_places + k * slots);
    rows.args[0] = (uint32_t)n_points;
    rows.args[1] = (uint32_t)n_data;
    rows.args[2] = gradient != NULL;
    status = rows_launch(context, context->device, model,
                         hessian ? model->family->hessian : model->family->evaluate, rows_total, &rows);
    for (size_t r = 0; r < rows_total && status == PARITAS_OK; r++) {
        const double *out = rows.out + r * stride;
        const double nan = __builtin_nan("");
        const int inside = out[0] < ROWS_OUTSIDE;
        if (twice_nll) twice_nll[r] = inside ? 2.0 * (out[0] + constants[r % n_data]) : nan;
        if (gradient)
            for (size_t i = 0; i < p; i++)
                gradient[r * p + i] = inside ? 2.0 * out[1 + model->slot_of[i]] : nan;
        if (hessian)
            for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < p; j++)
                    hessian[(r * p + i) * p + j] =
                        inside ? 2.0 * out[1 + slots + model->slot_of[i] * slots + model->slot_of[j]] : nan;
    }
    rows_free(&rows);
    return status;
}

paritas_status paritas_evaluate(paritas_context *context, const paritas_model *given, size_t n_points,
                                const double *points, size_t n_data, const double *data, double *twice_nll,
                                double *gradient, double *hessian)
{
    const struct frozen *model = paritas_model_frozen(given);
    if (!data) {
        data = model->data;
        n_data = 1;
    }
    if (n_points == 0 || n_data == 0) return PARITAS_OK;
    if (!points) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "points: none given");
    for (size_t i = 0; i < n_data * model->n_data; i++)
        if (!(data[i] >= 0.0 || !frozen_counts(model, i % model->n_data)) || !(data[i] - data[i] == 0.0))
            return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                                "data[%zu][%zu]: must be a finite number, not negative where it is a count",
                                i / model->n_data, i % model->n_data);
    for (size_t d = 0; model->n_templates && d < n_data; d++) {
        char where[32];
        snprintf(where, sizeof where, "data[%zu]", d);
        const paritas_status status = rows_check_templates(context, model, data + d * model->n_data, where);
        if (status != PARITAS_OK) return status;
    }
    double *constants = paritas_allocate(context, n_data, sizeof *constants);
    if (!constants) return paritas_fail_memory(context);
    for (size_t d = 0; d < n_data; d++) constants[d] = model->constant(model, data + d * model->n_data);
    /* chunks of points, and of data sets where even one point is too many */
    const size_t slots = model->n_slots, each = 1 + slots + model->n_places +
                                                (hessian    ? slots * slots
                                                 : gradient ? slots
                                                            : 0);
    const size_t data_step = n_data * each < ROWS_ELEMENTS ? n_data : ROWS_ELEMENTS / each + 1;
    const size_t point_step = ROWS_ELEMENTS / (each * data_step) + 1;
    const size_t p = model->n_parameters;
    paritas_status status = PARITAS_OK;
    for (size_t k = 0; k < n_points && status == PARITAS_OK; k += point_step) {
        const size_t count = k + point_step < n_points ? point_step : n_points - k;
        if (data_step == n_data) {
            status = evaluate_chunk(context, model, count, points + k * p, n_data, data, constants,
                                    twice_nll ? twice_nll + k * n_data : NULL,
                                    gradient ? gradient + k * n_data * p : NULL,
                                    hessian ? hessian + k * n_data * p * p : NULL);
            continue;
        }
        for (size_t point = k; point < k + count; point++)
            for (size_t d = 0; d < n_data && status == PARITAS_OK; d += data_step) {
                const size_t sets = d + data_step < n_data ? data_step : n_data - d, row = point * n_data + d;
                status = evaluate_chunk(context, model, 1, points + point * p, sets, data + d * model->n_data,
                                        constants + d, twice_nll ? twice_nll + row : NULL,
                                        gradient ? gradient + row * p : NULL,
                                        hessian ? hessian + row * p * p : NULL);
            }
    }
    paritas_release(&context->allocator, constants);
    return status;
}
