/* document.c: public functions on workspaces: read, patch, write, digest, free. */
#include "base/json/json.h"

#include <string.h>

paritas_status paritas_workspace_read(paritas_context *context, const char *path,
                                      paritas_workspace **workspace)
{
    REQUIRE(context, workspace);
    *workspace = NULL;
    REQUIRE(context, path);
    return json_read_file(context, path, workspace);
}

paritas_status paritas_workspace_parse(paritas_context *context, const char *text, size_t length,
                                       const char *label, paritas_workspace **workspace)
{
    REQUIRE(context, workspace);
    *workspace = NULL;
    if (length > 0) REQUIRE(context, text);
    return json_read(context, text, length, label ? label : "text", workspace);
}

void paritas_workspace_free(paritas_workspace *workspace)
{
    if (!workspace) return;
    paritas_allocator allocator = workspace->arena.allocator;
    arena_free(&workspace->arena);
    paritas_release(&allocator, workspace);
}

paritas_status paritas_workspace_patch(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patch, paritas_workspace **patched)
{
    REQUIRE(context, patched);
    *patched = NULL;
    REQUIRE(context, workspace, patch);
    paritas_workspace *copy;
    TRY(workspace->reading ? json_share(context, workspace, &copy)
                           : json_copy(context, workspace->root, workspace->label, &copy));
    return json_hand_out(json_patch(context, copy, patch->root, patch->label), copy, patched);
}

paritas_status paritas_workspace_digest(paritas_context *context, const paritas_workspace *workspace,
                                        char digest[72])
{
    REQUIRE(context, workspace, digest);
    char hex[65];
    TRY(json_digest(context, workspace->root, "sha256", hex));
    memcpy(digest, "sha256:", 7);
    memcpy(digest + 7, hex, 65);
    return PARITAS_OK;
}

paritas_status paritas_workspace_write(paritas_context *context, const paritas_workspace *workspace,
                                       unsigned indent, char **text, size_t *length)
{
    REQUIRE(context, text);
    *text = NULL;
    REQUIRE(context, workspace);
    struct text written;
    text_open(&written, &context->allocator);
    json_write(&written, workspace->root, indent, false);
    text_append(&written, "", 1); /* end byte */
    if (written.failed) {
        text_free(&written);
        return paritas_fail_memory(context);
    }
    *text = written.bytes;
    if (length) *length = written.length - 1;
    return PARITAS_OK;
}

void paritas_text_free(paritas_context *context, char *text)
{
    if (context) paritas_release(&context->allocator, text);
}
