/* sort.c: a workspace in canonical order. */
#include "print/document_output.h"

static int run(struct session *session)
{
    paritas_workspace *sorted = NULL;
    TRY(load_workspace(session));
    const paritas_status status = paritas_workspace_sort(session->context, session->workspace, &sorted);
    return answer_made(session, status, sorted);
}

const struct command command_sort = {
    .name = "sort",
    .operands = "WORKSPACE",
    .summary = "the workspace sorted by name",
    .groups = {GROUP_PATCHES, GROUP_OUTPUT},
    .in_place = true,
    .run = run,
};
