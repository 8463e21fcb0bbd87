/* test_model_refusals.c: descriptions that are wrong are refused with the reason, what a model cannot answer
 * it refuses, and memory that runs out is no crash. */
#include "model/models.h"
#include "device/kernel_module.h"

static void refuse(paritas_model_description d, paritas_status wanted, const char *part)
{
    paritas_context *context;
    paritas_model *model = NULL;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    assert_int_equal(paritas_model_define(context, &d, &model), wanted);
    assert_null(model);
    if (!strstr(paritas_error_message(context), part))
        fail_msg("'%s' does not say '%s'", paritas_error_message(context), part);
    paritas_close(context);
}

TEST(a_description_must_fit_its_kernels)
{
    paritas_model_description d = onoff_description();
    d.kernels = &paritas_model_decay;
    refuse(d, PARITAS_INVALID_ARGUMENT, "kernels of model 'decay' have 1 parameters, the description 3");
    struct paritas_kernels old = paritas_model_onoff;
    old.api++;
    d.kernels = &old;
    refuse(d, PARITAS_INVALID_ARGUMENT, "another version");
    d.kernels = NULL;
    refuse(d, PARITAS_INVALID_ARGUMENT, "without kernels");
}

TEST(what_is_wrong_in_a_description_is_named)
{
    static const char *const twice[] = {"signal", "background", "signal"};
    static const double high[] = {0.0, 2000.0, 0.0}, far[] = {1.0, 1.0, INFINITY},
                        negative[] = {25.0, -1.0, 0.8}, thin[] = {NAN, 0.0, NAN}, sigmas[] = {-1.0, 0.0},
                        none[] = {1.0, 0.0, NAN, 4.0};
    const paritas_model_description good = onoff_description();
    paritas_model_description d = good;
    d.names = twice;
    refuse(d, PARITAS_INVALID_ARGUMENT, "names[2]: 'signal' is also names[0]");
    d = good;
    d.lower = high;
    refuse(d, PARITAS_INVALID_ARGUMENT, "bounds of background");
    d = good;
    d.upper = far;
    refuse(d, PARITAS_INVALID_ARGUMENT, "bounds of efficiency");
    d = good;
    d.init = far;
    refuse(d, PARITAS_INVALID_ARGUMENT, "init of efficiency");
    d = good;
    d.constraint_widths = thin;
    refuse(d, PARITAS_INVALID_ARGUMENT, "constraint width of background");
    d = good;
    d.data = negative;
    refuse(d, PARITAS_INVALID_ARGUMENT, "data[1]");
    d = good;
    d.sigmas = sigmas;
    refuse(d, PARITAS_INVALID_ARGUMENT, "sigmas[0]");
    d = good;
    d.reals = none;
    refuse(d, PARITAS_INVALID_ARGUMENT, "reals[2]");
    d = good;
    d.reals = NULL;
    refuse(d, PARITAS_INVALID_ARGUMENT, "without reals");
    d = good;
    d.n_parameters = 0;
    refuse(d, PARITAS_INVALID_ARGUMENT, "0 parameters");
    d = good;
    d.n_main = 0;
    refuse(d, PARITAS_INVALID_ARGUMENT, "0 main data");
    d = good;
    d.poi = "mu";
    refuse(d, PARITAS_NOT_FOUND, "'mu'");
    d = good;
    d.terms = 1;
    d.sigmas = sigmas;
    refuse(d, PARITAS_INVALID_ARGUMENT, "sigmas");
}

TEST(measurements_may_be_negative_and_counts_may_not)
{
    static const double sigmas[] = {0.0, 2.0}, below[] = {-1.0, -3.0, 0.8}, above[] = {25.0, -3.0, 0.8},
                        point[] = {1.0, 2.0, 0.8};
    paritas_model_description d = onoff_description();
    d.sigmas = sigmas;
    d.data = above;
    struct custom c = make_custom(NULL, d);
    double value;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_job job = {.size = sizeof(paritas_job), .data = below};
    ASSERT_OK(c.context, paritas_evaluate(c.context, c.model, 1, point, 1, above,
                                          SIZED(paritas_evaluate_answers, .twice_nll = &value)));
    assert_int_equal(paritas_evaluate(c.context, c.model, 1, point, 1, below,
                                      SIZED(paritas_evaluate_answers, .twice_nll = &value)),
                     PARITAS_INVALID_ARGUMENT);
    ASSERT_OK(c.context,
              paritas_fit(c.context, c.model, NULL, 1, &job, SIZED(paritas_fit_answers, .results = &result)));
    assert_int_equal(result.status, PARITAS_FIT_NON_FINITE);
    free_custom(&c);
}

