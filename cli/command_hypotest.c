/* command_hypotest.c: asymptotic CLs at one mu, for a workspace or for every patch of a patch set. */
#include "patch_runs.h"
#include "record_output.h"
#include "statistics.h"
#include "table.h"

#include <string.h>

static const struct option options[] = {
    {"--mu", 0, OPTION_NUMBER, "MU",
     "value of the parameter of interest that is tested; default: 1 (q0 always tests 0)"},
    {"--test-stat", 0, OPTION_CHOICE, "qtilde|q|q0", "test statistic; default: qtilde"},
    {0},
};

static const char *statistic_name(const struct session *session)
{
    return option_text(session->arguments, "--test-stat", "qtilde");
}

paritas_test_statistic statistic_of(const char *name)
{
    int value = PARITAS_STATISTIC_QTILDE;
    paritas_enumeration_value(paritas_enumeration_find("paritas_test_statistic"), name, &value);
    return (paritas_test_statistic)value;
}

static paritas_status analyse(struct session *session, void *result)
{
    double mu = option_number(session->arguments, "--mu", 1.0);
    *(paritas_hypotest_result *)result = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    return paritas_hypotest(session->context, session->model, &session->job,
                            statistic_of(statistic_name(session)), 1, &mu, result);
}

static bool converged(const void *result)
{
    return ((const paritas_hypotest_result *)result)->status == PARITAS_FIT_CONVERGED;
}

static void write_result(struct writer *w, const void *result)
{
    write_record(w, "paritas_hypotest_result", result);
}

static void write_cells(struct table *table, const void *result)
{
    const paritas_hypotest_result *r = result;
    table_probability(table, r->cls_obs);
    for (int i = 0; i < 5; i++) table_probability(table, r->cls_exp[i]);
    table_text(table, r->status == PARITAS_FIT_CONVERGED ? "" : paritas_fit_status_name(r->status));
}

static const struct patch_analysis analysis = {
    .result_size = sizeof(paritas_hypotest_result),
    .analyse = analyse,
    .converged = converged,
    .write_fields = write_result,
    .headers = "CLs observed|expected -2s|-1s|median|+1s|+2s|",
    .alignment = "rrrrrrl",
    .write_cells = write_cells,
};

static void write_answer(struct session *session, const paritas_hypotest_result *r)
{
    struct text *out = &session->out;
    struct table table;
    bool q0 = statistic_of(statistic_name(session)) == PARITAS_STATISTIC_Q0;
    text_format(out, "%s = %.6g tested with %s; best fit %.6g\n\n", poi_name(session), r->mu,
                statistic_name(session), r->mu_hat);
    table_open(&table, &session->context->allocator, "|observed|expected -2s|-1s|median|+1s|+2s|",
               "lrrrrrrl");
    table_text(&table, q0 ? "p0" : "CLs");
    write_cells(&table, r);
    table_close(&table, out);
    text_format(out, "\nCLsb %.6g   CLb %.6g   q %.6g   q_A %.6g   fits %s\n", r->clsb, r->clb, r->q,
                r->q_asimov, paritas_fit_status_name(r->status));
}

static int run(struct session *session)
{
    if (wants_patchset(session->arguments)) return run_patches(session, &analysis);
    paritas_hypotest_result result = PARITAS_INIT(paritas_hypotest_result);
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = analyse(session, &result);
    if (status != PARITAS_OK) return status;
    note_status(session, result.status);
    if (session->json) {
        write_object(&session->writer, NULL, true);
        write_result(&session->writer, &result);
        write_string(&session->writer, "test_stat", statistic_name(session));
        write_provenance(session);
        write_close(&session->writer);
    } else {
        write_answer(session, &result);
    }
    return PARITAS_OK;
}

const struct command command_hypotest = {
    .name = "hypotest",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "asymptotic CLs at one value, observed and expected",
    .description = "With --patchset and no --patch-name the whole patch set is tested. The output is one "
                   "JSON line, or one row, a patch, in the order of the patch set.",
    .groups =
        {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
