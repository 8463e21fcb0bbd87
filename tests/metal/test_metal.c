/* test_metal.c: results of Metal devices are the CPU's in f32, bit by bit. On a Mac with its own device;
 * without one that test is skipped, and elsewhere, where FAKE_METAL names it, by the library that runs the
 * Metal text as native code. */
#include "base/context.h"
#include "device/accelerator.h"
#include "device/metal/metal.h"
#include "draws.h"
#include "fit/profiles.h"
#include "fit/fit_testing.h"
#include "parity/results.h"
#if defined(FAKE_METAL)
#include "flush.h"
#include "metal/metal_fake.h"
#endif

enum { TOYS_PART = RESULTS_PART_COUNT, DRAW_PART, TANGENT_PART, PARTS };
#define BIT(part) (1u << (part))
#define ALL_PARTS (BIT(PARTS) - 1)
/* every entry once */
#define ENTRY_PARTS                                                                           \
    (BIT(RESULTS_EVALUATE) | BIT(RESULTS_EXPECTED) | BIT(RESULTS_FIT) | BIT(RESULTS_LBFGSB) | \
     BIT(RESULTS_DE) | BIT(TOYS_PART) | BIT(DRAW_PART) | BIT(TANGENT_PART))

static paritas_status open_device(const char *name, unsigned workers, paritas_context **context)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = name;
    options.precision = 32;
    options.workers = workers;
    options.threads = options.lanes = 1;
    options.no_polish = 1; /* what f32 answers */
    return paritas_open(&options, context);
}

static void append_bytes(struct results *results, const void *bytes, size_t length)
{
    results->bytes = realloc(results->bytes, results->length + length + 1);
    assert_non_null(results->bytes);
    memcpy(results->bytes + results->length, bytes, length);
    results->length += length;
    results->capacity = results->length + 1;
}

/* Free and conditional fits to data near the expected ones, by the quasi-Newton method first: the points,
 * values and ways that they took. */
static void collect_toys(paritas_context *context, const paritas_model *model, struct results *results)
{
    enum { TOYS = 12 };
    const struct frozen *frozen = paritas_model_frozen(model);
    const size_t main = paritas_model_main_count(model), slots = frozen->n_slots;
    const double *init = paritas_model_suggested_init(model);
    struct profile profiles[TOYS];
    bool usable = false;
    double *expected = calloc(frozen->n_data, sizeof *expected), *data = calloc(frozen->n_data, sizeof *data);
    double *rows = calloc((TOYS + 1) * frozen->n_places, sizeof *rows),
           *matrix = calloc(slots * slots, sizeof *matrix),
           *points = calloc(TOYS * frozen->n_parameters, sizeof *points);
    assert_true(expected && data && rows && matrix && points);
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
    ASSERT_OK(context, profiles_matrix(context, &plan, rows + TOYS * frozen->n_places, matrix, &usable));
    plan.matrix = matrix;
    append_bytes(results, matrix, slots * slots * sizeof *matrix);
    if (usable) ASSERT_OK(context, profiles_fit(context, &plan, TOYS, rows, profiles, points));
    for (size_t t = 0; t < TOYS && usable; t++) {
        const double numbers[] = {
            profiles[t].value_free, profiles[t].value_fixed,        profiles[t].mu_hat,
            profiles[t].edm,        (double)profiles[t].iterations, (double)profiles[t].rung};
        append_bytes(results, numbers, sizeof numbers);
    }
    if (usable) append_bytes(results, points, TOYS * frozen->n_parameters * sizeof *points);
    free(expected);
    free(data);
    free(rows);
    free(matrix);
    free(points);
}

/* The entry that draws, which in f32 hands its data on. */
static void collect_draw(paritas_context *context, const paritas_model *model, struct results *results)
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
static void collect_tangent(paritas_context *context, const paritas_model *model, struct results *results)
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

static struct results collect(paritas_context *context, const paritas_model *model, unsigned part)
{
    struct results results = {0};
    struct paritas_device *host = context->host;
    context->host = context->device; /* for what is found in f64 elsewhere: covariances, toys */
    if (part == TOYS_PART)
        collect_toys(context, model, &results);
    else if (part == DRAW_PART)
        collect_draw(context, model, &results);
    else if (part == TANGENT_PART)
        collect_tangent(context, model, &results);
    else
        assert_true(results_collect(context, model, (enum results_part)part, 7, &results));
    context->host = host;
    return results;
}

