/* test_device_automatic.c: the device called "auto" moves to what is faster, never changes a bit, and goes on
 * where an accelerator fails. */
#include "common.h"
#include "device/device_automatic.h"
#include "device/device_plain.h"
#include "device/fake_accelerator.h"
#include "opencl/workspace.h"

struct setting {
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    size_t parameters;
    char notes[2000];
};

static void keep_note(void *user, const char *message)
{
    struct setting *s = user;
    strncat(s->notes, message, sizeof s->notes - strlen(s->notes) - 2);
    strcat(s->notes, "\n");
}

static struct paritas_device *find_fake(paritas_context *context, const struct device_request *request)
{
    struct paritas_device *device;
    assert_true(request->no_processor);
    plain_open_as(context, &device_fake, "fake", 0, request, &device);
    return device;
}

/* Of launches alone: one on the CPU takes a microsecond, a run of the accelerator what it tells. */
static double seconds_of_launches(void)
{
    static double readings;
    return ++readings * 1e-6 + fake.seconds;
}

static void set_up(struct setting *s)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    *s = (struct setting){.notes = ""};
    options.threads = 1;
    options.device = "auto";
    options.note = keep_note;
    options.note_user = s;
    assert_int_equal(paritas_open(&options, &s->context), PARITAS_OK);
    assert_string_equal(paritas_device_name(s->context), "cpu");
    s->context->device->automatic->find = find_fake;
    s->context->device->automatic->clock = seconds_of_launches;
    assert_int_equal(
        paritas_workspace_parse(s->context, small_workspace, strlen(small_workspace), "small", &s->workspace),
        PARITAS_OK);
    assert_int_equal(paritas_model_create(s->context, s->workspace, NULL, &s->model), PARITAS_OK);
    s->parameters = paritas_model_parameter_count(s->model);
    fake_reset();
}

static void tear_down(struct setting *s)
{
    paritas_model_free(s->model);
    paritas_workspace_free(s->workspace);
    paritas_close(s->context);
    assert_int_equal(fake.buffers, 0);
    assert_int_equal(fake.opens, fake.closes);
}

#define ROWS 40

static void evaluate(const struct setting *s, double *nll)
{
    double points[ROWS * 64];
    for (size_t i = 0; i < ROWS * s->parameters; i++)
        points[i] =
            paritas_model_suggested_init(s->model)[i % s->parameters] + 0.001 * (double)(i / s->parameters);
    assert_int_equal(paritas_evaluate(s->context, s->model, ROWS, points, 0, NULL,
                                      SIZED(paritas_evaluate_answers, .twice_nll = nll)),
                     PARITAS_OK);
}

/* As if so much time had gone by, and as if the CPU had taken its time over what it did. */
static void pretend(const struct setting *s, double seconds, double cpu_rate)
{
    struct device_automatic *automatic = s->context->device->automatic;
    automatic->seconds = seconds;
    for (size_t k = 0; k < AUTOMATIC_KINDS; k++)
        if (automatic->kinds[k].cpu_rate > 0.0) automatic->kinds[k].cpu_rate = cpu_rate;
}

TEST(short_work_opens_no_driver)
{
    struct setting s;
    double nll[ROWS];
    set_up(&s);
    for (int k = 0; k < 5; k++) evaluate(&s, nll);
    assert_int_equal(fake.opens, 0);
    assert_string_equal(s.notes, "");
    tear_down(&s);
}

TEST(long_work_moves_to_a_faster_device)
{
    struct setting s;
    double first[ROWS], nll[ROWS];
    set_up(&s);
    evaluate(&s, first);
    pretend(&s, 10.0, 1e-3);
    evaluate(&s, nll); /* the CPU, then the accelerator is opened */
    assert_int_equal(fake.opens, 1);
    assert_int_equal(fake.runs, 1); /* its self-test */
    pretend(&s, 10.0, 1e-3);
    for (int k = 0; k < 4; k++) {
        evaluate(&s, nll);
        assert_memory_equal(nll, first, sizeof nll);
    }
    assert_true(fake.runs >= 5);
    assert_string_equal(paritas_device_name(s.context), "fake:0");
    assert_non_null(strstr(s.notes, "times the CPU's rate"));
    tear_down(&s);
}

TEST(long_work_stays_where_the_accelerator_is_slower)
{
    struct setting s;
    double first[ROWS], nll[ROWS];
    set_up(&s);
    fake.seconds_of_run = 0.02;
    evaluate(&s, first);
    pretend(&s, 10.0, 1e12);
    evaluate(&s, nll);
    for (int k = 0; k < 6; k++) {
        evaluate(&s, nll);
        assert_memory_equal(nll, first, sizeof nll);
    }
    const unsigned tried = fake.runs;
    evaluate(&s, nll);
    assert_true(tried > 1);
    assert_int_equal(fake.runs, tried);
    assert_string_equal(paritas_device_name(s.context), "cpu");
    tear_down(&s);
}

/* The CPU was slow once: 45 ms for what takes microseconds. The accelerator needs 15 ms. */
TEST(a_slow_moment_of_the_cpu_is_forgotten)
{
    struct setting s;
    double first[ROWS], nll[ROWS];
    set_up(&s);
    fake.seconds_of_run = 0.005;
    evaluate(&s, first);
    pretend(&s, 10.0, 1e12);
    evaluate(&s, nll);
    pretend(&s, 10.0, ROWS / 0.045);
    for (int k = 2; k < 6; k++) evaluate(&s, nll);
    unsigned runs = fake.runs;
    evaluate(&s, nll);
    assert_true(fake.runs > runs);
    runs = fake.runs;
    for (int k = 7; k < 15; k++) { /* the eighth launch tries the CPU again */
        evaluate(&s, nll);
        assert_memory_equal(nll, first, sizeof nll);
    }
    assert_int_equal(fake.runs, runs);
    tear_down(&s);
}

TEST(an_accelerator_that_fails_is_left)
{
    struct setting s;
    double first[ROWS], nll[ROWS];
    set_up(&s);
    evaluate(&s, first);
    pretend(&s, 10.0, 1e-3);
    evaluate(&s, nll);
    pretend(&s, 10.0, 1e-3);
    evaluate(&s, nll);
    fake.gone_after = fake.runs + 1;
    for (int k = 0; k < 4; k++) {
        evaluate(&s, nll);
        assert_memory_equal(nll, first, sizeof nll);
    }
    assert_int_equal(fake.closes, 1);
    assert_non_null(strstr(s.notes, "it is gone"));
    assert_string_equal(paritas_device_name(s.context), "cpu");
    tear_down(&s);
}

TEST(the_cpu_under_another_name_is_no_accelerator)
{
    struct setting s;
    double nll[ROWS];
    set_up(&s);
    fake.is_processor = true;
    evaluate(&s, nll);
    pretend(&s, 10.0, 1e-3);
    evaluate(&s, nll);
    evaluate(&s, nll);
    assert_int_equal(fake.runs, 0); /* not even its self-test */
    assert_int_equal(fake.closes, 1);
    assert_non_null(strstr(s.notes, "no accelerator runs f64 here"));
    assert_string_equal(paritas_error_message(s.context), "");
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_work_opens_no_driver),
        cmocka_unit_test(long_work_moves_to_a_faster_device),
        cmocka_unit_test(long_work_stays_where_the_accelerator_is_slower),
        cmocka_unit_test(a_slow_moment_of_the_cpu_is_forgotten),
        cmocka_unit_test(an_accelerator_that_fails_is_left),
        cmocka_unit_test(the_cpu_under_another_name_is_no_accelerator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
