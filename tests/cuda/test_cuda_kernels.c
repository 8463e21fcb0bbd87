/* test_cuda_kernels.c: a barrier that is missing in the kernels' CUDA text shows, where the text runs
 * natively in teams of several workers (the claims of tests/matrix). */
#include "cuda/native_device.h"
#include "fit/fit_testing.h"
#include "opencl/workspace.h"
#include "parity/results.h"

static paritas_context *open_portable(unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = "portable";
    options.lanes = options.threads = 1;
    options.precision = precision;
    paritas_context *context;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    return context;
}

static paritas_context *open_native(unsigned precision)
{
    paritas_context *context = open_portable(precision);
    use_native_device(context);
    return context;
}

/* ---- a missing barrier shows ---- */

enum { MEETING = 16 };

/* Each worker writes a number and reads the one of its counterpart. */
static void meet(void **arguments)
{
    double *numbers = arguments[0], *read = arguments[1];
    numbers[native_thread.x] = native_thread.x;
    native_barrier("meet", 1);
    read[native_thread.x] = numbers[MEETING - 1 - native_thread.x];
}

static void part(void **arguments)
{
    (void)arguments;
    if (native_thread.x > 2) native_barrier("part", 1);
}

TEST(a_block_waits_at_its_barrier)
{
    native_workers = MEETING;
    for (int order = NATIVE_FORWARD; order <= NATIVE_SHUFFLED; order++)
        for (int dropped = 0; dropped < 2; dropped++) {
            double numbers[MEETING] = {0}, read[MEETING] = {0};
            void *arguments[] = {numbers, read};
            native_settings = (struct native_settings){
                .order = (enum native_order)order, .seed = 3, .dropped = {dropped ? "meet" : NULL, 1}};
            assert_null(native_run(meet, arguments, 1));
            int right = 1;
            for (int i = 0; i < MEETING; i++) right &= read[i] == MEETING - 1 - i;
            assert_int_equal(right, !dropped);
        }
    native_settings = (struct native_settings){.order = NATIVE_FORWARD};
    assert_non_null(strstr(native_run(part, NULL, 1), "part:1"));
}

/* Evaluations, Hessians, expected data, fits, errors, covariances of the small model by the CUDA text. */
static void collect_small(const struct fixture *f, paritas_context *context, struct results *results)
{
    results->length = 0;
    native_fault[0] = '\0';
    assert_true(results_collect(context, f->model, RESULTS_EVALUATE, 1, results));
    struct jobs jobs;
    assert_true(jobs_make(f->model, 3, 1, &jobs));
    assert_true(results_fits(context, f->model, NULL, &jobs, NULL, 0, results));
    jobs_free(&jobs);
}

static bool shows(const struct fixture *f, paritas_context *context, struct native_place dropped,
                  const struct results *reference)
{
    bool differs = false;
    /* 8 is the length of a panel, so that a number is often read by the worker who wrote it; not so with 5 */
    for (unsigned k = 0; k < 6 && !differs; k++) {
        struct results results = {0};
        native_workers = k < 3 ? 5 : 8;
        native_settings =
            (struct native_settings){.order = (enum native_order)(k % 3), .seed = 5, .dropped = dropped};
        collect_small(f, context, &results);
        differs = native_fault[0] || results.length != reference->length ||
                  memcmp(results.bytes, reference->bytes, results.length) != 0;
        results_free(&results);
    }
    return differs;
}

TEST(a_barrier_that_is_missing_shows)
{
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    struct results reference = {0};
    paritas_context *context = open_portable(64);
    collect_small(&f, context, &reference);
    paritas_close(context);
    context = open_native(64);
    native_forget_barriers();
    assert_false(shows(&f, context, (struct native_place){NULL, 0}, &reference));
    const struct native_place *met;
    const size_t n = native_barriers(&met);
    struct native_place places[256];
    assert_true(n > 50 && n <= COUNT(places));
    memcpy(places, met, n * sizeof *met);
    /* some stand there against what a worker may overwrite before the slowest has read it, and some beside
     * another: those of entry_jobs.h beside the one that a value begins with */
    static const char *const files[] = {"rates.h", "curvature.h", "tiles.h", "newton.h",
                                        "entry/entry_histfactory.h"};
    size_t seen = 0, of_file[COUNT(files)] = {0};
    size_t tried = 0;
    for (size_t k = 0; k < n; k += SHARE > 1 ? 3 : 1) {
        tried++;
        if (!shows(&f, context, places[k], &reference)) continue;
        seen++;
        for (size_t j = 0; j < COUNT(files); j++) of_file[j] += strstr(places[k].file, files[j]) != NULL;
    }
    print_message("%zu of %zu barriers are missed\n", seen, tried);
    assert_true(3 * seen >= tried);
    for (size_t j = 0; j < COUNT(files); j++) assert_true(of_file[j] > 0 || tried < n);
    results_free(&reference);
    paritas_close(context);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_waits_at_its_barrier),
        cmocka_unit_test(a_barrier_that_is_missing_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
