/* Every group of the self-test can fail: devices whose kernels have one mistake (wrong_words.h) are refused,
 * by the word that is expected. So are teams that lack a barrier. */
#include "common.h"
#include "cuda/native_device.h"
#include "device/device_self_test.h"
#include "wrong_words.h"

enum wrong_word wrong_word;

static const struct {
    const char *name, *what;
    unsigned group[2]; /* in f64, f32 */
} wrongs[] = {
#define ROW(name, f64, f32, what) {#name, what, {CONFORM_##f64, CONFORM_##f32}},
    WRONG_WORDS(ROW)
#undef ROW
};

static paritas_context *open_native(unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = precision;
    options.threads = 1;
    paritas_context *context = open_if_built(options);
    if (context) use_native_device(context);
    return context;
}

/* The group that refuses the device as it is now; CONFORM_NOWHERE: none. */
static unsigned refused_by(paritas_context *context)
{
    if (self_test_run(context, context->device, false) == PARITAS_OK) return CONFORM_NOWHERE;
    for (unsigned group = 0; group < CONFORM_GROUPS; group++) {
        char message[200];
        snprintf(message, sizeof message,
                 "device 'cpu': its self-test failed: %s gives other bits than the CPU's in f%u",
                 self_test_word(group), context->precision);
        if (strcmp(paritas_error_message(context), message) == 0) return group;
    }
    fail_msg("%s", paritas_error_message(context));
    return CONFORM_NOWHERE;
}

static const char *name_of(unsigned group)
{
    return group == CONFORM_NOWHERE ? "nothing" : self_test_word(group);
}

/* What each precision's groups were refused for: by a mistake, or by a barrier that lacks. */
static bool named[2][CONFORM_GROUPS + 1];

TEST(every_mistake_is_refused_by_its_word)
{
    unsigned others = 0;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_context *context = open_native(precision);
        if (!context) skip_absent();
        use_native_team(&native_teams[0], 1);
        assert_int_equal(refused_by(context), CONFORM_NOWHERE);
        for (size_t w = 0; w < COUNT(wrongs); w++) {
            const unsigned wanted = wrongs[w].group[precision == 32];
            wrong_word = (enum wrong_word)(WRONG_NOTHING + 1 + w);
            const unsigned got = refused_by(context);
            named[precision == 32][got] = true;
            if (got == wanted) continue;
            print_error("%s (%s) in f%u: %s is to blame, not %s\n", wrongs[w].name, wrongs[w].what, precision,
                        name_of(wanted), name_of(got));
            others++;
        }
        wrong_word = WRONG_NOTHING;
        paritas_close(context);
    }
    assert_int_equal(others, 0);
}

/* The group that refuses a team which does not wait at this barrier, in some order of its workers. */
static unsigned refused_without(paritas_context *context, struct native_place dropped)
{
    unsigned group = CONFORM_NOWHERE;
    for (unsigned k = 0; k < 6 && group == CONFORM_NOWHERE; k++) {
        native_workers = k < 3 ? 3 : 5;
        native_settings =
            (struct native_settings){.order = (enum native_order)(k % 3), .seed = k, .dropped = dropped};
        group = refused_by(context);
    }
    return group;
}

TEST(every_barrier_of_the_self_test_is_missed)
{
    struct native_place places[32];
    unsigned tried = 0;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_context *context = open_native(precision);
        if (!context) skip_absent();
        native_forget_barriers();
        assert_int_equal(refused_without(context, (struct native_place){NULL, 0}), CONFORM_NOWHERE);
        const struct native_place *met;
        const size_t n = native_barriers(&met);
        assert_in_range(n, 1, COUNT(places));
        memcpy(places, met, n * sizeof *met);
        for (size_t k = 0; k < n; k++) {
            const unsigned group = refused_without(context, places[k]);
            named[precision == 32][group] = true;
            if (group == CONFORM_NOWHERE)
                fail_msg("nobody misses the barrier in %s:%u", places[k].file, places[k].line);
            tried++;
        }
        native_settings.dropped.file = NULL;
        paritas_close(context);
    }
    print_message("%u barriers\n", tried);
}

/* A new group needs a mistake that it finds. */
TEST(every_group_has_refused_something)
{
    for (unsigned group = 0; group < CONFORM_GROUPS; group++) {
        const bool in_f64_alone =
            group == CONFORM_SHIFTS || group == CONFORM_NORMAL || group == CONFORM_POISSON;
        if (!named[0][group]) fail_msg("no mistake in f64 is refused by %s", self_test_word(group));
        if (!named[1][group] && !in_f64_alone)
            fail_msg("no mistake in f32 is refused by %s", self_test_word(group));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_refused_by_its_word),
        cmocka_unit_test(every_barrier_of_the_self_test_is_missed),
        cmocka_unit_test(every_group_has_refused_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
