/* fuzz_store.c: any bytes are a store of toys. It is refused by name, or its run can be read and pooled. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "paritas_toys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const paritas_context *context, paritas_status status)
{
    check(status == PARITAS_INVALID_INPUT || status == PARITAS_UNREADABLE ||
          status == PARITAS_INVALID_ARGUMENT || status == PARITAS_OUT_OF_MEMORY);
    check(strstr(context->message, fuzz_path) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_store_run *run;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    char pooled[sizeof fuzz_path + 8];
    fuzz_write(data, size);
    paritas_status status = paritas_store_run_read(&context, fuzz_path, &run);
    if (status) check_refusal(&context, status);
    if (run) check(run->n_entries == 0 || run->entries != NULL);
    paritas_store_run_free(run);
    status = paritas_store_hypotest(&context, fuzz_path, &result);
    if (status) check_refusal(&context, status);
    snprintf(pooled, sizeof pooled, "%s.pooled", fuzz_path);
    const char *const paths[] = {fuzz_path};
    status = paritas_store_merge(&context, 1, paths, pooled);
    if (status) check_refusal(&context, status);
    unlink(pooled);
    status = paritas_store_check_whole(&context, 1, paths);
    check(status == PARITAS_OK || status == PARITAS_INVALID_INPUT || status == PARITAS_UNREADABLE ||
          status == PARITAS_OUT_OF_MEMORY);
    return 0;
}
