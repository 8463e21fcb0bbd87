/* day_count.c: backgrounds, channels and counts of a day's sweeps. */
#include "moon/days/days.h"
#include "moon/er/er.h"
#include "moon/losscone/losscone.h"

#include <string.h>

/* Intervals are 3 to 6 % wide, and cells of nearly equal counts share the distance from the middle. */
#define STORED_SCATTER 0.045

/* Counts of a normalised flux of 1, and the background in normalised flux. */
static void count_cells(const double *theta, const paritas_er_day *day, const double *flux,
                        const struct day_counted *made)
{
    double exposure[PARITAS_SWEEP_CELLS];
    paritas_er_exposures(theta, exposure);
    for (size_t row = 0; row < DAY_ROWS * day->n; row++) {
        const double factor = PARITAS_SWEEP_GEOMETRIC_FACTOR * day->energy[row];
        made->background[row] = 0.0;
        for (size_t j = 0; j < DAY_CELLS; j++) {
            const size_t cell = DAY_CELLS * row + j;
            const double norm = day->flux[cell] / flux[cell];
            made->counts[cell] = norm * factor * exposure[j];
            made->measured[cell] *= factor * exposure[j];
            if (norm > 0.0 && made->rate)
                made->background[row] = made->rate[row / DAY_ROWS] / (factor * norm);
        }
    }
}

paritas_status day_count(paritas_context *context, struct arena *arena, const paritas_day_options *options,
                         paritas_er_day *day, const paritas_sweeps *data, const double *rate, double *flux,
                         struct day_counted *made)
{
    const size_t n = day->n;
    const bool weighted = options->weighted && n > 0, counted = options->least_counts > 0.0 && n > 0;
    paritas_losscone_options losscone;
    *made = (struct day_counted){
        .rate = rate,
        .channel = weighted ? day_numbers(arena, DAY_ROWS * PARITAS_CHANNEL_ENERGIES * n) : NULL,
        .counts = counted ? day_numbers(arena, DAY_ROWS * DAY_CELLS * n) : NULL,
        .background = counted ? day_numbers(arena, DAY_ROWS * n) : NULL,
        .measured = counted ? day_numbers(arena, DAY_ROWS * DAY_CELLS * n) : NULL};
    if ((weighted && !made->channel) || (counted && (!made->counts || !made->background || !made->measured)))
        return paritas_fail_memory(context);
    if (n == 0) return PARITAS_OK;
    if (counted && er_take_middles(options->theta, day)) made->scatter = STORED_SCATTER;
    /* before anything is subtracted, or raised to half a count */
    if (counted) memcpy(made->measured, day->flux, DAY_ROWS * DAY_CELLS * n * sizeof *made->measured);
    if (rate) TRY(paritas_er_subtract_background(context, day, rate));
    TRY(losscone_options_read(context, options->losscone, &losscone));
    if (losscone.method == PARITAS_LOSSCONE_METHOD_AUTO)
        losscone.method = counted && losscone.search == PARITAS_LOSSCONE_SEARCH_EXACT
                              ? PARITAS_LOSSCONE_METHOD_COUNTS
                              : PARITAS_LOSSCONE_METHOD_HALEKAS;
    if (weighted) TRY(paritas_losscone_channels(context, data, &losscone, day->flux, made->channel));
    if (counted) TRY(paritas_er_mask_counts(context, day, options->theta, options->least_counts));
    TRY(paritas_losscone_normalise(context, n, NULL, options->normalisation, data->cosine, day->flux, flux));
    if (counted) count_cells(options->theta, day, flux, made);
    return PARITAS_OK;
}

paritas_status paritas_day_count(paritas_context *context, const paritas_day_options *given,
                                 paritas_er_day *day, paritas_day_sweeps *sweeps)
{
    double theta[PARITAS_SWEEP_CELLS];
    paritas_day_options options;
    paritas_sweeps data;
    struct day_counted made;
    REQUIRE(context, day, sweeps);
    TRY(day_options_read(context, given, theta, &options));
    paritas_day_sweeps_of(day, sweeps, &data);
    TRY(day_count(context, &((struct day_sweeps *)(void *)sweeps)->arena, &options, day, &data, sweeps->rate,
                  sweeps->flux, &made));
    sweeps->channel = made.channel;
    sweeps->counts = made.counts;
    sweeps->background = made.background;
    sweeps->measured = made.measured;
    sweeps->scatter = made.scatter;
    return PARITAS_OK;
}
