/* histfactory_model.c: HistFactory models as the public interface shows them. */
#include "histfactory/histfactory_model.h"
#include "base/sized.h"
#include "base/json.h"
#include "fit/fit_rows.h"

#include <string.h>

#define CODE(name, value, ...) case name:
static bool is_normsys_code(int code)
{
    switch (code) {
        PARITAS_NORMSYS_CODE_LIST(CODE)
        return true;
    }
    return false;
}
static bool is_histosys_code(int code)
{
    switch (code) {
        PARITAS_HISTOSYS_CODE_LIST(CODE)
        return true;
    }
    return false;
}

static paritas_status check_options(paritas_context *context, const paritas_model_options *options)
{
    if (!is_normsys_code(options->normsys_code))
        return paritas_refuse(context, "normsys code %d: there are 1 and 4", options->normsys_code);
    if (!is_histosys_code(options->histosys_code))
        return paritas_refuse(context, "histosys code: there are PARITAS_HISTOSYS_CODE_0, _2 and _4P");
    if (options->clip_sample && !(options->clip_sample_at - options->clip_sample_at == 0.0))
        return paritas_refuse(context, "clip of samples at %g: must be a finite number",
                              options->clip_sample_at);
    if (options->clip_bin && !(options->clip_bin_at - options->clip_bin_at == 0.0))
        return paritas_refuse(context, "clip of bins at %g: must be a finite number", options->clip_bin_at);
    return PARITAS_OK;
}

paritas_status paritas_model_create(paritas_context *context, const paritas_workspace *workspace,
                                    const paritas_model_options *given, paritas_model **model)
{
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    struct hf_spec *spec;
    struct hf_model *made;
    *model = NULL;
    TRY(SIZED_TAKE(context, paritas_model_options, "options", given, &options));
    TRY(check_options(context, &options));
    TRY(hf_spec_read(context, workspace, options.measurement, options.poi, &spec));
    TRY(hf_freeze(context, spec, &options, &made));
    *model = (paritas_model *)made;
    return PARITAS_OK;
}

void hf_model_free(paritas_model *given)
{
    struct hf_model *model = (struct hf_model *)given;
    const paritas_allocator allocator = model->allocator;
    hf_spec_free(model->spec);
    arena_free(&model->arena);
    paritas_release(&allocator, (void *)model->frozen.tables.ints);
    paritas_release_aligned(&allocator, (void *)model->frozen.tables.reals);
    paritas_release(&allocator, model);
}

static const struct hf_spec *spec_of(const paritas_model *model)
{
    return ((const struct hf_model *)model)->spec;
}

size_t hf_channel_count(const paritas_model *model)
{
    return spec_of(model)->n_channels;
}
const char *hf_channel_name(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].name;
}
size_t hf_channel_bins(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].n_bins;
}
size_t hf_sample_count(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].n_samples;
}
const char *hf_sample_name(const paritas_model *model, size_t channel, size_t sample)
{
    return spec_of(model)->channels[channel].samples[sample].name;
}

/* Elements that the entry for expected rates answers for a point. */
static size_t rates_of(const struct hf_model *model)
{
    return 8 * ((size_t)model->n_panels + model->n_cells);
}

paritas_status hf_expected_data(paritas_context *context, const paritas_model *given, size_t n_points,
                                const double *points, const double *data, double *expected)
{
    const struct hf_model *model = (const struct hf_model *)given;
    const struct hf_spec *spec = model->spec;
    const struct frozen *frozen = &model->frozen;
    const size_t stride = rates_of(model), step = ROWS_ELEMENTS / (stride + rows_of_point(frozen)) + 1;
    for (size_t first = 0; first < n_points; first += step) {
        const size_t count = first + step < n_points ? step : n_points - first;
        struct rows rows;
        TRY(rows_launch_points(context, frozen, frozen->family->expected, count,
                               points + first * frozen->n_parameters,
                               data ? data + first * frozen->n_data : NULL, stride, &rows));
        for (size_t k = 0; k < count; k++) {
            const double *point = points + (first + k) * frozen->n_parameters;
            const double *numbers =
                frozen_templates(frozen, data ? data + (first + k) * frozen->n_data : frozen->data);
            double *row = expected + (first + k) * frozen->n_data;
            for (uint32_t i = 0; i < spec->n_main; i++) row[i] = rows.out[k * stride + frozen->place_of[i]];
            for (uint32_t s = 0; s < spec->n_sets; s++) {
                const struct hf_set *set = &spec->sets[s];
                for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++)
                    row[spec->n_main + set->first_aux + i] =
                        (set->constraint == HF_POISSON ? hf_width_in_row(model, numbers, set, i) : 1.0) *
                        point[set->first + i];
            }
            if (frozen->n_templates)
                memmove(row + (frozen->n_data - frozen->n_templates), numbers,
                        frozen->n_templates * sizeof *row);
        }
        rows_free(&rows);
    }
    return PARITAS_OK;
}

paritas_status hf_expected_by_sample(paritas_context *context, const paritas_model *given,
                                     const double *point, const double *data, double *expected)
{
    const struct hf_model *model = (const struct hf_model *)given;
    struct rows rows;
    TRY(rows_launch_points(context, &model->frozen, model->frozen.family->expected, 1, point, data,
                           rates_of(model), &rows));
    for (size_t i = 0; i < model->n_rates; i++)
        expected[i] = rows.out[8 * (size_t)model->n_panels + model->cell_of[i]];
    rows_free(&rows);
    return PARITAS_OK;
}

paritas_status hf_expected_jacobian(paritas_context *context, const paritas_model *given, const double *point,
                                    const double *data, double *jacobian)
{
    const struct hf_model *model = (const struct hf_model *)given;
    const struct frozen *frozen = &model->frozen;
    const size_t slots = frozen->n_slots;
    struct rows rows;
    TRY(rows_launch_points(context, frozen, frozen->family->jacobian, 1, point, data,
                           8 * (size_t)model->n_panels * slots, &rows));
    for (size_t i = 0; i < model->spec->n_main; i++)
        for (size_t p = 0; p < frozen->n_parameters; p++)
            jacobian[i * frozen->n_parameters + p] =
                rows.out[frozen->place_of[i] * slots + frozen->slot_of[p]];
    rows_free(&rows);
    return PARITAS_OK;
}
