/* Toys of models with several minima: no fit above one from another start, the same toys in shards, threads
 * and precisions. */
#include "fit/fit_testing.h"
#include "toys_testing.h"

/* Random models. With one start, 34 and 4 % of their toys have a conditional fit above one from the suggested
 * start. */
static const uint64_t models[] = {42, 19};
enum { TRAITS = TRAIT_ALL & ~TRAIT_NO_POI, TOYS = 200 / SHARE };
static const double MU = 1.0;

static struct fixture random_model(uint64_t seed, const paritas_options *options)
{
    char *text = random_workspace(seed, TRAITS);
    assert_non_null(text);
    struct fixture f = make_fixture(text, options, NULL);
    free(text);
    return f;
}

static paritas_hypotest_toys_result run(struct fixture *f, const paritas_toys_options *options,
                                        struct taken *taken)
{
    return run_toys(f->context, f->model, PARITAS_STATISTIC_QTILDE, MU, options, taken);
}

/* Fits one toy, free or with MU fixed, from `start`. */
static paritas_fit_result fit_from(struct fixture *f, const double *data, const double *start,
                                   bool conditional, double *end)
{
    const size_t n = f->n_parameters;
    paritas_job job = PARITAS_JOB_DEFAULT;
    unsigned char *fixed = make_array(n, 1);
    double *own = make_array(n, sizeof *own);
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    memcpy(fixed, paritas_model_suggested_fixed(f->model), n);
    memcpy(own, start, n * sizeof *own);
    if (conditional) {
        const ptrdiff_t poi = paritas_model_poi_index(f->model);
        fixed[poi] = 1;
        own[poi] = MU;
    }
    job.data = data;
    job.start = own;
    job.fixed = fixed;
    paritas_fit_answers answers = PARITAS_INIT(paritas_fit_answers);
    answers.results = &result;
    answers.parameters = end;
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &job, &answers));
    free(fixed);
    free(own);
    return result;
}

static void assert_not_above(const paritas_toy *toy, const char *what, double value,
                             const paritas_fit_result *other)
{
    if (other->status == PARITAS_FIT_CONVERGED && value > other->twice_nll + 1e-6)
        fail_msg("toy %llu of %g: the %s fit ends at %.9g, and at %.9g from another start",
                 (unsigned long long)toy->toy, toy->hypothesis, what, value, other->twice_nll);
}

/* From the suggested start, and each from the other's end. */
static void assert_lowest(struct fixture *f, const paritas_toy *toy, const double *data)
{
    double *free_end = make_array(f->n_parameters, sizeof *free_end),
           *fixed_end = make_array(f->n_parameters, sizeof *fixed_end);
    const double *suggested = paritas_model_suggested_init(f->model);
    assert_int_equal(toy->status, PARITAS_FIT_CONVERGED);
    paritas_fit_result free_fit = fit_from(f, data, suggested, false, free_end),
                       fixed_fit = fit_from(f, data, suggested, true, fixed_end);
    assert_not_above(toy, "free", toy->twice_nll_free, &free_fit);
    assert_not_above(toy, "conditional", toy->twice_nll_fixed, &fixed_fit);
    free_fit = fit_from(f, data, fixed_end, false, NULL);
    fixed_fit = fit_from(f, data, free_end, true, NULL);
    assert_not_above(toy, "free", toy->twice_nll_free, &free_fit);
    assert_not_above(toy, "conditional", toy->twice_nll_fixed, &fixed_fit);
    assert_true(toy->twice_nll_free <= toy->twice_nll_fixed + 1e-6);
    free(free_end);
    free(fixed_end);
}

TEST(no_fit_of_a_toy_ends_above_one_from_another_start)
{
    for (size_t k = 0; k < COUNT(models); k++) {
        struct fixture f = random_model(models[k], NULL);
        const paritas_toys_options options = toys_options(TOYS, 0);
        struct taken taken;
        const paritas_hypotest_toys_result result = run(&f, &options, &taken);
        assert_true(result.several_minima);
        assert_true(result.minima.met >= 2 && result.minima.apart > 0.1);
        assert_int_equal(result.tally.by_quasi_newton, 0);
        assert_true(result.tally.from_further_starts > 0);
        assert_int_equal(taken.n, 2 * TOYS);
        for (int h = 0; h < TOY_HYPOTHESES; h++) {
            double *data =
                data_of_toys(f.context, f.model, PARITAS_STATISTIC_QTILDE, MU, &options, h, TOYS, NULL);
            for (size_t t = 0; t < TOYS; t++) {
                /* sorted: those of the background alone are first */
                const paritas_toy *toy = &taken.rows[(h == TOY_TESTED ? TOYS : 0) + t];
                assert_true(toy->hypothesis == (h == TOY_TESTED ? MU : 0.0) && toy->toy == t);
                assert_lowest(&f, toy, data + t * f.n_data);
            }
            free(data);
        }
        free_taken(&taken);
        free_fixture(&f);
    }
}

