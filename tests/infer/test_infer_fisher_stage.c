/* test_infer_fisher_stage.c: fits by Fisher's matrix, and the measure of bends. */
#include "infer_testing.h"
#include "fit/workspaces.h"
#include "minima/conditional_fits.h"
#include "minima/gauss_newton.h"
#include "minima/many_starts.h"
#include "minima/search_bends.h"

enum { STARTS = 24, PARAMETERS = 128 };

static struct fixture random_model(uint64_t seed)
{
    char *text = random_workspace(seed, TRAIT_ALL);
    assert_non_null(text);
    struct fixture f = make_fixture(text);
    free(text);
    return f;
}

/* A search of a model's free fit. */
struct opened {
    struct infer infer;
    struct infer_profile profile;
    struct search search;
};

static void open_search(struct opened *o, const struct fixture *f)
{
    memset(o, 0, sizeof *o);
    ASSERT_OK(f->context, infer_open(&o->infer, f->context, f->model, NULL, false));
    o->profile.data = o->infer.base.data;
    ASSERT_OK(f->context, infer_free_fit(&o->infer, &o->profile));
    ASSERT_OK(f->context, search_open(&o->infer, &o->profile, 0, NULL, &o->search));
}

/* Where Newton's method ends from a point. */
static double newton_from(const struct fixture *f, const double *point)
{
    paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_fit_answers answers = PARITAS_INIT(paritas_fit_answers);
    job.start = point;
    answers.results = &result;
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &job, &answers));
    return result.twice_nll;
}

static size_t check_ends(const struct fixture *f, struct opened *o)
{
    const size_t n = o->infer.n_parameters;
    double points[STARTS][PARAMETERS];
    struct gauss_fit fits[STARTS];
    size_t known = 0;
    for (size_t k = 0; k < STARTS; k++) {
        memcpy(points[k], o->infer.base.start, n * sizeof(double));
        many_starts_draw(n, o->infer.widths, o->infer.base.lower, o->infer.base.upper, o->infer.base.fixed,
                         k + 1, points[k]);
        fits[k] = (struct gauss_fit){.fixed = o->infer.base.fixed,
                                     .inside = o->profile.parameters,
                                     .point = points[k],
                                     .n_known = 1,
                                     .known = {o->profile.parameters},
                                     .known_nll = {o->profile.result.twice_nll}};
    }
    ASSERT_OK(f->context, gauss_newton_run(&o->infer, o->profile.data, STARTS, fits));
    for (size_t k = 0; k < STARTS; k++) {
        for (size_t i = 0; i < n; i++)
            assert_true(points[k][i] >= o->infer.base.lower[i] && points[k][i] <= o->infer.base.upper[i]);
        if (fits[k].goes_to < 0) continue;
        known++;
        assert_true(fabs(newton_from(f, points[k]) - o->profile.result.twice_nll) < 1e-6);
    }
    return known;
}

TEST(a_fit_that_is_given_up_would_have_ended_in_the_known_minimum)
{
    size_t known = 0, models = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct fixture f = random_model(seed);
        struct opened o;
        open_search(&o, &f);
        if (o.profile.result.status == PARITAS_FIT_CONVERGED && o.infer.n_parameters <= PARAMETERS &&
            gauss_newton_serves(&o.infer)) {
            known += check_ends(&f, &o);
            models++;
        }
        infer_close(&o.infer);
        free_fixture(&f);
    }
    assert_true(models >= 6 && known > models * STARTS / 2);
}

/* One bin with 50 events, to which both sides of `a` add, and both of `c`; `observed` events. */
static struct fixture bent_twice(double added, double by_c, double observed)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":[{\"name\":\"s\",\"data\":[50.0],\"modifiers\":["
             "{\"name\":\"a\",\"type\":\"histosys\",\"data\":{\"hi_data\":[%.17g],\"lo_data\":[%.17g]}},"
             "{\"name\":\"c\",\"type\":\"histosys\",\"data\":{\"hi_data\":[%.17g],\"lo_data\":[%.17g]}},"
             "{\"name\":\"b\",\"type\":\"normsys\",\"data\":{\"hi\":1.02,\"lo\":0.98}}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%.17g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"\",\"parameters\":[]}}],"
             "\"version\":\"1.0.0\"}",
             50.0 + added, 50.0 + added, 50.0 + by_c, 50.0 + by_c, observed);
    return make_fixture(text);
}

