/* f32 on a processor that flushes subnormal numbers, as many devices do. The kernels must answer the bits
 * that they answer where such numbers are used in full.
 *
 * The context's device is one that makes every launch twice, first as usual, then flushing, and compares what
 * came back. */
#include "base/context.h"
#include "device/device.h"
#include "fit/fit_testing.h"
#include "flush.h"
#include "parity/results.h"

#define ENTRIES_MOST 16

static struct {
    size_t launches[ENTRIES_MOST], differ[ENTRIES_MOST], numbers;
    const char *model;
} seen;

static paritas_status launch_twice(paritas_context *context, struct paritas_device *device, void *handle,
                                   const struct device_launch *launch)
{
    const unsigned entry = (unsigned)launch->entry;
    assert_true(entry < ENTRIES_MOST);
    paritas_status status = DEVICE_KIND(PARITAS_DEVICE_CPU).launch(context, device, handle, launch);
    if (status != PARITAS_OK) return status;
    double *flushed = make_array(launch->n_out, sizeof *flushed);
    struct device_launch again = *launch;
    again.out = flushed;
    const uint64_t mode = flush_begin();
    status = DEVICE_KIND(PARITAS_DEVICE_CPU).launch(context, device, handle, &again);
    flush_end(mode);
    seen.launches[entry]++;
    seen.numbers += launch->n_out;
    if (status == PARITAS_OK && memcmp(flushed, launch->out, launch->n_out * sizeof *flushed) != 0) {
        size_t at = 0, count = 0;
        for (size_t i = launch->n_out; i-- > 0;)
            if (memcmp(&flushed[i], &launch->out[i], sizeof *flushed) != 0) {
                count++;
                at = i;
            }
        if (seen.differ[entry]++ < 3)
            print_error("%s, entry %u: %zu of %zu numbers differ, first [%zu]: %.9g, flushing %.9g\n",
                        seen.model, entry, count, launch->n_out, at, launch->out[at], flushed[at]);
    }
    free(flushed);
    return status;
}

/* Points far out: parameters at `size` times what is usual, some of them at next to nothing. */
static void evaluate_far(const struct fixture *f, uint64_t seed)
{
    enum { POINTS = 24 };
    const size_t n = f->n_parameters;
    const double *lower = paritas_model_lower_bounds(f->model), *upper = paritas_model_upper_bounds(f->model);
    double *points = make_array(POINTS * n, sizeof *points), *values = make_array(POINTS, sizeof *values);
    double *gradients = make_array(POINTS * n, sizeof *gradients),
           *hessians = make_array(POINTS * n * n, sizeof *hessians);
    struct random random = {seed};
    for (size_t k = 0; k < POINTS; k++)
        for (size_t i = 0; i < n; i++) {
            const double power = random_uniform(&random, -46.0, 2.0);
            const double init = paritas_model_suggested_init(f->model)[i];
            double x = pow(10.0, power);
            if (random_below(&random, 3) != 0) {
                x = init * random_uniform(&random, 0.3, 1.5);
                if (init == 0.0) x += random_uniform(&random, -40.0, 40.0);
            }
            x = x < lower[i] ? lower[i] : x > upper[i] ? upper[i] : x;
            points[k * n + i] = x;
        }
    ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, POINTS, points, 0, NULL,
                                           SIZED(paritas_evaluate_answers, .twice_nll = values,
                                                 .gradient = gradients, .hessian = hessians)));
    free(points);
    free(values);
    free(gradients);
    free(hessians);
}

/* Every part of an answer that has an entry of its own: values, derivatives, fits by every method,
 * covariances, toys with their shared matrix. */
static void flush_model(struct fixture *f, const char *name, uint64_t seed, unsigned parts)
{
    struct device_operations twice = *f->context->device->operations;
    twice.launch = launch_twice;
    f->context->device->operations = &twice;
    device_close(f->context->host); /* covariances too, which otherwise are found in f64 */
    f->context->host = f->context->device;
    seen.model = name;
    for (int part = 0; part < RESULTS_PART_COUNT; part++) {
        struct results results = {0};
        if (parts >> part & 1)
            assert_true(results_collect(f->context, f->model, (enum results_part)part, seed, &results));
        results_free(&results);
    }
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    options.n = 40;
    options.seed = seed;
    if (paritas_model_poi_index(f->model) >= 0) {
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        const paritas_status status = paritas_hypotest_toys(f->context, f->model, NULL,
                                                            PARITAS_STATISTIC_QTILDE, 1.0, &options, &result);
        if (status != PARITAS_NOT_CONVERGED) ASSERT_OK(f->context, status);
        /* refused where nothing is expected without the signal but something was seen: toys at the start */
        paritas_toys_result toys = PARITAS_INIT(paritas_toys_result);
        if (status == PARITAS_NOT_CONVERGED)
            ASSERT_OK(f->context, paritas_toys(f->context, f->model, NULL, NULL, &options, &toys));
    }
    evaluate_far(f, seed);
    f->context->device->operations = &DEVICE_KIND(PARITAS_DEVICE_CPU);
}

