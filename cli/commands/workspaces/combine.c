/* combine.c: joins two workspaces. */
#include "print/document_output.h"

static const struct option options[] = {
    {"--join", OPTION_CHOICE, "none|outer|left outer|right outer", "what may be in both workspaces", "none",
     .letter = 'j'},
    {"--merge-channels", OPTION_FLAG, NULL, "channels of one name get the samples of both"},
    {"--no-merge-channels", OPTION_FLAG, NULL, "channels of one name follow --join; the default"},
    {0},
};

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    paritas_workspace *right = NULL, *combined = NULL;
    const bool merge =
        option_flag(session, "--merge-channels") && !option_flag(session, "--no-merge-channels");
    TRY(load_workspace(session));
    TRY(read_document(session, arguments->operands[1], &right));
    const paritas_status status = paritas_workspace_combine(session->context, session->workspace, right,
                                                            option_text(session, "--join"), merge, &combined);
    paritas_workspace_free(right);
    return answer_made(session, status, combined);
}

const struct command command_combine = {
    .name = "combine",
    .operands = "WORKSPACE WORKSPACE",
    .summary = "two workspaces into one",
    .description = "none: nothing may be in both. outer: what is in both must be equal. left outer, right "
                   "outer: that side wins.",
    .groups = {GROUP_OPTIONS, GROUP_OUTPUT},
    .run = run,
};