static struct fixture bent(double added, double observed)
{
    return bent_twice(added, 0.0, observed);
}

static size_t at_of(const struct fixture *f, const char *name)
{
    size_t i = 0;
    while (strcmp(paritas_model_parameter_name(f->model, i), name) != 0) i++;
    return i;
}

static struct bends bends_at(struct opened *o, const double *point)
{
    struct bends bends;
    o->search.targets[0].parameters = point;
    o->search.targets[0].status = PARITAS_FIT_CONVERGED;
    ASSERT_OK(o->infer.context, search_bends(&o->search, &o->search.targets[0], &bends));
    return bends;
}

TEST(rates_that_bend_towards_the_data_may_have_two_minima)
{
    static const double centre[3] = {0.0};
    struct fixture f = bent(20.0, 90.0);
    struct opened o;
    open_search(&o, &f);
    const struct bends bends = bends_at(&o, centre);
    assert_true(bends.several_possible && bends.n == 3);
    /* the first direction is a's, of unit length in widths */
    assert_true(fabs(fabs(bends.directions[at_of(&f, "a")]) - 1.0) < 1e-3);
    assert_true(fabs(bends.directions[at_of(&f, "b")]) < 0.05 &&
                fabs(bends.directions[at_of(&f, "c")]) < 0.05);
    infer_close(&o.infer);
    free_fixture(&f);
}

TEST(directions_come_by_their_bends)
{
    static const double centre[3] = {0.0};
    static const char *const names[] = {"a", "c", "b"};
    struct fixture f = bent_twice(8.0, 14.0, 90.0);
    struct opened o;
    open_search(&o, &f);
    const struct bends bends = bends_at(&o, centre);
    static const size_t order[] = {1, 0, 2}; /* c, a, b */
    assert_int_equal(bends.n, 3);
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < 3; j++)
            assert_true(fabs(fabs(bends.directions[3 * k + at_of(&f, names[j])]) - (order[k] == j)) < 0.05);
    infer_close(&o.infer);
    free_fixture(&f);
}

TEST(rates_that_hardly_bend_have_one_minimum)
{
    static const double centre[3] = {0.0};
    struct fixture f = bent(0.1, 52.0);
    struct opened o;
    open_search(&o, &f);
    assert_false(bends_at(&o, centre).several_possible);
    infer_close(&o.infer);
    free_fixture(&f);
}

/* Is a second minimum possible where a background of 10 events has this error? */
static bool may_have_several(double error)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "{\"channels\": [{\"name\": \"c\", \"samples\": [{\"name\": \"b\", \"data\": [10], \"modifiers\": "
        "[{\"name\": \"g\", \"type\": \"shapesys\", \"data\": [%g]}]}]}], \"observations\": [{\"name\": "
        "\"c\", \"data\": [10]}], \"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"\", "
        "\"parameters\": []}}], \"version\": \"1.0.0\"}",
        error);
    static const double centre[1] = {1.0};
    struct fixture f = make_fixture(text);
    struct opened o;
    open_search(&o, &f);
    const bool several = bends_at(&o, centre).several_possible;
    infer_close(&o.infer);
    free_fixture(&f);
    return several;
}

TEST(a_factor_of_less_than_one_event_may_have_a_second_minimum)
{
    assert_false(may_have_several(3.0));
    assert_true(may_have_several(11.0)); /* 0.8 events */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_that_is_given_up_would_have_ended_in_the_known_minimum),
        cmocka_unit_test(rates_that_bend_towards_the_data_may_have_two_minima),
        cmocka_unit_test(directions_come_by_their_bends),
        cmocka_unit_test(rates_that_hardly_bend_have_one_minimum),
        cmocka_unit_test(a_factor_of_less_than_one_event_may_have_a_second_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
