/* The software fma (kernels/dialect/dialect_software_fma.h) has the bits of the C library's. */
#include "dialect/dialect_software_fma.h"
#include "common.h"

#include <float.h>

#define DRAWS 300000

static uint64_t draw(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 32 | state << 32) * 0x9e3779b97f4a7c15u;
}

/* Any mantissa, sometimes with many zeros or ones at its end; exponents from -range to range. */
static double draw_number(int range)
{
    uint64_t mantissa = draw() >> 12;
    const unsigned cut = (unsigned)(draw() % 53);
    if (draw() % 3 == 0) mantissa = mantissa >> cut << cut;
    if (draw() % 5 == 0) mantissa |= ((uint64_t)1 << cut) - 1;
    const uint64_t exponent = (uint64_t)(1023 + (int)(draw() % (2 * (unsigned)range + 1)) - range);
    const uint64_t bits = draw() << 63 | exponent << 52 | (mantissa & 0xfffffffffffff);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void compare(double a, double b, double c)
{
    const fma_pair pair = software_fma_pair((fma_pair){a, b}, (fma_pair){b, a}, (fma_pair){c, c});
    const double wanted = fma(a, b, c), got[] = {software_fma(a, b, c), pair[0], pair[1]};
    for (size_t k = 0; k < COUNT(got); k++)
        if (memcmp(&got[k], &wanted, sizeof wanted) != 0 && !(isnan(got[k]) && isnan(wanted)))
            fail_msg("fma(%a, %a, %a) is %a, not %a", a, b, c, wanted, got[k]);
}

static void compare_floats(float a, float b, float c)
{
    const float wanted = fmaf(a, b, c), got = software_fmaf(a, b, c);
    if (memcmp(&got, &wanted, sizeof wanted) != 0 && !(isnan(got) && isnan(wanted)))
        fail_msg("fmaf(%a, %a, %a) is %a, not %a", (double)a, (double)b, (double)c, (double)wanted,
                 (double)got);
}

TEST(floats_of_any_size)
{
    for (int k = 0; k < DRAWS; k++) {
        const int range = k % 2 ? 12 : 150; /* beyond the range of floats: 0, subnormal, infinite */
        const float a = (float)draw_number(range), b = (float)draw_number(range),
                    c = (float)draw_number(range);
        compare_floats(a, b, c);
        compare_floats(a, b, -(a * b));
        compare_floats(1.0f + 0x1p-23f * (float)(draw() % 8), 0x1p-24f, c);
    }
}

TEST(random_numbers_of_any_size)
{
    for (int k = 0; k < DRAWS; k++) {
        const int range = k % 2 ? 30 : 1020;
        compare(draw_number(range), draw_number(range), draw_number(range));
    }
}

TEST(sums_that_cancel)
{
    for (int k = 0; k < DRAWS; k++) {
        const double a = draw_number(40), b = draw_number(40),
                     near = 1.0 + (double)(draw() % 9) * DBL_EPSILON;
        compare(a, b, -(a * b) * near);
        compare(a, b, -(a * b) * 0x1p-52 * draw_number(1));
    }
}

/* The product lies just above, below or at the middle between two sums. */
TEST(sums_near_the_middle_of_two_numbers)
{
    for (int k = 0; k < DRAWS; k++) {
        const double e = (double)(draw() % 5) - 2.0, a = 1.0 + e * 0x1p-52, b = 0x1p-53 * (1.0 + e * 0x1p-51);
        const double c = draw_number(1);
        compare(a, b * (draw() % 2 ? 1.0 : -1.0), c);
        compare(a, b * 0x1p-53, c);
    }
}

TEST(special_numbers)
{
    static const double numbers[] = {0.0,     -0.0,     1.0,      -1.0,      DBL_MIN,  0x1p-1074, -0x1p-1074,
                                     DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, NAN,      0x1p400,   0x1p-400,
                                     0x1p401, 0x1p-401, 0x1p1000, 0x1p-1000, 0x1p1001, 0x1.8p-1};
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (size_t j = 0; j < COUNT(numbers); j++)
            for (size_t k = 0; k < COUNT(numbers); k++) {
                compare(numbers[i], numbers[j], numbers[k]);
                compare_floats((float)numbers[i], (float)numbers[j], (float)numbers[k]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_of_any_size), cmocka_unit_test(random_numbers_of_any_size),
        cmocka_unit_test(sums_that_cancel),   cmocka_unit_test(sums_near_the_middle_of_two_numbers),
        cmocka_unit_test(special_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
