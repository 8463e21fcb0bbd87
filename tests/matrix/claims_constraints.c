/* claims_constraints.c: the functions of each law of constraints agree: slopes are differences of values,
 * curvatures differences of slopes, and draws have the slopes and curvatures of what they are drawn from. */
#include "device/device.h"
#include "draws.h"
#include "fit/fit_testing.h"
#include "histfactory/modifiers/constraints.h"
#include "matrix/matrix.h"

#include "base/context.h"
#include "base/json/json.h"

/* ---- one model of all laws ---- */

#define NAME_OF(NAME, name, ...) [HF_##NAME] = #name,
static const char *const names[HF_CONSTRAINT_COUNT] = {HF_LAWS_OF_X(NAME_OF) HF_LAWS_OF_Y(NAME_OF)};

enum { FIRST_LAW = HF_UNCONSTRAINED + 1, BINS = 3, TEXT_MOST = 8192 };

static bool is_given(int law)
{
    return (int)hf_constraint_given((hf_constraint)law) == law;
}

/* Next to no rate: what is left of the likelihood are constraints. A law whose numbers are given has a
 * normfactor; a law of y also has a shapefactor, a law of x a staterror. */
static void put_sample(struct text *text, int law)
{
    text_format(text, "%s{\"name\": \"%s\", \"data\": [1e-6, 1e-6, 1e-6], \"modifiers\": [",
                law > FIRST_LAW ? ", " : "", names[law]);
    if (is_given(law))
        text_format(text, "{\"name\": \"one_%s\", \"type\": \"normfactor\", \"data\": null}, ", names[law]);
    if (hf_constraint_kinds[law].row)
        text_format(text, "{\"name\": \"bins_%s\", \"type\": \"shapefactor\", \"data\": null}]}", names[law]);
    else
        text_format(text, "{\"name\": \"bins_%s\", \"type\": \"staterror\", \"data\": [1e-7, 2e-7, 3e-7]}]}",
                    names[law]);
}

static void put_given(struct text *text, int law, const char *parameter, int n)
{
    const bool counts = hf_constraint_kinds[law].datum == HF_COUNT;
    text_format(text, "{\"name\": \"%s_%s\", \"constraint\": {\"type\": \"%s\"%s}, \"auxdata\": [", parameter,
                names[law], hf_constraint_kinds[law].word,
                law == HF_BIFURCATED           ? ", \"offset\": 0.5, \"slope\": 0.7, \"ratio\": 1.8"
                : hf_constraint_kinds[law].row ? ", \"offset\": 0.5, \"slope\": 0.7"
                                               : "");
    for (int k = 0; k < n; k++) text_format(text, "%s%g", k ? ", " : "", counts ? 6.0 - k : 0.3 + 0.1 * k);
    text_format(text, "], \"%s\": [", counts ? "factors" : "sigmas");
    for (int k = 0; k < n; k++) text_format(text, "%s%g", k ? ", " : "", counts ? 5.0 : 0.4);
    text_format(text, "]}, ");
}

static struct fixture make_laws(void)
{
    const paritas_options options = PARITAS_OPTIONS_DEFAULT;
    struct fixture f;
    struct text text;
    assert_int_equal(paritas_open(&options, &f.context), PARITAS_OK);
    text_open(&text, &f.context->allocator);
    text_format(&text, "{\"channels\": [{\"name\": \"a\", \"samples\": [");
    for (int law = FIRST_LAW; law < HF_CONSTRAINT_COUNT; law++) put_sample(&text, law);
    text_format(&text, "]}], \"observations\": [{\"name\": \"a\", \"data\": [0, 0, 0]}], \"measurements\": "
                       "[{\"name\": \"m\", \"config\": {\"poi\": \"\", \"parameters\": [");
    for (int law = FIRST_LAW; law < HF_CONSTRAINT_COUNT; law++) {
        if (is_given(law)) put_given(&text, law, "one", 1);
        if (hf_constraint_kinds[law].row)
            put_given(&text, law, "bins", BINS);
        else
            text_format(&text, "{\"name\": \"bins_%s\", \"constraint\": {\"type\": \"%s\"}}, ", names[law],
                        hf_constraint_kinds[law].word);
    }
    text_format(&text, "{\"name\": \"nothing\"}]}}], \"version\": \"1.0.0\"}");
    ASSERT_OK(f.context,
              paritas_workspace_parse(f.context, text.bytes, text.length, "laws.json", &f.workspace));
    text_free(&text);
    fill_fixture(&f, NULL);
    return f;
}

/* Parameters at which no datum is expected. */
static void at_point(const struct fixture *f, double *point)
{
    for (size_t p = 0; p < f->n_parameters; p++) point[p] = 0.9 + 0.03 * (double)p;
}

/* ---- claims ---- */

static void assert_parameter(const struct fixture *f, size_t p, const char *what, double got, double wanted,
                             double tolerance)
{
    if (fabs(got - wanted) <= tolerance) return;
    fail_msg("%s: the %s is %.9g, and should be %.9g", paritas_model_parameter_name(f->model, p), what, got,
             wanted);
}

