#define _POSIX_C_SOURCE 200809L /* mkdtemp */
/* test_cuda_host.c: the host's part of the CUDA device, against libraries that stand in for NVIDIA's
 * (cuda_fake.h): order of calls, what is held and released, and every failure that a driver or compiler can
 * answer. Results are claims of tests/matrix. */
#include "cuda/compare.h"
#include "cuda/stand_in.h"
#include "device/cuda/cuda.h"
#include "device/kernel_embedded.h"
#include "opencl/workspace.h"

static struct fake_cuda *fake;
static struct cuda_api direct; /* of it, as another library in the process would call it */

/* False where another driver comes first. */
static bool find_fake(void)
{
    static const char *const functions[] = {CUDA_FUNCTIONS(LIBRARY_NAME) NULL};
    void *library = library_open("libcuda.so.1");
    fake = stand_in_find();
    return fake && !library_find_all(&library, 1, functions, &direct);
}

static void set_up(void)
{
    stand_in_reset(fake);
}

static void look_back(void)
{
    stand_in_look_back(fake);
}

static struct fixture small_model(void)
{
    return make_fixture(small_workspace, NULL, NULL);
}

/* The NLL at the suggested start. */
static double nll_of(paritas_context *context, const struct fixture *f)
{
    double nll = NAN;
    ASSERT_OK(context, paritas_evaluate(context, f->model, 1, paritas_model_suggested_init(f->model), 0, NULL,
                                        SIZED(paritas_evaluate_answers, .twice_nll = &nll)));
    return nll;
}

/* Opens, evaluates, closes; the status of the first that failed. What was answered must be `expected`. */
static paritas_status evaluate_once(const struct fixture *f, double expected, char reason[512])
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = "cuda";
    options.threads = 1;
    paritas_context *context = NULL;
    double nll = NAN;
    paritas_status status = paritas_open(&options, &context);
    if (status == PARITAS_OK)
        status = paritas_evaluate(context, f->model, 1, paritas_model_suggested_init(f->model), 0, NULL,
                                  SIZED(paritas_evaluate_answers, .twice_nll = &nll));
    snprintf(reason, 512, "%s", paritas_error_message(context));
    paritas_close(context);
    if (status == PARITAS_OK) assert_memory_equal(&nll, &expected, sizeof nll);
    return status;
}

static double expected_nll(const struct fixture *f)
{
    paritas_context *cpu = open_on(NULL, 64, 0, NULL);
    const double nll = nll_of(cpu, f);
    paritas_close(cpu);
    return nll;
}

/* ---- what is compiled, and by whom ---- */

static void assert_compiled_by(int driver, int major, int minor, int nvrtc, const char *architecture)
{
    set_up();
    fake->driver = driver;
    fake->major = major;
    fake->minor = minor;
    struct fixture f = small_model();
    char reason[512];
    if (evaluate_once(&f, expected_nll(&f), reason) != PARITAS_OK) fail_msg("%s", reason);
    assert_int_equal(fake->nvrtc, nvrtc);
    assert_non_null(strstr(fake->options, architecture));
    free_fixture(&f);
    look_back();
}

TEST(the_newest_nvrtc_that_the_driver_can_follow_compiles)
{
    assert_compiled_by(13010, 9, 0, 13000, "--gpu-architecture=sm_90 ");
    assert_compiled_by(12040, 9, 0, 12040, "--gpu-architecture=sm_90 ");
    assert_compiled_by(11080, 8, 6, 11020, "--gpu-architecture=sm_86 ");
}

/* NVRTC 13 compiles for 7.5 and later, the older one beside it for 7.0, too. */
TEST(a_device_that_the_newest_nvrtc_has_forgotten_gets_an_older_one)
{
    set_up();
    fake->major = 7;
    paritas_context *context = open_on("cuda", 64, 0, NULL);
    assert_non_null(context);
    assert_true(fake->nvrtc > 0 && fake->nvrtc < 13000);
    paritas_close(context);
    look_back();
}

TEST(an_nvrtc_older_than_the_device_makes_ptx)
{
    assert_compiled_by(12080, 12, 0, 12040, "--gpu-architecture=compute_90 ");
    assert_compiled_by(13000, 9, 1, 13000, "--gpu-architecture=compute_90 ");
}

/* ---- devices that cannot run ---- */

