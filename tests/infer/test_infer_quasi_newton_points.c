/* test_infer_quasi_newton_points.c: fits that share a covariance end where fits one by one do, and at
 * minima. */
#include "minima/conditional_fits.h"
#include "minima/quasi_newton_points.h"
#include "fit/profiles/ensemble.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "fit/workspaces.h"
#include "infer_testing.h"
#include "share.h"

enum { VALUES = 21, PARAMETERS_MOST = 128 };

/* Three bins, a signal, backgrounds with uncertainties, one with a free factor. `free_lower`: its bound.
 * `observed`: in the last bin. */
static void write_model(char *text, size_t room, double free_lower, double observed)
{
    snprintf(text, room,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[5.0,20.0,8.0],\"modifiers\":["
             "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
             "{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.92}}]},"
             "{\"name\":\"b\",\"data\":[60.0,45.0,50.0],\"modifiers\":["
             "{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":0.95,\"lo\":1.04}},"
             "{\"name\":\"shape\",\"type\":\"histosys\",\"data\":{\"hi_data\":[66.0,43.0,51.0],"
             "\"lo_data\":[55.0,47.0,48.0]}},"
             "{\"name\":\"stat\",\"type\":\"staterror\",\"data\":[4.0,3.0,3.5]}]},"
             "{\"name\":\"f\",\"data\":[6.0,4.0,30.0],\"modifiers\":["
             "{\"name\":\"factor\",\"type\":\"normfactor\",\"data\":null}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[70.0,80.0,%.17g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
             "{\"name\":\"mu\",\"inits\":[1.0],\"bounds\":[[0.0,10.0]]},"
             "{\"name\":\"factor\",\"inits\":[1.0],\"bounds\":[[%.17g,10.0]]}]}}],\"version\":\"1.0.0\"}",
             observed, free_lower);
}

static struct fixture shapes(double free_lower, double observed)
{
    char text[2048];
    write_model(text, sizeof text, free_lower, observed);
    return make_fixture(text);
}

/* Counts that rise on both sides of a nuisance parameter's centre. */
static struct fixture saddle(void)
{
    return make_fixture(
        "{\"channels\":[{\"name\":\"c\",\"samples\":["
        "{\"name\":\"s\",\"data\":[1000.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
        "\"data\":null}]},"
        "{\"name\":\"b\",\"data\":[9000.0],\"modifiers\":[{\"name\":\"a\",\"type\":\"histosys\",\"data\":{"
        "\"hi_data\":[9015.0],\"lo_data\":[9015.0]}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[10000.0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],"
        "\"version\":\"1.0.0\"}");
}

/* One fit of the job's data within its bounds, with `parameter` held, from `start`. */
static paritas_fit_result fit_held(const struct fixture *f, ptrdiff_t parameter, paritas_job job,
                                   const double *start, double *ends)
{
    unsigned char fixed[PARAMETERS_MOST];
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    memcpy(fixed, paritas_model_suggested_fixed(f->model), paritas_model_parameter_count(f->model));
    if (parameter >= 0) fixed[parameter] = 1;
    job.start = start;
    job.fixed = fixed;
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &job,
                                      SIZED(paritas_fit_answers, .results = &result, .parameters = ends)));
    return result;
}

static double fit_alone(const struct fixture *f, size_t parameter, double value, const double *start,
                        double *ends)
{
    double from[PARAMETERS_MOST];
    memcpy(from, start, paritas_model_parameter_count(f->model) * sizeof *from);
    from[parameter] = value;
    const paritas_fit_result result =
        fit_held(f, (ptrdiff_t)parameter, (paritas_job)PARITAS_JOB_DEFAULT, from, ends);
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    return result.twice_nll;
}

struct points {
    struct infer infer;
    struct infer_profile profile;
    struct infer_point all[VALUES], *list[VALUES];
    size_t left;
};

/* Points of one parameter by the shared covariance alone; n values from `first` on. */
static void fit_points(const struct fixture *f, size_t parameter, double first, double step, struct points *x)
{
    paritas_job job = PARITAS_JOB_DEFAULT;
    *x = (struct points){0};
    ASSERT_OK(f->context, infer_open(&x->infer, f->context, f->model, &job, false));
    x->profile = (struct infer_profile){.data = x->infer.base.data};
    ASSERT_OK(f->context, infer_free_fit(&x->infer, &x->profile));
    for (size_t i = 0; i < VALUES; i++) {
        x->all[i] = (struct infer_point){
            .profile = &x->profile, .k = 1, .parameter = {parameter}, .value = {first + step * (double)i}};
        x->list[i] = &x->all[i];
    }
    x->left = VALUES;
    ASSERT_OK(f->context, quasi_newton_points_fit(&x->infer, &x->left, x->list));
}

