/* Numbers of day files: correctly rounded, by strtod's verdict. */
#include "common.h"

#include "moon/er/er_number.h"

/* The text as a field with what stands behind it; NaN: it is refused. */
static double read_field(const char *text, char behind)
{
    char line[1200];
    const size_t length = strlen(text);
    assert_true(length + ER_PADDING + 1 < sizeof line);
    memset(line, 'x', sizeof line);
    memcpy(line, text, length);
    line[length] = behind;
    double value;
    const char *end = er_number(line, &value);
    if (!end) return (double)NAN;
    assert_ptr_equal(end, line + length);
    return value;
}

static void reads_as_strtod(const char *text)
{
    static const char ends[] = {' ', '\n', '\r', '\t'};
    for (size_t k = 0; k < COUNT(ends); k++) {
        const double value = read_field(text, ends[k]), wanted = strtod(text, NULL);
        if (memcmp(&value, &wanted, sizeof value) == 0) continue;
        print_error("'%s' is read as %.17g\n", text, value);
        fail();
    }
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

TEST(numbers_of_every_form_are_those_of_strtod)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0.0",
        "0.0E+00",
        "1",
        "+1",
        "-1.5",
        ".5",
        "5.",
        "-.25",
        "+5.e1",
        "00012.50",
        "9.999E-99",
        "-9.99E-99",
        "999.99",
        "998.99",
        "38.641",
        "16680.334",
        "1e22",
        "1e23",
        "1E-22",
        "1e-23",
        "123456789012345",
        "1234567890123456",
        "12345678901234567",
        "123456789012345678901234567890",
        "0.1234567890123456789",
        "8.98846567431158e307",
        "1.7976931348623157e308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "9007199254740993",
        "9007199254740993.0",
        "009007199254740993",
        "+9007199254740992.99999999999999999999999999999999999",
        "1e-400",
        "0e99999999",
        "0.00000000000000000000000000000001",
        "12345678.12345678",
        "1234567.12345678",
        "123456.123456789",
        "12345678",
        "12345678.5",
        "123456781234567812345678",
        "924000000.123",
        "1.E5",
        "7e+0",
        "7e-0",
        "1e00000000000000000005",
    };
    for (size_t k = 0; k < COUNT(texts); k++) reads_as_strtod(texts[k]);
}

TEST(random_numbers_are_those_of_strtod)
{
    static const char *const forms[] = {"%.0f",  "%.2f",  "%.3f",  "%.6f",  "%.3E",  "%.6E",
                                        "%.15e", "%.17g", "%.16g", "%.25e", "%+.4e", "%012.3f"};
    uint64_t seed = 88172645463325252u;
    for (unsigned k = 0; k < 200000; k++) {
        char text[400];
        const uint64_t bits = draw(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (k % 2 || !isfinite(value))
            value = (double)(int64_t)bits * pow(10.0, (double)(draw(&seed) % 40) - 30.0);
        snprintf(text, sizeof text, forms[k % COUNT(forms)], value);
        reads_as_strtod(text);
    }
}

TEST(halves_between_neighbours_go_to_the_even_one)
{
    uint64_t seed = 2463534242u;
    for (unsigned k = 0; k < 2000; k++) {
        /* from 2^52 to 2^53 doubles lie 1 apart */
        char text[1000];
        const double lower = (double)(draw(&seed) >> 11 | (uint64_t)1 << 52);
        snprintf(text, sizeof text, "%.0f.5", lower);
        reads_as_strtod(text);
        snprintf(text, sizeof text, "%.0f.50000000000000000000000000000000000000000001", lower);
        reads_as_strtod(text);
    }
}

TEST(exponents_of_fortran_are_those_with_an_e)
{
    static const char *const texts[] = {
        "1d5",       "1D5",       "-2.5D+03", "1.000D-05", "4.567D-12",
        "9.999D-99", "-9.99D-99", ".5d1",     "3.D2",      "123456789.123456789012D-7",
        "1.5D+300",  "1.5d-310"};
    for (size_t k = 0; k < COUNT(texts); k++) {
        char with_e[64];
        snprintf(with_e, sizeof with_e, "%s", texts[k]);
        for (char *at = with_e; *at; at++)
            if (*at == 'd' || *at == 'D') *at = 'E';
        const double value = read_field(texts[k], '\n'), wanted = strtod(with_e, NULL);
        assert_memory_equal(&value, &wanted, sizeof value);
    }
}

TEST(what_is_no_number_is_refused)
{
    static const char *const texts[] = {"",      "-",     "+",     ".",      "-.",  "e5",  "1e",  "1e+",
                                        "1e-",   "1.5.2", "1,5",   "0x10",   "nan", "NaN", "inf", "1d",
                                        "1D+",   "--1",   "+-1",   "1-2",    "1 ",  "***", "1_0", "1e5.",
                                        "1e5e5", "1e1e",  "1e999", "-1e400", "12a", "\x80"};
    for (size_t k = 0; k < COUNT(texts); k++) {
        char text[16];
        snprintf(text, sizeof text, "%s", strcmp(texts[k], "1 ") == 0 ? "1\001" : texts[k]);
        if (!isnan(read_field(text, '\n'))) {
            print_error("'%s' is taken\n", text);
            fail();
        }
    }
    char longest[1100];
    memset(longest, '1', sizeof longest);
    longest[1050] = '\0';
    assert_true(isnan(read_field(longest, '\n')));
}

TEST(blanks_and_tabs_are_skipped_however_many)
{
    char line[64];
    for (unsigned n = 0; n < 40; n++) {
        memset(line, ' ', sizeof line);
        if (n > 3) line[n / 2] = '\t';
        line[n] = '7';
        assert_ptr_equal(er_skip_blanks(line), line + n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_form_are_those_of_strtod),
        cmocka_unit_test(random_numbers_are_those_of_strtod),
        cmocka_unit_test(halves_between_neighbours_go_to_the_even_one),
        cmocka_unit_test(exponents_of_fortran_are_those_with_an_e),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(blanks_and_tabs_are_skipped_however_many),
    };
    return cmocka_run_group_tests_name("day files: numbers", tests, NULL, NULL);
}
