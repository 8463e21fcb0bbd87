/* histfactory_model.c: HistFactory models in the public interface. */
#include "histfactory/histfactory_model.h"
#include "histfactory/histfactory_correlated.h"
#include "histfactory/freeze.h"
#include "histfactory/histfactory_kinks.h"
#include "histfactory/second_differences.h"
#include "histfactory/histfactory_templates.h"
#include "base/sized.h"
#include "base/json/json.h"
#include "modules/histfactory_entries.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/modifiers/modifier_numbers.h"
#include "fit/fit_rows.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};
extern const struct kernel_module paritas_module_histfactory;
static const struct paritas_family hf_family;

static void free_model(paritas_model *given)
{
    struct hf_model *model = (struct hf_model *)given;
    const paritas_allocator allocator = model->allocator;
    if (model->whole) free_model((paritas_model *)model->whole);
    if (model->complete) free_model((paritas_model *)model->complete);
    hf_spec_free(model->spec);
    arena_free(&model->arena);
    paritas_release(&allocator, (void *)model->frozen.tables.ints);
    paritas_release_aligned(&allocator, (void *)model->frozen.tables.reals);
    paritas_release(&allocator, model);
}

/* Takes `spec` and `whole` over, also on failure. */
static paritas_status make_model(paritas_context *context, struct hf_spec *spec, paritas_model *whole,
                                 const paritas_model_options *options, paritas_model **made)
{
    struct hf_model *model = paritas_allocate_clear(context, 1, sizeof *model);
    if (!model) {
        if (whole) free_model(whole);
        hf_spec_free(spec);
        return paritas_fail_memory(context);
    }
    model->allocator = context->allocator;
    model->spec = spec;
    model->whole = (struct hf_model *)whole;
    model->frozen.family = &hf_family;
    arena_open(&model->arena, &context->allocator);
    model->options = *options;
    model->options.measurement = model->options.poi = NULL;
    /* later they take memory in any thread, and templates are the caller's */
    const bool may_defer = options->n_templates == 0 && context->standard_memory;
    const paritas_status status = hf_freeze(context, options, may_defer, model);
    if (status == PARITAS_OK)
        *made = (paritas_model *)model;
    else
        free_model((paritas_model *)model);
    return status;
}

static paritas_status make_complete(paritas_context *context, const struct hf_model *model,
                                    struct hf_model **complete)
{
    struct hf_model *made = paritas_allocate_clear(context, 1, sizeof *made);
    *complete = NULL;
    if (!made) return paritas_fail_memory(context);
    made->allocator = context->allocator;
    made->spec = model->spec;
    made->whole = model->whole;
    made->frozen.family = &hf_family;
    arena_open(&made->arena, &context->allocator);
    const paritas_status status = hf_freeze(context, &model->options, false, made);
    made->spec = NULL; /* both stay the model's */
    made->whole = NULL;
    arena_free(&made->arena); /* its maps are the model's too */
    if (status == PARITAS_OK)
        *complete = made;
    else
        free_model((paritas_model *)made);
    return status;
}

static paritas_status complete_model(paritas_context *context, const struct frozen *frozen,
                                     const struct frozen **complete)
{
    struct hf_model *model = (struct hf_model *)frozen, *made = atomic_load(&model->complete);
    if (model->defers && !made) {
        const paritas_allocator own = context->allocator;
        struct hf_model *earlier = NULL;
        context->allocator = model->allocator;
        const paritas_status status = make_complete(context, model, &made);
        context->allocator = own;
        TRY(status);
        if (!atomic_compare_exchange_strong(&model->complete, &earlier, made)) {
            free_model((paritas_model *)made);
            made = earlier;
        }
    }
    *complete = made ? &made->frozen : frozen;
    return PARITAS_OK;
}

static paritas_status read_spec(paritas_context *context, const paritas_workspace *workspace,
                                const paritas_model_options *options, struct hf_spec **spec)
{
    TRY(hf_spec_read(context, workspace, options->measurement, options->poi, spec));
    paritas_status status =
        hf_codes_settle(context, workspace, *spec, options->normsys_code, options->histosys_code);
    if (status == PARITAS_OK) status = hf_whole_channels_check(context, workspace, *spec);
    if (status != PARITAS_OK) hf_spec_free(*spec);
    return status;
}

static bool has_masks(const struct hf_spec *spec)
{
    bool any = false;
    for (uint32_t c = 0; c < spec->n_channels; c++) any = any || spec->channels[c].masked;
    return any;
}

