/* Expressions: values, names, columns of errors, new names. */
#include "base/base_testing.h"
#include "base/expression.h"

#include <math.h>

static const char *const given[] = {"alpha", "beta"};

static double value_of(const char *text, const double *arguments)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct arena arena;
    struct expression e;
    uint32_t column;
    double stack[32];
    arena_open(&arena, &context.allocator);
    ASSERT_OK(&context, expression_parse(&context, &arena, text, given, COUNT(given), &e, &column));
    assert_true(e.depth <= COUNT(stack));
    const double value = expression_value(&e, arguments, stack);
    arena_free(&arena);
    assert_int_equal(ledger.live, 0);
    return value;
}

static bool is_linear(const char *text)
{
    paritas_context context = make_context(&(struct ledger){0});
    struct arena arena;
    struct expression e;
    uint32_t column;
    arena_open(&arena, &context.allocator);
    ASSERT_OK(&context, expression_parse(&context, &arena, text, given, COUNT(given), &e, &column));
    const bool linear = expression_is_linear(&e);
    arena_free(&arena);
    return linear;
}

TEST(sums_of_arguments_times_numbers_are_linear)
{
    static const char *const sums[] = {"1",     "x",         "2 * x",          "x * 2 - -y / 3",
                                       "-(-x)", "(x+y) * 2", "1 - 0.5 * x + y"};
    static const char *const others[] = {"x * y",  "2 * x * y",   "1 / x",   "x / y",
                                         "x^2",    "exp(x)",      "sqrt(x)", "2 * x + (y * x)",
                                         "log(y)", "x * (2 * y)", "2 ^ x",   "x * (y + 1)"};
    for (size_t i = 0; i < COUNT(sums); i++) assert_true(is_linear(sums[i]));
    for (size_t i = 0; i < COUNT(others); i++) assert_false(is_linear(others[i]));
}

TEST(values_are_those_of_mathematics)
{
    static const double x[] = {3.0, 0.5};
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1", 1.0},
                 {" .5 ", 0.5},
                 {"5.", 5.0},
                 {"1.e-2", 0.01},
                 {"2e3", 2000.0},
                 {"x", 3.0},
                 {"x+y*2", 4.0},
                 {"(x+y)*2", 7.0},
                 {"x-y-1", 1.5},
                 {"x/y/2", 3.0},
                 {"-x^2", -9.0},
                 {"2^-1", 0.5},
                 {"2^3^2", 512.0},
                 {"x**2", 9.0},
                 {"--x", 3.0},
                 {"+-+x", -3.0},
                 {"2*-x", -6.0},
                 {"x^-2", 1.0 / 9.0},
                 {"x^0", 1.0},
                 {"4^x", 64.0},
                 {"pow(x, 2)", 9.0},
                 {"pow(4, 0.5)", 2.0},
                 {"sqrt(16)", 4.0},
                 {"exp(0)", 1.0},
                 {"log(1)", 0.0},
                 {"exp(log(x))", 3.0},
                 {"'x'*'y'", 1.5},
                 {"exp", 3.0},
                 {"@1", 3.0},
                 {"@0 + 2*@1", 4.0},
                 {"x*(1+x*(1+x*(1+x)))", 120.0}};
    for (size_t k = 0; k < COUNT(cases); k++)
        ASSERT_CLOSE(value_of(cases[k].text, x), cases[k].value, 1e-13 * 512);
}

TEST(outside_the_domain_is_no_value)
{
    static const char *const cases[] = {"log(x)", "sqrt(x-1)", "1/x", "x^-1", "x^0.3", "(x-1)^y"};
    for (size_t k = 0; k < COUNT(cases); k++) assert_true(isnan(value_of(cases[k], (double[]){0.0, 0.5})));
}

TEST(names_come_in_the_order_of_the_text)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct arena arena;
    struct expression e;
    uint32_t column;
    arena_open(&arena, &context.allocator);
    ASSERT_OK(&context,
              expression_parse(&context, &arena, "b.1 + a[0]*'two words' + b.1^a[0]", NULL, 0, &e, &column));
    assert_int_equal(e.n_names, 3);
    assert_string_equal(e.names[0], "b.1");
    assert_string_equal(e.names[1], "a[0]");
    assert_string_equal(e.names[2], "two words");
    assert_int_equal(e.columns[2], 12);
    arena_free(&arena);
}

