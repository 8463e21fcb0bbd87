/* day_plasma.c: options and columns of the plasma. */
#include "days/day_plasma.h"

#define ROWS PARITAS_SWEEP_ROWS

const struct option options_plasma[] = {
    LIBRARY_ROWS(PARITAS_KAPPA_OPTIONS, paritas_kappa_options),
    LIBRARY_ROWS(PARITAS_POTENTIAL_OPTIONS, paritas_potential_options),
    {"--shift", OPTION_CHOICE, "liouville|energies",
     "shifting a spectrum in energy also scales its fluxes by Liouville's theorem, or leaves them",
     "liouville"},
    {"--illumination", OPTION_CHOICE, "sun|shade",
     "illumination of the spacecraft, if the geometry does not tell", "sun"},
    {0},
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

void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer)
{
    write_string(writer, "weights", paritas_kappa_weights_name(plan->kappa.weights));
    write_string(writer, "density", paritas_kappa_density_name(plan->kappa.density));
    options_write(writer, "paritas_kappa_options", &plan->kappa, (const char *const[]){NULL});
    write_string(writer, "shift", plan->potential.liouville ? "liouville" : "energies");
    if (!sources_find_potentials(sources)) return;
    write_string(writer, "currents", paritas_currents_name(plan->potential.currents));
    write_integer(writer, "refits", plan->potential.refits);
    write_string(writer, "illumination", plan->sunlit ? "sun" : "shade");
}

void plasma_plan_take(const struct plasma_plan *plan, paritas_day_options *options)
{
    options->kappa = &plan->kappa;
    options->charging = &plan->potential;
    options->sunlit = plan->sunlit;
}

void write_potentials(struct day_work *work)
{
    const size_t n = work->sweeps->n;
    const paritas_potential *potentials = work->sweeps->made->potentials;
    const char **words = arena_elements(work->session, n, sizeof *words);
    for (size_t k = 0; k < n && words; k++) words[k] = paritas_potential_status_name(potentials[k].status);
    if (words) write_counts(work, "spacecraft_potentials", n, words);
}

static void add_potentials(struct day_work *work, const paritas_potential *potentials)
{
    unsigned char *found = arena_elements(work->session, work->sweeps->n, 1);
    for (size_t k = 0; k < work->sweeps->n && found; k++)
        found[k] = potentials[k].status == PARITAS_POTENTIAL_FOUND;
    const struct day_records records = {"paritas_potential", potentials, found, NULL};
    if (found) column_add_records(work, "", &records, "spacecraft_potential_status", "plasma_temperature");
}

struct plasma_columns add_plasma(struct day_work *work)
{
    const paritas_day_sweeps *answers = work->sweeps->made;
    const size_t n = work->sweeps->n;
    unsigned char *fitted = arena_elements(work->session, n, 1);
    struct plasma_columns columns = {.fitted = fitted,
                                     .status = arena_elements(work->session, n, sizeof *columns.status)};
    if (!fitted || !columns.status) return columns;
    for (size_t k = 0; k < n; k++) {
        fitted[k] = answers->plasma[k].status == PARITAS_SPECTRUM_FITTED;
        columns.status[k] = paritas_spectrum_status_name(answers->plasma[k].status);
    }
    column_add_both(work, "plasma_status", "", COLUMN_TEXT, columns.status);
    column_add_both(work, "sunlit", "", COLUMN_BOOL, answers->sunlit);
    const struct day_records records = {"paritas_kappa_result", answers->plasma, fitted, NULL};
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
