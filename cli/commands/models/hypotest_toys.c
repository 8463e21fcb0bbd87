/* hypotest_toys.c: CLs or p0 by toys. */
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

static const struct option options[] = {
    {"--mu", OPTION_NUMBER, "MU", "tested value of the parameter of interest, also beyond its upper bound",
     "1"},
    {"--test-stat", .words = "paritas_test_statistic", .help = "test statistic; q0 tests 0"},
    {"--expected", OPTION_FLAG, NULL, "no effect: the answer always has the expected band"},
    OPTIONS_IMPORTANCE(NULL),
    {0},
};

struct tested {
    paritas_hypotest_toys_result test;
    struct toy_run toys;
};

static paritas_status analyse(struct session *session, void *result)
{
    struct tested *t = result;
    t->test.size = sizeof t->test;
    TRY(toy_run_open(session, &t->toys));
    const paritas_test_statistic statistic = statistic_of(session);
    const double mu = option_number(session, "--mu");
    paritas_status status = paritas_hypotest_toys(session->context, session->model, &session->job, statistic,
                                                  mu, &t->toys.options, &t->test);
    if (toy_run_lacks_place(session, &status, &t->test)) {
        record_clear("paritas_hypotest_toys_result", &t->test, PARITAS_FIT_NON_FINITE);
        t->test.mu = statistic == PARITAS_STATISTIC_Q0 ? 0.0 : mu;
    }
    TRY(status);
    toy_run_close(session, &t->toys, &t->test.tally);
    note_status(session, t->test.status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct tested *t = result;
    (void)session;
    hypotest_toys_write(w, &t->test);
    toy_run_write(w, &t->toys);
}

static void write_text(struct session *session, const void *result)
{
    const struct tested *t = result;
    hypotest_toys_describe(session, poi_name(session), &t->test);
    toy_run_describe(&session->out, &t->toys);
}

const struct command command_hypotest_toys = {
    .name = "hypotest-toys",
    .operands = "WORKSPACE",
    .summary = "CLs by toys",
    .description = "Main and auxiliary data are drawn around the conditional fits to the observed data: at "
                   "the tested value and at 0 (q0: 0 and 1). Each toy gets a free and a conditional fit. Toy "
                   "number t depends only on --seed and t.",
    .groups = {GROUP_OPTIONS, GROUP_TOYS(NULL), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct tested),
            .needs_poi = true,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
