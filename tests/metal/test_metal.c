/* test_metal.c: which precisions and systems Metal devices are for. On a Mac with its own device;
 * elsewhere, where FAKE_METAL names it, with the library that stands in for Apple's. Results are claims of
 * tests/matrix. */
#include "base/context.h"
#include "common.h"
#include "device/metal/metal.h"
#if defined(FAKE_METAL)
#include "metal/metal_fake.h"
#endif

#if defined(__APPLE__) || defined(FAKE_METAL)
TEST(precision_f64_is_refused_by_a_message_that_names_the_others)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
#if defined(FAKE_METAL)
    metal_library = FAKE_METAL;
#endif
    options.device = "metal";
    options.precision = 64;
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "f64"));
    assert_non_null(strstr(paritas_error_message(context), "f32"));
    assert_non_null(strstr(paritas_error_message(context), "auto"));
    paritas_close(context);
}
#endif

#if !defined(__APPLE__)
TEST(a_system_without_metal_is_told_so)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "metal:0";
    metal_library = NULL;
    const unsigned precisions[] = {0, 64, 32, PARITAS_PRECISION_AUTO};
    for (size_t k = 0; k < sizeof precisions / sizeof *precisions; k++) {
        options.precision = precisions[k];
        assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
        assert_string_equal(paritas_error_message(context),
                            "device 'metal:0': Metal needs macOS, and this is a different system");
        paritas_close(context);
    }
}
#endif

#if defined(FAKE_METAL)
static void keep_note(void *user, const char *message)
{
    snprintf(user, 200, "%s", message);
}

/* A note only where nobody chose. */
static void opens_in_f32(unsigned precision, bool has_note)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    char note[200] = "";
    fake_metal_reset();
    metal_library = FAKE_METAL;
    options.device = "metal:1";
    options.precision = precision;
    options.note = keep_note;
    options.note_user = note;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    assert_int_equal(strstr(note, "no arithmetic in f64: it runs in f32, and fits") != NULL, has_note);
    assert_string_equal(paritas_device_name(context), "metal:1");
    assert_string_equal(paritas_precision_name(context), "f32");
    assert_string_equal(paritas_polish_name(context), "f64");
    paritas_close(context);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
}

TEST(metal_is_f32_with_polish_unless_f64_is_asked_for)
{
    opens_in_f32(PARITAS_PRECISION_AUTO, false);
    opens_in_f32(0, true);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__APPLE__) || defined(FAKE_METAL)
        cmocka_unit_test(precision_f64_is_refused_by_a_message_that_names_the_others),
#endif
#if !defined(__APPLE__)
        cmocka_unit_test(a_system_without_metal_is_told_so),
#endif
#if defined(FAKE_METAL)
        cmocka_unit_test(metal_is_f32_with_polish_unless_f64_is_asked_for),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
