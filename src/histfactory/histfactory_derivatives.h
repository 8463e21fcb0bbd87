/* histfactory_derivatives.h: paritas_data_derivatives, paritas_expected_pullback (paritas.h); checked
 * arguments. */
#ifndef PARITAS_HISTFACTORY_DERIVATIVES_H
#define PARITAS_HISTFACTORY_DERIVATIVES_H

#include "fit/family.h"

paritas_status hf_data_derivatives(paritas_context *context, const paritas_model *model, size_t n,
                                   const double *points, const double *data, const double *directions,
                                   double *gradient, double *along);
paritas_status hf_expected_pullback(paritas_context *context, const paritas_model *model, size_t n,
                                    const double *points, const double *data, const double *weights,
                                    double *by_points, double *by_templates);

#endif
