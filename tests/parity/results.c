/* results.c: see results.h. */
#include "parity/results.h"
#include "fit/workspaces.h"
#include "sized.h"

#include <stdlib.h>
#include <string.h>

const char *const results_part_names[RESULTS_PART_COUNT] = {
    "evaluate", "expected", "fit", "scan", "hypotest", "limit", "ranking", "lbfgsb", "de"};

void results_free(struct results *results)
{
    free(results->bytes);
    *results = (struct results){0};
}

static bool append(struct results *results, const void *bytes, size_t length)
{
    if (results->length + length > results->capacity) {
        const size_t capacity = 2 * (results->length + length);
        unsigned char *grown = realloc(results->bytes, capacity);
        if (!grown) return false;
        results->bytes = grown;
        results->capacity = capacity;
    }
    memcpy(results->bytes + results->length, bytes, length);
    results->length += length;
    return true;
}

static bool append_int(struct results *results, long long value)
{
    return append(results, &value, sizeof value);
}

/* Points around the suggested start, inside the bounds; every third has the POI at 0. */
static void make_points(const paritas_model *model, size_t n, uint64_t seed, double spread, double *points)
{
    const size_t p = paritas_model_parameter_count(model);
    const double *init = paritas_model_suggested_init(model), *width = paritas_model_constraint_widths(model);
    const double *lower = paritas_model_lower_bounds(model), *upper = paritas_model_upper_bounds(model);
    const ptrdiff_t poi = paritas_model_poi_index(model);
    struct random random = {seed};
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < p; i++) {
            const double step = width[i] == width[i] ? width[i] : 0.2;
            double x = init[i] + spread * step * random_normal(&random);
            if ((ptrdiff_t)i == poi && k % 3 == 2) x = 0.0;
            points[k * p + i] = x < lower[i] ? lower[i] : x > upper[i] ? upper[i] : x;
        }
}

bool jobs_make(const paritas_model *model, size_t n, uint64_t seed, struct jobs *jobs)
{
    const size_t p = paritas_model_parameter_count(model), main = paritas_model_main_count(model),
                 data = main + paritas_model_aux_count(model);
    const ptrdiff_t poi = paritas_model_poi_index(model);
    *jobs = (struct jobs){.n = n};
    jobs->jobs = calloc(n, sizeof *jobs->jobs);
    jobs->numbers = calloc(n * (data + p) + 1, sizeof *jobs->numbers);
    jobs->fixed = calloc(n * p + 1, 1);
    if (!jobs->jobs || !jobs->numbers || !jobs->fixed) return false;
    double *starts = jobs->numbers, *rows = starts + n * p;
    make_points(model, n, seed, 0.5, starts);
    struct random random = {seed + 1};
    for (size_t k = 0; k < n; k++) {
        const double *observed = paritas_model_data(model);
        for (size_t i = 0; i < data; i++) {
            const double change = random_uniform(&random, 0.7, 1.3);
            rows[k * data + i] = i < main ? (double)(long long)(observed[i] * change + 0.5) : observed[i];
        }
        for (size_t i = 0; i < p; i++)
            jobs->fixed[k * p + i] = paritas_model_suggested_fixed(model)[i] ||
                                     (k % 4 == 1 && (ptrdiff_t)i == poi) || (k % 4 == 2 && i % 5 == 0);
        /* suggested values for what the model fixes */
        for (size_t i = 0; i < p; i++)
            if (paritas_model_suggested_fixed(model)[i])
                starts[k * p + i] = paritas_model_suggested_init(model)[i];
        jobs->jobs[k] = (paritas_job){.size = sizeof(paritas_job),
                                      .data = k % 2 ? rows + k * data : NULL,
                                      .start = k ? starts + k * p : NULL,
                                      .fixed = k ? jobs->fixed + k * p : NULL};
    }
    return true;
}