static void assert_no_device(const char *words)
{
    struct fixture f = small_model();
    char reason[512];
    assert_int_equal(evaluate_once(&f, NAN, reason), PARITAS_NO_DEVICE);
    if (!strstr(reason, words)) fail_msg("\"%s\" does not say \"%s\"", reason, words);
    free_fixture(&f);
    look_back();
}

TEST(a_device_that_cannot_run_says_why)
{
    set_up();
    fake->devices = 0;
    assert_no_device("no CUDA-capable device");
    set_up();
    fake->prohibited = 1;
    assert_no_device("compute mode");
    set_up();
    fake->major = 1;
    assert_no_device("compute capability 1.0");
    set_up();
    fake->compile_refused = 1;
    assert_no_device("kernels.cu(7): error: this text  is refused");
    set_up();
    fake->garbage = 1;
    assert_no_device("neither machine code nor PTX");
    set_up();
    fake->garbage = 2;
    assert_no_device("neither machine code nor PTX");
    set_up();
    char reason[512];
    assert_null(open_on("cuda:1", 64, 0, reason));
    assert_non_null(strstr(reason, "there is 1 CUDA device"));
    assert_null(open_on("cuda", 64, 2048, reason));
    assert_non_null(strstr(reason, "at most 1024"));
    look_back();
}

/* Every NVRTC is later than what this driver runs. */
TEST(without_a_compiler_the_embedded_kernels_run)
{
    set_up();
    fake->driver = 10020;
    if (!paritas_kernels_embedded[0].packed) {
        assert_no_device("not embedded");
        return;
    }
    struct fixture f = small_model();
    size_t ran = 0;
    for (unsigned precision = 64; precision >= 32; precision -= 32) {
        if (strstr(PTX_LEFT_OUT, precision == 64 ? "histfactory_f64" : "histfactory_f32")) continue;
        ran++;
        paritas_context *context = open_on("cuda", precision, 0, NULL);
        assert_non_null(context);
        assert_non_null(strstr(context->device->operations->describe(context->device), "embedded"));
        compare_with_cpu(context, &f, "small model",
                         1u << RESULTS_EVALUATE | 1u << RESULTS_FIT | 1u << RESULTS_EXPECTED, 1);
        paritas_close(context);
        look_back();
    }
    assert_true(ran > 0 && fake->compiled == 0);
    char reason[512];
    assert_null(open_on("cuda", 64, 64, reason)); /* embedded for blocks of one size */
    assert_non_null(strstr(reason, "for blocks of 64 threads is not embedded"));
    look_back();
    free_fixture(&f);
}

TEST(auto_precision_is_f64_unless_that_crawls)
{
    for (int ratio = 2; ratio <= 64; ratio *= 32) {
        set_up();
        fake->ratio = ratio;
        paritas_context *context = open_on("cuda", PARITAS_PRECISION_AUTO, 0, NULL);
        assert_non_null(context);
        assert_string_equal(paritas_precision_name(context), ratio == 2 ? "f64" : "f32");
        paritas_close(context);
        look_back();
    }
}

TEST(a_kernel_that_allows_few_threads_gets_small_blocks)
{
    set_up();
    struct fixture f = small_model();
    fake->threads_most = 8;
    paritas_context *context = open_on("cuda", 64, 0, NULL);
    assert_non_null(context);
    const double expected = expected_nll(&f), nll = nll_of(context, &f);
    assert_memory_equal(&nll, &expected, sizeof nll);
    assert_int_equal(fake->workers, 8);
    paritas_close(context);
    look_back();
    free_fixture(&f);
}

/* ---- other libraries in the process ---- */

TEST(the_callers_context_stays_current)
{
    set_up();
    struct fixture f = small_model();
    cuda_context others = (cuda_context)(uintptr_t)&f, popped = NULL;
    assert_int_equal(direct.cuInit(0), 0);
    assert_int_equal(direct.cuCtxPushCurrent_v2(others), 0);
    paritas_context *context = open_on("cuda", 64, 0, NULL);
    assert_non_null(context);
    assert_ptr_equal(fake->current, others);
    nll_of(context, &f);
    assert_ptr_equal(fake->current, others);
    paritas_close(context);
    assert_ptr_equal(fake->current, others);
    assert_int_equal(direct.cuCtxPopCurrent_v2(&popped), 0);
    look_back();
    free_fixture(&f);
}

