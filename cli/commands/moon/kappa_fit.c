/* kappa_fit.c: day files to tables of the plasma. */
#include "days/day_run.h"
#include "days/day_losscone.h"
#include "days/day_plasma.h"

struct kappa_plan {
    struct plasma_plan plasma;
    const struct sources *sources;
};

static void describe(void *user, struct writer *writer)
{
    const struct kappa_plan *plan = user;
    plasma_plan_describe(&plan->plasma, plan->sources, writer);
    background_describe(&plan->sources->options, writer);
}

static paritas_status answer(void *user, struct day_work *work)
{
    const struct kappa_plan *plan = user;
    const struct sweeps *sweeps = work->sweeps;
    const size_t n = sweeps->n;
    TRY(paritas_day_plasma(work->session->context, &plan->sources->options, sweeps->day, sweeps->made));
    add_sweep_columns(work);
    const struct plasma_columns columns = add_plasma(work);
    column_add_both(work, "background_rate", "", COLUMN_F64, sweeps->made->rate);
    const char **words = arena_elements(work->session, n, sizeof *words);
    TRY(allocated(work->session));
    size_t fitted = 0;
    for (size_t k = 0; k < n; k++) {
        const paritas_er_reason reason = (paritas_er_reason)sweeps->day->sweep_reason[k];
        fitted += columns.fitted[k];
        words[k] = reason != PARITAS_ER_KEPT ? paritas_er_reason_name(reason) : columns.status[k];
    }
    write_integer(work->writer, "fitted", fitted);
    write_object(work->writer, "medians", false);
    write_median(work, "density", columns.density, NULL);
    write_median(work, "kappa", columns.kappa, NULL);
    write_median(work, "theta", columns.theta, NULL);
    write_median(work, "temperature", columns.temperature, NULL);
    write_median(work, "misfit", columns.misfit, NULL);
    write_median(work, "spacecraft_potential", sweeps->day->spacecraft_potential, NULL);
    write_close(work->writer);
    write_counts(work, "statuses", n, words);
    if (sweeps->made->potentials) write_potentials(work);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    struct sources sources = {.spice = NULL};
    struct kappa_plan plan = {.sources = &sources};
    const struct day_run days = {.stem = "kappa", .user = &plan, .describe = describe, .answer = answer};
    TRY(plasma_plan_open(session, &plan.plasma));
    paritas_status status = sources_open(session, &sources);
    plasma_plan_take(&plan.plasma, &sources.options);
    background_take(session, &sources.options);
    if (status == PARITAS_OK) status = day_run(session, &days, &sources);
    sources_close(&sources);
    return status;
}

const struct command command_kappa_fit = {
    .name = "kappa fit",
    .operands = "FILE|DIR...",
    .summary = "plasma parameters and spacecraft potentials from the same day files",
    .description = "Fits a kappa distribution to the incident electrons of every sweep, and finds the "
                   "potential at which the spacecraft's currents balance. Writes a table a day, "
                   "kappa_YYYY-MM-DD, as text (.csv) and as NumPy arrays (.npz), as `losscone fit` does.",
    .groups = {GROUP_DAYS, GROUP_PLASMA, GROUP_BACKGROUND, GROUP_SOURCES, GROUP_FIT_ENGINE, GROUP_TABLES},
    .run = run,
    .days = true,
};
