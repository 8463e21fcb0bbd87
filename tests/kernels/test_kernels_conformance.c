/* The conformance kernel: the CPU's own answers by closed forms, the same bits from every variant, flushing
 * or not; and devices whose bits are others are refused with the word that is to blame. */
#include "common.h"
#include "device/fake_accelerator.h"
#include "device/device_self_test.h"
#include "flush.h"

#include <float.h>

static paritas_context *open_context(unsigned precision, const char *isa)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = precision;
    options.isa = isa;
    options.threads = 1;
    return open_if_built(options);
}

static void run(paritas_context *context, unsigned lanes, double *out)
{
    struct self_test_data data;
    self_test_fill(&data, context->precision);
    for (size_t i = 0; i < SELF_TEST_OUT; i++) out[i] = 0.5;
    if (self_test_launch(context, context->device, &data, lanes, false, out) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(context));
}

/* The CPU's answers in a precision. */
static void answers(unsigned precision, double *out)
{
    paritas_context *context = open_context(precision, NULL);
    assert_non_null(context);
    run(context, 1, out);
    paritas_close(context);
}

static double rounded(double x, unsigned precision)
{
    return precision == 64 ? x : (double)(float)x;
}

/* Of row `row`, number i of group `group`. */
#define AT(out, row, group, i) (out)[(size_t)(row) * CONFORM_OUT + 8 * (size_t)(group) + (size_t)(i)]
#define SAME(got, wanted, group, row, i)                                                     \
    do {                                                                                     \
        const double g_ = (got), w_ = (wanted);                                              \
        if (memcmp(&g_, &w_, sizeof g_) != 0)                                                \
            fail_msg("%s in row %d, %d: %a, not %a", self_test_word(group), row, i, g_, w_); \
    } while (0)

TEST(arithmetic_is_that_of_ieee_754)
{
    static double out[SELF_TEST_OUT];
    struct self_test_data data;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        self_test_fill(&data, precision);
        answers(precision, out);
        for (int row = 0; row < SELF_TEST_ROWS; row++)
            for (int i = 0; i < 8; i++) {
                /* of operands of 24 bits, sums (but for those far apart) and products are exact in double or
                 * rounded once by the last conversion; quotients and roots of floats survive two roundings
                 * (Figueroa, 1995) */
                const double a = data.in[row * CONFORM_IN + i], b = data.in[row * CONFORM_IN + 8 + i],
                             c = data.in[row * CONFORM_IN + 16 + i];
                const double products = rounded(a * b, precision);
                SAME(AT(out, row, CONFORM_SUM, i), rounded(a + b, precision), CONFORM_SUM, row, i);
                SAME(AT(out, row, CONFORM_DIFFERENCE, i), rounded(a - b, precision), CONFORM_DIFFERENCE, row,
                     i);
                SAME(AT(out, row, CONFORM_PRODUCT, i), products, CONFORM_PRODUCT, row, i);
                SAME(AT(out, row, CONFORM_QUOTIENT, i), rounded(a / b, precision), CONFORM_QUOTIENT, row, i);
                SAME(AT(out, row, CONFORM_ROOT, i), rounded(sqrt(fabs(a)), precision), CONFORM_ROOT, row, i);
                SAME(AT(out, row, CONFORM_FMA, i),
                     precision == 64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c), CONFORM_FMA,
                     row, i);
                SAME(AT(out, row, CONFORM_TWO_ROUNDINGS, i), rounded(products + c, precision),
                     CONFORM_TWO_ROUNDINGS, row, i);
                double chosen = a < b && !(c > 0.0) ? 1.0 : a < b || c > 0.0 ? 2.0 : 3.0;
                if (a >= c) chosen = -chosen;
                SAME(AT(out, row, CONFORM_SELECT, i), chosen, CONFORM_SELECT, row, i);
                /* as the kernel counts; an infinity has the sign of c */
                const double found =
                    2.0 + 8.0 + 16.0 + (c > 0.0 ? 32.0 : 0.0) + 64.0 + (a < b ? 0.0 : 256.0) + 2048.0;
                SAME(AT(out, row, CONFORM_COMPARISONS, i), found, CONFORM_COMPARISONS, row, i);
                SAME(AT(out, row, CONFORM_ZEROS, i), 1.0 - 2.0 - 4.0 - 8.0, CONFORM_ZEROS, row, i);
                const double tenth = rounded(0.1, precision), factor = rounded(1.0000001192092896, precision);
                SAME(AT(out, row, CONFORM_LITERAL, i),
                     rounded(rounded(a * tenth, precision) + rounded(factor * b, precision), precision),
                     CONFORM_LITERAL, row, i);
            }
    }
}

