/* test_cuda_device.c: what a CUDA device keeps between calls. Skipped where there is no device; its results
 * are claims of tests/matrix. */
#include "cuda/compare.h"
#include "opencl/workspace.h"

/* A model is uploaded once and stays, an entry is built once. */
TEST(a_model_stays_on_the_device)
{
    char reason[512];
    paritas_context *context = open_on("cuda", 64, 0, reason);
    if (!context) {
        skip_because(reason);
    }
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    /* of the self-test */
    const uint64_t uploads = context->device->uploads, builds = context->device->builds,
                   launches = context->device->launches;
    double nll;
    for (int k = 0; k < 3; k++)
        ASSERT_OK(context, paritas_evaluate(context, f.model, 1, paritas_model_suggested_init(f.model), 0,
                                            NULL, SIZED(paritas_evaluate_answers, .twice_nll = &nll)));
    assert_int_equal(context->device->uploads, uploads + 1);
    assert_int_equal(context->device->builds, builds + 1);
    assert_int_equal(context->device->launches, launches + 3);
    free_fixture(&f);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_stays_on_the_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
