/* gof.c: goodness of fit. */
#include "session.h"

static const struct option options[] = {
    {"--asimov", 0, OPTION_NUMBER, "MU", "of Asimov data: expected at the fit to the data with the parameter of interest held at MU"},
    {0},
};

static int run(struct session *session)
{
    paritas_gof_result r;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = load_asimov(session);
    if (status == PARITAS_OK) status = paritas_gof(session->context, session->model, &session->job, &r);
    if (status != PARITAS_OK) return status;
    note_status(session, r.status);
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_number(w, "twice_nll", r.twice_nll);
        write_number(w, "saturated", r.saturated);
        write_number(w, "statistic", r.statistic);
        write_integer(w, "ndof", r.ndof);
        write_number(w, "p", r.p);
        write_string(w, "status", paritas_fit_status_name(r.status));
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    text_format(&session->out, "2 NLL %.10g at the best fit (%s), %.10g saturated\nchi2 = %.6g for %zu degrees of freedom", r.twice_nll,
                paritas_fit_status_name(r.status), r.saturated, r.statistic, r.ndof);
    if (r.ndof > 0)
        text_format(&session->out, ", p = %.4g\n", r.p);
    else
        text_format(&session->out, ": no p-value\n");
    return PARITAS_OK;
}

const struct command command_gof = {
    .name = "gof",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "goodness of fit against the saturated model",
    .description = "Degrees of freedom: bins less free parameters without a constraint.",
    .groups = {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
