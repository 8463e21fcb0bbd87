/* Every allocation of reading, building, evaluating, fitting and testing fails once, and once with all that
 * follow: each time the answer is PARITAS_OUT_OF_MEMORY, nothing crashes and nothing is left behind. */
#include "fit/family.h"
#include "fit/fit_testing.h"
#include "refusing.h"

static const char *const background =
    "{\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"b\",\"data\":[50.0,40.0,30.0],\"modifiers\":["
    "{\"name\":\"shape\",\"type\":\"histosys\",\"data\":{\"hi_data\":[52.0,41.0,30.0],\"lo_data\":[47.0,40.0,"
    "29.0]}},"
    "{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.9}},"
    "{\"name\":\"stat\",\"type\":\"staterror\",\"data\":[2.0,2.0,1.0]}]},"
    "{\"name\":\"d\",\"data\":[5.0,4.0,3.0],\"modifiers\":["
    "{\"name\":\"lumi\",\"type\":\"lumi\",\"data\":null},"
    "{\"name\":\"own\",\"type\":\"shapesys\",\"data\":[1.0,1.0,0.5]}]}]}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[57.0,45.0,31.0]}],"
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
    "{\"name\":\"lumi\",\"auxdata\":[1.0],\"sigmas\":[0.02],\"inits\":[1.0],\"bounds\":[[0.5,1.5]]}]}}],"
    "\"version\":\"1.0.0\"}";
static const char *const signal_patch = "[{\"op\":\"add\",\"path\":\"/channels/0/samples/"
                                        "-\",\"value\":{\"name\":\"s\",\"data\":[4.0,3.0,2.0],\"modifiers\":["
                                        "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]}}]";

/* How far a run goes, so that late steps need not be reached through all failures of the early ones. */
enum step {
    READ,
    MODEL,
    EVALUATE,
    FIT,
    COVARIANCE,
    MANY_STARTS,
    SCAN,
    INTERVAL,
    CONTOUR,
    HYPOTEST,
    LIMIT,
    RANKING,
    SIGNIFICANCE,
    GOF,
    TOYS,
    TOYS_GOF,
    TOYS_KS,
    DATA,
    COMPATIBILITY,
    TEMPLATES,
    STEPS
};

struct run {
    paritas_context *context;
    paritas_workspace *plain, *patch, *patched;
    paritas_model *model;
    unsigned precision;
};

static paritas_status open_and_read(struct run *run, const struct paritas_allocator *allocator)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.allocator = allocator;
    options.threads = 1;
    options.precision = run->precision;
    paritas_status status = paritas_open(&options, &run->context);
    if (status == PARITAS_OK)
        status = paritas_workspace_parse(run->context, background, strlen(background), "background.json",
                                         &run->plain);
    if (status == PARITAS_OK)
        status = paritas_workspace_parse(run->context, signal_patch, strlen(signal_patch), "patch.json",
                                         &run->patch);
    if (status == PARITAS_OK)
        status = paritas_workspace_patch(run->context, run->plain, run->patch, &run->patched);
    return status;
}

/* A model with templates: its rows, their derivatives, and a statistic that looks at their widths. */
static paritas_status take_templates(struct run *run)
{
    static const paritas_template list[] = {{PARITAS_TEMPLATE_NOMINAL, "c", "b", NULL},
                                            {PARITAS_TEMPLATE_NOMINAL, "c", "d", NULL},
                                            {PARITAS_TEMPLATE_HISTOSYS_UP, "c", "b", "shape"}};
    static double row[32], derivatives[64], points[16];
    static paritas_ranking_entry entries[16] = {PARITAS_INIT(paritas_ranking_entry)};
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    paritas_model *model = NULL;
    paritas_job job = {.size = sizeof(paritas_job), .data = row};
    size_t n;
    options.n_templates = COUNT(list);
    options.templates = list;
    paritas_status status = paritas_model_create(run->context, run->patched, &options, &model);
    if (status != PARITAS_OK) return status;
    const double *init = paritas_model_suggested_init(model);
    status = paritas_model_fill_row(run->context, model, NULL, NULL, row);
    if (status == PARITAS_OK)
        status =
            paritas_data_derivatives(run->context, model, 1, init, NULL, init, derivatives, derivatives + 32);
    if (status == PARITAS_OK)
        status = paritas_expected_pullback(run->context, model, 1, init, row, row, points, derivatives);
    if (status == PARITAS_OK)
        status = paritas_expected_data_of(run->context, model, 1, init, row, derivatives);
    if (status == PARITAS_OK) status = paritas_ranking(run->context, model, &job, entries, &n);
    paritas_model_free(model);
    return status;
}

