/* Factors that are functions of parameters: derivatives are differences; a model with a function is the model
 * in which the function is written out; what is refused. */
#include "fit/fit_testing.h"
#include "histfactory/documents.h"
#include "histfactory/workspace/workspace_spec.h"
#include "paritas_gradient.h"

#define FACTOR(name) "{\"name\": \"" name "\", \"type\": \"normfactor\", \"data\": null}, "
#define FUNCTION(name, expression) "{\"name\": \"" name "\", \"expression\": \"" expression "\"}"
#define XS "{\"name\": \"xs\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.93}}"

/* A signal and a background in one region, the background in another of 10 bins too. Each takes a factor. */
static char *make_text(const char *signal, const char *background, const char *locals, const char *functions)
{
    char *text = make_array(8192, 1);
    snprintf(
        text, 8192,
        "{\"channels\": [{\"name\": \"SR\", \"samples\": [{\"name\": \"s\", \"data\": [5, 12, 8], "
        "\"modifiers\": [%s%s" FACTOR("mu") XS
        "]}, {\"name\": \"b\", \"data\": [50, 60, 40], \"modifiers\": [%s%s"
        "{\"name\": \"jes\", \"type\": \"histosys\", \"data\": {\"hi_data\": [55, 62, 41], \"lo_data\": [46, "
        "57, "
        "38]}}, " XS
        "]}]}, {\"name\": \"CR\", \"samples\": [{\"name\": \"b\", \"data\": [200, 180, 150, 100, "
        "80, 60, 40, 30, 20, 10], \"modifiers\": [%s" XS
        "]}]}], \"observations\": [{\"name\": \"SR\", \"data\": "
        "[56, 75, 52]}, {\"name\": \"CR\", \"data\": [210, 185, 160, 95, 85, 66, 38, 33, 21, 12]}], "
        "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"functions\": [%s], "
        "\"parameters\": "
        "[{\"name\": \"a\", \"inits\": [1.0], \"bounds\": [[0.0, 5.0]]}, {\"name\": \"b\", \"inits\": [0.9], "
        "\"bounds\": [[0.0, 5.0]], \"constraint\": {\"type\": \"gaussian\"}, \"auxdata\": [1.0], \"sigmas\": "
        "[0.2]}, {\"name\": \"c\", \"bounds\": [[-2.0, 3.0]], \"inits\": [0.5]}]}}], \"version\": \"1.0.0\"}",
        signal, locals, background, locals, background, functions);
    return text;
}

static struct fixture make_model(const char *signal, const char *background, const char *locals,
                                 const char *functions)
{
    char *text = make_text(signal, background, locals, functions);
    struct fixture f = make_fixture(text, NULL, NULL);
    free(text);
    return f;
}

/* No local parameters; one that all samples share; two; one that is free. */
#define STAT(u) "{\"name\": \"stat\", \"type\": \"staterror\", \"data\": " u "}, "
static const char *const locals[] = {
    "", STAT("[3, 3, 2]"),
    STAT("[3, 3, 2]") "{\"name\": \"more\", \"type\": \"shapefactor\", \"data\": null}, "};

/* All words, functions of functions, one that acts through others alone, arguments of every kind. */
#define ALL_WORDS                                                                                         \
    FUNCTION("f", "exp(0.1*g - c/4) / sqrt(1 + b^2) + pow(a, 1.5)*0.1 + h")                               \
    ", " FUNCTION("g", "a*(1 + 0.1*b)*(1.5 + 0.05*xs)^-1 + 0.01*log(a + jes^2 + 1) + a^b") ", " FUNCTION( \
        "h", "-(-0.1 + 2*k - k**3/7)") ", " FUNCTION("k", "0.2 + 0.3*c*c - 'c' + .5e-1*mu")

static size_t find(const struct fixture *f, const char *name)
{
    for (size_t p = 0; p < f->n_parameters; p++)
        if (!strcmp(paritas_model_parameter_name(f->model, p), name)) return p;
    fail_msg("no parameter %s", name);
    return 0;
}

/* ---- derivatives ---- */

struct answers {
    double value, *gradient, *hessian, *jacobian, *expected;
};

static struct answers evaluate(const struct fixture *f, const double *point)
{
    const size_t n = f->n_parameters;
    struct answers a = {.gradient = make_array(n, sizeof(double)),
                        .hessian = make_array(n * n, sizeof(double)),
                        .jacobian = make_array(n * f->n_main, sizeof(double)),
                        .expected = make_array(f->n_data, sizeof(double))};
    ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, point, 1, NULL,
                                           SIZED(paritas_evaluate_answers, .twice_nll = &a.value,
                                                 .gradient = a.gradient, .hessian = a.hessian)));
    ASSERT_OK(f->context, paritas_expected_jacobian(f->context, f->model, point, a.jacobian));
    ASSERT_OK(f->context, paritas_expected_data(f->context, f->model, 1, point, a.expected));
    return a;
}

