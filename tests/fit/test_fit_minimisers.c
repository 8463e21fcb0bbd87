/* The other minimisers against Newton's method, and what a fit by them promises. */
#include "fit/fit_testing.h"

/* Everything about one fit. */
struct answer {
    paritas_fit_result result;
    double *parameters;
    paritas_parameter_state *states;
};

static struct answer fit(const struct fixture *f, const paritas_job *job, paritas_minimizer minimizer)
{
    const paritas_job plain = PARITAS_JOB_DEFAULT;
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = minimizer;
    struct answer a = {.result = PARITAS_INIT(paritas_fit_result),
                       .parameters = make_array(f->n_parameters, sizeof(double)),
                       .states = make_array(f->n_parameters, sizeof(paritas_parameter_state))};
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, &options, 1, job ? job : &plain,
                                      SIZED(paritas_fit_answers, .results = &a.result,
                                            .parameters = a.parameters, .states = a.states)));
    return a;
}

static void free_answer(struct answer *a)
{
    free(a->parameters);
    free(a->states);
}

/* Counts over many models. */
struct tally {
    unsigned models, agree, elsewhere, iterations;
    double worst;
};

/* A fit by L-BFGS-B against Newton's: within 1e-6 in twice the NLL with the same parameters on bounds, or,
 * where `valleys` are allowed, in another valley, beyond a barrier. */
static void compare(const struct fixture *f, const char *name, const paritas_job *job, bool valleys,
                    struct tally *tally)
{
    struct answer newton = fit(f, job, PARITAS_MINIMIZER_NEWTON),
                  other = fit(f, job, PARITAS_MINIMIZER_LBFGSB);
    const double difference = fabs(other.result.twice_nll - newton.result.twice_nll);
    tally->models++;
    tally->iterations += other.result.iterations;
    if (newton.result.status != PARITAS_FIT_CONVERGED || other.result.status != PARITAS_FIT_CONVERGED)
        print_message("%s: newton %s, lbfgsb %s\n", name, paritas_fit_status_name(newton.result.status),
                      paritas_fit_status_name(other.result.status));
    else if (difference <= 1e-6) {
        tally->agree++;
        if (difference > tally->worst) tally->worst = difference;
        /* random models have parameters on which nothing depends: they may end anywhere */
        for (size_t p = 0; p < f->n_parameters && !valleys; p++) {
            assert_int_equal(newton.states[p], other.states[p]);
            ASSERT_CLOSE(newton.parameters[p], other.parameters[p], 1e-4);
        }
    } else {
        const int higher = other.result.twice_nll > newton.result.twice_nll;
        const struct answer *high = higher ? &other : &newton, *low = higher ? &newton : &other;
        if (valleys && barrier_between(f, high->result.twice_nll, high->parameters, low->parameters))
            tally->elsewhere++;
        else
            print_error("%s: lbfgsb ends %g from newton\n", name,
                        other.result.twice_nll - newton.result.twice_nll);
    }
    free_answer(&newton);
    free_answer(&other);
}

static void show(const char *what, const struct tally *t)
{
    print_message("%s: %u fits, %u agree, at worst within %.1e, %u in another valley, %u iterations\n", what,
                  t->models, t->agree, t->worst, t->elsewhere, t->iterations);
}

TEST(lbfgsb_agrees_with_newton_on_published_analyses)
{
    struct tally tally = {0};
    size_t absent = 0;
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (!make_published(&published[k], NULL, &f)) {
            absent++;
            continue;
        }
        compare(&f, published[k].name, NULL, false, &tally);
        free_fixture(&f);
    }
    show("published analyses", &tally);
    assert_int_equal(tally.agree, tally.models);
    assert_true(tally.models > 0);
    if (absent) {
        print_message("%zu analyses are not here\n", absent);
        skip_because(PUBLISHED_ABSENT);
    }
}

TEST(lbfgsb_agrees_with_newton_on_random_models)
{
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < 120; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL | (seed < 100 ? 0 : TRAIT_MCSTAT)), name[32];
        struct fixture f = make_fixture(text, NULL, NULL);
        snprintf(name, sizeof name, "random model %u", (unsigned)seed);
        compare(&f, name, NULL, true, &tally);
        free_fixture(&f);
        free(text);
    }
    show("random models", &tally);
    assert_int_equal(tally.agree + tally.elsewhere, tally.models);
    assert_true(tally.elsewhere <= 0.1 * tally.models);
}

/* Narrow bounds around the start, so that many parameters end on them, and every fifth parameter fixed
 * somewhere. */