/* How many of the numbers tell whether a product is rounded before a sum. */
TEST(inputs_tell_fused_from_unfused_in_both_precisions)
{
    struct self_test_data data;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        int differ = 0;
        self_test_fill(&data, precision);
        for (int row = 0; row < SELF_TEST_ROWS; row++)
            for (int i = 0; i < 8; i++) {
                const double *a = data.in + row * CONFORM_IN + i, product = rounded(a[0] * a[8], precision);
                for (int k = 0; k < 3; k++) SAME(a[8 * k], rounded(a[8 * k], precision), CONFORM_FMA, row, i);
                differ += rounded(product + a[16], precision) !=
                          (precision == 64 ? fma(a[0], a[8], a[16])
                                           : (double)fmaf((float)a[0], (float)a[8], (float)a[16]));
            }
        assert_true(differ >= 4 * SELF_TEST_ROWS);
    }
}

TEST(subnormal_numbers_are_used_in_f64_and_left_out_in_f32)
{
    static double out[SELF_TEST_OUT];
    struct self_test_data data;
    self_test_fill(&data, 64);
    answers(64, out);
    size_t subnormal = 0;
    for (int row = 0; row < SELF_TEST_ROWS; row++)
        for (int i = 0; i < 8; i++) {
            const double tiny = data.in[row * CONFORM_IN + i] * 1e-30, b = data.in[row * CONFORM_IN + 8 + i];
            SAME(AT(out, row, CONFORM_SUBNORMAL, i), tiny * 1e-280, CONFORM_SUBNORMAL, row, i);
            SAME(AT(out, row, CONFORM_SUBNORMAL_SUM, i),
                 fma(tiny * 1e-280, b * 1e293, (tiny * 1e-280 + tiny * 1e-277) * 1e290),
                 CONFORM_SUBNORMAL_SUM, row, i);
            subnormal += AT(out, row, CONFORM_SUBNORMAL, i) != 0.0 &&
                         fabs(AT(out, row, CONFORM_SUBNORMAL, i)) < DBL_MIN;
        }
    assert_true(subnormal > 10);
    self_test_fill(&data, 32);
    answers(32, out);
    for (int row = 0; row < SELF_TEST_ROWS; row++)
        for (int i = 0; i < 8; i++) {
            SAME(AT(out, row, CONFORM_SUBNORMAL, i), 0.0, CONFORM_SUBNORMAL, row, i);
            SAME(AT(out, row, CONFORM_SUBNORMAL_SUM, i), data.in[row * CONFORM_IN + 16 + i],
                 CONFORM_SUBNORMAL_SUM, row, i);
        }
}

TEST(functions_are_those_of_the_c_library_but_for_roundings)
{
    static double out[SELF_TEST_OUT];
    struct self_test_data data;
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        const double unit = precision == 64 ? DBL_EPSILON : FLT_EPSILON;
        self_test_fill(&data, precision);
        answers(precision, out);
        for (int row = 0; row < SELF_TEST_ROWS; row++)
            for (int i = 0; i < 8; i++) {
                const double a = data.in[row * CONFORM_IN + i], size = fabs(a),
                             x = rounded(rounded(size / rounded(1.0 + size, precision), precision) - 0.5,
                                         precision);
                const double wanted[] = {
                    exp(a),  log(size),    a > -1.0 ? log1p(a) : 0.0, x - log1p(x), erf(a),
                    erfc(a), lgamma(size), 0.5 * erfc(-a / sqrt(2.0))};
                for (int f = 0; f < 8; f++) {
                    const double got = AT(out, row, CONFORM_EXP + f, i);
                    /* the C library's own deviance cancels where x is small, its lgamma near 1 and 2; below
                     * the normal floats there is zero */
                    const double few = 8.0 * unit * fabs(wanted[f]) +
                                       (f == 3 || f == 6 || f == 7 ? 4.0 * unit : 0.0) +
                                       (precision == 32 ? FLT_MIN : 0.0);
                    if (!(fabs(got - wanted[f]) <= few))
                        fail_msg("%s of %a in f%u: %.17g, not %.17g",
                                 self_test_word((unsigned)(CONFORM_EXP + f)), a, precision, got, wanted[f]);
                }
                const double degree = acos(-1.0) / 180.0, angle = rounded(a * 5.0, precision),
                             part = rounded(a / rounded(1.0 + size, precision), precision);
                const double angles[] = {sin(angle * degree), cos(angle * degree), acos(part) / degree,
                                         asin(sqrt(fabs(part))) / degree};
                for (int f = 0; f < 4; f++) {
                    const double got = AT(out, row, CONFORM_SIN + f, i);
                    if (!(fabs(got - angles[f]) <= 8.0 * unit * (fabs(angles[f]) + (f < 2))))
                        fail_msg("%s of %a in f%u: %.17g, not %.17g",
                                 self_test_word((unsigned)(CONFORM_SIN + f)), a, precision, got, angles[f]);
                }
            }
    }
}

