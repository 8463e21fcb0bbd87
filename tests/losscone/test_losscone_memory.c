/* Every allocation of every function on loss cones and plasmas fails once, and once with all that follow:
 * then the answer is PARITAS_OUT_OF_MEMORY, or, where a smaller launch did it, what it was; nothing crashes
 * and nothing is left behind. */
#include "losscone/devices.h"
#include "refusing.h"

/* Asks for a part with its n-th request refused, n = 1, 2, ..., until none was. How many that were. */
static long refuse_every_request(const struct sample *sample, enum answers_part part, unsigned precision,
                                 bool for_good)
{
    static const struct answers_wish wish = {.n = 2, .box_limit = 20, .few = true};
    long n = 1, times = 0;
    struct answers wanted = {0};
    for (bool struck = true; struck; n += REFUSED_STEP) {
        struct ledger ledger = {.for_good = for_good};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        struct answers answers = {0};
        options.allocator = &allocator;
        options.threads = 1;
        options.precision = precision;
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        if (n == 1) assert_true(answers_collect(context, sample, part, &wish, &wanted));
        ledger.fail_at = ledger.requests + n;
        const bool good = answers_collect(context, sample, part, &wish, &answers);
        struck = ledger.requests >= ledger.fail_at;
        if (good && answers_difference(&answers, &wanted))
            fail_msg("%s, request %ld: %s", answers_part_names[part], n,
                     answers_difference(&answers, &wanted));
        if (struck && for_good) assert_false(good);
        if (!good)
            assert_string_equal(paritas_error_message(context),
                                paritas_status_message(PARITAS_OUT_OF_MEMORY));
        ledger.fail_at = 0;
        answers.n = 0;
        assert_true(answers_collect(context, sample, part, &wish, &answers)); /* the context is still good */
        answers_free(&answers);
        paritas_close(context);
        assert_int_equal(ledger.live, 0);
        times += struck;
    }
    answers_free(&wanted);
    return times;
}

static void refuse_in(unsigned precision, bool for_good)
{
    struct sample *sample = make_sample();
    for (int part = 0; part < ANSWERS_PART_COUNT; part++) {
        const long n = refuse_every_request(sample, (enum answers_part)part, precision, for_good);
        print_message("%s: %ld requests refused one by one\n", answers_part_names[part], n);
        assert_true(n > 0 || part == ANSWERS_HOST); /* which needs none */
    }
    free(sample);
}

TEST(every_request_may_fail)
{
    refuse_in(64, true);
}
TEST(a_request_may_fail_once)
{
    refuse_in(64, false);
}
TEST(every_request_of_f32_with_polish_may_fail)
{
    refuse_in(32, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_may_fail),
        cmocka_unit_test(a_request_may_fail_once),
        cmocka_unit_test(every_request_of_f32_with_polish_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
