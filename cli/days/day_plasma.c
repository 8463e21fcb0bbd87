/* day_plasma.c: see plasma.h. */
#include "days/day_plasma.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROWS PARITAS_ER_ROWS

const struct option options_plasma[] = {
    {"--weights", 0, OPTION_CHOICE, "counts|original|none",
     "of kappa fits: likelihood of counts, or weighted logarithms for comparison; default: counts"},
    {"--density", 0, OPTION_CHOICE, "fitted|estimate",
     "fitted with the others, or held at the sum over the spectrum; default: fitted"},
    {"--kappa-lower", 0, OPTION_NUMBER, "K", "bound of kappa; default: 2.5"},
    {"--kappa-upper", 0, OPTION_NUMBER, "K", "default: 6"},
    {"--speed-lower", 0, OPTION_NUMBER, "M/S", "bound of the thermal speed theta; default: 1e6"},
    {"--speed-upper", 0, OPTION_NUMBER, "M/S", "default: 1e8"},
    {"--channel-width", 0, OPTION_NUMBER, "W",
     "relative width of the energy channels, with which the distribution is folded; 0: none; default: 0.5"},
    {"--systematic", 0, OPTION_NUMBER, "S",
     "relative error of each row in addition to its counting error; default: 0.1118"},
    {"--dead", 0, OPTION_NUMBER, "P",
     "probability that a row without a count did not measure; default: 0.05"},
    {"--currents", 0, OPTION_CHOICE, "converged|sums",
     "integrals in shade: to rounding, or sums over 500 energies for comparison; default: converged"},
    {"--refits", 0, OPTION_WHOLE, "N",
     "in sunlight: fits, at most, with energies less the potential that the fit before gave; default: 20"},
    {"--shift", 0, OPTION_CHOICE, "liouville|energies",
     "fluxes of shifted spectra as the density in phase space asks, or energies alone are shifted; default: "
     "liouville"},
    {"--illumination", 0, OPTION_CHOICE, "sun|shade",
     "of the spacecraft, where the geometry does not tell; default: sun"},
    {0},
};

paritas_status plasma_plan_open(struct session *session, struct plasma_plan *plan)
{
    const struct arguments *arguments = session->arguments;
    const paritas_kappa_options kappa = PARITAS_KAPPA_OPTIONS_DEFAULT;
    const paritas_potential_options potential = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    const char *weights = option_text(arguments, "--weights", "counts");
    *plan = (struct plasma_plan){kappa, potential,
                                 strcmp(option_text(arguments, "--illumination", "sun"), "sun") == 0};
    plan->kappa.weights = strcmp(weights, "original") == 0 ? PARITAS_WEIGHTS_ORIGINAL
                          : strcmp(weights, "none") == 0   ? PARITAS_WEIGHTS_NONE
                                                           : PARITAS_WEIGHTS_COUNTS;
    plan->kappa.density = strcmp(option_text(arguments, "--density", "fitted"), "estimate") == 0
                              ? PARITAS_DENSITY_ESTIMATE
                              : PARITAS_DENSITY_FITTED;
    plan->kappa.kappa_lower = option_number(arguments, "--kappa-lower", kappa.kappa_lower);
    plan->kappa.kappa_upper = option_number(arguments, "--kappa-upper", kappa.kappa_upper);
    plan->kappa.theta_lower = option_number(arguments, "--speed-lower", kappa.theta_lower);
    plan->kappa.theta_upper = option_number(arguments, "--speed-upper", kappa.theta_upper);
    plan->kappa.response = option_number(arguments, "--channel-width", kappa.response);
    plan->kappa.systematic = option_number(arguments, "--systematic", kappa.systematic);
    plan->kappa.dead = option_number(arguments, "--dead", kappa.dead);
    plan->potential.currents = strcmp(option_text(arguments, "--currents", "converged"), "sums") == 0
                                   ? PARITAS_CURRENTS_SUMS
                                   : PARITAS_CURRENTS_CONVERGED;
    plan->potential.liouville = strcmp(option_text(arguments, "--shift", "liouville"), "liouville") == 0;
    const uint64_t refits = option_whole(arguments, "--refits", potential.refits);
    if (refits > 100) return usage_failure(session, "--refits takes a whole number up to 100");
    plan->potential.refits = (unsigned)refits;
    return PARITAS_OK;
}