paritas_status paritas_model_create(paritas_context *context, const paritas_workspace *workspace,
                                    const paritas_model_options *given, paritas_model **model)
{
    REQUIRE(context, model);
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    struct hf_spec *spec;
    paritas_model *whole = NULL;
    *model = NULL;
    REQUIRE(context, workspace);
    TRY(OPTIONS_READ(context, paritas_model_options, "options", given, &options));
    TRY(read_spec(context, workspace, &options, &spec));
    if (has_masks(spec)) {
        TRY(make_model(context, spec, NULL, &options, &whole));
        paritas_status status = read_spec(context, workspace, &options, &spec);
        if (status != PARITAS_OK) {
            free_model(whole);
            return status;
        }
    }
    return make_model(context, spec, whole, &options, model);
}

static const struct hf_spec *spec_of(const paritas_model *model)
{
    return ((const struct hf_model *)model)->spec;
}

static size_t channel_count(const paritas_model *model)
{
    return spec_of(model)->n_channels;
}
static const char *channel_name(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].name;
}
static size_t channel_bins(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].n_bins;
}
static size_t sample_count(const paritas_model *model, size_t channel)
{
    return spec_of(model)->channels[channel].n_samples;
}
static const char *sample_name(const paritas_model *model, size_t channel, size_t sample)
{
    return spec_of(model)->channels[channel].samples[sample].name;
}
static size_t set_count(const paritas_model *model)
{
    return spec_of(model)->n_sets;
}
static paritas_parameter_set set_of(const paritas_model *model, size_t set)
{
    const struct hf_set *found = &spec_of(model)->sets[set];
    return (paritas_parameter_set){found->name, hf_constraint_kinds[found->constraint].inspected,
                                   found->first, found->size};
}

paritas_status hf_points_run(paritas_context *context, struct paritas_device *device, unsigned entry,
                             size_t answer, struct hf_points *points)
{
    return rows_points_run(context, device,
                           &(struct rows_points){.model = &points->model->frozen,
                                                 .entry = entry,
                                                 .n = points->n,
                                                 .points = points->points,
                                                 .directions = points->directions,
                                                 .data = points->data,
                                                 .answer = answer,
                                                 .take = points->take,
                                                 .user = points});
}

paritas_status hf_jacobian_run(paritas_context *context, struct paritas_device *device,
                               struct hf_points *points)
{
    const struct frozen *frozen = &points->model->frozen;
    return hf_points_run(context, device, frozen->family->jacobian, points->model->n_bins * frozen->n_slots,
                         points);
}

static void take_data(void *user, size_t k, const double *point_row, const double *rates)
{
    const struct hf_points *e = user;
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
                hf_expected_aux(set, hf_width_in_row(model, numbers, set, i), point[set->first + i]);
    }
    if (frozen->n_templates)
        memmove(row + (frozen->n_data - frozen->n_templates), numbers, frozen->n_templates * sizeof *row);
}

/* The set that has an auxiliary datum; NULL: none. */
static const struct hf_set *set_of_datum(const struct frozen *frozen, size_t datum)
{
    const struct hf_spec *spec = ((const struct hf_model *)frozen)->spec;
    for (uint32_t s = 0; s < spec->n_sets && datum >= spec->n_main; s++) {
        const struct hf_set *set = &spec->sets[s];
        const size_t aux = datum - spec->n_main;
        if (set->constraint != HF_UNCONSTRAINED && aux >= set->first_aux && aux - set->first_aux < set->size)
            return set;
    }
    return NULL;
}

static double precision_of(const struct frozen *frozen, size_t datum)
{
    const struct hf_set *set = set_of_datum(frozen, datum);
    if (!set || set->tau) return 0.0;
    const double sigma = set->sigma[datum - ((const struct hf_model *)frozen)->spec->n_main - set->first_aux];
    return 1.0 / (sigma * sigma);
}

static double ratio_of(const struct frozen *frozen, size_t datum)
{
    const struct hf_set *set = set_of_datum(frozen, datum);
    return set ? set->ratio : 1.0;
}

static void correlate(const struct frozen *frozen, const double *data, double *to)
{
    hf_pull_ties(((const struct hf_model *)frozen)->spec, -1.0, NULL, data, to);
}

static paritas_status correlated_variances(paritas_context *context, const struct frozen *frozen,
                                           const unsigned char *fixed, double *covariance)
{
    return hf_correlated_variances(context, ((const struct hf_model *)frozen)->spec, fixed, covariance);
}

/* Centres of laws of y. */
static void centres_of_y(const struct frozen *frozen, const double *data, double *centres)
{
    const struct hf_model *model = (const struct hf_model *)frozen;
    const struct hf_spec *spec = model->spec;
    for (uint32_t s = 0; s < spec->n_sets; s++) {
        const struct hf_set *set = &spec->sets[s];
        for (uint32_t i = 0; hf_law(set)->row && i < set->size; i++)
            centres[set->first + i] = hf_centre_of_y(set, i, data[spec->n_main + set->first_aux + i]);
    }
}

