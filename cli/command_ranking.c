/* command_ranking.c: impacts, pulls and constraints. */
#include "session.h"
#include "record_output.h"
#include "table.h"

static const struct option options[] = {
    {"--top", 0, OPTION_COUNT, "N", "only the N largest"},
    {"--asimov", 0, OPTION_NUMBER, "MU",
     "rank on Asimov data: expected at the fit to the data with the parameter of interest held at MU"},
    {0},
};

static void write_json(struct session *session, const paritas_ranking_entry *entries, size_t shown,
                       paritas_fit_status worst)
{
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_string(w, "status", paritas_fit_status_name(worst));
    write_array(w, "entries", true);
    for (size_t i = 0; i < shown; i++) {
        const paritas_ranking_entry *e = &entries[i];
        write_object(w, NULL, false);
        write_string(w, "name", paritas_model_parameter_name(session->model, e->parameter));
        write_record(w, "paritas_ranking_entry", e);
        write_close(w);
    }
    write_close(w);
    write_provenance(session);
    write_close(w);
}

static void write_table(struct session *session, const paritas_ranking_entry *entries, size_t shown, size_t n)
{
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Impacts on %s: the %zu largest of %zu\n\n", poi_name(session), shown, n);
    table_open(&table, &session->context->allocator,
               "parameter|pull|constraint|impact up|down|prefit up|down|", "lrrrrrrl");
    for (size_t i = 0; i < shown; i++) {
        const paritas_ranking_entry *e = &entries[i];
        table_text(&table, paritas_model_parameter_name(session->model, e->parameter));
        table_decimal(&table, e->pull, 3);
        table_decimal(&table, e->constraint, 3);
        table_number(&table, e->impact_up, 4);
        table_number(&table, e->impact_down, 4);
        table_number(&table, e->prefit_up, 4);
        table_number(&table, e->prefit_down, 4);
        table_text(&table, e->status == PARITAS_FIT_CONVERGED ? "" : paritas_fit_status_name(e->status));
    }
    table_close(&table, out);
}

static int run(struct session *session)
{
    size_t n = 0;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = load_asimov(session);
    if (status != PARITAS_OK) return status;
    paritas_ranking_entry *entries = sized_records(session, session->n_parameters, sizeof *entries);
    if (entries == NULL) return paritas_fail_memory(session->context);
    status = paritas_ranking(session->context, session->model, &session->job, entries, &n);
    if (status != PARITAS_OK) return status;
    paritas_fit_status worst = PARITAS_FIT_CONVERGED;
    for (size_t i = 0; i < n; i++) {
        note_status(session, entries[i].status);
        if (entries[i].status > worst) worst = entries[i].status;
    }
    size_t shown = option_count(session->arguments, "--top", n);
    if (shown > n) shown = n;
    if (session->json)
        write_json(session, entries, shown, worst);
    else
        write_table(session, entries, shown, n);
    return PARITAS_OK;
}

const struct command command_ranking = {
    .name = "ranking",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "impacts of all parameters on the parameter of interest",
    .description = "Each parameter is held at its best value plus and minus its error, then plus and minus "
                   "its width before the fit. The others are fitted again. The impact is the shift of the "
                   "parameter of interest. Sorted by the larger impact.",
    .groups =
        {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
