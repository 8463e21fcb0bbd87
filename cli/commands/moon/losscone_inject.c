/* losscone_inject.c: fits of a known truth: errors of U and r, coverage of intervals. */
#include "days/day_losscone.h"
#include "days/day_truth.h"
#include "commands/workspaces/sorting.h"
#include "print/table.h"

#include <math.h>
#include <stddef.h>

enum { EDGES = 0 PARITAS_TRUE_EDGE_LIST(PARITAS_COUNT_ITEM) };
#define BATCH 1000 /* sweeps at a time: bounds memory */

static const struct option options[] = {
    {"--sweeps", OPTION_COUNT, "N", "sweeps of each truth", "500"},
    {"--theta", OPTION_FILE, "FILE", "theta.tab, inclinations of the cells; default: built in"},
    LIBRARY_ROW("--normalisation", paritas_day_options),
    LIBRARY_ROW("--sunlight", paritas_day_options),
    {"--seed", .library = "paritas_synthetic_options",
     .help = "of the sweeps; also seed of de and of the bootstrap"},
    {0},
};

struct tally {
    double *error, *ratio_error, *width, *set_width; /* of fitted sweeps */
    double *misfit;                                  /* of all sweeps; NaN without a fit */
    double *compared;                                /* with the other model: deviance of counts, or misfit */
    size_t n, in_plateau, in_set, lesser;
};

struct injection {
    struct session *session;
    struct losscone_plan plan;
    struct truth_plan truth;
    size_t sweeps;
    paritas_day_options options; /* of fits; theta is the one below */
    double theta[PARITAS_SWEEP_CELLS];
    bool truths[EDGES];
    struct tally tallies[EDGES][2]; /* truth, model */
};

static paritas_status open_tally(struct session *session, size_t n, struct tally *tally)
{
    *tally = (struct tally){.error = arena_numbers(session, n),
                            .ratio_error = arena_numbers(session, n),
                            .width = arena_numbers(session, n),
                            .set_width = arena_numbers(session, n),
                            .misfit = arena_numbers(session, n),
                            .compared = arena_numbers(session, n)};
    return allocated(session);
}

static void take(struct tally *tally, const paritas_truths *truth, size_t n, size_t at,
                 const paritas_losscone_result *results, const paritas_confidence *sets)
{
    for (size_t k = 0; k < n; k++) {
        const paritas_losscone_result *r = &results[k];
        const double u = truth->potential[k];
        tally->misfit[at + k] = paritas_losscone_fitted(r) ? r->misfit : NAN;
        tally->compared[at + k] = r->deviance >= 0.0 ? r->deviance : tally->misfit[at + k];
        if (!paritas_losscone_fitted(r)) continue;
        const size_t i = tally->n++;
        tally->error[i] = r->potential_centre - u;
        tally->ratio_error[i] = r->ratio_centre - truth->ratio[k];
        tally->width[i] = r->potential_upper - r->potential_lower;
        tally->in_plateau += u >= r->potential_lower && u <= r->potential_upper;
        if (!sets) continue;
        bool inside = false;
        for (unsigned s = 0; s < sets[k].intervals; s++) {
            inside = inside || (u >= sets[k].lower[s] && u <= sets[k].upper[s]);
            tally->set_width[i] += sets[k].upper[s] - sets[k].lower[s];
        }
        tally->in_set += inside;
    }
}

/* Fits a drawn day, whose potentials are known. */
static paritas_status fit_day(struct injection *j, paritas_er_day *day, uint64_t first,
                              struct losscone_answers *answers)
{
    struct session *session = j->session;
    paritas_day_sweeps *sweeps;
    paritas_sweeps data;
    TRY(paritas_day_prepare(session->context, &j->options, NULL, day, &sweeps));
    paritas_status status = losscone_count(session, &j->plan, &j->options, day, sweeps);
    paritas_day_sweeps_of(day, sweeps, &data);
    if (status == PARITAS_OK) status = losscone_answer(session, &j->plan, &data, first, answers);
    paritas_day_sweeps_free(sweeps);
    return status;
}

static paritas_status inject_some(struct injection *j, int kind, size_t at, size_t n)
{
    struct session *session = j->session;
    paritas_truths truth;
    struct losscone_answers answers;
    paritas_er_day *day = NULL;
    paritas_synthetic_options draw = j->truth.draw;
    draw.edge = (paritas_true_edge)kind;
    draw.weighted = j->plan.weighted;
    draw.first = at;
    draw.theta = j->theta;
    const struct arena outer = arena_begin(session);
    paritas_status status = truths_open(session, n, &truth);
    if (status == PARITAS_OK)
        status = paritas_day_synthesize(session->context, &draw, &j->plan.options, n, &truth, &day);
    if (status == PARITAS_OK) status = fit_day(j, day, at, &answers);
    for (int model = 0; model < 2 && status == PARITAS_OK; model++)
        if (answers.results[model])
            take(&j->tallies[kind][model], &truth, n, at, answers.results[model], answers.sets[model]);
    paritas_er_day_free(day);
    arena_end(session, outer);
    return status;
}

