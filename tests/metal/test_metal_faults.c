/* test_metal_faults.c: what the Metal backend does when Metal fails: a message that says what happened, no
 * wrong number, nothing left held. Every fault is tried on a likelihood with its derivatives and on a list of
 * fits, whose right answers the CPU gives. */
#include "base/context.h"
#include "device/accelerator.h"
#include "device/metal/metal.h"
#include "fit/fit_testing.h"
#include "metal/metal_fake.h"

enum { JOBS = 40 };

/* The model, and its answers. */
struct answers {
    double value, gradient[64], parameters[JOBS * 64];
    paritas_fit_result results[JOBS];
};
static struct fixture model;
static struct answers right;

static paritas_status answer(paritas_context *context, struct answers *a)
{
    *a = (struct answers){.results = {PARITAS_INIT(paritas_fit_result)}};
    paritas_job jobs[JOBS] = {PARITAS_INIT(paritas_job)};
    const paritas_status status =
        paritas_evaluate(context, model.model, 1, paritas_model_suggested_init(model.model), 0, NULL,
                         SIZED(paritas_evaluate_answers, .twice_nll = &a->value, .gradient = a->gradient));
    return status == PARITAS_OK
               ? paritas_fit(context, model.model, NULL, JOBS, jobs,
                             SIZED(paritas_fit_answers, .results = a->results, .parameters = a->parameters))
               : status;
}

static void assert_right(const struct answers *a)
{
    assert_memory_equal(&a->value, &right.value, sizeof a->value);
    assert_memory_equal(a->gradient, right.gradient, sizeof a->gradient);
    assert_memory_equal(a->parameters, right.parameters, sizeof a->parameters);
    for (size_t k = 0; k < JOBS; k++) assert_int_equal(a->results[k].status, right.results[k].status);
}

static paritas_options options_of(const char *device, unsigned workers)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.device = device;
    options.precision = 32;
    options.workers = workers;
    options.threads = 1;
    options.no_polish = 1;
    return options;
}

/* Opened, self-test passed; from here on calls are counted. */
static paritas_context *open_fake(unsigned workers)
{
    const paritas_options options = options_of("metal", workers);
    paritas_context *context;
    fake_metal_reset();
    metal_library = FAKE_METAL;
    if (paritas_open(&options, &context) != PARITAS_OK) fail_msg("%s", paritas_error_message(context));
    fake_metal_reset();
    return context;
}

static void close_fake(paritas_context *context)
{
    paritas_close(context);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
}

static void assert_says(const paritas_context *context, const char *words)
{
    if (!strstr(paritas_error_message(context), words))
        fail_msg("\"%s\" is not in: %s", words, paritas_error_message(context));
}

/* The device cannot be opened, and why. */
static void refuses_to_open(const char *device, const char *words)
{
    const paritas_options options = options_of(device, 0);
    paritas_context *context;
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_says(context, words);
    close_fake(context);
}

/* With this fault the first answer fails; without it the same context gives the right one. */
static void fails_once(struct fake_faults faults, paritas_status status, const char *words)
{
    struct answers a;
    paritas_context *context = open_fake(0);
    fake_metal.faults = faults;
    assert_int_equal(answer(context, &a), status);
    assert_says(context, words);
    fake_metal.faults = (struct fake_faults){.nil_devices = false};
    ASSERT_OK(context, answer(context, &a));
    assert_right(&a);
    close_fake(context);
}

static int set_up(void **state)
{
    (void)state;
    const paritas_options options = options_of("cpu", 0);
    char *text = random_workspace(206, TRAIT_SETS | TRAIT_LUMI);
    model = make_fixture(text, &options, NULL);
    free(text);
    assert_true(model.n_parameters <= 64);
    ASSERT_OK(model.context, answer(model.context, &right));
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    free_fixture(&model);
    return 0;
}

