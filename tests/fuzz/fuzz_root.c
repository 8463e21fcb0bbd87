/* fuzz_root.c: any bytes are a ROOT file whose histograms are read whole, or refused by name. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "root/root_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_numbers(const struct root_histogram *histogram)
{
    const size_t cells = (size_t)histogram->n_bins + 2;
    double sum = 0.0;
    check(histogram->n_bins > 0);
    for (size_t i = 0; i < cells; i++) sum += histogram->contents[i];
    for (size_t i = 0; i < cells && histogram->squares; i++) sum += histogram->squares[i];
    for (size_t i = 0; i + 1 < cells; i++) sum += histogram->edges[i];
    check(sum == sum || sum != sum);
}

static void check_refusal(const paritas_context *context, paritas_status status)
{
    check((status == PARITAS_INVALID_INPUT || status == PARITAS_NOT_FOUND) &&
          strncmp(context->message, fuzz_path, strlen(fuzz_path)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "b", "c", "d/a", "d/e/b"};
    paritas_context context = fuzz_context();
    struct root_file *file;
    fuzz_write(data, size);
    const paritas_status status = root_file_open(&context, fuzz_path, &file);
    if (status) check_refusal(&context, status);
    for (size_t k = 0; file && k < COUNT_OF(names); k++) {
        struct arena arena;
        struct root_histogram histogram;
        arena_open(&arena, &context.allocator);
        const bool has = root_file_has(file, names[k]);
        const paritas_status read = root_histogram_read(&context, file, names[k], &arena, &histogram);
        if (read)
            check_refusal(&context, read);
        else
            check_numbers(&histogram);
        check(has || read != PARITAS_OK);
        arena_free(&arena);
    }
    root_file_close(file);
    return 0;
}
