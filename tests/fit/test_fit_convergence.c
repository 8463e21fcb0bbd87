/* What a fit says is so: no false success, errors and covariances, bounds, closed forms, and honest
 * failures. */
#include "fit/family.h"
#include "fit/fit_testing.h"

enum { RESTARTS = 20 };

/* Counts over many models. */
struct tally {
    unsigned models, converged, beaten, basins, slow;
};

/* Fits from the suggested start, then from 20 points half an error away. An answer that says converged may
 * not be undercut by more than 1e-8, except from beyond a barrier: that is another minimum, which a local
 * method does not promise to see. */
static void try_restarts(const struct fixture *f, const char *name, uint64_t seed, struct tally *tally)
{
    const size_t n = f->n_parameters;
    const double *lower = paritas_model_lower_bounds(f->model), *upper = paritas_model_upper_bounds(f->model),
                 *width = paritas_model_constraint_widths(f->model);
    const unsigned char *fixed = paritas_model_suggested_fixed(f->model);
    double *best = make_array(n, sizeof *best), *errors = make_array(n, sizeof *errors);
    double *starts = make_array(RESTARTS * n, sizeof *starts), *ends = make_array(RESTARTS * n, sizeof *ends);
    const paritas_job first = PARITAS_JOB_DEFAULT;
    paritas_job jobs[RESTARTS] = {PARITAS_INIT(paritas_job)};
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result), results[RESTARTS] = {result};
    struct random random = {seed};
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &first,
                                      SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                            .errors = errors)));
    tally->models++;
    tally->converged += result.status == PARITAS_FIT_CONVERGED;
    tally->slow += result.iterations > 30;
    if (result.status != PARITAS_FIT_CONVERGED || result.iterations > 30)
        print_message("%s: %s after %u iterations\n", name, paritas_fit_status_name(result.status),
                      result.iterations);
    for (size_t k = 0; k < RESTARTS; k++) {
        for (size_t p = 0; p < n; p++) {
            const double sigma = fixed[p]              ? 0.0
                                 : isfinite(errors[p]) ? errors[p]
                                 : isfinite(width[p])  ? width[p]
                                                       : 0.1 * fabs(best[p]);
            const double x = best[p] + 0.5 * sigma * random_normal(&random);
            starts[k * n + p] = fixed[p] ? best[p] : x < lower[p] ? lower[p] : x > upper[p] ? upper[p] : x;
        }
        jobs[k].start = starts + k * n;
    }
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, RESTARTS, jobs,
                                      SIZED(paritas_fit_answers, .results = results, .parameters = ends)));
    /* the first answer against the restarts, and every restart that says converged against the lowest of
     * all */
    double lowest = result.twice_nll;
    const double *lowest_at = best;
    for (size_t k = 0; k < RESTARTS; k++)
        if (results[k].twice_nll < lowest) {
            lowest = results[k].twice_nll;
            lowest_at = ends + k * n;
        }
    for (size_t k = 0; k <= RESTARTS; k++) {
        const paritas_fit_result *one = k < RESTARTS ? &results[k] : &result;
        if (one->status != PARITAS_FIT_CONVERGED || one->twice_nll <= lowest + 1e-8) continue;
        if (barrier_between(f, one->twice_nll, k < RESTARTS ? ends + k * n : best, lowest_at))
            tally->basins++;
        else {
            tally->beaten++;
            print_error("%s: an answer that says converged is undercut by %g\n", name,
                        one->twice_nll - lowest);
        }
    }
    free(best);
    free(errors);
    free(starts);
    free(ends);
}

static void show_tally(const char *what, const struct tally *tally)
{
    print_message(
        "%s: %u models, %u converged, %u slow, %u restarts each, %u answers undercut, %u in another valley\n",
        what, tally->models, tally->converged, tally->slow, (unsigned)RESTARTS, tally->beaten, tally->basins);
}

