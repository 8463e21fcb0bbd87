/* command_sort.c: a workspace in canonical order. */
#include "document_output.h"

static int run(struct session *session)
{
    struct paritas_workspace *sorted = NULL;
    paritas_status status = load_workspace(session);
    if (status == PARITAS_OK) status = paritas_workspace_sort(session->context, session->workspace, &sorted);
    if (status == PARITAS_OK) answer_document(session, sorted->root);
    paritas_workspace_free(sorted);
    return status;
}

const struct command command_sort = {
    .name = "sort",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "the workspace with everything in order of its name",
    .groups = {GROUP_PATCHES, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
