/* Fits from many starts: jobs of a batch do not see each other, and the lowest minimum answers. */
#include "fit/fit_testing.h"

enum { JOBS = 4, PARAMETERS_MOST = 600 };

struct found {
    paritas_fit_result results[JOBS];
    paritas_fit_starts starts[JOBS];
    double parameters[JOBS * PARAMETERS_MOST], errors[JOBS * PARAMETERS_MOST];
};

static struct fixture random_model(uint64_t seed)
{
    char *text = random_workspace(seed, TRAIT_ALL);
    assert_non_null(text);
    struct fixture f = make_fixture(text, NULL, NULL);
    free(text);
    assert_true(f.n_parameters <= PARAMETERS_MOST);
    return f;
}

static void fit(struct fixture *f, const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                struct found *found)
{
    memset(found, 0, sizeof *found);
    found->results[0].size = sizeof found->results[0];
    found->starts[0].size = sizeof found->starts[0];
    ASSERT_OK(f->context,
              paritas_fit(f->context, f->model, options, n, jobs,
                          SIZED(paritas_fit_answers, .results = found->results, .starts = found->starts,
                                .parameters = found->parameters, .errors = found->errors)));
}

TEST(each_job_of_a_batch_has_the_bits_it_has_alone)
{
    static const unsigned starts[JOBS] = {12, 0, 5, 1};
    static struct found all, one;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int minimizer = 0; minimizer < 2; minimizer++) {
            struct fixture f = random_model(seed);
            const size_t p = f.n_parameters;
            const paritas_fit_options options = {.size = sizeof options,
                                                 .minimizer = (paritas_minimizer)minimizer};
            paritas_job jobs[JOBS];
            for (size_t i = 0; i < JOBS; i++)
                jobs[i] = (paritas_job){.size = sizeof jobs[i], .starts = starts[i], .max_iterations = 60};
            fit(&f, &options, JOBS, jobs, &all);
            for (size_t i = 0; i < JOBS; i++) {
                fit(&f, &options, 1, &jobs[i], &one);
                assert_memory_equal(&one.results[0], &all.results[i], sizeof one.results[0]);
                assert_memory_equal(&one.starts[0], &all.starts[i], sizeof one.starts[0]);
                assert_memory_equal(one.parameters, all.parameters + i * p, p * sizeof *one.parameters);
                assert_memory_equal(one.errors, all.errors + i * p, p * sizeof *one.errors);
            }
            assert_memory_equal(&all.results[1], &all.results[3], sizeof all.results[1]);
            free_fixture(&f);
        }
}

TEST(the_answer_is_the_lowest_minimum_and_every_converged_fit_is_counted)
{
    static struct found many, one;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fixture f = random_model(seed);
        paritas_job job = PARITAS_JOB_DEFAULT;
        fit(&f, NULL, 1, &job, &one);
        job.starts = 16;
        fit(&f, NULL, 1, &job, &many);
        const paritas_fit_starts *starts = &many.starts[0];
        size_t counted = 0;
        assert_int_equal(starts->n, 16);
        for (size_t i = 0; i < starts->n_minima; i++) {
            counted += starts->minima[i].count;
            assert_true(i == 0 || starts->minima[i].twice_nll > starts->minima[i - 1].twice_nll);
        }
        assert_true(starts->n_minima == PARITAS_FIT_MINIMA_MOST ? counted <= starts->converged
                                                                : counted == starts->converged);
        if (many.results[0].status == PARITAS_FIT_CONVERGED) {
            assert_true(fabs(many.results[0].twice_nll - starts->minima[0].twice_nll) < 1e-6);
            assert_false(one.results[0].twice_nll < many.results[0].twice_nll - 1e-6);
        }
        free_fixture(&f);
    }
}

TEST(one_start_is_told_as_one)
{
    static struct found found;
    struct fixture f = random_model(3);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    fit(&f, NULL, 1, &job, &found);
    const paritas_fit_starts *starts = &found.starts[0];
    assert_int_equal(found.results[0].status, PARITAS_FIT_CONVERGED);
    assert_true(starts->n == 1 && starts->converged == 1 && starts->n_minima == 1);
    assert_true(starts->minima[0].twice_nll == found.results[0].twice_nll && starts->minima[0].count == 1);
    assert_true(starts->best_start == 0 && starts->spread == 0.0 && starts->gain == 0.0);
    assert_true(isnan(starts->lower_known.twice_nll));
    free_fixture(&f);
}

TEST(refusals_name_the_job_and_the_most_starts)
{
    struct fixture f = random_model(3);
    paritas_fit_result results[2] = {PARITAS_INIT(paritas_fit_result)};
    paritas_job jobs[2] = {PARITAS_JOB_DEFAULT, PARITAS_JOB_DEFAULT};
    double *start = make_array(f.n_parameters, sizeof *start);
    start[0] = NAN;
    jobs[0].starts = jobs[1].starts = 3;
    jobs[1].start = start;
    assert_int_equal(
        paritas_fit(f.context, f.model, NULL, 2, jobs, SIZED(paritas_fit_answers, .results = results)),
        PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "job 1: start of "));
    jobs[1].starts = PARITAS_STARTS_MOST + 1;
    assert_int_equal(
        paritas_fit(f.context, f.model, NULL, 2, jobs, SIZED(paritas_fit_answers, .results = results)),
        PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "`starts` is 100001: there are at most 100000");
    free(start);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_of_a_batch_has_the_bits_it_has_alone),
        cmocka_unit_test(the_answer_is_the_lowest_minimum_and_every_converged_fit_is_counted),
        cmocka_unit_test(one_start_is_told_as_one),
        cmocka_unit_test(refusals_name_the_job_and_the_most_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
