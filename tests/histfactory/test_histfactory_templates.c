/* Templates as arguments of a job: bit for bit what a model answers that is made from a workspace with these
 * numbers. */
#include "base/json/json.h"
#include "fit/fit_testing.h"

/* Varied numbers of a random workspace: some rates, shifts, factors and uncertainties of every channel. */
struct varied {
    paritas_template list[96];
    char path[96][80]; /* where the document has them */
    size_t n;
};

static const struct {
    paritas_template_kind kind;
    const char *type, *place;
} of_modifiers[] = {{PARITAS_TEMPLATE_HISTOSYS_DOWN, "histosys", "data/lo_data"},
                    {PARITAS_TEMPLATE_HISTOSYS_UP, "histosys", "data/hi_data"},
                    {PARITAS_TEMPLATE_NORMSYS_DOWN, "normsys", "data/lo"},
                    {PARITAS_TEMPLATE_NORMSYS_UP, "normsys", "data/hi"},
                    {PARITAS_TEMPLATE_STATERROR, "staterror", "data"},
                    {PARITAS_TEMPLATE_SHAPESYS, "shapesys", "data"}};

static bool is_factor(const paritas_template *template)
{
    return template->kind == PARITAS_TEMPLATE_NORMSYS_UP || template->kind == PARITAS_TEMPLATE_NORMSYS_DOWN;
}

/* Is it a factor of each bin, which is frozen with its sample's rates? */
static bool multiplies_bins(const struct json *modifier)
{
    const struct json *data = json_get(modifier, "data"),
                      *code = data && data->type == JSON_OBJECT ? json_get(data, "interpcode") : NULL;
    return code && json_text_is(json_get(modifier, "type"), "histosys") &&
           (json_text_is(code, "code1") || json_text_is(code, "code5") || json_text_is(code, "code6"));
}

/* Does a normsys stay as it is? */
static bool keeps_factors(const struct json *modifiers)
{
    bool keeps = false;
    for (size_t k = 0; k < modifiers->count; k++)
        keeps = keeps || json_text_is(json_get(json_at(modifiers, k), "type"), "mcstat");
    return keeps;
}

static void choose_templates(const paritas_workspace *workspace, struct random *random, bool all,
                             struct varied *v)
{
    v->n = 0;
    const struct json *channels = json_get(workspace->root, "channels");
    for (size_t c = 0; c < channels->count; c++) {
        const struct json *channel = json_at(channels, c), *samples = json_get(channel, "samples");
        for (size_t s = 0; s < samples->count; s++) {
            const struct json *sample = json_at(samples, s), *modifiers = json_get(sample, "modifiers");
            const paritas_template nominal = {PARITAS_TEMPLATE_NOMINAL, json_get(channel, "name")->text,
                                              json_get(sample, "name")->text, NULL};
            bool frozen = false;
            for (size_t k = 0; k < modifiers->count; k++)
                frozen = frozen || multiplies_bins(json_at(modifiers, k));
            if (!frozen && v->n < COUNT(v->list) && (all || (c == 0 && s == 0) || random_below(random, 2))) {
                snprintf(v->path[v->n], sizeof v->path[0], "/channels/%zu/samples/%zu/data", c, s);
                v->list[v->n++] = nominal;
            }
            for (size_t k = 0; k < modifiers->count; k++) {
                const struct json *modifier = json_at(modifiers, k);
                for (size_t i = 0; i < COUNT(of_modifiers); i++) {
                    if (!json_text_is(json_get(modifier, "type"), of_modifiers[i].type)) continue;
                    if (multiplies_bins(modifier)) continue;
                    if (keeps_factors(modifiers) && !strcmp(of_modifiers[i].type, "normsys")) continue;
                    if (v->n == COUNT(v->list) || (!all && random_below(random, 2))) continue;
                    snprintf(v->path[v->n], sizeof v->path[0], "/channels/%zu/samples/%zu/modifiers/%zu/%s",
                             c, s, k, of_modifiers[i].place);
                    v->list[v->n] = nominal;
                    v->list[v->n].kind = of_modifiers[i].kind;
                    v->list[v->n++].modifier = json_get(modifier, "name")->text;
                }
            }
        }
    }
}

