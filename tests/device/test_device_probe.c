/* test_device_probe.c: drivers that abort, crash, hang, exit or write garbage at any call of opening take
 * nothing down. Stand-ins: fake_opencl.c, and CUDA's fake_driver.c. */
#define _GNU_SOURCE
#include "common.h"
#include "device/device.h"
#include "device/device_automatic.h"
#include "share.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS_MOST 400

struct list {
    size_t n;
    paritas_device_info devices[80];
};

static paritas_context *open_context(const char *device, paritas_note_function note, void *user)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 1;
    options.device = device;
    options.note = note;
    options.note_user = user;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    return context;
}

static struct list list_within(unsigned milliseconds)
{
    struct list list = {.n = 0};
    paritas_context *context = open_context("cpu", NULL, NULL);
    for (size_t k = 0; k < COUNT(list.devices); k++) list.devices[k].size = sizeof list.devices[k];
    context->probe_milliseconds = milliseconds;
    ASSERT_OK(context, paritas_list_devices(context, COUNT(list.devices), list.devices, &list.n));
    paritas_close(context);
    assert_true(list.n <= COUNT(list.devices));
    assert_string_equal(list.devices[0].name, "cpu");
    assert_true(list.devices[0].f64 && list.devices[0].f32);
    return list;
}

/* The first device of a kind. */
static const paritas_device_info *of_kind(const struct list *list, const char *kind)
{
    for (size_t k = 0; k < list->n; k++)
        if (strncmp(list->devices[k].name, kind, strlen(kind)) == 0) return &list->devices[k];
    fail_msg("%s is not listed", kind);
    return NULL;
}

static void tell(unsigned call, const char *how)
{
    char text[40];
    snprintf(text, sizeof text, "%u:%s", call, how);
    setenv("FAKE_DRIVER", text, 1);
}

/* Only where the call is made is the reason the driver's; *n: the calls of opening and self-tests. */
static unsigned end_at_every_call(const char *kind, const char *how, const char *word, unsigned step,
                                  unsigned milliseconds)
{
    const char *const kinds[] = {"cuda", "opencl"};
    unsigned call = 1;
    for (; call < CALLS_MOST; call += step) {
        tell(call, how);
        const struct list list = list_within(milliseconds);
        const paritas_device_info *device = of_kind(&list, kind);
        for (size_t k = 0; k < COUNT(kinds); k++) of_kind(&list, kinds[k]); /* the list goes on */
        const char *reason =
            strstr(device->reason_f64, "its driver") ? device->reason_f64 : device->reason_f32;
        if (!strstr(reason, "its driver")) break;
        assert_false(device->f32);
        if (!strstr(reason, word)) fail_msg("call %u: %s", call, reason);
        assert_true(strncmp(reason, "device '", 8) == 0);
    }
    unsetenv("FAKE_DRIVER");
    assert_in_range(call, 20, CALLS_MOST - 1);
    return call;
}

TEST(a_driver_that_ends_the_program_at_any_call_becomes_a_reason)
{
    static const char *const kinds[] = {"cuda", "opencl"};
    static const char *const ends[][2] = {{"abort", "its driver aborted (signal 6)"},
                                          {"crash", "its driver crashed (signal 11)"},
                                          {"exit", "its driver ended the program with exit code 0"}};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t e = 0; e < COUNT(ends); e++)
            end_at_every_call(kinds[k], ends[e][0], ends[e][1], e == 0 ? 1 : 3, 0);
}

TEST(a_driver_that_hangs_at_any_call_is_given_up)
{
    /* under sanitizers what works needs longer, too: then fewer calls hang */
    const unsigned milliseconds = SHARE > 1 ? 200 : 60, step = SHARE > 1 ? 5 : 1;
    const char *said = SHARE > 1 ? "did not answer within 0.2 s" : "did not answer within 0.06 s";
    end_at_every_call("opencl", "hang", said, step, milliseconds);
    end_at_every_call("cuda", "hang", said, 7, milliseconds);
}

TEST(a_driver_that_writes_everywhere_is_refused)
{
    tell(1, "garbage");
    const struct list list = list_within(0);
    unsetenv("FAKE_DRIVER");
    assert_non_null(strstr(of_kind(&list, "opencl")->reason_f64, "its driver wrote over the answer"));
}

TEST(a_driver_with_garbage_for_a_name_or_a_count_is_listed_as_text)
{
    setenv("FAKE_NAME", "\xff\xfe\x01 card", 1);
    struct list list = list_within(0);
    assert_non_null(strstr(of_kind(&list, "opencl")->description, "??? card"));
    unsetenv("FAKE_NAME");
    setenv("FAKE_PLATFORMS", "4000000000", 1);
    list = list_within(0);
    assert_non_null(strstr(of_kind(&list, "opencl")->reason_f64, "self-test failed"));
    unsetenv("FAKE_PLATFORMS");
}

static void *sleep_forever(void *unused)
{
    for (;;) pause();
    return unused;
}

TEST(the_program_may_have_threads_ignore_its_children_and_have_no_standard_files)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_forever, NULL), 0);
    signal(SIGCHLD, SIG_IGN);
    const int kept[] = {dup(0), dup(1)};
    close(0);
    close(1);
    tell(5, "abort");
    const struct list doomed = list_within(0);
    unsetenv("FAKE_DRIVER");
    const struct list well = list_within(0);
    dup2(kept[0], 0);
    dup2(kept[1], 1);
    close(kept[0]);
    close(kept[1]);
    signal(SIGCHLD, SIG_DFL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    /* nobody learns how an ignored child ended */
    assert_non_null(strstr(of_kind(&doomed, "opencl")->reason_f64, "its driver ended the program"));
    assert_true(of_kind(&well, "cuda")->f64 && of_kind(&well, "cuda")->f32);
}

