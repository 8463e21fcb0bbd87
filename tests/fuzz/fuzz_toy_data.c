/* fuzz_toy_data.c: any bytes are a file of toys of examples/two_bins.json, JSON or an archive. It is refused
 * by name, or has whole rows of finite numbers that can be packed and read again. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_data(paritas_context *context, const paritas_model *model, const paritas_toy_data *toys)
{
    const size_t width = paritas_model_main_count(model) + paritas_model_aux_count(model);
    char *bytes;
    size_t length;
    for (size_t i = 0; i < toys->n * width; i++) check(toys->rows[i] - toys->rows[i] == 0.0);
    if (toys->n == 0) return;
    check(paritas_toy_data_pack(context, model, toys, &bytes, &length) == PARITAS_OK);
    paritas_toy_data *again;
    fuzz_write((const uint8_t *)bytes, length);
    check(paritas_toy_data_read(context, model, fuzz_path, &again) == PARITAS_OK);
    check(again->n == toys->n && memcmp(again->rows, toys->rows, toys->n * width * sizeof(double)) == 0);
    paritas_toy_data_free(again);
    paritas_text_free(context, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static paritas_context context;
    if (!context.allocator.allocate) context = fuzz_context();
    const paritas_model *const model = fuzz_two_bins(&context);
    paritas_toy_data *toys;
    fuzz_write(data, size);
    const paritas_status status = paritas_toy_data_read(&context, model, fuzz_path, &toys);
    if (status == PARITAS_OK)
        check_data(&context, model, toys);
    else
        check(status == PARITAS_INVALID_INPUT && strstr(context.message, fuzz_path) != NULL);
    paritas_toy_data_free(toys);
    return 0;
}
