/* command_hypotest.c: asymptotic CLs at one mu. */
#include "analysis.h"
#include "record_output.h"

#include <math.h>

static const struct option options[] = {
    {"--mu", OPTION_NUMBER, "MU",
     "tested value of the parameter of interest, also beyond its upper bound; q0 always tests 0", "1"},
    {"--test-stat", OPTION_CHOICE, "qtilde|q|q0", "test statistic", "qtilde"},
    {0},
};

static paritas_status analyse(struct session *session, void *result)
{
    paritas_hypotest_result *r = result;
    const double mu = option_number(session, "--mu");
    r->size = sizeof *r;
    TRY(paritas_hypotest(session->context, session->model, &session->job, statistic_of(session), 1, &mu, r));
    note_status(session, r->status);
    return PARITAS_OK;
}

static void write_other_asimov(struct writer *w, const paritas_hypotest_result *r)
{
    if (isnan(r->q_asimov_other)) return;
    write_object(w, "other_asimov", false);
    write_number(w, "q_A", r->q_asimov_other);
    write_number(w, "CLs_obs", r->cls_obs_other);
    write_numbers(w, "CLs_exp", 5, r->cls_exp_other);
    write_close(w);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const paritas_hypotest_result *r = result;
    write_record(w, "paritas_hypotest_result", result);
    write_number(w, "upper_bound", r->upper_bound);
    write_bool(w, "bound_widened", r->bound_widened != 0);
    write_other_asimov(w, r);
    if (!w->one_line) write_string(w, "test_stat", statistic_name(session));
}

static void write_cells(struct table *table, const void *result)
{
    const paritas_hypotest_result *r = result;
    table_row(table, r->cls_obs, r->cls_exp[0], r->cls_exp[1], r->cls_exp[2], r->cls_exp[3], r->cls_exp[4],
              failure_word(r->status));
}

static void write_text(struct session *session, const void *result)
{
    const paritas_hypotest_result *r = result;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "%s = %.6g tested with %s; best fit %.6g\n\n", poi_name(session), r->mu,
                statistic_name(session), r->mu_hat);
    table_open(&table, out, "|observed|expected -2s|-1s|median|+1s|+2s|", "l p p p p p p l");
    table_text(&table, statistic_of(session) == PARITAS_STATISTIC_Q0 ? "p0" : "CLs");
    write_cells(&table, r);
    table_close(&table);
    text_format(out, "\nCLsb %.6g   CLb %.6g   q %.6g   q_A %.6g   fits %s\n", r->clsb, r->clb, r->q,
                r->q_asimov, paritas_fit_status_name(r->status));
    if (!isnan(r->q_asimov_other))
        text_format(
            out,
            "The fit behind the Asimov data has two minima, equally low. By the other one: observed %.6g, "
            "median %.6g, q_A %.6g\n",
            r->cls_obs_other, r->cls_exp_other[2], r->q_asimov_other);
    if (r->bound_widened)
        text_format(out, "The upper bound of %s was widened to %.6g\n", poi_name(session), r->upper_bound);
    if (r->reason == PARITAS_REASON_UNDEFINED)
        text_format(out, "CLs is undefined: a fit or q_A is not finite, or q_A is 0\n");
}

const struct command command_hypotest = {
    .name = "hypotest",
    .operands = "WORKSPACE",
    .summary = "asymptotic CLs at one value, observed and expected",
    .description = "With --patchset and no --patch-name the whole patch set is tested. The output is one "
                   "JSON line, or one row, a patch, in the order of the patch set.",
    .groups = {GROUP_OPTIONS, GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(paritas_hypotest_result),
            .needs_poi = true,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
            .headers = "CLs observed|expected -2s|-1s|median|+1s|+2s|",
            .formats = "p p p p p p l",
            .write_cells = write_cells,
        },
};
