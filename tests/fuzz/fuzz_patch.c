/* fuzz_patch.c: an input is a JSON array [document, patch]. Any patch is applied or refused; the original
 * stays as it was, and what comes out can be written and read back. A document that shares ends alike. */
#include "fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `patched` NULL: a failure with the context's message. */
static void check_shared(paritas_context *context, const paritas_workspace *document,
                         const paritas_workspace *patch, const paritas_workspace *patched)
{
    paritas_context own = fuzz_context();
    paritas_workspace *shared;
    check(json_share(&own, document, &shared) == PARITAS_OK);
    check((json_patch(&own, shared, patch->root, patch->label) == PARITAS_OK) == (patched != NULL));
    check(patched ? json_equal(shared->root, patched->root) : strcmp(own.message, context->message) == 0);
    paritas_workspace_free(shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *input, *document, *before, *patch, *patched;
    if (paritas_workspace_parse(&context, (const char *)data, size, "fuzz", &input)) return 0;
    const struct json *pair = input->root;
    if (json_is(pair, JSON_ARRAY) && pair->count == 2) {
        check(json_copy(&context, pair->first, "document", &document) == PARITAS_OK);
        check(json_copy(&context, pair->first, "before", &before) == PARITAS_OK);
        check(json_copy(&context, pair->last, "patch", &patch) == PARITAS_OK);
        paritas_status status = paritas_workspace_patch(&context, document, patch, &patched);
        check_shared(&context, document, patch, patched);
        check(json_equal(document->root, before->root));
        paritas_workspace_free(patch);
        if (status) {
            check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "patch: ", 7) == 0);
        } else {
            char *text;
            size_t length;
            check(paritas_workspace_write(&context, patched, 0, &text, &length) == PARITAS_OK);
            check(paritas_workspace_parse(&context, text, length, "written", &patch) == PARITAS_OK);
            check(json_equal(patched->root, patch->root));
            paritas_text_free(&context, text);
            paritas_workspace_free(patch);
        }
        paritas_workspace_free(patched);
        paritas_workspace_free(before);
        paritas_workspace_free(document);
    }
    paritas_workspace_free(input);
    return 0;
}
