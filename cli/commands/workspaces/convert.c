/* convert.c: a datacard as a workspace. */
#include "print/document_output.h"
#include "print/output.h"
#include "paritas_datacard.h"

#include <stdio.h>
#include <string.h>

/* Beside the answer, where some parameter has another name or scale than in the card. */
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
    if (status == PARITAS_OK && names->root->count > 0) {
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

static int run(struct session *session)
{
    TRY(load_workspace(session));
    TRY(write_names(session));
    answer_document(session, session->workspace->root);
    return PARITAS_OK;
}

const struct command command_convert = {
    .name = "convert",
    .operands = "CARD",
    .summary = "a CMS datacard as a workspace",
    .description =
        "Beside FILE of -o, FILE.map has the parameters that are named or scaled otherwise than in "
        "the card. Commands on workspaces take the card itself, too.",
    .groups = {GROUP_PATCHES, GROUP_OUTPUT},
    .run = run,
};
