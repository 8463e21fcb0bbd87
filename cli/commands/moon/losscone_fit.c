/* losscone_fit.c: day files to surface potentials. */
#include "days/day_losscone.h"
#include "days/day_plasma.h"
#include "days/day_run.h"
#include "commands/workspaces/sorting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define LIMIT_FRACTION 0.001 /* sweeps that may end at a limit before the exit code tells */
#define DOUBTS_LEAST 5       /* fewer sweeps tell nothing of a day */
#define LEVEL_FACTOR 1.25    /* of cones whose level is right: noise and the width of channels allow 1.1 */
#define EXCESS_MOST 2.5      /* of a response that is right: 1.3 with noise */

struct fit_plan {
    struct losscone_plan losscone;
    struct plasma_plan plasma; /* of potentials that are to be found, or tried */
    const struct sources *sources;
    bool automatic;
    uint64_t sweeps, at_limit;
};

static void describe(void *user, struct writer *writer)
{
    const struct fit_plan *plan = user;
    losscone_plan_describe(&plan->losscone, &plan->sources->options, writer);
    if (plan->automatic) plasma_plan_describe(&plan->plasma, plan->sources, writer);
}

/* A confidence set as "LOWER UPPER;LOWER UPPER". */
static const char *set_text(struct session *session, const paritas_confidence *set)
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
    return arena_copied(session, text, (size_t)length);
}

struct model_columns {
    unsigned char *fitted;
    const char **status;
    const double *misfit, *potential, *ratio;
    double *amplitude;
};

static paritas_status add_sets(struct day_work *work, const char *suffix, const paritas_confidence *sets,
                               const unsigned char *fitted)
{
    struct session *session = work->session;
    const size_t n = work->sweeps->n, width = PARITAS_CONFIDENCE_INTERVALS;
    const char **texts = arena_elements(session, n, sizeof *texts);
    double *lower = arena_numbers(session, n), *upper = arena_numbers(session, n),
           *all_lower = arena_numbers(session, n * width), *all_upper = arena_numbers(session, n * width);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        const unsigned intervals = fitted[k] ? sets[k].intervals : 0;
        for (unsigned i = 0; i < width; i++) {
            all_lower[k * width + i] = i < intervals ? sets[k].lower[i] : NAN;
            all_upper[k * width + i] = i < intervals ? sets[k].upper[i] : NAN;
        }
        lower[k] = all_lower[k * width];
        upper[k] = intervals > 0 ? sets[k].upper[intervals - 1] : NAN;
        texts[k] = intervals > 0 ? set_text(session, &sets[k]) : "";
    }
    const struct day_records records = {"paritas_confidence", sets, fitted, "confidence_"};
    column_add_records(work, suffix, &records, "threshold", "threshold");
    column_add(&work->rows, "confidence_lower", suffix, COLUMN_F64, n, 0, lower);
    column_add(&work->rows, "confidence_upper", suffix, COLUMN_F64, n, 0, upper);
    column_add(&work->rows, "confidence_set", suffix, COLUMN_TEXT, n, 0, texts);
    column_add(&work->arrays, "spec_confidence_lower", suffix, COLUMN_F64, n, width, all_lower);
    column_add(&work->arrays, "spec_confidence_upper", suffix, COLUMN_F64, n, width, all_upper);
    column_add_records(work, suffix, &records, "at_lower_bound", "at_upper_bound");
    return allocated(session);
}

/* other: of the other model; NULL: there is none. */
static paritas_status add_quality(struct day_work *work, const paritas_losscone_result *results,
                                  const paritas_losscone_result *other, const char *suffix)
{
    const size_t n = work->sweeps->n;
    const char **words = arena_elements(work->session, n, sizeof *words);
    TRY(allocated(work->session));
    for (size_t k = 0; k < n; k++) {
        char text[PARITAS_QUALITY_TEXT];
        paritas_quality_words(paritas_quality_flags(&results[k], other ? &other[k] : NULL), text);
        words[k] = arena_copied(work->session, text, strlen(text));
    }
    column_add_both(work, "quality", suffix, COLUMN_TEXT, words);
    return allocated(work->session);
}