void jobs_free(struct jobs *jobs)
{
    free(jobs->jobs);
    free(jobs->numbers);
    free(jobs->fixed);
}

bool results_fits(paritas_context *context, const paritas_model *model, const paritas_fit_options *options,
                  const struct jobs *jobs, const size_t *order, size_t chunk, struct results *results)
{
    const size_t n = jobs->n, p = paritas_model_parameter_count(model);
    if (chunk == 0) chunk = n;
    paritas_job *list = sized_calloc(n, sizeof *list);
    paritas_fit_result *outcomes = sized_calloc(n, sizeof *outcomes);
    double *parameters = calloc(n * p + 1, sizeof *parameters), *errors = calloc(n * p + 1, sizeof *errors),
           *covariance = calloc(n * p * p + 1, sizeof *covariance);
    paritas_parameter_state *states = calloc(n * p + 1, sizeof *states);
    size_t *place = calloc(n, sizeof *place);
    bool good = list && outcomes && parameters && errors && covariance && states && place;
    for (size_t k = 0; good && k < n; k++) {
        list[k] = jobs->jobs[order ? order[k] : k];
        place[order ? order[k] : k] = k;
    }
    for (size_t k = 0; good && k < n; k += chunk)
        good =
            paritas_fit(context, model, options, k + chunk < n ? chunk : n - k, list + k,
                        SIZED(paritas_fit_answers, .results = outcomes + k, .parameters = parameters + k * p,
                              .errors = errors + k * p, .covariance = covariance + k * p * p,
                              .states = states + k * p)) == PARITAS_OK;
    for (size_t i = 0; good && i < n; i++) {
        const size_t k = place[i];
        const paritas_fit_result *one = &outcomes[k];
        good = append_int(results, one->status) && append_int(results, one->iterations) &&
               append(results, &one->twice_nll, sizeof(double)) &&
               append(results, &one->edm, sizeof(double)) &&
               append(results, &one->projected_gradient, sizeof(double)) &&
               append(results, parameters + k * p, p * sizeof(double)) &&
               append(results, errors + k * p, p * sizeof(double)) &&
               append(results, covariance + k * p * p, p * p * sizeof(double));
        for (size_t j = 0; good && j < p; j++) good = append_int(results, states[k * p + j]);
    }
    free(list);
    free(outcomes);
    free(parameters);
    free(errors);
    free(covariance);
    free(states);
    free(place);
    return good;
}

enum { POINTS = 11, FITS = 13, SCAN = 7, TESTS = 4 };

static bool collect_evaluations(paritas_context *context, const paritas_model *model, uint64_t seed,
                                struct results *results)
{
    const size_t p = paritas_model_parameter_count(model),
                 data = paritas_model_main_count(model) + paritas_model_aux_count(model);
    double *points = calloc(POINTS * p + 1, sizeof *points), *rows = calloc(2 * data + 1, sizeof *rows);
    double *values = calloc(2 * POINTS, sizeof *values),
           *gradients = calloc(2 * POINTS * p + 1, sizeof *gradients),
           *hessians = calloc(2 * POINTS * p * p + 1, sizeof *hessians);
    bool good = points && rows && values && gradients && hessians;
    if (good) {
        make_points(model, POINTS, seed, 0.7, points);
        for (size_t i = 0; i < 2 * data; i++)
            rows[i] = paritas_model_data(model)[i % data] * (i < data ? 1.0 : 0.75);
        good = append_int(results, paritas_evaluate(context, model, POINTS, points, 2, rows,
                                                    SIZED(paritas_evaluate_answers, .twice_nll = values))) &&
               append(results, values, 2 * POINTS * sizeof(double)) &&
               append_int(results, paritas_evaluate(context, model, POINTS, points, 2, rows,
                                                    SIZED(paritas_evaluate_answers, .twice_nll = values,
                                                          .gradient = gradients, .hessian = hessians))) &&
               append(results, values, 2 * POINTS * sizeof(double)) &&
               append(results, gradients, 2 * POINTS * p * sizeof(double)) &&
               append(results, hessians, 2 * POINTS * p * p * sizeof(double));
    }
    free(points);
    free(rows);
    free(values);
    free(gradients);
    free(hessians);
    return good;
}

