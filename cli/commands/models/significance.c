/* significance.c: discovery significance, by formula or toys. */
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <math.h>

static const struct option options[] = {
    {"--calc", OPTION_CHOICE, "asymptotic|toys", "by formula, or by toys", "asymptotic"},
    OPTIONS_IMPORTANCE("--calc toys"),
    {0},
};

static paritas_status analyse(struct session *session, void *result)
{
    paritas_significance_result *r = result;
    r->size = sizeof *r;
    TRY(paritas_significance(session->context, session->model, &session->job, r));
    note_status(session, r->status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    (void)session;
    write_record(w, "paritas_significance_result", result);
}

static void write_text(struct session *session, const void *result)
{
    const paritas_significance_result *r = result;
    struct table table;
    table_open(&table, &session->out, "|Z|p0", "l .4 5");
    table_row(&table, data_word(session), r->z, r->p0);
    table_row(&table, "expected for 1", r->z_exp, r->p0_exp);
    table_close(&table);
    text_format(&session->out, "\n");
    describe_fits(&session->out, "fits", r->status, poi_name(session), r->mu_hat);
    describe_widening(session, r->bound_widened != 0, r->upper_bound, r->mu_hat);
}

struct tested {
    paritas_significance_toys_result result;
    paritas_hypotest_toys_result test;
    struct toy_run toys;
};

static paritas_status analyse_toys(struct session *session, void *result)
{
    struct tested *t = result;
    t->result.size = sizeof t->result;
    t->test.size = sizeof t->test;
    TRY(toy_run_open(session, &t->toys));
    paritas_status status = paritas_significance_toys(session->context, session->model, &session->job,
                                                      &t->toys.options, &t->result, &t->test);
    if (toy_run_lacks_place(session, &status, &t->test)) {
        record_clear("paritas_significance_toys_result", &t->result, PARITAS_FIT_NON_FINITE);
        record_clear("paritas_hypotest_toys_result", &t->test, PARITAS_FIT_NON_FINITE);
    }
    TRY(status);
    toy_run_close(session, &t->toys, &t->test.tally);
    note_status(session, t->test.status);
    return PARITAS_OK;
}

static void write_keys_toys(struct session *session, struct writer *w, const void *result)
{
    const struct tested *t = result;
    (void)session;
    write_string(w, "calc", "toys");
    write_record(w, "paritas_significance_toys_result", &t->result);
    write_numbers(w, "p0_exp_band", 5, t->test.cls_exp);
    write_numbers(w, "p0_exp_band_error", 5, t->test.cls_exp_error);
    importance_write(w, &t->test);
    write_members(w, "q0:n mu_hat:n status:s", t->test.q, t->test.mu_hat,
                  paritas_fit_status_name(t->test.status));
    toy_run_write(w, &t->toys);
}

/* Z, or its lower limit if no toy is as extreme. */
static void write_z(struct table *table, const char *name, double z, double at_least)
{
    table_text(table, name);
    if (isnan(at_least))
        table_decimal(table, z, 4);
    else
        table_format(table, "> %.4f", at_least);
}

static void write_text_toys(struct session *session, const void *result)
{
    const struct tested *t = result;
    const paritas_significance_toys_result *r = &t->result;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "q0 = %s\n", shown(t->test.q, 6).text);
    describe_fits(out, "fits to the data", t->test.status, poi_name(session), t->test.mu_hat);
    text_format(out, "\n");
    table_open(&table, out, "|Z|error|p0|error", "l r 2 5 2");
    write_z(&table, data_word(session), r->z, r->z_at_least);
    table_row(&table, r->z_error, r->p0, r->p0_error);
    write_z(&table, "expected for 1", r->z_exp, r->z_exp_at_least);
    table_row(&table, r->z_exp_error, r->p0_exp, r->p0_exp_error);
    table_close(&table);
    importance_describe(out, &t->test);
    if (!isnan(r->z_at_least) || !isnan(r->z_exp_at_least))
        text_format(out, "\nZ after >: no toy reaches that q0; at 95 %% confidence\n");
    toy_run_describe(out, &t->toys);
}

const struct command command_significance = {
    .name = "significance",
    .operands = "WORKSPACE",
    .summary = "significance of a discovery, observed and expected",
    .description = "The test statistic is q0. The expected significance is for a parameter of interest of 1. "
                   "With --calc toys p0 is the part of the toys drawn at 0 whose q0 is at least the observed "
                   "one. The expected p0 uses the median q0 of "
                   "toys drawn at 1. If no toy is as extreme, Z is a lower limit. `hypotest-toys --test-stat "
                   "q0` uses the same stores.",
    .groups = {GROUP_OPTIONS, GROUP_TOYS("--calc toys"), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(paritas_significance_result),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
    .by_toys =
        {
            .result_size = sizeof(struct tested),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse_toys,
            .write_keys = write_keys_toys,
            .write_text = write_text_toys,
        },
};
