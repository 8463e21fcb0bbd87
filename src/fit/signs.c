/* signs.c: the sign of a second minimum by one pass over the templates. */
#include "fit/signs.h"

#include <math.h>

#define ROUNDING 1e-9 /* of a sign: the order of equal ones must not depend on it */

bool signs_are_known(const struct frozen *model)
{
    return model->family->second_differences && !model->no_expectation;
}

paritas_status signs_measure(paritas_context *context, const struct frozen *model, const double *templates,
                             const double *point, const double *data, const double *expected, double *signs)
{
    double *weights = paritas_allocate(context, model->n_main + 1, sizeof *weights);
    if (!weights) return paritas_fail_memory(context);
    for (size_t b = 0; b < model->n_main; b++)
        weights[b] = expected[b] > 0.0 ? 1.0 - data[b] / expected[b] : data[b] > 0.0 ? -1.0 : 1.0;
    const paritas_status status =
        model->family->second_differences(context, model, templates, point, weights, signs);
    paritas_release(&context->allocator, weights);
    for (size_t i = 0; i < model->n_parameters; i++) signs[i] = signs[i] < -SIGN_LEAST ? -signs[i] : 0.0;
    return status;
}

size_t signs_take_largest(size_t n, double *elements, size_t most, size_t *which)
{
    size_t taken = 0;
    for (; taken < most; taken++) {
        size_t largest = n;
        for (size_t i = 0; i < n; i++)
            if (elements[i] > 0.0 && (largest == n || elements[i] > (1.0 + ROUNDING) * elements[largest]))
                largest = i;
        if (largest == n) break;
        which[taken] = largest;
        elements[largest] = 0.0;
    }
    return taken;
}

double signs_moved(double value, double centre, double width, double widths)
{
    const double away = value - centre, far = fmax(fabs(away), fabs(widths) * width);
    return centre + copysign(far, widths < 0.0 ? -away : away);
}