static void free_answers(struct answers *a)
{
    free(a->gradient);
    free(a->hessian);
    free(a->jacobian);
    free(a->expected);
}

static void check(const char *what, double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * fmax(1.0, fabs(wanted))))
        fail_msg("%s: %.15g, and should be %.15g", what, got, wanted);
}

static void check_differences(const struct fixture *f, const double *point, double step)
{
    const size_t n = f->n_parameters;
    struct answers at = evaluate(f, point);
    double *moved = make_array(n, sizeof *moved);
    for (size_t p = 0; p < n; p++) {
        struct answers side[2];
        for (int k = 0; k < 2; k++) {
            memcpy(moved, point, n * sizeof *moved);
            moved[p] += k ? -step : step;
            side[k] = evaluate(f, moved);
        }
        check("slope", at.gradient[p], (side[0].value - side[1].value) / (2.0 * step), 1e-6);
        for (size_t q = 0; q < n; q++)
            check("curvature", at.hessian[p * n + q],
                  (side[0].gradient[q] - side[1].gradient[q]) / (2.0 * step), 1e-6);
        for (size_t i = 0; i < f->n_main; i++)
            check("slope of a rate", at.jacobian[i * n + p],
                  (side[0].expected[i] - side[1].expected[i]) / (2.0 * step), 1e-6);
        free_answers(&side[0]);
        free_answers(&side[1]);
    }
    free_answers(&at);
    free(moved);
}

TEST(slopes_and_curvatures_are_differences)
{
    for (size_t l = 0; l < COUNT(locals); l++) {
        struct fixture f = make_model(FACTOR("f"), FACTOR("g"), locals[l], ALL_WORDS);
        struct random random = {l};
        double *point = make_array(f.n_parameters, sizeof *point);
        for (int k = 0; k < 3; k++) {
            random_point(&f, &random, 0.8, point);
            if (point[find(&f, "a")] < 0.3) point[find(&f, "a")] = 0.3;
            check_differences(&f, point, 1e-5);
        }
        free(point);
        free_fixture(&f);
    }
}

/* ---- the same model, written out ---- */

static void compare_fits(const struct fixture *f, const struct fixture *g, const size_t *place)
{
    const size_t n = f->n_parameters;
    paritas_fit_result results[2];
    double *parameters[2], *covariances[2];
    const struct fixture *both[] = {f, g};
    for (int k = 0; k < 2; k++) {
        const paritas_job job = PARITAS_JOB_DEFAULT;
        parameters[k] = make_array(n, sizeof **parameters);
        covariances[k] = make_array(n * n, sizeof **covariances);
        results[k] = (paritas_fit_result)PARITAS_INIT(paritas_fit_result);
        ASSERT_OK(both[k]->context,
                  paritas_fit(both[k]->context, both[k]->model, NULL, 1, &job,
                              SIZED(paritas_fit_answers, .results = &results[k], .parameters = parameters[k],
                                    .covariance = covariances[k])));
        assert_int_equal(results[k].status, PARITAS_FIT_CONVERGED);
    }
    check("minimum", results[0].twice_nll, results[1].twice_nll, 1e-10);
    for (size_t p = 0; p < n; p++) {
        check("best fit", parameters[0][p], parameters[1][place[p]], 1e-6);
        for (size_t q = 0; q < n; q++)
            check("covariance", covariances[0][p * n + q], covariances[1][place[p] * n + place[q]], 1e-6);
    }
    for (int k = 0; k < 2; k++) {
        free(parameters[k]);
        free(covariances[k]);
    }
}

/* Values, derivatives, fits at 1e-10; parameters by name. */
static void compare_models(struct fixture *f, struct fixture *g, bool fits)
{
    const size_t n = f->n_parameters;
    size_t *place = make_array(n, sizeof *place);
    double *point = make_array(n, sizeof *point), *same = make_array(n, sizeof *same);
    struct random random = {n};
    assert_int_equal(g->n_parameters, n);
    for (size_t p = 0; p < n; p++) place[p] = find(g, paritas_model_parameter_name(f->model, p));
    for (int k = 0; k < 5; k++) {
        random_point(f, &random, 0.7, point);
        for (size_t p = 0; p < n; p++) same[place[p]] = point[p];
        struct answers a = evaluate(f, point), b = evaluate(g, same);
        check("likelihood", a.value, b.value, 1e-10);
        for (size_t p = 0; p < n; p++) {
            check("slope", a.gradient[p], b.gradient[place[p]], 1e-10);
            for (size_t q = 0; q < n; q++)
                check("curvature", a.hessian[p * n + q], b.hessian[place[p] * n + place[q]], 1e-10);
        }
        free_answers(&a);
        free_answers(&b);
    }
    if (fits) compare_fits(f, g, place);
    free(place);
    free(point);
    free(same);
    free_fixture(f);
    free_fixture(g);
}

