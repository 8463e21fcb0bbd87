/* Every request for memory of chains, of their stores and of predictions fails once, alone and with all that
 * follow: the answer is PARITAS_OUT_OF_MEMORY, nothing is left behind, and the next call goes on. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "refusing.h"
#include "sample_testing.h"

#include <unistd.h>

static char folder[] = "/tmp/paritas_sample_XXXXXX";
static char path[64];

struct run {
    struct fixture f;
    bool store, filled; /* kept; a run of fewer draws is there */
    bool predictions;
};

static void make(void *user, const paritas_options *options)
{
    struct run *run = user;
    run->f = counting_with(options, 7, 1, 1, 0, 200);
    unlink(path);
}

static paritas_status sample_draws(const struct run *run, unsigned n)
{
    const paritas_prior prior = {0, PARITAS_PRIOR_GAMMA, {2.0, 0.5}};
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    options.chains = 2;
    options.draws = n;
    options.warmup = 20;
    options.priors = &prior;
    options.n_priors = 1;
    options.store = run->store ? path : NULL;
    options.resume = run->store;
    struct drawn d = make_drawn(run->f.model, &options);
    const paritas_status status = draw(run->f.context, run->f.model, NULL, &options, &d);
    free_drawn(&d);
    return status;
}

static paritas_status take(void *user)
{
    static const double points[] = {1.0, 2.0, 3.0};
    const struct run *run = user;
    double data[COUNT(points)];
    if (run->predictions)
        return paritas_predictive_data(run->f.context, run->f.model, COUNT(points), points, 7, data);
    return sample_draws(run, 40);
}

static void prepare(void *user)
{
    const struct run *run = user;
    if (run->filled) ASSERT_OK(run->f.context, sample_draws(run, 10));
}

static void end(void *user)
{
    struct run *run = user;
    free_fixture(&run->f);
    unlink(path);
}

static void refuse(struct run run)
{
    const struct refused_work work = {make, prepare, take, end, &run};
    refuse_requests_of(&work, true);
    refuse_requests_of(&work, false);
}

TEST(every_request_of_chains_may_fail)
{
    refuse((struct run){.store = false});
}

TEST(every_request_of_a_store_may_fail)
{
    refuse((struct run){.store = true});
}

TEST(every_request_of_a_run_that_goes_on_may_fail)
{
    refuse((struct run){.store = true, .filled = true});
}

TEST(every_request_of_predictions_may_fail)
{
    refuse((struct run){.predictions = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_of_chains_may_fail),
        cmocka_unit_test(every_request_of_a_store_may_fail),
        cmocka_unit_test(every_request_of_a_run_that_goes_on_may_fail),
        cmocka_unit_test(every_request_of_predictions_may_fail),
    };
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/run.npz", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) != 0 || failed != 0;
}
