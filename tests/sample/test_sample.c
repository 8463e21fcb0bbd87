/* test_sample.c: posteriors that have a closed form, the same bits with any width, threads, cuts and pauses,
 * wrong requests. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "sample_testing.h"
#include "widths.h"

#include <unistd.h>

static paritas_sample_options usual(void)
{
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    options.seed = 7;
    return options;
}

/* ---- closed forms ---- */

/* P(N < n) with the mean x, and its roots in x: quantiles of gamma distributions. */
static double poisson_below(unsigned n, double x)
{
    double term = exp(-x), sum = 0.0;
    for (unsigned k = 0; k < n; k++, term *= x / k) sum += term;
    return sum;
}
static double gamma_quantile(unsigned shape, double p)
{
    double low = 0.0, high = 100.0;
    for (int i = 0; i < 100; i++) {
        const double x = 0.5 * (low + high);
        *(1.0 - poisson_below(shape, x) < p ? &low : &high) = x;
    }
    return low;
}

/* Six standard errors; those of quantiles from the effective size and the density around them. */
static void assert_posterior(const paritas_posterior *p, const double expected[5])
{
    const double tail = 6.0 * sqrt(0.05 * 0.95 / p->ess_tail) * p->sd / 0.1;
    ASSERT_CLOSE(p->mean, expected[0], 6.0 * p->mcse_mean);
    ASSERT_CLOSE(p->sd, expected[1], 6.0 * p->sd / sqrt(p->ess_tail));
    ASSERT_CLOSE(p->lower, expected[2], tail);
    ASSERT_CLOSE(p->median, expected[3], 6.0 * 1.6 * p->mcse_mean);
    ASSERT_CLOSE(p->upper, expected[4], tail);
}

static void a_count_has_a_gamma_posterior(void **state)
{
    (void)state;
    struct fixture f = counting(7, 1, 0, 0, 200);
    const paritas_sample_options options = usual();
    struct drawn d = sampled(&f, &options);
    assert_posterior(d.posteriors, (const double[]){8.0, sqrt(8.0), gamma_quantile(8, 0.05),
                                                    gamma_quantile(8, 0.5), gamma_quantile(8, 0.95)});
    assert_true(d.posteriors->hdi[1] - d.posteriors->hdi[0] < d.posteriors->upper - d.posteriors->lower);
    free_drawn(&d);
    free_fixture(&f);
}

/* With a background the rate's gamma distribution is cut at it. */
static void a_background_truncates_it(void **state)
{
    (void)state;
    struct fixture f = counting(2, 1, 3, 0, 200);
    paritas_sample_options options = usual();
    options.target = 0.95; /* usual steps are too long for the slope far above the mode */
    struct drawn d = sampled(&f, &options);
    const double all = poisson_below(3, 3), first = 3.0 * poisson_below(4, 3) / all,
                 second = 12.0 * poisson_below(5, 3) / all;
    ASSERT_CLOSE(d.posteriors->mean, first - 3.0, 6.0 * d.posteriors->mcse_mean);
    ASSERT_CLOSE(d.posteriors->sd, sqrt(second - first * first), 0.05);
    free_drawn(&d);
    free_fixture(&f);
}

static void a_gamma_prior_adds_its_counts(void **state)
{
    (void)state;
    const paritas_prior prior = {0, PARITAS_PRIOR_GAMMA, {2.0, 1.5}};
    struct fixture f = counting(7, 1, 0, 0, 200);
    paritas_sample_options options = usual();
    options.n_priors = 1;
    options.priors = &prior;
    struct drawn d = sampled(&f, &options);
    assert_posterior(d.posteriors,
                     (const double[]){9.0 / 2.5, 3.0 / 2.5, gamma_quantile(9, 0.05) / 2.5,
                                      gamma_quantile(9, 0.5) / 2.5, gamma_quantile(9, 0.95) / 2.5});
    free_drawn(&d);
    free_fixture(&f);
}

/* An uncertainty without effect keeps its prior. */
static const char *const idle_text =
    "{\"channels\":[{\"name\":\"c\",\"samples\":[{\"name\":\"s\",\"data\":[10],\"modifiers\":["
    "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
    "{\"name\":\"idle\",\"type\":\"normsys\",\"data\":{\"hi\":1,\"lo\":1}}]}]}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[12]}],\"version\":\"1.0.0\","
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
    "{\"name\":\"idle\",\"bounds\":[[-50,50]]}]}}]}";

