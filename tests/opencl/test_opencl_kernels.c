/* test_opencl_kernels.c: results of OpenCL devices are the CPU's, bit by bit, whatever the size of a
 * work-group. Skipped where there is no OpenCL device; analyses that are not at hand are skipped too.
 * Argument: 32 for the tests in single precision alone; else all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/opencl/opencl.h"
#include "draws.h"
#include "fit/family.h"
#include "opencl/workspace.h"
#include "paritas.h"
#include "sized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST(name) static void name(void **unused __attribute__((unused)))
#define OK(context, call)                                                                    \
    do {                                                                                     \
        if ((call) != PARITAS_OK) fail_msg("%s: %s", #call, paritas_error_message(context)); \
    } while (0)

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

/* A workspace: its text, or a file, which a patch may change. */
struct source {
    const char *name, *text, *file, *patch;
    int normsys_code, histosys_code, clips, templates;
};

static const paritas_template templates[] = {
    {PARITAS_TEMPLATE_NOMINAL, "A", "signal", NULL},
    {PARITAS_TEMPLATE_NOMINAL, "A", "top", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "A", "top", "shape"},
    {PARITAS_TEMPLATE_HISTOSYS_DOWN, "A", "fakes", "shape"},
    {PARITAS_TEMPLATE_NOMINAL, "A", "fakes", NULL},
    {PARITAS_TEMPLATE_NOMINAL, "B", "signal", NULL},
};

/* One model on a device of its own. */
struct bench {
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    size_t parameters, data, main;
};

/* Opens; answers 0 where the device or the file is missing. */
static int open_bench(struct bench *b, const struct source *source, const char *device, unsigned precision,
                      unsigned workers)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.precision = precision;
    options.workers = workers;
    options.threads = 1;
    options.lanes = 1;
    options.cache = getenv("PARITAS_CACHE"); /* a kernel is compiled once for all these tests */
    *b = (struct bench){.context = NULL};
    const paritas_status status = paritas_open(&options, &b->context);
    if (status == PARITAS_NO_DEVICE && device) {
        print_message("%s\n", paritas_error_message(b->context));
        paritas_close(b->context);
        return 0;
    }
    OK(b->context, status);
    if (source->text)
        OK(b->context, paritas_workspace_parse(b->context, source->text, strlen(source->text), source->name,
                                               &b->workspace));
    else if (paritas_workspace_read(b->context, source->file, &b->workspace) != PARITAS_OK) {
        print_message("%s\n", paritas_error_message(b->context));
        paritas_close(b->context);
        return 0;
    }
    if (source->patch) {
        paritas_workspace *patch, *patched;
        OK(b->context, paritas_workspace_read(b->context, source->patch, &patch));
        OK(b->context, paritas_workspace_patch(b->context, b->workspace, patch, &patched));
        paritas_workspace_free(patch);
        paritas_workspace_free(b->workspace);
        b->workspace = patched;
    }
    paritas_model_options model = PARITAS_MODEL_OPTIONS_DEFAULT;
    model.normsys_code = source->normsys_code;
    model.histosys_code = source->histosys_code;
    model.clip_sample = model.clip_bin = source->clips;
    model.clip_sample_at = 1.5;
    model.clip_bin_at = 6.0;
    model.n_templates = source->templates ? sizeof templates / sizeof *templates : 0;
    model.templates = templates;
    OK(b->context, paritas_model_create(b->context, b->workspace, &model, &b->model));
    b->parameters = paritas_model_parameter_count(b->model);
    b->main = paritas_model_main_count(b->model);
    b->data = b->main + paritas_model_aux_count(b->model) + paritas_model_template_count(b->model);
    return 1;
}

static void close_bench(struct bench *b)
{
    paritas_model_free(b->model);
    paritas_workspace_free(b->workspace);
    paritas_close(b->context);
}

static double *numbers(size_t n)
{
    double *p = test_malloc((n + 1) * sizeof *p);
    memset(p, 0, (n + 1) * sizeof *p);
    return p;
}