static void try_random(uint64_t first, uint64_t end, unsigned traits, const char *what)
{
    struct tally tally = {0};
    for (uint64_t seed = first; seed < end; seed++) {
        char *text = random_workspace(seed, traits), name[48];
        struct fixture f = make_fixture(text, NULL, NULL);
        snprintf(name, sizeof name, "%s %u", what, (unsigned)seed);
        try_restarts(&f, name, seed + 7, &tally);
        free_fixture(&f);
        free(text);
    }
    show_tally(what, &tally);
    assert_int_equal(tally.beaten, 0);
    assert_true(tally.converged >= 0.95 * tally.models);
}

TEST(restarts_never_undercut_a_converged_answer_of_random_models)
{
    try_random(0, 150, TRAIT_ALL, "random model");
    try_random(600, 640, TRAIT_ALL | TRAIT_MCSTAT, "mcstat");
}

static void try_published(bool large)
{
    struct tally tally = {0};
    size_t absent = 0;
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (published[k].large != large) continue;
        if (!make_published(&published[k], NULL, &f)) {
            absent++;
            continue;
        }
        try_restarts(&f, published[k].name, k, &tally);
        free_fixture(&f);
    }
    show_tally(large ? "large published analyses" : "small published analyses", &tally);
    assert_int_equal(tally.beaten, 0);
    assert_int_equal(tally.converged, tally.models);
    assert_int_equal(tally.slow, 0);
    if (absent) print_message("%zu analyses are not here\n", absent);
    if (absent && large) skip_because(PUBLISHED_ABSENT);
}

TEST(restarts_never_undercut_small_published_analyses)
{
    try_published(false);
}
TEST(restarts_never_undercut_large_published_analyses)
{
    try_published(true);
}

/* Such models go on with old factors, corrected by the steps since, which need a place of their own. */
TEST(restarts_never_undercut_fits_whose_hessians_cost_much)
{
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        char *text = costly_workspace(seed), name[32];
        struct fixture f = make_fixture(text, NULL, NULL);
        const struct frozen *model = paritas_model_frozen(f.model);
        assert_true(model->slab_fit[PARITAS_MINIMIZER_NEWTON] > model->slab);
        snprintf(name, sizeof name, "costly model %u", (unsigned)seed);
        try_restarts(&f, name, seed, &tally);
        free_fixture(&f);
        free(text);
    }
    show_tally("models whose Hessians cost much", &tally);
    assert_int_equal(tally.beaten, 0);
    assert_int_equal(tally.converged, tally.models);
}

/* Is an empty bin's rate 0? */
static bool is_on_edge(const struct fixture *f, const double *point)
{
    const size_t n_main = paritas_model_main_count(f->model);
    double *expected = malloc((n_main + paritas_model_aux_count(f->model)) * sizeof *expected);
    bool edge = false;
    ASSERT_OK(f->context, paritas_expected_data(f->context, f->model, 1, point, expected));
    for (size_t i = 0; i < n_main; i++)
        edge = edge || (paritas_model_data(f->model)[i] == 0.0 && expected[i] < 1e-9);
    free(expected);
    return edge;
}

/* Largest element of covariance x Hessian - 1 on the free parameters, in units of the errors; and errors are
 * the diagonal's root. */