static void priors_multiply_constraints(void **state)
{
    (void)state;
    const double z = 1.6448536269514722;
    struct fixture f = make_fixture(idle_text);
    size_t idle;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "idle", &idle));
    const paritas_prior prior = {idle, PARITAS_PRIOR_NORMAL, {0.5, 0.5}},
                        logs = {1 - idle, PARITAS_PRIOR_LOGNORMAL, {0.3, 0.01}};
    paritas_sample_options options = usual();
    struct drawn d = sampled(&f, &options);
    assert_posterior(&d.posteriors[idle], (const double[]){0.0, 1.0, -z, 0.0, z});
    free_drawn(&d);
    options.n_priors = 2;
    options.priors = (const paritas_prior[]){prior, logs};
    d = sampled(&f, &options);
    const double sd = sqrt(0.2);
    assert_posterior(&d.posteriors[idle], (const double[]){0.4, sd, 0.4 - z * sd, 0.4, 0.4 + z * sd});
    /* so narrow that the count says little: ln mu is normal */
    ASSERT_CLOSE(d.posteriors[1 - idle].median, exp(0.3), 0.002);
    ASSERT_CLOSE(d.posteriors[1 - idle].sd, 0.01 * exp(0.3), 0.0005);
    free_drawn(&d);
    free_fixture(&f);
}

/* So many events that the posterior is normal, with the correlation of the exact covariance. */
static void correlations_are_those_of_a_normal_distribution(void **state)
{
    (void)state;
    struct fixture f = make_fixture(
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"a\",\"data\":[1e5,1e5],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
        "\"data\":null}]},"
        "{\"name\":\"b\",\"data\":[1e5,2e5],\"modifiers\":[{\"name\":\"nu\",\"type\":\"normfactor\","
        "\"data\":null}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[200000,300000]}],\"version\":\"1.0.0\","
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}]}");
    const paritas_sample_options options = usual();
    struct drawn d = sampled(&f, &options);
    double product = 0.0;
    for (size_t i = 0; i < d.chains * d.n; i++)
        product += (d.parameters[2 * i] - d.posteriors[0].mean) *
                   (d.parameters[2 * i + 1] - d.posteriors[1].mean) / (double)(d.chains * d.n);
    size_t mu;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    ASSERT_CLOSE(d.posteriors[mu].sd, sqrt(11e-5), 3e-4);
    ASSERT_CLOSE(d.posteriors[1 - mu].sd, sqrt(5e-5), 2e-4);
    ASSERT_CLOSE(product / (d.posteriors[0].sd * d.posteriors[1].sd), -7.0 / sqrt(55.0), 0.005);
    free_drawn(&d);
    free_fixture(&f);
}

/* ---- bits ---- */

static const char *const two_bins =
    "{\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"s\",\"data\":[12,11],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
    "{\"name\":\"e\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.9}}]},"
    "{\"name\":\"b\",\"data\":[50,52],\"modifiers\":[{\"name\":\"u\",\"type\":\"shapesys\",\"data\":[3,7]}]}]"
    "}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[51,48]}],\"version\":\"1.0.0\","
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}]}";

/* Draws of a short run in a context of its own. */
static struct drawn short_run(const paritas_options *engine, const paritas_sample_options *options)
{
    struct fixture f = {0};
    assert_int_equal(paritas_open(engine, &f.context), PARITAS_OK);
    ASSERT_OK(f.context, paritas_workspace_parse(f.context, two_bins, strlen(two_bins), "t", &f.workspace));
    ASSERT_OK(f.context, paritas_model_create(f.context, f.workspace, NULL, &f.model));
    struct drawn d = make_drawn(f.model, options);
    ASSERT_OK(f.context, draw(f.context, f.model, NULL, options, &d));
    free_fixture(&f);
    return d;
}

static void assert_same_draws(const struct drawn *a, const struct drawn *b)
{
    assert_memory_equal(a->parameters, b->parameters, a->chains * a->n * a->p * sizeof(double));
    assert_memory_equal(a->draws, b->draws, a->chains * a->n * sizeof *a->draws);
}

static void widths_and_threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const isas[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    paritas_sample_options options = usual();
    options.chains = 11;
    options.draws = 40;
    options.warmup = 20;
    const struct drawn first = short_run(
        &(paritas_options){.size = sizeof(paritas_options), .threads = 1, .isa = "portable", .lanes = 1},
        &options);
    for (size_t k = 0; k < sizeof isas / sizeof *isas; k++)
        for (unsigned lanes = 1; lanes <= 8; lanes *= 2) {
            paritas_options engine = PARITAS_OPTIONS_DEFAULT;
            paritas_context *context;
            engine.isa = isas[k];
            engine.lanes = lanes;
            engine.threads = lanes % 3;
            const bool runs = paritas_open(&engine, &context) == PARITAS_OK;
            paritas_close(context);
            if (!runs || (lanes > 1 && !width_is_apart(isas[k], lanes, 64))) continue;
            struct drawn other = short_run(&engine, &options);
            assert_same_draws(&first, &other);
            free_drawn(&other);
        }
    free_drawn((struct drawn *)&first);
}

static int stop_soon(void *user, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return --*(int *)user < 0;
}

