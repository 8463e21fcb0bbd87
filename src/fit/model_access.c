/* model_access.c: public access to models of any family. */
#include "fit/fit_rows.h"

#include <string.h>

void paritas_model_free(paritas_model *model)
{
    if (model) paritas_model_frozen(model)->family->free(model);
}

/* ---- stored answers; without a model 0, -1 or NULL ---- */

size_t paritas_model_parameter_count(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->n_parameters : 0;
}

size_t paritas_model_main_count(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->n_main : 0;
}

size_t paritas_model_template_count(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->n_templates : 0;
}

ptrdiff_t paritas_model_poi_index(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->poi : -1;
}

const double *paritas_model_suggested_init(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->init : NULL;
}

const double *paritas_model_lower_bounds(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->lower : NULL;
}

const double *paritas_model_upper_bounds(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->upper : NULL;
}

const unsigned char *paritas_model_suggested_fixed(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->fixed : NULL;
}

const double *paritas_model_constraint_widths(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->width : NULL;
}

const double *paritas_model_data(const paritas_model *model)
{
    return model ? paritas_model_frozen(model)->data : NULL;
}

size_t paritas_model_poi_count(const paritas_model *given)
{
    if (!given) return 0;
    const struct frozen *model = paritas_model_frozen(given);
    return model->pois ? model->n_pois : model->poi >= 0;
}

const size_t *paritas_model_pois(const paritas_model *given)
{
    if (paritas_model_poi_count(given) == 0) return NULL;
    const struct frozen *model = paritas_model_frozen(given);
    return model->pois ? model->pois : (const size_t *)&model->poi;
}

size_t paritas_model_aux_count(const paritas_model *given)
{
    if (!given) return 0;
    const struct frozen *model = paritas_model_frozen(given);
    return model->n_data - model->n_main - model->n_templates;
}

const char *paritas_model_parameter_name(const paritas_model *model, size_t index)
{
    return index < paritas_model_parameter_count(model) ? paritas_model_frozen(model)->names[index] : NULL;
}

paritas_status paritas_model_parameter_index(paritas_context *context, const paritas_model *model,
                                             const char *name, size_t *index)
{
    REQUIRE(context, model, name, index);
    for (size_t p = 0; p < paritas_model_parameter_count(model); p++)
        if (!strcmp(paritas_model_parameter_name(model, p), name)) {
            *index = p;
            return PARITAS_OK;
        }
    const size_t length = strlen(name);
    for (size_t p = 0; p < paritas_model_parameter_count(model); p++) {
        const char *member = paritas_model_parameter_name(model, p);
        if (!strncmp(member, name, length) && !strncmp(member + length, "[0]", 3))
            return paritas_fail(
                context, PARITAS_NOT_FOUND,
                "the model has no parameter '%s', which is a set: name its members, '%s' and so on", name,
                member);
    }
    return paritas_fail(context, PARITAS_NOT_FOUND, "the model has no parameter '%s'", name);
}

/* ---- channels and samples (some families) ---- */

static const struct paritas_family *with_channels(const paritas_model *model)
{
    const struct paritas_family *family = model ? paritas_model_frozen(model)->family : NULL;
    return family && family->channel_count ? family : NULL;
}
/* Returns NULL if the model has no channel of this number. */
static const struct paritas_family *with_channel(const paritas_model *model, size_t channel)
{
    return channel < paritas_model_channel_count(model) ? with_channels(model) : NULL;
}