TEST(bounds_and_fixed_parameters_count_as_for_newton)
{
    struct tally tally = {0};
    size_t held = 0, fixed_ones = 0;
    for (uint64_t seed = 0; seed < 30; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL), name[32];
        struct fixture f = make_fixture(text, NULL, NULL);
        const size_t n = f.n_parameters;
        double *start = make_array(n, sizeof *start), *lower = make_array(n, sizeof *lower),
               *upper = make_array(n, sizeof *upper);
        unsigned char *fixed = make_array(n, 1);
        struct random random = {seed};
        random_point(&f, &random, 0.3, start);
        for (size_t p = 0; p < n; p++) {
            const double width = paritas_model_constraint_widths(f.model)[p],
                         room = isnan(width) ? 0.1 : 0.3 * width;
            fixed[p] = paritas_model_suggested_fixed(f.model)[p] || p % 5 == seed % 5;
            if (paritas_model_suggested_fixed(f.model)[p])
                start[p] = paritas_model_suggested_init(f.model)[p];
            lower[p] = fmax(start[p] - room, paritas_model_lower_bounds(f.model)[p]);
            upper[p] = fmin(start[p] + room, paritas_model_upper_bounds(f.model)[p]);
        }
        const paritas_job job = {
            .size = sizeof(paritas_job), .start = start, .lower = lower, .upper = upper, .fixed = fixed};
        snprintf(name, sizeof name, "random model %u", (unsigned)seed);
        compare(&f, name, &job, true, &tally);
        struct answer a = fit(&f, &job, PARITAS_MINIMIZER_LBFGSB);
        for (size_t p = 0; p < n; p++) {
            const paritas_parameter_state state = a.states[p];
            assert_true((state == PARITAS_PARAMETER_FIXED) == fixed[p]);
            if (fixed[p])
                assert_true(a.parameters[p] == start[p]);
            else
                assert_true(a.parameters[p] >= lower[p] && a.parameters[p] <= upper[p]);
            if (state == PARITAS_PARAMETER_AT_LOWER_BOUND) assert_true(a.parameters[p] == lower[p]);
            if (state == PARITAS_PARAMETER_AT_UPPER_BOUND) assert_true(a.parameters[p] == upper[p]);
            held += state == PARITAS_PARAMETER_AT_LOWER_BOUND || state == PARITAS_PARAMETER_AT_UPPER_BOUND;
            fixed_ones += fixed[p];
        }
        free_answer(&a);
        free(start);
        free(lower);
        free(upper);
        free(fixed);
        free_fixture(&f);
        free(text);
    }
    show("narrow bounds", &tally);
    print_message("%zu parameters on a bound, %zu fixed\n", held, fixed_ones);
    assert_int_equal(tally.agree + tally.elsewhere, tally.models);
    assert_true(held > 0 && fixed_ones > 0);
}

/* What says converged was checked with the exact Hessian, whether or not errors were asked for. */
TEST(converged_means_checked_with_the_hessian)
{
    for (uint64_t seed = 0; seed < 40; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL);
        struct fixture f = make_fixture(text, NULL, NULL);
        paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
        const paritas_job job = PARITAS_JOB_DEFAULT;
        paritas_fit_result plain = PARITAS_INIT(paritas_fit_result), whole = plain;
        double *first = make_array(f.n_parameters, sizeof *first),
               *second = make_array(f.n_parameters, sizeof *second),
               *errors = make_array(f.n_parameters, sizeof *errors);
        options.minimizer = PARITAS_MINIMIZER_LBFGSB;
        ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                         SIZED(paritas_fit_answers, .results = &plain, .parameters = first)));
        ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                         SIZED(paritas_fit_answers, .results = &whole, .parameters = second,
                                               .errors = errors)));
        assert_memory_equal(first, second, f.n_parameters * sizeof *first);
        assert_int_equal(plain.status, whole.status);
        assert_memory_equal(&plain.edm, &whole.edm, sizeof plain.edm);
        if (plain.status == PARITAS_FIT_CONVERGED) assert_true(plain.edm <= 1e-10);
        free(first);
        free(second);
        free(errors);
        free_fixture(&f);
        free(text);
    }
}

TEST(too_few_iterations_are_said_so)
{
    char *text = random_workspace(21, TRAIT_ALL);
    struct fixture f = make_fixture(text, NULL, NULL);
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = PARITAS_MINIMIZER_LBFGSB;
    options.max_iterations = 3;
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    double *best = make_array(f.n_parameters, sizeof *best), value;
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best)));
    assert_int_equal(result.status, PARITAS_FIT_AT_ITERATION_LIMIT);
    assert_int_equal(result.iterations, 3);
    /* what it returns belongs together */
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, best, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_memory_equal(&value, &result.twice_nll, sizeof value);
    free(best);
    free_fixture(&f);
    free(text);
}

