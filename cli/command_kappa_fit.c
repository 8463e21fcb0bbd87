/* command_kappa_fit.c: day files to tables of the plasma. */
#include "days/day_run.h"
#include "days/day_plasma.h"

#include <string.h>

struct kappa_plan {
    struct plasma_plan plasma;
    const struct sources *sources;
};

static void describe(void *user, struct writer *writer)
{
    const struct kappa_plan *plan = user;
    plasma_plan_describe(&plan->plasma, plan->sources, writer);
}

static paritas_status count_statuses(struct session *session, const struct sweeps *sweeps,
                                     const struct plasma_columns *columns, struct arena *arena,
                                     struct writer *writer)
{
    const char **words = arena_array(arena, sweeps->n + 1, sizeof *words);
    if (!words) return paritas_fail_memory(session->context);
    for (size_t k = 0; k < sweeps->n; k++) {
        const uint8_t reason = sweeps->day->sweep_reason[k];
        words[k] = reason != PARITAS_ER_KEPT ? paritas_er_reason_name((paritas_er_reason)reason)
                                             : columns->status[k];
    }
    write_counts(writer, "statuses", sweeps->n, words);
    return PARITAS_OK;
}

static paritas_status answer(struct session *session, void *user, const struct sources *sources,
                             struct sweeps *sweeps, uint64_t first, struct arena *arena,
                             struct day_tables *tables, struct writer *writer)
{
    (void)first; /* draws nothing */
    const struct kappa_plan *plan = user;
    struct plasma_answers answers;
    const size_t n = sweeps->n;
    const paritas_status status = plasma_answer(session, &plan->plasma, sources, sweeps, arena, &answers);
    if (status != PARITAS_OK) return status;
    add_sweep_columns(tables, sweeps);
    const struct plasma_columns columns = add_plasma(tables, sweeps, &answers);
    if (tables->rows.failed || tables->arrays.failed) return paritas_fail_memory(session->context);
    size_t fitted = 0;
    for (size_t k = 0; k < n; k++) fitted += columns.fitted[k];
    write_integer(writer, "fitted", fitted);
    write_object(writer, "medians", false);
    write_median(writer, "density", n, columns.density, arena);
    write_median(writer, "kappa", n, columns.kappa, arena);
    write_median(writer, "theta", n, columns.theta, arena);
    write_median(writer, "temperature", n, columns.temperature, arena);
    write_median(writer, "misfit", n, columns.misfit, arena);
    write_median(writer, "spacecraft_potential", n, sweeps->day->spacecraft_potential, arena);
    write_close(writer);
    return count_statuses(session, sweeps, &columns, arena, writer);
}

static int run(struct session *session)
{
    struct sources sources;
    struct kappa_plan plan = {.sources = &sources};
    memset(&sources, 0, sizeof sources);
    paritas_status status = plasma_plan_open(session, &plan.plasma);
    if (status == PARITAS_OK) status = sources_open(session, &sources);
    const struct day_run days = {.stem = "kappa", .user = &plan, .describe = describe, .answer = answer};
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
    .groups = {GROUP_DAYS, GROUP_PLASMA, GROUP_SOURCES, GROUP_FIT_ENGINE, GROUP_TABLES, GROUP_END},
    .run = run,
    .days = true,
};