/* memcmp, and which number differs */
static void assert_bits(const char *what, const double *got, const double *expected, size_t n)
{
    if (memcmp(got, expected, n * sizeof *got) == 0) return;
    size_t differ = 0, first = n;
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &expected[i], sizeof got[i]) != 0) {
            if (first == n) first = i;
            differ++;
        }
    fail_msg("%s: %zu of %zu differ, first [%zu]: %.17g is not the CPU's %.17g", what, differ, n, first,
             got[first], expected[first]);
}

/* Fills what the next launch works in with NaN: nothing may be read that this launch has not written. */
static void spoil_memory(const struct bench *b)
{
    if (b->context->device->operations != &DEVICE_KIND(PARITAS_DEVICE_OPENCL)) return;
    struct accelerator *accelerator = b->context->device->state;
    struct accelerator_buffer *const buffers[] = {&accelerator->slabs, &accelerator->out};
    const size_t bytes = (size_t)16 << 20;
    char *spoilt = malloc(bytes);
    assert_non_null(spoilt);
    memset(spoilt, 0xff, bytes);
    for (size_t k = 0; k < 2; k++) {
        if (buffers[k]->memory) accelerator->operations->release(accelerator, buffers[k]->memory);
        assert_int_equal(accelerator->operations->allocate(accelerator, bytes, &buffers[k]->memory), 0);
        assert_int_equal(accelerator->operations->write(accelerator, buffers[k]->memory, spoilt, bytes), 0);
        buffers[k]->bytes = bytes;
    }
    free(spoilt);
}

/* ---- what is compared ---- */

#define POINTS 3

/* The suggested start, and points away from it, inside the bounds. */
static double *points_of(const struct bench *b)
{
    double *points = numbers(POINTS * b->parameters);
    uint64_t seed = 12345;
    for (size_t k = 0; k < POINTS; k++)
        for (size_t p = 0; p < b->parameters; p++) {
            const double init = paritas_model_suggested_init(b->model)[p],
                         lower = paritas_model_lower_bounds(b->model)[p],
                         upper = paritas_model_upper_bounds(b->model)[p];
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double u = (double)(seed >> 11) * 0x1p-53 - 0.5;
            double x = init + (double)k * u * (init == 0.0 ? 1.7 : 0.3);
            if (x < lower) x = lower;
            if (x > upper) x = upper;
            points[k * b->parameters + p] = x;
        }
    return points;
}

struct values {
    double *nll, *gradient, *hessian, *expected, *jacobian, *by_sample;
    size_t n_by_sample;
};

static struct values evaluate(const struct bench *b)
{
    const size_t n = b->parameters;
    double *points = points_of(b), *data = numbers(2 * b->data);
    memcpy(data, paritas_model_data(b->model), b->data * sizeof *data);
    OK(b->context, paritas_expected_data(b->context, b->model, 1, points, data + b->data));
    for (size_t i = 2 * b->data - paritas_model_template_count(b->model); i < 2 * b->data; i++)
        data[i] *= 1.0 + 0.01 * (double)(i % 7);
    struct values v = {.n_by_sample = 0};
    for (size_t c = 0; c < paritas_model_channel_count(b->model); c++)
        v.n_by_sample += paritas_model_channel_bins(b->model, c) * paritas_model_sample_count(b->model, c);
    v.nll = numbers(2 * POINTS);
    v.gradient = numbers(2 * POINTS * n);
    v.hessian = numbers(2 * n * n);
    v.expected = numbers(POINTS * b->data);
    v.jacobian = numbers(b->main * n);
    v.by_sample = numbers(v.n_by_sample);
    spoil_memory(b);
    OK(b->context, paritas_evaluate(b->context, b->model, POINTS, points, 2, data, v.nll, v.gradient, NULL));
    spoil_memory(b);
    OK(b->context, paritas_evaluate(b->context, b->model, 2, points + n, 0, NULL, NULL, NULL, v.hessian));
    spoil_memory(b);
    OK(b->context, paritas_expected_data(b->context, b->model, POINTS, points, v.expected));
    OK(b->context, paritas_expected_jacobian(b->context, b->model, points + n, v.jacobian));
    OK(b->context, paritas_expected_by_sample(b->context, b->model, points + n, v.by_sample));
    test_free(points);
    test_free(data);
    return v;
}