/* The parts that have a bit in `parts`, on an opened device, against the CPU's. Answers how many bytes are
 * equal. */
static size_t compare(paritas_context *device, const char *name, const paritas_model *model, unsigned parts)
{
    size_t compared = 0;
    paritas_context *cpu;
    assert_int_equal(open_device("cpu", 0, &cpu), PARITAS_OK);
    for (unsigned part = 0; part < PARTS; part++) {
        if (!(parts >> part & 1)) continue;
        struct results expected = collect(cpu, model, part), got = collect(device, model, part);
        size_t at = 0;
        while (at < expected.length && at < got.length && expected.bytes[at] == got.bytes[at]) at++;
        if (at < expected.length || at < got.length)
            fail_msg("%s, part %u: differs from the CPU at byte %zu of %zu (%zu)", name, part, at,
                     expected.length, got.length);
        compared += at;
        results_free(&expected);
        results_free(&got);
    }
    paritas_close(cpu);
    return compared;
}

static struct fixture random_model(uint64_t seed)
{
    char *text = random_workspace(seed, TRAIT_ALL & ~TRAIT_NO_POI);
    struct fixture f = make_fixture(text, NULL, NULL);
    free(text);
    return f;
}

/* ---- a device of this system -------------------------------------------------------------------- */

TEST(a_metal_device_of_this_system_answers_the_bits_of_the_cpu)
{
    paritas_context *context;
    metal_library = NULL;
    for (unsigned workers = 0; workers <= 64; workers += 32) {
        if (open_device("metal", workers, &context) != PARITAS_OK) {
            print_message("metal: compiled text only (%s)\n", paritas_error_message(context));
            paritas_close(context);
            skip();
        }
        struct fixture f = random_model(200);
        print_message("%s: %zu bytes equal\n", paritas_device_name(context),
                      compare(context, "a random model", f.model, ALL_PARTS));
        free_fixture(&f);
        paritas_close(context);
    }
}

TEST(precision_f64_is_refused_by_a_message_that_names_the_others)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "metal";
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "f64"));
    assert_non_null(strstr(paritas_error_message(context), "f32"));
    assert_non_null(strstr(paritas_error_message(context), "auto"));
    paritas_close(context);
}

#if !defined(__APPLE__)
TEST(a_system_without_metal_is_told_so)
{
    paritas_context *context;
    metal_library = NULL;
    assert_int_equal(open_device("metal:0", 0, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "macOS"));
    paritas_close(context);
}
#endif

/* ---- the text as native code ---------------------------------------------------------------------- */

#if defined(FAKE_METAL)
static paritas_context *open_fake(unsigned workers)
{
    paritas_context *context;
    metal_library = FAKE_METAL;
    if (open_device("metal", workers, &context) != PARITAS_OK) fail_msg("%s", paritas_error_message(context));
    return context;
}

static void close_fake(paritas_context *context)
{
    paritas_close(context);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
}

/* `whole`: every entry must have run. */
static void compare_fake(const struct fixture *f, const char *name, unsigned workers, unsigned parts,
                         bool whole)
{
    paritas_context *context = open_fake(workers);
    const size_t compared = compare(context, name, f->model, parts);
    const struct accelerator *accelerator = context->device->state;
    unsigned loaded = 0;
    unsigned all = 0;
    for (const struct accelerator_module *m = accelerator->modules;
         m < accelerator->modules + ACCELERATOR_MODULES_MAX && m->module; m++)
        for (unsigned k = 0; k < m->module->n_entries; k++) {
            all++;
            loaded += m->kernels[k].function != NULL;
            if (whole && !m->kernels[k].function) print_error("%s was not run\n", m->module->entries[k]);
        }
    print_message("%s, %u workers: %zu bytes equal, %u of %u entries, %lu dispatches\n", name, workers,
                  compared, loaded, all, fake_metal.dispatches);
    if (whole) assert_int_equal(loaded, all);
    assert_true(fake_metal.was_safe);
    close_fake(context);
}