TEST(a_product_of_parameters_is_two_factors)
{
    for (size_t l = 0; l < COUNT(locals); l++) {
        struct fixture f = make_model("", FACTOR("f"), locals[l], FUNCTION("f", "a*b")),
                       g = make_model("", FACTOR("a") FACTOR("b"), locals[l], "");
        compare_models(&f, &g, l < 2); /* free factors of each bin and a have no unique minimum */
    }
}

TEST(another_name_of_a_parameter_is_the_parameter)
{
    for (size_t l = 0; l < COUNT(locals); l++) {
        struct fixture f = make_model(FACTOR("a"), FACTOR("f"), locals[l], FUNCTION("f", "a")),
                       g = make_model(FACTOR("a"), FACTOR("a"), locals[l], "");
        compare_models(&f, &g, l < 2);
    }
}

/* CLs and q by the data, and q's along a direction of them. */
static void differentiate(const struct fixture *f, double *by_data, double *along)
{
    const size_t n = f->n_data;
    double value, turned, *row = make_array(n, sizeof *row), *direction = make_array(n, sizeof *direction);
    paritas_fit_status status;
    const double mu = 1.3;
    memcpy(row, paritas_model_data(f->model), n * sizeof *row);
    for (size_t i = 0; i < f->n_main; i++) direction[i] = 0.3 + 0.1 * (double)(i % 4);
    paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
    options.statistic = PARITAS_STATISTIC_Q;
    const paritas_gradient gradient = {
        .size = sizeof gradient, .values = &value, .statuses = &status, .data = by_data};
    const paritas_gradient second = {.size = sizeof second, .values = &turned, .data = along};
    paritas_gradient_rows rows = PARITAS_GRADIENT_ROWS_DEFAULT;
    rows.n = 1;
    rows.at = &mu;
    rows.data = row;
    rows.directions = direction;
    ASSERT_OK(f->context,
              paritas_differentiate_along(f->context, f->model, &options, NULL, &rows, &gradient, &second));
    assert_int_equal(status, PARITAS_FIT_CONVERGED);
    free(row);
    free(direction);
}

TEST(derivatives_of_statistics_by_the_data_are_the_same)
{
    for (size_t l = 0; l < 2; l++) {
        struct fixture f = make_model("", FACTOR("f"), locals[l], FUNCTION("f", "a*b")),
                       g = make_model("", FACTOR("a") FACTOR("b"), locals[l], "");
        double *one[2], *two[2];
        for (int k = 0; k < 2; k++) {
            one[k] = make_array(f.n_data, sizeof **one);
            two[k] = make_array(f.n_data, sizeof **two);
        }
        differentiate(&f, one[0], one[1]);
        differentiate(&g, two[0], two[1]);
        for (size_t i = 0; i < f.n_main; i++) {
            check("derivative by a datum", one[0][i], two[0][i], 1e-6);
            check("second derivative by a datum", one[1][i], two[1][i], 1e-5);
        }
        for (int k = 0; k < 2; k++) {
            free(one[k]);
            free(two[k]);
        }
        free_fixture(&f);
        free_fixture(&g);
    }
}

TEST(functions_of_functions_are_one_expression)
{
    for (size_t l = 0; l < COUNT(locals); l++) {
        struct fixture f = make_model(FACTOR("f"), FACTOR("g"), locals[l],
                                      FUNCTION("f", "exp(0.1*g)/(1+b)") ", " FUNCTION("g", "a*(1+0.1*c)")),
                       g = make_model(
                           FACTOR("p"), FACTOR("q"), locals[l],
                           FUNCTION("p", "exp(0.1*(a*(1+0.1*c)))/(1+b)") ", " FUNCTION("q", "a*(1+0.1*c)"));
        compare_models(&f, &g, false);
    }
}

