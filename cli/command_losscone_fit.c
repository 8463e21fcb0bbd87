/* command_losscone_fit.c: day files to surface potentials. */
#include "days/day_run.h"
#include "days/day_losscone.h"
#include "days/day_plasma.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define LIMIT_FRACTION 0.001 /* sweeps that may end at a limit before the exit code tells */

struct fit_plan {
    struct losscone_plan losscone;
    struct plasma_plan plasma; /* if potentials are to be found */
    const struct sources *sources;
    bool automatic;
    uint64_t sweeps, at_limit;
};

static void describe(void *user, struct writer *writer)
{
    const struct fit_plan *plan = user;
    losscone_plan_describe(&plan->losscone, writer);
    if (plan->automatic) plasma_plan_describe(&plan->plasma, plan->sources, writer);
}

static const char **status_words(struct column_list *list, const struct sweeps *sweeps,
                                 const paritas_losscone_result *results)
{
    const char **words = column_room(list, COLUMN_TEXT, sweeps->n);
    for (size_t k = 0; k < sweeps->n && words; k++) words[k] = losscone_status_word(sweeps, k, &results[k]);
    return words;
}

/* A confidence set as "LOWER UPPER;LOWER UPPER". */
static const char *set_text(struct column_list *list, const paritas_confidence *set)
{
    char text[64 * PARITAS_CONFIDENCE_INTERVALS];
    int length = 0;
    for (unsigned i = 0; i < set->intervals; i++) {
        char lower[32], upper[32];
        lower[number_write(set->lower[i], lower)] = '\0';
        upper[number_write(set->upper[i], upper)] = '\0';
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%s%s %s", i > 0 ? ";" : "", lower, upper);
    }
    const char *copy = arena_text(list->arena, text, (size_t)length);
    list->failed = list->failed || !copy;
    return copy;
}

struct model_columns {
    const unsigned char *fitted;
    const char **status;
    const double *misfit, *potential, *ratio, *amplitude;
};

static void add_sets(struct day_tables *tables, const char *suffix, size_t n, const paritas_confidence *sets,
                     const unsigned char *fitted)
{
    struct column_list *list = &tables->rows;
    const size_t width = PARITAS_CONFIDENCE_INTERVALS;
    const char **texts = column_room(list, COLUMN_TEXT, n);
    double *lower = column_room(list, COLUMN_F64, n), *upper = column_room(list, COLUMN_F64, n);
    double *all_lower = column_room(list, COLUMN_F64, n * width),
           *all_upper = column_room(list, COLUMN_F64, n * width);
    if (!texts || !lower || !upper || !all_lower || !all_upper) return;
    for (size_t k = 0; k < n; k++) {
        const unsigned intervals = fitted[k] ? sets[k].intervals : 0;
        for (unsigned i = 0; i < width; i++) {
            all_lower[k * width + i] = i < intervals ? sets[k].lower[i] : NAN;
            all_upper[k * width + i] = i < intervals ? sets[k].upper[i] : NAN;
        }
        lower[k] = all_lower[k * width];
        upper[k] = intervals > 0 ? sets[k].upper[intervals - 1] : NAN;
        texts[k] = intervals > 0 ? set_text(list, &sets[k]) : "";
    }
    const struct day_records records = {"paritas_confidence", n, sets, fitted, "confidence_"};
    column_add_records(tables, suffix, &records, "threshold", "threshold");
    column_add(list, "confidence_lower", suffix, COLUMN_F64, n, 0, lower);
    column_add(list, "confidence_upper", suffix, COLUMN_F64, n, 0, upper);
    column_add(list, "confidence_set", suffix, COLUMN_TEXT, n, 0, texts);
    column_add(&tables->arrays, "spec_confidence_lower", suffix, COLUMN_F64, n, width, all_lower);
    column_add(&tables->arrays, "spec_confidence_upper", suffix, COLUMN_F64, n, width, all_upper);
    column_add_records(tables, suffix, &records, "at_lower_bound", "at_upper_bound");
}

static struct model_columns add_model(struct day_tables *tables, const struct sweeps *sweeps,
                                      const struct losscone_answers *answers, int model, const char *suffix)
{
    struct column_list *list = &tables->rows;
    const paritas_losscone_result *results = answers->results[model];
    const size_t n = sweeps->n;
    struct model_columns columns = {.status = status_words(list, sweeps, results)};
    unsigned char *fitted = column_room(list, COLUMN_BOOL, n);
    for (size_t k = 0; k < n && fitted; k++) fitted[k] = losscone_fitted(&results[k]);
    if (!fitted) return columns;
    columns.fitted = fitted;
    column_add_both(tables, "status", suffix, COLUMN_TEXT, n, columns.status);
    const struct day_records records = {"paritas_losscone_result", n, results, fitted, NULL};
    column_add_records(tables, suffix, &records, "cells", "ratio_at_minimum");
    if (model == 0) column_add_records(tables, suffix, &records, "amplitude", "amplitude");
    column_add_records(tables, suffix, &records, "gap", "solved");
    columns.misfit = column_values(list, "misfit", suffix);
    columns.potential = column_values(list, "potential", suffix);
    columns.ratio = column_values(list, "ratio", suffix);
    columns.amplitude =
        gather_f64(list, n, results, sizeof *results, offsetof(paritas_losscone_result, amplitude), fitted);
    if (answers->sets[model]) add_sets(tables, suffix, n, answers->sets[model], fitted);
    return columns;
}