void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer)
{
    write_string(writer, "weights", paritas_kappa_weights_name(plan->kappa.weights));
    write_string(writer, "density", paritas_kappa_density_name(plan->kappa.density));
    write_number(writer, "kappa_lower", plan->kappa.kappa_lower);
    write_number(writer, "kappa_upper", plan->kappa.kappa_upper);
    write_number(writer, "speed_lower", plan->kappa.theta_lower);
    write_number(writer, "speed_upper", plan->kappa.theta_upper);
    write_number(writer, "channel_width", plan->kappa.response);
    write_number(writer, "systematic", plan->kappa.systematic);
    write_number(writer, "dead", plan->kappa.dead);
    write_string(writer, "shift", plan->potential.liouville ? "liouville" : "energies");
    if (sources->potential != POTENTIAL_AUTO) return;
    write_string(writer, "currents", paritas_currents_name(plan->potential.currents));
    write_integer(writer, "refits", plan->potential.refits);
    write_string(writer, "illumination", plan->sunlit ? "sun" : "shade");
}

/* Energies less the spacecraft's potential; fluxes as Liouville's theorem asks, where that is wanted. */
static void shift(const struct plasma_plan *plan, const struct sweeps *sweeps, double *energy, double *omni)
{
    for (size_t i = 0; i < ROWS * sweeps->n; i++) {
        energy[i] = sweeps->day->energy[i] - sweeps->potential[i];
        if (plan->potential.liouville) omni[i] *= energy[i] / sweeps->day->energy[i];
    }
}

paritas_status plasma_answer(struct session *session, const struct plasma_plan *plan,
                             const struct sources *sources, struct sweeps *sweeps, struct arena *arena,
                             struct plasma_answers *answers)
{
    paritas_context *context = session->context;
    const paritas_er_day *day = sweeps->day;
    const size_t n = sweeps->n;
    const bool automatic = sources->potential == POTENTIAL_AUTO;
    double *energy = arena_array(arena, ROWS * n + 1, sizeof(double)),
           *omni = arena_array(arena, ROWS * n + 1, sizeof(double)),
           *sensitivity = arena_array(arena, ROWS * n + 1, sizeof(double));
    double *counts = arena_array(arena, ROWS * n + 1, sizeof(double));
    memset(answers, 0, sizeof *answers);
    answers->coverage = arena_array(arena, ROWS * n + 1, sizeof(double));
    answers->fits = arena_array(arena, n + 1, sizeof *answers->fits);
    answers->sunlit = arena_array(arena, n + 1, 1);
    if (automatic) answers->potentials = arena_array(arena, n + 1, sizeof *answers->potentials);
    if (energy == NULL || omni == NULL || sensitivity == NULL || counts == NULL ||
        answers->coverage == NULL || answers->fits == NULL || answers->sunlit == NULL ||
        (automatic && answers->potentials == NULL))
        return paritas_fail_memory(context);
    if (n == 0) return PARITAS_OK;
    paritas_cells cells = PARITAS_CELLS_DEFAULT;
    cells.theta = sources->theta;
    paritas_status status = paritas_kappa_spectrum(context, &cells, n, day->energy, day->flux, sweeps->cosine,
                                                   omni, answers->coverage, sensitivity, counts, NULL);
    if (status != PARITAS_OK) return status;
    memcpy(energy, day->energy, ROWS * n * sizeof *energy);
    if (!automatic) shift(plan, sweeps, energy, omni);
    const paritas_spectra spectra = {
        .n = n, .energy = energy, .flux = omni, .sensitivity = sensitivity, .counts = counts};
    for (size_t k = 0; k < n; k++)
        answers->sunlit[k] =
            isnan(day->spacecraft_in_sun[k]) ? plan->sunlit : day->spacecraft_in_sun[k] == 1.0;
    if (!automatic) return paritas_kappa_fit(context, &spectra, &plan->kappa, answers->fits);
    status = paritas_spacecraft_potential_of_spectra(context, &spectra, answers->sunlit, &plan->kappa,
                                                     &plan->potential, answers->fits, answers->potentials);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        const paritas_potential *found = &answers->potentials[k];
        sweeps->day->spacecraft_potential[k] =
            found->status == PARITAS_POTENTIAL_FOUND ? found->potential : NAN;
        for (size_t i = ROWS * k; i < ROWS * (k + 1); i++)
            sweeps->potential[i] = sweeps->day->spacecraft_potential[k];
    }
    return status;
}

/* ---- columns ---- */

int environment_class(double projection_in_sun, double temperature)
{
    if (projection_in_sun == 0.0) return 5;
    if (isnan(projection_in_sun) || !(temperature > 0.0)) return 0;
    return temperature < 30.0 ? 1 : temperature < 80.0 ? 2 : temperature < 150.0 ? 3 : 4;
}

static const double *add_fit(struct day_tables *tables, const char *name, size_t n,
                             const struct plasma_answers *answers, size_t offset, const unsigned char *fitted)
{
    const double *values = gather_f64(&tables->rows, n, answers->fits, sizeof *answers->fits, offset, fitted);
    column_add_both(tables, name, "", COLUMN_F64, n, values);
    return values;
}

