/* command_patchset.c: looking into patch sets and taking patches out of them. */
#include "document_output.h"
#include "table.h"

#include <string.h>

static const struct option options[] = {
    {"--name", 0, OPTION_TEXT, "NAME", "the patch, for extract and apply"},
    {"--with-metadata", 0, OPTION_FLAG, NULL, "extract: the patch with its metadata"},
    {"--without-metadata", 0, OPTION_FLAG, NULL, "the default"},
    {0},
};

/* A node of the patch set by the patch's name; fails, naming it, where there is none. */
static paritas_status find_patch(struct session *session, const paritas_workspace *patchset,
                                 const char *wanted, const struct json **patch)
{
    size_t n;
    paritas_status status = paritas_patchset_count(session->context, patchset, &n);
    const struct json *patches = json_get(patchset->root, "patches");
    *patch = patches != NULL ? patches->first : NULL;
    for (size_t i = 0; i < n && status == PARITAS_OK; i++, *patch = (*patch)->next) {
        const char *name;
        status = paritas_patchset_name(session->context, patchset, i, &name);
        if (status == PARITAS_OK && strcmp(name, wanted) == 0) return PARITAS_OK;
    }
    if (status != PARITAS_OK) return status;
    return paritas_fail(session->context, PARITAS_NOT_FOUND, "%s: there is no patch named '%s'",
                        patchset->label, wanted);
}

static paritas_status extract(struct session *session, const paritas_workspace *patchset)
{
    const struct json *patch;
    paritas_status status =
        find_patch(session, patchset, option_text(session->arguments, "--name", ""), &patch);
    if (status != PARITAS_OK) return status;
    bool metadata = option_flag(session->arguments, "--with-metadata") &&
                    !option_flag(session->arguments, "--without-metadata");
    answer_document(session, metadata ? patch : json_get(patch, "patch"));
    return PARITAS_OK;
}

static paritas_status inspect(struct session *session, const paritas_workspace *patchset)
{
    size_t n;
    paritas_status status = paritas_patchset_count(session->context, patchset, &n);
    if (status != PARITAS_OK) return status;
    const struct json *metadata = json_get(patchset->root, "metadata"),
                      *patches = json_get(patchset->root, "patches");
    const struct json *description = json_get(metadata, "description");
    struct table table;
    struct writer *w = &session->writer;
    if (session->json) {
        write_object(w, NULL, true);
        write_tree(w, "metadata", metadata);
        write_array(w, "patches", true);
    } else {
        text_format(&session->out, "%s: %zu patches\n", patchset->label, n);
        if (json_is(description, JSON_STRING)) text_format(&session->out, "%s\n", description->text);
        text_append(&session->out, "\n", 1);
        table_open(&table, &session->context->allocator, "patch|values", "ll");
    }
    const struct json *patch = patches != NULL ? patches->first : NULL;
    for (size_t i = 0; i < n && status == PARITAS_OK; i++, patch = patch->next) {
        const char *name = "";
        const struct json *values = json_get(json_get(patch, "metadata"), "values");
        status = paritas_patchset_name(session->context, patchset, i, &name);
        if (session->json) {
            write_object(w, NULL, false);
            write_string(w, "name", name);
            write_tree(w, "values", values);
            write_close(w);
            continue;
        }
        struct text text;
        text_open(&text, &session->context->allocator);
        if (values != NULL) json_write(&text, values, 0, false);
        text_append(&text, "", 1);
        table_text(&table, name);
        table_text(&table, text.failed ? "" : text.bytes);
        text_free(&text);
    }
    if (session->json) {
        write_close(w);
        write_close(w);
    } else {
        table_close(&table, &session->out);
    }
    return status;
}

/* apply and verify: a workspace, then a patch set. */
static paritas_status with_workspace(struct session *session, const paritas_workspace *patchset, bool apply)
{
    paritas_workspace *patched = NULL;
    paritas_status status =
        paritas_workspace_read(session->context, session->arguments->operands[1], &session->workspace);
    if (status != PARITAS_OK) return status;
    if (apply) {
        const char *name = option_text(session->arguments, "--name", "");
        status = paritas_patchset_apply(session->context, session->workspace, patchset, name, &patched);
        if (status == PARITAS_OK) answer_document(session, patched->root);
        paritas_workspace_free(patched);
        return status;
    }
    status = paritas_patchset_verify(session->context, session->workspace, patchset);
    if (status != PARITAS_OK) return status;
    if (session->json) {
        write_object(&session->writer, NULL, true);
        write_bool(&session->writer, "verified", true);
        write_close(&session->writer);
    } else {
        text_format(&session->out, "All good.\n");
    }
    return PARITAS_OK;
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const char *action = arguments->operands[0];
    bool extracts = strcmp(action, "extract") == 0, applies = strcmp(action, "apply") == 0,
         inspects = strcmp(action, "inspect") == 0;
    size_t wanted = extracts || inspects ? 2 : 3;
    if (!extracts && !applies && !inspects && strcmp(action, "verify") != 0)
        return usage_failure(session, "patchset knows extract, apply, verify and inspect, not '%s'", action);
    if (arguments->n_operands != wanted)
        return usage_failure(session, "patchset %s takes %s", action,
                             wanted == 2 ? "PATCHSET" : "WORKSPACE PATCHSET");
    if ((extracts || applies) && option_given(arguments, "--name") == NULL)
        return usage_failure(session, "patchset %s needs --name NAME", action);
    paritas_workspace *patchset = NULL;
    paritas_status status =
        paritas_workspace_read(session->context, arguments->operands[wanted - 1], &patchset);
    if (status == PARITAS_OK)
        status = extracts   ? extract(session, patchset)
                 : inspects ? inspect(session, patchset)
                            : with_workspace(session, patchset, applies);
    paritas_workspace_free(patchset);
    return status;
}

const struct command command_patchset = {
    .name = "patchset",
    .operands = "ACTION FILE...",
    .operands_min = 2,
    .operands_max = 3,
    .summary = "look into a patch set, check it, apply one of its patches",
    .description = "extract PATCHSET --name NAME: the patch. apply WORKSPACE PATCHSET --name NAME: the "
                   "patched workspace. verify WORKSPACE "
                   "PATCHSET: do the digests "
                   "agree? inspect PATCHSET: the names and values of its patches.",
    .groups = {{"Options", options}, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
