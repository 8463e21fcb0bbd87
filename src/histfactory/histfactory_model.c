/* histfactory_model.c: HistFactory models in the public interface. */
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
    REQUIRE(context, model);
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    struct hf_spec *spec;
    struct hf_model *made;
    *model = NULL;
    REQUIRE(context, workspace);
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

struct expectation {
    const struct hf_model *model;
    const double *points, *data;
    double *to;
};

static paritas_status run_points(paritas_context *context, unsigned entry, size_t answer, size_t n,
                                 void (*take)(void *user, size_t k, const double *point,
                                              const double *answer),
                                 struct expectation *e)
{
    return rows_points_run(context, context->device,
                           &(struct rows_points){.model = &e->model->frozen,
                                                 .entry = entry,
                                                 .n = n,
                                                 .points = e->points,
                                                 .data = e->data,
                                                 .answer = answer,
                                                 .take = take,
                                                 .user = e});
}

/* Expected rates a point. */
static size_t rates_of(const struct hf_model *model)
{
    return HF_EXPECTED_SIZE(8 * (size_t)model->n_panels, 8 * (size_t)model->n_cells);
}

static void take_data(void *user, size_t k, const double *point_row, const double *rates)
{
    const struct expectation *e = user;
    const struct hf_model *model = e->model;
    const struct hf_spec *spec = model->spec;
    const struct frozen *frozen = &model->frozen;
    const double *point = e->points + k * frozen->n_parameters,
                 *numbers = frozen_templates(frozen, e->data ? e->data + k * frozen->n_data : frozen->data);
    double *row = e->to + k * frozen->n_data;
    (void)point_row;
    for (uint32_t i = 0; i < spec->n_main; i++) row[i] = rates[frozen->place_of[i]];
    for (uint32_t s = 0; s < spec->n_sets; s++) {
        const struct hf_set *set = &spec->sets[s];
        for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++)
            row[spec->n_main + set->first_aux + i] =
                (set->constraint == HF_POISSON ? hf_width_in_row(model, numbers, set, i) : 1.0) *
                point[set->first + i];
    }
    if (frozen->n_templates)
        memmove(row + (frozen->n_data - frozen->n_templates), numbers, frozen->n_templates * sizeof *row);
}

paritas_status hf_expected_data(paritas_context *context, const paritas_model *given, size_t n_points,
                                const double *points, const double *data, double *expected)
{
    const struct hf_model *model = (const struct hf_model *)given;
    struct expectation e = {model, points, data, expected};
    return run_points(context, model->frozen.family->expected, rates_of(model), n_points, take_data, &e);
}

static void take_rates(void *user, size_t k, const double *point_row, const double *rates)
{
    const struct expectation *e = user;
    const double *cells = rates + HF_EXPECTED_RATES(8 * (size_t)e->model->n_panels);
    (void)k, (void)point_row;
    for (size_t i = 0; i < e->model->n_rates; i++) e->to[i] = cells[e->model->cell_of[i]];
}

paritas_status hf_expected_by_sample(paritas_context *context, const paritas_model *given,
                                     const double *point, const double *data, double *expected)
{
    const struct hf_model *model = (const struct hf_model *)given;
    struct expectation e = {model, point, data, expected};
    return run_points(context, model->frozen.family->expected, rates_of(model), 1, take_rates, &e);
}

static void take_jacobian(void *user, size_t k, const double *point_row, const double *answer)
{
    const struct expectation *e = user;
    const struct frozen *frozen = &e->model->frozen;
    (void)k, (void)point_row;
    for (size_t i = 0; i < e->model->spec->n_main; i++)
        for (size_t p = 0; p < frozen->n_parameters; p++)
            e->to[i * frozen->n_parameters + p] =
                answer[frozen->place_of[i] * frozen->n_slots + frozen->slot_of[p]];
}

paritas_status hf_expected_jacobian(paritas_context *context, const paritas_model *given, const double *point,
                                    const double *data, double *jacobian)
{
    const struct hf_model *model = (const struct hf_model *)given;
    struct expectation e = {model, point, data, jacobian};
    return run_points(context, model->frozen.family->jacobian,
                      8 * (size_t)model->n_panels * model->frozen.n_slots, 1, take_jacobian, &e);
}
