/* parameter_groups.c: reads --groups, asks for the breakdown, writes it. */
#include "commands/models/parameter_groups.h"
#include "analysis.h"
#include "print/record_output.h"
#include "print/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static paritas_status add_group(struct session *session, struct parameter_groups *groups, const char *name,
                                size_t length)
{
    const size_t p = session->n_parameters;
    for (size_t i = 0; i < groups->n; i++)
        if (strlen(groups->names[i]) == length && memcmp(groups->names[i], name, length) == 0)
            return usage_failure(session, "--groups: two groups are named %s", groups->names[i]);
    groups->names = arena_grown(session, groups->names, groups->n, sizeof *groups->names);
    groups->members = arena_grown(session, groups->members, groups->n, p);
    TRY(allocated(session));
    groups->names[groups->n] = arena_copied(session, name, length);
    memset(groups->members + groups->n * p, 0, p);
    groups->n++;
    return allocated(session);
}

/* Patterns between commas, to the last group. `source`: the option or the file. `card`: nuisances without
 * effect are no parameters. */
static paritas_status add_patterns(struct session *session, struct parameter_groups *groups,
                                   const char *source, const char *patterns, bool card)
{
    const char *name = groups->names[groups->n - 1];
    unsigned char *members = groups->members + (groups->n - 1) * session->n_parameters;
    const ptrdiff_t poi = poi_of(session);
    for (const char *at = patterns;; at++) {
        const size_t length = strcspn(at, ",");
        const char *pattern = arena_copied(session, at, length);
        TRY(allocated(session));
        const paritas_status status =
            paritas_match_parameters(session->context, session->model, pattern, members);
        if (status == PARITAS_NOT_FOUND && !card)
            return wrong_input(session, "%s: group %s: no parameter has a name like '%s'", source, name,
                               pattern);
        if (status != PARITAS_NOT_FOUND) TRY(status);
        if (poi >= 0 && members[poi])
            return wrong_input(session, "%s: group %s: '%s' holds the parameter of interest %s", source, name,
                               pattern, poi_name(session));
        at += length;
        if (*at == '\0') return PARITAS_OK;
    }
}

/* NAME=PATTERN,PATTERN */
static paritas_status read_text(struct session *session, struct parameter_groups *groups, const char *text)
{
    const char *equals = strchr(text, '='), *end = strrchr(text, '.');
    const bool like_file = end && strcmp(end, ".json") == 0;
    TRY(add_group(session, groups, text, (size_t)(equals - text)));
    return add_patterns(session, groups, like_file ? "--groups, which names no file" : "--groups", equals + 1,
                        false);
}

static paritas_status read_object(struct session *session, struct parameter_groups *groups, const char *path,
                                  const struct json *root, bool card)
{
    if (!json_is(root, JSON_OBJECT))
        return wrong_input(session, "%s: groups are an object of names and patterns, not %s", path,
                           json_type_name(root));
    if (!root->first) return wrong_input(session, "%s: there is no group", path);
    for (const struct json *group = root->first; group; group = group->next) {
        const bool several = json_is(group, JSON_ARRAY);
        TRY(add_group(session, groups, group->key, strlen(group->key)));
        if (several && !group->first)
            return wrong_input(session, "%s: group %s has no pattern", path, group->key);
        for (const struct json *one = several ? group->first : group; one; one = several ? one->next : NULL) {
            if (!json_is(one, JSON_STRING))
                return wrong_input(session, "%s: %s: a pattern is a text, not %s", path, group->key,
                                   json_type_name(one));
            TRY(add_patterns(session, groups, path, one->text, card));
        }
    }
    return PARITAS_OK;
}

static paritas_status read_file(struct session *session, struct parameter_groups *groups, const char *path)
{
    struct paritas_workspace *document = NULL;
    const bool card = paritas_is_datacard(path) != 0;
    TRY((card ? paritas_datacard_groups : json_read_file)(session->context, path, &document));
    const paritas_status status = read_object(session, groups, path, document->root, card);
    paritas_workspace_free(document);
    return status;
}

/* NAME=PATTERN, unless there is a file of that name. */
static bool is_text(const char *given)
{
    FILE *file = strchr(given, '=') ? fopen(given, "rb") : NULL;
    if (file) fclose(file);
    return strchr(given, '=') && !file;
}

paritas_status groups_read(struct session *session, struct parameter_groups *groups)
{
    size_t at = 0;
    for (const struct given *given; (given = option_next(session, "--groups", &at));)
        TRY(is_text(given->text) ? read_text(session, groups, given->text)
                                 : read_file(session, groups, given->text));
    return PARITAS_OK;
}

paritas_status groups_break_down(struct session *session, struct parameter_groups *groups)
{
    TRY(groups_read(session, groups));
    if (groups->n == 0 && session->json) return PARITAS_OK;
    groups->total = (paritas_breakdown_result)PARITAS_INIT(paritas_breakdown_result);
    groups->parts = arena_records(session, groups->n, sizeof *groups->parts);
    TRY(allocated(session));
    TRY(paritas_breakdown(session->context, session->model, &session->job, groups->n, groups->members,
                          &groups->total, groups->parts));
    note_status(session, groups->total.status);
    return PARITAS_OK;
}

void groups_write(struct writer *w, const struct parameter_groups *groups)
{
    if (groups->n == 0) return;
    write_object(w, "breakdown", true);
    write_record(w, "paritas_breakdown_result", &groups->total);
    write_array(w, "groups", true);
    for (size_t i = 0; i < groups->n; i++)
        write_record_row(w, groups->names[i], "paritas_breakdown_group", &groups->parts[i]);
    write_close(w);
    write_close(w);
}

void describe_no_error(struct session *session, double best, paritas_fit_status status,
                       paritas_parameter_state state)
{
    const bool failed = status != PARITAS_FIT_CONVERGED;
    const paritas_word *words =
        paritas_enumeration_find(failed ? "paritas_fit_status" : "paritas_parameter_state")->words;
    const paritas_word *why = &words[failed ? (int)status : (int)state];
    text_format(&session->out, "%s = %s has no error to break down: %s, %s\n", poi_name(session),
                shown(best, 6).text, why->word,
                state == PARITAS_PARAMETER_FREE && !failed ? "but the likelihood is flat" : why->doc);
}

void groups_describe(struct session *session, const struct parameter_groups *groups)
{
    const paritas_breakdown_result *total = &groups->total;
    struct table table;
    if (isnan(total->total)) {
        text_format(&session->out, "\n");
        describe_no_error(session, total->best, total->status, total->state);
        return;
    }
    text_format(&session->out, "\n%s = %.6g +- %.4g, ", poi_name(session), total->best, total->total);
    if (isnan(total->statistical)) /* an edge of the domain may fix it then */
        text_format(&session->out, "without parts: with all constrained parameters held it has no error\n");
    else
        text_format(&session->out, "of that statistical %.4g, systematic %.4g\n", total->statistical,
                    total->systematic);
    if (groups->n == 0) return;
    text_format(&session->out, "\n");
    table_open(&table, &session->out, "group|impact|error without|parameters|", "l 4 4 z l");
    for (size_t i = 0; i < groups->n; i++)
        table_row(&table, groups->names[i], groups->parts[i].impact, groups->parts[i].without,
                  groups->parts[i].held, failure_word(groups->parts[i].status));
    table_close(&table);
}
