/* limit.c: upper limits by formula or toys. */
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct option options[] = {
    LIBRARY_ROWS(PARITAS_LIMIT_REQUEST_OPTIONS, paritas_limit_request),
    {"--calc", OPTION_CHOICE, "asymptotic|toys", "by formula, or by toys", "asymptotic"},
    {"--rtol", .library = "paritas_limit_toys_request", .needs = "--calc toys"},
    CSV_ROW,
    {0},
};

static double level_of(const struct session *session)
{
    return option_number(session, "--level");
}

static const char *quantity(const struct session *session)
{
    (void)session;
    return "limit";
}

/* A level of 0.95 mostly means a confidence of 95 %. */
static const char *level_hint(const struct session *session)
{
    return level_of(session) > 0.5 ? "; for 95 % confidence take --level 0.05" : "";
}

static void write_scan(struct writer *w, const char *type, size_t n, const void *records, size_t size)
{
    write_array(w, "scan", true);
    for (size_t i = 0; i < n; i++) write_record_row(w, NULL, type, (const char *)records + i * size);
    write_close(w);
}

static void write_options(struct session *session, struct writer *w)
{
    if (!w->one_line) write_members(w, "level:n test_stat:s", level_of(session), statistic_name(session));
}

struct limits {
    paritas_limit_result limits;
    paritas_hypotest_result scan[PARITAS_SCAN_MOST];
};

static paritas_status analyse(struct session *session, void *result)
{
    struct limits *l = result;
    paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
    l->limits.size = sizeof l->limits;
    l->scan[0].size = sizeof l->scan[0];
    TRY(options_take(session, "paritas_limit_request", &request));
    request.scan = l->scan;
    request.scan_room = PARITAS_SCAN_MOST;
    TRY(paritas_limit(session->context, session->model, &session->job, &request, &l->limits));
    note_status(session, l->limits.status);
    return PARITAS_OK;
}

static size_t count_crossings(const double *crossings)
{
    size_t n = 0;
    while (n < PARITAS_CROSSINGS_MOST && !isnan(crossings[n])) n++;
    return n;
}

static void write_crossings(struct writer *w, const char *key, const double *crossings)
{
    write_numbers(w, key, count_crossings(crossings), crossings);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct limits *l = result;
    write_options(session, w);
    write_record(w, "paritas_limit_result", &l->limits);
    const bool known = !isnan(l->limits.limit_obs) || l->limits.reason_obs == PARITAS_REASON_NONE_BELOW_BOUND;
    write_excluded(w, known && l->limits.status == PARITAS_FIT_CONVERGED, l->limits.limit_obs < 1.0);
    write_crossings(w, "crossings_obs", l->limits.crossings_obs);
    write_array(w, "crossings_exp", false);
    for (int i = 0; i < 5; i++) write_crossings(w, NULL, l->limits.crossings_exp[i]);
    write_close(w);
    write_scan(w, "paritas_hypotest_result", l->limits.n_scan, l->scan, sizeof l->scan[0]);
}

static void write_cells(struct table *table, const void *result)
{
    const paritas_limit_result *r = &((const struct limits *)result)->limits;
    table_number(table, r->limit_obs, 6);
    for (int i = 0; i < 5; i++) table_number(table, r->limit_exp[i], 6);
    table_text(table, r->status == PARITAS_FIT_CONVERGED && r->bound_widened ? "bound widened"
                                                                             : failure_word(r->status));
}

static const char *const curve_names[] = {"expected -2s", "-1s", "median", "+1s", "+2s"};

/* Why there is no limit, and where else CLs crosses the level. */
static void describe_curve(struct session *session, const char *name, paritas_reason reason,
                           const double *crossings)
{
    struct text *out = &session->out;
    const size_t n = count_crossings(crossings);
    if (reason != PARITAS_REASON_FOUND) {
        const paritas_word *words = paritas_enumeration_find("paritas_reason")->words;
        text_format(out, "%s: no limit, %s: %s\n", name, words[reason].word, words[reason].doc);
    }
    if (n > 0) text_format(out, "%s: CLs also crosses the level at", name);
    for (size_t i = 0; i < n; i++) text_format(out, "%s %.6g", i > 0 ? "," : "", crossings[i]);
    if (n > 0) text_format(out, "\n");
}

