/* inspect.c: what a workspace holds. */
#include "session/session.h"
#include "print/table.h"

#include <stdio.h>

static void write_parameter(struct writer *w, const struct session *session, size_t i, const char *constraint)
{
    const struct range bounds = bounds_of(session, i);
    write_object(w, NULL, false);
    write_members(w, "name:s constraint:s init:n", parameter_name(session, i), constraint,
                  paritas_model_suggested_init(session->model)[i]);
    write_numbers(w, "bounds", 2, (const double[2]){bounds.lower, bounds.upper});
    write_bool(w, "fixed", paritas_model_suggested_fixed(session->model)[i]);
    write_close(w);
}

static void write_json(struct session *session, const struct json *summary)
{
    struct writer *w = &session->writer;
    const paritas_model *model = session->model;
    write_object(w, NULL, true);
    write_string(w, "poi", poi_name(session));
    write_array(w, "pois", false);
    for (size_t k = 0; k < paritas_model_poi_count(model); k++)
        write_string(w, NULL, parameter_name(session, paritas_model_pois(model)[k]));
    write_close(w);
    write_array(w, "model_channels", true);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        write_object(w, NULL, false);
        write_members(w, "name:s bins:z", paritas_model_channel_name(model, c),
                      paritas_model_channel_bins(model, c));
        write_bool(w, "masked", paritas_model_channel_masked(model, c));
        write_array(w, "samples", false);
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++)
            write_string(w, NULL, paritas_model_sample_name(model, c, s));
        write_close(w);
        write_close(w);
    }
    write_close(w);
    write_array(w, "model_parameters", true);
    for (size_t k = 0; k < paritas_model_set_count(model); k++) {
        const paritas_parameter_set set = paritas_model_set(model, k);
        for (size_t i = 0; i < set.n; i++) write_parameter(w, session, set.first + i, set.constraint);
    }
    write_close(w);
    for (const struct json *entry = summary->first; entry; entry = entry->next)
        write_tree(w, entry->key, entry);
    write_close(w);
}

static const struct json *first_of(const struct json *list)
{
    return list ? list->first : NULL;
}

/* Leftovers that pyhf ignores. */
static void describe_unused(struct text *out, const struct json *unused)
{
    const struct json *one = first_of(json_get(unused, "observations"));
    for (; one; one = one->next)
        text_format(out, "unused: observation of '%s', which is no channel\n", one->text);
    static const struct {
        const char *key, *says, *why;
    } lists[] = {{"parameters", "configures", "is no parameter"},
                 {"pois", "names the parameter of interest", "is no parameter"},
                 {"functions", "has the function", "no modifier has"}};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (one = first_of(json_get(unused, lists[i].key)); one; one = one->next)
            text_format(out, "unused: measurement '%s' %s '%s', which %s\n", json_at(one, 0)->text,
                        lists[i].says, json_at(one, 1)->text, lists[i].why);
}

static void write_channels(struct session *session)
{
    const paritas_model *model = session->model;
    struct table table;
    table_open(&table, &session->out, "channel|bins|samples|", "l r l l");
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        char bins[24];
        snprintf(bins, sizeof bins, "%zu", paritas_model_channel_bins(model, c));
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++)
            table_row(&table, s == 0 ? paritas_model_channel_name(model, c) : "", s == 0 ? bins : "",
                      paritas_model_sample_name(model, c, s), s == 0 ? masked_word(session, c) : "");
    }
    table_close(&table);
}

static void write_parameters(struct session *session)
{
    const paritas_model *model = session->model;
    const unsigned char *flags = paritas_model_suggested_fixed(model);
    struct table table;
    table_open(&table, &session->out, "parameters|size|constraint|start|bounds|", "l z l 6 l l");
    for (size_t k = 0; k < paritas_model_set_count(model); k++) {
        const paritas_parameter_set set = paritas_model_set(model, k);
        const struct range first = bounds_of(session, set.first);
        char bounds[64], fixed[32];
        size_t n_fixed = 0;
        for (size_t i = 0; i < set.n; i++) n_fixed += flags[set.first + i] != 0;
        snprintf(bounds, sizeof bounds, "%.6g .. %.6g", first.lower, first.upper);
        snprintf(fixed, sizeof fixed, "%zu fixed", n_fixed);
        table_row(&table, set.name, set.n, set.constraint, paritas_model_suggested_init(model)[set.first],
                  bounds,
                  n_fixed == set.n ? "fixed"
                  : n_fixed > 0    ? fixed
                                   : "");
    }
    table_close(&table);
}

