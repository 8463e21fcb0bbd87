/* command_gof.c: goodness of fit. */
#include "session.h"
#include "record_output.h"
#include "toy_runs.h"

static const struct option options[] = {
    {"--asimov", 0, OPTION_NUMBER, "MU",
     "of Asimov data: expected at the fit to the data with the parameter of interest held at MU"},
    {"--toys", 0, OPTION_FLAG, NULL, "the p-value by toys drawn at the best fit, too"},
    {0},
};

/* Options of toys without --toys would do nothing. */
static paritas_status check_usage(struct session *session)
{
    for (const struct option *option = options_toys;
         option->name != NULL && !option_flag(session->arguments, "--toys"); option++) {
        if (option_given(session->arguments, option->name) == NULL) continue;
        return usage_failure(session, "%s needs --toys", option->name);
    }
    return PARITAS_OK;
}

static int run(struct session *session)
{
    const bool by_toys = option_flag(session->arguments, "--toys");
    paritas_gof_toys_result all = PARITAS_INIT(paritas_gof_toys_result);
    paritas_gof_result r = PARITAS_INIT(paritas_gof_result);
    struct toy_run toys;
    paritas_status status = check_usage(session);
    if (status == PARITAS_OK) status = load_model(session);
    if (status == PARITAS_OK) status = load_asimov(session);
    if (status == PARITAS_OK && by_toys) {
        status = toy_run_open(session, &toys);
        if (status == PARITAS_OK)
            status =
                paritas_gof_toys(session->context, session->model, &session->job, &toys.options, &all, &r);
    } else if (status == PARITAS_OK) {
        status = paritas_gof(session->context, session->model, &session->job, &r);
    }
    if (status != PARITAS_OK) return status;
    if (by_toys) toy_run_close(session, &toys, all.tally.counts);
    note_status(session, r.status);
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_fields(w, "paritas_gof_result", &r, "twice_nll", "p");
        if (by_toys) {
            write_record(w, "paritas_gof_toys_result", &all);
            toy_run_write(w, &toys, &all.tally);
        }
        write_string(w, "status", paritas_fit_status_name(r.status));
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    text_format(&session->out,
                "2 NLL %.10g at the best fit (%s), %.10g saturated\nchi2 = %.6g for %zu degrees of freedom",
                r.twice_nll, paritas_fit_status_name(r.status), r.saturated, r.statistic, r.ndof);
    if (r.ndof > 0)
        text_format(&session->out, ", p = %.4g\n", r.p);
    else
        text_format(&session->out, ": no p-value\n");
    if (by_toys) {
        text_format(&session->out, "by toys p = %.4g +- %.2g\n", all.p, all.p_error);
        toy_run_describe(&session->out, &toys, &all.tally);
    }
    return PARITAS_OK;
}

const struct command command_gof = {
    .name = "gof",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "goodness of fit against the saturated model",
    .description = "Degrees of freedom: bins less free parameters without a constraint. --toys needs none: "
                   "it draws data at the best fit, fits each, and\n"
                   "counts those whose statistic is at least the observed one.",
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
