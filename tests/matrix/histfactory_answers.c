/* histfactory_answers.c: see histfactory_answers.h. */
#include "matrix/histfactory_answers.h"
#include "base/context.h"
#include "draws.h"
#include "fit/fit_testing.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "matrix/matrix.h"
#include "paritas_sample.h"

static void append_doubles(struct results *results, const double *numbers, size_t n)
{
    append_bytes(results, numbers, n * sizeof *numbers);
}

/* ---- toys ---- */

/* Free and conditional fits to data near the expected ones, by the quasi-Newton method first: the points,
 * values and ways that they took. */
static void answer_quasi_newton(paritas_context *context, const paritas_model *model, struct results *results)
{
    enum { TOYS = 12 };
    const struct frozen *frozen = paritas_model_frozen(model);
    const size_t main = paritas_model_main_count(model), slots = frozen->n_slots;
    const double *init = paritas_model_suggested_init(model);
    struct profile profiles[TOYS];
    struct profile_metric metric;
    struct arena arena;
    bool usable = false;
    arena_open(&arena, &context->allocator);
    double *expected = calloc(frozen->n_data, sizeof *expected), *data = calloc(frozen->n_data, sizeof *data);
    double *rows = calloc((TOYS + 1) * frozen->n_places, sizeof *rows),
           *points = calloc(TOYS * frozen->n_parameters, sizeof *points);
    assert_true(expected && data && rows && points);
    struct profile_plan plan = {.model = model,
                                .start = init,
                                .lower = paritas_model_lower_bounds(model),
                                .upper = paritas_model_upper_bounds(model)};
    plan.fixed = paritas_model_suggested_fixed(model);
    plan.poi = paritas_model_poi_index(model);
    plan.conditional = plan.poi >= 0;
    if (plan.conditional) plan.mu = 0.5 * init[plan.poi];
    plan.conditional_start = init;
    ASSERT_OK(context, paritas_expected_data(context, model, 1, init, expected));
    struct random random = {11};
    for (size_t t = 0; t < TOYS; t++) {
        for (size_t i = 0; i < frozen->n_data; i++)
            data[i] = i < main ? floor(expected[i] * random_uniform(&random, 0.8, 1.2) + 0.5)
                               : expected[i] * random_uniform(&random, 0.97, 1.03);
        rows_put_data(frozen, data, rows + t * frozen->n_places);
    }
    rows_put_data(frozen, expected, rows + TOYS * frozen->n_places);
    ASSERT_OK(context,
              profiles_metric(context, &plan, rows + TOYS * frozen->n_places, &arena, &metric, &usable));
    plan.metric = &metric;
    append_bytes(results, metric.matrix, slots * slots * sizeof *metric.matrix);
    if (usable) ASSERT_OK(context, profiles_fit(context, &plan, TOYS, rows, profiles, points));
    for (size_t t = 0; t < TOYS && usable; t++) {
        const double numbers[] = {
            profiles[t].value_free, profiles[t].value_fixed,        profiles[t].mu_hat,
            profiles[t].edm,        (double)profiles[t].iterations, (double)profiles[t].method};
        append_bytes(results, numbers, sizeof numbers);
    }
    if (usable) append_bytes(results, points, TOYS * frozen->n_parameters * sizeof *points);
    free(expected);
    free(data);
    free(rows);
    arena_free(&arena);
    free(points);
}

/* Two chains, a few draws each. */
static void answer_chains(paritas_context *context, const paritas_model *model, struct results *results)
{
    enum { CHAINS = 2, DRAWS = 4 };
    const size_t p = paritas_model_parameter_count(model);
    paritas_chain chains[CHAINS] = {PARITAS_INIT(paritas_chain)};
    paritas_draw draws[CHAINS * DRAWS] = {0};
    double *parameters = make_array(CHAINS * DRAWS * p, sizeof *parameters);
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    const paritas_sample_answers answers = {
        .size = sizeof answers, .parameters = parameters, .draws = draws, .chains = chains};
    options.chains = CHAINS;
    options.draws = DRAWS;
    options.warmup = 3;
    options.max_depth = 4;
    if (context->host->precision == 64) {
        spoil_memory(context);
        const paritas_status status = paritas_sample(context, model, NULL, &options, &answers);
        assert_true(status == PARITAS_OK || status == PARITAS_NOT_CONVERGED);
    }
    append_doubles(results, parameters, CHAINS * DRAWS * p);
    append_bytes(results, draws, sizeof draws);
    append_bytes(results, chains, sizeof chains);
    free(parameters);
}

