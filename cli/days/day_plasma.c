/* day_plasma.c: fits of the plasma to a day's sweeps. */
#include "days/day_plasma.h"
#include "days/day_settings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS

const struct option options_plasma[] = {
    LIBRARY_ROWS(PARITAS_KAPPA_OPTIONS, paritas_kappa_options),
    LIBRARY_ROWS(PARITAS_POTENTIAL_OPTIONS, paritas_potential_options),
    {"--shift", OPTION_CHOICE, "liouville|energies",
     "fluxes of shifted spectra as the density in phase space asks, or energies alone are shifted",
     "liouville"},
    {"--illumination", OPTION_CHOICE, "sun|shade", "of the spacecraft, where the geometry does not tell",
     "sun"},
    {0},
};

#define FIELD(name) offsetof(paritas_kappa_options, name)
static const struct setting settings[] = {
    {"--kappa-lower", FIELD(kappa_lower)},
    {"--kappa-upper", FIELD(kappa_upper)},
    {"--speed-lower", FIELD(theta_lower)},
    {"--speed-upper", FIELD(theta_upper)},
    {"--channel-width", FIELD(response)},
    {"--systematic", FIELD(systematic)},
    {"--dead", FIELD(dead)},
};

paritas_status plasma_plan_open(struct session *session, struct plasma_plan *plan)
{
    const paritas_kappa_options kappa = PARITAS_KAPPA_OPTIONS_DEFAULT;
    const paritas_potential_options potential = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    *plan = (struct plasma_plan){kappa, potential, option_value(session, "--illumination")->choice == 0};
    plan->potential.liouville = option_value(session, "--shift")->choice == 0;
    TRY(options_take(session, "paritas_kappa_options", &plan->kappa));
    TRY(options_take(session, "paritas_potential_options", &plan->potential));
    if (plan->potential.refits > 100)
        return usage_failure(session, "--refits takes a whole number up to 100");
    return PARITAS_OK;
}

static bool illumination_known(const struct session *session, const struct sources *sources)
{
    const paritas_er_geometry *table = sources->tables[SOURCES_GEOMETRY];
    return option_given(session, "--illumination") || sources->spice || sources->n_mags > 0 ||
           (table && paritas_er_geometry_has(table, "spacecraft_in_sun"));
}

void plasma_note_illumination(struct session *session, const struct sources *sources)
{
    if (sources->potential == POTENTIAL_AUTO && !illumination_known(session, sources))
        paritas_note(session->context,
                     "the illumination of the spacecraft is not known and taken as sunlight "
                     "(--illumination, --geometry, --mag); shade moves U by tens of volts");
}

void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer)
{
    write_string(writer, "weights", paritas_kappa_weights_name(plan->kappa.weights));
    write_string(writer, "density", paritas_kappa_density_name(plan->kappa.density));
    settings_write(writer, COUNT_OF(settings), settings, &plan->kappa, 0);
    write_string(writer, "shift", plan->potential.liouville ? "liouville" : "energies");
    if (sources->potential != POTENTIAL_AUTO) return;
    write_string(writer, "currents", paritas_currents_name(plan->potential.currents));
    write_integer(writer, "refits", plan->potential.refits);
    write_string(writer, "illumination", plan->sunlit ? "sun" : "shade");
}

/* Subtracts the spacecraft's potential from energies. Fluxes follow Liouville's theorem, if asked for. */
static void shift(const struct plasma_plan *plan, const struct sweeps *sweeps, double *energy, double *omni)
{
    for (size_t i = 0; i < ROWS * sweeps->n; i++) {
        energy[i] = sweeps->day->energy[i] - sweeps->potential[i];
        if (plan->potential.liouville) omni[i] *= energy[i] / sweeps->day->energy[i];
    }
}