typedef paritas_status write_data(paritas_context *context, const paritas_model *model,
                                  const paritas_toy_data *data, char **text, size_t *length);

static paritas_status write_and_read(struct run *run, const paritas_toy_data *data, write_data *written)
{
    static const char path[] = "test_fit_memory.data";
    paritas_toy_data *read = NULL;
    char *text = NULL;
    size_t length = 0;
    paritas_status status = written(run->context, run->model, data, &text, &length);
    if (status == PARITAS_OK) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, length, file), length);
        fclose(file);
        status = paritas_toy_data_read(run->context, run->model, path, &read);
        remove(path);
    }
    paritas_text_free(run->context, text);
    paritas_toy_data_free(read);
    return status;
}

/* Toys without fits, written and read. */
static paritas_status take_data(struct run *run)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_toy_data *data = NULL;
    options.n = 3;
    paritas_status status = paritas_generate(run->context, run->model, NULL, NULL, &options, &data);
    if (status == PARITAS_OK) status = write_and_read(run, data, paritas_toy_data_write);
    if (status == PARITAS_OK) status = write_and_read(run, data, paritas_toy_data_pack);
    paritas_toy_data_free(data);
    return status;
}

static paritas_status take_compatibility(struct run *run)
{
    static paritas_compatibility_group groups[2] = {PARITAS_INIT(paritas_compatibility_group)};
    paritas_compatibility_result result = PARITAS_INIT(paritas_compatibility_result);
    paritas_workspace *split = NULL;
    paritas_model *separate = NULL;
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.starts = 1;
    paritas_status status = paritas_workspace_split(run->context, run->patched, NULL, &split);
    if (status == PARITAS_OK) status = paritas_model_create(run->context, split, NULL, &separate);
    if (status == PARITAS_OK)
        status = paritas_compatibility(run->context, run->model, &job, separate, &result, groups);
    paritas_model_free(separate);
    paritas_workspace_free(split);
    return status;
}