TEST(wrong_texts_are_refused_with_their_column)
{
    static const struct {
        const char *text, *message;
        uint32_t column;
    } cases[] = {{"", "a number, a name or \"(\" is missing at the end", 1},
                 {"x +", "a number, a name or \"(\" is missing at the end", 4},
                 {"x y", "an operator is missing, found \"y\"", 3},
                 {"(x", "\")\" is missing at the end", 3},
                 {"x)", "an operator is missing, found \")\"", 2},
                 {"x * / y", "a number, a name or \"(\" is missing, found \"/\"", 5},
                 {"pow(x)", "\",\" is missing, found \")\"", 6},
                 {"exp(x, y)", "\")\" is missing, found \",\"", 6},
                 {"sin(x)", "there is no function \"sin\", only exp, log, sqrt and pow", 1},
                 {"1 + min(x, y)", "min has a kink, and fits need smooth functions", 5},
                 {"x % y", "an operator is missing, found \"%\"", 3},
                 {"x \xc3\xa4", "an operator is missing, found \"\xc3\xa4\"", 3},
                 {"'x", "the quoted name has no end", 1},
                 {"''", "a number, a name or \"(\" is missing, found \"''\"", 1},
                 {"1e999", "\"1e999\" is no number, it is too large", 1},
                 {"@2", "there is no argument @2: 2 are given, from @0 on", 1},
                 {"a == b", "an operator is missing, found \"=\"", 3}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct ledger ledger;
        paritas_context context = make_context(&ledger);
        struct arena arena;
        struct expression e;
        uint32_t column;
        arena_open(&arena, &context.allocator);
        assert_int_equal(expression_parse(&context, &arena, cases[k].text, given, COUNT(given), &e, &column),
                         PARITAS_INVALID_INPUT);
        assert_string_equal(context.message, cases[k].message);
        assert_int_equal(column, cases[k].column);
        arena_free(&arena);
        assert_int_equal(ledger.live, 0);
    }
}

TEST(levels_have_an_end)
{
    char text[4096];
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct arena arena;
    struct expression e;
    uint32_t column;
    const char *const opening[] = {"(", "2^"};
    for (size_t k = 0; k < COUNT(opening); k++) {
        arena_open(&arena, &context.allocator);
        text[0] = '\0';
        for (int i = 0; i < 1000; i++) strcat(text, opening[k]);
        assert_int_equal(expression_parse(&context, &arena, text, NULL, 0, &e, &column),
                         PARITAS_INVALID_INPUT);
        arena_free(&arena);
    }
}

static paritas_status parse_and_rename(paritas_context *context)
{
    struct arena arena;
    struct expression e;
    uint32_t column;
    const char *const pairs[] = {"x", "z"};
    arena_open(&arena, &context->allocator);
    paritas_status status = expression_parse(context, &arena, "x + pow(y, x)", NULL, 0, &e, &column);
    if (status == PARITAS_OK && !expression_rename(&arena, "x + pow(y, x)", pairs, COUNT(pairs)))
        status = paritas_fail_memory(context);
    arena_free(&arena);
    return status;
}

TEST(every_failure_of_memory_is_reported)
{
    check_every_failure(parse_and_rename);
}

TEST(names_are_replaced_where_they_are_names)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct arena arena;
    arena_open(&arena, &context.allocator);
    const char *const pairs[] = {"x", "a long name", "y", "why", "exp", "e", "odd one", "plain"};
    assert_string_equal(
        expression_rename(&arena, " x+y * exp(xy) + exp - 'odd one'/'x' ", pairs, COUNT(pairs)),
        " 'a long name'+why * exp(xy) + e - plain/'a long name' ");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_mathematics),
        cmocka_unit_test(sums_of_arguments_times_numbers_are_linear),
        cmocka_unit_test(outside_the_domain_is_no_value),
        cmocka_unit_test(names_come_in_the_order_of_the_text),
        cmocka_unit_test(wrong_texts_are_refused_with_their_column),
        cmocka_unit_test(levels_have_an_end),
        cmocka_unit_test(every_failure_of_memory_is_reported),
        cmocka_unit_test(names_are_replaced_where_they_are_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
