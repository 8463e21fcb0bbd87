/* fuzz_cards.c: an input is two datacards, which a zero byte separates. They are refused with a place, or
 * become one text. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "paritas_datacard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char second[sizeof fuzz_path + 2];

static void remove_second(void)
{
    unlink(second);
}

static void write_second(const uint8_t *data, size_t size)
{
    if (second[0] == '\0') {
        snprintf(second, sizeof second, "%s.2", fuzz_path);
        atexit(remove_second);
    }
    FILE *const file = fopen(second, "wb");
    check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    const uint8_t *const between = memchr(data, '\0', size);
    const size_t first = between ? (size_t)(between - data) : size;
    char *text = NULL;
    fuzz_write(data, first);
    write_second(data + (between ? first + 1 : 0), between ? size - first - 1 : size);
    const char *const paths[] = {fuzz_path, second}, *const labels[] = {"one", NULL};
    const paritas_status status = paritas_datacard_combine(&context, 2, labels, paths, NULL, &text);
    if (status)
        check((status == PARITAS_INVALID_INPUT || status == PARITAS_INVALID_ARGUMENT) && *context.message);
    else
        check(text && strlen(text) > 0);
    paritas_text_free(&context, text);
    return 0;
}