static paritas_status inject(struct injection *j)
{
    struct session *session = j->session;
    const size_t total = j->sweeps * (size_t)(j->truths[0] + j->truths[1] + j->truths[2]);
    size_t done = 0;
    for (int kind = 0; kind < EDGES; kind++) {
        if (!j->truths[kind]) continue;
        struct tally *hard = &j->tallies[kind][0], *folded = &j->tallies[kind][1];
        TRY(open_tally(session, j->sweeps, hard));
        TRY(open_tally(session, j->sweeps, folded));
        for (size_t at = 0; at < j->sweeps; at += BATCH) {
            const size_t n = j->sweeps - at < BATCH ? j->sweeps - at : BATCH;
            TRY(inject_some(j, kind, at, n));
            progress_estimate(&session->progress, done += n, total);
        }
        for (size_t k = 0; k < j->sweeps && j->plan.hard && j->plan.folded; k++) {
            hard->lesser += hard->compared[k] <= folded->compared[k];
            folded->lesser += folded->compared[k] < hard->compared[k];
        }
    }
    return PARITAS_OK;
}

/* Numbers of the summary in the order of JSON and table. */
#define SUMMARY_LIST(ITEM)           \
    ITEM(bias, 2)                    \
    ITEM(rmse, 2)                    \
    ITEM(mae, 2)                     \
    ITEM(median_error, 2)            \
    ITEM(ninety_percent, 1)          \
    ITEM(largest, 1)                 \
    ITEM(ratio_bias, NOT_IN_TABLE)   \
    ITEM(ratio_rmse, 4)              \
    ITEM(plateau_width, 1)           \
    ITEM(plateau_coverage, 3)        \
    ITEM(set_width, 1)               \
    ITEM(set_coverage, 3)            \
    ITEM(median_misfit, FOUR_DIGITS) \
    ITEM(lesser_misfit, 3)
enum { NOT_IN_TABLE = -1, FOUR_DIGITS = -2 }; /* else: decimals */
struct summary {
#define FIELD(name, decimals) double name;
    SUMMARY_LIST(FIELD)
#undef FIELD
};
static const struct {
    const char *word;
    size_t offset;
    int decimals;
} summary_fields[] = {
#define FIELD(name, decimals) {#name, offsetof(struct summary, name), decimals},
    SUMMARY_LIST(FIELD)
#undef FIELD
};
#define SUMMARY_FIELDS (COUNT_OF(summary_fields))

static double summary_value(const struct summary *summary, size_t field)
{
    return *(const double *)(const void *)((const char *)summary + summary_fields[field].offset);
}

static double quantile(const double *sorted, size_t n, double part)
{
    return n > 0 ? sorted[(size_t)(part * (double)(n - 1) + 0.5)] : NAN;
}

static struct summary summarise(const struct injection *j, struct tally *tally)
{
    const size_t n = tally->n;
    const double count = n > 0 ? (double)n : NAN;
    const double none = n > 0 ? 0.0 : NAN;
    struct summary s = {.bias = none, .rmse = none, .mae = none, .ratio_bias = none, .ratio_rmse = none};
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        s.bias += tally->error[i] / count;
        s.rmse += tally->error[i] * tally->error[i] / count;
        s.mae += fabs(tally->error[i]) / count;
        s.ratio_bias += tally->ratio_error[i] / count;
        s.ratio_rmse += tally->ratio_error[i] * tally->ratio_error[i] / count;
        tally->error[i] = fabs(tally->error[i]);
    }
    s.rmse = sqrt(s.rmse);
    s.ratio_rmse = sqrt(s.ratio_rmse);
    for (size_t k = 0; k < j->sweeps; k++)
        if (!isnan(tally->misfit[k])) tally->misfit[known++] = tally->misfit[k];
    sort_numbers(n, tally->error);
    sort_numbers(n, tally->width);
    sort_numbers(n, tally->set_width);
    sort_numbers(known, tally->misfit);
    s.median_error = quantile(tally->error, n, 0.5);
    s.ninety_percent = quantile(tally->error, n, 0.9);
    s.largest = quantile(tally->error, n, 1.0);
    s.plateau_width = quantile(tally->width, n, 0.5);
    s.set_width =
        j->plan.sets.confidence != PARITAS_CONFIDENCE_KIND_NONE ? quantile(tally->set_width, n, 0.5) : NAN;
    s.median_misfit = quantile(tally->misfit, known, 0.5);
    s.plateau_coverage =
        j->plan.options.search == PARITAS_LOSSCONE_SEARCH_EXACT ? (double)tally->in_plateau / count : NAN;
    s.set_coverage =
        j->plan.sets.confidence != PARITAS_CONFIDENCE_KIND_NONE ? (double)tally->in_set / count : NAN;
    s.lesser_misfit =
        j->plan.hard && j->plan.folded && n > 0 ? (double)tally->lesser / (double)j->sweeps : NAN;
    return s;
}