TEST(the_callers_stream_is_used_and_left)
{
    set_up();
    struct fixture f = small_model();
    cuda_context primary = NULL, popped;
    cuda_stream stream = NULL;
    assert_int_equal(direct.cuInit(0), 0);
    assert_int_equal(direct.cuDevicePrimaryCtxRetain(&primary, 0), 0);
    assert_int_equal(direct.cuCtxPushCurrent_v2(primary), 0);
    assert_int_equal(direct.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING), 0);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = "cuda";
    options.stream = stream;
    paritas_context *context = NULL;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    const double expected = expected_nll(&f), nll = nll_of(context, &f);
    assert_memory_equal(&nll, &expected, sizeof nll);
    assert_ptr_equal(fake->last_stream, stream);
    assert_int_equal(fake->streams, 1);
    paritas_close(context);
    assert_int_equal(direct.cuStreamDestroy_v2(stream), 0); /* it is still there */
    assert_int_equal(direct.cuCtxPopCurrent_v2(&popped), 0);
    assert_int_equal(direct.cuDevicePrimaryCtxRelease_v2(0), 0);
    look_back();
    options.device = "cpu";
    assert_int_equal(paritas_open(&options, &context), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "stream"));
    paritas_close(context);
    free_fixture(&f);
}

/* ---- failures ---- */

/* With the n-th call failing, for all n: an answer that is right, or an error that says which call it was;
 * and nothing stays held. */
static void fail_every_call(int code, int on, paritas_status status)
{
    struct fixture f = small_model();
    const double expected = expected_nll(&f);
    unsigned long n = 0, answered = 0;
    for (;;) {
        char reason[512];
        set_up();
        fake->fail_at = ++n;
        fake->fail_on = on;
        fake->fail_code = code;
        const paritas_status found = evaluate_once(&f, expected, reason);
        if (!fake->failed) break;
        if (fake->fault[0]) fail_msg("call %lu (%s): %s", n, fake->failed, fake->fault);
        if (fake->in_use != 0) fail_msg("call %lu (%s): %ld things are held", n, fake->failed, fake->in_use);
        answered += found == PARITAS_OK;
        if (found != PARITAS_OK && found != status && found != PARITAS_NO_DEVICE)
            fail_msg("call %lu (%s): status %d", n, fake->failed, found);
        if (found != PARITAS_OK && (!strstr(reason, "cuda") || strlen(reason) < 20))
            fail_msg("call %lu (%s): \"%s\"", n, fake->failed, reason);
    }
    assert_true(n > 50);
    print_message("%lu calls, %lu of them may fail unnoticed\n", n - 1, answered);
    assert_true(4 * answered < n * 3);
    free_fixture(&f);
}

TEST(every_call_may_fail)
{
    fail_every_call(999, 0, PARITAS_NO_DEVICE);
}

TEST(a_device_may_vanish_at_any_call)
{
    fail_every_call(719, 1, PARITAS_NO_DEVICE);
}

TEST(memory_may_run_out_at_any_call)
{
    fail_every_call(2, 0, PARITAS_OUT_OF_MEMORY);
}

static struct {
    unsigned long calls, fail_at;
} host;

static void *allocate(void *user, size_t size)
{
    (void)user;
    return ++host.calls == host.fail_at ? NULL : malloc(size);
}
static void *reallocate(void *user, void *memory, size_t size)
{
    (void)user;
    return ++host.calls == host.fail_at ? NULL : realloc(memory, size);
}
static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* The host's own memory, at every place where the device asks for some. */
TEST(the_hosts_memory_may_run_out_at_any_time)
{
    struct fixture f = small_model();
    const double expected = expected_nll(&f);
    const paritas_allocator allocator = {allocate, reallocate, release, NULL};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = "cuda";
    options.threads = 1;
    options.allocator = &allocator;
    bool answered = false;
    for (host.fail_at = 1; !answered; host.fail_at++) {
        set_up();
        host.calls = 0;
        double nll = NAN;
        paritas_context *context = NULL;
        paritas_status status = paritas_open(&options, &context);
        if (status == PARITAS_OK)
            status = paritas_evaluate(context, f.model, 1, paritas_model_suggested_init(f.model), 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = &nll));
        paritas_close(context);
        look_back();
        answered = host.calls < host.fail_at;
        if (status == PARITAS_OK)
            assert_memory_equal(&nll, &expected, sizeof nll);
        else
            assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
    }
    assert_true(host.fail_at > 8);
    free_fixture(&f);
}

