/* Numbers: text to double against the C library's strtod, double to text and back. */
#include "base_testing.h"

#include "base/json/number.h"
#include <float.h>
#include <math.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double random_double(uint64_t *random)
{
    for (;;) {
        uint64_t bits = next_random(random);
        double value;
        if (bits % 8 == 0) bits &= ~((uint64_t)2046 << 52); /* subnormal or just above */
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) return value;
    }
}

static double number_read(const char *literal, size_t length)
{
    struct decimal decimal;
    const char *reason;
    number_scan(literal, literal + length, &decimal, &reason);
    return number_value(&decimal, literal, length);
}

/* The test program runs in the C locale, where strtod is the standard's: correctly rounded in every libc we
 * build with. */
static void reads_as_strtod(const char *text)
{
    double expected = strtod(text, NULL), got = number_read(text, strlen(text));
    if (bits_of(expected) != bits_of(got)) fail_msg("%s: %a, not %a", text, got, expected);
    char padded[2 * NUMBER_AHEAD] = "";
    bool integer;
    if (strlen(text) > NUMBER_AHEAD) return;
    const char *end = number_read_usual(strcpy(padded, text), &got, &integer);
    if (end && (bits_of(expected) != bits_of(got) || *end || integer == (strchr(text, '.') != NULL)))
        fail_msg("%s as a usual number: %a, not %a", text, got, expected);
}

TEST(usual_numbers_are_read_at_once_and_others_are_left)
{
    static const struct {
        const char *text;
        int length; /* -1: left */
    } cases[] = {{"0", 1},
                 {"-0.0,", 4},
                 {"12]", 2},
                 {"36.79288864135742", 17},
                 {"1.5 ", 3},
                 {"", -1},
                 {"-", -1},
                 {"01", -1},
                 {"1.", -1},
                 {".5", -1},
                 {"1e5", -1},
                 {"1.5E5", -1},
                 {"00.5", -1},
                 {"x", -1},
                 {"12345678", -1},
                 {"0.12345678901234567890", -1},
                 {"1234567", 7},
                 {"0.1234567890123456789", -1},
                 {"0.123456789012345678", 20}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char padded[2 * NUMBER_AHEAD] = "";
        double value;
        bool integer;
        const char *end = number_read_usual(strcpy(padded, cases[i].text), &value, &integer);
        assert_int_equal(end ? end - padded : -1, cases[i].length);
        if (end) assert_true(value == strtod(cases[i].text, NULL));
    }
}

TEST(literals_at_the_edges_are_rounded_correctly)
{
    static const char *const literals[] = {
        "0", "-0", "0.0", "-0.0e5", "0e-999", "0e999", "1", "9007199254740991", "9007199254740992",
        "9007199254740993", "9007199254740993.0000000000000000000000001", "9007199254740995",
        "18446744073709551615", "18446744073709551616", "1e22", "1e23", "123e-23", "1e-22",
        "9007199254740993e22", "9007199254740991e-22",
        /* the largest, its upper tie and beyond */
        "1.7976931348623157e308", "1.7976931348623158e308", "1.797693134862315807e308",
        "1.797693134862315808e308", "179769313486231580793e289", "1e308", "1e309", "2e308", "1e400",
        "1e99999999999999999999", "1e-99999999999999999999", "0.0000000000000000000000000001e330",
        /* the smallest, half of it, and the border of normal numbers */
        "5e-324", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "2.47032822920623272e-324", "1e-323", "7.4109846876186982e-324", "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523908135e-"
        "308",
        "1e-400", "1e-343", "9999999999999999999e-343", "1e-342",
        /* many digits */
        "0.1000000000000000055511151231257827021181583404541015625",
        "0.10000000000000000555111512312578270211815834045410156250000000000000000000001",
        "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "00000000e-107",
        "0."
        "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "00000001e108",
        "12345678901234567890123456789012345678901234567890", "1234567890123456789.5", "6929495644600919.5",
        "3.7455744005952583e15", "7.2057594037927933e16"};
    for (size_t i = 0; i < COUNT(literals); i++) reads_as_strtod(literals[i]);
}

TEST(random_literals_are_read_as_strtod_reads_them)
{
    uint64_t random = 1;
    char text[64];
    for (long i = 0; i < 700000; i++) {
        double value = random_double(&random);
        snprintf(text, sizeof text, "%.*e", (int)(next_random(&random) % 22), value);
        reads_as_strtod(text);
        uint64_t digits = next_random(&random);
        digits >>= next_random(&random) % 64;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits,
                 (int)(next_random(&random) % 60) - 40);
        reads_as_strtod(text);
        value = (double)(next_random(&random) % 2000000) / 1000;
        snprintf(text, sizeof text, "%.3f", value);
        reads_as_strtod(text);
    }
}

