/* command_prune.c: parts of a workspace dropped. */
#include "document_output.h"

static const struct option options[] = {
    {"--channel", 'c', OPTION_TEXT, "NAME", "drop a channel and its observation (repeatable)"},
    {"--sample", 's', OPTION_TEXT, "NAME", "drop a sample from all channels (repeatable)"},
    {"--modifier", 'm', OPTION_TEXT, "NAME", "drop a modifier and its configuration (repeatable)"},
    {"--modifier-type", 't', OPTION_CHOICE, "histosys|lumi|normfactor|normsys|shapefactor|shapesys|staterror",
     "drop all modifiers of a type (repeatable)"},
    {"--measurement", 0, OPTION_TEXT, "NAME", "drop a measurement (repeatable)"},
    {0},
};

static int run(struct session *session)
{
    struct paritas_workspace *pruned = NULL;
    paritas_prune_options prune = PARITAS_PRUNE_OPTIONS_DEFAULT;
    paritas_status status = load_workspace(session);
    if (status == PARITAS_OK) status = list_of(session, "--channel", &prune.channels);
    if (status == PARITAS_OK) status = list_of(session, "--sample", &prune.samples);
    if (status == PARITAS_OK) status = list_of(session, "--modifier", &prune.modifiers);
    if (status == PARITAS_OK) status = list_of(session, "--modifier-type", &prune.modifier_types);
    if (status == PARITAS_OK) status = list_of(session, "--measurement", &prune.measurements);
    if (status == PARITAS_OK)
        status = paritas_workspace_prune(session->context, session->workspace, &prune, &pruned);
    if (status == PARITAS_OK) answer_document(session, pruned->root);
    paritas_workspace_free(pruned);
    return status;
}

const struct command command_prune = {
    .name = "prune",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "the workspace without the named items",
    .groups = {{"Options", options}, GROUP_PATCHES, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
