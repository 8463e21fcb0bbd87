/* command_hypotest_toys.c: CLs, or p0, by toys. */
#include "session.h"
#include "statistics.h"
#include "toy_runs.h"

static const struct option options[] = {
    {"--mu", 0, OPTION_NUMBER, "MU", "tested value of the parameter of interest; default: 1"},
    {"--test-stat", 0, OPTION_CHOICE, "qtilde|q|q0", "default: qtilde; q0 tests 0"},
    {"--expected", 0, OPTION_FLAG, NULL, "the expected band, too; it is always there"},
    {0},
};

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    paritas_hypotest_toys_result r = PARITAS_INIT(paritas_hypotest_toys_result);
    struct toy_run toys;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = toy_run_open(session, &toys);
    if (status == PARITAS_OK)
        status = paritas_hypotest_toys(session->context, session->model, &session->job,
                                       statistic_of(option_text(arguments, "--test-stat", "qtilde")),
                                       option_number(arguments, "--mu", 1.0), &toys.options, &r);
    if (status != PARITAS_OK) return status;
    toy_run_close(session, &toys, r.tally.counts);
    note_status(session, r.status);
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        hypotest_toys_write(w, &r);
        toy_run_write(w, &toys, &r.tally);
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    hypotest_toys_describe(session, poi_name(session), &r);
    toy_run_describe(&session->out, &toys, &r.tally);
    return PARITAS_OK;
}

const struct command command_hypotest_toys = {
    .name = "hypotest-toys",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "CLs by toys",
    .description = "Main and auxiliary data are drawn around the conditional fits to the observed data: at "
                   "the tested value and at 0 (q0: 0 and 1). Each toy gets a free and a conditional fit. Toy "
                   "number t depends only on --seed and t.",
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
