/* day_plasma.c: fits of the plasma to a day's sweeps. */
#include "moon/days/days.h"

#include <math.h>
#include <string.h>

/* eV, at the lower ends */
#define MAGNETOSHEATH 30.0
#define LOBE 80.0
#define PLASMA_SHEET 150.0

/* Spectra of a day, in an arena. */
struct day_spectra {
    double *energy, *omni, *sensitivity, *counts, *background;
};

/* Subtracts the spacecraft's potential from energies. Fluxes follow Liouville's theorem, if asked for. */
static void shift(const paritas_potential_options *charging, const paritas_er_day *day,
                  const double *potential, struct day_spectra *spectra)
{
    for (size_t i = 0; i < DAY_ROWS * day->n; i++) {
        spectra->energy[i] = day->energy[i] - potential[i];
        if (!charging->liouville) continue;
        const double part = spectra->energy[i] / day->energy[i];
        spectra->omni[i] *= part;
        spectra->background[i] *= part;
    }
}

/* counted: the day's fluxes have lost the background. */
static paritas_status make_spectra(paritas_context *context, const paritas_day_options *options, bool counted,
                                   const paritas_er_day *day, const paritas_day_sweeps *sweeps,
                                   struct day_spectra *spectra)
{
    const paritas_potential_options charging = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    cells.theta = options->theta;
    TRY(paritas_kappa_spectrum(context, &(paritas_spectrum_request){.size = sizeof(paritas_spectrum_request),
                                                                    .cells = &cells,
                                                                    .n = day->n,
                                                                    .energy = day->energy,
                                                                    .flux = day->flux,
                                                                    .cosine = sweeps->cosine,
                                                                    .omni = spectra->omni,
                                                                    .coverage = sweeps->coverage,
                                                                    .sensitivity = spectra->sensitivity,
                                                                    .counts = spectra->counts,
                                                                    .rate = sweeps->rate,
                                                                    .background = spectra->background}));
    for (size_t i = 0; i < DAY_ROWS * day->n && counted; i++) spectra->omni[i] += spectra->background[i];
    memcpy(spectra->energy, day->energy, DAY_ROWS * day->n * sizeof *spectra->energy);
    if (options->potential_source != PARITAS_POTENTIAL_SOURCE_AUTO)
        shift(options->charging ? options->charging : &charging, day, sweeps->potential, spectra);
    return PARITAS_OK;
}

static void take_potentials(paritas_er_day *day, paritas_day_sweeps *sweeps)
{
    for (size_t k = 0; k < day->n; k++) {
        const paritas_potential *found = &sweeps->potentials[k];
        day_set_potential(day, sweeps->potential, k,
                          found->status == PARITAS_POTENTIAL_FOUND ? found->potential : NAN);
        sweeps->potential_error[k] = found->ambiguity > found->error ? found->ambiguity : found->error;
    }
}

paritas_status day_plasma(paritas_context *context, struct arena *arena, const paritas_day_options *options,
                          bool counted, paritas_er_day *day, paritas_day_sweeps *sweeps)
{
    const size_t n = day->n, rows = DAY_ROWS * n;
    const bool automatic = options->potential_source == PARITAS_POTENTIAL_SOURCE_AUTO;
    struct day_spectra made = {day_numbers(arena, rows), day_numbers(arena, rows), day_numbers(arena, rows),
                               day_numbers(arena, rows), day_numbers(arena, rows)};
    sweeps->plasma = day_records(arena, n, sizeof *sweeps->plasma);
    sweeps->coverage = day_numbers(arena, rows);
    sweeps->sunlit = arena_array(arena, n + 1, 1);
    sweeps->potentials = automatic ? day_records(arena, n, sizeof *sweeps->potentials) : NULL;
    sweeps->potential_error = automatic ? day_numbers(arena, n) : NULL;
    if (!made.energy || !made.omni || !made.sensitivity || !made.counts || !made.background ||
        !sweeps->plasma || !sweeps->coverage || !sweeps->sunlit ||
        (automatic && (!sweeps->potentials || !sweeps->potential_error)))
        return paritas_fail_memory(context);
    if (n == 0) return PARITAS_OK;
    TRY(make_spectra(context, options, counted, day, sweeps, &made));
    const paritas_spectra spectra = {.size = sizeof spectra,
                                     .n = n,
                                     .energy = made.energy,
                                     .flux = made.omni,
                                     .sensitivity = made.sensitivity,
                                     .counts = made.counts,
                                     .background = made.background};
    for (size_t k = 0; k < n; k++)
        sweeps->sunlit[k] =
            isnan(day->spacecraft_in_sun[k]) ? options->sunlit != 0 : day->spacecraft_in_sun[k] == 1.0;
    if (!automatic) return paritas_kappa_fit(context, &spectra, options->kappa, sweeps->plasma);
    TRY(paritas_spacecraft_potential_of_spectra(context, &spectra, sweeps->sunlit, options->kappa,
                                                options->charging, sweeps->plasma, sweeps->potentials));
    take_potentials(day, sweeps);
    return PARITAS_OK;
}

paritas_status paritas_day_plasma(paritas_context *context, const paritas_day_options *given,
                                  paritas_er_day *day, paritas_day_sweeps *sweeps)
{
    double theta[PARITAS_SWEEP_CELLS];
    paritas_day_options options;
    REQUIRE(context, day, sweeps);
    TRY(day_options_read(context, given, theta, &options));
    struct day_sweeps *made = (struct day_sweeps *)(void *)sweeps;
    return day_plasma(context, &made->arena, &options, false, day, sweeps);
}

paritas_environment paritas_environment_of(double projection_in_sun, double temperature)
{
    if (projection_in_sun == 0.0) return PARITAS_ENVIRONMENT_WAKE;
    if (isnan(projection_in_sun) || !(temperature > 0.0)) return PARITAS_ENVIRONMENT_UNKNOWN;
    return temperature < MAGNETOSHEATH  ? PARITAS_ENVIRONMENT_SOLAR_WIND
           : temperature < LOBE         ? PARITAS_ENVIRONMENT_MAGNETOSHEATH
           : temperature < PLASMA_SHEET ? PARITAS_ENVIRONMENT_LOBE
                                        : PARITAS_ENVIRONMENT_PLASMA_SHEET;
}