/* The entry that draws, which in f32 hands its data on. */
static void answer_drawn(paritas_context *context, const paritas_model *model, struct results *results)
{
    enum { TOYS = 3 };
    const struct draws draws = {.seed = 3};
    const size_t n = paritas_model_frozen(model)->n_data;
    double *expected = calloc(n, sizeof *expected), *drawn = calloc(TOYS * n, sizeof *drawn);
    assert_true(expected && drawn);
    ASSERT_OK(context,
              paritas_expected_data(context, model, 1, paritas_model_suggested_init(model), expected));
    ASSERT_OK(context, draw_toys(context, model, &draws, expected, n, TOYS, drawn));
    append_bytes(results, drawn, TOYS * n * sizeof *drawn);
    free(expected);
    free(drawn);
}

/* The entry behind derivatives by data rows. */
static void answer_tangent(paritas_context *context, const paritas_model *model, struct results *results)
{
    const size_t n = paritas_model_frozen(model)->n_data;
    const double *init = paritas_model_suggested_init(model);
    double *derivatives = calloc(2 * n, sizeof *derivatives);
    assert_non_null(derivatives);
    ASSERT_OK(context,
              paritas_data_derivatives(context, model, 1, init, NULL, init, derivatives, derivatives + n));
    append_bytes(results, derivatives, 2 * n * sizeof *derivatives);
    free(derivatives);
}

/* ---- values ---- */

enum { POINTS = 3 };

static size_t count_data(const paritas_model *model)
{
    return paritas_model_main_count(model) + paritas_model_aux_count(model) +
           paritas_model_template_count(model);
}

/* The suggested start, and points away from it, inside the bounds. */
static double *make_points(const paritas_model *model)
{
    const size_t n = paritas_model_parameter_count(model);
    double *points = make_array(POINTS * n, sizeof *points);
    uint64_t seed = 12345;
    for (size_t k = 0; k < POINTS; k++)
        for (size_t p = 0; p < n; p++) {
            const double init = paritas_model_suggested_init(model)[p];
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double u = (double)(seed >> 11) * 0x1p-53 - 0.5;
            const double x = init + (double)k * u * (init == 0.0 ? 1.7 : 0.3);
            points[k * n + p] =
                fmin(fmax(x, paritas_model_lower_bounds(model)[p]), paritas_model_upper_bounds(model)[p]);
        }
    return points;
}

static void answer_points(paritas_context *context, const paritas_model *model, struct results *results)
{
    const size_t n = paritas_model_parameter_count(model), main = paritas_model_main_count(model),
                 n_data = count_data(model);
    size_t by_sample = 0;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        by_sample += paritas_model_channel_bins(model, c) * paritas_model_sample_count(model, c);
    /* one behind the other: */
    const size_t sizes[] = {2 * POINTS, 2 * POINTS * n, 2 * n * n, POINTS * n_data, main * n, by_sample};
    double *at[COUNT(sizes) + 1], *points = make_points(model), *data = make_array(2 * n_data, sizeof *data);
    size_t all = 0;
    for (size_t k = 0; k < COUNT(sizes); k++) all += sizes[k];
    at[0] = make_array(all, sizeof *at[0]);
    for (size_t k = 0; k < COUNT(sizes); k++) at[k + 1] = at[k] + sizes[k];
    memcpy(data, paritas_model_data(model), n_data * sizeof *data);
    ASSERT_OK(context, paritas_expected_data(context, model, 1, points, data + n_data));
    for (size_t i = 2 * n_data - paritas_model_template_count(model); i < 2 * n_data; i++)
        data[i] *= 1.0 + 0.01 * (double)(i % 7);
    spoil_memory(context);
    ASSERT_OK(context,
              paritas_evaluate(context, model, POINTS, points, 2, data,
                               SIZED(paritas_evaluate_answers, .twice_nll = at[0], .gradient = at[1])));
    spoil_memory(context);
    ASSERT_OK(context, paritas_evaluate(context, model, 2, points + n, 0, NULL,
                                        SIZED(paritas_evaluate_answers, .hessian = at[2])));
    spoil_memory(context);
    ASSERT_OK(context, paritas_expected_data(context, model, POINTS, points, at[3]));
    ASSERT_OK(context, paritas_expected_jacobian(context, model, points + n, at[4]));
    ASSERT_OK(context, paritas_expected_by_sample(context, model, points + n, at[5]));
    append_doubles(results, at[0], all);
    free(at[0]);
    free(points);
    free(data);
}

/* Toys around the expected data of the start; auxiliary data drawn and as they are. */
static void answer_toy_rows(paritas_context *context, const paritas_model *model, struct results *results)
{
    enum { TOYS = 40 };
    const size_t n = count_data(model);
    if (paritas_model_template_count(model) > 0) return;
    struct draws draws = {.first_toy = 0xfffffff0, .seed = 0x0123456789abcdef, .purpose = 7};
    double *points = make_points(model), *expected = make_array(n, sizeof *expected),
           *toys = make_array(TOYS * n, sizeof *toys);
    ASSERT_OK(context, paritas_expected_data(context, model, 1, points, expected));
    for (draws.fixed_aux = 0; draws.fixed_aux < 2; draws.fixed_aux++) {
        spoil_memory(context);
        ASSERT_OK(context, draw_toys(context, model, &draws, expected, n, TOYS, toys));
        append_doubles(results, toys, TOYS * n);
    }
    free(points);
    free(expected);
    free(toys);
}