size_t paritas_model_channel_count(const paritas_model *model)
{
    return with_channels(model) ? with_channels(model)->channel_count(model) : 0;
}
const char *paritas_model_channel_name(const paritas_model *model, size_t channel)
{
    const struct paritas_family *family = with_channel(model, channel);
    return family ? family->channel_name(model, channel) : NULL;
}
size_t paritas_model_channel_bins(const paritas_model *model, size_t channel)
{
    const struct paritas_family *family = with_channel(model, channel);
    return family ? family->channel_bins(model, channel) : 0;
}
int paritas_model_channel_masked(const paritas_model *model, size_t channel)
{
    size_t bin = 0;
    if (!with_channel(model, channel)) return 0;
    for (size_t c = 0; c < channel; c++) bin += paritas_model_channel_bins(model, c);
    return frozen_is_masked(paritas_model_frozen(model), bin);
}
size_t paritas_model_sample_count(const paritas_model *model, size_t channel)
{
    const struct paritas_family *family = with_channel(model, channel);
    return family ? family->sample_count(model, channel) : 0;
}
const char *paritas_model_sample_name(const paritas_model *model, size_t channel, size_t sample)
{
    return sample < paritas_model_sample_count(model, channel)
               ? with_channels(model)->sample_name(model, channel, sample)
               : NULL;
}

/* ---- expectations ---- */

paritas_status family_check_expectation(paritas_context *context, const struct frozen *model)
{
    if (!model->no_expectation) return PARITAS_OK;
    return paritas_refuse(context, "model '%s': %s", model->family->name, model->no_expectation);
}

/* Rows for the family: none without templates. */
static paritas_status rows_of(paritas_context *context, const struct frozen *model, size_t n,
                              const double **data)
{
    if (model->n_templates == 0) *data = NULL;
    return *data ? rows_check_all_templates(context, model, n, *data) : PARITAS_OK;
}

/* Runs one of a family's functions, which get checked rows. */
static paritas_status expect(paritas_context *context, struct paritas_device *device,
                             const paritas_model *given, family_expectation *run, size_t n_points,
                             const double *points, const double *data, double *answer)
{
    const struct frozen *model = paritas_model_frozen(given);
    TRY(family_check_expectation(context, model));
    TRY(rows_of(context, model, n_points, &data));
    return run(context, device, given, n_points, points, data, answer);
}

paritas_status family_expected_data(paritas_context *context, struct paritas_device *device,
                                    const paritas_model *model, size_t n_points, const double *points,
                                    const double *data, double *expected)
{
    return expect(context, device, model, paritas_model_frozen(model)->family->expected_data, n_points,
                  points, data, expected);
}

paritas_status family_expected_jacobian(paritas_context *context, struct paritas_device *device,
                                        const paritas_model *model, size_t n_points, const double *points,
                                        const double *data, double *jacobian)
{
    return expect(context, device, model, paritas_model_frozen(model)->family->expected_jacobian, n_points,
                  points, data, jacobian);
}

paritas_status paritas_expected_data_of(paritas_context *context, const paritas_model *model, size_t n_points,
                                        const double *points, const double *data, double *expected)
{
    REQUIRE(context, model);
    if (n_points > 0) REQUIRE(context, points, expected);
    return family_expected_data(context, context->device, model, n_points, points, data, expected);
}

paritas_status paritas_expected_jacobian_of(paritas_context *context, const paritas_model *given,
                                            const double *point, const double *data, double *jacobian)
{
    REQUIRE_AS(context, "model, point, jacobian", given, point, jacobian);
    return family_expected_jacobian(context, context->device, given, 1, point, data, jacobian);
}

paritas_status paritas_expected_by_sample_of(paritas_context *context, const paritas_model *given,
                                             const double *point, const double *data, double *expected)
{
    REQUIRE_AS(context, "model, point, expected", given, point, expected);
    const struct frozen *model = paritas_model_frozen(given);
    if (!model->family->channel_count)
        return paritas_refuse(context, "model '%s' has no samples", model->family->name);
    TRY(rows_of(context, model, 1, &data));
    return model->family->expected_by_sample(context, given, point, data, expected);
}

paritas_status paritas_expected_data(paritas_context *context, const paritas_model *model, size_t n_points,
                                     const double *points, double *expected)
{
    return paritas_expected_data_of(context, model, n_points, points, NULL, expected);
}