TEST(many_arguments_of_many_blocks_are_sums)
{
    char functions[4096] = "", signal[4096] = "";
    size_t at = 0, used = 0;
    for (int k = 0; k < 20; k++) {
        used += (size_t)snprintf(signal + used, sizeof signal - used, FACTOR("f%d"), k);
        at += (size_t)snprintf(functions + at, sizeof functions - at,
                               "%s" FUNCTION("f%d", "a^%d * (1 + b/%d)"), k ? ", " : "", k, k % 4, k + 2);
    }
    struct fixture f = make_model(signal, FACTOR("c"), locals[1], functions);
    double *point = make_array(f.n_parameters, sizeof *point);
    for (size_t p = 0; p < f.n_parameters; p++) point[p] = 0.9 + 0.01 * (double)p;
    check_differences(&f, point, 1e-6);
    free(point);
    free_fixture(&f);
}

/* ---- domains ---- */

TEST(outside_the_domain_of_a_function_there_is_no_likelihood)
{
    static const struct {
        const char *expression;
        double a;
    } cases[] = {{"log(a - 1)", 1.0}, {"log(a - 1)", 0.5}, {"1/(a - 1)", 1.0},  {"sqrt(a - 1)", 0.5},
                 {"(a-1)^-2", 1.0},   {"(a-1)^0.3", 0.5},  {"exp(1e4*a)", 1.0}, {"(a-1)^a", 0.5}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        char function[128];
        snprintf(function, sizeof function, FUNCTION("f", "%s"), cases[k].expression);
        struct fixture f = make_model("", FACTOR("f"), locals[1], function);
        double *point = make_array(f.n_parameters, sizeof *point), value;
        memcpy(point, paritas_model_suggested_init(f.model), f.n_parameters * sizeof *point);
        point[find(&f, "a")] = cases[k].a;
        ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, point, 1, NULL,
                                              SIZED(paritas_evaluate_answers, .twice_nll = &value)));
        if (!isnan(value)) fail_msg("%s is %g", cases[k].expression, value);
        free(point);
        free_fixture(&f);
    }
}