#define PARTS                                                                                   \
    (1u << RESULTS_EVALUATE | 1u << RESULTS_EXPECTED | 1u << RESULTS_FIT | 1u << RESULTS_SCAN | \
     1u << RESULTS_LBFGSB | 1u << RESULTS_DE)

/* Memory is cleared: what no kernel writes must not differ. */
static void *allocate(void *user, size_t size)
{
    (void)user;
    return calloc(1, size);
}
static void *reallocate(void *user, void *memory, size_t size)
{
    (void)user;
    return realloc(memory, size);
}
static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}
static const paritas_allocator cleared = {allocate, reallocate, release, NULL};

static paritas_options single_precision(unsigned lanes)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = 32;
    options.threads = 1;
    options.lanes = lanes;
    options.allocator = &cleared;
    return options;
}

static void begin(void)
{
    memset(&seen, 0, sizeof seen);
    if (!FLUSH_IS_KNOWN) skip_because(FLUSH_UNKNOWN);
}
static void assert_same(void)
{
    size_t differ = 0;
    for (unsigned k = 0; k < ENTRIES_MOST; k++) {
        if (seen.launches[k])
            print_message("entry %u: %zu launches, %zu differ\n", k, seen.launches[k], seen.differ[k]);
        differ += seen.differ[k];
    }
    assert_true(seen.numbers > 0);
    assert_int_equal(differ, 0);
}

TEST(flushing_changes_no_bit_of_random_models)
{
    begin();
    for (uint64_t seed = 300; seed < 312; seed += SHARE) {
        const paritas_options options = single_precision(seed % 3 == 0 ? 1 : 0);
        char *text = random_workspace(seed, TRAIT_ALL), name[32];
        struct fixture f = make_fixture(text, &options, NULL);
        snprintf(name, sizeof name, "random model %u", (unsigned)seed);
        flush_model(&f, name, seed, PARTS);
        free_fixture(&f);
        free(text);
    }
    assert_same();
}

TEST(flushing_changes_no_bit_of_published_analyses)
{
    begin();
    size_t absent = 0;
    for (size_t k = 0; k < n_published; k++) {
        const paritas_options options = single_precision(k % 2);
        struct fixture f;
        if (!published[k].large && k % 3) continue;
        if (published[k].large && SHARE > 1) continue;
        if (!make_published(&published[k], &options, &f)) {
            absent++;
            continue;
        }
        flush_model(&f, published[k].name, k,
                    published[k].large ? 1u << RESULTS_EVALUATE | 1u << RESULTS_SCAN : PARTS);
        free_fixture(&f);
    }
    assert_same();
    if (absent) print_message("%zu analyses are not here\n", absent);
}

TEST(flushing_changes_no_bit_where_numbers_are_tiny)
{
    begin();
    static const double scales[] = {1.0,   1e-5,  1e-10, 1e-15, 1e-19, 1e-22,
                                    1e-26, 1e-30, 1e-34, 1e-37, 1e-39, 1e-42};
    for (size_t k = 0; k < COUNT(scales); k++) {
        const paritas_options options = single_precision(k % 2);
        char *text = tiny_workspace(scales[k]), name[32];
        struct fixture f = make_fixture(text, &options, NULL);
        snprintf(name, sizeof name, "scale %g", scales[k]);
        flush_model(&f, name, k, PARTS);
        free_fixture(&f);
        free(text);
    }
    assert_same();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushing_changes_no_bit_of_random_models),
        cmocka_unit_test(flushing_changes_no_bit_of_published_analyses),
        cmocka_unit_test(flushing_changes_no_bit_where_numbers_are_tiny),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