static paritas_status add_model(struct day_work *work, const struct losscone_answers *answers, int model,
                                const char *suffix, struct model_columns *columns)
{
    struct session *session = work->session;
    const paritas_losscone_result *results = answers->results[model];
    const size_t n = work->sweeps->n;
    *columns = (struct model_columns){.fitted = arena_elements(session, n, 1),
                                      .status = arena_elements(session, n, sizeof *columns->status),
                                      .amplitude = arena_numbers(session, n)};
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        columns->fitted[k] = paritas_losscone_fitted(&results[k]) != 0;
        columns->status[k] = paritas_day_status(work->sweeps->day, k, &results[k]);
        columns->amplitude[k] = columns->fitted[k] ? results[k].amplitude : NAN;
    }
    column_add_both(work, "status", suffix, COLUMN_TEXT, columns->status);
    const struct day_records records = {"paritas_losscone_result", results, columns->fitted, NULL};
    column_add_records(work, suffix, &records, "cells", "ratio_at_minimum");
    if (model == 0) column_add_records(work, suffix, &records, "amplitude", "amplitude");
    column_add_records(work, suffix, &records, "gap", "excess");
    TRY(add_quality(work, results, answers->results[1 - model], suffix));
    columns->misfit = column_values(&work->rows, "misfit", suffix);
    columns->potential = column_values(&work->rows, "potential", suffix);
    columns->ratio = column_values(&work->rows, "ratio", suffix);
    if (answers->sets[model]) TRY(add_sets(work, suffix, answers->sets[model], columns->fitted));
    return allocated(session);
}

/* "": there are not two. */
static const char **preferred_words(struct day_work *work, const struct losscone_answers *answers)
{
    const char **words = arena_elements(work->session, work->sweeps->n, sizeof *words);
    for (size_t k = 0; k < work->sweeps->n && words; k++) {
        const int model = losscone_preferred(answers, k);
        words[k] = model < 0 ? "" : losscone_model_name(model);
    }
    return words;
}

static unsigned char *good_sweeps(struct day_work *work, const struct losscone_answers *answers)
{
    unsigned char *good = arena_elements(work->session, work->sweeps->n, 1);
    for (size_t k = 0; k < work->sweeps->n && good; k++) good[k] = losscone_flags(answers, k) == 0;
    return good;
}

static void add_beams(struct day_work *work, const paritas_beam *beams)
{
    unsigned char *found = arena_elements(work->session, work->sweeps->n, 1);
    if (!found) return;
    for (size_t k = 0; k < work->sweeps->n; k++) found[k] = beams[k].found != 0;
    const struct day_records records = {"paritas_beam", beams, found, "beam_"};
    column_add_records(work, "", &records, "found", "found");
    column_add_records(work, "", &records, "energy", "potential");
}

/* The original's fields; a sweep's rows hold equal numbers. `plasma`: its columns, or zeros. */
static paritas_status add_original(struct day_work *work, const struct model_columns *model,
                                   const struct plasma_columns *plasma)
{
    struct column_list *list = &work->arrays;
    const size_t n = work->sweeps->n;
    double *none = arena_numbers(work->session, n);
    int8_t *class = arena_elements(work->session, n, sizeof *class);
    TRY(allocated(work->session));
    for (size_t k = 0; k < n; k++) none[k] = NAN;
    const double *temperature = plasma->temperature ? plasma->temperature : none;
    for (size_t k = 0; k < n; k++)
        class[k] = (int8_t)paritas_environment_of(work->sweeps->day->projection_in_sun[k], temperature[k]);
    const struct {
        const char *row, *spectrum;
        enum column_kind kind;
        const void *values;
    } fields[] = {
        {"rows_projected_potential", "spec_u_surface", COLUMN_F64, model->potential},
        {"rows_bs_over_bm", "spec_bs_over_bm", COLUMN_F64, model->ratio},
        {"rows_beam_amp", NULL, COLUMN_F64, model->amplitude},
        {"rows_fit_chi2", "spec_fit_chi2", COLUMN_F64, model->misfit},
        {"rows_electron_temperature", "spec_electron_temperature", COLUMN_F64, temperature},
        {"rows_electron_density", "spec_electron_density", COLUMN_F64,
         plasma->density ? plasma->density : none},
        {"rows_kappa_value", "spec_kappa_value", COLUMN_F64, plasma->kappa ? plasma->kappa : none},
        {"rows_environment_class", "spec_environment_class", COLUMN_I8, class},
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        column_add(list, fields[i].row, "", fields[i].kind, ROWS * n, 0,
                   values_of_rows(work, fields[i].kind, fields[i].values));
        if (fields[i].spectrum)
            column_add(list, fields[i].spectrum, "", fields[i].kind, n, 0, fields[i].values);
    }
    column_add(list, "spec_has_fit", "", COLUMN_BOOL, n, 0, model->fitted);
    return allocated(work->session);
}