TEST(every_entry_answers_the_bits_of_the_cpu_with_any_number_of_workers_in_any_order)
{
    static const struct {
        unsigned workers;
        enum team_order order;
        unsigned parts;
    } runs[] = {{1, TEAM_ASCENDING, ALL_PARTS},
                {3, TEAM_DESCENDING, ENTRY_PARTS},
                {32, TEAM_TURNING, ENTRY_PARTS},
                {32, TEAM_DESCENDING, BIT(RESULTS_FIT)}};
    struct fixture f = random_model(200);
    for (size_t k = 0; k < COUNT(runs); k++) {
        fake_metal_reset();
        fake_metal.order = runs[k].order;
        compare_fake(&f, "a random model", runs[k].workers, runs[k].parts,
                     (runs[k].parts & ENTRY_PARTS) == ENTRY_PARTS);
    }
    free_fixture(&f);
}

TEST(a_published_analysis_answers_the_bits_of_the_cpu)
{
    struct fixture f;
    fake_metal_reset();
    if (!make_published(&published[0], NULL, &f)) skip();
    compare_fake(&f, published[0].name, 32, BIT(RESULTS_EVALUATE) | BIT(RESULTS_FIT) | BIT(TOYS_PART), false);
    free_fixture(&f);
}

TEST(a_device_that_flushes_subnormal_numbers_answers_the_same_bits)
{
    static const double scales[] = {1e-10, 1e-19, 1e-26, 1e-37, 1e-42};
    if (!FLUSH_IS_KNOWN) skip();
    for (size_t k = 0; k < COUNT(scales) + 2; k++) {
        char *text = k < COUNT(scales) ? tiny_workspace(scales[k]) : random_workspace(200 + k, TRAIT_ALL),
             name[32];
        struct fixture f = make_fixture(text, NULL, NULL);
        snprintf(name, sizeof name, "model %zu", k);
        fake_metal_reset();
        fake_metal.flushes = true;
        compare_fake(&f, name, 3, ENTRY_PARTS, false);
        free_fixture(&f);
        free(text);
    }
}

TEST(precision_auto_is_f32_with_polish)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    fake_metal_reset();
    metal_library = FAKE_METAL;
    options.device = "metal:1";
    options.precision = PARITAS_PRECISION_AUTO;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    assert_string_equal(paritas_device_name(context), "metal:1");
    assert_string_equal(paritas_precision_name(context), "f32");
    assert_string_equal(paritas_polish_name(context), "f64");
    close_fake(context);
}

TEST(polished_fits_scans_and_limits_are_those_that_begin_on_the_cpu)
{
    struct fixture f = random_model(200);
    struct results results[2] = {{0}};
    fake_metal_reset();
    metal_library = FAKE_METAL;
    for (int k = 0; k < 2; k++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        options.device = k ? "metal" : "cpu";
        options.precision = 32;
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        assert_string_equal(paritas_polish_name(context), "f64");
        assert_true(results_collect(context, f.model, RESULTS_FIT, 3, &results[k]));
        assert_true(results_collect(context, f.model, RESULTS_SCAN, 3, &results[k]));
        assert_true(results_collect(context, f.model, RESULTS_LIMIT, 3, &results[k]));
        if (k)
            close_fake(context);
        else
            paritas_close(context);
    }
    assert_true(fake_metal.dispatches > 0);
    assert_int_equal(results[0].length, results[1].length);
    assert_memory_equal(results[0].bytes, results[1].bytes, results[0].length);
    results_free(&results[0]);
    results_free(&results[1]);
    free_fixture(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_metal_device_of_this_system_answers_the_bits_of_the_cpu),
        cmocka_unit_test(precision_f64_is_refused_by_a_message_that_names_the_others),
#if !defined(__APPLE__)
        cmocka_unit_test(a_system_without_metal_is_told_so),
#endif
#if defined(FAKE_METAL)
        cmocka_unit_test(every_entry_answers_the_bits_of_the_cpu_with_any_number_of_workers_in_any_order),
        cmocka_unit_test(a_published_analysis_answers_the_bits_of_the_cpu),
        cmocka_unit_test(a_device_that_flushes_subnormal_numbers_answers_the_same_bits),
        cmocka_unit_test(precision_auto_is_f32_with_polish),
        cmocka_unit_test(polished_fits_scans_and_limits_are_those_that_begin_on_the_cpu),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