static void write_text(struct session *session, const void *result)
{
    const paritas_limit_result *r = &((const struct limits *)result)->limits;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Upper limit on %s at CLs = %.4g%s\n\n", poi_name(session), level_of(session),
                level_hint(session));
    char headers[80];
    snprintf(headers, sizeof headers, "%s|expected -2s|-1s|median|+1s|+2s|", data_word(session));
    table_open(&table, out, headers, "6 6 6 6 6 6 l");
    write_cells(&table, result);
    table_close(&table);
    text_format(out, "\n%zu values tested. ", r->n_scan);
    describe_fits(out, "fits", r->status, poi_name(session), r->n_scan > 0 ? r->mu_hat : NAN);
    describe_widening(session, r->bound_widened, r->upper_bound, r->mu_hat);
    describe_curve(session, data_word(session), r->reason_obs, r->crossings_obs);
    for (int i = 0; i < 5; i++)
        describe_curve(session, curve_names[i], r->reason_exp[i], r->crossings_exp[i]);
}

struct toy_limits {
    paritas_limit_toys_result limits;
    paritas_hypotest_toys_result scan[PARITAS_SCAN_MOST];
    struct toy_run toys;
    double rtol;
    bool reached; /* every limit has the wanted error */
};

static paritas_status check_toys(struct session *session)
{
    if (wants_patchset(session->arguments) && option_given(session, "--store"))
        return usage_failure(session, "--store takes the toys of one patch: --patch-name NAME");
    return PARITAS_OK;
}

static paritas_status analyse_toys(struct session *session, void *result)
{
    struct toy_limits *l = result;
    paritas_limit_toys_request request = PARITAS_LIMIT_TOYS_REQUEST_DEFAULT;
    l->limits.size = sizeof l->limits;
    l->scan[0].size = sizeof l->scan[0];
    TRY(toy_run_open(session, &l->toys));
    if (option_whole(session, "--ntoys") == 0) l->toys.options.n = PARITAS_LIMIT_TOYS;
    TRY(options_take(session, "paritas_limit_toys_request", &request));
    l->rtol = request.rtol;
    request.scan = l->scan;
    request.scan_room = PARITAS_SCAN_MOST;
    paritas_status status = paritas_limit_toys(session->context, session->model, &session->job, &request,
                                               &l->toys.options, &l->limits);
    if (toy_run_lacks_place(session, &status, NULL))
        record_clear("paritas_limit_toys_result", &l->limits, PARITAS_FIT_NON_FINITE);
    TRY(status);
    toy_run_close(session, &l->toys, &l->limits.tally);
    note_status(session, l->limits.status);
    l->reached = l->limits.reached_obs;
    for (int i = 0; i < 5; i++) l->reached = l->reached && l->limits.reached_exp[i];
    session->not_converged = session->not_converged || !l->reached;
    return PARITAS_OK;
}

static void write_keys_toys(struct session *session, struct writer *w, const void *result)
{
    const struct toy_limits *l = result;
    const paritas_limit_toys_result *r = &l->limits;
    write_options(session, w);
    write_members(w, "calc:s rtol:n", "toys", l->rtol);
    write_fields(w, "paritas_limit_toys_result", r, "limit_obs", "reached_exp");
    write_object(w, "asymptotic", false);
    write_number(w, "limit_obs", r->asymptotic_obs);
    write_numbers(w, "limit_exp", 5, r->asymptotic_exp);
    write_close(w);
    write_fields(w, "paritas_limit_toys_result", r, "mu_hat", "status");
    write_fields(w, "paritas_limit_toys_result", r, "several_minima", "minima");
    const bool known = !isnan(r->limit_obs) && r->reached_obs && !l->toys.failed;
    write_excluded(w, known && r->status == PARITAS_FIT_CONVERGED, r->limit_obs < 1.0);
    toy_run_write(w, &l->toys);
    write_scan(w, "paritas_hypotest_toys_result", r->n_scan, l->scan, sizeof l->scan[0]);
}