static double covariance_defect(const struct fixture *f)
{
    const size_t n = f->n_parameters;
    double *best = make_array(n, sizeof *best), *errors = make_array(n, sizeof *errors),
           *covariance = make_array(n * n, sizeof *covariance);
    double *gradient = make_array(n, sizeof *gradient), *hessian = make_array(n * n, sizeof *hessian), value,
           worst = 0.0;
    paritas_parameter_state *states = make_array(n, sizeof *states);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &job,
                                      SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                            .errors = errors, .covariance = covariance, .states = states)));
    if (result.status == PARITAS_FIT_CONVERGED) {
        ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, best, 0, NULL,
                                               SIZED(paritas_evaluate_answers, .twice_nll = &value,
                                                     .gradient = gradient, .hessian = hessian)));
        assert_memory_equal(&value, &result.twice_nll, sizeof value);
        for (size_t i = 0; i < n; i++) {
            if (states[i] != PARITAS_PARAMETER_FREE) {
                assert_true(isnan(errors[i]));
                for (size_t j = 0; j < n; j++)
                    assert_true(covariance[i * n + j] == 0.0 && covariance[j * n + i] == 0.0);
                continue;
            }
            if (isnan(errors[i])) continue; /* not determined by the data, or held by an edge */
            assert_true(fabs(errors[i] * errors[i] - covariance[i * n + i]) <= 1e-12 * covariance[i * n + i]);
            assert_true(fabs(gradient[i]) * errors[i] <= 1e-4); /* EDM <= 1e-10 */
            for (size_t j = 0; j < n; j++) {
                if (states[j] != PARITAS_PARAMETER_FREE || isnan(errors[j])) continue;
                assert_memory_equal(&covariance[i * n + j], &covariance[j * n + i], sizeof *covariance);
                double sum = i == j ? -1.0 : 0.0;
                for (size_t k = 0; k < n; k++)
                    if (states[k] == PARITAS_PARAMETER_FREE)
                        sum += covariance[i * n + k] * 0.5 * hessian[k * n + j];
                const double defect = fabs(sum) * errors[j] / errors[i];
                if (defect > worst) worst = defect;
            }
        }
        /* on an edge the covariance is that of the walls' minimum, at most the root of the EDM from here:
         * 1e-5 of the errors, and second derivatives differ by as much */
        if (is_on_edge(f, best)) worst *= 1e-3;
    }
    free(best);
    free(errors);
    free(covariance);
    free(gradient);
    free(hessian);
    free(states);
    return worst;
}

TEST(covariance_is_the_inverse_of_the_hessian)
{
    double worst = 0.0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        char *text = random_workspace(seed, TRAIT_ALL | (seed < 60 ? 0 : TRAIT_MCSTAT));
        struct fixture f = make_fixture(text, NULL, NULL);
        const double defect = covariance_defect(&f);
        if (defect > worst) worst = defect;
        free_fixture(&f);
        free(text);
    }
    for (size_t k = 0; k < n_published; k++) {
        struct fixture f;
        if (!make_published(&published[k], NULL, &f)) continue;
        const double defect = covariance_defect(&f);
        if (defect > worst) worst = defect;
        free_fixture(&f);
    }
    print_message("largest element of covariance x Hessian - 1: %.1e\n", worst);
    assert_true(worst <= 1e-8);
}

/* ---- closed forms ---- */

/* One channel: samples and observations as given; the POI is mu, parameters as given. */
static struct fixture small_model(const char *samples, const char *observed, const char *parameters)
{
    char text[4096];
    const int length = snprintf(
        text, sizeof text,
        "{\"channels\":[{\"name\":\"c\",\"samples\":[%s]}],\"observations\":[{\"name\":\"c\",\"data\":[%s]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[%s]}}],\"version\":\"1."
        "0.0\"}",
        samples, observed, parameters);
    assert_true(length > 0 && (size_t)length < sizeof text);
    return make_fixture(text, NULL, NULL);
}

#define SIGNAL(rates)                  \
    "{\"name\":\"s\",\"data\":[" rates \
    "],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]}"
#define BACKGROUND(rates) "{\"name\":\"b\",\"data\":[" rates "],\"modifiers\":[]}"

/* Everything about the fit of a model of at most 8 parameters. */
struct answer {
    paritas_fit_result result;
    double parameters[8], errors[8], covariance[64];
    paritas_parameter_state states[8];
};

static struct answer fit(const struct fixture *f, const paritas_job *job, const paritas_fit_options *options)
{
    const paritas_job plain = PARITAS_JOB_DEFAULT;
    struct answer a = {.result = PARITAS_INIT(paritas_fit_result)};
    assert_true(f->n_parameters <= 8);
    ASSERT_OK(f->context,
              paritas_fit(f->context, f->model, options, 1, job ? job : &plain,
                          SIZED(paritas_fit_answers, .results = &a.result, .parameters = a.parameters,
                                .errors = a.errors, .covariance = a.covariance, .states = a.states)));
    return a;
}

