/* test_cuda_losscone.c: a barrier that is missing in the CUDA text for loss cones and plasmas shows, where
 * the text runs natively in teams of several workers (the claims of tests/matrix). */
#include "cuda/native_device.h"
#include "losscone/devices.h"
#include "share.h"

static paritas_context *open_native(unsigned precision)
{
    paritas_context *context = open_as("cpu", "portable", precision, 1, 1, 0);
    assert_non_null(context);
    use_native_device(context);
    return context;
}

/* ---- a missing barrier shows ---- */

static char shown[256];

static bool shows(paritas_context *context, const struct sample *sample, const struct answers_wish *wish,
                  struct native_place dropped, const struct answers *wanted)
{
    bool differs = false;
    for (unsigned k = 0; k < 3 && !differs; k++) {
        native_workers = 5;
        native_settings =
            (struct native_settings){.order = (enum native_order)k, .seed = 5, .dropped = dropped};
        native_fault[0] = '\0';
        struct answers got = {0};
        for (unsigned part = 0; part < ANSWERS_PART_COUNT && !differs; part++)
            if (DEVICE_PARTS >> part & 1)
                differs = !answers_collect(context, sample, (enum answers_part)part, wish, &got);
        const char *difference = answers_difference(&got, wanted);
        differs |= native_fault[0] || difference;
        snprintf(shown, sizeof shown, "%s",
                 native_fault[0] ? native_fault
                 : difference    ? difference
                                 : paritas_error_message(context));
        answers_free(&got);
    }
    return differs;
}

TEST(a_barrier_that_is_missing_shows)
{
    struct sample *sample = make_sample();
    paritas_context *context = open_native(64);
    const struct answers_wish wish = {.n = 2, .box_limit = 60, .few = true};
    struct answers wanted = reference(sample, 64, DEVICE_PARTS, &wish);
    native_forget_barriers();
    if (shows(context, sample, &wish, (struct native_place){NULL, 0}, &wanted))
        fail_msg("without any: %s", shown);
    const struct native_place *met;
    const size_t n = native_barriers(&met);
    struct native_place places[256];
    assert_true(n > 20 && n <= COUNT(places));
    memcpy(places, met, n * sizeof *met);
    size_t seen = 0, tried = 0;
    for (size_t k = 0; k < n; k += SHARE > 1 ? 7 : 1) {
        tried++;
        if (shows(context, sample, &wish, places[k], &wanted))
            seen++;
        else
            print_message("not missed: %s:%u\n", places[k].file, places[k].line);
    }
    print_message("%zu of %zu barriers are missed\n", seen, tried);
    assert_true(3 * seen >= tried);
    answers_free(&wanted);
    paritas_close(context);
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_that_is_missing_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