static size_t bins_of(const paritas_model *model, const char *channel)
{
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        if (!strcmp(paritas_model_channel_name(model, c), channel))
            return paritas_model_channel_bins(model, c);
    fail_msg("no channel %s", channel);
    return 0;
}

/* A model of a workspace in which the templates' numbers stand. */
static paritas_model *model_with(paritas_context *context, const paritas_workspace *workspace,
                                 const paritas_model *model, const struct varied *v, const double *numbers,
                                 const paritas_model_options *options)
{
    char *text = make_array(1 << 18, 1);
    size_t at = (size_t)sprintf(text, "[");
    for (size_t t = 0; t < v->n; t++) {
        const bool factor = is_factor(&v->list[t]);
        at += (size_t)sprintf(text + at, "%s{\"op\": \"replace\", \"path\": \"%s\", \"value\": %s",
                              t ? ", " : "", v->path[t], factor ? "" : "[");
        const size_t bins = factor ? 1 : bins_of(model, v->list[t].channel);
        for (size_t b = 0; b < bins; b++)
            at += (size_t)sprintf(text + at, "%s%.17g", b ? ", " : "", *numbers++);
        at += (size_t)sprintf(text + at, "%s}", factor ? "" : "]");
    }
    sprintf(text + at, "]");
    paritas_workspace *patch, *patched;
    paritas_model *made;
    ASSERT_OK(context, paritas_workspace_parse(context, text, strlen(text), "patch", &patch));
    ASSERT_OK(context, paritas_workspace_patch(context, workspace, patch, &patched));
    ASSERT_OK(context, paritas_model_create(context, patched, options, &made));
    paritas_workspace_free(patch);
    paritas_workspace_free(patched);
    free(text);
    return made;
}

enum { ROWS = 3, POINTS = 2 };

/* A model with templates, and as many without as there are rows for it. */
struct both {
    struct fixture f;
    struct varied v;
    paritas_model *made[ROWS];
    double *rows; /* the first is the workspace's own */
    size_t row, n, n_main;
};

static struct both make_both(const char *text, uint64_t seed, bool all, const paritas_options *how,
                             const paritas_model_options *given)
{
    struct both x = {.f = {0}};
    struct random random = {seed + 11};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    if (given) options = *given;
    paritas_model_options plain = options;
    assert_int_equal(paritas_open(how, &x.f.context), PARITAS_OK);
    ASSERT_OK(x.f.context,
              paritas_workspace_parse(x.f.context, text, strlen(text), "test.json", &x.f.workspace));
    choose_templates(x.f.workspace, &random, all, &x.v);
    options.n_templates = x.v.n;
    options.templates = x.v.list;
    fill_fixture(&x.f, &options);
    const size_t count = paritas_model_template_count(x.f.model);
    x.n = x.f.n_parameters;
    x.n_main = x.f.n_main;
    x.row = x.f.n_data + count;
    x.rows = make_array(ROWS * x.row, sizeof *x.rows);
    for (size_t k = 0; k < ROWS; k++) {
        double *row = x.rows + k * x.row, *numbers = row + x.f.n_data;
        memcpy(numbers, paritas_model_data(x.f.model) + x.f.n_data, count * sizeof *numbers);
        for (size_t i = 0; k && i < count; i++) numbers[i] *= random_uniform(&random, 0.75, 1.3);
        double *main = make_array(x.n_main, sizeof *main);
        memcpy(main, paritas_model_data(x.f.model), x.n_main * sizeof *main);
        for (size_t i = 0; k && i < x.n_main; i++)
            main[i] = floor(main[i] * random_uniform(&random, 0.8, 1.2));
        ASSERT_OK(x.f.context, paritas_model_fill_row(x.f.context, x.f.model, main, numbers, row));
        x.made[k] = model_with(x.f.context, x.f.workspace, x.f.model, &x.v, numbers, &plain);
        assert_memory_equal(row + x.n_main, paritas_model_data(x.made[k]) + x.n_main,
                            (x.f.n_data - x.n_main) * sizeof *row);
        free(main);
    }
    assert_memory_equal(x.rows, paritas_model_data(x.f.model), x.row * sizeof *x.rows);
    return x;
}