TEST(a_counting_experiment_has_its_closed_form)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0", "");
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(a.parameters[0], 7.0 / 5.0, 1e-6);
    ASSERT_CLOSE(a.errors[0], sqrt(57.0) / 5.0, 1e-6);
    ASSERT_CLOSE(a.result.twice_nll, 2.0 * (57.0 - 57.0 * log(57.0) + lgamma(58.0)), 1e-10);
    assert_int_equal(a.states[0], PARITAS_PARAMETER_FREE);
    free_fixture(&f);
}

TEST(counts_need_not_be_integers_and_may_be_zero)
{
    struct fixture f = small_model(SIGNAL("5.0, 2.0") "," BACKGROUND("0.0, 0.0"), "4.25, 0.0", "");
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    /* 7 mu expected in all, 4.25 seen */
    ASSERT_CLOSE(a.parameters[0], 4.25 / 7.0, 1e-6);
    ASSERT_CLOSE(a.errors[0], sqrt(4.25) / 7.0, 1e-6);
    free_fixture(&f);
}

TEST(nothing_seen_and_nothing_else_expected_ends_on_the_bound)
{
    struct fixture f = small_model(SIGNAL("5.0, 2.0"), "0.0, 0.0", "");
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    assert_true(a.parameters[0] == 0.0);
    assert_true(a.result.twice_nll == 0.0);
    assert_int_equal(a.states[0], PARITAS_PARAMETER_AT_LOWER_BOUND);
    free_fixture(&f);
}

/* b scaled by a Gaussian factor of width sigma, mu free: mu = (n - b)/s, factor 1, errors by propagation. */
TEST(a_gaussian_constraint_propagates_into_the_error)
{
    struct fixture f = small_model(
        SIGNAL("5.0") ",{\"name\":\"b\",\"data\":[50.0],\"modifiers\":[{\"name\":\"lumi\",\"type\":\"lumi\","
                      "\"data\":null}]}",
        "61.0",
        "{\"name\":\"lumi\",\"inits\":[1.0],\"bounds\":[[0.1,10.0]],\"auxdata\":[1.0],\"sigmas\":[0.1]}");
    size_t mu, lumi;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "lumi", &lumi));
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(a.parameters[mu], 11.0 / 5.0, 1e-6);
    ASSERT_CLOSE(a.parameters[lumi], 1.0, 1e-6);
    ASSERT_CLOSE(a.errors[mu], sqrt(61.0 + 50.0 * 50.0 * 0.01) / 5.0, 1e-6);
    ASSERT_CLOSE(a.errors[lumi], 0.1, 1e-7);
    ASSERT_CLOSE(a.covariance[mu * 2 + lumi], -0.01 * 50.0 / 5.0, 1e-7);
    free_fixture(&f);
}

/* b from a side measurement of tau = (b/unc)^2 events: errors by propagation again, exactly at the best
 * fit. */
TEST(a_poisson_constraint_propagates_into_the_error)
{
    struct fixture f = small_model(SIGNAL("5.0") ",{\"name\":\"b\",\"data\":[50.0],\"modifiers\":[{\"name\":"
                                                 "\"g\",\"type\":\"shapesys\",\"data\":[10.0]}]}",
                                   "61.0", "");
    size_t mu, gamma;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "g[0]", &gamma));
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(a.parameters[mu], 11.0 / 5.0, 1e-6);
    ASSERT_CLOSE(a.errors[gamma], 0.2, 1e-6);
    ASSERT_CLOSE(a.errors[mu], sqrt(61.0 + 50.0 * 50.0 * 0.04) / 5.0, 1e-6);
    free_fixture(&f);
}

/* ---- bounds, fixed parameters, honest failures ---- */

