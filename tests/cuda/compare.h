/* compare.h: what a CUDA device answers, against the CPU. For tests with a device and with what stands in for
 * one. */
#ifndef PARITAS_TESTS_CUDA_COMPARE_H
#define PARITAS_TESTS_CUDA_COMPARE_H

#include "device/accelerator.h"
#include "fit/fit_testing.h"
#include "parity/results.h"

/* A context on a device (NULL: the CPU). NULL: it cannot be opened; then *reason holds why. */
static inline paritas_context *open_on(const char *device, unsigned precision, unsigned workers,
                                       char reason[512])
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.precision = precision;
    options.workers = workers;
    options.threads = 1;
    paritas_context *context = NULL;
    if (paritas_open(&options, &context) == PARITAS_OK) return context;
    if (reason) snprintf(reason, 512, "%s", paritas_error_message(context));
    paritas_close(context);
    return NULL;
}

static inline void collect(paritas_context *context, const struct fixture *f, unsigned parts, uint64_t seed,
                           struct results *results)
{
    for (int part = 0; part < RESULTS_PART_COUNT; part++)
        if (parts >> part & 1)
            assert_true(results_collect(context, f->model, (enum results_part)part, seed, results));
}

/* Asserts that `context` answers the CPU's bits. */
static inline void compare_with_cpu(paritas_context *context, const struct fixture *f, const char *name,
                                    unsigned parts, uint64_t seed)
{
    paritas_context *cpu = open_on(NULL, context->device->precision, 0, NULL);
    assert_non_null(cpu);
    for (int part = 0; part < RESULTS_PART_COUNT; part++) {
        if (!(parts >> part & 1)) continue;
        struct results expected = {0}, got = {0};
        collect(cpu, f, 1u << part, seed, &expected);
        collect(context, f, 1u << part, seed, &got);
        if (got.length != expected.length || memcmp(got.bytes, expected.bytes, got.length) != 0)
            fail_msg("%s, f%u, %s: not the CPU's bits; last message: %s", name, context->device->precision,
                     results_part_names[part], paritas_error_message(context));
        results_free(&expected);
        results_free(&got);
    }
    paritas_close(cpu);
}

#endif
