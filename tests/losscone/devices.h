/* devices.h: contexts of any kind, and what they answer (answers.h) against the CPU's. */
#ifndef PARITAS_TESTS_LOSSCONE_DEVICES_H
#define PARITAS_TESTS_LOSSCONE_DEVICES_H

#include "base/context.h"
#include "common.h"
#include "device/device.h"
#include "losscone/answers.h"

#include <stdio.h>
#include <stdlib.h>

/* Parts that a device's kernels answer in either precision. COSINES is in f64 everywhere, HOST no
 * kernel's. */
#define DEVICE_PARTS (ANSWERS_ALL & ~(1u << ANSWERS_HOST))

static inline struct sample *make_sample(void)
{
    struct sample *sample = sample_make();
    assert_non_null(sample);
    return sample;
}

/* NULL: there is no such device. f32 answers stand as they are unless `polished`. */
static inline paritas_context *open_as(const char *device, const char *isa, unsigned precision,
                                       unsigned lanes, unsigned threads, unsigned workers)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.isa = isa;
    options.precision = precision;
    options.lanes = lanes;
    options.threads = threads;
    options.workers = workers;
    options.no_polish = 1;
    options.cache = kernel_cache_folder();
    paritas_context *context = NULL;
    const paritas_status status = paritas_open(&options, &context);
    if (status == PARITAS_OK) return context;
    if (status != PARITAS_NO_DEVICE) fail_msg("%s", paritas_error_message(context));
    print_message("%s %s: %s\n", device ? device : "cpu", isa ? isa : "", paritas_error_message(context));
    paritas_close(context);
    return NULL;
}

static inline struct answers collect_parts(paritas_context *context, const struct sample *sample,
                                           unsigned parts, const struct answers_wish *wish)
{
    struct answers answers = {0};
    for (unsigned part = 0; part < ANSWERS_PART_COUNT; part++)
        if (parts >> part & 1 && !answers_collect(context, sample, (enum answers_part)part, wish, &answers))
            fail_msg("%s: %s", answers_part_names[part], paritas_error_message(context));
    return answers;
}

/* The portable CPU's, one thread, no lanes, everything in one call. */
static inline struct answers reference(const struct sample *sample, unsigned precision, unsigned parts,
                                       const struct answers_wish *wish)
{
    struct answers_wish whole = *wish;
    whole.chunk = 0;
    paritas_context *context = open_as("cpu", "portable", precision, 1, 1, 0);
    assert_non_null(context);
    const struct answers answers = collect_parts(context, sample, parts, &whole);
    paritas_close(context);
    return answers;
}

/* Fails unless `context` answers `wanted`. */
static inline void compare_answers(paritas_context *context, const struct sample *sample, unsigned parts,
                                   const struct answers_wish *wish, const struct answers *wanted,
                                   const char *name)
{
    struct answers got = collect_parts(context, sample, parts, wish);
    const char *difference = answers_difference(&got, wanted);
    if (difference) fail_msg("%s: %s", name, difference);
    answers_free(&got);
}

#endif