static void free_both(struct both *x)
{
    for (size_t k = 0; k < ROWS; k++) paritas_model_free(x->made[k]);
    free(x->rows);
    free_fixture(&x->f);
}

static void make_point(const struct both *x, struct random *random, double *point)
{
    const double *init = paritas_model_suggested_init(x->f.model),
                 *lower = paritas_model_lower_bounds(x->f.model),
                 *upper = paritas_model_upper_bounds(x->f.model);
    for (size_t i = 0; i < x->n; i++) {
        point[i] = paritas_model_suggested_fixed(x->f.model)[i] ? init[i]
                                                                : init[i] + random_uniform(random, -0.4, 0.6);
        if (point[i] < lower[i] || point[i] > upper[i]) point[i] = init[i];
    }
}

#define SAME(a, b, n) assert_memory_equal(a, b, (n) * sizeof *(a))

/* Values, derivatives and expectations of every row. */
static void compare_evaluations(const struct both *x, uint64_t seed)
{
    paritas_context *context = x->f.context;
    const size_t n = x->n, total = POINTS * ROWS;
    struct random random = {seed};
    double *points = make_array(POINTS * n, sizeof *points), *value = make_array(total, sizeof *value),
           *gradient = make_array(total * n, sizeof *gradient);
    double *hessian = make_array(total * n * n, sizeof *hessian),
           *jacobian = make_array(2 * x->n_main * n, sizeof *jacobian), *other = jacobian + x->n_main * n;
    double *value1 = make_array(1, sizeof *value), *gradient1 = make_array(n, sizeof *gradient),
           *hessian1 = make_array(n * n, sizeof *hessian);
    double *expected = make_array(2 * x->row, sizeof *expected),
           *samples = make_array(2 * 8 * x->n_main, sizeof *samples);
    for (size_t k = 0; k < POINTS; k++) make_point(x, &random, points + k * n);
    ASSERT_OK(context, paritas_evaluate(context, x->f.model, POINTS, points, ROWS, x->rows,
                                        SIZED(paritas_evaluate_answers, .twice_nll = value,
                                              .gradient = gradient, .hessian = hessian)));
    for (size_t r = 0; r < total; r++) {
        const double *row = x->rows + r % ROWS * x->row, *point = points + r / ROWS * n;
        const paritas_model *made = x->made[r % ROWS];
        ASSERT_OK(context, paritas_evaluate(context, made, 1, point, 1, row,
                                            SIZED(paritas_evaluate_answers, .twice_nll = value1,
                                                  .gradient = gradient1, .hessian = hessian1)));
        SAME(value1, value + r, 1);
        SAME(gradient1, gradient + r * n, n);
        SAME(hessian1, hessian + r * n * n, n * n);
        ASSERT_OK(context, paritas_expected_data_of(context, x->f.model, 1, point, row, expected));
        ASSERT_OK(context, paritas_expected_data(context, made, 1, point, expected + x->row));
        SAME(expected, expected + x->row, x->f.n_data);
        SAME(expected + x->f.n_data, row + x->f.n_data, x->row - x->f.n_data);
        ASSERT_OK(context, paritas_expected_jacobian_of(context, x->f.model, point, row, jacobian));
        ASSERT_OK(context, paritas_expected_jacobian(context, made, point, other));
        SAME(jacobian, other, x->n_main * n);
        ASSERT_OK(context, paritas_expected_by_sample_of(context, x->f.model, point, row, samples));
        ASSERT_OK(context, paritas_expected_by_sample(context, made, point, samples + 8 * x->n_main));
        SAME(samples, samples + 8 * x->n_main, 8 * x->n_main);
    }
    free(points);
    free(value);
    free(gradient);
    free(hessian);
    free(jacobian);
    free(value1);
    free(gradient1);
    free(hessian1);
    free(expected);
    free(samples);
}

