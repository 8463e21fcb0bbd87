/* fuzz_datacard.c: an input is a datacard beside the histograms of tests/datacard. It is refused at a line
 * and column, or becomes a document that JSON's reader takes, with the names that Combine has. */
#define _GNU_SOURCE /* memmem */
#include "fuzzing.h"
#include "paritas_datacard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char label[] = "tests/datacard/fuzz";

/* "LABEL:LINE:COLUMN: " */
static void check_refusal(const paritas_context *context, paritas_status status)
{
    const char *at = context->message + sizeof label - 1;
    check(status == PARITAS_INVALID_INPUT && strncmp(context->message, label, sizeof label - 1) == 0);
    for (int numbers = 0; numbers < 2; numbers++) {
        check(*at == ':' && strspn(at + 1, "0123456789") > 0);
        at += 1 + strspn(at + 1, "0123456789");
    }
    check(at[0] == ':' && at[1] == ' ');
}

static void check_document(paritas_context *context, const paritas_workspace *made)
{
    paritas_workspace *again, *names;
    char *text;
    size_t length;
    check(paritas_workspace_write(context, made, 0, &text, &length) == PARITAS_OK);
    check(paritas_workspace_parse(context, text, length, "written", &again) == PARITAS_OK);
    check(paritas_datacard_names(context, made, &names) == PARITAS_OK);
    check(json_is(names->root, JSON_OBJECT));
    paritas_workspace_free(names);
    paritas_workspace_free(again);
    paritas_text_free(context, text);
}

/* A card may name any file, also one that never ends. */
static bool reads_elsewhere(const uint8_t *data, size_t size)
{
    return memchr(data, '/', size) && !memmem(data, size, "$CHANNEL/$PROCESS", 17) &&
           memmem(data, size, "shapes", 6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *made;
    if (reads_elsewhere(data, size) || memmem(data, size, "/dev", 4)) return 0;
    const paritas_status status =
        paritas_datacard_parse(&context, (const char *)data, size, label, NULL, &made);
    if (status == PARITAS_OK)
        check_document(&context, made);
    else
        check_refusal(&context, status);
    paritas_workspace_free(made);
    return 0;
}