TEST(ties_between_doubles_go_to_even_and_a_digit_far_behind_decides)
{
    uint64_t random = 2;
    static char text[1300];
    /* what holds the ties must be wider than double; valgrind computes in less than the type says */
    volatile long double one = 1.0L, rest = 0x1p-63L;
    if (one + rest == one) skip_because("long double is no wider than double here");
    for (long i = 0; i < 4000; i++) {
        double low = fabs(random_double(&random)), high = nextafter(low, INFINITY);
        if (!isfinite(high) || LDBL_MIN_EXP > -1080) continue;
        snprintf(text, sizeof text, "%.800Le", ((long double)low + (long double)high) / 2);
        char *last = strchr(text, 'e') - 1; /* a zero: no tie has more than 767 digits */
        assert_int_equal(*last, '0');
        double tie = number_read(text, strlen(text));
        assert_true(bits_of(tie) == (bits_of(low) % 2 == 0 ? bits_of(low) : bits_of(high)));
        *last = '1';
        assert_true(bits_of(number_read(text, strlen(text))) == bits_of(high));
        snprintf(text, sizeof text, "%.1000Le", (long double)low);
        assert_true(bits_of(number_read(text, strlen(text))) == bits_of(low));
    }
}

TEST(long_literals_are_read_as_strtod_reads_them)
{
    uint64_t random = 3;
    static char text[2000];
    for (long i = 0; i < 20000; i++) {
        size_t digits = next_random(&random) % 900 + 1, point = next_random(&random) % digits, used = 0;
        text[used++] = (char)('1' + next_random(&random) % 9);
        for (size_t k = 1; k < digits; k++) {
            if (k == point) text[used++] = '.';
            text[used++] = (char)('0' + next_random(&random) % 10);
        }
        int exponent = (int)(next_random(&random) % 680) - 340 - (int)(point ? point : digits);
        snprintf(text + used, sizeof text - used, "e%d", exponent);
        reads_as_strtod(text);
        size_t zeros = next_random(&random) % 400;
        used = (size_t)snprintf(text, sizeof text, "0.%0*d", (int)zeros + 1, 0);
        const unsigned long long last = next_random(&random) % 1000000000000u + 1;
        snprintf(text + used, sizeof text - used, "%llue%d", last, (int)(next_random(&random) % 600));
        reads_as_strtod(text);
    }
}

TEST(numbers_are_written_as_python_writes_them)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {1.0, "1.0"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {100.0, "100.0"},
                 {123456.75, "123456.75"},
                 {1e15, "1000000000000000.0"},
                 {9999999999999998.0, "9999999999999998.0"},
                 {1e16, "1e+16"},
                 {12345678901234567890.0, "1.2345678901234567e+19"},
                 {0.001, "0.001"},
                 {0.0001, "0.0001"},
                 {0.00012345, "0.00012345"},
                 {0.00001, "1e-05"},
                 {1.5e-7, "1.5e-07"},
                 {1e22, "1e+22"},
                 {1e23, "1e+23"},
                 {1e100, "1e+100"},
                 {2e-100, "2e-100"},
                 {5e-324, "5e-324"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 /* 2^-44: nearest below is outside its narrow side */
                 {5.684341886080802e-14, "5.684341886080802e-14"},
                 {9007199254740992.0, "9007199254740992.0"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[32];
        int length = number_write(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
}

/* Whether `text` can lose a digit: tries both neighbours with one digit less. */
static bool has_a_shorter_form(double value, int digits)
{
    char text[64];
    if (digits < 2) return false;
    snprintf(text, sizeof text, "%.*e", digits - 2, value);
    return strtod(text, NULL) == value;
}

TEST(written_numbers_read_back_and_are_shortest)
{
    uint64_t random = 4;
    for (long i = 0; i < 500000; i++) {
        double value = random_double(&random);
        if (i % 4 == 0) value = (double)(next_random(&random) % 1000000) / 1000;
        if (i < 2046) value = ldexp(1.0, (int)i - 1023);
        char text[32];
        int length = number_write(value, text);
        assert_true(length < 32 && text[length] == '\0');
        if (bits_of(strtod(text, NULL)) != bits_of(value) ||
            bits_of(number_read(text, (size_t)length)) != bits_of(value))
            fail_msg("%s from %a", text, value);
        int digits = 0, zeros = 0;
        for (const char *at = text; *at && *at != 'e'; at++) {
            if (*at < '0' || *at > '9' || (digits == 0 && *at == '0')) continue;
            zeros = *at == '0' ? zeros + 1 : 0;
            digits++;
        }
        if (has_a_shorter_form(value, digits - zeros)) fail_msg("%s is not the shortest", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_numbers_are_read_at_once_and_others_are_left),
        cmocka_unit_test(literals_at_the_edges_are_rounded_correctly),
        cmocka_unit_test(random_literals_are_read_as_strtod_reads_them),
        cmocka_unit_test(ties_between_doubles_go_to_even_and_a_digit_far_behind_decides),
        cmocka_unit_test(long_literals_are_read_as_strtod_reads_them),
        cmocka_unit_test(numbers_are_written_as_python_writes_them),
        cmocka_unit_test(written_numbers_read_back_and_are_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