/* A run that is stopped now and then, and one of fewer draws that goes on, are the whole run. With a store
 * nothing else is kept between the calls. */
static void assert_pauses_do_not_matter(const char *store)
{
    paritas_sample_options options = usual();
    int left = 0, pauses = 0;
    options.chains = 3;
    options.draws = 3000;
    options.warmup = 100;
    const struct drawn whole = short_run(NULL, &options);
    paritas_options engine = PARITAS_OPTIONS_DEFAULT;
    engine.progress = stop_soon;
    engine.progress_user = &left;
    struct fixture f = {0};
    assert_int_equal(paritas_open(&engine, &f.context), PARITAS_OK);
    ASSERT_OK(f.context, paritas_workspace_parse(f.context, two_bins, strlen(two_bins), "t", &f.workspace));
    ASSERT_OK(f.context, paritas_model_create(f.context, f.workspace, NULL, &f.model));
    struct drawn d = make_drawn(f.model, &options);
    options.store = store;
    for (paritas_status status = PARITAS_CANCELLED; status == PARITAS_CANCELLED;
         options.resume = 1, pauses++) {
        if (store) {
            free_drawn(&d);
            d = make_drawn(f.model, &options);
        }
        left = 4;
        status = draw(f.context, f.model, NULL, &options, &d);
        assert_true(status == PARITAS_OK || status == PARITAS_CANCELLED);
    }
    assert_true(pauses > 2);
    assert_same_draws(&whole, &d);
    assert_memory_equal(whole.of, d.of, d.chains * sizeof *d.of);
    free_drawn(&d);
    free_fixture(&f);
    free_drawn((struct drawn *)&whole);
}

static void pauses_do_not_matter(void **state)
{
    (void)state;
    assert_pauses_do_not_matter(NULL);
}

static void a_store_keeps_what_a_cancelled_run_has(void **state)
{
    char folder[] = "/tmp/paritas_sample_XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.npz", folder);
    assert_pauses_do_not_matter(path);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- wrong requests ---- */

static void refuse(struct fixture *f, paritas_sample_options options, const paritas_job *job,
                   const char *text)
{
    paritas_sample_options room = options;
    if (room.chains == 0) room.chains = 1;
    struct drawn d = make_drawn(f->model, &room);
    assert_int_equal(draw(f->context, f->model, job, &options, &d), PARITAS_INVALID_ARGUMENT);
    if (!strstr(paritas_error_message(f->context), text))
        fail_msg("%s, and not: %s", paritas_error_message(f->context), text);
    free_drawn(&d);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    struct fixture f = make_fixture(idle_text);
    paritas_sample_options options = usual();
    paritas_job job = PARITAS_JOB_DEFAULT;
    const unsigned char all[] = {1, 1};
    options.chains = 0;
    refuse(&f, options, NULL, "`chains` is 0");
    paritas_chain chain = PARITAS_INIT(paritas_chain);
    paritas_sample_answers none = {.size = sizeof none, .chains = &chain};
    assert_int_equal(paritas_sample(f.context, f.model, NULL, NULL, &none), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "parameters: must not be NULL");
    options = usual();
    job.fixed = all;
    refuse(&f, options, &job, "all parameters are fixed");
    options.resume = 1;
    refuse(&f, options, NULL, "the state of chain 1 is not of such a run");
    options = usual();
    options.n_priors = 1;
    options.priors = &(const paritas_prior){2, PARITAS_PRIOR_NORMAL, {0, 1}};
    refuse(&f, options, NULL, "priors[0]: the model has no parameter 2");
    options.priors = &(const paritas_prior){0, PARITAS_PRIOR_NORMAL, {0, -1}};
    refuse(&f, options, NULL, "normal takes a mean and a positive deviation, and not 0, -1");
    options.priors = &(const paritas_prior){0, PARITAS_PRIOR_GAMMA, {0, 1}};
    refuse(&f, options, NULL, "gamma takes two positive numbers");
    options.priors = &(const paritas_prior){0, PARITAS_PRIOR_UNIFORM, {2, 1}};
    refuse(&f, options, NULL, "uniform takes two ascending numbers");
    options.priors = &(const paritas_prior){0, (paritas_prior_kind)9, {2, 1}};
    refuse(&f, options, NULL, "its kind is 9");
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_has_a_gamma_posterior),
        cmocka_unit_test(a_background_truncates_it),
        cmocka_unit_test(a_gamma_prior_adds_its_counts),
        cmocka_unit_test(priors_multiply_constraints),
        cmocka_unit_test(correlations_are_those_of_a_normal_distribution),
        cmocka_unit_test(widths_and_threads_do_not_matter),
        cmocka_unit_test(pauses_do_not_matter),
        cmocka_unit_test(a_store_keeps_what_a_cancelled_run_has),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
