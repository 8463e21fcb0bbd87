/* toys_weights.c: strengths and weights of importance sampling. */
#include "toys/toys_weights.h"
#include "base/math/host_math.h"
#include "fit/family.h"
#include "toys/toy_pool.h"

#include <math.h>

#define STEP 2.0   /* standard deviations between neighbours, unless there is no place for so many */
#define BEYOND 0.5 /* parts of the distance from the tested value to the best fit */
#define MOST_OF_THE_WAY 0.9
#define NEAR 0.5 /* a best fit so near to a hypothesis is no strength of its own */

struct strength strength_of(const struct infer_profile *profile, size_t poi, const struct infer_point *point)
{
    const double mu = point->value[0], rise = point->twice_nll - profile->result.twice_nll;
    const double distance = rise > 0.0 ? host_sqrt(rise) : 0.0;
    return (struct strength){mu, mu < profile->parameters[poi] ? -distance : distance};
}

size_t strengths_given(const paritas_toys_options *options, const double hypotheses[2], double *strengths)
{
    size_t n = 0;
    for (size_t k = 0; k < options->n_strengths; k++) {
        const double mu = options->strengths[k] + 0.0; /* no -0.0 */
        size_t at = n;
        while (at > 0 && strengths[at - 1] > mu) at--;
        if (mu == hypotheses[0] || mu == hypotheses[1] || (at > 0 && strengths[at - 1] == mu)) continue;
        for (size_t i = n++; i > at; i--) strengths[i] = strengths[i - 1];
        strengths[at] = mu;
    }
    return n;
}

static double parts_between(struct strength a, struct strength b, double step)
{
    const double parts = ceil(fabs(b.distance - a.distance) / step);
    return parts >= 1.0 && parts < 1e6 ? parts : 1.0; /* a fit without an answer: no distance */
}

size_t strengths_between(const struct strength hypotheses[2], double mu_hat, size_t most, double *strengths)
{
    const bool rising = hypotheses[0].mu < hypotheses[1].mu;
    struct strength ends[3] = {hypotheses[!rising], hypotheses[rising]};
    size_t n_ends = 2, n = 0;
    if (fabs(ends[0].distance) >= NEAR && fabs(ends[1].distance) >= NEAR) {
        const size_t at = mu_hat < ends[0].mu ? 0 : mu_hat < ends[1].mu ? 1 : 2;
        for (size_t i = n_ends++; i > at; i--) ends[i] = ends[i - 1];
        ends[at] = (struct strength){mu_hat, 0.0};
    }
    double step = STEP, total;
    do {
        total = 1.0;
        for (size_t i = 1; i < n_ends; i++) total += parts_between(ends[i - 1], ends[i], step);
        step *= 1.25;
    } while (total > (double)(most + 1)); /* and one beyond the best fit */
    step /= 1.25;
    for (size_t i = 0; i < n_ends; i++) {
        const double parts = i + 1 < n_ends ? parts_between(ends[i], ends[i + 1], step) : 1.0;
        if (ends[i].mu != hypotheses[0].mu && ends[i].mu != hypotheses[1].mu) strengths[n++] = ends[i].mu;
        for (double k = 1.0; k < parts; k += 1.0)
            strengths[n++] = ends[i].mu + (ends[i + 1].mu - ends[i].mu) * (k / parts);
    }
    return n;
}

bool strength_beyond(struct strength tested, double mu_hat, double lower, double upper, double *strength)
{
    const double wanted = mu_hat + BEYOND * (mu_hat - tested.mu);
    *strength = wanted < lower ? lower : wanted > upper ? upper : wanted;
    return fabs(tested.distance) >= STEP && fabs(*strength - mu_hat) > 0.5 * fabs(wanted - mu_hat);
}

bool strength_with_tested_nuisances(struct strength tested, double mu_hat, double *strength)
{
    *strength = tested.mu + MOST_OF_THE_WAY * (mu_hat - tested.mu);
    return fabs(tested.distance) >= STEP;
}

