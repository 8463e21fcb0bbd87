/* histfactory_model.h: HistFactory models in the public interface, and evaluations of them. */
#pragma once

#include "histfactory/histfactory_frozen.h"

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
