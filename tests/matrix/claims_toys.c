/* claims_toys.c: toys are drawn and fitted to the CPU's bits, and so are the test's answers from them. */
#include "fit/fit_testing.h"
#include "matrix/matrix.h"
#include "opencl/workspace.h"

static int keep(void *user, size_t n, const paritas_toy *toys)
{
    append_bytes(user, toys, n * sizeof *toys);
    return 0;
}

/* Most toys by the quasi-Newton method, in queues on the device. What that does not finish is Newton's, on
 * the CPU. With polish all toys of f32 are the CPU's. */
static void ask(const struct cell *cell, paritas_context *context, unsigned parts, struct results *results)
{
    const unsigned n = *(const unsigned *)cell->subject;
    const uint64_t launches = context->device->launches;
    (void)parts;
    struct fixture f = make_fixture(small_workspace, NULL, NULL);
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    options.n = n;
    options.seed = 12;
    options.take = keep;
    options.user = results;
    ASSERT_OK(context, paritas_hypotest_toys(context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &options,
                                             &result));
    assert_int_equal(results->length, 2 * n * sizeof(paritas_toy));
    assert_true(result.tally.by_quasi_newton > n / 2);
    if (context->device->precision == 64) assert_true(context->device->launches > launches + 3);
    append_bytes(results, &result.cls_obs, sizeof result.cls_obs);
    append_bytes(results, result.cls_exp, sizeof result.cls_exp);
    append_bytes(results, &result.tally, sizeof result.tally);
    free_fixture(&f);
}

CLAIM(toys_are_the_cpus)
{
    matrix_compare(*state, ask, 1);
}

static const unsigned few = 12, many = 200;
static const struct subject some[] = {{"12 toys", &few}}, more[] = {{"200 toys", &many}};

static const struct target texts[] = {ON(CUDA_TEXT, 64, 3, .turns = TURNS_MIXED),
                                      ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED),
                                      ON(CUDA_TEXT, 64, 32, .turns = TURNS_BACKWARD), ON(CUDA_TEXT, 64, 1)},
                           devices[] = {ON("cuda", 64, 0), ON("cuda", 64, 7)},
                           groups[] = {ON("opencl", 64, 1),
                                       ON("opencl", 64, 32),
                                       ON("opencl", 32, 1, .polished = true),
                                       ON("opencl", 32, 32, .polished = true),
                                       ON("opencl", 64, 7),
                                       ON("opencl", 64, 64),
                                       ON("opencl", 64, 256),
                                       ON("opencl", 32, 7, .polished = true),
                                       ON("opencl", 32, 64, .polished = true),
                                       ON("opencl", 32, 256, .polished = true)};

void add_toys(struct matrix *matrix)
{
    ADD(matrix, toys_are_the_cpus, some, 1, texts, COUNT(texts));
    ADD(matrix, toys_are_the_cpus, some, 1, devices, COUNT(devices));
    ADD(matrix, toys_are_the_cpus, more, 1, groups, getenv("PARITAS_LONG_TESTS") ? COUNT(groups) : 4);
}
