/* test_metal.c: which precisions and systems Metal devices are for. On a Mac with its own device;
 * elsewhere, where FAKE_METAL names it, with the library that stands in for Apple's. Results are claims of
 * tests/matrix. */
#include "base/context.h"
#include "common.h"
#include "device/metal/metal.h"
#if defined(FAKE_METAL)
#include "metal/metal_fake.h"
#endif

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
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.device = "metal:0";
    options.precision = 32;
    metal_library = NULL;
    assert_int_equal(paritas_open(&options, &context), PARITAS_NO_DEVICE);
    assert_non_null(strstr(paritas_error_message(context), "macOS"));
    paritas_close(context);
}
#endif

#if defined(FAKE_METAL)
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
    paritas_close(context);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precision_f64_is_refused_by_a_message_that_names_the_others),
#if !defined(__APPLE__)
        cmocka_unit_test(a_system_without_metal_is_told_so),
#endif
#if defined(FAKE_METAL)
        cmocka_unit_test(precision_auto_is_f32_with_polish),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
