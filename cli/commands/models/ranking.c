/* ranking.c: impacts, pulls and constraints. */
#include "analysis.h"
#include "commands/models/global_impacts.h"
#include "print/record_output.h"

static const struct option options[] = {
    {"--top", OPTION_COUNT, "N", "only the N largest"},
    {"--impacts", OPTION_CHOICE, "conditional|global",
     "of each parameter, by refits, or of its auxiliary datum, by derivatives", "conditional"},
    OPTION_GROUPS,
    {0},
};

struct ranking {
    paritas_ranking_entry *entries;
    size_t n, shown;
    paritas_fit_status worst;
    struct parameter_groups groups;
    struct global_impacts *global; /* NULL: conditional impacts */
};

static paritas_status analyse(struct session *session, void *result)
{
    struct ranking *r = result;
    const size_t top = option_count(session, "--top");
    if (option_value(session, "--impacts")->choice == 1) return global_analyse(session, top, &r->global);
    r->entries = arena_records(session, session->n_parameters, sizeof *r->entries);
    TRY(allocated(session));
    TRY(paritas_ranking(session->context, session->model, &session->job, r->entries, &r->n));
    r->worst = PARITAS_FIT_CONVERGED;
    for (size_t i = 0; i < r->n; i++) {
        note_status(session, r->entries[i].status);
        if (r->entries[i].status > r->worst) r->worst = r->entries[i].status;
    }
    if (r->n == 0) { /* nothing to shift: the fit alone can fail */
        paritas_fit_result fit = PARITAS_INIT(paritas_fit_result);
        TRY(fit_best(session, (paritas_fit_answers){.results = &fit}));
        note_status(session, fit.status);
        r->worst = fit.status;
    }
    r->shown = top > 0 && top < r->n ? top : r->n;
    return groups_break_down(session, &r->groups);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct ranking *r = result;
    if (r->global) {
        global_write(session, w, r->global);
        return;
    }
    write_string(w, "status", paritas_fit_status_name(r->worst));
    write_array(w, "entries", true);
    for (size_t i = 0; i < r->shown; i++)
        write_record_row(w, parameter_name(session, r->entries[i].parameter), "paritas_ranking_entry",
                         &r->entries[i]);
    write_close(w);
    write_minima(w, r->n > 0 ? &r->entries[0].minima : &(paritas_minima){0});
    groups_write(w, &r->groups);
}

static bool all_are_zero(const struct ranking *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->entries[i].impact_up != 0.0 || r->entries[i].impact_down != 0.0) return false;
    return r->n > 0;
}

static void write_text(struct session *session, const void *result)
{
    const struct ranking *r = result;
    struct table table;
    if (r->global) {
        global_describe(session, r->global);
        return;
    }
    text_format(&session->out, "Impacts on %s: the %zu largest of %zu\n\n", poi_name(session), r->shown,
                r->n);
    table_open(&table, &session->out, "parameter|pull|constraint|impact up|down|prefit up|down|",
               "l .3 .3 4 4 4 4 l");
    for (size_t i = 0; i < r->shown; i++) {
        const paritas_ranking_entry *e = &r->entries[i];
        table_row(&table, parameter_name(session, e->parameter), e->pull, e->constraint, e->impact_up,
                  e->impact_down, e->prefit_up, e->prefit_down, failure_word(e->status));
    }
    table_close(&table);
    if (all_are_zero(r))
        text_format(&session->out, "\nAll impacts are 0: %s stays at its bound\n", poi_name(session));
    groups_describe(session, &r->groups);
}

const struct command command_ranking = {
    .name = "ranking",
    .operands = "WORKSPACE",
    .summary = "impacts of all parameters on the parameter of interest",
    .description = "Each parameter is fixed at its best value plus and minus its error, then plus and minus "
                   "its width before the fit. The others are fitted again. The impact is the shift of the "
                   "parameter of interest. Sorted by the larger impact. --groups holds each group of "
                   "parameters at its best fit and fits again. The part of the error that this removes, in "
                   "quadrature, is the group's impact. --impacts global moves data instead: the "
                   "auxiliary datum of each parameter by its standard deviation, and the counts. These parts "
                   "of the error add up in quadrature.",
    .groups = {GROUP_OPTIONS, GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct ranking),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
