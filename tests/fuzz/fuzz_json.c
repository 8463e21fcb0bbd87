/* fuzz_json.c: any bytes are read or refused with a place; what was read is written and read back equal, and
 * its text is the same the second time. */
#include "fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *first, *second;
    paritas_status status = paritas_workspace_parse(&context, (const char *)data, size, "fuzz", &first);
    if (status) {
        check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "fuzz: line ", 11) == 0);
        return 0;
    }
    for (unsigned indent = 0; indent < 2; indent++) {
        char *text, *again, digest[72], digest_again[72];
        size_t length, length_again;
        check(paritas_workspace_write(&context, first, indent, &text, &length) == PARITAS_OK);
        check(paritas_workspace_parse(&context, text, length, "written", &second) == PARITAS_OK);
        check(json_equal(first->root, second->root));
        check(paritas_workspace_write(&context, second, indent, &again, &length_again) == PARITAS_OK);
        check(length == length_again && memcmp(text, again, length) == 0);
        check(paritas_workspace_digest(&context, first, digest) == PARITAS_OK);
        check(paritas_workspace_digest(&context, second, digest_again) == PARITAS_OK);
        check(strcmp(digest, digest_again) == 0);
        paritas_text_free(&context, text);
        paritas_text_free(&context, again);
        paritas_workspace_free(second);
    }
    paritas_workspace_free(first);
    return 0;
}
