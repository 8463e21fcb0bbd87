/* fit_rows.c: see rows.h. */
#include "fit/fit_rows.h"

#include "minimise/minimiser_sizes.h"

#include <string.h>

paritas_status rows_allocate(paritas_context *context, size_t n_in, size_t n_out, size_t n_args,
                             struct rows *rows)
{
    *rows = (struct rows){.context = context, .n_in = n_in, .n_out = n_out, .n_args = n_args};
    rows->in = paritas_allocate_aligned(context, n_in + 1, sizeof *rows->in);
    rows->out = paritas_allocate_aligned(context, n_out + 1, sizeof *rows->out);
    rows->args = paritas_allocate_clear(context, n_args + 1, sizeof *rows->args);
    if (rows->in && rows->out && rows->args) return PARITAS_OK;
    rows_free(rows);
    return paritas_fail_memory(context);
}

void rows_free(struct rows *rows)
{
    if (!rows->context) return;
    paritas_release_aligned(&rows->context->allocator, rows->in);
    paritas_release_aligned(&rows->context->allocator, rows->out);
    paritas_release(&rows->context->allocator, rows->args);
    rows->in = rows->out = NULL;
    rows->args = NULL;
}

void rows_put_data(const struct frozen *model, const double *data, double *row)
{
    memcpy(row, model->place_template, model->n_places * sizeof *row);
    for (size_t i = 0; i < model->n_data - model->n_templates; i++) row[model->place_of[i]] = data[i];
    if (model->n_templates) model->family->put_templates(model, frozen_templates(model, data), row);
}

paritas_status rows_check_templates(paritas_context *context, const struct frozen *model, const double *data,
                                    const char *where)
{
    return model->n_templates
               ? model->family->check_templates(context, model, frozen_templates(model, data), where)
               : PARITAS_OK;
}

void rows_put_point(const struct frozen *model, const double *point, const double *padding, double *row)
{
    if (padding)
        memcpy(row, padding, model->n_slots * sizeof *row);
    else
        memset(row, 0, model->n_slots * sizeof *row);
    for (size_t p = 0; p < model->n_parameters; p++) row[model->slot_of[p]] = point[p];
}

void rows_put_limits(const struct frozen *model, const double *lower, const double *upper,
                     const unsigned char *fixed, double *row)
{
    const size_t slots = model->n_slots;
    rows_put_point(model, lower, model->slot_template, row + slots);
    rows_put_point(model, upper, model->slot_template, row + 2 * slots);
    memset(row + 3 * slots, 0, slots * sizeof *row);
    for (size_t p = 0; p < model->n_parameters; p++) {
        const uint32_t slot = model->slot_of[p];
        row[3 * slots + slot] = fixed[p] ? 0.0 : 1.0;
        if (fixed[p]) row[slots + slot] = row[2 * slots + slot] = row[slot];
    }
}

void rows_get_point(const struct frozen *model, const double *row, double *point)
{
    for (size_t p = 0; p < model->n_parameters; p++) point[p] = row[model->slot_of[p]];
}

double rows_land(double x, double lower, double upper)
{
    if (x <= lower || x == (double)(float)lower) return lower;
    return x >= upper || x == (double)(float)upper ? upper : x;
}

/* What an entry uses again and again of a fit's slab. */
static size_t touched_by(const struct frozen *model, unsigned entry)
{
    const struct paritas_family *family = model->family;
    if (entry == family->draw) return model->n_places;
    if (entry == family->evaluate || entry == family->expected ||
        (family->data_derivatives && entry == family->tangent))
        return model->slab_value;
    if (entry == family->profile) return model->slab_value + MINIMISER_VECTORS * model->n_slots;
    return model->slab;
}

/* Elements of working memory of one fit of this entry. */
static size_t slab_of(const struct frozen *model, unsigned entry)
{
    if (entry == model->family->covariance) return model->slab_covariance;
    for (size_t m = 0; m < PARITAS_MINIMIZER_COUNT; m++)
        if (entry == model->family->fit[m]) return model->slab_fit[m];
    return model->slab;
}

paritas_status rows_launch(paritas_context *context, struct paritas_device *device,
                           const struct frozen *model, unsigned entry, size_t n, struct rows *rows)
{
    const size_t slab = slab_of(model, entry) + rows->more;
    const struct device_launch launch = {.entry = entry,
                                         .rows = (uint32_t)n,
                                         .share = rows->share,
                                         .args = rows->args,
                                         .in = rows->in,
                                         .out = rows->out,
                                         .n_args = rows->n_args,
                                         .n_in = rows->n_in,
                                         .n_out = rows->n_out,
                                         .slab = slab,
                                         /* a population costs what it likes */
                                         .cost = rows->more ? 0.0 : model->cost,
                                         .slab_most =
                                             slab > model->slab_covariance ? slab : model->slab_covariance,
                                         .touched = touched_by(model, entry),
                                         .lanes = context->lanes,
                                         .progress = context->progress,
                                         .progress_user = context->progress_user};
    const struct device_model resident = {model->serial, model->family->module, model->tables};
    return device_launch(context, device, &resident, &launch);
}

paritas_status rows_launch_points(paritas_context *context, const struct frozen *model, unsigned entry,
                                  size_t n, const double *points, const double *data, size_t stride,
                                  struct rows *rows)
{
    const size_t sets = model->n_templates ? n : 0;
    paritas_status status = rows_allocate(context, n * rows_of_point(model), n * stride, 4, rows);
    if (status != PARITAS_OK) return status;
    for (size_t k = 0; k < sets; k++)
        rows_put_data(model, data ? data + k * model->n_data : model->data, rows->in + k * model->n_places);
    for (size_t k = 0; k < n; k++)
        rows_put_point(model, points + k * model->n_parameters, model->slot_template,
                       rows->in + sets * model->n_places + k * model->n_slots);
    rows->args[0] = (uint32_t)n;
    rows->args[1] = (uint32_t)sets;
    status = rows_launch(context, context->device, model, entry, n, rows);
    if (status != PARITAS_OK) rows_free(rows);
    return status;
}
