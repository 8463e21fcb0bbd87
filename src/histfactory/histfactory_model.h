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
    double gauss_constant;         /* sum over Gaussians of ln(sigma sqrt(2 pi)) */
    size_t n_bins, n_cells;        /* with padding: elements of an array by bin, by cell */
    struct hf_templates templates; /* if any */
};

extern const struct paritas_family hf_family;

void hf_model_free(paritas_model *model);

/* Evaluations at points. `take` gets the kernels' answer for each. Arrays: user's order, a row a point. */
struct hf_points {
    const struct hf_model *model;
    size_t n;
    const double *points, *data, *directions, *weights;
    const double *moves; /* directions of rows */
    bool follow;
    double *to, *along; /* NULL: not wanted */
    double *room;
    void (*take)(void *points, size_t k, const double *point_row, const double *answer);
};
paritas_status hf_points_run(paritas_context *context, struct paritas_device *device, unsigned entry,
                             size_t answer, struct hf_points *points);
paritas_status hf_jacobian_run(paritas_context *context, struct paritas_device *device,
                               struct hf_points *points);

/* Public functions of these names + `_of` (fit/family.h). */
paritas_status hf_data_derivatives(paritas_context *context, const paritas_model *model, size_t n,
                                   const double *points, const double *data, const struct row_motion *motion,
                                   double *gradient, double *along);
paritas_status hf_expected_pullback(paritas_context *context, const paritas_model *model, size_t n,
                                    const double *points, const double *data, const double *weights,
                                    double *by_points, double *by_templates);

/* Freezes `spec` and takes it over, also on failure. */
paritas_status hf_freeze(paritas_context *context, struct hf_spec *spec, const paritas_model_options *options,
                         struct hf_model **model);

#endif
