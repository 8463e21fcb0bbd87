/* test_cuda_kernels.c: the kernels' CUDA text, run natively in teams of several workers, answers the CPU's
 * bits, in whatever order the workers take their turns; and a barrier that is missing shows. */
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

/* ---- the same bits ---- */

static void compare(const struct fixture *f, const char *name, unsigned parts, unsigned precision,
                    uint64_t seed, size_t n_teams)
{
    for (int part = 0; part < RESULTS_PART_COUNT; part++) {
        if (!(parts >> part & 1)) continue;
        struct results reference = {0};
        paritas_context *context = open_portable(precision), *native = open_native(precision);
        assert_true(results_collect(context, f->model, (enum results_part)part, seed, &reference));
        for (size_t t = 0; t < n_teams; t++) {
            struct results results = {0};
            use_native_team(&native_teams[t], seed + t);
            assert_true(results_collect(native, f->model, (enum results_part)part, seed, &results));
            if (native_fault[0])
                fail_msg("%s, f%u, %s, %s: %s", name, precision, results_part_names[part],
                         native_teams[t].name, native_fault);
            if (results.length != reference.length ||
                memcmp(results.bytes, reference.bytes, results.length) != 0)
                fail_msg("%s, f%u, %s, %s: not the CPU's bits", name, precision, results_part_names[part],
                         native_teams[t].name);
            results_free(&results);
        }
        results_free(&reference);
        paritas_close(native);
        paritas_close(context);
    }
}

#define ALL_PARTS ((1u << RESULTS_PART_COUNT) - 1)

TEST(all_results_of_random_models_are_the_cpus)
{
    for (uint64_t seed = 0; seed < 2; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL);
        struct fixture f = make_fixture(text, NULL, NULL);
        if (seed == 0)
            compare(&f, "random model", ALL_PARTS, 64, seed, SHARE > 1 ? 1 : 2);
        else
            compare(&f, "random model", 1u << RESULTS_EVALUATE | 1u << RESULTS_FIT | 1u << RESULTS_EXPECTED,
                    64, seed, NATIVE_TEAMS);
        free_fixture(&f);
        free(text);
    }
}

TEST(all_results_in_single_precision_are_the_cpus)
{
    char *text = random_workspace(200, TRAIT_ALL);
    struct fixture f = make_fixture(text, NULL, NULL);
    compare(&f, "random model",
            1u << RESULTS_EVALUATE | 1u << RESULTS_EXPECTED | 1u << RESULTS_FIT | 1u << RESULTS_LBFGSB, 32,
            200, SHARE > 1 ? 1 : NATIVE_TEAMS);
    free_fixture(&f);
    free(text);
}

/* ---- toys: drawn and fitted by queues ---- */

enum { TOYS = 12 };

static int keep(void *user, size_t n, const paritas_toy *toys)
{
    struct results *kept = user;
    memcpy(kept->bytes + kept->length, toys, n * sizeof *toys);
    kept->length += n * sizeof *toys;
    return 0;
}

TEST(toys_are_the_cpus)
{
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    paritas_context *cpu = open_portable(64), *native = open_native(64);
    struct results kept[2] = {{0}, {0}};
    for (size_t t = 0; t <= NATIVE_TEAMS; t++) {
        struct results *into = &kept[t > 0];
        paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        options.n = TOYS;
        options.seed = 12;
        options.take = keep;
        options.user = into;
        if (!into->bytes) into->bytes = calloc(2 * TOYS, sizeof(paritas_toy));
        into->length = 0;
        paritas_context *context = t > 0 ? native : cpu;
        if (t > 0) use_native_team(&native_teams[t - 1], t);
        ASSERT_OK(context, paritas_hypotest_toys(context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1.0,
                                                 &options, &result));
        assert_int_equal(into->length, 2 * TOYS * sizeof(paritas_toy));
        assert_true(result.tally.by_quasi_newton > TOYS / 2);
        if (native_fault[0]) fail_msg("%s", native_fault);
        if (t > 0) assert_memory_equal(into->bytes, kept[0].bytes, into->length);
    }
    results_free(&kept[0]);
    results_free(&kept[1]);
    paritas_close(cpu);
    paritas_close(native);
    free_fixture(&f);
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
     * another */
    static const char *const files[] = {
        "rates.h", "curvature.h", "tiles.h", "newton.h", "entry/entry_histfactory.h", "entry/entry_jobs.h"};
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
        cmocka_unit_test(all_results_of_random_models_are_the_cpus),
        cmocka_unit_test(all_results_in_single_precision_are_the_cpus),
        cmocka_unit_test(toys_are_the_cpus),
        cmocka_unit_test(a_block_waits_at_its_barrier),
        cmocka_unit_test(a_barrier_that_is_missing_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