static void free_values(struct values *v)
{
    double *const all[] = {v->nll, v->gradient, v->hessian, v->expected, v->jacobian, v->by_sample};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) test_free(all[k]);
}

#define TOYS 40

/* Toys around the expected data of a point; auxiliary data drawn and as they are. */
static double *draw(const struct bench *b)
{
    const struct draws draws = {.first_toy = 0xfffffff0, .seed = 0x0123456789abcdef, .purpose = 7};
    struct draws fixed = draws;
    fixed.fixed_aux = 1;
    double *points = points_of(b), *expected = numbers(b->data), *toys = numbers(2 * TOYS * b->data);
    OK(b->context, paritas_expected_data(b->context, b->model, 1, points, expected));
    spoil_memory(b);
    OK(b->context, draw_toys(b->context, b->model, &draws, expected, b->data, TOYS, toys));
    spoil_memory(b);
    OK(b->context, draw_toys(b->context, b->model, &fixed, expected, b->data, TOYS, toys + TOYS * b->data));
    test_free(points);
    test_free(expected);
    return toys;
}

#define JOBS 4

struct fits {
    paritas_fit_result results[JOBS];
    double *parameters, *errors, *covariance;
};

/* The suggested fit, one with the POI fixed, one from elsewhere, one whose steps meet many bounds; with
 * errors and covariance where `all` is set. */
static struct fits fit(const struct bench *b, paritas_minimizer minimizer, unsigned iterations, int all)
{
    const size_t n = b->parameters;
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.max_iterations = iterations;
    options.minimizer = minimizer;
    double *points = points_of(b), *start = numbers(n), *lower = numbers(n), *upper = numbers(n);
    unsigned char *fixed = test_malloc(n);
    memcpy(start, points, n * sizeof *start);
    memcpy(fixed, paritas_model_suggested_fixed(b->model), n);
    const ptrdiff_t poi = paritas_model_poi_index(b->model);
    if (poi >= 0) {
        fixed[poi] = 1;
        start[poi] = 0.7;
    }
    for (size_t p = 0; p < n; p++)
        if (paritas_model_suggested_fixed(b->model)[p]) points[n + p] = points[p];
    for (size_t p = 0; p < n; p++) {
        lower[p] = fmax(points[p] - 0.02, paritas_model_lower_bounds(b->model)[p]);
        upper[p] = fmin(points[p] + 0.02, paritas_model_upper_bounds(b->model)[p]);
    }
    const paritas_job jobs[JOBS] = {PARITAS_JOB_DEFAULT,
                                    {.size = sizeof(paritas_job), .start = start, .fixed = fixed},
                                    {.size = sizeof(paritas_job), .start = points + n},
                                    {.size = sizeof(paritas_job), .lower = lower, .upper = upper}};
    struct fits f = {.results = {PARITAS_INIT(paritas_fit_result)},
                     .parameters = numbers(JOBS * n),
                     .errors = numbers(JOBS * n),
                     .covariance = numbers(JOBS * n * n)};
    spoil_memory(b);
    OK(b->context,
       paritas_fit(b->context, b->model, &options, JOBS, jobs,
                   SIZED(paritas_fit_answers, .results = f.results, .parameters = f.parameters,
                         .errors = all ? f.errors : NULL, .covariance = all ? f.covariance : NULL)));
    test_free(points);
    test_free(start);
    test_free(lower);
    test_free(upper);
    test_free(fixed);
    return f;
}

static void free_fits(struct fits *f)
{
    test_free(f->parameters);
    test_free(f->errors);
    test_free(f->covariance);
}