static bool collect_expected(paritas_context *context, const paritas_model *model, uint64_t seed,
                             struct results *results)
{
    const size_t p = paritas_model_parameter_count(model), main = paritas_model_main_count(model),
                 data = main + paritas_model_aux_count(model);
    size_t cells = 0;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        cells += paritas_model_channel_bins(model, c) * paritas_model_sample_count(model, c);
    double *points = calloc(POINTS * p + 1, sizeof *points),
           *expected = calloc(POINTS * data + 1, sizeof *expected);
    double *jacobian = calloc(main * p + 1, sizeof *jacobian), *samples = calloc(cells + 1, sizeof *samples);
    bool good = points && expected && jacobian && samples;
    if (good) {
        make_points(model, POINTS, seed, 0.7, points);
        good = append_int(results, paritas_expected_data(context, model, POINTS, points, expected)) &&
               append(results, expected, POINTS * data * sizeof(double)) &&
               append_int(results, paritas_expected_jacobian(context, model, points, jacobian)) &&
               append(results, jacobian, main * p * sizeof(double)) &&
               append_int(results, paritas_expected_by_sample(context, model, points, samples)) &&
               append(results, samples, cells * sizeof(double));
    }
    free(points);
    free(expected);
    free(jacobian);
    free(samples);
    return good;
}

static bool collect_fits(paritas_context *context, const paritas_model *model, paritas_minimizer minimizer,
                         uint64_t seed, struct results *results)
{
    struct jobs jobs;
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.minimizer = minimizer;
    options.seed = seed;
    options.population = 8; /* the others as far as they come in this time: portable builds are slow */
    options.max_iterations = minimizer == PARITAS_MINIMIZER_NEWTON   ? 0
                             : minimizer == PARITAS_MINIMIZER_LBFGSB ? 30
                                                                     : 3;
    const bool good = jobs_make(model, FITS, seed, &jobs) &&
                      results_fits(context, model, &options, &jobs, NULL, 0, results);
    jobs_free(&jobs);
    return good;
}

/* Structures are appended member by member: what lies between members is nobody's. */
static bool append_test(struct results *results, const paritas_hypotest_result *r)
{
    const double numbers[] = {r->mu,
                              r->cls_obs,
                              r->cls_exp[0],
                              r->cls_exp[1],
                              r->cls_exp[2],
                              r->cls_exp[3],
                              r->cls_exp[4],
                              r->clsb,
                              r->clb,
                              r->p0,
                              r->q,
                              r->q_asimov,
                              r->mu_hat,
                              r->twice_nll_free,
                              r->twice_nll_fixed};
    return append_int(results, r->status) && append(results, numbers, sizeof numbers);
}

/* Further starts take minutes a build: one of four smaller models compares them. */
static paritas_job job_of_tests(const paritas_model *model, uint64_t seed)
{
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.starts = paritas_model_parameter_count(model) > 100 || seed % 4 != 1;
    return job;
}

static bool collect_scan(paritas_context *context, const paritas_model *model, const paritas_job *job,
                         struct results *results)
{
    const ptrdiff_t poi = paritas_model_poi_index(model);
    const size_t parameter = poi < 0 ? 0 : (size_t)poi;
    const double lower = paritas_model_lower_bounds(model)[parameter],
                 upper = paritas_model_upper_bounds(model)[parameter];
    double values[SCAN];
    paritas_scan_point points[SCAN] = {PARITAS_INIT(paritas_scan_point)};
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    for (int k = 0; k < SCAN; k++) values[k] = lower + (upper - lower) * k / (SCAN + 2);
    bool good = append_int(results, paritas_scan(context, model, job,
                                                 SIZED(paritas_scan_request, .n_parameters = 1,
                                                       .parameters = &parameter, .n_points = SCAN,
                                                       .values = values, .best = &best, .points = points))) &&
                append(results, &best.twice_nll, sizeof(double));
    for (int k = 0; good && k < SCAN; k++)
        good = append_int(results, points[k].status) && append(results, &points[k].q, sizeof(double)) &&
               append(results, &points[k].twice_nll, sizeof(double));
    return good;
}

