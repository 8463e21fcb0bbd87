/* test_cuda_kernels.c: the kernels' CUDA text, run natively in teams of several workers, answers the CPU's
 * bits, in whatever order the workers take their turns; and a barrier that is missing shows. The device is
 * the CPU's, its kernels those of native_kernels.c. */
#include "cuda/cuda_native.h"
#include "device/device.h"
#include "entry/histfactory_entries.h"
#include "fit/family.h"
#include "fit/fit_testing.h"
#include "opencl/workspace.h"
#include "parity/results.h"

/* ---- the module whose CPU kernels are the CUDA text ---- */

enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

static char fault[256];      /* the first of a run's */
static size_t slab_elements; /* of the model's most demanding entry */

/* Every team works in a slab of its own that holds no numbers: what it reads it must have written.
 * Differential evolution, whose slab depends on its population, keeps the device's. */

static void run_entry(native_kernel kernel, const uint32_t *mi, const void *mr, const uint32_t *args,
                      const void *in, void *out, void *slab, uint32_t team)
{
    uint32_t elements = 0, first_team = team;
    void *own = malloc(slab_elements * sizeof(double)),
         *arguments[] = {&mi, &mr, &args, &in, &out, &own, &elements, &first_team};
    assert_non_null(own);
    if (kernel == native_histfactory_f64[ENTRY_hf_fit_de].run ||
        kernel == native_histfactory_f32[ENTRY_hf_fit_de].run)
        arguments[5] = &slab;
    memset(own, 0xff, slab_elements * sizeof(double));
    const char *wrong = native_run(kernel, arguments, 1);
    if (wrong && !fault[0]) snprintf(fault, sizeof fault, "%s", wrong);
    free(own);
}

#define X(name)                                                                                      \
    static void name##_f64(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, \
                           void *out, void *slab, uint32_t team)                                     \
    {                                                                                                \
        run_entry(native_histfactory_f64[ENTRY_##name].run, mi, mr, args, in, out, slab, team);      \
    }                                                                                                \
    static void name##_f32(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, \
                           void *out, void *slab, uint32_t team)                                     \
    {                                                                                                \
        run_entry(native_histfactory_f32[ENTRY_##name].run, mi, mr, args, in, out, slab, team);      \
    }
MODULE_ENTRIES(X)
#undef X
static const cpu_entry entries_f64[] = {
#define X(name) name##_f64,
    MODULE_ENTRIES(X)
#undef X
};
static const cpu_entry entries_f32[] = {
#define X(name) name##_f32,
    MODULE_ENTRIES(X)
#undef X
};
static const struct cpu_variant variants[] = {{"portable", 64, 1, 1, entries_f64},
                                              {"portable", 32, 1, 1, entries_f32}};

/* A model whose kernels are the CUDA text, run as the settings say, until use_own_kernels. */
static struct kernel_module native_module;
static struct paritas_family native_family;
static const struct paritas_family *own_family;

static void use_native_kernels(const struct fixture *f)
{
    /* made for this test alone */
    struct frozen *frozen = (struct frozen *)(uintptr_t)paritas_model_frozen(f->model);
    own_family = frozen->family;
    slab_elements = frozen->slab_covariance;
    for (int m = 0; m < PARITAS_MINIMIZER_COUNT; m++)
        if (slab_elements < frozen->slab_fit[m]) slab_elements = frozen->slab_fit[m];
    native_module = *own_family->module;
    native_module.variants = variants;
    native_module.n_variants = COUNT(variants);
    native_family = *own_family;
    native_family.module = &native_module;
    frozen->family = &native_family;
    assert_null(native_histfactory_f64[native_module.n_entries].name);
    for (unsigned k = 0; k < native_module.n_entries; k++)
        assert_string_equal(native_histfactory_f64[k].name, native_module.entries[k]);
}

static void use_own_kernels(const struct fixture *f)
{
    ((struct frozen *)(uintptr_t)paritas_model_frozen(f->model))->family = own_family;
}

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

/* ---- the same bits ---- */

static const struct {
    unsigned workers;
    enum native_order order;
    const char *name;
} teams[] = {{3, NATIVE_SHUFFLED, "3 workers, shuffled"},
             {32, NATIVE_SHUFFLED, "32 workers, shuffled"},
             {32, NATIVE_BACKWARD, "32 workers, backwards"},
             {1, NATIVE_FORWARD, "1 worker"}};

static void compare(const struct fixture *f, const char *name, unsigned parts, unsigned precision,
                    uint64_t seed, size_t n_teams)
{
    for (int part = 0; part < RESULTS_PART_COUNT; part++) {
        if (!(parts >> part & 1)) continue;
        struct results reference = {0};
        paritas_context *context = open_portable(precision);
        assert_true(results_collect(context, f->model, (enum results_part)part, seed, &reference));
        use_native_kernels(f);
        for (size_t t = 0; t < n_teams; t++) {
            struct results results = {0};
            native_workers = teams[t].workers;
            native_settings = (struct native_settings){.order = teams[t].order, .seed = seed + t};
            fault[0] = '\0';
            assert_true(results_collect(context, f->model, (enum results_part)part, seed, &results));
            if (fault[0])
                fail_msg("%s, f%u, %s, %s: %s", name, precision, results_part_names[part], teams[t].name,
                         fault);
            if (results.length != reference.length ||
                memcmp(results.bytes, reference.bytes, results.length) != 0)
                fail_msg("%s, f%u, %s, %s: not the CPU's bits", name, precision, results_part_names[part],
                         teams[t].name);
            results_free(&results);
        }
        use_own_kernels(f);
        results_free(&reference);
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
                    64, seed, COUNT(teams));
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
            200, SHARE > 1 ? 1 : COUNT(teams));
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
    paritas_context *context = open_portable(64);
    struct results kept[2] = {{0}, {0}};
    for (size_t t = 0; t <= COUNT(teams); t++) {
        struct results *into = &kept[t > 0];
        paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        options.n = TOYS;
        options.seed = 12;
        options.take = keep;
        options.user = into;
        if (!into->bytes) into->bytes = calloc(2 * TOYS, sizeof(paritas_toy));
        into->length = 0;
        fault[0] = '\0';
        if (t > 0) {
            native_workers = teams[t - 1].workers;
            native_settings = (struct native_settings){.order = teams[t - 1].order, .seed = t};
        }
        ASSERT_OK(context, paritas_hypotest_toys(context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1.0,
                                                 &options, &result));
        assert_int_equal(into->length, 2 * TOYS * sizeof(paritas_toy));
        assert_true(result.tally.by_quasi_newton > TOYS / 2);
        if (fault[0]) fail_msg("%s", fault);
        if (t == 0)
            use_native_kernels(&f);
        else
            assert_memory_equal(into->bytes, kept[0].bytes, into->length);
    }
    use_own_kernels(&f);
    results_free(&kept[0]);
    results_free(&kept[1]);
    paritas_close(context);
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
    fault[0] = '\0';
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
        differs = fault[0] || results.length != reference->length ||
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
    use_native_kernels(&f);
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
    use_own_kernels(&f);
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