/* Fits of all rows in one call, so that a lane has a row each. */
static void compare_fits(const struct both *x)
{
    paritas_context *context = x->f.context;
    const size_t n = x->n;
    paritas_job jobs[ROWS] = {PARITAS_INIT(paritas_job)};
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result), results[ROWS] = {result};
    double *numbers = make_array((ROWS + 1) * (2 * n + n * n), sizeof *numbers), *parameters = numbers,
           *errors = parameters + (ROWS + 1) * n, *covariance = errors + (ROWS + 1) * n;
    paritas_parameter_state *states = make_array((ROWS + 1) * n, sizeof *states);
    for (size_t k = 0; k < ROWS; k++)
        jobs[k] = (paritas_job){.size = sizeof(paritas_job), .data = x->rows + k * x->row};
    ASSERT_OK(context, paritas_fit(context, x->f.model, NULL, ROWS, jobs,
                                   SIZED(paritas_fit_answers, .results = results, .parameters = parameters,
                                         .errors = errors, .covariance = covariance, .states = states)));
    for (size_t k = 0; k < ROWS; k++) {
        const paritas_job job = {.size = sizeof(paritas_job), .data = jobs[k].data};
        ASSERT_OK(context,
                  paritas_fit(context, x->made[k], NULL, 1, &job,
                              SIZED(paritas_fit_answers, .results = &result,
                                    .parameters = parameters + ROWS * n, .errors = errors + ROWS * n,
                                    .covariance = covariance + ROWS * n * n, .states = states + ROWS * n)));
        SAME(&result, results + k, 1);
        SAME(parameters + ROWS * n, parameters + k * n, n);
        SAME(errors + ROWS * n, errors + k * n, n);
        SAME(covariance + ROWS * n * n, covariance + k * n * n, n * n);
        SAME(states + ROWS * n, states + k * n, n);
    }
    free(numbers);
    free(states);
}

static void compare_statistics(const struct both *x)
{
    paritas_context *context = x->f.context;
    if (paritas_model_poi_index(x->f.model) < 0) return;
    const paritas_job job = {.size = sizeof(paritas_job), .data = x->rows + x->row};
    const double mu[2] = {0.5, 1.0};
    paritas_hypotest_result *tests = sized_calloc(4, sizeof *tests),
                            *scans = sized_calloc(2 * PARITAS_SCAN_MOST, sizeof *scans);
    paritas_significance_result *significance = sized_calloc(2, sizeof *significance);
    paritas_limit_result *limits = sized_calloc(2, sizeof *limits);
    paritas_ranking_entry *ranking = sized_calloc(2 * x->n, sizeof *ranking);
    paritas_gof_result *gof = sized_calloc(2, sizeof *gof);
    size_t ranked[2];
    for (size_t k = 0; k < 2; k++) {
        const paritas_model *model = k ? x->made[1] : x->f.model;
        ASSERT_OK(context,
                  paritas_hypotest(context, model, &job, PARITAS_STATISTIC_QTILDE, 2, mu, tests + 2 * k));
        ASSERT_OK(context, paritas_significance(context, model, &job, &significance[k]));
        ASSERT_OK(context, paritas_limit(context, model, &job,
                                         SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE,
                                               .level = 0.05, .scan_room = PARITAS_SCAN_MOST,
                                               .scan = scans + k * PARITAS_SCAN_MOST),
                                         &limits[k]));
        ASSERT_OK(context, paritas_ranking(context, model, &job, ranking + k * x->n, &ranked[k]));
        ASSERT_OK(context, paritas_gof(context, model, &job, &gof[k]));
    }
    SAME(tests, tests + 2, 2);
    SAME(significance, significance + 1, 1);
    SAME(limits, limits + 1, 1);
    SAME(scans, scans + PARITAS_SCAN_MOST, PARITAS_SCAN_MOST);
    SAME(gof, gof + 1, 1);
    assert_int_equal(ranked[0], ranked[1]);
    SAME(ranking, ranking + x->n, ranked[0]);
    free(tests);
    free(scans);
    free(significance);
    free(limits);
    free(ranking);
    free(gof);
}

