/* test_opencl_device.c: what may go wrong with an OpenCL device, and what is kept between calls. Skipped
 * where there is none; results are claims of tests/matrix. */
#include "device/opencl/opencl.h"
#include "fit/family.h"
#include "fit/fit_testing.h"
#include "opencl/workspace.h"

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

/* The small model in f64; false where there is no such device. */
static bool open_small(struct fixture *f, const char *device, unsigned workers)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.workers = workers;
    options.threads = options.lanes = 1;
    options.cache = kernel_cache_folder();
    paritas_context *context;
    const paritas_status status = paritas_open(&options, &context);
    if (status != PARITAS_OK) note_absence(paritas_error_message(context));
    paritas_close(context);
    if (status == PARITAS_NO_DEVICE) return false;
    *f = make_fixture(small_workspace, &options, NULL);
    return true;
}

static double *make_numbers(size_t n)
{
    return make_array(n, sizeof(double));
}

static size_t largest_allowed;
static opencl_memory (*create_buffer)(opencl_context, uint64_t, size_t, void *, opencl_code *);

static opencl_memory create_small_buffer(opencl_context context, uint64_t flags, size_t bytes, void *host,
                                         opencl_code *code)
{
    if (bytes <= largest_allowed) return create_buffer(context, flags, bytes, host, code);
    *code = OPENCL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

/* Where slabs do not fit, fewer teams run at once; where not even one does, that is said. */
TEST(memory_runs_out)
{
    struct fixture b;
    if (!open_small(&b, "opencl", 8)) skip_absent();
    struct accelerator *accelerator = b.context->device->state;
    struct opencl_state *driver = accelerator->state;
    const size_t rows = 9;
    double *points = make_numbers(rows * b.n_parameters), *plenty = make_numbers(rows),
           *little = make_numbers(rows);
    for (size_t i = 0; i < rows * b.n_parameters; i++)
        points[i] =
            paritas_model_suggested_init(b.model)[i % b.n_parameters] + 0.001 * (double)(i / b.n_parameters);
    b.context->device->teams = 16;
    ASSERT_OK(b.context, paritas_evaluate(b.context, b.model, rows, points, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = plenty)));
    assert_true(accelerator->teams_at_once > 3);
    const size_t slab = accelerator->slabs.bytes / accelerator->teams_at_once;
    create_buffer = driver->api.clCreateBuffer;
    driver->api.clCreateBuffer = create_small_buffer;
    largest_allowed = 3 * slab;
    driver->api.clReleaseMemObject(accelerator->slabs.memory);
    accelerator->slabs = (struct accelerator_buffer){NULL, 0};
    ASSERT_OK(b.context, paritas_evaluate(b.context, b.model, rows, points, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = little)));
    assert_true(accelerator->teams_at_once <= 3);
    assert_memory_equal(little, plenty, rows * sizeof *little);
    largest_allowed = slab - 1;
    driver->api.clReleaseMemObject(accelerator->slabs.memory);
    accelerator->slabs = (struct accelerator_buffer){NULL, 0};
    assert_int_equal(paritas_evaluate(b.context, b.model, rows, points, 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = little)),
                     PARITAS_OUT_OF_MEMORY);
    assert_non_null(strstr(paritas_error_message(b.context), "opencl:0"));
    free(points);
    free(plenty);
    free(little);
    free_fixture(&b);
}

static opencl_code tell_four(opencl_kernel kernel, opencl_device device, uint32_t what, size_t room,
                             void *value, size_t *size)
{
    (void)kernel, (void)device, (void)what, (void)room, (void)size;
    *(size_t *)value = 4;
    return 0;
}

/* An entry that a device can run in small work-groups only gets one, unless the size was asked for. */
TEST(work_group_too_large_for_an_entry)
{
    struct fixture b;
    if (!open_small(&b, "opencl", 16)) skip_absent();
    struct accelerator *accelerator = b.context->device->state;
    struct opencl_state *driver = accelerator->state;
    const struct paritas_family *family = paritas_model_frozen(b.model)->family;
    /* behind the self-test's module */
    const struct accelerator_kernel *kernel = &accelerator->modules[1].kernels[family->expected];
    double *data = make_numbers(b.n_data);
    driver->api.clGetKernelWorkGroupInfo = tell_four;
    assert_int_equal(
        paritas_expected_data(b.context, b.model, 1, paritas_model_suggested_init(b.model), data),
        PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(b.context), "at most 4 for hf_expected"));
    assert_null(kernel->function);
    b.context->device->workers = 0;
    accelerator->properties.workers = 16;
    ASSERT_OK(b.context,
              paritas_expected_data(b.context, b.model, 1, paritas_model_suggested_init(b.model), data));
    assert_int_equal(kernel->workers, 4);
    free(data);
    free_fixture(&b);
}

static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    *(uint64_t *)user = done;
    return done < total;
}

TEST(cancelled)
{
    struct fixture b;
    if (!open_small(&b, "opencl", 1)) skip_absent();
    uint64_t done = 0;
    b.context->progress = stop_at_once;
    b.context->progress_user = &done;
    const size_t rows = 200;
    double *points = make_numbers(rows * b.n_parameters), *nll = make_numbers(rows);
    for (size_t i = 0; i < rows * b.n_parameters; i++)
        points[i] = paritas_model_suggested_init(b.model)[i % b.n_parameters];
    b.context->device->teams = 1;
    assert_int_equal(paritas_evaluate(b.context, b.model, rows, points, 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = nll)),
                     PARITAS_CANCELLED);
    assert_true(done > 0 && done < rows);
    free(points);
    free(nll);
    free_fixture(&b);
}

/* A model is uploaded once and stays, an entry is built once. */
TEST(counted)
{
    struct fixture b;
    if (!open_small(&b, "opencl:0", 0)) skip_absent();
    paritas_release(&b.context->allocator, b.context->cache);
    b.context->cache = NULL;
    double nll;
    ASSERT_OK(b.context, paritas_evaluate(b.context, b.model, 1, paritas_model_suggested_init(b.model), 0,
                                          NULL, SIZED(paritas_evaluate_answers, .twice_nll = &nll)));
    ASSERT_OK(b.context, paritas_evaluate(b.context, b.model, 1, paritas_model_suggested_init(b.model), 0,
                                          NULL, SIZED(paritas_evaluate_answers, .twice_nll = &nll)));
    assert_int_equal(b.context->device->uploads, 1);
    assert_int_equal(b.context->device->builds, 1);
    assert_int_equal(b.context->device->launches, 2);
    assert_string_equal(paritas_device_name(b.context), "opencl:0");
    assert_true(strlen(b.context->device->operations->describe(b.context->device)) > 0);
    free_fixture(&b);
}

TEST(no_such_device)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "opencl:999";
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "OpenCL"));
    paritas_close(context);
}

TEST(work_group_too_large)
{
    struct fixture b;
    if (!open_small(&b, "opencl", 0)) skip_absent();
    free_fixture(&b);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "opencl";
    options.workers = 1u << 30;
    assert_int_equal(paritas_open(&options, &context), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "workers"));
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(counted),
        cmocka_unit_test(no_such_device),
        cmocka_unit_test(work_group_too_large),
        cmocka_unit_test(work_group_too_large_for_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
