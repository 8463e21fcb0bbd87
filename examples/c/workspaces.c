/* Reads a workspace, changes it by a JSON Patch and prints the digest of both. */
#include <paritas.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char text[] =
        "[{\"op\": \"replace\", \"path\": \"/observations/0/data/0\", \"value\": 60.0}]";
    paritas_context *context = NULL;
    paritas_workspace *workspace = NULL, *patch = NULL, *patched = NULL;
    char before[72], after[72];
    int failed = argc != 2 || paritas_open(NULL, &context) ||
                 paritas_workspace_read(context, argv[1], &workspace) ||
                 paritas_workspace_parse(context, text, strlen(text), "patch", &patch) ||
                 paritas_workspace_patch(context, workspace, patch, &patched) ||
                 paritas_workspace_digest(context, workspace, before) ||
                 paritas_workspace_digest(context, patched, after);
    if (failed)
        fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "usage: workspaces FILE");
    else
        printf("before %s\nafter  %s\n", before, after);
    paritas_workspace_free(patched);
    paritas_workspace_free(patch);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return failed ? 1 : 0;
}