TEST(rows_answer_as_models_made_anew)
{
    for (uint64_t seed = 0; seed < 30 / SHARE; seed++) {
        char *text =
            random_workspace(seed, TRAIT_ALL | (seed % 2 ? TRAIT_LAWS : 0) | (seed % 3 ? TRAIT_CODES : 0) |
                                       (seed % 5 == 4 ? TRAIT_MCSTAT : 0));
        paritas_model_options clips = PARITAS_MODEL_OPTIONS_DEFAULT;
        if (seed % 3 == 1) {
            clips.clip_sample = clips.clip_bin = 1;
            clips.clip_sample_at = seed % 2 ? 2.0 : 0.0;
            clips.clip_bin_at = 8.0;
        }
        clips.normsys_code = seed % 4 == 3 ? PARITAS_NORMSYS_CODE_1 : 0;
        clips.histosys_code = seed % 5 == 1   ? PARITAS_HISTOSYS_CODE_0
                              : seed % 5 == 2 ? PARITAS_HISTOSYS_CODE_2
                                              : 0;
        struct both x = make_both(text, seed, seed % 4 == 0, NULL, &clips);
        compare_evaluations(&x, seed);
        compare_fits(&x);
        if (seed % 15 == 0) compare_statistics(&x); /* no kinks: those take minutes */
        free_both(&x);
        free(text);
    }
}

/* Kernels of other builds, widths and precisions. */
TEST(every_kernel_build_reads_the_rows)
{
    static const struct {
        const char *isa;
        unsigned lanes, precision;
    } kernels[] = {{"portable", 1, 64}, {"avx2", 1, 64}, {"avx2", 4, 64}, {"avx512", 1, 64},
                   {"avx512", 8, 64},   {NULL, 0, 32},   {"avx2", 8, 32}, {"portable", 1, 32}};
    size_t ran = 0;
    for (size_t i = 0; i < COUNT(kernels); i++) {
        paritas_options how = PARITAS_OPTIONS_DEFAULT;
        how.isa = kernels[i].isa;
        how.lanes = kernels[i].lanes;
        how.precision = kernels[i].precision;
        paritas_context *probe = open_if_built(how);
        paritas_close(probe);
        if (!probe) continue;
        ran++;
        for (uint64_t seed = 100; seed < (SHARE > 1 ? 101 : 104); seed++) {
            char *text = random_workspace(seed + 4 * i, TRAIT_ALL | (seed % 2 ? TRAIT_CODES : 0));
            struct both x = make_both(text, seed, false, &how, NULL);
            compare_evaluations(&x, seed);
            compare_fits(&x);
            free_both(&x);
            free(text);
        }
    }
    printf("%zu of %zu kinds of kernels\n", ran, COUNT(kernels));
    assert_true(ran > 1);
}

/* ---- rules ---- */

static const char rules_text[] =
    "{\"channels\": [{\"name\": \"SR\", \"samples\": [{\"name\": \"s\", \"data\": [4.0, 0.0], \"modifiers\": "
    "[{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, "
    "{\"name\": \"a\", \"type\": \"histosys\", \"data\": {\"hi_data\": [4.0, 0.0], \"lo_data\": [4.0, "
    "0.0]}}, {\"name\": \"st\", \"type\": \"staterror\", \"data\": [0.4, 0.1]}]}, "
    "{\"name\": \"b\", \"data\": [20.0, 0.0], \"modifiers\": [{\"name\": \"st\", \"type\": \"staterror\", "
    "\"data\": [1.0, 0.0]}, "
    "{\"name\": \"sh\", \"type\": \"shapesys\", \"data\": [2.0, 0.0]}]}]}], \"observations\": [{\"name\": "
    "\"SR\", \"data\": [22, 0]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": [%s]}}], "
    "\"version\": \"1.0.0\"}";

