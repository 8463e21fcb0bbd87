/* day_prepare.c: a day's geometry, masks, pitch angles and normalised fluxes. */
#include "moon/days/days.h"
#include "base/sized.h"

#include <math.h>

static paritas_status apply_mags(paritas_context *context, const paritas_day_sources *sources,
                                 paritas_er_day *day, struct day_sweeps *made)
{
    paritas_day_sweeps *sweeps = &made->open;
    if (sources->n_mags == 0) return PARITAS_OK;
    REQUIRE_AS(context, "mags", sources->mags);
    REQUIRE_EACH(context, "mags", sources->n_mags, sources->mags);
    sweeps->mag = day_numbers(&made->arena, 3 * day->n);
    if (!sweeps->mag) return paritas_fail_memory(context);
    for (size_t i = 0; i < 3 * day->n; i++) sweeps->mag[i] = NAN;
    for (size_t i = 0; i < sources->n_mags; i++) {
        size_t matched = 0;
        TRY(paritas_er_mag_apply(context, sources->mags[i], day, sweeps->mag, &matched));
        sweeps->of_mags += matched;
    }
    return PARITAS_OK;
}

static paritas_status apply_table(paritas_context *context, const paritas_er_geometry *table,
                                  paritas_er_day *day, size_t *matched)
{
    return table ? paritas_er_geometry_apply(context, table, day, matched) : PARITAS_OK;
}

static paritas_status apply_sources(paritas_context *context, const paritas_day_sources *sources,
                                    paritas_er_day *day, struct day_sweeps *made)
{
    paritas_day_sweeps *sweeps = &made->open;
    TRY(apply_mags(context, sources, day, made));
    TRY(apply_table(context, sources->geometry, day, &sweeps->of_geometry));
    if (sources->spice) TRY(paritas_er_spice_apply(context, sources->spice, sources->attitude, day, NULL));
    TRY(apply_table(context, sources->polarities, day, &sweeps->of_polarities));
    return apply_table(context, sources->potentials, day, &sweeps->of_potentials);
}

static paritas_status prepare(paritas_context *context, const paritas_day_options *options,
                              const paritas_day_sources *sources, paritas_er_day *day,
                              struct day_sweeps *made)
{
    const size_t n = day->n;
    paritas_day_sweeps *sweeps = &made->open;
    TRY(apply_sources(context, sources, day, made));
    for (size_t i = 0; i < DAY_ROWS * n && options->polarity != 0.0; i++)
        day->polarity[i] = options->polarity;
    if (options->sunlight > 0.0)
        TRY(paritas_er_mask_sunlight(context, day, options->theta, options->sunlight));
    TRY(paritas_er_mask_polarity(context, day));
    sweeps->potential = day_numbers(&made->arena, DAY_ROWS * n);
    sweeps->cosine = day_numbers(&made->arena, DAY_ROWS * DAY_CELLS * n);
    sweeps->flux = day_numbers(&made->arena, DAY_ROWS * DAY_CELLS * n);
    sweeps->rate = day_numbers(&made->arena, n);
    if (!sweeps->potential || !sweeps->cosine || !sweeps->flux || !sweeps->rate)
        return paritas_fail_memory(context);
    if (options->subtract_background)
        TRY(paritas_er_find_background(context, day, options->theta, sweeps->rate));
    const paritas_potential_source source = options->potential_source;
    for (size_t k = 0; k < n; k++)
        day_set_potential(day, sweeps->potential, k,
                          source == PARITAS_POTENTIAL_SOURCE_VALUE  ? options->potential
                          : source == PARITAS_POTENTIAL_SOURCE_AUTO ? NAN
                                                                    : day->spacecraft_potential[k]);
    TRY(paritas_losscone_cosines(context, n, NULL, options->theta, day->field, day->polarity, day->azimuth,
                                 sweeps->cosine));
    return paritas_losscone_normalise(context, n, NULL, options->normalisation, sweeps->cosine, day->flux,
                                      sweeps->flux);
}

paritas_status paritas_day_prepare(paritas_context *context, const paritas_day_options *given,
                                   const paritas_day_sources *given_sources, paritas_er_day *day,
                                   paritas_day_sweeps **sweeps)
{
    double theta[PARITAS_SWEEP_CELLS];
    paritas_day_options options;
    paritas_day_sources sources = PARITAS_DAY_SOURCES_DEFAULT;
    REQUIRE(context, day, sweeps);
    *sweeps = NULL;
    TRY(day_options_read(context, given, theta, &options));
    TRY(SIZED_TAKE(context, paritas_day_sources, "sources", given_sources, &sources));
    struct day_sweeps *made = paritas_allocate_clear(context, 1, sizeof *made);
    if (!made) return paritas_fail_memory(context);
    arena_open(&made->arena, &context->allocator);
    made->open.size = sizeof made->open;
    made->open.n = day->n;
    const paritas_status status = prepare(context, &options, &sources, day, made);
    if (status == PARITAS_OK)
        *sweeps = &made->open;
    else
        paritas_day_sweeps_free(&made->open);
    return status;
}

void paritas_day_sweeps_free(paritas_day_sweeps *sweeps)
{
    struct day_sweeps *made = (struct day_sweeps *)(void *)sweeps;
    if (!made) return;
    const paritas_allocator allocator = made->arena.allocator;
    arena_free(&made->arena);
    paritas_release(&allocator, made);
}

void paritas_day_sweeps_of(const paritas_er_day *day, const paritas_day_sweeps *sweeps, paritas_sweeps *data)
{
    GIVEN(, day, sweeps, data);
    *data = (paritas_sweeps){.size = sizeof *data,
                             .n = sweeps->n,
                             .energy = day->energy,
                             .potential = sweeps->potential,
                             .cosine = sweeps->cosine,
                             .flux = sweeps->flux,
                             .channel = sweeps->channel,
                             .counts = sweeps->counts,
                             .background = sweeps->background,
                             .potential_error = sweeps->potential_error,
                             .measured = sweeps->measured,
                             .scatter = sweeps->scatter};
}
