/* test_model_opencl.c: a model that a user wrote answers the CPU's bits on an OpenCL device, whatever the
 * size of a work-group. Skipped where there is none. */
#include "model/bits.h"

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

/* False: no such device. */
static bool answer(const char *device, unsigned precision, unsigned workers, bool fits,
                   paritas_model_description description, struct bits *bits)
{
    static double rows[BITS_JOBS * PEAK_BINS];
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.precision = precision;
    options.workers = workers;
    options.no_polish = 1;
    options.threads = 1;
    paritas_context *probe;
    const paritas_status status = paritas_open(&options, &probe);
    if (status != PARITAS_OK) print_message("%s\n", paritas_error_message(probe));
    paritas_close(probe);
    if (status == PARITAS_NO_DEVICE) return false;
    struct custom c = make_custom(&options, description);
    bits->n = 0;
    bits_rows(&c, rows);
    bits_of_values(&c, rows, workers == 1, bits);
    if (fits) bits_of_fits(&c, PARITAS_MINIMIZER_NEWTON, rows, false, bits);
    free_custom(&c);
    return true;
}

static void compare(unsigned precision, unsigned workers, bool fits, paritas_model_description description)
{
    static struct bits wanted, got;
    if (!answer("opencl", precision, workers, fits, description, &got)) skip();
    answer("cpu", precision, workers, fits, description, &wanted);
    assert_bits("opencl", &got, &wanted);
}

TEST(a_worker_alone_has_the_bits_of_the_cpu)
{
    compare(64, 1, false, peak_description());
}
TEST(a_team_has_the_bits_of_the_cpu_in_whole_fits)
{
    compare(64, 32, true, peak_description());
}
TEST(a_team_has_the_bits_of_the_cpu_in_f32)
{
    compare(32, 32, false, onoff_description());
}
TEST(terms_have_the_bits_of_the_cpu)
{
    compare(64, 7, false, decay_description());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_alone_has_the_bits_of_the_cpu),
        cmocka_unit_test(a_team_has_the_bits_of_the_cpu_in_whole_fits),
        cmocka_unit_test(a_team_has_the_bits_of_the_cpu_in_f32),
        cmocka_unit_test(terms_have_the_bits_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
