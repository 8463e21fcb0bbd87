/* global_impacts.c: parts of the error by auxiliary data, by groups of them, and by counts. */
#include "commands/models/global_impacts.h"
#include "analysis.h"
#include "print/record_output.h"
#include "print/table.h"

#include <math.h>

struct global_impacts {
    paritas_global_result result;
    paritas_global_impact *entries;
    size_t shown;
    struct parameter_groups groups;
    double *parts; /* of the groups */
};

paritas_status global_analyse(struct session *session, size_t top, struct global_impacts **global)
{
    struct global_impacts *g = arena_element(session, sizeof *g);
    TRY(allocated(session));
    TRY(groups_read(session, &g->groups));
    g->result = (paritas_global_result)PARITAS_INIT(paritas_global_result);
    g->entries = arena_records(session, session->n_parameters, sizeof *g->entries);
    g->parts = arena_numbers(session, g->groups.n);
    TRY(allocated(session));
    TRY(paritas_global_impacts(session->context, session->model, &session->job, g->groups.n,
                               g->groups.members, &g->result, g->entries, g->parts));
    note_status(session, g->result.status);
    g->shown = top > 0 && top < g->result.sources ? top : g->result.sources;
    *global = g;
    return PARITAS_OK;
}

void global_write(struct session *session, struct writer *w, const struct global_impacts *g)
{
    write_string(w, "impacts", "global");
    write_record(w, "paritas_global_result", &g->result);
    write_array(w, "entries", true);
    for (size_t i = 0; i < g->shown; i++)
        write_record_row(w, parameter_name(session, g->entries[i].parameter), "paritas_global_impact",
                         &g->entries[i]);
    write_close(w);
    if (g->groups.n == 0) return;
    write_array(w, "groups", true);
    for (size_t i = 0; i < g->groups.n; i++) {
        write_object(w, NULL, false);
        write_members(w, "name:s impact:n", g->groups.names[i], g->parts[i]);
        write_close(w);
    }
    write_close(w);
}

static void describe_parts(struct session *session, const struct global_impacts *g)
{
    struct table table;
    table_open(&table, &session->out, "part|impact", "l 4");
    table_row(&table, "statistical", g->result.statistical);
    table_row(&table, "systematic", g->result.systematic);
    for (size_t i = 0; i < g->groups.n; i++) table_row(&table, g->groups.names[i], g->parts[i]);
    table_close(&table);
}

void global_describe(struct session *session, const struct global_impacts *g)
{
    const paritas_global_result *r = &g->result;
    struct table table;
    if (isnan(r->total)) {
        describe_no_error(session, r->best, r->status, r->state);
        return;
    }
    text_format(&session->out, "Global impacts on %s: the %zu largest of %zu\n\n", poi_name(session),
                g->shown, r->sources);
    table_open(&table, &session->out, "parameter|pull|constraint|impact", "l .3 .3 4");
    for (size_t i = 0; i < g->shown; i++)
        table_row(&table, parameter_name(session, g->entries[i].parameter), g->entries[i].pull,
                  g->entries[i].constraint, g->entries[i].impact);
    table_close(&table);
    text_format(&session->out, "\n%s = %s +- %s. Parts, which add up in quadrature to %s:\n\n",
                poi_name(session), shown(r->best, 6).text, shown(r->total, 4).text, shown(r->sum, 4).text);
    describe_parts(session, g);
}
