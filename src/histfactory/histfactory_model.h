/* histfactory_model.h: a HistFactory model. Immutable. */
#ifndef PARITAS_HISTFACTORY_MODEL_H
#define PARITAS_HISTFACTORY_MODEL_H

#include "histfactory/histfactory_templates.h"

struct hf_model {
    struct frozen frozen; /* first */
    paritas_allocator allocator;
    struct hf_spec *spec; /* owned: names, samples, observations */
    struct arena arena;   /* maps, names, templates */
    /* element of the cell array, by channel, sample, bin */
    uint32_t *cell_of;
    size_t n_rates;
    double gauss_constant; /* sum over Gaussians of ln(sigma sqrt(2 pi)) */
    uint32_t n_panels, n_cells;
    struct hf_templates templates; /* if any */
};

extern const struct paritas_family hf_family;

void hf_model_free(paritas_model *model);
paritas_status hf_expected_data(paritas_context *context, const paritas_model *model, size_t n_points,
                                const double *points, const double *data, double *expected);
paritas_status hf_expected_jacobian(paritas_context *context, const paritas_model *model, const double *point,
                                    const double *data, double *jacobian);
paritas_status hf_expected_by_sample(paritas_context *context, const paritas_model *model,
                                     const double *point, const double *data, double *expected);
size_t hf_channel_count(const paritas_model *model);
const char *hf_channel_name(const paritas_model *model, size_t channel);
size_t hf_channel_bins(const paritas_model *model, size_t channel);
size_t hf_sample_count(const paritas_model *model, size_t channel);
const char *hf_sample_name(const paritas_model *model, size_t channel, size_t sample);

/* Freezes `spec` and takes it over, also on failure. */
paritas_status hf_freeze(paritas_context *context, struct hf_spec *spec, const paritas_model_options *options,
                         struct hf_model **model);

#endif