TEST(a_device_that_is_not_there_is_refused_with_the_reason)
{
    fake_metal_reset();
    metal_library = FAKE_METAL ".absent";
    refuses_to_open("metal", "cannot be opened");
    metal_library = FAKE_METAL;
    refuses_to_open("metal:2", "there are 2 Metal devices");
    fake_metal.faults.no_devices = true;
    refuses_to_open("metal", "no Metal device");
    fake_metal.faults = (struct fake_faults){.nil_devices = true};
    refuses_to_open("metal", "no Metal device");
    fake_metal.faults = (struct fake_faults){.no_queue = true};
    refuses_to_open("metal:1", "no command queue");
    fake_metal.faults = (struct fake_faults){.compiler = "program_source:3: error"};
    refuses_to_open("metal:1", "program_source:3: error");
}

TEST(a_device_that_computes_wrongly_is_refused)
{
    fake_metal_reset();
    metal_library = FAKE_METAL;
    fake_metal.rounds_wrongly = true;
    refuses_to_open("metal", "self-test");
}

TEST(the_compilers_own_words_stand_in_the_message)
{
    fails_once((struct fake_faults){.compiler = "program_source:17: error: use of undeclared identifier"},
               PARITAS_NO_DEVICE, "program_source:17");
    fails_once((struct fake_faults){.compiler = "unused", .without_words = true}, PARITAS_NO_DEVICE,
               "Metal gives no reason");
    fails_once((struct fake_faults){.pipeline = "too many registers"}, PARITAS_NO_DEVICE,
               "too many registers");
    fails_once((struct fake_faults){.nil_function = true}, PARITAS_NO_DEVICE, "hf_evaluate");
}

TEST(a_command_buffer_that_fails_is_told_by_its_reason)
{
    fails_once((struct fake_faults){.failing_commands = 1, .failing_code = 2}, PARITAS_NO_DEVICE,
               "took too long");
    fails_once((struct fake_faults){.failing_commands = 2, .failing_code = 3}, PARITAS_NO_DEVICE,
               "not its own");
    fails_once((struct fake_faults){.failing_commands = 2, .failing_code = 77}, PARITAS_NO_DEVICE, "code 77");
    fails_once((struct fake_faults){.failing_commands = 2, .failing_code = 1, .without_words = true},
               PARITAS_NO_DEVICE, "gives no reason");
    fails_once((struct fake_faults){.nil_commands = 2}, PARITAS_NO_DEVICE, "no command buffer");
    fails_once((struct fake_faults){.nil_encoder = true}, PARITAS_NO_DEVICE, "no encoder");
}

TEST(a_device_that_vanishes_in_the_middle_ends_the_run_with_an_error)
{
    fails_once((struct fake_faults){.failing_commands = 2, .then_all = 1, .failing_code = 11},
               PARITAS_NO_DEVICE, "the device is gone");
}

TEST(memory_that_runs_out_makes_chunks_smaller_and_changes_no_result)
{
    struct answers a;
    paritas_context *context = open_fake(0);
    ASSERT_OK(context, answer(context, &a));
    const unsigned long dispatches = fake_metal.dispatches;
    const struct accelerator *accelerator = context->device->state;
    const size_t slab = accelerator->slabs.bytes / JOBS;
    assert_int_equal(fake_metal.teams_most, JOBS);
    close_fake(context);

    context = open_fake(0); /* a command buffer ends for want of memory, once */
    fake_metal.faults = (struct fake_faults){.failing_commands = 2, .failing_code = 8};
    ASSERT_OK(context, answer(context, &a));
    assert_right(&a);
    assert_true(fake_metal.dispatches > dispatches);
    close_fake(context);

    context = open_fake(0); /* there are no large buffers */
    fake_metal.faults.buffer_most = slab * 6;
    ASSERT_OK(context, answer(context, &a));
    assert_right(&a);
    assert_true(fake_metal.teams_most <= 6);
    close_fake(context);

    fails_once((struct fake_faults){.buffer_most = 16}, PARITAS_OUT_OF_MEMORY, "no memory for a buffer");
    fails_once((struct fake_faults){.failing_commands = 1, .then_all = 1, .failing_code = 8},
               PARITAS_OUT_OF_MEMORY, "out of device memory");
}