/* The model with the lesser misfit; "": there are not two. */
static const char **preferred_words(struct column_list *list, size_t n, const struct model_columns models[2])
{
    const char **words = column_room(list, COLUMN_TEXT, n);
    for (size_t k = 0; k < n && words; k++) {
        const double hard = models[0].misfit[k], folded = models[1].misfit[k];
        words[k] = isnan(hard) || isnan(folded) ? "" : losscone_model_name(!(hard <= folded));
    }
    return words;
}

static void add_beams(struct day_tables *tables, size_t n, const paritas_beam *beams)
{
    struct column_list *list = &tables->rows;
    unsigned char *found = column_room(list, COLUMN_BOOL, n);
    for (size_t k = 0; k < n && found; k++) found[k] = beams[k].found != 0;
    if (!found) return;
    const struct day_records records = {"paritas_beam", n, beams, found, "beam_"};
    column_add_records(tables, "", &records, "found", "found");
    column_add_records(tables, "", &records, "energy", "potential");
}

/* The original's fields; a sweep's rows hold equal numbers. */
static void add_original(struct day_tables *tables, const struct sweeps *sweeps,
                         const struct model_columns *model, const struct plasma_columns *plasma)
{
    struct column_list *list = &tables->arrays;
    const size_t n = sweeps->n, rows = ROWS * n;
    double *none = column_room(list, COLUMN_F64, n);
    int8_t *class = column_room(list, COLUMN_I8, n);
    if (!none || !class) return;
    for (size_t k = 0; k < n; k++) none[k] = NAN;
    const double *amplitude = model->amplitude, *temperature = plasma ? plasma->temperature : none;
    for (size_t k = 0; k < n; k++)
        class[k] = (int8_t)environment_class(sweeps->day->projection_in_sun[k], temperature[k]);
    const struct {
        const char *row, *spectrum;
        const double *values;
    } fields[] = {
        {"rows_projected_potential", "spec_u_surface", model->potential},
        {"rows_bs_over_bm", "spec_bs_over_bm", model->ratio},
        {"rows_beam_amp", NULL, amplitude},
        {"rows_fit_chi2", "spec_fit_chi2", model->misfit},
        {"rows_electron_temperature", "spec_electron_temperature", temperature},
        {"rows_electron_density", "spec_electron_density", plasma ? plasma->density : none},
        {"rows_kappa_value", "spec_kappa_value", plasma ? plasma->kappa : none},
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        column_add(list, fields[i].row, "", COLUMN_F64, rows, 0,
                   repeat(list, COLUMN_F64, n, ROWS, fields[i].values));
        if (fields[i].spectrum) column_add(list, fields[i].spectrum, "", COLUMN_F64, n, 0, fields[i].values);
    }
    column_add(list, "rows_environment_class", "", COLUMN_I8, rows, 0,
               repeat(list, COLUMN_I8, n, ROWS, class));
    column_add(list, "spec_environment_class", "", COLUMN_I8, n, 0, class);
    column_add(list, "spec_has_fit", "", COLUMN_BOOL, n, 0, model->fitted);
}

static void write_answer(struct writer *writer, const struct sweeps *sweeps, const struct losscone_plan *plan,
                         struct model_columns models[2], const char **preferred, struct arena *arena)
{
    const size_t n = sweeps->n;
    const struct model_columns *first = &models[plan->hard ? 0 : 1];
    size_t fitted = 0;
    for (size_t k = 0; k < n; k++) fitted += first->fitted[k];
    write_integer(writer, "fitted", fitted);
    write_object(writer, "medians", false);
    write_median(writer, "potential", n, first->potential, arena);
    write_median(writer, "ratio", n, first->ratio, arena);
    write_median(writer, "misfit", n, first->misfit, arena);
    if (plan->hard && plan->folded) {
        write_median(writer, "potential_folded", n, models[1].potential, arena);
        write_median(writer, "ratio_folded", n, models[1].ratio, arena);
        write_median(writer, "misfit_folded", n, models[1].misfit, arena);
    }
    write_median(writer, "spacecraft_potential", n, sweeps->day->spacecraft_potential, arena);
    write_close(writer);
    /* counting sorts: count a copy */
    const char **words = arena_array(arena, n + 1, sizeof *words);
    size_t both = 0;
    for (size_t k = 0; k < n && words; k++) words[k] = first->status[k];
    if (words) write_counts(writer, "statuses", n, words);
    for (size_t k = 0; k < n && words && preferred; k++)
        if (preferred[k][0] != '\0') words[both++] = preferred[k];
    if (words && preferred) write_counts(writer, "preferred", both, words);
}