TEST(a_model_of_ones_own_has_no_channels)
{
    struct custom c = make_custom(NULL, onoff_description());
    double row[3];
    assert_int_equal(paritas_model_channel_count(c.model), 0);
    assert_null(paritas_model_channel_name(c.model, 0));
    assert_int_equal(paritas_model_channel_bins(c.model, 0), 0);
    assert_int_equal(paritas_model_sample_count(c.model, 0), 0);
    assert_null(paritas_model_sample_name(c.model, 0, 0));
    assert_int_equal(paritas_expected_by_sample(c.context, c.model, onoff_init, row),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(c.context), "model 'onoff' has no samples"));
    assert_int_equal(paritas_model_main_count(c.model), 2);
    assert_int_equal(paritas_model_aux_count(c.model), 1);
    assert_int_equal(paritas_model_poi_index(c.model), 0);
    assert_string_equal(paritas_model_parameter_name(c.model, 2), "efficiency");
    assert_null(paritas_model_parameter_name(c.model, 3));
    free_custom(&c);
}

TEST(terms_can_be_fitted_and_scanned_but_neither_expected_nor_drawn)
{
    paritas_model_description d = decay_description();
    d.poi = "lifetime";
    struct custom c = make_custom(NULL, d);
    double row[DECAYS];
    const double mu = 1.0;
    const size_t lifetime = 0;
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    paritas_gof_toys_result gof_toys = PARITAS_INIT(paritas_gof_toys_result);
    paritas_toys_result toys = PARITAS_INIT(paritas_toys_result);
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    paritas_scan_point point = PARITAS_INIT(paritas_scan_point);
    paritas_ranking_entry entry = PARITAS_INIT(paritas_ranking_entry);
    size_t n;
    const char *reason = "which say nothing of what data to expect";
    assert_int_equal(paritas_expected_data(c.context, c.model, 1, decay_init, row), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(c.context), reason));
    assert_int_equal(paritas_expected_jacobian(c.context, c.model, decay_init, row),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_gof(c.context, c.model, NULL, &gof), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_gof_toys(c.context, c.model, NULL, NULL, &gof_toys, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(
        paritas_toys(c.context, c.model, NULL, SIZED(paritas_toys_request, .point = decay_init), NULL, &toys),
        PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_toys(c.context, c.model, NULL,
                                  SIZED(paritas_toys_request, .expected = decay_times), NULL, &toys),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(c.context), reason));
    ASSERT_OK(c.context, paritas_scan(c.context, c.model, NULL,
                                      SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &lifetime,
                                            .n_points = 1, .values = &mu, .best = &best, .points = &point)));
    ASSERT_OK(c.context, paritas_ranking(c.context, c.model, NULL, &entry, &n));
    assert_int_equal(n, 0);
    double mean = 0.0;
    for (int i = 0; i < DECAYS; i++) mean += decay_times[i] / DECAYS;
    ASSERT_CLOSE(point.q, 2.0 * DECAYS * (mean - 1.0 - log(mean)), 1e-9);
    free_custom(&c);
}

/* ---- memory ---- */

struct counted {
    size_t calls, fails_at, alive;
};

static void *count_allocate(void *user, size_t size)
{
    struct counted *counted = user;
    if (++counted->calls == counted->fails_at) return NULL;
    counted->alive++;
    return malloc(size);
}
static void *count_reallocate(void *user, void *memory, size_t size)
{
    struct counted *counted = user;
    if (++counted->calls == counted->fails_at) return NULL;
    if (!memory) counted->alive++;
    return realloc(memory, size);
}
static void count_release(void *user, void *memory)
{
    if (memory) ((struct counted *)user)->alive--;
    free(memory);
}

TEST(memory_that_runs_out_anywhere_is_said_and_not_lost)
{
    struct counted counted = {0};
    const paritas_allocator allocator = {count_allocate, count_reallocate, count_release, &counted};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.allocator = &allocator;
    options.threads = 1;
    const paritas_model_description d = onoff_description();
    size_t failures = 0;
    for (size_t at = 1;; at++) {
        counted = (struct counted){.fails_at = at};
        paritas_context *context = NULL;
        paritas_model *model = NULL;
        double row[3];
        paritas_status status = paritas_open(&options, &context);
        if (status == PARITAS_OK) status = paritas_model_define(context, &d, &model);
        if (status == PARITAS_OK) status = paritas_expected_data(context, model, 1, onoff_init, row);
        paritas_model_free(model);
        paritas_close(context);
        assert_int_equal(counted.alive, 0);
        if (status == PARITAS_OK) break;
        assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_must_fit_its_kernels),
        cmocka_unit_test(what_is_wrong_in_a_description_is_named),
        cmocka_unit_test(measurements_may_be_negative_and_counts_may_not),
        cmocka_unit_test(a_model_of_ones_own_has_no_channels),
        cmocka_unit_test(terms_can_be_fitted_and_scanned_but_neither_expected_nor_drawn),
        cmocka_unit_test(memory_that_runs_out_anywhere_is_said_and_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