static void assert_as_alone(const struct fixture *f, const struct points *x, double apart)
{
    const size_t p = x->infer.n_parameters;
    double ends[PARAMETERS_MOST];
    for (size_t i = 0; i < VALUES; i++) {
        const struct infer_point *point = &x->all[i];
        if (!point->parameters) continue;
        const double alone =
            fit_alone(f, point->parameter[0], point->value[0], paritas_model_suggested_init(f->model), ends);
        assert_int_equal(point->status, PARITAS_FIT_CONVERGED);
        ASSERT_CLOSE(point->twice_nll, alone, 1e-10);
        assert_true(point->parameters[point->parameter[0]] == point->value[0]);
        for (size_t k = 0; k < p; k++) ASSERT_CLOSE(point->parameters[k], ends[k], apart);
    }
}

TEST(points_end_where_fits_one_by_one_do)
{
    struct fixture f = shapes(-10.0, 95.0);
    struct points x;
    for (size_t parameter = 0; parameter < paritas_model_parameter_count(f.model); parameter++) {
        const double at = paritas_model_suggested_init(f.model)[parameter];
        fit_points(&f, parameter, (ptrdiff_t)parameter == paritas_model_poi_index(f.model) ? 0.0 : at - 0.2,
                   0.02, &x);
        assert_int_equal(x.left, 0);
        assert_as_alone(&f, &x, 2e-5);
        infer_close(&x.infer);
    }
    free_fixture(&f);
}

TEST(points_with_other_parameters_at_their_bounds_end_there_too)
{
    /* the free factor would be negative; its bound holds it, in the free fit as well */
    struct fixture f = shapes(0.0, 40.0);
    struct points x;
    size_t factor, at_bound = 0;
    assert_int_equal(paritas_model_parameter_index(f.context, f.model, "factor", &factor), PARITAS_OK);
    fit_points(&f, (size_t)paritas_model_poi_index(f.model), 0.0, 0.2, &x);
    assert_true(x.profile.parameters[factor] == 0.0);
    assert_true(x.left < VALUES);
    for (size_t i = 0; i < VALUES; i++) at_bound += x.all[i].parameters && x.all[i].parameters[factor] == 0.0;
    assert_true(at_bound > 0);
    assert_as_alone(&f, &x, 2e-5);
    infer_close(&x.infer);
    free_fixture(&f);
}

TEST(a_point_on_a_plane_of_symmetry_does_not_end_at_the_saddle)
{
    struct fixture f = saddle();
    struct points x;
    size_t a, aside = 0;
    double start[2] = {0.0}, ends[2];
    assert_int_equal(paritas_model_parameter_index(f.context, f.model, "a", &a), PARITAS_OK);
    fit_points(&f, (size_t)paritas_model_poi_index(f.model), 0.0, 0.05, &x);
    ASSERT_CLOSE(x.profile.parameters[a], 0.0, 1e-6);
    start[a] = 1.0;
    for (size_t i = 0; i < VALUES; i++) {
        if (!x.all[i].parameters) continue;
        ASSERT_CLOSE(x.all[i].twice_nll, fit_alone(&f, x.all[i].parameter[0], x.all[i].value[0], start, ends),
                     1e-9);
        aside += fabs(x.all[i].parameters[a]) > 0.1;
    }
    assert_true(aside > 2);
    infer_close(&x.infer);
    free_fixture(&f);
}

/* ---- generated models ---- */

enum { MODELS = 2000, TOYS = 12 };

struct checked {
    size_t models, answers, above;
};

/* An answer by the shared covariance against a fit from where it ended. `held`: a parameter, or -1. */
static void check_minimum(const struct fixture *f, ptrdiff_t held, paritas_job job, const double *end,
                          double twice_nll, uint64_t seed, struct checked *checked)
{
    const paritas_fit_result result = fit_held(f, held, job, end, NULL);
    checked->answers++;
    if (result.status == PARITAS_FIT_CONVERGED && twice_nll <= result.twice_nll + 1e-8) return;
    checked->above++;
    print_error("nasty model %u: %.10g with parameter %d at %.10g, a fit from there %.10g (%s)\n",
                (unsigned)seed, twice_nll, (int)held, held >= 0 ? end[held] : 0.0, result.twice_nll,
                paritas_fit_status_name(result.status));
}