static struct fixture make_rules(const char *config)
{
    static const paritas_template list[] = {{PARITAS_TEMPLATE_NOMINAL, "SR", "s", NULL},
                                            {PARITAS_TEMPLATE_NOMINAL, "SR", "b", NULL},
                                            {PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "s", "a"}};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    char text[2048];
    snprintf(text, sizeof text, rules_text, config);
    options.n_templates = COUNT(list);
    options.templates = list;
    return make_fixture(text, NULL, &options);
}

static void refused(const struct fixture *f, paritas_status status, const char *words)
{
    assert_int_equal(status, PARITAS_INVALID_ARGUMENT);
    if (!strstr(paritas_error_message(f->context), words))
        fail_msg("'%s' does not say '%s'", paritas_error_message(f->context), words);
}

TEST(widths_follow_the_rates_of_the_row)
{
    struct fixture f = make_rules("");
    const double numbers[6] = {5.0, 0.0, 10.0, 0.0, 5.5, 0.0};
    double row[16], value[2], *init = make_array(f.n_parameters, sizeof *init);
    assert_int_equal(f.n_parameters, 6); /* a, mu, sh[0], sh[1], st[0], st[1] */
    assert_int_equal(paritas_model_template_count(f.model), 6);
    assert_int_equal(f.n_data, 2 + 5);
    ASSERT_OK(f.context, paritas_model_fill_row(f.context, f.model, NULL, numbers, row));
    memcpy(init, paritas_model_suggested_init(f.model), f.n_parameters * sizeof *init);
    size_t shape, stat;
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "sh[0]", &shape));
    ASSERT_OK(f.context, paritas_model_parameter_index(f.context, f.model, "st[0]", &stat));
    ASSERT_CLOSE(row[2 + 1], 25.0, 0.0); /* (10 / 2)^2 */
    /* the gradient of ((st - 1) / sigma)^2 with sigma^2 = (0.4^2 + 1) / 15^2, from two points of the same
     * rates */
    double gradient[12];
    const double sigma2 = (0.16 + 1.0) / 225.0;
    double *points = make_array(2 * f.n_parameters, sizeof *points);
    for (int k = 0; k < 2; k++)
        memcpy(points + (size_t)k * f.n_parameters, init, f.n_parameters * sizeof *init);
    points[f.n_parameters + stat] = 1.1;
    ASSERT_OK(f.context,
              paritas_evaluate(f.context, f.model, 2, points, 1, row,
                               SIZED(paritas_evaluate_answers, .twice_nll = value, .gradient = gradient)));
    /* bin 0: lambda = 15 st, n = 22; sh at 1 where its own term is flat */
    const double constraint = 0.01 / sigma2, counts = 2.0 * (15.0 * 0.1 - 22.0 * log(1.1));
    ASSERT_CLOSE(value[1] - value[0], constraint + counts, 1e-12);
    ASSERT_CLOSE(gradient[f.n_parameters + stat], 2.0 * 0.1 / sigma2 + 2.0 * 15.0 * (1.0 - 22.0 / 16.5),
                 1e-10);
    /* and the constants hold ln sigma */
    double own[16], at_own;
    ASSERT_OK(f.context, paritas_model_fill_row(f.context, f.model, NULL, NULL, own));
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, init, 1, own,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &at_own)));
    const double sigma2_own = (0.16 + 1.0) / 576.0, own_counts = 2.0 * (24.0 - 22.0 * log(24.0)),
                 row_counts = 2.0 * (15.0 - 22.0 * log(15.0));
    /* tau of the shapesys: 25 and 100 at its own expectation, n = tau */
    const double shapes =
        2.0 * ((25.0 - 25.0 * log(25.0) + lgamma(26.0)) - (100.0 - 100.0 * log(100.0) + lgamma(101.0)));
    ASSERT_CLOSE(value[0] - at_own, row_counts - own_counts + log(sigma2 / sigma2_own) + shapes, 1e-11);
    free(init);
    free(points);
    free_fixture(&f);
}

