/* rename.c: renames parts of a workspace. */
#include "print/document_output.h"

static const struct option options[] = {
    {"--channel", OPTION_PAIR, "OLD NEW", "rename a channel and its observation (repeatable)", .letter = 'c'},
    {"--sample", OPTION_PAIR, "OLD NEW", "rename a sample (repeatable)", .letter = 's'},
    {"--modifier", OPTION_PAIR, "OLD NEW",
     "rename a modifier, its configuration and the parameter of interest (repeatable)", .letter = 'm'},
    {"--measurement", OPTION_PAIR, "OLD NEW", "rename a measurement (repeatable)"},
    {0},
};

static int run(struct session *session)
{
    paritas_workspace *renamed = NULL;
    paritas_rename_options rename = PARITAS_RENAME_OPTIONS_DEFAULT;
    TRY(load_workspace(session));
    TRY(list_of(session, "--channel", &rename.channels));
    TRY(list_of(session, "--sample", &rename.samples));
    TRY(list_of(session, "--modifier", &rename.modifiers));
    TRY(list_of(session, "--measurement", &rename.measurements));
    const paritas_status status =
        paritas_workspace_rename(session->context, session->workspace, &rename, &renamed);
    return answer_made(session, status, renamed);
}

const struct command command_rename = {
    .name = "rename",
    .operands = "WORKSPACE",
    .summary = "the workspace with other names",
    .groups = {GROUP_OPTIONS, GROUP_PATCHES, GROUP_OUTPUT},
    .run = run,
};