static void write_potentials(struct writer *writer, size_t n, const paritas_potential *potentials,
                             struct arena *arena)
{
    const char **words = arena_array(arena, n + 1, sizeof *words);
    for (size_t k = 0; k < n && words; k++) words[k] = paritas_potential_status_name(potentials[k].status);
    if (words) write_counts(writer, "spacecraft_potentials", n, words);
}

static paritas_status answer(struct session *session, void *user, const struct sources *sources,
                             struct sweeps *sweeps, uint64_t first, struct arena *arena,
                             struct day_tables *tables, struct writer *writer)
{
    struct fit_plan *plan = user;
    const struct losscone_plan *losscone = &plan->losscone;
    struct plasma_answers plasma;
    struct losscone_answers answers;
    paritas_status status = PARITAS_OK;
    if (plan->automatic) status = plasma_answer(session, &plan->plasma, sources, sweeps, arena, &plasma);
    const paritas_sweeps data = sweeps_of(sweeps);
    paritas_beam *beams = arena_records(arena, sweeps->n, sizeof *beams);
    if (!beams) return paritas_fail_memory(session->context);
    /* beams are sought in all fluxes, also those outside the misfit */
    if (status == PARITAS_OK) status = paritas_losscone_beam(session->context, &data, beams);
    if (status == PARITAS_OK)
        status = paritas_losscone_mask(session->context, sweeps->n, losscone->options.method, sweeps->cosine,
                                       sweeps->day->flux, sweeps->flux);
    if (status == PARITAS_OK)
        status = losscone_answer(session->context, losscone, &data, first, arena, &answers);
    if (status != PARITAS_OK) return status;
    const bool both = losscone->hard && losscone->folded;
    struct model_columns models[2] = {{NULL, NULL, NULL, NULL, NULL, NULL},
                                      {NULL, NULL, NULL, NULL, NULL, NULL}};
    struct plasma_columns plasma_columns;
    const char **preferred = NULL;
    add_sweep_columns(tables, sweeps);
    if (plan->automatic) plasma_columns = add_plasma(tables, sweeps, &plasma);
    for (int model = 0; model < 2; model++)
        if (answers.results[model])
            models[model] = add_model(tables, sweeps, &answers, model, both && model == 1 ? "_folded" : "");
    if (tables->rows.failed || tables->arrays.failed) return paritas_fail_memory(session->context);
    if (both) {
        preferred = preferred_words(&tables->rows, sweeps->n, models);
        column_add_both(tables, "preferred", "", COLUMN_TEXT, sweeps->n, preferred);
    }
    add_beams(tables, sweeps->n, beams);
    add_original(tables, sweeps, &models[losscone->hard ? 0 : 1], plan->automatic ? &plasma_columns : NULL);
    if (tables->rows.failed || tables->arrays.failed) return paritas_fail_memory(session->context);
    write_answer(writer, sweeps, losscone, models, preferred, arena);
    if (plan->automatic) write_potentials(writer, sweeps->n, plasma.potentials, arena);
    plan->sweeps += sweeps->n;
    for (size_t k = 0; k < sweeps->n; k++)
        plan->at_limit += answers.results[losscone->hard ? 0 : 1][k].status == PARITAS_SWEEP_AT_LIMIT;
    return PARITAS_OK;
}

static int run(struct session *session)
{
    struct fit_plan plan;
    struct sources sources;
    memset(&plan, 0, sizeof plan);
    memset(&sources, 0, sizeof sources);
    paritas_status status = losscone_plan_open(session, &plan.losscone);
    if (status == PARITAS_OK) status = sources_open(session, &sources);
    plan.sources = &sources;
    plan.automatic = sources.potential == POTENTIAL_AUTO;
    if (status == PARITAS_OK && plan.automatic) status = plasma_plan_open(session, &plan.plasma);
    const struct day_run days = {.stem = "losscone", .user = &plan, .describe = describe, .answer = answer};
    if (status == PARITAS_OK) status = day_run(session, &days, &sources);
    sources_close(&sources);
    if ((double)plan.at_limit > LIMIT_FRACTION * (double)plan.sweeps) session->not_converged = true;
    return status;
}

const struct command command_losscone_fit = {
    .name = "losscone fit",
    .operands = "FILE|DIR...",
    .summary = "surface potentials of the Moon from day files of Lunar Prospector's Electron Reflectometer",
    .description = "Writes a table a day, losscone_YYYY-MM-DD, as text (.csv) and as NumPy arrays (.npz). "
                   "Folders are searched for 3DYYMMDD.TAB; files are taken as they are. Days whose tables "
                   "stand there, made by the same options from the same files, are not fitted again. "
                   "A day that cannot be read costs itself, and the exit code is 3. Sweeps without an answer "
                   "are counted by reason. The exit code is 1 where more than one "
                   "sweep of 1000 ended at a limit of boxes or generations.",
    .groups = {GROUP_DAYS, GROUP_LOSSCONE, GROUP_CONFIDENCE, GROUP_SOURCES, GROUP_PLASMA, GROUP_FIT_ENGINE,
               GROUP_TABLES, GROUP_END},
    .run = run,
    .days = true,
};
