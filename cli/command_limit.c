/* command_limit.c: upper limits, for a workspace or for every patch of a patch set, by formula or by toys. */
#include "limit_toys.h"
#include "record_output.h"
#include "statistics.h"
#include "table.h"
#include "toy_runs.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"--level", 0, OPTION_NUMBER, "ALPHA", "CLs at the limit; default: 0.05"},
    {"--test-stat", 0, OPTION_CHOICE, "qtilde|q", "test statistic; default: qtilde"},
    {"--calc", 0, OPTION_CHOICE, "asymptotic|toys", "by formula, or by toys; default: asymptotic"},
    {"--rtol", 0, OPTION_NUMBER, "R", "toys: wished relative error of each limit; default: 0.05"},
    {0},
};

static double level_of(const struct session *session)
{
    return option_number(session->arguments, "--level", 0.05);
}

static const char *statistic_name(const struct session *session)
{
    return option_text(session->arguments, "--test-stat", "qtilde");
}

/* The limits with the tests that led to them. */
struct limits {
    paritas_limit_result limits;
    paritas_hypotest_result scan[PARITAS_SCAN_MOST];
};

static paritas_status analyse(struct session *session, void *result)
{
    struct limits *l = result;
    paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
    l->limits = (paritas_limit_result)PARITAS_INIT(paritas_limit_result);
    l->scan[0] = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    request.statistic = statistic_of(statistic_name(session));
    request.level = level_of(session);
    request.scan = l->scan;
    request.scan_room = PARITAS_SCAN_MOST;
    return paritas_limit(session->context, session->model, &session->job, &request, &l->limits);
}

static bool converged(const void *result)
{
    return ((const struct limits *)result)->limits.status == PARITAS_FIT_CONVERGED;
}

static void write_result(struct writer *w, const void *result)
{
    const struct limits *l = result;
    write_record(w, "paritas_limit_result", &l->limits);
    write_array(w, "scan", true);
    for (size_t i = 0; i < l->limits.n_scan; i++) {
        write_object(w, NULL, false);
        write_record(w, "paritas_hypotest_result", &l->scan[i]);
        write_close(w);
    }
    write_close(w);
}

static void write_cells(struct table *table, const void *result)
{
    const paritas_limit_result *r = &((const struct limits *)result)->limits;
    table_number(table, r->limit_obs, 6);
    for (int i = 0; i < 5; i++) table_number(table, r->limit_exp[i], 6);
    const char *note = r->status != PARITAS_FIT_CONVERGED ? paritas_fit_status_name(r->status)
                       : r->bound_widened                 ? "bound widened"
                                                          : "";
    table_text(table, note);
}

static const struct patch_analysis analysis = {
    .result_size = sizeof(struct limits),
    .analyse = analyse,
    .converged = converged,
    .write_fields = write_result,
    .headers = "limit observed|expected -2s|-1s|median|+1s|+2s|",
    .alignment = "rrrrrrl",
    .write_cells = write_cells,
};

static void write_answer(struct session *session, const struct limits *l)
{
    const paritas_limit_result *r = &l->limits;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Upper limit on %s at CLs = %.4g\n\n", poi_name(session), level_of(session));
    table_open(&table, &session->context->allocator, "observed|expected -2s|-1s|median|+1s|+2s|", "rrrrrrl");
    write_cells(&table, l);
    table_close(&table, out);
    text_format(out, "\n%zu values tested, fits %s", r->n_scan, paritas_fit_status_name(r->status));
    if (r->n_scan > 0) text_format(out, ", best fit %.6g", r->mu_hat);
    text_append(out, "\n", 1);
    if (r->bound_widened)
        text_format(out, "The upper bound of %s was widened to %.6g\n", poi_name(session), r->upper_bound);
    bool missing = isnan(r->limit_obs);
    for (int i = 0; i < 5; i++) missing = missing || isnan(r->limit_exp[i]);
    if (missing)
        text_format(out, "A limit shown as - does not exist or was not found up to %.6g\n", r->upper_bound);
}

/* What the tables say of a command line that does not fit together. */
static paritas_status check(struct session *session, bool toys)
{
    const struct arguments *arguments = session->arguments;
    const double level = level_of(session), rtol = option_number(arguments, "--rtol", 0.05);
    const char *lone = toy_option_given(arguments);
    if (lone == NULL && option_given(arguments, "--rtol") != NULL) lone = "--rtol";
    if (!(level > 0.0 && level < 1.0))
        return usage_failure(session, "--level takes a number between 0 and 1, not %.10g", level);
    if (!toys && lone != NULL) return usage_failure(session, "%s needs --calc toys", lone);
    if (!(rtol > 0.0 && rtol < 1.0))
        return usage_failure(session, "--rtol takes a number between 0 and 1, not %.10g", rtol);
    if (option_given(arguments, "--shard") != NULL)
        return usage_failure(
            session, "--shard: a limit cannot be cut into shards, since toys decide where toys are drawn");
    if (wants_patchset(arguments) && option_given(arguments, "--store") != NULL)
        return usage_failure(session, "--store takes the toys of one patch: --patch-name NAME");
    return PARITAS_OK;
}

static int run(struct session *session)
{
    const bool toys = strcmp(option_text(session->arguments, "--calc", "asymptotic"), "toys") == 0;
    paritas_status status = check(session, toys);
    if (status != PARITAS_OK) return status;
    if (wants_patchset(session->arguments))
        return run_patches(session, toys ? &limit_toys_analysis : &analysis);
    void *result =
        arena_array(&session->arena, 1, toys ? limit_toys_analysis.result_size : analysis.result_size);
    if (result == NULL) return paritas_fail_memory(session->context);
    status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = (toys ? limit_toys_analysis.analyse : analyse)(session, result);
    if (status != PARITAS_OK) return status;
    if (!(toys ? limit_toys_analysis.converged : converged)(result)) session->not_converged = true;
    if (session->json) {
        write_object(&session->writer, NULL, true);
        write_number(&session->writer, "level", level_of(session));
        write_string(&session->writer, "test_stat", statistic_name(session));
        (toys ? limit_toys_analysis.write_fields : write_result)(&session->writer, result);
        write_provenance(session);
        write_close(&session->writer);
    } else if (toys) {
        limit_toys_describe(session, result);
    } else {
        write_answer(session, result);
    }
    return PARITAS_OK;
}

const struct command command_limit = {
    .name = "limit",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "upper limits, observed and expected",
    .description =
        "The roots of CLs = level: asymptotic to 1e-7, by toys to --rtol. Beyond the upper bound of the "
        "parameter of interest the bound is widened, and the answer says so. By toys, values are tested "
        "where they matter, beginning at the asymptotic limits, with as many toys as the errors need. If "
        "--ntoys of each are too few, the limits have larger errors, and the exit code is 1. With --patchset "
        "and no --patch-name: one JSON line, or one row, a patch, in the order of the patch set.",
    .groups = {{"Options", options},
               GROUP_TOYS,
               GROUP_JOB,
               GROUP_PATCHES,
               GROUP_MODEL,
               GROUP_ENGINE,
               GROUP_OUTPUT,
               GROUP_END},
    .run = run,
};
