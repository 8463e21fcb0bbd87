/* test_sample_summary.c: summaries of draws against ArviZ 0.17.1, and wrong requests. */
#include "sample_testing.h"

enum { CHAINS = 4, DRAWS = 51 };

/* Chains that correlate and differ; the second column has ties. */
static void make_values(double *values)
{
    uint64_t s = 12345;
    for (int c = 0; c < CHAINS; c++) {
        double v = 0.0;
        for (int i = 0; i < DRAWS; i++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            v = 0.7 * v + ((double)(s >> 11) * 0x1p-53 - 0.5) + 0.05 * c;
            double *at = values + 3 * (c * DRAWS + i);
            at[0] = v;
            at[1] = floor(4.0 * v);
            at[2] = 0.1;
        }
    }
}

static void numbers_are_those_of_arviz(void **state)
{
    (void)state;
    /* mean, sd, 5 %, 50 %, 95 %, hdi, mcse, rhat, bulk, tail */
    static const double expected[2][11] = {
        {0.21058934792254713, 0.40941372188384695, -0.4975943130203333, 0.21195721051996505,
         0.8202391524317999, -0.4460842557982619, 0.8418562926345438, 0.09652060176375829, 1.1865318791912003,
         18.00028242826848, 58.82178847832852},
        {0.3431372549019608, 1.7076766577063662, -2.8499999999999996, 0.0, 3.0, -2.0, 3.0, 0.4199702834127791,
         1.1965939713530225, 16.874153008042057, 58.82178847832852}};
    static double values[CHAINS * DRAWS * 3];
    paritas_posterior p[3] = {PARITAS_INIT(paritas_posterior)};
    paritas_context *context;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    make_values(values);
    ASSERT_OK(context, paritas_summarise_draws(context, CHAINS, DRAWS, 3, values, 0.9, p));
    for (int k = 0; k < 2; k++) {
        const double found[11] = {p[k].mean,  p[k].sd,       p[k].lower,   p[k].median,
                                  p[k].upper, p[k].hdi[0],   p[k].hdi[1],  p[k].mcse_mean,
                                  p[k].rhat,  p[k].ess_bulk, p[k].ess_tail};
        for (int i = 0; i < 11; i++)
            ASSERT_CLOSE(found[i], expected[k][i], 1e-12 * (1.0 + fabs(expected[k][i])));
    }
    assert_true(p[2].mean == 0.1 && p[2].sd == 0.0 && isnan(p[2].rhat));
    paritas_chain chain = PARITAS_INIT(paritas_chain);
    paritas_sample_verdict verdict = PARITAS_INIT(paritas_sample_verdict);
    ASSERT_OK(context, paritas_judge_draws(context, 3, p, 1, &chain, &verdict));
    assert_true(!verdict.converged && verdict.rhat_of == 1 && verdict.ess_of == 1 &&
                verdict.rhat == p[1].rhat);
    ASSERT_OK(context, paritas_judge_draws(context, 1, &p[2], 1, &chain, &verdict));
    assert_true(verdict.converged);
    chain.divergent = 1;
    ASSERT_OK(context, paritas_judge_draws(context, 1, &p[2], 1, &chain, &verdict));
    assert_true(!verdict.converged && verdict.divergent == 1);
    paritas_close(context);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    double values[8] = {1, 2, 3, 4, 5, 6, 7, NAN};
    paritas_posterior p = PARITAS_INIT(paritas_posterior);
    paritas_context *context;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    assert_int_equal(paritas_summarise_draws(context, 1, 3, 1, values, 0.9, &p), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_summarise_draws(context, 1, 7, 1, values, 1.0, &p), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_summarise_draws(context, 1, 8, 1, values, 0.9, &p), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "values: draw 7 of column 0 is not finite");
    ASSERT_OK(context, paritas_summarise_draws(context, 1, 7, 1, values, 0.9, &p));
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_arviz),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
