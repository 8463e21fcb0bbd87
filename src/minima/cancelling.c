/* cancelling.c: samples that became negative in bins that hold a fit. */
#include "minima/cancelling.h"
#include "fit/edges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEGATIVE 0.01 /* of the rate where the job starts: less is no sample that turned round */

/* Where the rates by sample of one main bin stand: `stride` apart, from `first` on. */
struct place {
    size_t channel, bin, first, stride, samples;
};

static struct place place_of(const paritas_model *model, size_t datum)
{
    struct place place = {.bin = datum};
    for (;; place.channel++) {
        place.stride = paritas_model_channel_bins(model, place.channel);
        place.samples = paritas_model_sample_count(model, place.channel);
        if (place.bin < place.stride) break;
        place.bin -= place.stride;
        place.first += place.samples * place.stride;
    }
    place.first += place.bin;
    return place;
}

static void note(struct infer *infer, const struct infer_point *point, const struct place *place,
                 size_t sample, double rate)
{
    char fit[256] = "the best fit";
    infer->told_cancelling = true;
    if (point)
        snprintf(fit, sizeof fit, "the fit with %s = %.6g",
                 paritas_model_parameter_name(infer->model, point->parameter[0]), point->value[0]);
    paritas_note(
        infer->context,
        "%s: sample %s has the rate %.6g in channel %s, bin %zu, and cancels the others there, so it "
        "can absorb any signal; clip the rates of samples at 0, or choose another interpolation",
        fit, paritas_model_sample_name(infer->model, place->channel, sample), rate,
        paritas_model_channel_name(infer->model, place->channel), place->bin);
}

/* Rates by sample at the point, and the same with the parameter of interest elsewhere. */
static paritas_status expect(struct infer *infer, const double *parameters, double *moved, double *rates,
                             double *elsewhere)
{
    memcpy(moved, parameters, infer->n_parameters * sizeof *moved);
    moved[infer->poi] += 1.0;
    TRY(paritas_expected_by_sample_of(infer->context, infer->model, parameters, infer->base.data, rates));
    return paritas_expected_by_sample_of(infer->context, infer->model, moved, infer->base.data, elsewhere);
}

/* `point`: NULL: the free fit. */
static paritas_status look_at(struct infer *infer, const struct infer_point *point, const double *parameters,
                              const double *data, struct arena *arena)
{
    const paritas_model *model = infer->model;
    struct edges edges;
    size_t total = 0;
    TRY(edges_find(infer->context, model, parameters, data, arena, &edges));
    if (edges.n == 0) return PARITAS_OK;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        total += paritas_model_channel_bins(model, c) * paritas_model_sample_count(model, c);
    double *rates = arena_array(arena, 3 * total + infer->n_parameters, sizeof *rates);
    double *before = rates + total, *elsewhere = before + total;
    if (!rates) return paritas_fail_memory(infer->context);
    TRY(expect(infer, parameters, elsewhere + total, rates, elsewhere));
    TRY(paritas_expected_by_sample_of(infer->context, model, infer->base.start, infer->base.data, before));
    for (size_t k = 0; k < edges.n; k++) {
        const struct place place = place_of(model, edges.bins[k]);
        for (size_t s = 0; s < place.samples; s++) {
            const size_t at = place.first + s * place.stride;
            if (!(rates[at] < -NEGATIVE * before[at] && before[at] >= 0.0)) continue;
            if (rates[at] != elsewhere[at]) continue; /* a signal, whose size is what is asked */
            note(infer, point, &place, s, rates[at]);
            return PARITAS_OK;
        }
    }
    return PARITAS_OK;
}

static paritas_status look(struct infer *infer, const struct infer_point *point, const double *parameters,
                           const double *data)
{
    struct arena arena;
    if (infer->told_cancelling || !edges_may_hold(paritas_model_frozen(infer->model), data))
        return PARITAS_OK;
    arena_open(&arena, &infer->context->allocator);
    const paritas_status status = look_at(infer, point, parameters, data, &arena);
    arena_free(&arena);
    return status;
}

/* Does the point's free fit belong to an earlier point, too? */
static bool is_seen(const struct infer_point *points, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (points[k].profile == points[i].profile) return true;
    return false;
}

paritas_status cancelling_note(struct infer *infer, size_t n, struct infer_point *points)
{
    if (infer->poi == infer->n_parameters || !paritas_model_frozen(infer->model)->family->expected_by_sample)
        return PARITAS_OK;
    for (size_t i = 0; i < n && !infer->told_cancelling; i++) {
        const struct infer_profile *profile = points[i].profile;
        if (isfinite(points[i].twice_nll)) TRY(look(infer, &points[i], points[i].parameters, profile->data));
        if (!is_seen(points, i)) TRY(look(infer, NULL, profile->parameters, profile->data));
    }
    return PARITAS_OK;
}
