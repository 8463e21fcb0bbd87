/* command_significance.c: significance of a discovery, by formula or by toys. */
#include "session.h"
#include "record_output.h"
#include "table.h"
#include "toy_runs.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"--calc", 0, OPTION_CHOICE, "asymptotic|toys", "by formula, or by toys; default: asymptotic"},
    {0},
};

static void write_toys_json(struct session *session, const struct toy_run *toys,
                            const paritas_significance_toys_result *r,
                            const paritas_hypotest_toys_result *test)
{
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_string(w, "calc", "toys");
    write_record(w, "paritas_significance_toys_result", r);
    write_numbers(w, "p0_exp_band", 5, test->cls_exp);
    write_numbers(w, "p0_exp_band_error", 5, test->cls_exp_error);
    write_number(w, "q0", test->q);
    write_number(w, "mu_hat", test->mu_hat);
    write_string(w, "status", paritas_fit_status_name(test->status));
    toy_run_write(w, toys, &test->tally);
    write_provenance(session);
    write_close(w);
}

static void write_toys_row(struct table *table, const char *name, double z, double z_error, double at_least,
                           double p, double p_error)
{
    table_text(table, name);
    if (isnan(at_least))
        table_decimal(table, z, 4);
    else
        table_format(table, "> %.4f", at_least);
    table_number(table, z_error, 2);
    table_number(table, p, 5);
    table_number(table, p_error, 2);
}

static void write_toys_table(struct session *session, const struct toy_run *toys,
                             const paritas_significance_toys_result *r,
                             const paritas_hypotest_toys_result *test)
{
    struct table table;
    text_format(&session->out, "%s: best fit %.6g, q0 = %.6g, fits %s\n\n", poi_name(session), test->mu_hat,
                test->q, paritas_fit_status_name(test->status));
    table_open(&table, &session->context->allocator, "|Z|error|p0|error", "lrrrr");
    write_toys_row(&table, "observed", r->z, r->z_error, r->z_at_least, r->p0, r->p0_error);
    write_toys_row(&table, "expected for 1", r->z_exp, r->z_exp_error, r->z_exp_at_least, r->p0_exp,
                   r->p0_exp_error);
    table_close(&table, &session->out);
    if (!isnan(r->z_at_least) || !isnan(r->z_exp_at_least))
        text_format(&session->out, "\nZ after >: no toy reaches that q0; at 95 %% confidence\n");
    toy_run_describe(&session->out, toys, &test->tally);
}

static paritas_status run_toys(struct session *session)
{
    paritas_significance_toys_result r = PARITAS_INIT(paritas_significance_toys_result);
    paritas_hypotest_toys_result test = PARITAS_INIT(paritas_hypotest_toys_result);
    struct toy_run toys;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = toy_run_open(session, &toys);
    if (status == PARITAS_OK)
        status = paritas_significance_toys(session->context, session->model, &session->job, &toys.options, &r,
                                           &test);
    if (status != PARITAS_OK) return status;
    toy_run_close(session, &toys, test.tally.counts);
    note_status(session, test.status);
    if (session->json)
        write_toys_json(session, &toys, &r, &test);
    else
        write_toys_table(session, &toys, &r, &test);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    if (strcmp(option_text(session->arguments, "--calc", "asymptotic"), "toys") == 0)
        return run_toys(session);
    const char *lone = toy_option_given(session->arguments);
    if (lone != NULL) return usage_failure(session, "%s needs --calc toys", lone);
    paritas_significance_result r = PARITAS_INIT(paritas_significance_result);
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK)
        status = paritas_significance(session->context, session->model, &session->job, &r);
    if (status != PARITAS_OK) return status;
    note_status(session, r.status);
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_record(w, "paritas_significance_result", &r);
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    struct table table;
    text_format(&session->out, "%s: best fit %.6g, fits %s\n\n", poi_name(session), r.mu_hat,
                paritas_fit_status_name(r.status));
    table_open(&table, &session->context->allocator, "|Z|p0", "lrr");
    table_text(&table, "observed");
    table_decimal(&table, r.z, 4);
    table_number(&table, r.p0, 5);
    table_text(&table, "expected for 1");
    table_decimal(&table, r.z_exp, 4);
    table_number(&table, r.p0_exp, 5);
    table_close(&table, &session->out);
    return PARITAS_OK;
}

const struct command command_significance = {
    .name = "significance",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "significance of a discovery, observed and expected",
    .description = "From q0. Expected: for a parameter of interest of 1. By toys: p0 is the part of the toys "
                   "drawn at 0 whose q0 is at least the observed one. The expected p0 uses the median q0 of "
                   "toys drawn at 1. If no toy is as extreme, Z is a lower limit. `hypotest-toys --test-stat "
                   "q0` uses the same stores.",
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