/* How many sweeps are good, and how many have each reason against them; a sweep may have several. */
static void write_qualities(struct day_work *work, const struct losscone_answers *answers)
{
    const paritas_enumeration *flags = paritas_enumeration_find("paritas_quality_flag");
    const size_t n = work->sweeps->n;
    const char **words = arena_elements(work->session, n * flags->n, sizeof *words);
    size_t found = 0;
    for (size_t k = 0; k < n && words; k++) {
        const unsigned own = losscone_flags(answers, k);
        if (own == 0) words[found++] = "good";
        for (size_t i = 0; i < flags->n; i++)
            if (own & (unsigned)flags->words[i].value) words[found++] = flags->words[i].word;
    }
    if (words) write_counts(work, "qualities", found, words);
}

/* Medians are those of good sweeps. */
static void write_answer(struct day_work *work, const struct model_columns *first,
                         const struct model_columns *folded, const char **preferred,
                         const unsigned char *good)
{
    const size_t n = work->sweeps->n;
    size_t fitted = 0, kept = 0, both = 0;
    for (size_t k = 0; k < n; k++) {
        fitted += first->fitted[k];
        kept += good[k];
    }
    write_integer(work->writer, "fitted", fitted);
    write_integer(work->writer, "good", kept);
    write_object(work->writer, "medians", false);
    write_median(work, "potential", first->potential, good);
    write_median(work, "ratio", first->ratio, good);
    write_median(work, "misfit", first->misfit, good);
    if (preferred) {
        write_median(work, "potential_folded", folded->potential, good);
        write_median(work, "ratio_folded", folded->ratio, good);
        write_median(work, "misfit_folded", folded->misfit, good);
    }
    write_median(work, "spacecraft_potential", work->sweeps->day->spacecraft_potential, good);
    write_close(work->writer);
    /* counting sorts: count a copy */
    const char **words = arena_elements(work->session, n, sizeof *words);
    if (!words) return;
    memcpy(words, first->status, n * sizeof *words);
    write_counts(work, "statuses", n, words);
    for (size_t k = 0; k < n && preferred; k++)
        if (preferred[k][0] != '\0') words[both++] = preferred[k];
    if (preferred) write_counts(work, "preferred", both, words);
}

/* The sweeps that are not good, where there are many, and which setting would help. */
static paritas_status write_cause(struct day_work *work, const struct losscone_plan *plan,
                                  const unsigned char *good)
{
    paritas_day_cause cause = PARITAS_INIT(paritas_day_cause);
    const struct sweeps *sweeps = work->sweeps;
    char option[40] = "--";
    TRY(paritas_day_find_cause(work->session->context, &work->sources->options,
                               (unsigned)plan->hard | (unsigned)plan->folded << 1, work->first, sweeps->day,
                               sweeps->made, good, &cause));
    if (cause.tried == 0) return PARITAS_OK;
    strncat(option, paritas_day_setting_name(cause.cause), sizeof option - 3);
    for (char *at = option; *at != '\0'; at++)
        if (*at == '_') *at = '-';
    write_object(work->writer, "few_good", false);
    write_integer(work->writer, "tried", cause.tried);
    write_integer(work->writer, "good", cause.good);
    write_string(work->writer, "cause", cause.cause != PARITAS_DAY_SETTING_NONE ? option : NULL);
    write_close(work->writer);
    return PARITAS_OK;
}

/* Medians of sweeps with a cone, where they contradict the cone's background or the response. */
static paritas_status write_doubts(struct day_work *work, const struct losscone_plan *plan,
                                   const struct losscone_answers *answers)
{
    const size_t n = work->sweeps->n;
    const unsigned harmless = PARITAS_QUALITY_MISFIT | PARITAS_QUALITY_FILLED_CONE;
    double *level = arena_numbers(work->session, n), *excess = arena_numbers(work->session, n);
    size_t found = 0, counted = 0;
    TRY(allocated(work->session));
    for (size_t k = 0; k < n; k++) {
        const int preferred = losscone_preferred(answers, k),
                  model = preferred < 0 ? answers->results[0] == NULL : preferred;
        const paritas_losscone_result *result = &answers->results[model][k];
        if (losscone_flags(answers, k) & ~harmless) continue;
        level[found++] = result->cone_level;
        if (!isnan(result->excess)) excess[counted++] = result->excess;
    }
    sort_numbers(found, level);
    sort_numbers(counted, excess);
    const double cone = found < DOUBTS_LEAST ? NAN : sorted_median(found, level) / plan->options.background,
                 most = counted < DOUBTS_LEAST ? NAN : sorted_median(counted, excess);
    const bool filled = cone > LEVEL_FACTOR || cone<1.0 / LEVEL_FACTOR, scattered = most> EXCESS_MOST;
    if (!filled && !scattered) return PARITAS_OK;
    write_object(work->writer, "doubts", false);
    if (filled) write_number(work->writer, "cone_level", cone * plan->options.background);
    if (scattered) write_number(work->writer, "excess", most);
    write_close(work->writer);
    return PARITAS_OK;
}