/* Central differences of values and of slopes, one parameter after the other. */
CLAIM(slopes_and_curvatures_are_differences)
{
    const struct cell *cell = *state;
    const bool f64 = cell->target->precision == 64;
    const double step = f64 ? 0x1p-13 : 0x1p-8, tolerance = f64 ? 1e-5 : 1e-2;
    paritas_context *context = target_open(cell->target);
    if (!context) skip_absent();
    const uint64_t launches = context->device->launches;
    struct fixture f = make_laws();
    const size_t n = f.n_parameters, rows = 2 * n + 1;
    double *points = make_array(rows * n, sizeof *points), *values = make_array(rows, sizeof *values),
           *slopes = make_array(rows * n, sizeof *slopes), *curvatures = make_array(n * n, sizeof *points);
    for (size_t row = 0; row < rows; row++) at_point(&f, points + row * n);
    for (size_t p = 0; p < n; p++) {
        points[(2 * p) * n + p] += step;
        points[(2 * p + 1) * n + p] -= step;
    }
    ASSERT_OK(context,
              paritas_evaluate(context, f.model, rows, points, 1, NULL,
                               SIZED(paritas_evaluate_answers, .twice_nll = values, .gradient = slopes)));
    ASSERT_OK(context, paritas_evaluate(context, f.model, 1, points + 2 * n * n, 1, NULL,
                                        SIZED(paritas_evaluate_answers, .hessian = curvatures)));
    assert_true(context->device->launches > launches);
    for (size_t p = 0; p < n; p++) {
        const size_t up = 2 * p, down = up + 1;
        assert_parameter(&f, p, "slope", slopes[2 * n * n + p], (values[up] - values[down]) / (2.0 * step),
                         tolerance);
        assert_parameter(&f, p, "curvature", curvatures[p * n + p],
                         (slopes[up * n + p] - slopes[down * n + p]) / (2.0 * step), tolerance);
    }
    free(points);
    free(values);
    free(slopes);
    free(curvatures);
    free_fixture(&f);
    target_close(cell->target, context);
}

/* Over data drawn at a point, the slope there has mean 0, and its variance is the mean curvature. With twice
 * the NLL, twice that. */
CLAIM(draws_have_the_slopes_and_curvatures_of_their_laws)
{
    enum { TOYS = 4000 / SHARE };
    const struct cell *cell = *state;
    paritas_context *context = target_open(cell->target);
    if (!context) skip_absent();
    struct fixture f = make_laws();
    const size_t n = f.n_parameters;
    double *point = make_array(n, sizeof *point), *expected = make_array(f.n_data, sizeof *expected),
           *data = make_array(TOYS * f.n_data, sizeof *data), *slopes = make_array(TOYS * n, sizeof *slopes),
           *curvatures = make_array(TOYS * n * n, sizeof *curvatures);
    at_point(&f, point);
    ASSERT_OK(context, paritas_expected_data(context, f.model, 1, point, expected));
    ASSERT_OK(context,
              draw_toys(context, f.model, &(struct draws){.seed = 11}, expected, f.n_data, TOYS, data));
    ASSERT_OK(context,
              paritas_evaluate(context, f.model, 1, point, TOYS, data,
                               SIZED(paritas_evaluate_answers, .gradient = slopes, .hessian = curvatures)));
    for (size_t p = 0; p < n; p++) {
        double mean = 0.0, square = 0.0, curvature = 0.0;
        for (size_t t = 0; t < TOYS; t++) {
            mean += slopes[t * n + p] / TOYS;
            square += slopes[t * n + p] * slopes[t * n + p] / TOYS;
            curvature += curvatures[(t * n + p) * n + p] / TOYS;
        }
        assert_parameter(&f, p, "mean slope", mean, 0.0, 5.0 * sqrt(2.0 * curvature / TOYS) + 1e-4);
        assert_parameter(&f, p, "variance", square / 2.0, curvature,
                         5.0 * curvature * sqrt(3.0 / TOYS) + 1e-4);
    }
    free(point);
    free(expected);
    free(data);
    free(slopes);
    free(curvatures);
    free_fixture(&f);
    target_close(cell->target, context);
}

static const struct subject all_laws[] = {{"all laws", names}};

static const struct target processors[] = {ON("cpu", 64, 0, .isa = "portable", .lanes = 1),
                                           ON("cpu", 64, 0, .lanes = 1, .threads = 1),
                                           ON("cpu", 64, 0, .lanes = 8, .threads = 1),
                                           ON("cpu", 32, 0, .isa = "portable", .lanes = 1),
                                           ON("cpu", 32, 0, .lanes = 1, .threads = 1),
                                           ON("cpu", 32, 0, .lanes = 16, .threads = 1)},
                           devices_f64[] = {ON(CUDA_TEXT, 64, 7, .turns = TURNS_MIXED), ON("cuda", 64, 0),
                                            ON("opencl", 64, 32)},
                           devices_f32[] = {ON(CUDA_TEXT, 32, 32, .turns = TURNS_MIXED),
                                            ON(METAL_TEXT, 32, 7, .turns = TURNS_MIXED), ON("cuda", 32, 0),
                                            ON("metal", 32, 0), ON("opencl", 32, 32)};

void add_constraints(struct matrix *matrix)
{
    ADD(matrix, slopes_and_curvatures_are_differences, all_laws, 1, processors, COUNT(processors));
    ADD(matrix, slopes_and_curvatures_are_differences, all_laws, 1, devices_f64, COUNT(devices_f64));
    ADD(matrix, slopes_and_curvatures_are_differences, all_laws, 1, devices_f32, COUNT(devices_f32));
    ADD(matrix, draws_have_the_slopes_and_curvatures_of_their_laws, all_laws, 1, processors, 3);
    ADD(matrix, draws_have_the_slopes_and_curvatures_of_their_laws, all_laws, 1, devices_f64,
        COUNT(devices_f64));
}