/* ---- fits ---- */

/* The suggested fit, one with the POI fixed, one from elsewhere, one whose steps meet many bounds. */
static void answer_fits(paritas_context *context, const paritas_model *model, paritas_minimizer minimizer,
                        unsigned iterations, bool all, struct results *results)
{
    enum { JOBS = 4 };
    const size_t n = paritas_model_parameter_count(model);
    const unsigned char *suggested = paritas_model_suggested_fixed(model);
    const ptrdiff_t poi = paritas_model_poi_index(model);
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.max_iterations = iterations;
    options.minimizer = minimizer;
    double *points = make_points(model), *start = make_array(n, sizeof *start),
           *lower = make_array(n, sizeof *lower), *upper = make_array(n, sizeof *upper);
    unsigned char *fixed = make_array(n, 1);
    memcpy(start, points, n * sizeof *start);
    memcpy(fixed, suggested, n);
    if (poi >= 0) {
        fixed[poi] = 1;
        start[poi] = 0.7;
    }
    for (size_t p = 0; p < n; p++) {
        if (suggested[p]) points[n + p] = points[p];
        lower[p] = fmax(points[p] - 0.02, paritas_model_lower_bounds(model)[p]);
        upper[p] = fmin(points[p] + 0.02, paritas_model_upper_bounds(model)[p]);
    }
    const paritas_job jobs[JOBS] = {PARITAS_JOB_DEFAULT,
                                    {.size = sizeof(paritas_job), .start = start, .fixed = fixed},
                                    {.size = sizeof(paritas_job), .start = points + n},
                                    {.size = sizeof(paritas_job), .lower = lower, .upper = upper}};
    paritas_fit_result found[JOBS] = {PARITAS_INIT(paritas_fit_result)};
    double *parameters = make_array(JOBS * n, sizeof *parameters),
           *errors = make_array(JOBS * n, sizeof *errors),
           *covariance = make_array(JOBS * n * n, sizeof *covariance);
    spoil_memory(context);
    ASSERT_OK(context,
              paritas_fit(context, model, &options, JOBS, jobs,
                          SIZED(paritas_fit_answers, .results = found, .parameters = parameters,
                                .errors = all ? errors : NULL, .covariance = all ? covariance : NULL)));
    for (size_t k = 0; k < JOBS; k++) {
        const double numbers[] = {(double)found[k].status, (double)found[k].iterations, found[k].twice_nll,
                                  found[k].edm, found[k].projected_gradient};
        append_doubles(results, numbers, COUNT(numbers));
    }
    append_doubles(results, parameters, JOBS * n);
    append_doubles(results, errors, JOBS * n);
    append_doubles(results, covariance, JOBS * n * n);
    free(points);
    free(start);
    free(lower);
    free(upper);
    free(fixed);
    free(parameters);
    free(errors);
    free(covariance);
}

/* ---- all parts ---- */

static void answer_part(paritas_context *context, const paritas_model *model, unsigned part,
                        struct results *results)
{
    switch (part) {
    case ANSWER_QUASI_NEWTON:
        answer_quasi_newton(context, model, results);
        return;
    case ANSWER_DRAWN:
        answer_drawn(context, model, results);
        return;
    case ANSWER_TANGENT:
        answer_tangent(context, model, results);
        return;
    case ANSWER_CHAINS:
        answer_chains(context, model, results);
        return;
    case ANSWER_POINTS:
        answer_points(context, model, results);
        return;
    case ANSWER_TOY_ROWS:
        answer_toy_rows(context, model, results);
        return;
    case ANSWER_ONE_STEP:
        answer_fits(context, model, PARITAS_MINIMIZER_NEWTON, 1, false, results);
        return;
    case ANSWER_QUASI_FITS:
        answer_fits(context, model, PARITAS_MINIMIZER_LBFGSB, 0, false, results);
        return;
    case ANSWER_WHOLE_FITS:
        answer_fits(context, model, PARITAS_MINIMIZER_NEWTON, 0, true, results);
        return;
    default:
        assert_true(results_collect(context, model, (enum results_part)part, 7, results));
    }
}

void histfactory_answer(paritas_context *context, const paritas_model *model, unsigned parts,
                        struct results *results)
{
    struct paritas_device *host = context->host;
    /* for what is found in f64 elsewhere: covariances, toys */
    if (context->no_polish || context->device->precision == 64) context->host = context->device;
    for (unsigned part = 0; part < ANSWER_PARTS; part++)
        if (parts >> part & 1) answer_part(context, model, part, results);
    context->host = host;
}