static bool collect_tests(paritas_context *context, const paritas_model *model, const paritas_job *job,
                          struct results *results)
{
    static const double mu[TESTS] = {1.0, 0.5, 2.0, 0.0};
    paritas_hypotest_result tests[TESTS] = {PARITAS_INIT(paritas_hypotest_result)};
    bool good = append_int(results,
                           paritas_hypotest(context, model, job, PARITAS_STATISTIC_QTILDE, TESTS, mu, tests));
    for (int k = 0; good && k < TESTS; k++) good = append_test(results, &tests[k]);
    return good;
}

static bool collect_limit(paritas_context *context, const paritas_model *model, const paritas_job *job,
                          struct results *results)
{
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    paritas_hypotest_result scan[PARITAS_SCAN_MOST] = {PARITAS_INIT(paritas_hypotest_result)};
    bool good =
        append_int(results, paritas_limit(context, model, job,
                                          SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE,
                                                .level = 0.05, .scan_room = PARITAS_SCAN_MOST, .scan = scan),
                                          &limit)) &&
        append_int(results, limit.status) && append_int(results, limit.bound_widened) &&
        append(results, &limit.limit_obs, sizeof(double)) &&
        append(results, limit.limit_exp, sizeof limit.limit_exp) &&
        append(results, &limit.upper_bound, sizeof(double));
    for (size_t k = 0; good && k < limit.n_scan; k++) good = append_test(results, &scan[k]);
    return good;
}

static bool collect_ranking(paritas_context *context, const paritas_model *model, const paritas_job *job,
                            struct results *results)
{
    size_t n = 0;
    paritas_ranking_entry *entries = sized_calloc(paritas_model_parameter_count(model), sizeof *entries);
    bool good = entries && append_int(results, paritas_ranking(context, model, job, entries, &n));
    for (size_t k = 0; good && k < n; k++) {
        const paritas_ranking_entry *e = &entries[k];
        const double numbers[] = {e->pull,        e->constraint, e->impact_up,
                                  e->impact_down, e->prefit_up,  e->prefit_down};
        good = append_int(results, (long long)e->parameter) && append_int(results, e->status) &&
               append(results, numbers, sizeof numbers);
    }
    free(entries);
    return good;
}

bool results_collect(paritas_context *context, const paritas_model *model, enum results_part part,
                     uint64_t seed, struct results *results)
{
    const paritas_job job = job_of_tests(model, seed);
    switch (part) {
    case RESULTS_EVALUATE:
        return collect_evaluations(context, model, seed, results);
    case RESULTS_EXPECTED:
        return collect_expected(context, model, seed, results);
    case RESULTS_FIT:
        return collect_fits(context, model, PARITAS_MINIMIZER_NEWTON, seed, results);
    case RESULTS_SCAN:
        return collect_scan(context, model, &job, results);
    case RESULTS_HYPOTEST:
        return collect_tests(context, model, &job, results);
    case RESULTS_LIMIT:
        return collect_limit(context, model, &job, results);
    case RESULTS_RANKING:
        return collect_ranking(context, model, &job, results);
    case RESULTS_LBFGSB:
        return collect_fits(context, model, PARITAS_MINIMIZER_LBFGSB, seed, results);
    case RESULTS_DE:
        return collect_fits(context, model, PARITAS_MINIMIZER_DE, seed, results);
    default:
        return false;
    }
}
