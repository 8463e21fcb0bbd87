/* command_combine.c: two workspaces into one. */
#include "document_output.h"

static const struct option options[] = {
    {"--join", 'j', OPTION_CHOICE, "none|outer|left outer|right outer",
     "what may be in both workspaces; default: none"},
    {"--merge-channels", 0, OPTION_FLAG, NULL, "channels of one name get the samples of both"},
    {"--no-merge-channels", 0, OPTION_FLAG, NULL, "the default"},
    {0},
};

static int run(struct session *session)
{
    struct paritas_workspace *right = NULL, *combined = NULL;
    const char *join = option_text(session->arguments, "--join", NULL);
    bool merge = option_flag(session->arguments, "--merge-channels") &&
                 !option_flag(session->arguments, "--no-merge-channels");
    paritas_status status = load_workspace(session);
    if (status == PARITAS_OK)
        status = paritas_workspace_read(session->context, session->arguments->operands[1], &right);
    if (status == PARITAS_OK)
        status =
            paritas_workspace_combine(session->context, session->workspace, right, join, merge, &combined);
    if (status == PARITAS_OK) answer_document(session, combined->root);
    paritas_workspace_free(combined);
    paritas_workspace_free(right);
    return status;
}

const struct command command_combine = {
    .name = "combine",
    .operands = "WORKSPACE WORKSPACE",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "two workspaces into one",
    .description = "none: nothing may be in both. outer: what is in both must be equal. left outer, right "
                   "outer: that side wins.",
    .groups = {{"Options", options}, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