/* No version had these options without a choice of the method. */
TEST(options_that_name_no_method_are_refused)
{
    char *text = random_workspace(3, TRAIT_ALL);
    struct fixture f = make_fixture(text, NULL, NULL);
    paritas_fit_options options = {.size = offsetof(paritas_fit_options, minimizer),
                                   .minimizer = (paritas_minimizer)77};
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_fit_answers answers = {.size = sizeof answers, .results = &result};
    assert_int_equal(paritas_fit(f.context, f.model, &options, 1, &job, &answers), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "options: its size"));
    options.size = sizeof options;
    assert_int_equal(paritas_fit(f.context, f.model, &options, 1, &job, &answers), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "`minimizer` is 77"));
    assert_string_equal(paritas_minimizer_name(PARITAS_MINIMIZER_NEWTON), "newton");
    assert_string_equal(paritas_minimizer_name(PARITAS_MINIMIZER_LBFGSB), "lbfgsb");
    assert_string_equal(paritas_minimizer_name(PARITAS_MINIMIZER_DE), "de");
    free_fixture(&f);
    free(text);
}

/* A model of three parameters, one of which ends on its bound, and a published one of thirteen. */
TEST(a_population_agrees_with_newton_on_small_models)
{
    static const char *const names[] = {"two_bins", "displaced_leptons"};
    size_t absent = 0;
    for (size_t c = 0; c < COUNT(names); c++) {
        size_t k = 0;
        struct fixture f;
        while (strcmp(published[k].name, names[c]) != 0) k++;
        if (!make_published(&published[k], NULL, &f)) {
            absent++;
            continue;
        }
        struct answer newton = fit(&f, NULL, PARITAS_MINIMIZER_NEWTON),
                      other = fit(&f, NULL, PARITAS_MINIMIZER_DE);
        assert_int_equal(other.result.status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(other.result.twice_nll, newton.result.twice_nll, 1e-9);
        for (size_t p = 0; p < f.n_parameters; p++) {
            assert_int_equal(newton.states[p], other.states[p]);
            ASSERT_CLOSE(newton.parameters[p], other.parameters[p], 1e-4);
        }
        free_answer(&newton);
        free_answer(&other);
        free_fixture(&f);
    }
    if (absent) {
        print_message("%zu analyses are not here\n", absent);
        skip_because(PUBLISHED_ABSENT);
    }
}

/* Too many parameters for the method: an honest status, and an answer that is no worse than the start. */
TEST(a_population_that_does_not_arrive_says_so)
{
    struct fixture f;
    assert_true(make_published(&published[1], NULL, &f));
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = PARITAS_MINIMIZER_DE;
    options.max_iterations = 30;
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result), again = result;
    double *best = make_array(f.n_parameters, sizeof *best),
           *other = make_array(f.n_parameters, sizeof *other), start;
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, paritas_model_suggested_init(f.model), 0,
                                          NULL, SIZED(paritas_evaluate_answers, .twice_nll = &start)));
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best)));
    assert_int_equal(result.status, PARITAS_FIT_AT_ITERATION_LIMIT);
    assert_int_equal(result.iterations, 30);
    assert_true(result.twice_nll <= start);
    static const unsigned wrong[] = {1, 3, 65537};
    for (size_t k = 0; k < COUNT(wrong); k++) {
        options.population = wrong[k];
        assert_int_equal(
            paritas_fit(f.context, f.model, &options, 1, &job, SIZED(paritas_fit_answers, .results = &again)),
            PARITAS_INVALID_ARGUMENT);
    }
    free_fixture(&f);
    /* the seed decides, all 64 bits of it */
    assert_true(make_published(&published[0], NULL, &f));
    options.population = 0;
    options.max_iterations = 5;
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best)));
    options.seed = (uint64_t)1 << 32;
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &again, .parameters = other)));
    assert_memory_not_equal(best, other, f.n_parameters * sizeof *best);
    free(best);
    free(other);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lbfgsb_agrees_with_newton_on_published_analyses),
        cmocka_unit_test(lbfgsb_agrees_with_newton_on_random_models),
        cmocka_unit_test(bounds_and_fixed_parameters_count_as_for_newton),
        cmocka_unit_test(converged_means_checked_with_the_hessian),
        cmocka_unit_test(too_few_iterations_are_said_so),
        cmocka_unit_test(a_population_agrees_with_newton_on_small_models),
        cmocka_unit_test(a_population_that_does_not_arrive_says_so),
        cmocka_unit_test(options_that_name_no_method_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