TEST(what_a_row_cannot_say_is_refused)
{
    struct fixture f = make_rules("");
    double row[16], value;
    const double on[6] = {4.0, 0.5, 20.0, 0.0, 4.0, 0.0}, off[6] = {-25.0, 0.0, 20.0, 0.0, 4.0, 0.0},
                 bad[6] = {4.0, 0.0, 20.0, (double)INFINITY, 4.0, 0.0};
    const double *init = paritas_model_suggested_init(f.model);
    refused(&f, paritas_model_fill_row(f.context, f.model, NULL, on, row),
            "templates: channel 'SR', bin 1: these numbers would switch the constraint of st[1] on");
    paritas_job job = {.size = sizeof(paritas_job), .data = row};
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f.context,
              paritas_fit(f.context, f.model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &result)));
    assert_int_equal(result.status, PARITAS_FIT_NON_FINITE);
    refused(&f,
            paritas_evaluate(f.context, f.model, 1, init, 1, row,
                             SIZED(paritas_evaluate_answers, .twice_nll = &value)),
            "data[0]: channel 'SR', bin 1");
    double expected[16];
    refused(&f, paritas_expected_data_of(f.context, f.model, 1, init, row, expected),
            "data[0]: channel 'SR', bin 1");
    paritas_significance_result significance = PARITAS_INIT(paritas_significance_result);
    refused(&f, paritas_significance(f.context, f.model, &job, &significance), "data: channel 'SR', bin 1");
    refused(&f, paritas_model_fill_row(f.context, f.model, NULL, off, row),
            "bin 0: these numbers would switch the constraint of st[0] off");
    refused(&f, paritas_model_fill_row(f.context, f.model, NULL, bad, row),
            "templates: the template nominal of sample 'b' in channel 'SR', bin 1: must be a finite number");
    /* toys, by all four functions */
    paritas_hypotest_toys_result toys = PARITAS_INIT(paritas_hypotest_toys_result);
    paritas_gof_toys_result gof = PARITAS_INIT(paritas_gof_toys_result);
    paritas_toys_result plain = PARITAS_INIT(paritas_toys_result);
    refused(&f, paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, NULL, &toys),
            "toys of a model with templates");
    refused(&f, paritas_gof_toys(f.context, f.model, NULL, NULL, &gof, NULL),
            "toys of a model with templates");
    refused(&f, paritas_toys(f.context, f.model, NULL, NULL, NULL, &plain), "toys of a model with templates");
    paritas_limit_toys_result limit = PARITAS_INIT(paritas_limit_toys_result);
    refused(&f,
            paritas_limit_toys(f.context, f.model, NULL,
                               SIZED(paritas_limit_toys_request, .statistic = PARITAS_STATISTIC_QTILDE,
                                     .level = 0.05, .rtol = 0.1),
                               NULL, &limit),
            "toys of a model with templates");
    free_fixture(&f);
    /* the measurement says itself what is fixed: then rates may switch a constraint */
    f = make_rules("{\"name\": \"st\", \"fixed\": true}");
    ASSERT_OK(f.context, paritas_model_fill_row(f.context, f.model, NULL, on, row));
    ASSERT_OK(f.context,
              paritas_fit(f.context, f.model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &result)));
    assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
    free_fixture(&f);
}