static void assert_same_toys(const char *what, const struct taken *a, const struct taken *b)
{
    if (a->n != b->n || memcmp(a->rows, b->rows, a->n * sizeof *a->rows) != 0)
        fail_msg("%s: other toys", what);
}

TEST(shards_threads_and_precisions_have_the_same_toys)
{
    struct fixture f = random_model(42, NULL);
    paritas_toys_options options = toys_options(101, 0);
    struct taken whole, parts, other;
    const paritas_hypotest_toys_result result = run(&f, &options, &whole);
    options.shards = 2;
    options.shard = 1;
    run(&f, &options, &parts);
    options.shard = 2;
    const paritas_hypotest_toys_result second = run(&f, &options, &other);
    assert_true(second.several_minima && second.minima.apart == result.minima.apart);
    for (size_t i = 0; i < other.n; i++) keep_toys(&parts, 1, &other.rows[i]);
    sort_taken(&parts);
    assert_same_toys("two shards", &parts, &whole);
    free_taken(&parts);
    free_taken(&other);
    options = toys_options(101, 0);
    for (int k = 0; k < 2; k++) {
        paritas_options open = PARITAS_OPTIONS_DEFAULT;
        open.threads = 3;
        if (k == 0) open.lanes = 8;
        open.precision = k ? 32 : 64;
        struct fixture again = random_model(42, &open);
        run(&again, &options, &other);
        if (k == 0) assert_same_toys("three threads, eight lanes", &other, &whole);
        /* drawn around a fit that was polished */
        assert_int_equal(other.n, whole.n);
        for (size_t i = 0; i < other.n; i++) {
            ASSERT_CLOSE(other.rows[i].twice_nll_free, whole.rows[i].twice_nll_free, 1e-5);
            ASSERT_CLOSE(other.rows[i].twice_nll_fixed, whole.rows[i].twice_nll_fixed, 1e-5);
        }
        free_taken(&other);
        free_fixture(&again);
    }
    free_taken(&whole);
    free_fixture(&f);
}

/* With one start, many conditional fits end higher; with several asked for, none does. */
TEST(the_number_of_starts_is_the_caller_s)
{
    struct fixture f = random_model(42, NULL);
    paritas_toys_options options = toys_options(60, 0);
    paritas_job job = PARITAS_JOB_DEFAULT;
    struct taken taken[3];
    static const unsigned starts[] = {0, 1, 5};
    for (size_t k = 0; k < COUNT(starts); k++) {
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        taken[k] = (struct taken){0};
        job.starts = starts[k];
        options.take = keep_toys;
        options.user = &taken[k];
        ASSERT_OK(f.context, paritas_hypotest_toys(f.context, f.model, &job, PARITAS_STATISTIC_QTILDE, MU,
                                                   &options, &result));
        sort_taken(&taken[k]);
        assert_true(starts[k] != 1 || !result.several_minima);
    }
    assert_same_toys("five starts", &taken[2], &taken[0]);
    size_t higher = 0;
    for (size_t i = 0; i < taken[0].n; i++)
        higher += taken[1].rows[i].twice_nll_fixed > taken[0].rows[i].twice_nll_fixed + 1e-6;
    assert_true(higher > 10);
    for (size_t k = 0; k < COUNT(starts); k++) free_taken(&taken[k]);
    free_fixture(&f);
}

/* The workspace with a channel more, where nothing tells the size of a sample without events. */
static char *with_open_direction(char *text)
{
    static const char begin[] = "\"channels\":",
                      more[] = " [{\"name\": \"open\", \"samples\": [{\"name\": \"none\", \"data\": [0.0], "
                               "\"modifiers\": [{\"name\": \"idle\", \"type\": \"normfactor\", \"data\": "
                               "null}]}, {\"name\": \"some\", \"data\": [5.0], \"modifiers\": []}]}, ",
                      seen[] = "\"observations\":", count[] = " [{\"name\": \"open\", \"data\": [5]}, ";
    const char *lists[] = {strchr(strstr(text, begin), '['), strchr(strstr(text, seen), '[')};
    char *whole = make_array(strlen(text) + sizeof more + sizeof count, 1);
    const char *const texts[] = {more, count};
    const char *from = text;
    for (size_t done = 0; done < COUNT(lists); done++) {
        const size_t next = done == 0 ? lists[0] > lists[1] : lists[0] < lists[1];
        strncat(whole, from, (size_t)(lists[next] - from));
        strcat(whole, texts[next]);
        from = lists[next] + 1;
    }
    strcat(whole, from);
    free(text);
    return whole;
}