static void compare_values(const struct bench *ours, const struct values *expected)
{
    struct values got = evaluate(ours);
    assert_bits("twice the NLL", got.nll, expected->nll, 2 * POINTS);
    assert_bits("gradient", got.gradient, expected->gradient, 2 * POINTS * ours->parameters);
    assert_bits("Hessian", got.hessian, expected->hessian, 2 * ours->parameters * ours->parameters);
    assert_bits("expected data", got.expected, expected->expected, POINTS * ours->data);
    assert_bits("Jacobian", got.jacobian, expected->jacobian, ours->main * ours->parameters);
    assert_bits("expected data by sample", got.by_sample, expected->by_sample, got.n_by_sample);
    free_values(&got);
}

static void compare_fits(const struct bench *ours, const struct fits *expected, paritas_minimizer minimizer,
                         unsigned iterations, int all)
{
    const size_t n = ours->parameters;
    struct fits got = fit(ours, minimizer, iterations, all);
    for (size_t k = 0; k < JOBS; k++) {
        assert_int_equal(got.results[k].status, expected->results[k].status);
        assert_int_equal(got.results[k].iterations, expected->results[k].iterations);
        assert_bits("minimum", &got.results[k].twice_nll, &expected->results[k].twice_nll, 1);
        assert_bits("EDM", &got.results[k].edm, &expected->results[k].edm, 1);
        assert_bits("projected gradient", &got.results[k].projected_gradient,
                    &expected->results[k].projected_gradient, 1);
    }
    assert_bits("fitted parameters", got.parameters, expected->parameters, JOBS * n);
    if (all) {
        assert_bits("errors", got.errors, expected->errors, JOBS * n);
        assert_bits("covariance", got.covariance, expected->covariance, JOBS * n * n);
    }
    free_fits(&got);
}

/* A driver may take half a minute to compile the fit for one size: fits run in the first two, and f32 knows
 * no others, where PARITAS_LONG_TESTS is not set; the last two are for that alone. */
static const unsigned groups[] = {1, 32, 7, 64, 256};

/* Everything that a model answers, on the CPU with one lane and on OpenCL with several sizes of
 * work-groups. */
static void compare_devices(const struct source *source, unsigned precision)
{
    struct bench reference;
    if (!open_bench(&reference, source, NULL, precision, 0)) skip();
    struct values values = evaluate(&reference);
    double *toys = source->templates ? NULL : draw(&reference); /* models with templates draw none */
    struct fits one = fit(&reference, PARITAS_MINIMIZER_NEWTON, 1, 0),
                whole = fit(&reference, PARITAS_MINIMIZER_NEWTON, 0, 1),
                other = fit(&reference, PARITAS_MINIMIZER_LBFGSB, 0, 0);
    int compared = 0;
    const int all = getenv("PARITAS_LONG_TESTS") != NULL;
    for (size_t g = 0; g < (all ? 5 : precision == 64 ? 3 : 2); g++) {
        struct bench ours;
        if (!open_bench(&ours, source, "opencl", precision, groups[g])) break;
        compare_values(&ours, &values);
        double *ours_drawn = toys ? draw(&ours) : NULL;
        if (toys) assert_bits("toys", ours_drawn, toys, 2 * TOYS * ours.data);
        test_free(ours_drawn);
        if (g < 2 || all) {
            compare_fits(&ours, &one, PARITAS_MINIMIZER_NEWTON, 1, 0);
            compare_fits(&ours, &other, PARITAS_MINIMIZER_LBFGSB, 0, 0);
            if (precision == 64) { /* covariances too, which otherwise run on the CPU */
                device_close(ours.context->host);
                ours.context->host = ours.context->device;
            }
            compare_fits(&ours, &whole, PARITAS_MINIMIZER_NEWTON, 0, 1);
        }
        close_bench(&ours);
        compared++;
    }
    free_values(&values);
    test_free(toys);
    free_fits(&one);
    free_fits(&whole);
    free_fits(&other);
    close_bench(&reference);
    if (compared == 0) skip();
}

