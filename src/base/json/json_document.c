/* json_document.c: documents: opened, copied, handed out. */
#include "base/json/json.h"

#include <string.h>

paritas_workspace *json_open(paritas_context *context, const char *label)
{
    paritas_workspace *document = paritas_allocate_clear(context, 1, sizeof *document);
    if (!document) return NULL;
    arena_open(&document->arena, &context->allocator);
    document->label = arena_text(&document->arena, label, strlen(label));
    if (document->label) return document;
    paritas_workspace_free(document);
    return NULL;
}

paritas_status json_hand_out(paritas_status status, paritas_workspace *made, paritas_workspace **out)
{
    if (status == PARITAS_OK)
        *out = made;
    else
        paritas_workspace_free(made);
    return status;
}

paritas_status json_copy(paritas_context *context, const struct json *root, const char *label,
                         paritas_workspace **document)
{
    *document = NULL;
    paritas_workspace *opened = json_open(context, label);
    if (opened) opened->root = json_clone(opened, root);
    return json_hand_out(opened && opened->root ? PARITAS_OK : paritas_fail_memory(context), opened,
                         document);
}

paritas_status json_share(paritas_context *context, const paritas_workspace *base,
                          paritas_workspace **document)
{
    *document = NULL;
    paritas_workspace *opened = json_open(context, base->label);
    if (opened) {
        opened->base = base;
        opened->root = json_borrow(opened, base->root);
    }
    return json_hand_out(opened && opened->root ? PARITAS_OK : paritas_fail_memory(context), opened,
                         document);
}

paritas_status json_copy_as(paritas_context *context, const paritas_workspace *source,
                            paritas_workspace **copy, const char *what, ...)
{
    struct text label;
    va_list arguments;
    text_open(&label, &context->allocator);
    text_format(&label, "%s (", source->label);
    va_start(arguments, what);
    text_format_list(&label, what, arguments);
    va_end(arguments);
    text_append(&label, ")", 2); /* with the end byte */
    paritas_status status =
        label.failed ? paritas_fail_memory(context) : json_copy(context, source->root, label.bytes, copy);
    text_free(&label);
    return status;
}