/* In doubles, rounded as the kernel does. */
TEST(memory_rows_and_teams_are_as_the_words_say)
{
    static double out[SELF_TEST_OUT];
    struct self_test_data data;
    self_test_fill(&data, 64);
    answers(64, out);
    const uint32_t *whole = data.ints + CONFORM_SHARED;
    for (int row = 0; row < SELF_TEST_ROWS; row++) {
        const double *a = data.in + row * CONFORM_IN, *b = a + 8, *c = a + 16, *all = data.in;
        double v[CONFORM_SHARED], w[CONFORM_SHARED], sums[8] = {0}, dots[8] = {0}, rows[8];
        for (int i = 0; i < CONFORM_SHARED; i++) v[i] = fma(a[i % 8], i, b[i / 8 % 8]);
        for (int i = 0; i < 8; i++) {
            double serial = 0.0;
            for (int k = i; k < CONFORM_SHARED; k++) serial += v[k];
            SAME(AT(out, row, CONFORM_SERIAL_SUM, i), serial, CONFORM_SERIAL_SUM, row, i);
        }
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < CONFORM_SHARED; i++)
                w[i] = v[data.ints[i]] * 0.5 + v[(i + 1) % CONFORM_SHARED] * 0.25;
            for (int i = 0; i < CONFORM_SHARED && round < 2; i++) v[i] = w[data.ints[i]] - 0.125 * w[i];
        }
        for (int i = 0; i < CONFORM_SHARED; i++) {
            sums[i % 8] += w[i];
            dots[i % 8] = fma(v[i], w[i], dots[i % 8]);
        }
        const double sum =
            ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
        const double dot =
            ((dots[0] + dots[4]) + (dots[2] + dots[6])) + ((dots[1] + dots[5]) + (dots[3] + dots[7]));
        for (int i = 0; i < 8; i++) {
            const int other = a[i] < b[i] ? i : 7 - i, paired = row / 2;
            const double *kept = row % 3 != 1 ? a : row == 1 ? all : all + paired * CONFORM_IN + 8;
            uint64_t bits = (uint64_t)whole[i] | 0x3ff0000000000000u;
            double number;
            memcpy(&number, &bits, sizeof number);
            SAME(AT(out, row, CONFORM_PACKS, i), a[i] * data.reals[i] + data.reals[3] + b[0], CONFORM_PACKS,
                 row, i);
            SAME(AT(out, row, CONFORM_LOADI, i), number, CONFORM_LOADI, row, i);
            SAME(AT(out, row, CONFORM_GATHERP, i), a[whole[i]] - c[whole[i]], CONFORM_GATHERP, row, i);
            SAME(AT(out, row, CONFORM_GATHERS, i), b[other] + data.reals[other], CONFORM_GATHERS, row, i);
            double real = a[i] < b[i] && !(c[i] > 0.0) ? fma(a[i], b[i], c[i])
                                                       : sqrt(a[i] * a[i]) / (1.0 + b[i] * b[i]);
            memcpy(&bits, &real, sizeof bits);
            bits ^= 1;
            memcpy(&real, &bits, sizeof bits);
            SAME(AT(out, row, CONFORM_REALS, i), a[i] > 0.0 || b[i] > 0.0 ? -real : real, CONFORM_REALS, row,
                 i);
            const double looked = data.ints[row % 3] != data.ints[1] ? 1.0 : 2.0;
            rows[i] = all[paired * CONFORM_IN + i] + kept[i] * b[i] +
                      all[(SELF_TEST_ROWS - 1) * CONFORM_IN + i] + looked + (double)(1 << row % 3);
            /* the first two once more, behind a mask */
            SAME(AT(out, row, CONFORM_ROWS, i), rows[row % 3 != 1 && (i == 4 || i == 5) ? i - 4 : i],
                 CONFORM_ROWS, row, i);
            SAME(AT(out, row, CONFORM_TEAM, i), w[32 * i + 5], CONFORM_TEAM, row, i);
            SAME(AT(out, row, CONFORM_TEAM_SUM, i), i % 2 ? sum : dot, CONFORM_TEAM_SUM, row, i);
            SAME(AT(out, row, CONFORM_U32_OF, i), data.ints[i] * 16838897u % 4093, CONFORM_U32_OF, row, i);
        }
    }
}