static const struct source small = {.name = "small.json", .text = small_workspace};

/* ---- toys ---- */

#define TESTED 200

struct kept {
    paritas_toy rows[2 * TESTED];
    size_t n;
};

static int keep(void *user, size_t n, const paritas_toy *toys)
{
    struct kept *kept = user;
    assert_true(kept->n + n <= 2 * TESTED);
    memcpy(kept->rows + kept->n, toys, n * sizeof *toys);
    kept->n += n;
    return 0;
}

static paritas_hypotest_toys_result run_toys(const struct bench *b, paritas_test_statistic statistic,
                                             struct kept *kept)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    options.n = TESTED;
    options.seed = 12;
    options.take = keep;
    options.user = kept;
    kept->n = 0;
    OK(b->context, paritas_hypotest_toys(b->context, b->model, NULL, statistic, 1.0, &options, &result));
    assert_int_equal(kept->n, 2 * TESTED);
    return result;
}

/* Toys by quasi-Newton on the device; what that does not finish is Newton's, on the CPU. In f32 all of it
 * is. */
static void compare_toys(paritas_test_statistic statistic, unsigned precision)
{
    struct bench reference;
    struct kept *wanted = test_malloc(sizeof *wanted), *got = test_malloc(sizeof *got);
    int compared = 0;
    assert_true(open_bench(&reference, &small, NULL, precision, 0));
    const paritas_hypotest_toys_result expected = run_toys(&reference, statistic, wanted);
    assert_true(expected.tally.by_quasi_newton > TESTED / 2);
    for (size_t g = 0; g < (getenv("PARITAS_LONG_TESTS") ? 5 : 2); g++) {
        struct bench ours;
        if (!open_bench(&ours, &small, "opencl", precision, groups[g])) break;
        const uint64_t launches = ours.context->device->launches;
        const paritas_hypotest_toys_result result = run_toys(&ours, statistic, got);
        assert_true(precision == 32 || ours.context->device->launches > launches + 3);
        for (size_t i = 0; i < 2 * TESTED; i++)
            if (memcmp(&got->rows[i], &wanted->rows[i], sizeof wanted->rows[i]) != 0)
                fail_msg("work-groups of %u: toy %llu of %g has q = %.17g after %u iterations, on the CPU "
                         "%.17g after %u",
                         groups[g], (unsigned long long)got->rows[i].toy, got->rows[i].hypothesis,
                         got->rows[i].q, got->rows[i].iterations, wanted->rows[i].q,
                         wanted->rows[i].iterations);
        assert_bits("CLs", &result.cls_obs, &expected.cls_obs, 1);
        assert_bits("expected CLs", result.cls_exp, expected.cls_exp, 5);
        assert_memory_equal(&result.tally, &expected.tally, sizeof result.tally);
        close_bench(&ours);
        compared++;
    }
    close_bench(&reference);
    test_free(wanted);
    test_free(got);
    if (compared == 0) skip();
}

TEST(toys_are_the_cpus)
{
    compare_toys(PARITAS_STATISTIC_QTILDE, 64);
}

TEST(toys_in_single_precision_are_the_cpus)
{
    compare_toys(PARITAS_STATISTIC_QTILDE, 32);
}

TEST(small_model)
{
    compare_devices(&small, 64);
}

TEST(other_interpolation_and_clipping)
{
    compare_devices(&(struct source){.name = "small.json",
                                     .text = small_workspace,
                                     .normsys_code = 1,
                                     .histosys_code = PARITAS_HISTOSYS_CODE_0},
                    64);
    compare_devices(&(struct source){.name = "small.json",
                                     .text = small_workspace,
                                     .histosys_code = PARITAS_HISTOSYS_CODE_2,
                                     .clips = 1},
                    64);
}

TEST(templates_in_data_rows)
{
    compare_devices(&(struct source){.name = "small.json", .text = small_workspace, .templates = 1}, 64);
}