TEST(any_buffer_may_be_refused)
{
    unsigned refused = 0;
    for (unsigned k = 1;; k++) {
        struct answers a;
        paritas_context *context;
        const paritas_options options = options_of("metal", 0);
        fake_metal_reset();
        fake_metal.faults.nil_buffer = k;
        paritas_status status = paritas_open(&options, &context);
        if (status == PARITAS_OK) status = answer(context, &a);
        const bool reached = fake_metal.buffers >= k;
        if (status == PARITAS_OK)
            assert_right(&a);
        else
            assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        refused += status != PARITAS_OK;
        close_fake(context);
        if (!reached) break;
    }
    assert_true(refused >= 5);
}

TEST(a_team_is_as_large_as_a_kernel_takes)
{
    struct answers a;
    paritas_context *context = open_fake(0);
    fake_metal.threads_most = 12;
    ASSERT_OK(context, answer(context, &a));
    assert_right(&a);
    close_fake(context);
    context = open_fake(24); /* asked for: not changed behind the user's back */
    fake_metal.threads_most = 12;
    assert_int_equal(answer(context, &a), PARITAS_INVALID_ARGUMENT);
    assert_says(context, "takes at most 12");
    close_fake(context);
}

TEST(arithmetic_takes_no_liberties_on_any_system)
{
    struct answers a;
    for (int old = 0; old < 2; old++) {
        paritas_context *context = open_fake(0);
        fake_metal.before_macos_15 = old;
        ASSERT_OK(context, answer(context, &a));
        assert_true(fake_metal.was_fast_off);
        assert_int_equal(fake_metal.was_safe, !old);
        close_fake(context);
    }
}

TEST(a_model_and_its_kernels_stay_on_the_device)
{
    struct answers a;
    paritas_context *context = open_fake(0);
    ASSERT_OK(context, answer(context, &a));
    const unsigned long libraries = fake_metal.libraries, buffers = fake_metal.buffers;
    ASSERT_OK(context, answer(context, &a));
    assert_right(&a);
    assert_int_equal(fake_metal.libraries, libraries);
    assert_int_equal(fake_metal.buffers, buffers);
    assert_int_equal(context->device->uploads, 1);
    close_fake(context);
}

/* ---- memory of the host ------------------------------------------------------------------------ */

static size_t allocations, refused_allocation;
static void *allocate(void *user, size_t size)
{
    (void)user;
    return ++allocations == refused_allocation ? NULL : malloc(size);
}
static void *reallocate(void *user, void *memory, size_t size)
{
    (void)user;
    return ++allocations == refused_allocation ? NULL : realloc(memory, size);
}
static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

TEST(any_allocation_of_the_host_may_fail)
{
    static const paritas_allocator allocator = {allocate, reallocate, release, NULL};
    for (refused_allocation = 1;; refused_allocation++) {
        struct answers a;
        paritas_context *context = NULL;
        paritas_options options = options_of("metal", 0);
        options.allocator = &allocator;
        fake_metal_reset();
        allocations = 0;
        paritas_status status = paritas_open(&options, &context);
        if (status == PARITAS_OK) status = answer(context, &a);
        if (status == PARITAS_OK)
            assert_right(&a);
        else
            assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
        close_fake(context);
        if (allocations < refused_allocation) break;
    }
    assert_true(refused_allocation > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_not_there_is_refused_with_the_reason),
        cmocka_unit_test(a_device_that_computes_wrongly_is_refused),
        cmocka_unit_test(the_compilers_own_words_stand_in_the_message),
        cmocka_unit_test(a_command_buffer_that_fails_is_told_by_its_reason),
        cmocka_unit_test(a_device_that_vanishes_in_the_middle_ends_the_run_with_an_error),
        cmocka_unit_test(memory_that_runs_out_makes_chunks_smaller_and_changes_no_result),
        cmocka_unit_test(any_buffer_may_be_refused),
        cmocka_unit_test(a_team_is_as_large_as_a_kernel_takes),
        cmocka_unit_test(arithmetic_takes_no_liberties_on_any_system),
        cmocka_unit_test(a_model_and_its_kernels_stay_on_the_device),
        cmocka_unit_test(any_allocation_of_the_host_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