paritas_status paritas_expected_jacobian(paritas_context *context, const paritas_model *model,
                                         const double *point, double *jacobian)
{
    return paritas_expected_jacobian_of(context, model, point, NULL, jacobian);
}

paritas_status paritas_expected_by_sample(paritas_context *context, const paritas_model *model,
                                          const double *point, double *expected)
{
    return paritas_expected_by_sample_of(context, model, point, NULL, expected);
}

/* ---- data rows ---- */

paritas_status paritas_model_fill_row(paritas_context *context, const paritas_model *given,
                                      const double *main_data, const double *templates, double *row)
{
    REQUIRE_AS(context, "model, row", given, row);
    const struct frozen *model = paritas_model_frozen(given);
    double *numbers = row + (model->n_data - model->n_templates);
    memmove(row, main_data ? main_data : model->data, model->n_main * sizeof *row);
    memcpy(row + model->n_main, model->data + model->n_main,
           (model->n_data - model->n_main - model->n_templates) * sizeof *row);
    if (model->n_templates == 0) return PARITAS_OK;
    memmove(numbers, templates ? templates : frozen_templates(model, model->data),
            model->n_templates * sizeof *row);
    TRY(rows_check_templates(context, model, row, "templates"));
    model->family->suggest_aux(model, numbers, row + model->n_main);
    return PARITAS_OK;
}

/* Are data derivatives possible with these rows? `data` NULL: the model's, put into *own. */
static paritas_status open_derivatives(paritas_context *context, const struct frozen *model, size_t n,
                                       const double **data, double **own)
{
    *own = NULL;
    if (!model->family->data_derivatives)
        return paritas_refuse(context, "model '%s' has no derivatives by data", model->family->name);
    if (*data) return rows_check_data(context, model, n, *data);
    *own = paritas_allocate(context, n * model->n_data + 1, sizeof **own);
    if (!*own) return paritas_fail_memory(context);
    for (size_t k = 0; k < n; k++)
        memcpy(*own + k * model->n_data, model->data, model->n_data * sizeof **own);
    *data = *own;
    return PARITAS_OK;
}

paritas_status paritas_data_derivatives(paritas_context *context, const paritas_model *model, size_t n,
                                        const double *points, const double *data, const double *directions,
                                        double *gradient, double *along)
{
    REQUIRE(context, model);
    if (n > 0) REQUIRE(context, points);
    double *own;
    if (along && !directions) return paritas_refuse(context, "directions: none given");
    paritas_status status = open_derivatives(context, paritas_model_frozen(model), n, &data, &own);
    if (status == PARITAS_OK)
        status = paritas_model_frozen(model)->family->data_derivatives(
            context, model, n, points, data, &(struct row_motion){.parameters = along ? directions : NULL},
            gradient, along);
    paritas_release(&context->allocator, own);
    return status;
}

paritas_status paritas_expected_pullback(paritas_context *context, const paritas_model *model, size_t n,
                                         const double *points, const double *data, const double *weights,
                                         double *by_points, double *by_templates)
{
    REQUIRE(context, model);
    if (n > 0) REQUIRE(context, points, weights);
    double *own = NULL;
    paritas_status status = family_check_expectation(context, paritas_model_frozen(model));
    if (status == PARITAS_OK) status = open_derivatives(context, paritas_model_frozen(model), n, &data, &own);
    if (status == PARITAS_OK)
        status = paritas_model_frozen(model)->family->expected_pullback(context, model, n, points, data,
                                                                        weights, by_points, by_templates);
    paritas_release(&context->allocator, own);
    return status;
}

/* ---- sets of parameters (the same families) ---- */

size_t paritas_model_set_count(const paritas_model *model)
{
    return with_channels(model) ? with_channels(model)->set_count(model) : 0;
}
paritas_parameter_set paritas_model_set(const paritas_model *model, size_t set)
{
    return set < paritas_model_set_count(model) ? with_channels(model)->set(model, set)
                                                : (paritas_parameter_set){0};
}