TEST(single_precision)
{
    compare_devices(&small, 32);
    compare_devices(&(struct source){.name = "small.json", .text = small_workspace, .templates = 1}, 32);
}

#define SHIPPED PARITAS_SOURCE_DIR "/examples/sbottom_A/"
#define SHARED PARITAS_SOURCE_DIR "/../shared/workspaces/"

TEST(sbottom)
{
    compare_devices(
        &(struct source){.file = SHIPPED "BkgOnly.json", .patch = SHIPPED "patch.sbottom_900_250_60.json"},
        64);
}

TEST(displaced_leptons)
{
    compare_devices(&(struct source){.file = SHARED "displaced_leptons_signal.json"}, 64);
}

TEST(tHu)
{
    compare_devices(&(struct source){.file = SHARED "tHu_FCNC.json"}, 64);
}

/* ---- what may go wrong ---- */

static size_t largest_allowed;
static opencl_memory (*create_buffer)(opencl_context, uint64_t, size_t, void *, opencl_code *);

static opencl_memory create_small_buffer(opencl_context context, uint64_t flags, size_t bytes, void *host,
                                         opencl_code *code)
{
    if (bytes <= largest_allowed) return create_buffer(context, flags, bytes, host, code);
    *code = OPENCL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

/* Where slabs do not fit, fewer teams run at once; where not even one does, that is said. */
TEST(memory_runs_out)
{
    struct bench b;
    if (!open_bench(&b, &small, "opencl", 64, 8)) skip();
    struct accelerator *accelerator = b.context->device->state;
    struct opencl_state *state = accelerator->state;
    const size_t rows = 9;
    double *points = numbers(rows * b.parameters), *plenty = numbers(rows), *little = numbers(rows);
    for (size_t i = 0; i < rows * b.parameters; i++)
        points[i] =
            paritas_model_suggested_init(b.model)[i % b.parameters] + 0.001 * (double)(i / b.parameters);
    b.context->device->teams = 16;
    OK(b.context, paritas_evaluate(b.context, b.model, rows, points, 0, NULL, plenty, NULL, NULL));
    assert_true(accelerator->teams_at_once > 3);
    const size_t slab = accelerator->slabs.bytes / accelerator->teams_at_once;
    create_buffer = state->api.clCreateBuffer;
    state->api.clCreateBuffer = create_small_buffer;
    largest_allowed = 3 * slab;
    state->api.clReleaseMemObject(accelerator->slabs.memory);
    accelerator->slabs = (struct accelerator_buffer){NULL, 0};
    OK(b.context, paritas_evaluate(b.context, b.model, rows, points, 0, NULL, little, NULL, NULL));
    assert_true(accelerator->teams_at_once <= 3);
    assert_bits("twice the NLL", little, plenty, rows);
    largest_allowed = slab - 1;
    state->api.clReleaseMemObject(accelerator->slabs.memory);
    accelerator->slabs = (struct accelerator_buffer){NULL, 0};
    assert_int_equal(paritas_evaluate(b.context, b.model, rows, points, 0, NULL, little, NULL, NULL),
                     PARITAS_OUT_OF_MEMORY);
    assert_non_null(strstr(paritas_error_message(b.context), "opencl:0"));
    test_free(points);
    test_free(plenty);
    test_free(little);
    close_bench(&b);
}

static opencl_code tell_four(opencl_kernel kernel, opencl_device device, uint32_t what, size_t room,
                             void *value, size_t *size)
{
    (void)kernel, (void)device, (void)what, (void)room, (void)size;
    *(size_t *)value = 4;
    return 0;
}

/* An entry that a device can run in small work-groups only gets one, unless the size was asked for. */
TEST(work_group_too_large_for_an_entry)
{
    struct bench b;
    if (!open_bench(&b, &small, "opencl", 64, 16)) skip();
    struct accelerator *accelerator = b.context->device->state;
    struct opencl_state *state = accelerator->state;
    const struct paritas_family *family = paritas_model_frozen(b.model)->family;
    /* behind the self-test's module */
    const struct accelerator_kernel *kernel = &accelerator->modules[1].kernels[family->expected];
    double *data = numbers(b.data);
    state->api.clGetKernelWorkGroupInfo = tell_four;
    assert_int_equal(
        paritas_expected_data(b.context, b.model, 1, paritas_model_suggested_init(b.model), data),
        PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(b.context), "at most 4 for hf_expected"));
    assert_null(kernel->function);
    b.context->device->workers = 0;
    accelerator->properties.workers = 16;
    OK(b.context, paritas_expected_data(b.context, b.model, 1, paritas_model_suggested_init(b.model), data));
    assert_int_equal(kernel->workers, 4);
    test_free(data);
    close_bench(&b);
}

