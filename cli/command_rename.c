/* command_rename.c: names in a workspace changed. */
#include "document_output.h"

static const struct option options[] = {
    {"--channel", 'c', OPTION_PAIR, "OLD NEW", "rename a channel and its observation (repeatable)"},
    {"--sample", 's', OPTION_PAIR, "OLD NEW", "rename a sample (repeatable)"},
    {"--modifier", 'm', OPTION_PAIR, "OLD NEW",
     "rename a modifier, its configuration and the parameter of interest (repeatable)"},
    {"--measurement", 0, OPTION_PAIR, "OLD NEW", "rename a measurement (repeatable)"},
    {0},
};

static int run(struct session *session)
{
    struct paritas_workspace *renamed = NULL;
    paritas_rename_options rename = PARITAS_RENAME_OPTIONS_DEFAULT;
    paritas_status status = load_workspace(session);
    if (status == PARITAS_OK) status = list_of(session, "--channel", &rename.channels);
    if (status == PARITAS_OK) status = list_of(session, "--sample", &rename.samples);
    if (status == PARITAS_OK) status = list_of(session, "--modifier", &rename.modifiers);
    if (status == PARITAS_OK) status = list_of(session, "--measurement", &rename.measurements);
    if (status == PARITAS_OK)
        status = paritas_workspace_rename(session->context, session->workspace, &rename, &renamed);
    if (status == PARITAS_OK) answer_document(session, renamed->root);
    paritas_workspace_free(renamed);
    return status;
}

const struct command command_rename = {
    .name = "rename",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "the workspace with other names",
    .groups = {{"Options", options}, GROUP_PATCHES, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
