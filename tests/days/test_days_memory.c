/* Every allocation of the functions on days fails once, and once with all that follow: the answer is
 * PARITAS_OUT_OF_MEMORY, or, where a smaller launch did it, what it was. Nothing is left behind. */
#define _POSIX_C_SOURCE 200809L
#include "days/days_testing.h"
#include "refusing.h"

static double truth[DAYS_TRUTHS][DAYS_MOST];
static char file[] = "/tmp/paritas-days-XXXXXX";

static paritas_status find_and_read(paritas_context *own)
{
    paritas_days *days;
    paritas_day_share share = PARITAS_INIT(paritas_day_share);
    paritas_er_day *day = NULL;
    const char *const paths[1] = {file};
    paritas_status status = paritas_days_find(own, 1, paths, 0, 0, 0, &days);
    if (status == PARITAS_OK) status = paritas_day_read(own, &days->days[0], NULL, &share, &day);
    paritas_days_free(days);
    paritas_er_day_free(day);
    return status;
}

static paritas_status synthesize(paritas_context *own)
{
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_er_day *day;
    paritas_status status = PARITAS_OK;
    options.plasma = 1;
    for (int edge = 0; edge < 3 && status == PARITAS_OK; edge++) {
        options.edge = (paritas_true_edge)edge;
        status = draw_day(own, &options, 1, truth, &day);
        paritas_er_day_free(day);
    }
    return status;
}

static paritas_status answer(paritas_context *own)
{
    enum { N = 5 };
    const unsigned char good[N] = {0};
    const paritas_synthetic_options draw = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_day_options options = PARITAS_DAY_OPTIONS_DEFAULT;
    paritas_losscone_options losscone = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    paritas_losscone_result results[N];
    paritas_day_cause cause = PARITAS_INIT(paritas_day_cause);
    paritas_er_day *day, *both = NULL;
    paritas_day_sweeps *sweeps = NULL;
    losscone.box_limit = 20;
    options.losscone = &losscone;
    options.polarity = 1.0;
    options.potential_source = PARITAS_POTENTIAL_SOURCE_VALUE;
    paritas_status status = draw_day(own, &draw, N, truth, &day);
    if (status == PARITAS_OK) {
        const paritas_er_day *const parts[2] = {day, day};
        paritas_day_share shares[2] = {PARITAS_INIT(paritas_day_share), {0}};
        status = paritas_day_join(own, 2, parts, shares, &both);
    }
    if (status == PARITAS_OK) status = fit_day(own, &options, both, &sweeps, results);
    if (status == PARITAS_OK) status = paritas_day_plasma(own, &options, both, sweeps);
    if (status == PARITAS_OK)
        status = paritas_day_find_cause(own, &options, 1, 0, both, sweeps, good, &cause);
    paritas_day_sweeps_free(sweeps);
    paritas_er_day_free(both);
    paritas_er_day_free(day);
    return status;
}

static int write_once(void **state)
{
    (void)state;
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
    paritas_context *own = open_context(NULL);
    paritas_er_day *day = NULL;
    const int descriptor = mkstemp(file);
    if (descriptor < 0) return 1;
    close(descriptor);
    options.time = START;
    const int failed = draw_day(own, &options, 2, truth, &day) || paritas_er_write(own, file, day, 0);
    paritas_er_day_free(day);
    paritas_close(own);
    return failed;
}

static int remove_once(void **state)
{
    (void)state;
    return unlink(file);
}

static void refuse_in(paritas_status (*run)(paritas_context *context), long least)
{
    for (int for_good = 0; for_good < 2; for_good++) {
        bool struck = true;
        long n = 1;
        for (; struck; n += REFUSED_STEP) {
            struct ledger ledger = {.for_good = for_good};
            const paritas_allocator allocator = ledger_allocator(&ledger);
            paritas_context *own = open_context(&allocator);
            const long open = ledger.live;
            ledger.fail_at = ledger.requests + n;
            const paritas_status status = run(own);
            struck = ledger.requests >= ledger.fail_at;
            ledger.fail_at = 0;
            if (status != PARITAS_OK) assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
            if (!struck) assert_int_equal(status, PARITAS_OK);
            if (struck && for_good) assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
            assert_true(ledger.live >= open); /* a host device is opened when it is first needed */
            paritas_close(own);
            assert_int_equal(ledger.live, 0);
        }
        assert_true(n > least);
    }
}

TEST(files_are_found_and_read_or_memory_is_short)
{
    refuse_in(find_and_read, 20);
}

TEST(days_are_drawn_or_memory_is_short)
{
    refuse_in(synthesize, 60);
}

TEST(days_are_answered_or_memory_is_short)
{
    refuse_in(answer, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found_and_read_or_memory_is_short),
        cmocka_unit_test(days_are_drawn_or_memory_is_short),
        cmocka_unit_test(days_are_answered_or_memory_is_short),
    };
    return cmocka_run_group_tests_name("days: memory", tests, write_once, remove_once);
}