static void add_state(struct day_tables *tables, const char *name, size_t n,
                      const struct plasma_answers *answers, size_t offset, const unsigned char *fitted)
{
    const char **words = column_room(&tables->rows, COLUMN_TEXT, n);
    for (size_t k = 0; k < n && words != NULL; k++) {
        paritas_parameter_state state;
        memcpy(&state, (const char *)&answers->fits[k] + offset, sizeof state);
        words[k] = fitted[k] ? paritas_parameter_state_name(state) : "";
    }
    column_add_both(tables, name, "", COLUMN_TEXT, n, words);
}

static void add_potentials(struct day_tables *tables, size_t n, const paritas_potential *potentials)
{
    struct column_list *list = &tables->rows;
    const char **words = column_room(list, COLUMN_TEXT, n);
    unsigned char *found = column_room(list, COLUMN_BOOL, n);
    if (words == NULL || found == NULL) return;
    for (size_t k = 0; k < n; k++) {
        words[k] = paritas_potential_status_name(potentials[k].status);
        found[k] = potentials[k].status == PARITAS_POTENTIAL_FOUND;
    }
    column_add_both(tables, "spacecraft_potential_status", "", COLUMN_TEXT, n, words);
    column_add_both(
        tables, "spacecraft_potential_error", "", COLUMN_F64, n,
        gather_f64(list, n, potentials, sizeof *potentials, offsetof(paritas_potential, error), found));
    column_add_both(
        tables, "spacecraft_potential_shift", "", COLUMN_F64, n,
        gather_f64(list, n, potentials, sizeof *potentials, offsetof(paritas_potential, shift), found));
    column_add_both(
        tables, "spacecraft_potential_second", "", COLUMN_F64, n,
        gather_f64(list, n, potentials, sizeof *potentials, offsetof(paritas_potential, second), found));
    column_add_both(
        tables, "plasma_temperature", "", COLUMN_F64, n,
        gather_f64(list, n, potentials, sizeof *potentials, offsetof(paritas_potential, temperature), found));
}

struct plasma_columns add_plasma(struct day_tables *tables, const struct sweeps *sweeps,
                                 const struct plasma_answers *answers)
{
    struct column_list *list = &tables->rows;
    const size_t n = sweeps->n;
    struct plasma_columns columns = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    unsigned char *fitted = column_room(list, COLUMN_BOOL, n);
    columns.status = column_room(list, COLUMN_TEXT, n);
    if (fitted == NULL || columns.status == NULL) return columns;
    for (size_t k = 0; k < n; k++) {
        fitted[k] = answers->fits[k].status == PARITAS_SPECTRUM_FITTED;
        columns.status[k] = paritas_spectrum_status_name(answers->fits[k].status);
    }
    columns.fitted = fitted;
    column_add_both(tables, "plasma_status", "", COLUMN_TEXT, n, columns.status);
    column_add_both(tables, "sunlit", "", COLUMN_BOOL, n, answers->sunlit);
    columns.density =
        add_fit(tables, "density", n, answers, offsetof(paritas_kappa_result, plasma.density), fitted);
    add_fit(tables, "density_error", n, answers, offsetof(paritas_kappa_result, density_error), fitted);
    columns.kappa =
        add_fit(tables, "kappa", n, answers, offsetof(paritas_kappa_result, plasma.kappa), fitted);
    add_fit(tables, "kappa_error", n, answers, offsetof(paritas_kappa_result, kappa_error), fitted);
    add_state(tables, "kappa_state", n, answers, offsetof(paritas_kappa_result, kappa_state), fitted);
    columns.theta =
        add_fit(tables, "theta", n, answers, offsetof(paritas_kappa_result, plasma.theta), fitted);
    add_fit(tables, "theta_error", n, answers, offsetof(paritas_kappa_result, theta_error), fitted);
    add_state(tables, "theta_state", n, answers, offsetof(paritas_kappa_result, theta_state), fitted);
    columns.temperature =
        add_fit(tables, "temperature", n, answers, offsetof(paritas_kappa_result, temperature), fitted);
    add_fit(tables, "temperature_error", n, answers, offsetof(paritas_kappa_result, temperature_error),
            fitted);
    columns.misfit =
        add_fit(tables, "plasma_misfit", n, answers, offsetof(paritas_kappa_result, misfit), fitted);
    column_add_both(
        tables, "plasma_rows", "", COLUMN_U32, n,
        gather_u32(list, n, answers->fits, sizeof *answers->fits, offsetof(paritas_kappa_result, rows)));
    column_add_both(tables, "plasma_empty_rows", "", COLUMN_U32, n,
                    gather_u32(list, n, answers->fits, sizeof *answers->fits,
                               offsetof(paritas_kappa_result, empty_rows)));
    column_add(&tables->arrays, "rows_coverage", "", COLUMN_F64, ROWS * n, 0, answers->coverage);
    if (answers->potentials != NULL) add_potentials(tables, n, answers->potentials);
    return columns;
}