TEST(a_parameter_on_its_bound_is_said_so)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "40.0", "");
    struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    assert_true(a.parameters[0] == 0.0 && isnan(a.errors[0]) && a.covariance[0] == 0.0);
    assert_int_equal(a.states[0], PARITAS_PARAMETER_AT_LOWER_BOUND);
    /* other bounds by the job: mu = -2 inside, then an upper bound below it */
    double lower = -8.0, upper = 5.0, start = 0.0;
    const paritas_job wide = {.size = sizeof(paritas_job), .lower = &lower, .upper = &upper, .start = &start};
    a = fit(&f, &wide, NULL);
    assert_int_equal(a.states[0], PARITAS_PARAMETER_FREE);
    ASSERT_CLOSE(a.parameters[0], -2.0, 1e-6);
    upper = -3.0;
    start = -4.0;
    a = fit(&f, &wide, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    assert_int_equal(a.states[0], PARITAS_PARAMETER_AT_UPPER_BOUND);
    assert_true(a.parameters[0] == -3.0);
    free_fixture(&f);
}

TEST(a_start_on_the_wrong_bound_leaves_it)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0", "");
    const double starts[] = {0.0, 10.0};
    for (size_t k = 0; k < COUNT(starts); k++) {
        const paritas_job job = {.size = sizeof(paritas_job), .start = &starts[k]};
        const struct answer a = fit(&f, &job, NULL);
        assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(a.parameters[0], 1.4, 1e-6);
    }
    free_fixture(&f);
}

TEST(fixed_parameters_keep_their_bits)
{
    char *text = random_workspace(11, TRAIT_ALL);
    struct fixture f = make_fixture(text, NULL, NULL);
    const size_t n = f.n_parameters;
    struct random random = {5};
    double *start = make_array(n, sizeof *start), *best = make_array(n, sizeof *best),
           *errors = make_array(n, sizeof *errors);
    unsigned char *fixed = make_array(n, 1);
    paritas_parameter_state *states = make_array(n, sizeof *states);
    random_point(&f, &random, 0.5, start);
    for (size_t p = 0; p < n; p++) fixed[p] = p % 3 == 0 || paritas_model_suggested_fixed(f.model)[p];
    const paritas_job job = {.size = sizeof(paritas_job), .start = start, .fixed = fixed};
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                           .errors = errors, .states = states)));
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    for (size_t p = 0; p < n; p++) {
        assert_int_equal(states[p] == PARITAS_PARAMETER_FIXED, fixed[p]);
        if (!fixed[p]) continue;
        assert_memory_equal(&best[p], &start[p], sizeof *best);
        assert_true(isnan(errors[p]));
    }
    /* all fixed: nothing to do, the likelihood of the start */
    memset(fixed, 1, n);
    double value;
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                           .errors = errors, .states = states)));
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, start, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    assert_memory_equal(&value, &result.twice_nll, sizeof value);
    free(start);
    free(best);
    free(errors);
    free(fixed);
    free(states);
    free_fixture(&f);
    free(text);
}

/* A fixed parameter may lie outside its bounds: what a scan beyond them asks for. */
TEST(a_fixed_parameter_may_lie_outside_its_bounds)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0", "");
    const double start = 12.0;
    const unsigned char fixed = 1;
    const paritas_job job = {.size = sizeof(paritas_job), .start = &start, .fixed = &fixed};
    const struct answer a = fit(&f, &job, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    assert_true(a.parameters[0] == 12.0);
    ASSERT_CLOSE(a.result.twice_nll, 2.0 * (110.0 - 57.0 * log(110.0) + lgamma(58.0)), 1e-10);
    free_fixture(&f);
}

/* A factor on a sample without rate: the minimum exists, the parameter is not determined. */
TEST(a_parameter_without_effect_does_not_spoil_the_others)
{
    struct fixture f = small_model(
        SIGNAL("5.0") "," BACKGROUND("50.0") ",{\"name\":\"z\",\"data\":[0.0],\"modifiers\":[{\"name\":"
                                             "\"idle\",\"type\":\"normfactor\",\"data\":null}]}",
        "57.0", "");
    size_t mu, idle;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "mu", &mu));
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "idle", &idle));
    const struct answer a = fit(&f, NULL, NULL);
    ASSERT_CLOSE(a.parameters[mu], 1.4, 1e-6);
    assert_true(isfinite(a.parameters[idle]));
    /* its error is unknown, however the fit is called */
    assert_true(isnan(a.errors[idle]));
    free_fixture(&f);
}

