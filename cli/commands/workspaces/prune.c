/* prune.c: drops parts of a workspace. */
#include "print/document_output.h"

#define BAR_AND_WORD(name, value, word, doc) "|" word

static const struct option options[] = {
    {"--channel", OPTION_TEXT, "NAME", "drop a channel and its observation (repeatable)", .letter = 'c'},
    {"--sample", OPTION_TEXT, "NAME", "drop a sample from all channels (repeatable)", .letter = 's'},
    {"--modifier", OPTION_TEXT, "NAME", "drop a modifier and its configuration (repeatable)", .letter = 'm'},
    {"--modifier-type", OPTION_CHOICE, &PARITAS_MODIFIER_LIST(BAR_AND_WORD)[1],
     "drop all modifiers of a type (repeatable)", .letter = 't'},
    {"--measurement", OPTION_TEXT, "NAME", "drop a measurement (repeatable)"},
    {0},
};

static int run(struct session *session)
{
    paritas_workspace *pruned = NULL;
    paritas_prune_options prune = PARITAS_PRUNE_OPTIONS_DEFAULT;
    TRY(load_workspace(session));
    TRY(list_of(session, "--channel", &prune.channels));
    TRY(list_of(session, "--sample", &prune.samples));
    TRY(list_of(session, "--modifier", &prune.modifiers));
    TRY(list_of(session, "--modifier-type", &prune.modifier_types));
    TRY(list_of(session, "--measurement", &prune.measurements));
    const paritas_status status =
        paritas_workspace_prune(session->context, session->workspace, &prune, &pruned);
    return answer_made(session, status, pruned);
}

const struct command command_prune = {
    .name = "prune",
    .operands = "WORKSPACE",
    .summary = "the workspace without the named items",
    .groups = {GROUP_OPTIONS, GROUP_PATCHES, GROUP_OUTPUT},
    .run = run,
};