TEST(templates_that_the_workspace_lacks_are_refused)
{
    static const struct {
        paritas_template list[2];
        size_t n;
        paritas_status status;
        const char *words;
    } cases[] = {
        {{{PARITAS_TEMPLATE_NOMINAL, "SX", "s", NULL}},
         1,
         PARITAS_NOT_FOUND,
         "templates[0]: the model has no channel 'SX'"},
        {{{PARITAS_TEMPLATE_NOMINAL, "SR", "x", NULL}},
         1,
         PARITAS_NOT_FOUND,
         "templates[0]: the channel 'SR' has no sample 'x'"},
        {{{PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "b", "a"}},
         1,
         PARITAS_NOT_FOUND,
         "templates[0]: the sample 'b' has no histosys 'a' in the channel 'SR'"},
        {{{PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "s", NULL}},
         1,
         PARITAS_INVALID_ARGUMENT,
         "templates[0]: a histosys_up takes a channel, a sample and a modifier"},
        {{{PARITAS_TEMPLATE_NOMINAL, "SR", "s", "a"}},
         1,
         PARITAS_INVALID_ARGUMENT,
         "templates[0]: a nominal takes a channel, a sample and no modifier"},
        {{{(paritas_template_kind)7, "SR", "s", NULL}}, 1, PARITAS_INVALID_ARGUMENT, "templates[0]: kind 7"},
        {{{PARITAS_TEMPLATE_NOMINAL, "SR", "s", NULL}, {PARITAS_TEMPLATE_NOMINAL, "SR", "s", NULL}},
         2,
         PARITAS_INVALID_ARGUMENT,
         "templates[1]: this nominal is given twice"},
    };
    char text[2048];
    snprintf(text, sizeof text, rules_text, "");
    struct fixture f = make_fixture(text, NULL, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
        paritas_model *model;
        options.n_templates = cases[i].n;
        options.templates = cases[i].list;
        assert_int_equal(paritas_model_create(f.context, f.workspace, &options, &model), cases[i].status);
        if (!strstr(paritas_error_message(f.context), cases[i].words))
            fail_msg("'%s' does not say '%s'", paritas_error_message(f.context), cases[i].words);
        assert_null(model);
    }
    assert_int_equal(paritas_model_template_count(f.model), 0);
    free_fixture(&f);
}

TEST(factors_of_bins_are_frozen)
{
    static const char text[] =
        "{\"channels\": [{\"name\": \"SR\", \"samples\": [{\"name\": \"s\", \"data\": [4.0, 5.0], "
        "\"modifiers\": [{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, "
        "{\"name\": \"a\", \"type\": \"histosys\", \"data\": {\"interpcode\": \"code5\", "
        "\"hi_data\": [4.5, 5.5], \"lo_data\": [3.8, 4.4]}}, {\"name\": \"n\", \"type\": \"normsys\", "
        "\"data\": {\"hi\": 1.1, \"lo\": 0.9}}]}]}], "
        "\"observations\": [{\"name\": \"SR\", \"data\": [5, 4]}], "
        "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": []}}], "
        "\"version\": \"1.0.0\"}";
    static const paritas_template refused_ones[] = {{PARITAS_TEMPLATE_NOMINAL, "SR", "s", NULL},
                                                    {PARITAS_TEMPLATE_HISTOSYS_UP, "SR", "s", "a"}},
                                  factor = {PARITAS_TEMPLATE_NORMSYS_UP, "SR", "s", "n"};
    struct fixture f = make_fixture(text, NULL, NULL);
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    paritas_model *model;
    options.n_templates = 1;
    for (size_t i = 0; i < COUNT(refused_ones); i++) {
        options.templates = &refused_ones[i];
        refused(
            &f, paritas_model_create(f.context, f.workspace, &options, &model),
            "templates[0]: the histosys 'a' of sample 's' in channel 'SR' is a factor of each bin (code 1, "
            "5 or 6), which is frozen with the model");
    }
    options.templates = &factor;
    ASSERT_OK(f.context, paritas_model_create(f.context, f.workspace, &options, &model));
    paritas_model_free(model);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_answer_as_models_made_anew),
        cmocka_unit_test(every_kernel_build_reads_the_rows),
        cmocka_unit_test(widths_follow_the_rates_of_the_row),
        cmocka_unit_test(what_a_row_cannot_say_is_refused),
        cmocka_unit_test(templates_that_the_workspace_lacks_are_refused),
        cmocka_unit_test(factors_of_bins_are_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
