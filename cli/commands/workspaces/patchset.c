/* patchset.c: shows patch sets and extracts patches. */
#include "print/document_output.h"
#include "print/table.h"

#include <string.h>

static const struct option options[] = {
    {"--name", OPTION_TEXT, "NAME", "the patch, for extract and apply"},
    {"--with-metadata", OPTION_FLAG, NULL, "extract: the patch with its metadata"},
    {"--without-metadata", OPTION_FLAG, NULL, "extract: the patch alone; the default"},
    {0},
};

static paritas_status find_patch(struct session *session, const paritas_workspace *patchset,
                                 const char *wanted, const struct json **patch)
{
    size_t n;
    TRY(paritas_patchset_count(session->context, patchset, &n));
    *patch = json_get(patchset->root, "patches")->first;
    for (; *patch; *patch = (*patch)->next)
        if (json_text_is(json_get(json_get(*patch, "metadata"), "name"), wanted)) return PARITAS_OK;
    return paritas_fail(session->context, PARITAS_NOT_FOUND,
                        "%s: there is no patch named '%s'; `paritas patchset inspect %s` lists them",
                        patchset->label, wanted, patchset->label);
}

static paritas_status extract(struct session *session, const paritas_workspace *patchset)
{
    const bool metadata =
        option_flag(session, "--with-metadata") && !option_flag(session, "--without-metadata");
    const struct json *patch;
    TRY(find_patch(session, patchset, option_text(session, "--name"), &patch));
    answer_document(session, metadata ? patch : json_get(patch, "patch"));
    return PARITAS_OK;
}

/* A column a label, if they fit into a table; else one of all values. */
static bool write_headers(struct table *table, struct text *out, const struct json *labels)
{
    struct text headers;
    char formats[TABLE_COLUMNS + 1] = "l";
    const struct json *label = labels->first;
    text_open(&headers, out->allocator);
    text_format(&headers, "patch");
    const size_t n = labels->count < TABLE_COLUMNS ? labels->count : 0;
    for (size_t k = 0; k < n; k++, label = label->next) {
        text_format(&headers, "|%s", label->text);
        formats[k + 1] = 'r';
    }
    text_append(&headers, "", 1);
    const bool each = n > 0 && !headers.failed;
    table_open(table, out, each ? headers.bytes : "patch|values", each ? formats : "ll");
    text_free(&headers);
    return each;
}

static void write_values(struct table *table, const struct json *values, bool each)
{
    struct json_walk walk;
    struct text text;
    text_open(&text, table->out->allocator);
    if (!each) json_write(&text, values, 0, false);
    const struct json *value = each ? json_walk_first(&walk, values) : NULL;
    for (; value; value = json_walk_next(&walk)) table_format(table, "%.*s", (int)value->length, value->text);
    text_append(&text, "", 1);
    if (!each) table_text(table, text.failed ? "" : text.bytes);
    text_free(&text);
}

static void write_patches(struct session *session, const paritas_workspace *patchset, struct table *table)
{
    struct writer *w = &session->writer;
    const struct json *labels = json_get(json_get(patchset->root, "metadata"), "labels");
    const bool each = !session->json && write_headers(table, &session->out, labels);
    const struct json *patch = json_get(patchset->root, "patches")->first;
    for (; patch; patch = patch->next) {
        const struct json *metadata = json_get(patch, "metadata"), *values = json_get(metadata, "values");
        const char *name = json_get(metadata, "name")->text;
        if (!session->json) {
            table_text(table, name);
            write_values(table, values, each);
            continue;
        }
        write_object(w, NULL, false);
        write_string(w, "name", name);
        write_tree(w, "values", values);
        write_close(w);
    }
}

static paritas_status inspect(struct session *session, const paritas_workspace *patchset)
{
    const struct json *metadata = json_get(patchset->root, "metadata"),
                      *description = json_get(metadata, "description");
    struct writer *w = &session->writer;
    struct text *out = &session->out;
    struct table table;
    size_t n;
    TRY(paritas_patchset_count(session->context, patchset, &n));
    if (session->json) {
        write_object(w, NULL, true);
        write_tree(w, "metadata", metadata);
        write_array(w, "patches", true);
    } else {
        text_format(out, "%s: %zu patches\n", patchset->label, n);
        if (json_is(description, JSON_STRING)) text_format(out, "%s\n", description->text);
        text_format(out, "\n");
    }
    write_patches(session, patchset, &table);
    if (session->json) {
        write_close(w);
        write_close(w);
    } else {
        table_close(&table);
    }
    return PARITAS_OK;
}

static paritas_status apply(struct session *session, const paritas_workspace *patchset)
{
    paritas_workspace *patched = NULL;
    const char *name = option_text(session, "--name");
    const paritas_status status =
        paritas_patchset_apply(session->context, session->workspace, patchset, name, &patched);
    return answer_made(session, status, patched);
}

static paritas_status verify(struct session *session, const paritas_workspace *patchset)
{
    TRY(paritas_patchset_verify(session->context, session->workspace, patchset));
    if (session->json) {
        write_object(&session->writer, NULL, true);
        write_bool(&session->writer, "verified", true);
        write_close(&session->writer);
    } else {
        text_format(&session->out, "All good.\n");
    }
    return PARITAS_OK;
}

static const struct action {
    const char *name;
    bool takes_workspace, takes_name;
    paritas_status (*run)(struct session *session, const paritas_workspace *patchset);
} actions[] = {{"extract", false, true, extract},
               {"apply", true, true, apply},
               {"verify", true, false, verify},
               {"inspect", false, false, inspect}};

static paritas_status run_action(struct session *session, const struct action *action)
{
    const struct arguments *arguments = session->arguments;
    const size_t operands = action->takes_workspace ? 3 : 2;
    if (arguments->n_operands != operands)
        return usage_failure(session, "patchset %s takes %s", action->name,
                             action->takes_workspace ? "WORKSPACE PATCHSET" : "PATCHSET");
    if (action->takes_name && !option_given(session, "--name"))
        return usage_failure(session, "patchset %s needs --name NAME", action->name);
    paritas_workspace *patchset = NULL;
    TRY(paritas_workspace_read(session->context, arguments->operands[operands - 1], &patchset));
    paritas_status status = PARITAS_OK;
    if (action->takes_workspace)
        status = paritas_workspace_read(session->context, arguments->operands[1], &session->workspace);
    if (status == PARITAS_OK) status = action->run(session, patchset);
    paritas_workspace_free(patchset);
    return status;
}

static int run(struct session *session)
{
    const char *name = session->arguments->operands[0];
    for (size_t k = 0; k < COUNT_OF(actions); k++)
        if (strcmp(name, actions[k].name) == 0) return run_action(session, &actions[k]);
    return usage_failure(session, "patchset knows extract, apply, verify and inspect, not '%s'", name);
}

const struct command command_patchset = {
    .name = "patchset",
    .operands = "ACTION FILE...",
    .operands_most = 3,
    .summary = "look into a patch set, check it, apply one of its patches",
    .description = "extract PATCHSET --name NAME: the patch. apply WORKSPACE PATCHSET --name NAME: the "
                   "patched workspace. verify WORKSPACE "
                   "PATCHSET: do the digests agree? inspect PATCHSET: the names and values of its patches.",
    .groups = {GROUP_OPTIONS, GROUP_OUTPUT},
    .run = run,
};