/* lambda = b + s f g with f = g = 0: no slope there, and yet it is no minimum. */
TEST(a_saddle_is_not_called_a_minimum)
{
    struct fixture f = small_model("{\"name\":\"s\",\"data\":[5.0],\"modifiers\":[{\"name\":\"mu\",\"type\":"
                                   "\"normfactor\",\"data\":null},{\"name\":\"g\",\"type\":"
                                   "\"normfactor\",\"data\":null}]}," BACKGROUND("50.0"),
                                   "60.0",
                                   "{\"name\":\"mu\",\"inits\":[0.0],\"bounds\":[[-10.0,10.0]]},{\"name\":"
                                   "\"g\",\"inits\":[0.0],\"bounds\":[[-10.0,10.0]]}");
    const struct answer a = fit(&f, NULL, NULL);
    if (a.result.status == PARITAS_FIT_CONVERGED)
        ASSERT_CLOSE(a.parameters[0] * a.parameters[1], 2.0, 1e-5); /* it got away */
    else
        assert_int_equal(a.result.status, PARITAS_FIT_NOT_A_MINIMUM);
    free_fixture(&f);
}

TEST(too_few_iterations_are_said_so)
{
    char *text = random_workspace(21, TRAIT_ALL);
    struct fixture f = make_fixture(text, NULL, NULL);
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.max_iterations = 1;
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result), whole = result;
    double *best = make_array(f.n_parameters, sizeof *best);
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best)));
    assert_int_equal(result.status, PARITAS_FIT_AT_ITERATION_LIMIT);
    assert_int_equal(result.iterations, 1);
    /* what it returns belongs together */
    double value;
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, best, 0, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_memory_equal(&value, &result.twice_nll, sizeof value);
    ASSERT_OK(f.context,
              paritas_fit(f.context, f.model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &whole)));
    assert_int_equal(whole.status, PARITAS_FIT_CONVERGED);
    assert_true(whole.twice_nll <= result.twice_nll);
    /* the job's limit holds where the options have none */
    paritas_job limited = PARITAS_JOB_DEFAULT;
    limited.max_iterations = 1;
    for (options.max_iterations = 0; options.max_iterations <= 200; options.max_iterations += 200) {
        ASSERT_OK(f.context, paritas_fit(f.context, f.model, &options, 1, &limited,
                                         SIZED(paritas_fit_answers, .results = &result)));
        assert_int_equal(result.status,
                         options.max_iterations ? PARITAS_FIT_CONVERGED : PARITAS_FIT_AT_ITERATION_LIMIT);
    }
    free(best);
    free_fixture(&f);
    free(text);
}

TEST(a_start_outside_the_domain_reaches_it)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0",
                                   "{\"name\":\"mu\",\"inits\":[-20.0],\"bounds\":[[-30.0,10.0]]}");
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(a.parameters[0], (57.0 - 50.0) / 5.0, 1e-6);
    free_fixture(&f);
}

/* Fixed outside, nothing can reach it. */
TEST(a_fit_that_must_stay_outside_the_domain_is_not_finite)
{
    static const unsigned char fixed[1] = {1};
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0",
                                   "{\"name\":\"mu\",\"inits\":[-20.0],\"bounds\":[[-30.0,10.0]]}");
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.fixed = fixed;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f.context,
              paritas_fit(f.context, f.model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &result)));
    assert_int_equal(result.status, PARITAS_FIT_NON_FINITE);
    assert_true(isnan(result.twice_nll));
    free_fixture(&f);
}

