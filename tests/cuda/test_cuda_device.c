#define _POSIX_C_SOURCE 200809L /* mkdtemp */
/* test_device.c: results of a CUDA device are the CPU's, bit by bit, whatever the size of a block. Skipped
 * where there is no device. */
#include "cuda/compare.h"
#include "losscone/devices.h"
#include "opencl/workspace.h"

static const unsigned blocks[] = {0, 1, 7, 64};

/* Opens or skips. */
static paritas_context *open_or_skip(unsigned precision, unsigned workers)
{
    char reason[512];
    paritas_context *context = open_on("cuda", precision, workers, reason);
    if (!context) {
        print_message("%s\n", reason);
        skip();
    }
    return context;
}

static void compare_blocks(const struct fixture *f, const char *name, unsigned parts, unsigned precision,
                           size_t n_blocks)
{
    for (size_t b = 0; b < n_blocks; b++) {
        paritas_context *context = open_or_skip(precision, blocks[b]);
        if (precision == 64) all_on_device(context);
        compare_with_cpu(context, f, name, parts, 3);
        paritas_close(context);
    }
}

TEST(all_results_are_the_cpus)
{
    paritas_close(open_or_skip(64, 0));
    for (uint64_t seed = 0; seed < 3; seed++) {
        char *text = random_workspace(seed, TRAIT_ALL);
        struct fixture f = make_fixture(text, NULL, NULL);
        compare_blocks(&f, "random model", ALL_PARTS, 64, 1);
        if (seed == 0) compare_blocks(&f, "random model", PARTS_OF_FITS, 64, COUNT(blocks));
        free_fixture(&f);
        free(text);
    }
}

TEST(all_results_in_single_precision_are_the_cpus)
{
    paritas_close(open_or_skip(32, 0));
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    compare_blocks(&f, "small model", PARTS_OF_FITS, 32, COUNT(blocks));
    free_fixture(&f);
}

TEST(loss_cones_and_plasmas_are_the_cpus)
{
    static const struct answers_wish all = {0};
    paritas_close(open_or_skip(64, 0));
    struct sample *sample = make_sample();
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        struct answers wanted = reference(sample, precision, DEVICE_PARTS, &all);
        for (size_t b = 0; b < COUNT(blocks); b++) {
            paritas_context *context = open_or_skip(precision, blocks[b]);
            context->no_polish = true;
            compare_answers(context, sample, DEVICE_PARTS, &all, &wanted, "cuda");
            paritas_close(context);
        }
        answers_free(&wanted);
    }
    free(sample);
}

TEST(published_analyses_are_the_cpus)
{
    paritas_close(open_or_skip(64, 0));
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (!make_published(&published[k], NULL, &f)) continue;
        compare_blocks(&f, published[k].name, PARTS_OF_FITS, 64, 1);
        compare_blocks(&f, published[k].name, 1u << RESULTS_EVALUATE | 1u << RESULTS_FIT, 32, 1);
        free_fixture(&f);
    }
}

/* A model is uploaded once and stays, an entry is built once. */
TEST(a_model_stays_on_the_device)
{
    kept_kernels = NULL;
    paritas_context *context = open_or_skip(64, 0);
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    /* of the self-test */
    const uint64_t uploads = context->device->uploads, builds = context->device->builds,
                   launches = context->device->launches;
    double nll;
    for (int k = 0; k < 3; k++)
        ASSERT_OK(context, paritas_evaluate(context, f.model, 1, paritas_model_suggested_init(f.model), 0,
                                            NULL, &nll, NULL, NULL));
    assert_int_equal(context->device->uploads, uploads + 1);
    assert_int_equal(context->device->builds, builds + 1);
    assert_int_equal(context->device->launches, launches + 3);
    free_fixture(&f);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_results_are_the_cpus),
        cmocka_unit_test(all_results_in_single_precision_are_the_cpus),
        cmocka_unit_test(loss_cones_and_plasmas_are_the_cpus),
        cmocka_unit_test(published_analyses_are_the_cpus),
        cmocka_unit_test(a_model_stays_on_the_device),
    };
    char folder[] = "/tmp/paritas_cuda_XXXXXX", command[64];
    kept_kernels = mkdtemp(folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0 || failed;
}