static void write_cells_toys(struct table *table, const void *result)
{
    const struct toy_limits *l = result;
    const paritas_limit_toys_result *r = &l->limits;
    table_number(table, r->limit_obs, 4);
    table_number(table, r->limit_obs_error, 2);
    for (int i = 0; i < 5; i++) table_number(table, r->limit_exp[i], 4);
    table_text(table, r->status != PARITAS_FIT_CONVERGED ? paritas_fit_status_name(r->status)
                      : !l->reached                      ? "errors above --rtol"
                      : l->toys.failed                   ? "toys without answer"
                      : r->bound_widened                 ? "bound widened"
                                                         : "");
}

static void write_text_toys(struct session *session, const void *result)
{
    static const char beyond[] = "error above --rtol";
    const struct toy_limits *l = result;
    const paritas_limit_toys_result *r = &l->limits;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Upper limit on %s at CLs = %.4g, by toys%s\n\n", poi_name(session), level_of(session),
                level_hint(session));
    table_open(&table, out, "|limit|error|asymptotic|", "l 4 2 4 l");
    table_row(&table, data_word(session), r->limit_obs, r->limit_obs_error, r->asymptotic_obs,
              r->reached_obs ? "" : beyond);
    for (int i = 0; i < 5; i++)
        table_row(&table, curve_names[i], r->limit_exp[i], r->limit_exp_error[i], r->asymptotic_exp[i],
                  r->reached_exp[i] ? "" : beyond);
    table_close(&table);
    text_format(out, "\n%zu values tested. ", r->n_scan);
    describe_fits(out, "fits to the data", r->status, poi_name(session), r->mu_hat);
    if (!l->reached)
        text_format(out,
                    "Errors are above --rtol %.4g with %" PRIu64
                    " toys at each value: raise --ntoys or --rtol\n",
                    l->rtol, l->toys.options.n);
    describe_widening(session, r->bound_widened, r->upper_bound, r->mu_hat);
    bool missing = isnan(r->limit_obs);
    for (int i = 0; i < 5; i++) missing = missing || isnan(r->limit_exp[i]);
    if (missing)
        text_format(out, "A limit shown as - does not exist or was not found up to %.6g\n", r->upper_bound);
    toy_run_describe(out, &l->toys);
}

const struct command command_limit = {
    .name = "limit",
    .operands = "WORKSPACE",
    .summary = "upper limits, observed and expected",
    .description =
        "Limits solve CLs = level: to 1e-7 by formula, to --rtol by toys. Beyond the upper bound of the "
        "parameter of interest the bound is widened, and the answer says so. A curve that crosses the level "
        "more than once has its limit at the last crossing upward; the others are listed. A jump across the "
        "level is no limit. With --calc toys the search "
        "begins at the asymptotic limits. It draws toys until the errors reach --rtol. If --ntoys at each "
        "value are too few, the limits have larger errors, and the exit code is 1. With --patchset "
        "and no --patch-name: one JSON line, or one row, a patch, in the order of the patch set.",
    .groups = {GROUP_OPTIONS, GROUP_UNCUT_TOYS("--calc toys"), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct limits),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
            .quantity = quantity,
            .headers = "expected -2s|-1s|median|+1s|+2s|",
            .formats = "6 6 6 6 6 6 l",
            .write_cells = write_cells,
            .columns = "limit_obs|limit_exp*5|bound_widened|status|error|excluded",
        },
    .by_toys =
        {
            .result_size = sizeof(struct toy_limits),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .check = check_toys,
            .analyse = analyse_toys,
            .write_keys = write_keys_toys,
            .write_text = write_text_toys,
            .quantity = quantity,
            .headers = "error|expected -2s|-1s|median|+1s|+2s|",
            .formats = "4 2 4 4 4 4 4 l",
            .write_cells = write_cells_toys,
            .columns = "limit_obs|limit_obs_error|limit_exp*5|limit_exp_error*5|bound_widened|status|error|"
                       "excluded",
        },
};
