/* OpenCL devices whose own quotients and roots of floats are not those of IEEE 754 build them from fma. Here
 * a device that has them is made to build them too: its bits must stay the CPU's. Skipped where there is no
 * OpenCL device. */
#include "common.h"
#include "device/opencl/opencl.h"
#include "device/device_self_test.h"
#include "opencl/workspace.h"
#include "paritas.h"

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

/* A device that builds quotients, of which nothing is loaded yet; NULL where there is none. */
static paritas_context *open_building(unsigned workers)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "opencl";
    options.precision = 32;
    options.workers = workers;
    if (paritas_open(&options, &context) != PARITAS_OK) {
        note_absence(paritas_error_message(context));
        paritas_close(context);
        return NULL;
    }
    struct accelerator *accelerator = context->device->state;
    for (size_t m = 0; m < ACCELERATOR_MODULES_MAX; m++)
        for (size_t k = 0; k < MODULE_ENTRIES_MAX; k++) {
            struct accelerator_kernel *kernel = &accelerator->modules[m].kernels[k];
            if (kernel->function) accelerator->operations->unload(accelerator, kernel);
        }
    ((struct opencl_state *)accelerator->state)->builds_division = true;
    return context;
}

TEST(built_quotients_and_roots_pass_the_self_test)
{
    static const unsigned groups[] = {1, 32};
    for (size_t g = 0; g < COUNT(groups); g++) {
        paritas_context *context = open_building(groups[g]);
        if (!context) skip_absent();
        char line[300];
        struct accelerator *accelerator = context->device->state;
        const struct accelerator_build build = {context, accelerator, "", 0, "conform", 32, groups[g]};
        accelerator->operations->options(&build, line, sizeof line);
        assert_non_null(strstr(line, "-DPARITAS_BUILT_DIVISION"));
        assert_null(strstr(line, "correctly-rounded"));
        if (self_test_run(context, context->device, false) != PARITAS_OK)
            fail_msg("%s", paritas_error_message(context));
        paritas_close(context);
    }
}

/* Twice the NLL and its gradient at three points. */
static void evaluate(paritas_context *context, double *values, double *gradients)
{
    enum { POINTS = 3 };
    paritas_workspace *workspace;
    paritas_model *model;
    assert_int_equal(
        paritas_workspace_parse(context, small_workspace, strlen(small_workspace), "small", &workspace),
        PARITAS_OK);
    assert_int_equal(paritas_model_create(context, workspace, NULL, &model), PARITAS_OK);
    const size_t n = paritas_model_parameter_count(model);
    double *points = test_calloc(POINTS * n, sizeof *points);
    for (size_t k = 0; k < POINTS; k++)
        for (size_t p = 0; p < n; p++)
            points[k * n + p] = paritas_model_suggested_init(model)[p] + 0.03 * (double)(k * (p % 5));
    if (paritas_evaluate(context, model, POINTS, points, 0, NULL,
                         SIZED(paritas_evaluate_answers, .twice_nll = values, .gradient = gradients)) !=
        PARITAS_OK)
        fail_msg("%s", paritas_error_message(context));
    test_free(points);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
}

TEST(a_model_has_the_cpus_bits_with_built_quotients_and_roots)
{
    enum { MOST = 100 };
    double wanted[3] = {0}, wanted_gradients[3 * MOST] = {0}, got[3] = {0}, got_gradients[3 * MOST] = {0};
    paritas_context *context = open_building(32);
    if (!context) skip_absent();
    evaluate(context, got, got_gradients);
    paritas_close(context);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = 32;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    evaluate(context, wanted, wanted_gradients);
    paritas_close(context);
    assert_true(wanted[0] > 0.0);
    assert_memory_equal(got, wanted, sizeof got);
    assert_memory_equal(got_gradients, wanted_gradients, sizeof got_gradients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_quotients_and_roots_pass_the_self_test),
        cmocka_unit_test(a_model_has_the_cpus_bits_with_built_quotients_and_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
