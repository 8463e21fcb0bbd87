/* digest.c: digests of a workspace, as pyhf's. */
#include "print/document_output.h"

#include <stdio.h>

static const struct option options[] = {
    {"--algorithm", OPTION_CHOICE, "sha256|md5", "digest to compute (repeatable); default: sha256",
     .letter = 'a'},
    {0},
};

static int run(struct session *session)
{
    paritas_names algorithms;
    char hex[65], labelled[80];
    static const char *const standard[] = {"sha256"};
    TRY(load_workspace(session));
    TRY(list_of(session, "--algorithm", &algorithms));
    if (algorithms.count == 0) algorithms = (paritas_names){standard, 1};
    if (session->json) write_object(&session->writer, NULL, true);
    for (size_t i = 0; i < algorithms.count; i++) {
        TRY(json_digest(session->context, session->workspace->root, algorithms.items[i], hex));
        snprintf(labelled, sizeof labelled, "%s:%s", algorithms.items[i], hex);
        if (!session->json) {
            text_format(&session->out, "%s\n", labelled);
            continue;
        }
        if (i == 0) write_string(&session->writer, "digest", labelled);
        write_string(&session->writer, algorithms.items[i], hex);
    }
    if (session->json) write_close(&session->writer);
    return PARITAS_OK;
}

const struct command command_digest = {
    .name = "digest",
    .operands = "WORKSPACE",
    .summary = "digest of the workspace, as in patch sets",
    .groups = {GROUP_OPTIONS, GROUP_PATCHES, GROUP_OUTPUT},
    .run = run,
};