/* Calls `answer` for each truth and each model that was fitted. */
static void each_fit(struct injection *j, struct table *table,
                     void (*answer)(struct injection *j, struct table *table, int kind, int model,
                                    const struct summary *summary))
{
    for (int kind = 0; kind < EDGES; kind++)
        for (int model = 0; model < 2; model++) {
            if (!j->truths[kind] || !(model == 0 ? j->plan.hard : j->plan.folded)) continue;
            const struct summary summary = summarise(j, &j->tallies[kind][model]);
            answer(j, table, kind, model, &summary);
        }
}

static void fit_json(struct injection *j, struct table *table, int kind, int model,
                     const struct summary *summary)
{
    struct writer *w = &j->session->writer;
    (void)table;
    write_object(w, NULL, false);
    write_members(w, "truth:s response:s fitted:z", paritas_true_edge_name((paritas_true_edge)kind),
                  losscone_model_name(model), j->tallies[kind][model].n);
    for (size_t i = 0; i < SUMMARY_FIELDS; i++)
        write_number(w, summary_fields[i].word, summary_value(summary, i));
    write_close(w);
}

static void answer_json(struct injection *j)
{
    struct writer *w = &j->session->writer;
    write_object(w, NULL, true);
    write_integer(w, "sweeps", j->sweeps);
    write_array(w, "fits", true);
    each_fit(j, NULL, fit_json);
    write_close(w);
    write_object(w, "options", true);
    losscone_plan_describe(&j->plan, &j->options, w);
    if (j->truth.draw.sun_rate > 0.0) write_number(w, "sunlight", j->options.sunlight);
    truth_plan_describe(&j->truth, w);
    write_close(w);
    write_device(j->session);
    write_close(w);
}

static void fit_row(struct injection *j, struct table *table, int kind, int model,
                    const struct summary *summary)
{
    table_text(table, paritas_true_edge_name((paritas_true_edge)kind));
    table_text(table, losscone_model_name(model));
    table_format(table, "%zu", j->tallies[kind][model].n);
    for (size_t i = 0; i < SUMMARY_FIELDS; i++) {
        const int decimals = summary_fields[i].decimals;
        if (decimals == FOUR_DIGITS)
            table_number(table, summary_value(summary, i), 4);
        else if (decimals != NOT_IN_TABLE)
            table_decimal(table, summary_value(summary, i), decimals);
    }
}

static void answer_table(struct injection *j)
{
    struct session *session = j->session;
    struct table table;
    text_format(&session->out, "%zu sweeps of each truth; errors of U in V, widths are medians\n\n",
                j->sweeps);
    table_open(
        &table, &session->out,
        "truth|fit|fitted|bias|RMSE|MAE|median|90 %|largest|r RMSE|plateau|holds|set|holds|misfit|lesser",
        "l l r r r r r r r r r r r r r r");
    each_fit(j, &table, fit_row);
    table_close(&table);
}

static int run(struct session *session)
{
    struct injection j = {.session = session,
                          .sweeps = option_count(session, "--sweeps"),
                          .options = PARITAS_DAY_OPTIONS_DEFAULT};
    TRY(options_take(session, "paritas_day_options", &j.options));
    session->context->progress = NULL;
    session->progress.unit = "sweeps";
    TRY(losscone_plan_open(session, &j.plan));
    TRY(truth_plan_open(session, &j.truth));
    TRY(paritas_er_theta(session->context, option_text(session, "--theta"), j.theta));
    losscone_plan_take(&j.plan, &j.options);
    background_take(session, &j.options);
    j.options.theta = j.theta;
    j.options.potential_source = PARITAS_POTENTIAL_SOURCE_DAY;
    const bool both = !option_given(session, "--truth");
    for (int kind = 0; kind < EDGES; kind++)
        j.truths[kind] = both ? kind != PARITAS_TRUE_EDGE_INTEGRAL : kind == (int)j.truth.draw.edge;
    TRY(inject(&j));
    (session->json ? answer_json : answer_table)(&j);
    return PARITAS_OK;
}

const struct command command_losscone_inject = {
    .name = "losscone inject",
    .operands = "",
    .summary = "injection tests: bias, errors and coverage on sweeps of known potential",
    .description = "Draws sweeps of each truth and fits them with each model. The fits know the spacecraft's "
                   "potential. Prints bias, errors, and how often plateau and confidence set hold the true "
                   "U.",
    .groups = {GROUP_OPTIONS, GROUP_TRUTH, GROUP_LOSSCONE, GROUP_SEARCH, GROUP_BACKGROUND, GROUP_CONFIDENCE,
               GROUP_FIT_ENGINE, GROUP_OUTPUT},
    .run = run,
};