/* As if nothing had run yet. Answers the bytes that the slabs had. */
static size_t drop_slabs(struct accelerator *accelerator)
{
    const size_t bytes = accelerator->slabs.bytes;
    assert_int_equal(accelerator->operations->enter(accelerator), 0);
    accelerator->operations->release(accelerator, accelerator->slabs.memory);
    accelerator->operations->leave(accelerator);
    accelerator->slabs = (struct accelerator_buffer){NULL, 0};
    return bytes;
}

TEST(slabs_that_do_not_fit_become_fewer)
{
    set_up();
    struct fixture f = small_model();
    paritas_context *context = open_on("cuda", 64, 0, NULL);
    assert_non_null(context);
    const size_t rows = 40, n = f.n_parameters;
    double *points = malloc(rows * n * sizeof *points), *plenty = malloc(rows * sizeof *plenty),
           *little = malloc(rows * sizeof *little);
    assert_true(points && plenty && little);
    for (size_t i = 0; i < rows * n; i++)
        points[i] = paritas_model_suggested_init(f.model)[i % n] + 0.001 * (double)(i / n);
    ASSERT_OK(context, paritas_evaluate(context, f.model, rows, points, 0, NULL,
                                        SIZED(paritas_evaluate_answers, .twice_nll = plenty)));
    struct accelerator *accelerator = context->device->state;
    assert_int_equal(accelerator->teams_at_once, rows);
    const size_t slab = drop_slabs(accelerator) / rows;
    fake->memory = fake->allocated + 4 * slab;
    ASSERT_OK(context, paritas_evaluate(context, f.model, rows, points, 0, NULL,
                                        SIZED(paritas_evaluate_answers, .twice_nll = little)));
    assert_true(accelerator->teams_at_once <= 4);
    assert_memory_equal(little, plenty, rows * sizeof *plenty);
    drop_slabs(accelerator);
    fake->memory = 1;
    assert_int_equal(paritas_evaluate(context, f.model, rows, points, 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = little)),
                     PARITAS_OUT_OF_MEMORY);
    assert_non_null(strstr(paritas_error_message(context), "cuda:0"));
    free(points);
    free(plenty);
    free(little);
    paritas_close(context);
    look_back();
    free_fixture(&f);
}

/* ---- kept kernels ---- */

TEST(a_kernel_in_the_cache_is_not_compiled_again)
{
    set_up();
    struct fixture f = small_model();
    char folder[] = "/tmp/paritas_cuda_XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = "cuda";
    options.cache = folder;
    double nll[3];
    for (int k = 0; k < 3; k++) {
        paritas_context *context = NULL;
        if (k == 2) fake->minor = 3; /* another device: what is kept is not for it */
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        nll[k] = nll_of(context, &f);
        assert_int_equal(context->device->builds, k != 1);
        paritas_close(context);
    }
    assert_memory_equal(&nll[1], &nll[0], sizeof nll[0]);
    assert_memory_equal(&nll[2], &nll[0], sizeof nll[0]);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    look_back();
    free_fixture(&f);
}

int main(void)
{
    if (!find_fake()) {
        print_error("the libraries that stand in for NVIDIA's are not found first\n");
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_nvrtc_that_the_driver_can_follow_compiles),
        cmocka_unit_test(a_device_that_the_newest_nvrtc_has_forgotten_gets_an_older_one),
        cmocka_unit_test(an_nvrtc_older_than_the_device_makes_ptx),
        cmocka_unit_test(a_device_that_cannot_run_says_why),
        cmocka_unit_test(without_a_compiler_the_embedded_kernels_run),
        cmocka_unit_test(auto_precision_is_f64_unless_that_crawls),
        cmocka_unit_test(a_kernel_that_allows_few_threads_gets_small_blocks),
        cmocka_unit_test(the_callers_context_stays_current),
        cmocka_unit_test(the_callers_stream_is_used_and_left),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(a_device_may_vanish_at_any_call),
        cmocka_unit_test(memory_may_run_out_at_any_call),
        cmocka_unit_test(the_hosts_memory_may_run_out_at_any_time),
        cmocka_unit_test(slabs_that_do_not_fit_become_fewer),
        cmocka_unit_test(a_kernel_in_the_cache_is_not_compiled_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
