/* model.c: what the public interface says of models, whatever their family. */
#include "fit/family.h"

#include <string.h>

void paritas_model_free(paritas_model *model)
{
    if (model) paritas_model_frozen(model)->family->free(model);
}

size_t paritas_model_parameter_count(const paritas_model *model) { return paritas_model_frozen(model)->n_parameters; }
size_t paritas_model_main_count(const paritas_model *model) { return paritas_model_frozen(model)->n_main; }
size_t paritas_model_aux_count(const paritas_model *model) { return paritas_model_frozen(model)->n_data - paritas_model_frozen(model)->n_main; }
ptrdiff_t paritas_model_poi_index(const paritas_model *model) { return paritas_model_frozen(model)->poi; }
const double *paritas_model_suggested_init(const paritas_model *model) { return paritas_model_frozen(model)->init; }
const double *paritas_model_lower_bounds(const paritas_model *model) { return paritas_model_frozen(model)->lower; }
const double *paritas_model_upper_bounds(const paritas_model *model) { return paritas_model_frozen(model)->upper; }
const unsigned char *paritas_model_suggested_fixed(const paritas_model *model) { return paritas_model_frozen(model)->fixed; }
const double *paritas_model_constraint_widths(const paritas_model *model) { return paritas_model_frozen(model)->width; }
const double *paritas_model_data(const paritas_model *model) { return paritas_model_frozen(model)->data; }

const char *paritas_model_parameter_name(const paritas_model *model, size_t index)
{
    return index < paritas_model_frozen(model)->n_parameters ? paritas_model_frozen(model)->names[index] : NULL;
}

paritas_status paritas_model_parameter_index(paritas_context *context, const paritas_model *model, const char *name, size_t *index)
{
    for (size_t p = 0; p < paritas_model_parameter_count(model); p++)
        if (!strcmp(paritas_model_parameter_name(model, p), name)) {
            *index = p;
            return PARITAS_OK;
        }
    return paritas_fail(context, PARITAS_NOT_FOUND, "the model has no parameter '%s'", name);
}

/* ---- channels and samples, which not every family has ---- */

static const struct paritas_family *with_channels(const paritas_model *model)
{
    const struct paritas_family *family = paritas_model_frozen(model)->family;
    return family->channel_count ? family : NULL;
}

size_t paritas_model_channel_count(const paritas_model *model) { return with_channels(model) ? with_channels(model)->channel_count(model) : 0; }
const char *paritas_model_channel_name(const paritas_model *model, size_t channel) { return with_channels(model) ? with_channels(model)->channel_name(model, channel) : NULL; }
size_t paritas_model_channel_bins(const paritas_model *model, size_t channel) { return with_channels(model) ? with_channels(model)->channel_bins(model, channel) : 0; }
size_t paritas_model_sample_count(const paritas_model *model, size_t channel) { return with_channels(model) ? with_channels(model)->sample_count(model, channel) : 0; }
const char *paritas_model_sample_name(const paritas_model *model, size_t channel, size_t sample)
{
    return with_channels(model) ? with_channels(model)->sample_name(model, channel, sample) : NULL;
}

paritas_status paritas_expected_by_sample(paritas_context *context, const paritas_model *model, const double *point, double *expected)
{
    const struct paritas_family *family = with_channels(model);
    if (!family) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "model '%s' has no samples", paritas_model_frozen(model)->family->name);
    return family->expected_by_sample(context, model, point, expected);
}

/* ---- expectations ---- */

paritas_status family_check_expectation(paritas_context *context, const struct frozen *model)
{
    if (!model->no_expectation) return PARITAS_OK;
    return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "model '%s': %s", model->family->name, model->no_expectation);
}

paritas_status paritas_expected_data(paritas_context *context, const paritas_model *model, size_t n_points, const double *points, double *expected)
{
    const paritas_status status = family_check_expectation(context, paritas_model_frozen(model));
    return status == PARITAS_OK ? paritas_model_frozen(model)->family->expected_data(context, model, n_points, points, expected) : status;
}

paritas_status paritas_expected_jacobian(paritas_context *context, const paritas_model *model, const double *point, double *jacobian)
{
    const paritas_status status = family_check_expectation(context, paritas_model_frozen(model));
    return status == PARITAS_OK ? paritas_model_frozen(model)->family->expected_jacobian(context, model, point, jacobian) : status;
}
