/* domain.c: which bins make the likelihood infinite or undefined. */
#include "minima/domain.h"
#include "fit/edges.h"
#include "fit/fit_rows.h"

#include <math.h>
#include <stdio.h>

static bool is_outside(double rate, double observed)
{
    return !isfinite(rate) || rate < 0.0 || (rate == 0.0 && observed > 0.0);
}

static paritas_outside_bin bin_of(const paritas_model *model, size_t datum, double rate, double observed)
{
    paritas_outside_bin bin = {.bin = datum, .rate = rate, .observed = observed};
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        const size_t bins = paritas_model_channel_bins(model, c);
        bin.channel = paritas_model_channel_name(model, c);
        if (bin.bin < bins) break;
        bin.bin -= bins;
    }
    return bin;
}

paritas_status paritas_find_outside(paritas_context *context, const paritas_model *model, const double *point,
                                    const double *data, size_t room, paritas_outside_bin *bins, size_t *n)
{
    REQUIRE(context, model, point, n);
    if (room > 0) REQUIRE(context, bins);
    const struct frozen *frozen = paritas_model_frozen(model);
    *n = 0;
    if (frozen->no_expectation) return PARITAS_OK;
    double *expected = paritas_allocate(context, frozen->n_data, sizeof *expected);
    if (!expected) return paritas_fail_memory(context);
    const paritas_status status =
        family_expected_data(context, context->host, model, 1, point, data, expected);
    if (!data) data = frozen->data;
    for (size_t i = 0; status == PARITAS_OK && i < frozen->n_main; i++) {
        if (!frozen_counts(frozen, i) || frozen_is_masked(frozen, i) || !is_outside(expected[i], data[i]))
            continue;
        if (*n < room) bins[*n] = bin_of(model, i, expected[i], data[i]);
        ++*n;
    }
    paritas_release(&context->allocator, expected);
    return status;
}

paritas_status paritas_find_edge(paritas_context *context, const paritas_model *model, const double *point,
                                 const double *data, size_t room, paritas_outside_bin *bins, size_t *n)
{
    REQUIRE(context, model, point, n);
    if (room > 0) REQUIRE(context, bins);
    struct arena arena;
    struct edges edges;
    arena_open(&arena, &context->allocator);
    const paritas_status status = edges_find(context, model, point, data, &arena, &edges);
    *n = edges.n;
    for (size_t k = 0; status == PARITAS_OK && k < edges.n && k < room; k++)
        bins[k] = bin_of(model, edges.bins[k], 0.0, 0.0);
    arena_free(&arena);
    return status;
}

void paritas_describe_outside(const paritas_outside_bin *bin, size_t room, char *text)
{
    GIVEN(, bin, text);
    char place[256];
    if (bin->channel)
        snprintf(place, sizeof place, "channel %s, bin %zu", bin->channel, bin->bin);
    else
        snprintf(place, sizeof place, "bin %zu", bin->bin);
    snprintf(text, room, "%s has the rate %.6g where %.6g %s observed", place, bin->rate, bin->observed,
             bin->observed == 1.0 ? "was" : "were");
}

paritas_status domain_say(paritas_context *context, const paritas_model *model, const double *point,
                          const double *data, size_t room, char *text)
{
    paritas_outside_bin first;
    char bin[512];
    size_t n;
    text[0] = '\0';
    TRY(paritas_find_outside(context, model, point, data, 1, &first, &n));
    if (n == 0) return PARITAS_OK;
    paritas_describe_outside(&first, sizeof bin, bin);
    if (n == 1)
        snprintf(text, room, "%s", bin);
    else
        snprintf(text, room, "%s, and %zu other bin%s", bin, n - 1, n == 2 ? " is outside" : "s are outside");
    return PARITAS_OK;
}

paritas_status domain_check(struct infer *infer, paritas_fit_status status, const char *fit,
                            const double *point)
{
    char bins[768];
    if (status != PARITAS_FIT_NON_FINITE) return PARITAS_OK;
    TRY(domain_say(infer->context, infer->model, point, infer->base.data, sizeof bins, bins));
    return paritas_fail(infer->context, PARITAS_NOT_CONVERGED, "%s ended outside the domain%s%s", fit,
                        bins[0] ? ": " : "", bins);
}