/* Factors that are expressions of parameters, in the measurement of this name. */
static void write_functions(struct session *session, const struct json *functions, const char *measurement)
{
    struct table table;
    bool any = false;
    for (const struct json *one = first_of(functions); one; one = one->next) {
        if (!json_text_is(json_at(one, 0), measurement)) continue;
        if (!any) table_open(&table, &session->out, "function|expression", "l l");
        any = true;
        table_row(&table, json_at(one, 1)->text, json_at(one, 2)->text);
    }
    if (!any) return;
    table_close(&table);
    text_format(&session->out, "\n");
}

/* Parameters of correlations, or of penalties, in the measurement of this name. */
static void write_groups(struct session *session, const char *what, const struct json *correlations,
                         const char *measurement)
{
    bool any = false;
    for (const struct json *one = first_of(correlations); one; one = one->next) {
        const struct json *names = json_at(one, 2);
        if (!json_text_is(json_at(one, 0), measurement)) continue;
        any = true;
        text_format(&session->out, "%s (%s, %u parameters):", what, json_at(one, 1)->text, names->count);
        for (const struct json *name = first_of(names); name; name = name->next)
            text_format(&session->out, "%s %s", name == names->first ? "" : ",", name->text);
        text_format(&session->out, "\n");
    }
    if (any) text_format(&session->out, "\n");
}

/* The one of --poi, or all that the measurement lists. */
static void describe_pois(struct session *session)
{
    const paritas_model *model = session->model;
    const size_t n = paritas_model_poi_count(model);
    struct text *out = &session->out;
    if (n < 2 || option_given(session, "--poi")) {
        text_format(out, "Parameter of interest: %s\n\n", poi_name(session) ? poi_name(session) : "none");
        return;
    }
    text_format(out, "Parameters of interest:");
    for (size_t k = 0; k < n; k++)
        text_format(out, "%s %s", k > 0 ? "," : "", parameter_name(session, paritas_model_pois(model)[k]));
    text_format(out, "\n\n");
}

static void write_tables(struct session *session, const struct json *summary)
{
    struct text *out = &session->out;
    struct table table;
    text_format(out, "%zu channels, %zu bins, %zu parameters, %zu auxiliary data\n",
                paritas_model_channel_count(session->model), session->n_main, session->n_parameters,
                session->n_aux);
    describe_pois(session);
    write_channels(session);
    text_format(out, "\n");
    write_parameters(session);
    text_format(out, "\n");
    const struct json *first = first_of(json_get(summary, "measurements"));
    const char *wanted = option_text(session, "--measurement"),
               *measurement = wanted ? wanted : json_at(first, 0)->text;
    write_functions(session, json_get(summary, "functions"), measurement);
    write_groups(session, "Correlated", json_get(summary, "correlations"), measurement);
    write_groups(session, "Penalised", json_get(summary, "penalties"), measurement);
    table_open(&table, out, "|measurement|poi", "l l l");
    for (const struct json *one = first; one; one = one->next) {
        const bool used = wanted ? json_text_is(json_at(one, 0), wanted) : one == first;
        table_row(&table, used ? "*" : "", json_at(one, 0)->text, json_at(one, 1)->text);
    }
    table_close(&table);
    describe_unused(out, json_get(summary, "unused"));
}

static int run(struct session *session)
{
    struct paritas_workspace *summary = NULL;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = refuse_several_pois(session);
    if (status == PARITAS_OK)
        status = paritas_workspace_inspect(session->context, session->workspace, &summary);
    if (status == PARITAS_OK && session->json) write_json(session, summary->root);
    if (status == PARITAS_OK && !session->json) write_tables(session, summary->root);
    paritas_workspace_free(summary);
    return status;
}

const struct command command_inspect = {
    .name = "inspect",
    .operands = "WORKSPACE",
    .summary = "channels, samples, parameters, measurements, and unused items",
    .groups = {GROUP_PATCHES, GROUP_MODEL, GROUP_OUTPUT},
    .run = run,
};
