/* document_output.c: writes workspaces. */
#include "print/document_output.h"

void answer_document(struct session *session, const struct json *root)
{
    json_write(&session->out, root, 4, true);
    text_append(&session->out, "\n", 1);
}

paritas_status answer_made(struct session *session, paritas_status status, paritas_workspace *made)
{
    if (status == PARITAS_OK) answer_document(session, made->root);
    paritas_workspace_free(made);
    return status;
}

paritas_status list_of(struct session *session, const char *option, paritas_names *list)
{
    const char **items = arena_elements(session, 2 * session->arguments->n_given, sizeof *items);
    TRY(allocated(session));
    size_t at = 0;
    list->count = 0;
    list->items = items;
    for (const struct given *given; (given = option_next(session, option, &at));) {
        items[list->count++] = given->text;
        if (given->option->kind == OPTION_PAIR) items[list->count++] = given->second;
    }
    return PARITAS_OK;
}