static void auxiliary_of(const struct frozen *frozen, const double *data, const double *point, size_t *datum,
                         double *sigma)
{
    const struct hf_model *model = (const struct hf_model *)frozen;
    const struct hf_spec *spec = model->spec;
    for (size_t i = 0; i < frozen->n_parameters; i++) datum[i] = frozen->n_data;
    for (uint32_t s = 0; s < spec->n_sets; s++) {
        const struct hf_set *set = &spec->sets[s];
        for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++) {
            const size_t parameter = set->first + i, place = spec->n_main + set->first_aux + i;
            const double width = hf_width_in_row(model, frozen_templates(frozen, data), set, i);
            datum[parameter] = place;
            sigma[parameter] =
                set->tau
                    ? sqrt(data[place])
                    : hf_sigma_at(set, width, hf_expected_aux(set, width, point[parameter]) - data[place]);
        }
    }
}

/* Expected rates of each point. */
static paritas_status run_rates(paritas_context *context, struct paritas_device *device,
                                struct hf_points *points)
{
    const struct hf_model *model = points->model;
    return hf_points_run(context, device, model->frozen.family->expected,
                         HF_EXPECTED_SIZE(model->n_bins, model->n_cells), points);
}

static paritas_status expected_data(paritas_context *context, struct paritas_device *device,
                                    const paritas_model *model, size_t n_points, const double *points,
                                    const double *data, double *expected)
{
    return run_rates(context, device,
                     &(struct hf_points){.model = hf_whole(model),
                                         .n = n_points,
                                         .points = points,
                                         .data = data,
                                         .to = expected,
                                         .take = take_data});
}

static void take_rates(void *user, size_t k, const double *point_row, const double *rates)
{
    const struct hf_points *e = user;
    const double *cells = rates + HF_EXPECTED_RATES(e->model->n_bins);
    (void)k, (void)point_row;
    for (size_t i = 0; i < e->model->n_rates; i++) e->to[i] = cells[e->model->cell_of[i]];
}

static paritas_status expected_by_sample(paritas_context *context, const paritas_model *model,
                                         const double *point, const double *data, double *expected)
{
    return run_rates(context, context->device,
                     &(struct hf_points){.model = hf_whole(model),
                                         .n = 1,
                                         .points = point,
                                         .data = data,
                                         .to = expected,
                                         .take = take_rates});
}

static void take_jacobian(void *user, size_t k, const double *point_row, const double *answer)
{
    const struct hf_points *e = user;
    const struct frozen *frozen = &e->model->frozen;
    const size_t n = e->model->spec->n_main;
    double *to = e->to + k * n * frozen->n_parameters;
    (void)point_row;
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < frozen->n_parameters; p++)
            to[i * frozen->n_parameters + p] =
                answer[frozen->place_of[i] * frozen->n_slots + frozen->slot_of[p]];
}

static paritas_status expected_jacobian(paritas_context *context, struct paritas_device *device,
                                        const paritas_model *model, size_t n_points, const double *points,
                                        const double *data, double *jacobian)
{
    return hf_jacobian_run(context, device,
                           &(struct hf_points){.model = hf_whole(model),
                                               .n = n_points,
                                               .points = points,
                                               .data = data,
                                               .to = jacobian,
                                               .take = take_jacobian});
}

static const struct paritas_family hf_family = {
    .name = "histfactory",
    .module = &paritas_module_histfactory,
    .evaluate = ENTRY_hf_evaluate,
    .expected = ENTRY_hf_expected,
    .hessian = ENTRY_hf_hessian,
    .jacobian = ENTRY_hf_jacobian,
    .covariance = ENTRY_hf_covariance,
    .profile = ENTRY_hf_profile,
    .draw = ENTRY_hf_draw,
    .sample = ENTRY_hf_sample,
    .fit = {ENTRY_hf_fit, ENTRY_hf_fit_lbfgsb, ENTRY_hf_fit_de},
    .tangent = ENTRY_hf_tangent_rows,
    .free = free_model,
    .complete = complete_model,
    .precision = precision_of,
    .ratio = ratio_of,
    .correlate = correlate,
    .correlated_variances = correlated_variances,
    .expected_data = expected_data,
    .expected_jacobian = expected_jacobian,
    .expected_by_sample = expected_by_sample,
    .channel_count = channel_count,
    .channel_name = channel_name,
    .channel_bins = channel_bins,
    .sample_count = sample_count,
    .second_differences = hf_second_differences,
    .kink_surfaces_near = hf_kink_surfaces_near,
    .kink_surface = hf_kink_surface,
    .sample_name = sample_name,
    .set_count = set_count,
    .set = set_of,
    .check_templates = hf_check_templates,
    .put_templates = hf_put_templates,
    .suggest_aux = hf_suggest_aux,
    .constraint_centres = centres_of_y,
    .auxiliary = auxiliary_of,
    .constraint_widths = hf_constraint_widths,
    .data_derivatives = hf_data_derivatives,
    .expected_pullback = hf_expected_pullback,
};
