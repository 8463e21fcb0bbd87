/* predictive.c: data drawn at draws from a posterior.
 *
 *   points ─► expected data, a row each ─► row i of toys around that */
#include "fit/profiles/ensemble.h"
#include "paritas_sample.h"

#include <string.h>

#define PURPOSE 3 /* of random numbers; toys use 0 to 2 */

static paritas_status draw_row(paritas_context *context, const paritas_model *model, uint64_t seed, size_t i,
                               double *expected, double *row)
{
    const size_t n_data = paritas_model_main_count(model) + paritas_model_aux_count(model);
    memcpy(expected, row, n_data * sizeof *row);
    const struct ensemble_options options = {
        .plan = {.model = model}, .expected = expected, .seed = seed, .purpose = PURPOSE};
    return ensemble_draw(context, &options, i, 1, row);
}

paritas_status paritas_predictive_data(paritas_context *context, const paritas_model *model, size_t n,
                                       const double *points, uint64_t seed, double *data)
{
    REQUIRE(context, model);
    if (n > 0) REQUIRE_AS(context, "points, data", points, data);
    const size_t n_data = paritas_model_main_count(model) + paritas_model_aux_count(model);
    if (paritas_model_template_count(model) > 0)
        return paritas_refuse(context,
                              "predicted data have no templates, and the model has %zu numbers of them",
                              paritas_model_template_count(model));
    double *expected = paritas_allocate(context, n_data + 1, sizeof *expected);
    if (!expected) return paritas_fail_memory(context);
    paritas_status status = paritas_expected_data(context, model, n, points, data);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++)
        status = draw_row(context, model, seed, i, expected, data + i * n_data);
    paritas_release(&context->allocator, expected);
    return status;
}
