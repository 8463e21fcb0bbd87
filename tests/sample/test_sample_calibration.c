/* test_sample_calibration.c: parameters drawn from their prior, data from them, and posteriors of these data:
 * ranks of the true values are uniform (Talts and others, arXiv:1804.06788). */
#include "sample_testing.h"

enum { RUNS = 400, CHAINS = 4, DRAWS = 120, EVERY = 8, BINS = 10, RANKS = CHAINS * DRAWS / EVERY };

static uint64_t random_state = 2024;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(2.0 * acos(-1.0) * uniform());
}

static double poisson(double mean)
{
    double product = uniform(), n = 0.0;
    for (const double end = exp(-mean); product > end; product *= uniform()) n += 1.0;
    return n;
}

/* Rates of mu (6, 2) (1 + 0.3 a, above 0) + (5, 9), bin by bin; a as a constraint has it. */
static const char *const text =
    "{\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"s\",\"data\":[6,2],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]},"
    "{\"name\":\"b\",\"data\":[5,9],\"modifiers\":[{\"name\":\"a\",\"type\":\"normsys\",\"data\":{\"hi\":1.3,"
    "\"lo\":0.7}}]}]}],\"observations\":[{\"name\":\"c\",\"data\":[5,9]}],\"version\":\"1.0.0\","
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
    "\"bounds\":[[0,5]]},{\"name\":\"a\",\"bounds\":[[-8,8]]}]}}]}";

static void ranks_are_uniform(void **state)
{
    (void)state;
    struct fixture f = make_fixture(text);
    size_t mu;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    options.chains = CHAINS;
    options.draws = DRAWS;
    options.warmup = 60;
    unsigned counts[2][BINS] = {{0}};
    struct drawn d = make_drawn(f.model, &options);
    for (unsigned run = 0; run < RUNS; run++) {
        double truth[2], data[3] = {0.0, 0.0, 0.0}, rates[3];
        truth[mu] = 5.0 * uniform();
        truth[1 - mu] = normal();
        ASSERT_OK(f.context, paritas_expected_data(f.context, f.model, 1, truth, rates));
        for (int i = 0; i < 2; i++) data[i] = poisson(rates[i]);
        paritas_job job = PARITAS_JOB_DEFAULT;
        job.data = data; /* the prior is the constraint around 0 */
        options.seed = run;
        ASSERT_OK(f.context, draw(f.context, f.model, &job, &options, &d));
        for (size_t k = 0; k < 2; k++) {
            unsigned rank = 0;
            for (size_t i = 0; i < CHAINS * DRAWS; i += EVERY) rank += d.parameters[2 * i + k] < truth[k];
            counts[k][rank * BINS / (RANKS + 1)]++;
        }
    }
    for (size_t k = 0; k < 2; k++) {
        double chi2 = 0.0;
        for (int b = 0; b < BINS; b++)
            chi2 += pow(counts[k][b] - (double)RUNS / BINS, 2) / ((double)RUNS / BINS);
        print_message("%s: chi2 %.1f of %d\n", paritas_model_parameter_name(f.model, k), chi2, BINS - 1);
        assert_true(chi2 < 27.9); /* p = 0.001 */
    }
    free_drawn(&d);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_uniform)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