TEST(every_variant_answers_the_same_bits)
{
    static const char *const builds[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const unsigned lanes[] = {0, 1, 2, 4, 8, 16};
    static double wanted[SELF_TEST_OUT], got[SELF_TEST_OUT];
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        answers(precision, wanted);
        for (size_t b = 0; b < COUNT(builds); b++) {
            paritas_context *context = open_context(precision, builds[b]);
            for (size_t l = 0; context && l < COUNT(lanes); l++) {
                run(context, lanes[l], got);
                for (size_t i = 0; i < SELF_TEST_OUT; i++)
                    if (memcmp(&got[i], &wanted[i], sizeof got[i]) != 0)
                        fail_msg("%s by %s with %u lanes in f%u: %a, not %a",
                                 self_test_word((unsigned)(i % CONFORM_OUT / 8)), builds[b], lanes[l],
                                 precision, got[i], wanted[i]);
            }
            paritas_close(context);
        }
    }
}

TEST(a_processor_that_flushes_answers_the_same_bits_in_f32)
{
    static double wanted[SELF_TEST_OUT], got[SELF_TEST_OUT];
    if (!FLUSH_IS_KNOWN) skip_because(FLUSH_UNKNOWN);
    answers(32, wanted);
    const uint64_t mode = flush_begin();
    answers(32, got);
    flush_end(mode);
    assert_memory_equal(got, wanted, sizeof got);
}

/* Every result counts: a device that gets the last bit of one wrong does not open, and the message names the
 * word. */
TEST(a_wrong_bit_anywhere_refuses_the_device_and_names_the_word)
{
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_context *context = open_context(precision, NULL);
        for (unsigned group = 0; group < CONFORM_GROUPS; group++) {
            fake_reset();
            fake.wrong_number = 1 + (group % SELF_TEST_ROWS) * CONFORM_OUT + 8 * group + group % 8;
            assert_int_equal(fake_use(context), PARITAS_NO_DEVICE);
            char wanted[200];
            snprintf(wanted, sizeof wanted,
                     "device 'fake:0': its self-test failed: %s gives other bits than the CPU's in f%u",
                     self_test_word(group), precision);
            assert_string_equal(paritas_error_message(context), wanted);
            assert_int_equal(fake.buffers, 0);
            assert_int_equal(fake.closes, 1);
        }
        fake_reset();
        assert_int_equal(fake_use(context), PARITAS_OK);
        assert_int_equal(context->device->launches, 0); /* what the test did counts for nobody */
        assert_int_equal(context->device->uploads, 0);
        paritas_close(context);
    }
}

/* A number of the random generator's, in (0, 1), and of the laws that it serves. */
TEST(random_numbers_are_in_their_ranges)
{
    static double out[SELF_TEST_OUT];
    answers(64, out);
    double mean = 0.0;
    for (int row = 0; row < SELF_TEST_ROWS; row++)
        for (int i = 0; i < 8; i++) {
            assert_true(AT(out, row, CONFORM_PHILOX, i) > 0.0 && AT(out, row, CONFORM_PHILOX, i) < 1.0);
            mean += AT(out, row, CONFORM_NORMAL, i) / (8.0 * SELF_TEST_ROWS);
            assert_true(AT(out, row, CONFORM_POISSON, i) >= 0.0 &&
                        AT(out, row, CONFORM_POISSON, i) == floor(AT(out, row, CONFORM_POISSON, i)));
        }
    ASSERT_CLOSE(mean, 0.0, 5.0 / sqrt(8.0 * SELF_TEST_ROWS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_that_of_ieee_754),
        cmocka_unit_test(inputs_tell_fused_from_unfused_in_both_precisions),
        cmocka_unit_test(subnormal_numbers_are_used_in_f64_and_left_out_in_f32),
        cmocka_unit_test(functions_are_those_of_the_c_library_but_for_roundings),
        cmocka_unit_test(memory_rows_and_teams_are_as_the_words_say),
        cmocka_unit_test(every_variant_answers_the_same_bits),
        cmocka_unit_test(a_processor_that_flushes_answers_the_same_bits_in_f32),
        cmocka_unit_test(a_wrong_bit_anywhere_refuses_the_device_and_names_the_word),
        cmocka_unit_test(random_numbers_are_in_their_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
