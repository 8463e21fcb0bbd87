/* significance.c: significance of a discovery. */
#include "session.h"
#include "table.h"

static int run(struct session *session)
{
    paritas_significance_result r;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = paritas_significance(session->context, session->model, &session->job, &r);
    if (status != PARITAS_OK) return status;
    note_status(session, r.status);
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_number(w, "p0", r.p0);
        write_number(w, "Z", r.z);
        write_number(w, "p0_exp", r.p0_exp);
        write_number(w, "Z_exp", r.z_exp);
        write_number(w, "q0", r.q0);
        write_number(w, "mu_hat", r.mu_hat);
        write_string(w, "status", paritas_fit_status_name(r.status));
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    struct table table;
    text_format(&session->out, "%s: best fit %.6g, fits %s\n\n", poi_name(session), r.mu_hat, paritas_fit_status_name(r.status));
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
    .description = "Asymptotic, from q0. Expected: for a parameter of interest of 1.",
    .groups = {GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
