/* Every allocation of a test by toys fails once, and once with all that follow: each time the answer is
 * PARITAS_OUT_OF_MEMORY, nothing crashes, nothing is left behind, and a store has whole chunks that a next
 * run goes on with. */
#define _GNU_SOURCE /* mkdtemp */
#include "fit/fit_testing.h"
#include "refusing.h"
#include "toys_testing.h"

#include <ftw.h>
#include <unistd.h>

static char folder[32];
static char path[64];

static int remove_one(const char *name, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(name);
}

static int make_folder(void **state)
{
    (void)state;
    /* a thousand stores: in memory, where that is a folder, no disk is waited for */
    snprintf(folder, sizeof folder, "%s/paritas_toys_XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(path, sizeof path, "%s/run.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

enum { TOYS = 12 };

/* The random models of test_toys_parity.c: toys by quasi-Newton (10), and by Newton from every start
 * (22). */
struct run {
    uint64_t model;
    bool store, filled; /* kept; of an earlier run half of the toys are there */
    bool newton_only;
    unsigned precision; /* 0: f64 */
};

static paritas_status take_toys(const struct run *run, const struct fixture *f, uint64_t n,
                                struct taken *taken, paritas_hypotest_toys_result *result)
{
    static const paritas_key_entry entries[] = {{"workspace", "sha256:00"}, {"poi", "mu"}};
    paritas_toys_options options = toys_options(n, run->model);
    options.newton_only = run->newton_only;
    options.take = keep_toys;
    options.user = taken;
    if (run->store) {
        options.store = path;
        options.resume = 1;
        options.entries = entries;
        options.n_entries = COUNT(entries);
    }
    return paritas_hypotest_toys(f->context, f->model, NULL, PARITAS_STATISTIC_QTILDE, 0.75, &options,
                                 result);
}

static int stop(void *user, size_t n, const paritas_toy *toys)
{
    (void)user, (void)n, (void)toys;
    return 1;
}

/* A store of the run that was cancelled after its first toys. */
static void fill_half(const struct run *run, const struct fixture *f)
{
    static const paritas_key_entry entries[] = {{"workspace", "sha256:00"}, {"poi", "mu"}};
    paritas_toys_options options = toys_options(TOYS, run->model);
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    options.newton_only = run->newton_only;
    options.take = stop;
    options.store = path;
    options.entries = entries;
    options.n_entries = COUNT(entries);
    assert_int_equal(
        paritas_hypotest_toys(f->context, f->model, NULL, PARITAS_STATISTIC_QTILDE, 0.75, &options, &result),
        PARITAS_CANCELLED);
}

static void refuse_every_request(const struct run *run, bool for_good)
{
    char *text = random_workspace(run->model, TRAIT_ALL & ~(unsigned)TRAIT_NO_POI);
    struct taken reference = {0};
    paritas_hypotest_toys_result expected = PARITAS_INIT(paritas_hypotest_toys_result), result = expected;
    long n = 0;
    for (bool struck = true; struck; n += REFUSED_STEP) {
        struct ledger ledger = {.for_good = for_good};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.allocator = &allocator;
        options.threads = 1;
        options.precision = run->precision;
        struct fixture f = make_fixture(text, &options, NULL);
        struct taken taken = {0};
        unlink(path);
        if (n == 0) {
            assert_int_equal(take_toys(run, &f, TOYS, &reference, &expected), PARITAS_OK);
            sort_taken(&reference);
            assert_int_equal(reference.n, 2 * TOYS);
            unlink(path);
        }
        if (run->filled) fill_half(run, &f);
        ledger.fail_at = ledger.requests + n + 1;
        const paritas_status status = take_toys(run, &f, TOYS, &taken, &result);
        struck = ledger.requests >= ledger.fail_at;
        if (status != (struck ? PARITAS_OUT_OF_MEMORY : PARITAS_OK))
            fail_msg("request %ld: %s (%s)", n + 1, paritas_status_name(status),
                     paritas_error_message(f.context));
        ledger.fail_at = 0;
        if (struck) assert_true(paritas_error_message(f.context)[0] != '\0');
        /* the context is still good, which a part of the runs sees; what had been kept is not done again */
        const bool again = struck && (run->store || n % 4 == 0);
        if (again && !run->store) taken.n = 0;
        if (again) ASSERT_OK(f.context, take_toys(run, &f, TOYS, &taken, &result));
        if (again || !struck) {
            sort_taken(&taken);
            const size_t there = run->filled ? TOYS : 0; /* of the tested value, which come last */
            assert_int_equal(taken.n, 2 * TOYS - there);
            assert_memory_equal(taken.rows, reference.rows, taken.n * sizeof *taken.rows);
            assert_memory_equal(&result.cls_obs, &expected.cls_obs, sizeof result.cls_obs);
            assert_memory_equal(result.cls_exp, expected.cls_exp, sizeof result.cls_exp);
        }
        free_taken(&taken);
        free_fixture(&f);
        assert_int_equal(ledger.live, 0);
    }
    print_message("model %u%s: about %ld requests\n", (unsigned)run->model,
                  run->store ? ", with a store" : "", n);
    free_taken(&reference);
    free(text);
    unlink(path);
}

TEST(every_request_may_fail)
{
    refuse_every_request(&(struct run){.model = 22}, true);
    refuse_every_request(&(struct run){.model = 10}, true);
}

TEST(a_request_that_fails_once_is_not_papered_over)
{
    refuse_every_request(&(struct run){.model = 10}, false);
    refuse_every_request(&(struct run){.model = 22, .newton_only = true}, false);
}

TEST(every_request_of_toys_in_f32_may_fail)
{
    refuse_every_request(&(struct run){.model = 10, .precision = 32}, true);
    refuse_every_request(&(struct run){.model = 22, .newton_only = true, .precision = 32}, false);
}

TEST(every_request_of_a_run_with_a_store_may_fail)
{
    refuse_every_request(&(struct run){.model = 22, .store = true}, true);
    refuse_every_request(&(struct run){.model = 10, .store = true}, false);
}

TEST(every_request_of_a_run_that_is_resumed_may_fail)
{
    refuse_every_request(&(struct run){.model = 22, .store = true, .filled = true}, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_may_fail),
        cmocka_unit_test(a_request_that_fails_once_is_not_papered_over),
        cmocka_unit_test(every_request_of_toys_in_f32_may_fail),
        cmocka_unit_test_setup_teardown(every_request_of_a_run_with_a_store_may_fail, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(every_request_of_a_run_that_is_resumed_may_fail, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