TEST(a_root_has_its_value_at_0)
{
    struct fixture f = make_model("", FACTOR("f"), "", FUNCTION("f", "1 + sqrt(a)"));
    double *point = make_array(f.n_parameters, sizeof *point), value;
    memcpy(point, paritas_model_suggested_init(f.model), f.n_parameters * sizeof *point);
    point[find(&f, "a")] = 0.0;
    ASSERT_OK(f.context, paritas_evaluate(f.context, f.model, 1, point, 1, NULL,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_true(isfinite(value));
    free(point);
    free_fixture(&f);
}

/* ---- documents ---- */

#define AT "measurements[0].config.functions"

static void refuses(const char *functions, const char *message)
{
    char *text = make_text("", FACTOR("f"), STAT("[3, 3, 2]"), functions);
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, text);
    struct hf_spec *spec;
    assert_int_equal(hf_spec_read(&context, document, NULL, NULL, &spec), PARITAS_INVALID_INPUT);
    assert_string_equal(context.message + strlen("test.json: "), message);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
    free(text);
}

TEST(wrong_functions_are_refused_with_their_place)
{
    refuses(FUNCTION("f", "a +"),
            AT "[0].expression: column 4: a number, a name or \"(\" is missing at the end");
    refuses(FUNCTION("f", "abs(a)"),
            AT "[0].expression: column 1: abs has a kink, and fits need smooth functions");
    refuses(FUNCTION("f", "a * nobody"), AT
            "[0].expression: column 5: there is no parameter \"nobody\": no modifier has the name, and the "
            "measurement does not configure it");
    refuses(FUNCTION("f", "a * stat"), AT
            "[0].expression: column 5: \"stat\" is a staterror, with a parameter for each bin, and cannot be "
            "an argument");
    refuses(FUNCTION("f", "g") ", " FUNCTION("g", "a + h") ", " FUNCTION("h", "2*g"),
            AT "[1].expression: a cycle: \"g\" is a function of \"h\" is a function of \"g\"");
    refuses(FUNCTION("f", "f"), AT "[0].expression: a cycle: \"f\" is a function of \"f\"");
    refuses(FUNCTION("f", "a") ", " FUNCTION("f", "b"),
            AT "[1]: the name \"f\" is also that of functions[0]");
    refuses(FUNCTION("a", "b"),
            AT "[0]: \"a\" is a function and cannot be configured as a parameter, as in parameters[0]");
    refuses(FUNCTION("f", "a") ", " FUNCTION("xs", "b"), AT
            "[1]: \"xs\" is a function, so a modifier of this name must be a normfactor; one is a normsys");
    refuses(
        FUNCTION("mu", "a"),
        "measurements[0].config.poi: \"mu\" is a function of others and cannot be the parameter of interest");
    refuses("{\"name\": \"f\"}", AT "[0].expression: is missing");
    refuses("{\"name\": \"f\", \"expression\": 1}", AT "[0].expression: must be a string, found 1");
}

TEST(functions_that_no_modifier_has_are_left_out)
{
    struct fixture f = make_model("", "", "", FUNCTION("unused", "nobody * a"));
    for (size_t p = 0; p < f.n_parameters; p++)
        assert_true(strcmp(paritas_model_parameter_name(f.model, p), "a") != 0);
    free_fixture(&f);
}

TEST(each_measurement_has_its_own_functions)
{
    char *text = make_text("", FACTOR("f"), "", FUNCTION("f", "a*b")), *both = make_array(8192, 1);
    static const char here[] = "}], \"version\"";
    const char *end = strstr(text, here);
    snprintf(
        both, 8192,
        "%.*s}, {\"name\": \"other\", \"config\": {\"poi\": \"mu\", \"parameters\": [{\"name\": \"c\"}], "
        "\"functions\": [" FUNCTION("g", "1") ", " FUNCTION("f", "2*c") "]}%s",
        (int)(end - text), text, end);
    for (int k = 0; k < 3; k++) {
        paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
        options.measurement = k == 1 ? "other" : k == 2 ? "m" : NULL;
        struct fixture f = make_fixture(both, NULL, &options);
        assert_int_equal(f.n_parameters, k == 1 ? 4 : 5);
        find(&f, k == 1 ? "c" : "b");
        free_fixture(&f);
    }
    free(text);
    free(both);
}

static paritas_status make_with_little_memory(paritas_context *context)
{
    char *text = make_text(FACTOR("f"), FACTOR("g"), locals[1], ALL_WORDS);
    paritas_workspace *workspace = NULL, *inspected = NULL;
    paritas_model *model = NULL;
    paritas_status status = paritas_workspace_parse(context, text, strlen(text), "test.json", &workspace);
    if (status == PARITAS_OK) status = paritas_workspace_inspect(context, workspace, &inspected);
    if (status == PARITAS_OK) status = paritas_model_create(context, workspace, NULL, &model);
    paritas_model_free(model);
    paritas_workspace_free(inspected);
    paritas_workspace_free(workspace);
    free(text);
    return status;
}

TEST(every_failure_of_memory_is_reported)
{
    check_every_failure(make_with_little_memory);
}

static char *text_of(paritas_context *context, const paritas_workspace *workspace)
{
    char *text;
    size_t length;
    ASSERT_OK(context, paritas_workspace_write(context, workspace, 0, &text, &length));
    return text;
}

TEST(operations_know_functions)
{
    static const char *const pairs[] = {"a", "new name", "f", "k.2"};
    struct fixture f = make_model("", FACTOR("f"), "", FUNCTION("f", "a*b + exp(c)"));
    paritas_workspace *renamed, *combined;
    const paritas_names names = {pairs, COUNT(pairs)};
    ASSERT_OK(f.context,
              paritas_workspace_rename(f.context, f.workspace,
                                       SIZED(paritas_rename_options, .modifiers = names), &renamed));
    char *text = text_of(f.context, renamed);
    assert_non_null(strstr(text, "\"'new name'*b + exp(c)\""));
    assert_non_null(strstr(text, "\"k.2\""));
    paritas_model *model;
    ASSERT_OK(f.context, paritas_model_create(f.context, renamed, NULL, &model));
    paritas_model_free(model);
    paritas_text_free(f.context, text);
    assert_int_equal(paritas_workspace_combine(f.context, f.workspace, f.workspace, "outer", 0, &combined),
                     PARITAS_OK);
    paritas_workspace_free(combined);
    paritas_workspace_free(renamed);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_and_curvatures_are_differences),
        cmocka_unit_test(a_product_of_parameters_is_two_factors),
        cmocka_unit_test(another_name_of_a_parameter_is_the_parameter),
        cmocka_unit_test(derivatives_of_statistics_by_the_data_are_the_same),
        cmocka_unit_test(functions_of_functions_are_one_expression),
        cmocka_unit_test(many_arguments_of_many_blocks_are_sums),
        cmocka_unit_test(outside_the_domain_of_a_function_there_is_no_likelihood),
        cmocka_unit_test(a_root_has_its_value_at_0),
        cmocka_unit_test(wrong_functions_are_refused_with_their_place),
        cmocka_unit_test(functions_that_no_modifier_has_are_left_out),
        cmocka_unit_test(each_measurement_has_its_own_functions),
        cmocka_unit_test(every_failure_of_memory_is_reported),
        cmocka_unit_test(operations_know_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
