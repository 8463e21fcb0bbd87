/* Counts as the instrument stored them: the closed list of 256 intervals, and prescaling beyond them. */
#define _POSIX_C_SOURCE 200809L
#include "er/er_testing.h"
#include "moon/er/er_codes.h"

#define END (UINT64_C(1) << 19) /* of the last interval */

TEST(intervals_of_all_codes_tile_the_counts_below_2_to_19)
{
    uint64_t end = 0;
    for (unsigned code = 0; code < 256; code++) {
        const struct er_interval of = er_code_interval(code);
        const unsigned e = code >> 4, m = code & 15;
        assert_true(of.lower == end);
        assert_true(of.lower == (e == 0 ? m : (16 + m) * (UINT64_C(1) << (e - 1))));
        assert_true(of.width >= 1 && 16 * of.width <= (of.lower < 16 ? 16 : of.lower));
        end = of.lower + of.width;
    }
    assert_true(end == END);
    assert_true(er_code_interval(255).lower == 31 * (UINT64_C(1) << 14));
}

TEST(each_count_has_the_code_of_its_interval)
{
    for (unsigned code = 0; code < 256; code++) {
        const struct er_interval of = er_code_interval(code);
        for (uint64_t counts = of.lower; counts < of.lower + of.width; counts++)
            assert_true(er_code(counts) == code);
    }
    for (uint64_t counts = 0; counts < 32; counts++) {
        assert_true(er_code(counts) == counts);
        assert_true(er_stored(counts).lower == counts && er_stored(counts).width == 1);
    }
    assert_true(er_stored(32).width == 2);
}

TEST(counts_beyond_the_last_code_are_saturated_or_prescaled)
{
    uint64_t end = END;
    assert_int_equal(er_code(END), 255);
    assert_int_equal(er_code(UINT64_MAX), 255);
    while (end < 16 * END) {
        const struct er_interval of = er_stored(end);
        assert_true(of.lower == end && of.width >= 16 && 16 * of.width <= of.lower);
        assert_true(er_stored(end + of.width - 1).lower == end);
        assert_true(er_stored(of.lower).lower == of.lower);
        end += of.width;
    }
    assert_true(end == 16 * END);
    assert_true(er_stored(UINT64_MAX).lower == er_stored(end - 1).lower);
    assert_true(er_stored(UINT64_MAX).lower == 16 * 31 * (UINT64_C(1) << 14));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_all_codes_tile_the_counts_below_2_to_19),
        cmocka_unit_test(each_count_has_the_code_of_its_interval),
        cmocka_unit_test(counts_beyond_the_last_code_are_saturated_or_prescaled),
    };
    return cmocka_run_group_tests_name("day files: codes of counts", tests, open_shared, close_shared);
}