/* The domain ends at mu = -10, the minimum lies close to it: steps beyond are cut back, not followed. */
TEST(a_fit_beside_the_edge_of_the_domain_stays_inside)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "0.01",
                                   "{\"name\":\"mu\",\"inits\":[9.0],\"bounds\":[[-30.0,10.0]]}");
    const struct answer a = fit(&f, NULL, NULL);
    assert_int_equal(a.result.status, PARITAS_FIT_CONVERGED);
    ASSERT_CLOSE(a.parameters[0], (0.01 - 50.0) / 5.0, 1e-6);
    free_fixture(&f);
}

TEST(bad_jobs_are_refused_by_name)
{
    struct fixture f = small_model(SIGNAL("5.0") "," BACKGROUND("50.0"), "57.0", "");
    double start = 11.0, lower = 2.0, upper = 1.0, data = -1.0, nan = NAN;
    const size_t size = sizeof(paritas_job);
    const paritas_job jobs[] = {{.size = size, .start = &start},
                                {.size = size, .lower = &lower, .upper = &upper},
                                {.size = size, .data = &data},
                                {.size = size, .start = &nan},
                                {.size = size, .data = &nan}};
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    for (size_t k = 0; k < COUNT(jobs); k++) {
        const paritas_status wanted = jobs[k].data ? PARITAS_OK : PARITAS_INVALID_ARGUMENT;
        assert_int_equal(paritas_fit(f.context, f.model, NULL, 1, &jobs[k],
                                     SIZED(paritas_fit_answers, .results = &result)),
                         wanted);
        assert_non_null(strstr(paritas_error_message(f.context), jobs[k].data ? "data[0]" : "mu"));
        const paritas_job pair[] = {PARITAS_JOB_DEFAULT, jobs[k]};
        paritas_fit_result results[2] = {PARITAS_INIT(paritas_fit_result)};
        assert_int_equal(
            paritas_fit(f.context, f.model, NULL, 2, pair, SIZED(paritas_fit_answers, .results = results)),
            wanted);
        if (jobs[k].data) {
            assert_int_equal(result.status, PARITAS_FIT_NON_FINITE);
            assert_int_equal(results[1].status, PARITAS_FIT_NON_FINITE);
            assert_true(isnan(results[1].twice_nll));
            assert_int_equal(results[0].status, PARITAS_FIT_CONVERGED);
        }
        assert_ptr_equal(strstr(paritas_error_message(f.context), "job 1: "),
                         paritas_error_message(f.context));
    }
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_never_undercut_a_converged_answer_of_random_models),
        cmocka_unit_test(restarts_never_undercut_small_published_analyses),
        cmocka_unit_test(restarts_never_undercut_large_published_analyses),
        cmocka_unit_test(restarts_never_undercut_fits_whose_hessians_cost_much),
        cmocka_unit_test(covariance_is_the_inverse_of_the_hessian),
        cmocka_unit_test(a_counting_experiment_has_its_closed_form),
        cmocka_unit_test(counts_need_not_be_integers_and_may_be_zero),
        cmocka_unit_test(nothing_seen_and_nothing_else_expected_ends_on_the_bound),
        cmocka_unit_test(a_gaussian_constraint_propagates_into_the_error),
        cmocka_unit_test(a_poisson_constraint_propagates_into_the_error),
        cmocka_unit_test(a_parameter_on_its_bound_is_said_so),
        cmocka_unit_test(a_start_on_the_wrong_bound_leaves_it),
        cmocka_unit_test(fixed_parameters_keep_their_bits),
        cmocka_unit_test(a_fixed_parameter_may_lie_outside_its_bounds),
        cmocka_unit_test(a_parameter_without_effect_does_not_spoil_the_others),
        cmocka_unit_test(a_saddle_is_not_called_a_minimum),
        cmocka_unit_test(too_few_iterations_are_said_so),
        cmocka_unit_test(a_start_outside_the_domain_reaches_it),
        cmocka_unit_test(a_fit_that_must_stay_outside_the_domain_is_not_finite),
        cmocka_unit_test(a_fit_beside_the_edge_of_the_domain_stays_inside),
        cmocka_unit_test(bad_jobs_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