/* Lists the data with two widths. `expected`: of each place. */
static paritas_status list_two_widths(struct infer *infer, const double *const *expected,
                                      struct toy_weights *weights)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    if (!model->family->ratio) return PARITAS_OK;
    weights->two_widths = arena_array(&infer->arena, infer->n_data, sizeof *weights->two_widths);
    if (!weights->two_widths) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < infer->n_data; i++) {
        const double ratio = model->family->ratio(model, i), precision = model->family->precision(model, i);
        if (ratio == 1.0) continue;
        struct toy_two_widths *made = &weights->two_widths[weights->n_two_widths++];
        *made = (struct toy_two_widths){i, precision / (ratio * ratio), precision,
                                        infer_reals(infer, 1, (size_t)weights->n_places)};
        TRY(infer_memory(infer));
        for (int j = 0; j < weights->n_places; j++) made->expected[j] = expected[j][i];
    }
    return PARITAS_OK;
}

static bool has_two_widths(const struct toy_weights *weights, size_t datum)
{
    for (size_t k = 0; k < weights->n_two_widths; k++)
        if (weights->two_widths[k].datum == datum) return true;
    return false;
}

/* Adds to factors and constants what correlations of measurements do. */
static paritas_status add_correlations(struct infer *infer, const double *const *expected,
                                       const struct toy_weights *weights)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t n = infer->n_data, places = (size_t)weights->n_places;
    if (!model->family->correlate) return PARITAS_OK;
    double *shift = infer_reals(infer, n, 1), *factor = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    for (size_t j = 1; j < places; j++) {
        for (size_t i = 0; i < n; i++) {
            shift[i] = expected[j][i] - expected[0][i];
            factor[i] = 0.0;
        }
        model->family->correlate(model, shift, factor);
        for (size_t i = 0; i < n; i++) {
            if (factor[i] == 0.0) continue;
            weights->by_data[i * places + j] += factor[i];
            weights->constant[j] += factor[i] * (0.5 * (expected[j][i] + expected[0][i]));
        }
    }
    return PARITAS_OK;
}

paritas_status toy_weights_open(struct infer *infer, int n_places, const double *const *expected,
                                struct toy_weights *weights)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    *weights = (struct toy_weights){.n_data = infer->n_data, .n_places = n_places};
    weights->by_data = infer_reals(infer, infer->n_data, (size_t)n_places);
    weights->constant = infer_reals(infer, 1, (size_t)n_places);
    TRY(infer_memory(infer));
    TRY(list_two_widths(infer, expected, weights));
    for (size_t i = 0; i < infer->n_data; i++) {
        if (frozen_is_masked(model, i)) continue;
        const double precision = model->family->precision(model, i);
        if (has_two_widths(weights, i)) continue;
        double reference = expected[0][i];
        for (int j = 0; j < n_places && !(precision > 0.0); j++)
            if (expected[j][i] > reference) reference = expected[j][i];
        for (int j = 0; j < n_places; j++) {
            double *factor = &weights->by_data[i * (size_t)n_places + (size_t)j];
            const double e = expected[j][i];
            if (e == reference) continue;
            if (precision > 0.0) {
                *factor = (e - reference) * precision;
                weights->constant[j] += *factor * (0.5 * (e + reference));
            } else {
                *factor = host_log(e / reference);
                weights->constant[j] += e - reference;
            }
        }
    }
    return add_correlations(infer, expected, weights);
}

void toy_weights_find(const struct toy_weights *weights, const double *data, int n_hypotheses, double *found)
{
    const int n = weights->n_places;
    double density[TOY_PLACES_MOST], highest, sum = 0.0;
    for (int j = 0; j < n; j++) density[j] = -weights->constant[j];
    for (size_t i = 0; i < weights->n_data; i++) {
        const double *factor = weights->by_data + i * (size_t)n;
        if (data[i] == 0.0) continue; /* a count of 0, where the factor may be infinite */
        for (int j = 0; j < n; j++) density[j] += factor[j] * data[i];
    }
    for (size_t k = 0; k < weights->n_two_widths; k++) {
        const struct toy_two_widths *two = &weights->two_widths[k];
        for (int j = 0; j < n; j++) {
            const double pull = data[two->datum] - two->expected[j];
            density[j] -= 0.5 * (pull < 0.0 ? two->below : two->above) * pull * pull;
        }
    }
    highest = density[0];
    for (int j = 1; j < n; j++) highest = density[j] > highest ? density[j] : highest;
    for (int j = 0; j < n; j++) {
        density[j] = host_exp(density[j] - highest);
        sum += density[j];
    }
    for (int h = 0; h < n_hypotheses; h++) found[h] = (double)n * density[h] / sum;
}