paritas_status plasma_answer(struct session *session, const struct plasma_plan *plan,
                             const struct sources *sources, struct sweeps *sweeps,
                             struct plasma_answers *answers)
{
    paritas_context *context = session->context;
    const paritas_er_day *day = sweeps->day;
    const size_t n = sweeps->n;
    const bool automatic = sources->potential == POTENTIAL_AUTO;
    double *energy = numbers(session, ROWS * n), *omni = numbers(session, ROWS * n),
           *sensitivity = numbers(session, ROWS * n), *counts = numbers(session, ROWS * n);
    *answers = (struct plasma_answers){
        .coverage = numbers(session, ROWS * n),
        .fits = sized_records(session, n, sizeof *answers->fits),
        .sunlit = elements(session, n, 1),
        .potentials = automatic ? sized_records(session, n, sizeof *answers->potentials) : NULL};
    TRY(allocated(session));
    if (n == 0) return PARITAS_OK;
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    cells.theta = sources->theta;
    TRY(paritas_kappa_spectrum(context, &(paritas_spectrum_request){.size = sizeof(paritas_spectrum_request),
                                                                    .cells = &cells,
                                                                    .n = n,
                                                                    .energy = day->energy,
                                                                    .flux = day->flux,
                                                                    .cosine = sweeps->cosine,
                                                                    .omni = omni,
                                                                    .coverage = answers->coverage,
                                                                    .sensitivity = sensitivity,
                                                                    .counts = counts}));
    memcpy(energy, day->energy, ROWS * n * sizeof *energy);
    if (!automatic) shift(plan, sweeps, energy, omni);
    const paritas_spectra spectra = {.size = sizeof spectra,
                                     .n = n,
                                     .energy = energy,
                                     .flux = omni,
                                     .sensitivity = sensitivity,
                                     .counts = counts};
    for (size_t k = 0; k < n; k++)
        answers->sunlit[k] =
            isnan(day->spacecraft_in_sun[k]) ? plan->sunlit : day->spacecraft_in_sun[k] == 1.0;
    if (!automatic) return paritas_kappa_fit(context, &spectra, &plan->kappa, answers->fits);
    TRY(paritas_spacecraft_potential_of_spectra(context, &spectra, answers->sunlit, &plan->kappa,
                                                &plan->potential, answers->fits, answers->potentials));
    for (size_t k = 0; k < n; k++) {
        const paritas_potential *found = &answers->potentials[k];
        sweeps_set_potential(sweeps, k, found->status == PARITAS_POTENTIAL_FOUND ? found->potential : NAN);
    }
    return PARITAS_OK;
}

int environment_class(double projection_in_sun, double temperature)
{
    if (projection_in_sun == 0.0) return 5;
    if (isnan(projection_in_sun) || !(temperature > 0.0)) return 0;
    return temperature < 30.0 ? 1 : temperature < 80.0 ? 2 : temperature < 150.0 ? 3 : 4;
}

static void add_potentials(struct day_work *work, const paritas_potential *potentials)
{
    unsigned char *found = elements(work->session, work->sweeps->n, 1);
    for (size_t k = 0; k < work->sweeps->n && found; k++)
        found[k] = potentials[k].status == PARITAS_POTENTIAL_FOUND;
    const struct day_records records = {"paritas_potential", potentials, found, NULL};
    if (found) column_add_records(work, "", &records, "spacecraft_potential_status", "plasma_temperature");
}

struct plasma_columns add_plasma(struct day_work *work, const struct plasma_answers *answers)
{
    const size_t n = work->sweeps->n;
    unsigned char *fitted = elements(work->session, n, 1);
    struct plasma_columns columns = {.fitted = fitted,
                                     .status = elements(work->session, n, sizeof *columns.status)};
    if (!fitted || !columns.status) return columns;
    for (size_t k = 0; k < n; k++) {
        fitted[k] = answers->fits[k].status == PARITAS_SPECTRUM_FITTED;
        columns.status[k] = paritas_spectrum_status_name(answers->fits[k].status);
    }
    column_add_both(work, "plasma_status", "", COLUMN_TEXT, columns.status);
    column_add_both(work, "sunlit", "", COLUMN_BOOL, answers->sunlit);
    const struct day_records records = {"paritas_kappa_result", answers->fits, fitted, NULL};
    column_add_records(work, "", &records, "density", "plasma_empty_rows");
    columns.density = column_values(&work->rows, "density", "");
    columns.kappa = column_values(&work->rows, "kappa", "");
    columns.theta = column_values(&work->rows, "theta", "");
    columns.temperature = column_values(&work->rows, "temperature", "");
    columns.misfit = column_values(&work->rows, "plasma_misfit", "");
    column_add(&work->arrays, "rows_coverage", "", COLUMN_F64, ROWS * n, 0, answers->coverage);
    if (answers->potentials) add_potentials(work, answers->potentials);
    return columns;
}