/* Each parameter in turn; the values are around its best fit. */
static void check_points(const struct fixture *f, uint64_t seed, struct checked *checked)
{
    const size_t p = paritas_model_parameter_count(f->model), poi = (size_t)paritas_model_poi_index(f->model),
                 parameter = seed % 2 == 0 ? poi : seed / 2 % p;
    const double lower = paritas_model_lower_bounds(f->model)[parameter];
    if (paritas_model_suggested_fixed(f->model)[parameter]) return;
    struct points x;
    fit_points(f, parameter, lower < 0.0 ? -4.0 : lower, 0.4, &x);
    for (size_t i = 0; i < VALUES; i++)
        if (x.all[i].parameters)
            check_minimum(f, (ptrdiff_t)parameter, x.infer.base, x.all[i].parameters, x.all[i].twice_nll,
                          seed, checked);
    infer_close(&x.infer);
}

/* Toys drawn at `start`, and their free and conditional fits. */
struct drawn {
    double start[PARAMETERS_MOST], conditional[PARAMETERS_MOST];
    double *expected, *data, *rows, *ends;
    struct profile profiles[TOYS];
};

static bool fit_toys(const struct fixture *f, const struct profile_plan *plan, uint64_t seed,
                     struct arena *arena, struct drawn *drawn)
{
    const struct frozen *frozen = paritas_model_frozen(f->model);
    const struct ensemble_options options = {.plan = *plan, .expected = drawn->expected, .seed = seed};
    struct profile_plan shared = *plan;
    struct profile_metric metric;
    bool usable;
    rows_put_data(frozen, drawn->expected, drawn->rows);
    ASSERT_OK(f->context, profiles_metric(f->context, plan, drawn->rows, arena, &metric, &usable));
    /* rates below 0 have no toys */
    if (!usable || ensemble_draw(f->context, &options, 0, TOYS, drawn->data) != PARITAS_OK) return false;
    shared.metric = &metric;
    for (size_t i = 0; i < TOYS; i++)
        rows_put_data(frozen, drawn->data + i * frozen->n_data, drawn->rows + i * frozen->n_places);
    ASSERT_OK(f->context, profiles_by_quasi_newton(f->context, &shared, TOYS, drawn->rows, PROFILE_POI_FREE,
                                                   drawn->profiles, NULL, drawn->ends));
    return true;
}

/* Free and conditional fits of toys at a conditional fit. */
static void check_toys(const struct fixture *f, uint64_t seed, struct checked *checked)
{
    const struct frozen *frozen = paritas_model_frozen(f->model);
    const size_t p = frozen->n_parameters, n_data = frozen->n_data;
    const ptrdiff_t poi = paritas_model_poi_index(f->model);
    struct arena arena;
    struct drawn drawn;
    arena_open(&arena, &f->context->allocator);
    drawn.expected = arena_array(&arena, n_data, sizeof *drawn.expected);
    drawn.data = arena_array(&arena, TOYS * n_data, sizeof *drawn.data);
    drawn.rows = arena_array(&arena, TOYS * frozen->n_places, sizeof *drawn.rows);
    drawn.ends = arena_array(&arena, 2 * TOYS * p, sizeof *drawn.ends);
    memcpy(drawn.start, paritas_model_suggested_init(f->model), p * sizeof *drawn.start);
    drawn.start[poi] = 0.25 * (double)(seed % 8);
    paritas_job job = PARITAS_JOB_DEFAULT;
    fit_held(f, poi, job, drawn.start, drawn.start);
    ASSERT_OK(f->context, paritas_expected_data(f->context, f->model, 1, drawn.start, drawn.expected));
    memcpy(drawn.conditional, drawn.start, p * sizeof *drawn.start);
    drawn.conditional[poi] = 1.0;
    job.data = drawn.expected;
    fit_held(f, poi, job, drawn.conditional, drawn.conditional);
    const struct profile_plan plan = {.model = f->model,
                                      .start = drawn.start,
                                      .conditional_start = drawn.conditional,
                                      .lower = paritas_model_lower_bounds(f->model),
                                      .upper = paritas_model_upper_bounds(f->model),
                                      .fixed = paritas_model_suggested_fixed(f->model),
                                      .poi = poi,
                                      .conditional = true,
                                      .mu = 1.0,
                                      .in_f64 = true};
    const bool fitted = fit_toys(f, &plan, seed, &arena, &drawn);
    for (size_t i = 0; i < TOYS && fitted; i++) {
        const struct profile *profile = &drawn.profiles[i];
        const double *toy = drawn.data + i * n_data, constant = frozen->constant(frozen, toy),
                     *end = drawn.ends + 2 * i * p;
        if (profile->method != PROFILE_QUASI_NEWTON) continue;
        job.data = toy;
        check_minimum(f, -1, job, end, 2.0 * (profile->value_free + constant), seed, checked);
        check_minimum(f, poi, job, end + p, 2.0 * (profile->value_fixed + constant), seed, checked);
    }
    arena_free(&arena);
}