/* The sweeps' fits; beams are sought in all fluxes, also those outside the misfit. */
static paritas_status fit_day(struct fit_plan *plan, struct day_work *work, struct losscone_answers *answers,
                              paritas_beam *beams)
{
    struct session *session = work->session;
    const struct sweeps *sweeps = work->sweeps;
    const paritas_day_options *options = &work->sources->options;
    paritas_sweeps data;
    if (plan->automatic) TRY(paritas_day_plasma(session->context, options, sweeps->day, sweeps->made));
    paritas_day_sweeps_of(sweeps->day, sweeps->made, &data);
    TRY(paritas_losscone_beam(session->context, &data, beams));
    TRY(losscone_count(session, &plan->losscone, options, sweeps->day, sweeps->made));
    paritas_day_sweeps_of(sweeps->day, sweeps->made, &data);
    return losscone_answer(session, &plan->losscone, &data, work->first, answers);
}

static paritas_status answer(void *user, struct day_work *work)
{
    struct fit_plan *plan = user;
    struct session *session = work->session;
    const struct losscone_plan *losscone = &plan->losscone;
    const struct sweeps *sweeps = work->sweeps;
    const size_t n = sweeps->n;
    struct losscone_answers answers;
    paritas_beam *beams = arena_records(session, n, sizeof *beams);
    TRY(allocated(session));
    TRY(fit_day(plan, work, &answers, beams));
    const bool both = losscone->hard && losscone->folded;
    const int first = losscone->hard ? 0 : 1;
    struct model_columns models[2] = {{.fitted = NULL}, {.fitted = NULL}};
    struct plasma_columns plasma_columns = {.fitted = NULL};
    const char **preferred = NULL;
    add_sweep_columns(work);
    if (plan->automatic) plasma_columns = add_plasma(work);
    for (int model = 0; model < 2; model++)
        if (answers.results[model])
            TRY(add_model(work, &answers, model, both && model == 1 ? "_folded" : "", &models[model]));
    if (both) {
        preferred = preferred_words(work, &answers);
        column_add_both(work, "preferred", "", COLUMN_TEXT, preferred);
    }
    const unsigned char *good = good_sweeps(work, &answers);
    column_add_both(work, "good", "", COLUMN_U8, good);
    TRY(allocated(session));
    add_beams(work, beams);
    column_add_both(work, "background_rate", "", COLUMN_F64, sweeps->made->rate);
    TRY(add_original(work, &models[first], &plasma_columns));
    write_answer(work, &models[first], &models[1], preferred, good);
    write_qualities(work, &answers);
    if (plan->automatic) write_potentials(work);
    TRY(write_cause(work, losscone, good));
    TRY(write_doubts(work, losscone, &answers));
    plan->sweeps += n;
    for (size_t k = 0; k < n; k++)
        plan->at_limit += (losscone_flags(&answers, k) & PARITAS_QUALITY_AT_LIMIT) != 0;
    return PARITAS_OK;
}

static int run(struct session *session)
{
    struct sources sources = {.spice = NULL};
    struct fit_plan plan = {.sources = &sources};
    const struct day_run days = {.stem = "losscone", .user = &plan, .describe = describe, .answer = answer};
    TRY(losscone_plan_open(session, &plan.losscone));
    paritas_status status = sources_open(session, &sources);
    plan.automatic = sources_find_potentials(&sources);
    if (status == PARITAS_OK) status = plasma_plan_open(session, &plan.plasma);
    losscone_plan_take(&plan.losscone, &sources.options);
    background_take(session, &sources.options);
    plasma_plan_take(&plan.plasma, &sources.options);
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
                   "Folders are searched for 3DYYMMDD.TAB; files are taken as they are. A day is not "
                   "fitted again if its table was made with the same options from the same files. "
                   "If a day cannot be read, the others are still fitted, and the exit code is 3. Sweeps "
                   "without an answer are counted by reason. The exit code is 1 if more than one "
                   "sweep of 1000 ended at a limit of boxes or generations.",
    .groups = {GROUP_DAYS, GROUP_LOSSCONE, GROUP_SEARCH, GROUP_BACKGROUND, GROUP_CONFIDENCE, GROUP_SOURCES,
               GROUP_PLASMA, GROUP_FIT_ENGINE, GROUP_TABLES},
    .run = run,
    .days = true,
};