static paritas_status take(struct run *run, enum step step)
{
    enum { MANY = 16 };
    static double values[MANY], gradients[MANY * MANY], hessians[MANY * MANY * MANY], parameters[MANY],
        errors[MANY], covariance[MANY * MANY];
    static const double mu[] = {0.5, 1.0, 2.0}, half = 0.5;
    static const size_t first = 0, both[] = {0, 1};
    static paritas_hypotest_result tests[3] = {PARITAS_INIT(paritas_hypotest_result)};
    static paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    static paritas_ranking_entry entries[MANY] = {PARITAS_INIT(paritas_ranking_entry)};
    static paritas_scan_point points[3] = {PARITAS_INIT(paritas_scan_point)};
    static paritas_crossing crossings[4] = {PARITAS_INIT(paritas_crossing)};
    static paritas_interval_part parts[4] = {PARITAS_INIT(paritas_interval_part)};
    static paritas_contour_point edges[4] = {PARITAS_INIT(paritas_contour_point)},
                                 around[64] = {PARITAS_INIT(paritas_contour_point)};
    static paritas_contour_part curves[4] = {PARITAS_INIT(paritas_contour_part)};
    paritas_parameter_state states[MANY];
    paritas_significance_result significance = PARITAS_INIT(paritas_significance_result);
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    static paritas_toys_parameter moments[MANY] = {PARITAS_INIT(paritas_toys_parameter)};
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_toys_result toys_result = PARITAS_INIT(paritas_toys_result);
    paritas_gof_toys_result toys_gof = PARITAS_INIT(paritas_gof_toys_result);
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_fit_starts starts = PARITAS_INIT(paritas_fit_starts);
    paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_context *context = run->context;
    size_t n;
    paritas_status status;
    job.starts = 1; /* each allocation fails once, so that more starts would cost the square */
    switch (step) {
    case READ:
        return PARITAS_OK;
    case MODEL:
        return paritas_model_create(context, run->patched, NULL, &run->model);
    case EVALUATE:
        status = paritas_evaluate(
            context, run->model, 1, paritas_model_suggested_init(run->model), 0, NULL,
            SIZED(paritas_evaluate_answers, .twice_nll = values, .gradient = gradients, .hessian = hessians));
        if (status == PARITAS_OK)
            status = paritas_expected_data(context, run->model, 1, paritas_model_suggested_init(run->model),
                                           values);
        if (status == PARITAS_OK)
            status = paritas_expected_jacobian(context, run->model, paritas_model_suggested_init(run->model),
                                               hessians);
        if (status == PARITAS_OK)
            status = paritas_expected_by_sample(context, run->model, paritas_model_suggested_init(run->model),
                                                values);
        return status;
    case FIT:
        return paritas_fit(context, run->model, NULL, 1, &job,
                           SIZED(paritas_fit_answers, .results = &result));
    case COVARIANCE:
        return paritas_fit(context, run->model, NULL, 1, &job,
                           SIZED(paritas_fit_answers, .results = &result, .parameters = parameters,
                                 .errors = errors, .covariance = covariance, .states = states));
    case MANY_STARTS:
        job.starts = 5;
        return paritas_fit(context, run->model, NULL, 1, &job,
                           SIZED(paritas_fit_answers, .results = &result, .starts = &starts));
    case SCAN:
        return paritas_scan(context, run->model, &job,
                            SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &first,
                                  .n_points = 3, .values = mu, .best = &result, .best_parameters = parameters,
                                  .points = points, .n_levels = 1, .levels = &half, .crossings_room = 4,
                                  .crossings = crossings));
    case INTERVAL:
        return paritas_interval(context, run->model, &job,
                                SIZED(paritas_interval_request, .parameter = first, .n_levels = 1,
                                      .levels = &half, .best = &result, .room = 4, .parts = parts,
                                      .n_parts = &n));
    case CONTOUR:
        return paritas_contour(context, run->model, &job,
                               SIZED(paritas_contour_request, .parameters = both, .n_levels = 1, .levels = mu,
                                     .n_points = 4, .best = &result, .points = edges, .parts_room = 4,
                                     .parts = curves, .n_parts = &n, .edges_room = 64, .edges = around,
                                     .n_edges = &n));
    case HYPOTEST:
        job.starts = 2; /* a search has one more start for each fit */
        return paritas_hypotest(context, run->model, &job, PARITAS_STATISTIC_QTILDE, 3, mu, tests);
    case LIMIT:
        return paritas_limit(
            context, run->model, &job,
            SIZED(paritas_limit_request, .statistic = PARITAS_STATISTIC_QTILDE, .level = 0.05), &limit);
    case RANKING:
        return paritas_ranking(context, run->model, &job, entries, &n);
    case SIGNIFICANCE:
        return paritas_significance(context, run->model, &job, &significance);
    case GOF:
        return paritas_gof(context, run->model, &job, &gof);
    case TOYS:
        toys.n = 40;
        return paritas_toys(context, run->model, &job,
                            SIZED(paritas_toys_request, .flags = PARITAS_TOYS_ERRORS, .parameters = moments),
                            &toys, &toys_result);
    case TOYS_GOF:
        toys.n = 40;
        toys.newton_only = 1;
        return paritas_gof_toys(context, run->model, &job, &toys, &toys_gof, NULL);
    case TOYS_KS:
        toys.n = 40;
        toys.algo = PARITAS_GOF_KS;
        return paritas_gof_toys(context, run->model, &job, &toys, &toys_gof, NULL);
    case DATA:
        return take_data(run);
    case COMPATIBILITY:
        return take_compatibility(run);
    case TEMPLATES:
        return take_templates(run);
    default:
        return PARITAS_INVALID_ARGUMENT;
    }
}

static void close_run(struct run *run)
{
    paritas_model_free(run->model);
    paritas_workspace_free(run->plain);
    paritas_workspace_free(run->patch);
    paritas_workspace_free(run->patched);
    paritas_close(run->context);
}

/* Reads, makes the model where `step` comes after it, then takes `step` with its n-th request refused, n = 1,
 * 2, ..., until none was. */
