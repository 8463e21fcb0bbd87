/* test_losscone_opencl.c: loss cones, kappa distributions and potentials have the CPU's bits on OpenCL
 * devices, in f64 and f32, whatever the size of a work-group and of a batch. PARITAS_LONG_TESTS in the
 * environment: more sizes. Skipped where there is no such device. */
#include "losscone/devices.h"

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

static void compare_in(unsigned precision)
{
    static const unsigned sizes[] = {1, 32, 7, 64};
    struct sample *sample = make_sample();
    const struct answers_wish all = {0}, cut = {.chunk = 10};
    struct answers wanted = reference(sample, precision, DEVICE_PARTS, &all);
    const bool longer = getenv("PARITAS_LONG_TESTS") != NULL;
    /* drivers take a quarter of a minute for each size and precision */
    for (size_t k = longer || precision == 64 ? 0 : 1; k < (longer ? COUNT(sizes) : 2); k++) {
        paritas_context *context = open_as("opencl", NULL, precision, 0, 1, sizes[k]);
        if (!context) skip();
        char name[64];
        snprintf(name, sizeof name, "f%u, work-groups of %u", precision, sizes[k]);
        compare_answers(context, sample, DEVICE_PARTS, k ? &cut : &all, &wanted, name);
        print_message("%s: %zu numbers equal\n", name, wanted.n);
        paritas_close(context);
    }
    answers_free(&wanted);
    free(sample);
}

TEST(opencl_has_the_bits_of_the_cpu_in_f64)
{
    compare_in(64);
}
TEST(opencl_has_the_bits_of_the_cpu_in_f32)
{
    compare_in(32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opencl_has_the_bits_of_the_cpu_in_f64),
        cmocka_unit_test(opencl_has_the_bits_of_the_cpu_in_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