static void check_models(void (*check)(const struct fixture *, uint64_t, struct checked *), const char *what)
{
    struct checked checked = {0};
    for (uint64_t seed = 0; seed < MODELS; seed += SHARE) {
        char *text = nasty_workspace(seed);
        assert_non_null(text);
        struct fixture f = make_fixture(text);
        assert_true(paritas_model_parameter_count(f.model) <= PARAMETERS_MOST);
        check(&f, seed, &checked);
        checked.models++;
        free_fixture(&f);
        free(text);
    }
    print_message("%zu models, %zu %s by the shared covariance, %zu no minima\n", checked.models,
                  checked.answers, what, checked.above);
    assert_int_equal(checked.above, 0);
    assert_true(checked.answers > checked.models);
}

TEST(points_of_nasty_models_end_at_minima)
{
    check_models(check_points, "points");
}

TEST(toys_of_nasty_models_end_at_minima)
{
    check_models(check_toys, "fits of toys");
}

enum { NUMBERS = 2 * VALUES + 6 * PARAMETERS_MOST };

/* Of a scan and a ranking. */
static void scan_and_rank(paritas_context *context, const char *text, double *numbers)
{
    paritas_workspace *workspace = NULL;
    paritas_model *model = NULL;
    double values[VALUES];
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    paritas_scan_point points[VALUES];
    paritas_ranking_entry entries[PARAMETERS_MOST];
    size_t n;
    ASSERT_OK(context, paritas_workspace_parse(context, text, strlen(text), "test.json", &workspace));
    ASSERT_OK(context, paritas_model_create(context, workspace, NULL, &model));
    const size_t poi = (size_t)paritas_model_poi_index(model);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = 0.2 * (double)i;
        points[i] = (paritas_scan_point)PARITAS_INIT(paritas_scan_point);
    }
    for (size_t i = 0; i < PARAMETERS_MOST; i++)
        entries[i] = (paritas_ranking_entry)PARITAS_INIT(paritas_ranking_entry);
    ASSERT_OK(context,
              paritas_scan(context, model, NULL,
                           SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &poi,
                                 .n_points = VALUES, .values = values, .best = &best, .points = points)));
    ASSERT_OK(context, paritas_ranking(context, model, NULL, entries, &n));
    memset(numbers, 0, NUMBERS * sizeof *numbers);
    for (size_t i = 0; i < VALUES; i++) {
        assert_int_equal(points[i].status, PARITAS_FIT_CONVERGED);
        numbers[i] = points[i].twice_nll;
        numbers[VALUES + i] = points[i].q;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(numbers + 2 * VALUES + 6 * i,
               (double[]){(double)entries[i].parameter, entries[i].pull, entries[i].impact_up,
                          entries[i].impact_down, entries[i].prefit_up, entries[i].prefit_down},
               6 * sizeof *numbers);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
}

TEST(lanes_and_threads_change_no_bit)
{
    char text[2048];
    double numbers[2][NUMBERS];
    write_model(text, sizeof text, 0.0, 95.0);
    static const struct {
        unsigned lanes, threads;
        const char *isa;
    } ways[] = {{0, 1, NULL}, {1, 1, NULL}, {2, 2, NULL}, {8, 2, NULL}, {0, 1, "portable"}, {1, 2, "scalar"}};
    for (size_t k = 0; k < COUNT(ways); k++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        options.lanes = ways[k].lanes;
        options.threads = ways[k].threads;
        options.isa = ways[k].isa;
        if (paritas_open(&options, &context) == PARITAS_OK) {
            scan_and_rank(context, text, numbers[k > 0]);
            if (k > 0) assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
        }
        paritas_close(context);
    }
}

TEST(a_limit_on_iterations_leaves_all_points_to_newtons_method)
{
    struct fixture f = shapes(0.0, 95.0);
    struct points x;
    fit_points(&f, (size_t)paritas_model_poi_index(f.model), 0.0, 0.1, &x);
    assert_true(x.left < VALUES);
    size_t left = VALUES;
    x.infer.base.max_iterations = 100;
    for (size_t i = 0; i < VALUES; i++) x.list[i] = &x.all[i];
    ASSERT_OK(f.context, quasi_newton_points_fit(&x.infer, &left, x.list));
    assert_int_equal(left, VALUES);
    infer_close(&x.infer);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_end_where_fits_one_by_one_do),
        cmocka_unit_test(points_with_other_parameters_at_their_bounds_end_there_too),
        cmocka_unit_test(a_point_on_a_plane_of_symmetry_does_not_end_at_the_saddle),
        cmocka_unit_test(points_of_nasty_models_end_at_minima),
        cmocka_unit_test(toys_of_nasty_models_end_at_minima),
        cmocka_unit_test(lanes_and_threads_change_no_bit),
        cmocka_unit_test(a_limit_on_iterations_leaves_all_points_to_newtons_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
