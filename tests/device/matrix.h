/* matrix.h: one claim, tried on many devices. A cell is a subject (a model, for example) on a target: a
 * device in one precision with teams of one size. Each cell is a case of its own, which `tests/run --case`
 * finds by name:
 *
 *   CLAIM(fits_are_the_cpus) { const struct cell *cell = *state; ... target_open(cell->target) ... }
 *   static const struct target targets[] = {{"opencl", 64, 32}, {CUDA_TEXT, 64, 32}, {METAL_TEXT, 32, 32}};
 *   matrix_add(&matrix, "fits_are_the_cpus", fits_are_the_cpus, subjects, 3, targets, COUNT(targets));
 *   return matrix_run(&matrix);
 *
 * CUDA_TEXT and METAL_TEXT are what those devices compile, as native code; a program has them where its build
 * gave it CUDA_NATIVE or FAKE_METAL. A target that is not here skips its cells.
 */
#ifndef PARITAS_TESTS_DEVICE_MATRIX_H
#define PARITAS_TESTS_DEVICE_MATRIX_H

#include "device/device.h"
#include "common.h"
#if defined(CUDA_NATIVE)
#include "cuda/native_device.h"
#endif
#if defined(FAKE_METAL)
#include "device/metal/metal.h"
#include "metal/metal_fake.h"
#endif

#include <stdbool.h>

#define CUDA_TEXT "CUDA's text"
#define METAL_TEXT "Metal's text"

struct target {
    const char *device; /* of paritas_options, or one of the texts above */
    unsigned precision, workers;
};

struct subject {
    const char *name;
    const void *value;
};

struct cell {
    const struct target *target;
    const void *subject; /* the value of a struct subject */
    char name[120];      /* of the case */
};

#define MATRIX_MOST 64
struct matrix {
    struct CMUnitTest tests[MATRIX_MOST];
    struct cell cells[MATRIX_MOST];
    size_t n;
};

#define CLAIM(name) static void name(void **state)

/* The claim for each subject on each target. */
static inline void matrix_add(struct matrix *matrix, const char *claim, CMUnitTestFunction run,
                              const struct subject *subjects, size_t n_subjects, const struct target *targets,
                              size_t n_targets)
{
    for (size_t k = 0; k < n_subjects * n_targets; k++) {
        const struct target *target = &targets[k % n_targets];
        const struct subject *subject = &subjects[k / n_targets];
        struct cell *cell = &matrix->cells[matrix->n];
        assert_true(matrix->n < MATRIX_MOST);
        cell->target = target;
        cell->subject = subject->value;
        snprintf(cell->name, sizeof cell->name, "%s: %s on %s, f%u, teams of %u", claim, subject->name,
                 target->device, target->precision, target->workers);
        matrix->tests[matrix->n++] =
            (struct CMUnitTest){.name = cell->name, .test_func = run, .initial_state = cell};
    }
}

static inline int matrix_run(struct matrix *matrix)
{
    return _cmocka_run_group_tests("matrix", matrix->tests, matrix->n, NULL, NULL);
}

/* One thread and no polish, so that an f32 answer stands as it is. NULL: the target is not here. */
static inline paritas_context *target_open(const struct target *target)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    const bool cuda_text = strcmp(target->device, CUDA_TEXT) == 0,
               metal_text = strcmp(target->device, METAL_TEXT) == 0;
    options.device = cuda_text ? "cpu" : metal_text ? "metal" : target->device;
    options.precision = target->precision;
    options.workers = cuda_text ? 0 : target->workers;
    options.threads = 1;
    options.no_polish = 1;
    options.cache = kernel_cache_folder();
#if defined(FAKE_METAL)
    fake_metal_reset();
    metal_library = metal_text ? FAKE_METAL : NULL;
#else
    if (metal_text) return NULL;
#endif
    paritas_context *context = NULL;
    const paritas_status status = paritas_open(&options, &context);
    if (status != PARITAS_OK) {
        print_message("%s\n", paritas_error_message(context));
        paritas_close(context);
        if (status != PARITAS_NO_DEVICE) fail();
        return NULL;
    }
    if (!cuda_text) return context;
#if defined(CUDA_NATIVE)
    const struct native_team team = {target->workers, NATIVE_SHUFFLED, ""};
    use_native_team(&team, 7);
    use_native_device(context);
    return context;
#else
    paritas_close(context);
    return NULL;
#endif
}

/* Closes it; fails where a stand-in saw what a device would leave undefined. */
static inline void target_close(const struct target *target, paritas_context *context)
{
    paritas_close(context);
    (void)target;
#if defined(CUDA_NATIVE)
    if (native_fault[0]) fail_msg("%s", native_fault);
#endif
#if defined(FAKE_METAL)
    if (strcmp(target->device, METAL_TEXT) == 0) {
        assert_string_equal(fake_metal.violation, "");
        assert_int_equal(fake_metal.live, 0);
        assert_int_equal(fake_metal.pools, 0);
    }
#endif
}

#endif