static void refuse_every_request(enum step step, unsigned precision, bool for_good)
{
    long n = 0;
    for (bool struck = true; struck;) {
        n++;
        struct ledger ledger = {.for_good = for_good};
        struct run run = {.precision = precision};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        ledger.fail_at = step == READ ? n : 0;
        paritas_status status = open_and_read(&run, &allocator);
        if (step > READ) {
            assert_int_equal(status, PARITAS_OK);
            if (step > MODEL) assert_int_equal(take(&run, MODEL), PARITAS_OK);
            ledger.fail_at = ledger.requests + n;
            status = take(&run, step);
        }
        struck = ledger.requests >= ledger.fail_at;
        if (status != (struck ? PARITAS_OUT_OF_MEMORY : PARITAS_OK))
            fail_msg("step %d, request %ld: %s (%s)", (int)step, n, paritas_status_name(status),
                     run.context ? paritas_error_message(run.context) : "no context");
        if (struck && run.context) assert_true(paritas_error_message(run.context)[0] != '\0');
        ledger.fail_at = 0;
        /* the context is still good */
        if (struck && step > MODEL) assert_int_equal(take(&run, step), PARITAS_OK);
        close_run(&run);
        assert_int_equal(ledger.live, 0);
    }
    assert_true(n > 1);
    print_message("step %d: %ld requests refused one by one\n", (int)step, n - 1);
}

TEST(every_request_of_every_step_may_fail)
{
    for (int step = READ; step < STEPS; step++) refuse_every_request((enum step)step, 64, true);
}

TEST(a_request_that_fails_once_is_not_papered_over)
{
    for (int step = READ; step < STEPS; step++) refuse_every_request((enum step)step, 64, false);
}

TEST(every_request_of_single_precision_may_fail)
{
    static const enum step steps[] = {READ, EVALUATE, COVARIANCE};
    for (size_t k = 0; k < COUNT(steps); k++) refuse_every_request(steps[k], 32, true);
}

enum { WIDE = 2200 }; /* parameters: the tables of second derivatives are then made when they are asked for */

/* One bin with WIDE normsys. The caller frees it. */
static char *wide_text(void)
{
    char *text = malloc(128 * (WIDE + 8));
    assert_non_null(text);
    int at = sprintf(text, "{\"channels\":[{\"name\":\"c\",\"samples\":[{\"name\":\"b\",\"data\":[50.0],"
                           "\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}");
    for (int i = 0; i < WIDE; i++)
        at += sprintf(text + at,
                      ",{\"name\":\"n%d\",\"type\":\"normsys\",\"data\":{\"hi\":1.001,\"lo\":0.999}}", i);
    sprintf(text + at,
            "]}]}],\"observations\":[{\"name\":\"c\",\"data\":[57.0]}],\"measurements\":[{\"name\":"
            "\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],\"version\":\"1.0.0\"}");
    return text;
}

struct wide {
    size_t ints;  /* of the tables before anybody asks */
    double value; /* of the fit */
    char digest[72];
};

static struct wide take_wide(const char *text, const struct paritas_allocator *allocator)
{
    struct wide taken;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_job job = PARITAS_JOB_DEFAULT;
    options.allocator = allocator;
    ASSERT_OK(NULL, paritas_open(&options, &context));
    ASSERT_OK(context, paritas_workspace_parse(context, text, strlen(text), "wide.json", &workspace));
    ASSERT_OK(context, paritas_model_create(context, workspace, NULL, &model));
    taken.ints = paritas_model_frozen(model)->tables.n_ints;
    ASSERT_OK(context,
              paritas_fit(context, model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &result)));
    ASSERT_OK(context, paritas_model_digest(context, model, taken.digest));
    taken.value = result.twice_nll;
    paritas_model_free(model);
    paritas_workspace_free(workspace);
    paritas_close(context);
    return taken;
}

/* A caller's own allocator gets everything when the model is made. */
TEST(a_large_model_makes_its_square_late_and_the_same)
{
    struct ledger ledger = {0};
    const paritas_allocator allocator = ledger_allocator(&ledger);
    char *text = wide_text();
    const struct wide late = take_wide(text, NULL), early = take_wide(text, &allocator);
    free(text);
    assert_int_equal(ledger.live, 0);
    assert_true(late.ints < early.ints / 4);
    assert_string_equal(late.digest, early.digest);
    assert_memory_equal(&late.value, &early.value, sizeof late.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_of_every_step_may_fail),
        cmocka_unit_test(a_request_that_fails_once_is_not_papered_over),
        cmocka_unit_test(every_request_of_single_precision_may_fail),
        cmocka_unit_test(a_large_model_makes_its_square_late_and_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
