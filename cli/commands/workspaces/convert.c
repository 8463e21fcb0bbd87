/* convert.c: a datacard as a workspace. Python converts other formats, so their files name its command. */
#include "print/document_output.h"
#include "print/output.h"
#include "paritas_datacard.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--to", OPTION_CHOICE, "pyhf|hs3|xml|datacard",
     "format of the answer; `python -m paritas convert` writes the last three", "pyhf"},
    {0},
};

/* Beside the answer to a card; empty if all parameters have the names and scales of the card, so that none of
 * an earlier answer stays there. */
static paritas_status write_names(struct session *session)
{
    const char *path = option_text(session, "--output-file");
    paritas_workspace *names = NULL;
    if (!path || strcmp(path, "-") == 0) return PARITAS_OK;
    TRY(paritas_datacard_names(session->context, session->workspace, &names));
    struct text text;
    text_open(&text, &session->context->allocator);
    char *beside = arena_elements(session, strlen(path) + sizeof ".map", 1);
    paritas_status status = allocated(session);
    const bool card = paritas_is_datacard(session->arguments->operands[0]);
    if (status == PARITAS_OK && (card || names->root->count > 0)) {
        sprintf(beside, "%s.map", path);
        json_write(&text, names->root, 4, true);
        text_append(&text, "\n", 1);
        if (text.failed)
            status = paritas_fail_memory(session->context);
        else if (!output_write(beside, text.bytes, text.length))
            status = paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: could not be written", beside);
    }
    text_free(&text);
    paritas_workspace_free(names);
    return status;
}

static paritas_status check_target(const struct session *session)
{
    const char *path = session->arguments->operands[0], *target = option_text(session, "--to");
    if (strcmp(target, "pyhf") == 0) return PARITAS_OK;
    return paritas_fail(
        session->context, PARITAS_INVALID_INPUT,
        "%s: this program writes workspaces; run `python -m paritas convert %s --to %s -o %s`", path, path,
        target, strcmp(target, "xml") == 0 ? "FOLDER" : "FILE");
}

static paritas_status check_workspace(const struct session *session)
{
    const char *path = session->arguments->operands[0];
    const struct json *root = session->workspace->root;
    if (json_get(root, "channels")) return PARITAS_OK;
    if (json_get(root, "distributions"))
        return paritas_fail(session->context, PARITAS_INVALID_INPUT,
                            "%s: is HS3, which Python reads; run `python -m paritas convert %s`", path, path);
    return paritas_fail(session->context, PARITAS_INVALID_INPUT,
                        "%s: is neither a datacard nor a workspace, which has \"channels\"", path);
}

static int run(struct session *session)
{
    TRY(check_target(session));
    TRY(load_workspace(session));
    TRY(check_workspace(session));
    TRY(write_names(session));
    answer_document(session, session->workspace->root);
    return PARITAS_OK;
}

const struct command command_convert = {
    .name = "convert",
    .operands = "FILE",
    .summary = "a CMS datacard as a workspace",
    .description =
        "FILE.map, beside FILE of -o, lists parameters whose name or scale differs from the card's; {}: "
        "none. All commands on workspaces also take the card itself. A workspace is written again, with "
        "its patches applied and keys sorted. Python reads XML and HS3, and writes them and cards: "
        "`python -m paritas convert`.",
    .groups = {GROUP_OPTIONS, GROUP_PATCHES, GROUP_OUTPUT},
    .run = run,
};