static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    *(uint64_t *)user = done;
    return done < total;
}

TEST(cancelled)
{
    struct bench b;
    if (!open_bench(&b, &small, "opencl", 64, 1)) skip();
    uint64_t done = 0;
    b.context->progress = stop_at_once;
    b.context->progress_user = &done;
    const size_t rows = 200;
    double *points = numbers(rows * b.parameters), *nll = numbers(rows);
    for (size_t i = 0; i < rows * b.parameters; i++)
        points[i] = paritas_model_suggested_init(b.model)[i % b.parameters];
    b.context->device->teams = 1;
    assert_int_equal(paritas_evaluate(b.context, b.model, rows, points, 0, NULL, nll, NULL, NULL),
                     PARITAS_CANCELLED);
    assert_true(done > 0 && done < rows);
    test_free(points);
    test_free(nll);
    close_bench(&b);
}

/* A model is uploaded once and stays, an entry is built once. */
TEST(counted)
{
    struct bench b;
    if (!open_bench(&b, &small, "opencl:0", 64, 0)) skip();
    paritas_release(&b.context->allocator, b.context->cache);
    b.context->cache = NULL;
    double nll;
    OK(b.context, paritas_evaluate(b.context, b.model, 1, paritas_model_suggested_init(b.model), 0, NULL,
                                   &nll, NULL, NULL));
    OK(b.context, paritas_evaluate(b.context, b.model, 1, paritas_model_suggested_init(b.model), 0, NULL,
                                   &nll, NULL, NULL));
    assert_int_equal(b.context->device->uploads, 1);
    assert_int_equal(b.context->device->builds, 1);
    assert_int_equal(b.context->device->launches, 2);
    assert_string_equal(paritas_device_name(b.context), "opencl:0");
    assert_true(strlen(b.context->device->operations->describe(b.context->device)) > 0);
    close_bench(&b);
}

TEST(no_such_device)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "opencl:999";
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "OpenCL"));
    paritas_close(context);
}

TEST(work_group_too_large)
{
    struct bench b;
    if (!open_bench(&b, &small, "opencl", 64, 0)) skip();
    close_bench(&b);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "opencl";
    options.workers = 1u << 30;
    assert_int_equal(paritas_open(&options, &context), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "workers"));
    paritas_close(context);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest singles[] = {cmocka_unit_test(single_precision),
                                         cmocka_unit_test(toys_in_single_precision_are_the_cpus)};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(small_model),
        cmocka_unit_test(toys_are_the_cpus),
        cmocka_unit_test(other_interpolation_and_clipping),
        cmocka_unit_test(templates_in_data_rows),
        cmocka_unit_test(sbottom),
        cmocka_unit_test(displaced_leptons),
        cmocka_unit_test(tHu),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(counted),
        cmocka_unit_test(no_such_device),
        cmocka_unit_test(work_group_too_large),
        cmocka_unit_test(work_group_too_large_for_an_entry),
    };
    if (count > 1 && strcmp(arguments[1], "32") == 0) return cmocka_run_group_tests(singles, NULL, NULL);
    return cmocka_run_group_tests(others, NULL, NULL);
}