/* Toys of both hypotheses: of ensembles that were opened for one start, then asked for more; or opened for
 * several. */
static void run_with_starts(struct fixture *f, bool newton_only, bool later, struct taken *taken)
{
    paritas_toys_options options = toys_options(2, 3);
    paritas_job job = PARITAS_JOB_DEFAULT;
    struct infer infer;
    struct toy_test test = {.store = NULL};
    *taken = (struct taken){0};
    job.starts = later ? 1 : 5;
    options.newton_only = newton_only;
    options.take = keep_toys;
    options.user = taken;
    ASSERT_OK(f->context, infer_open_for_toys(&infer, f->context, f->model, &job, true));
    ASSERT_OK(f->context, toy_test_open(&test, &infer, &options, PARITAS_STATISTIC_QTILDE, MU, NULL));
    for (int h = 0; h < TOY_HYPOTHESES && later; h++)
        ASSERT_OK(f->context, ensemble_use_further_starts(f->context, &test.ensemble[h]));
    ASSERT_OK(f->context, toy_test_run(&test, 0, options.n));
    toy_test_close(&test);
    infer_close(&infer);
    sort_taken(taken);
}

/* Also where no matrix fits all toys, since the data leave a direction open. */
TEST(further_starts_that_are_asked_for_later_give_the_same_toys)
{
    for (int k = 0; k < 8; k++) {
        const bool large = k & 1, open = k & 2, newton_only = k & 4;
        char *text = large ? costly_workspace(1) : random_workspace(42, TRAITS);
        assert_non_null(text);
        if (open) text = with_open_direction(text);
        struct fixture f = make_fixture(text, NULL, NULL);
        struct taken later, first;
        run_with_starts(&f, newton_only, true, &later);
        run_with_starts(&f, newton_only, false, &first);
        assert_int_equal(first.n, 4);
        assert_same_toys(open ? "an open direction" : "no open direction", &later, &first);
        free_taken(&later);
        free_taken(&first);
        free_fixture(&f);
        free(text);
    }
}

/* A limit's tests share what it knows. Another value may have met several minima, in the data or in toys: the
 * toys of this one are those of a test of it alone, and take as long. */
TEST(toys_do_not_depend_on_what_was_tested_before)
{
    struct fixture f = random_model(7, NULL);
    struct taken taken[2];
    for (int k = 0; k < 2; k++) {
        paritas_toys_options options = toys_options(8, 3);
        struct infer infer;
        struct toy_test before = {.store = NULL}, test = {.store = NULL};
        taken[k] = (struct taken){0};
        ASSERT_OK(f.context, infer_open_for_toys(&infer, f.context, f.model, NULL, true));
        if (k == 1) {
            ASSERT_OK(f.context,
                      toy_test_open(&before, &infer, &options, PARITAS_STATISTIC_QTILDE, 5.0, NULL));
            infer_add_minima(&infer.minima, &(paritas_minima){.met = 2, .apart = 1.0});
        }
        options.take = keep_toys;
        options.user = &taken[k];
        ASSERT_OK(f.context, toy_test_open(&test, &infer, &options, PARITAS_STATISTIC_QTILDE, MU, NULL));
        for (int h = 0; h < TOY_HYPOTHESES; h++)
            assert_int_equal(test.ensemble[h].options.plan.starts, STARTS_USUAL);
        ASSERT_OK(f.context, toy_test_run(&test, 0, options.n));
        toy_test_close(&test);
        toy_test_close(&before);
        infer_close(&infer);
        sort_taken(&taken[k]);
    }
    assert_same_toys("after another test", &taken[1], &taken[0]);
    for (int k = 0; k < 2; k++) free_taken(&taken[k]);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_fit_of_a_toy_ends_above_one_from_another_start),
        cmocka_unit_test(shards_threads_and_precisions_have_the_same_toys),
        cmocka_unit_test(the_number_of_starts_is_the_caller_s),
        cmocka_unit_test(toys_do_not_depend_on_what_was_tested_before),
        cmocka_unit_test(further_starts_that_are_asked_for_later_give_the_same_toys),
    };
    return cmocka_run_group_tests_name("toys_minima", tests, NULL, NULL);
}
