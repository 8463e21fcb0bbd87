/* test_device_toys.c: toys that are asked of an accelerator are fitted on it, as many at once as it wants,
 * whichever method fits them, and have the CPU's bits. */
#include "common.h"
#include "device/fake_accelerator.h"
#include "toys/toy_runner.h"
#include "opencl/workspace.h"

enum { TOYS = 100 };

struct taken {
    paritas_toy rows[2 * TOYS];
    size_t n;
};

static int keep(void *user, size_t n, const paritas_toy *toys)
{
    struct taken *taken = user;
    assert_true(taken->n + n <= COUNT(taken->rows));
    memcpy(taken->rows + taken->n, toys, n * sizeof *toys);
    taken->n += n;
    return 0;
}

static int by_hypothesis(const void *a, const void *b)
{
    const paritas_toy *x = a, *y = b;
    return x->hypothesis != y->hypothesis ? (x->hypothesis > y->hypothesis) - (x->hypothesis < y->hypothesis)
                                          : (x->toy > y->toy) - (x->toy < y->toy);
}

static paritas_hypotest_toys_result run(bool accelerated, struct taken *taken)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    options.threads = 1;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    if (accelerated) assert_int_equal(fake_use(context), PARITAS_OK);
    assert_int_equal(
        paritas_workspace_parse(context, small_workspace, strlen(small_workspace), "small", &workspace),
        PARITAS_OK);
    assert_int_equal(paritas_model_create(context, workspace, NULL, &model), PARITAS_OK);
    toys.n = TOYS;
    toys.seed = 4;
    toys.newton_only = 1;
    toys.take = keep;
    toys.user = taken;
    taken->n = 0;
    assert_int_equal(
        paritas_hypotest_toys(context, model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &toys, &result),
        PARITAS_OK);
    assert_int_equal(taken->n, 2 * TOYS);
    qsort(taken->rows, taken->n, sizeof *taken->rows, by_hypothesis);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return result;
}

TEST(newtons_fits_of_toys_run_on_the_accelerator)
{
    static struct taken here, there;
    fake_reset();
    const paritas_hypotest_toys_result on_cpu = run(false, &here);
    assert_int_equal(fake.teams, 0);
    const paritas_hypotest_toys_result on_fake = run(true, &there);
    assert_int_equal(on_fake.tally.by_quasi_newton, 0);
    assert_true(fake.teams >= 2 * TOYS * 3); /* of each toy: a draw, a free fit and a conditional one */
    assert_memory_equal(here.rows, there.rows, sizeof here.rows);
    assert_memory_equal(on_cpu.cls_exp, on_fake.cls_exp, sizeof on_cpu.cls_exp);
    assert_true(on_cpu.cls_obs == on_fake.cls_obs);
}

/* What a runner was asked to run; the device that wants many teams comes after the first chunk. */
struct chunks {
    paritas_context *context;
    size_t n, size[8];
    uint64_t next;
};

static paritas_status see_chunk(void *user, int which, uint64_t first, size_t n)
{
    struct chunks *chunks = user;
    assert_true(which == 0 && first == chunks->next && chunks->n < COUNT(chunks->size));
    chunks->next += n;
    chunks->size[chunks->n++] = n;
    chunks->context->device->teams = 4000;
    return PARITAS_OK;
}

static paritas_status see_none_present(void *user, int which, uint64_t first, size_t n,
                                       unsigned char *present)
{
    (void)user, (void)which, (void)first;
    memset(present, 0, n);
    return PARITAS_OK;
}

TEST(chunks_are_as_large_as_the_device_wants_that_the_work_moves_to)
{
    const struct frozen model = {.n_slots = 400, .n_places = 8};
    const struct ensemble ensemble = {.model = &model};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    struct chunks chunks = {.next = 5};
    options.threads = 1;
    assert_int_equal(paritas_open(&options, &chunks.context), PARITAS_OK);
    const size_t step = toy_runner_step(chunks.context, &ensemble, NULL);
    const struct toy_runner runner = {chunks.context, &ensemble, 1,   see_none_present,
                                      see_chunk,      &chunks,   NULL};
    assert_true(step < 1000);
    assert_int_equal(toy_runner_run(&runner, 5, 20005), PARITAS_OK);
    assert_int_equal(chunks.n, 4);
    assert_int_equal(chunks.size[0], step);
    assert_int_equal(chunks.size[1], 8000);
    assert_int_equal(chunks.size[2], 8000);
    assert_int_equal(chunks.size[3], 20000 - 16000 - step);
    paritas_close(chunks.context);
}

TEST(chunks_shrink_with_the_cost_of_a_toy)
{
    const struct frozen model = {.n_slots = 8, .n_places = 8};
    const struct ensemble usual = {.model = &model, .quasi_newton = true},
                          many = {.model = &model, .options.plan.starts = STARTS_MANY};
    const paritas_toys_tally cheap = {.fitted = 100, .iterations = 2000},
                             costly = {.fitted = 100, .iterations = 100000},
                             costliest = {.fitted = 100, .iterations = 1000000};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 2;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    assert_int_equal(toy_runner_step(context, &usual, NULL), 16384);
    assert_int_equal(toy_runner_step(context, &usual, &cheap), 16384);
    assert_int_equal(toy_runner_step(context, &many, NULL), 23);
    assert_int_equal(toy_runner_step(context, &many, &costly), 117);
    assert_int_equal(toy_runner_step(context, &many, &costliest), 16);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newtons_fits_of_toys_run_on_the_accelerator),
        cmocka_unit_test(chunks_are_as_large_as_the_device_wants_that_the_work_moves_to),
        cmocka_unit_test(chunks_shrink_with_the_cost_of_a_toy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