TEST(no_child_and_no_file_is_left)
{
    const int before = dup(0);
    close(before);
    tell(9, "hang");
    list_within(50);
    unsetenv("FAKE_DRIVER");
    list_within(0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    const int after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

static void keep_note(void *user, const char *message)
{
    char *notes = user;
    strncat(notes, message, 1999 - strlen(notes));
}

TEST(auto_goes_on_with_the_cpu_and_says_why)
{
    static const char *const ends[][2] = {{"abort", "its driver aborted"},
                                          {"crash", "its driver crashed"},
                                          {"hang", "its driver did not answer"}};
    for (size_t e = 0; e < COUNT(ends); e++) {
        char notes[2000] = "";
        paritas_context *context = open_context("auto", keep_note, notes);
        const struct device_request request = {.precision = 64, .threads = 1, .no_processor = true};
        context->probe_milliseconds = strcmp(ends[e][0], "hang") == 0 ? 200 : 0;
        tell(4, ends[e][0]);
        struct paritas_device *found = automatic_find(context, &request);
        unsetenv("FAKE_DRIVER");
        assert_null(found);
        assert_non_null(strstr(notes, "device 'cuda:0': "));
        assert_non_null(strstr(notes, ends[e][1]));
        paritas_close(context);
    }
}

static void empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *file; (file = readdir(folder));)
        if (file->d_name[0] != '.') assert_int_equal(unlinkat(dirfd(folder), file->d_name, 0), 0);
    closedir(folder);
    assert_int_equal(rmdir(path), 0);
}

static struct list list_by_cache(const char *cache, int again)
{
    struct list list = {.n = 0};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = 1;
    options.cache = cache;
    options.again = again;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    for (size_t k = 0; k < COUNT(list.devices); k++) list.devices[k].size = sizeof list.devices[k];
    ASSERT_OK(context, paritas_list_devices(context, COUNT(list.devices), list.devices, &list.n));
    paritas_close(context);
    return list;
}

/* Opens a context on the device named; returns its message. */
static const char *try_device_named(const char *device, const char *cache, paritas_status wanted)
{
    static char message[2048];
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = device;
    options.cache = cache;
    assert_int_equal(paritas_open(&options, &context), wanted);
    snprintf(message, sizeof message, "%s", paritas_error_message(context));
    paritas_close(context);
    return message;
}

TEST(a_driver_that_ends_the_program_is_tried_once_a_cache)
{
    char cache[] = "/tmp/paritas_verdicts_XXXXXX";
    assert_non_null(mkdtemp(cache));
    tell(4, "abort");
    const char *message = try_device_named("cuda:0", cache, PARITAS_NO_DEVICE);
    assert_non_null(strstr(message, "device 'cuda:0': its driver aborted (signal 6)"));
    assert_null(strstr(message, "found before"));
    struct list list = list_by_cache(cache, 0);
    assert_non_null(strstr(of_kind(&list, "cuda")->reason_f64, "its driver aborted"));
    unsetenv("FAKE_DRIVER"); /* it works by now, but nobody asks */
    assert_non_null(strstr(try_device_named("cuda:0", cache, PARITAS_NO_DEVICE), "found before"));
    list = list_by_cache(cache, 0);
    assert_non_null(strstr(of_kind(&list, "cuda")->reason_f64, "found before"));
    list = list_by_cache(cache, 1);
    assert_true(of_kind(&list, "cuda")->f64 && of_kind(&list, "cuda")->f32);
    list = list_by_cache(cache, 0);
    assert_true(of_kind(&list, "cuda")->f64 && of_kind(&list, "cuda")->f32);
    empty_folder(cache);
}

/* Last: the driver then belongs to this process. */
TEST(auto_opens_a_driver_that_works_and_later_lists_ask_it_here)
{
    paritas_context *context = open_context("auto", NULL, NULL);
    const struct device_request request = {.precision = 64, .threads = 1, .no_processor = true};
    struct paritas_device *found = automatic_find(context, &request);
    assert_non_null(found);
    assert_string_equal(device_name(found), "cuda:0");
    const struct list list = list_within(0);
    assert_true(of_kind(&list, "cuda")->f64 && of_kind(&list, "cuda")->f32);
    device_close(found);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_that_ends_the_program_at_any_call_becomes_a_reason),
        cmocka_unit_test(a_driver_that_hangs_at_any_call_is_given_up),
        cmocka_unit_test(a_driver_that_writes_everywhere_is_refused),
        cmocka_unit_test(a_driver_with_garbage_for_a_name_or_a_count_is_listed_as_text),
        cmocka_unit_test(the_program_may_have_threads_ignore_its_children_and_have_no_standard_files),
        cmocka_unit_test(no_child_and_no_file_is_left),
        cmocka_unit_test(auto_goes_on_with_the_cpu_and_says_why),
        cmocka_unit_test(a_driver_that_ends_the_program_is_tried_once_a_cache),
        cmocka_unit_test(auto_opens_a_driver_that_works_and_later_lists_ask_it_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
