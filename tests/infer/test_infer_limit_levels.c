/* test_infer_limit_levels.c: CLs at a limit is the level, by a test of its own. */
#include "fit/workspaces.h"
#include "infer_testing.h"
#include "share.h"

struct met {
    size_t limits, off;
};

/* A model with several minima is left out: the test may find a lower one than the limit. */
static void compare(const struct fixture *f, uint64_t seed, struct met *met)
{
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    ASSERT_OK(f->context, paritas_limit(f->context, f->model, NULL, NULL, &limit));
    if (limit.status != PARITAS_FIT_CONVERGED || limit.several_minima) return;
    double mu[6];
    int curves[6];
    size_t n = 0;
    for (int curve = -1; curve < 5; curve++) {
        mu[n] = curve < 0 ? limit.limit_obs : limit.limit_exp[curve];
        curves[n] = curve;
        n += !isnan(mu[n]);
    }
    paritas_hypotest_result tests[6];
    for (size_t k = 0; k < 6; k++) tests[k] = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    ASSERT_OK(f->context,
              paritas_hypotest(f->context, f->model, NULL, PARITAS_STATISTIC_QTILDE, n, mu, tests));
    for (size_t k = 0; k < n; k++) {
        const double cls = curves[k] < 0 ? tests[k].cls_obs : tests[k].cls_exp[curves[k]];
        met->limits++;
        if (fabs(cls - 0.05) <= 1e-7) continue;
        met->off++;
        print_error("model %u, curve %d: CLs %.10g at %.10g\n", (unsigned)seed, curves[k], cls, mu[k]);
    }
}

static void try_models(char *(*write)(uint64_t), uint64_t models, size_t least)
{
    struct met met = {0};
    for (uint64_t seed = 0; seed < models; seed += SHARE) {
        char *text = write(seed);
        assert_non_null(text);
        struct fixture f = make_fixture(text);
        if (paritas_model_poi_index(f.model) >= 0) compare(&f, seed, &met);
        free_fixture(&f);
        free(text);
    }
    print_message("%zu limits, %zu off\n", met.limits, met.off);
    assert_true(met.limits >= least / SHARE);
    assert_int_equal(met.off, 0);
}

static char *ordinary(uint64_t seed)
{
    return random_workspace(seed, TRAIT_LUMI | TRAIT_ZEROS);
}

TEST(cls_at_a_limit_is_the_level)
{
    try_models(ordinary, 20, 40);
}

TEST(cls_at_a_limit_of_a_nasty_model_is_the_level)
{
    try_models(nasty_workspace, 36, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cls_at_a_limit_is_the_level),
        cmocka_unit_test(cls_at_a_limit_of_a_nasty_model_is_the_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
