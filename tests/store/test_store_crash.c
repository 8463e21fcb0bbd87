/* Processes that die, disks that are full, and two runs on one store: nothing that was added is lost, nothing
 * is there twice. */
#include "store/store_testing.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#define ROWS 30000
#define CHUNK 100

/* One run, killed or not: what is not there yet, in chunks. */
static paritas_status run_on(const char *path, struct report *report)
{
    struct store *store;
    unsigned char *present = calloc(ROWS / 2, 1);
    paritas_status status = store_open(scene.context, path, &tests_run, true, &store);
    /* a chunk has both hypotheses of its toys */
    if (status == PARITAS_OK) status = store_present(store, 1.0, 1.0, 0, ROWS / 2, present);
    for (uint64_t i = 0; i < ROWS && status == PARITAS_OK; i += CHUNK) {
        if (!present[i / 2]) status = add_range(store, i, i + CHUNK);
        if (status == PARITAS_OK) report->committed = i + CHUNK;
    }
    store_close(store);
    free(present);
    return status;
}

/* The run in a process of its own, killed after `microseconds`; false if it had ended before. */
static bool run_and_kill(const char *path, struct report *report, unsigned microseconds)
{
    report->committed = 0;
    const pid_t child = fork();
    if (child == 0) _exit(tell(report, run_on(path, report)) == PARITAS_OK ? 0 : 1);
    usleep(microseconds);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) fail_msg("%s", report->message);
    return WIFSIGNALED(status);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

TEST(a_run_that_is_killed_at_any_moment_goes_on_where_it_was)
{
    struct report *report = make_report();
    unsigned kills = 0, middle = 0;
    uint64_t random = 88172645463325252u;
    const double started = seconds();
    ASSERT_STORE_OK(run_on(path_of("undisturbed.db"), report));
    /* microseconds; an instrumented program takes its time */
    const unsigned longest = 1 + (unsigned)(0.6e6 * (seconds() - started));
    while (kills < 100) {
        const char *path = path_of("run.db");
        bool killed = true;
        while (killed) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            killed = run_and_kill(path, report, (unsigned)(random % longest));
            kills += killed;
            struct stat about;
            if (stat(path, &about) != 0) continue; /* killed before it was made */
            /* -1: before its tables were */
            const long long there = ask_sqlite(path, "SELECT count(*) FROM toys");
            if (there < 0) {
                assert_int_equal(report->committed, 0);
                continue;
            }
            assert_int_equal(there % CHUNK, 0);
            assert_true((uint64_t)there >= report->committed); /* what a call has added stays */
            assert_first_rows(path, (uint64_t)there);
            middle += there > 0 && there < ROWS;
        }
        assert_first_rows(path, ROWS);
        assert_int_equal(unlink(path), 0);
    }
    print_message("%u runs killed, %u of them in the middle of their rows\n", kills, middle);
    assert_true(middle >= 30);
    munmap(report, sizeof *report);
}

static paritas_status fill_until_full(const char *path, struct report *report, bool *filled)
{
    struct store *store;
    paritas_status status = store_open(scene.context, path, &tests_run, true, &store);
    for (uint64_t i = 0; i < ROWS && status == PARITAS_OK; i += CHUNK) {
        status = add_range(store, i, i + CHUNK);
        if (status == PARITAS_OK) report->committed = i + CHUNK;
    }
    *filled = store != NULL && status == PARITAS_UNWRITABLE;
    tell(report, status);
    store_close(store);
    return status;
}

TEST(a_full_disk_is_an_error_and_loses_nothing)
{
    /* files that may not grow stand for a disk that is full: the first limit is met by the log, the last by
     * the making of the tables */
    static const rlim_t limits[] = {1000000, 300000, 100000, 10000};
    struct report *report = make_report();
    for (size_t k = 0; k < COUNT(limits); k++) {
        const char *path = path_of("run.db");
        report->committed = 0;
        const pid_t child = fork();
        if (child == 0) {
            const struct rlimit limit = {limits[k], limits[k]};
            bool filled = false;
            signal(SIGXFSZ, SIG_IGN);
            if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
            fill_until_full(path, report, &filled);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(report->status, PARITAS_UNWRITABLE);
        assert_non_null(strstr(report->message, "run.db: cannot be written: "));
        if (limits[k] > 50000) {
            assert_true(report->committed > 0);
            assert_first_rows(path, report->committed);
        } else {
            assert_int_not_equal(access(path, F_OK), 0); /* could not even be made, and is not in the way */
        }
        const uint64_t before = report->committed;
        ASSERT_STORE_OK(run_on(path, report)); /* once there is room again */
        assert_first_rows(path, ROWS);
        print_message("limit %lu: %lu rows\n", (unsigned long)limits[k], (unsigned long)before);
        assert_int_equal(unlink(path), 0);
    }
    munmap(report, sizeof *report);
}

TEST(two_processes_cannot_have_one_store_and_a_death_frees_it)
{
    struct report *report = make_report();
    const char *path = path_of("run.db");
    const pid_t child = fork();
    if (child == 0) {
        struct store *store;
        tell(report, store_open(scene.context, path, &tests_run, false, &store));
        if (store != NULL) report->committed = add_range(store, 0, CHUNK) == PARITAS_OK ? CHUNK : 0;
        report->ready = 1;
        for (;;) pause();
    }
    for (int i = 0; i < 5000 && !report->ready; i++) usleep(1000);
    struct store *store;
    const char *output = path_of("all.db");
    ASSERT_REFUSED(store_open(scene.context, path, &tests_run, true, &store), PARITAS_UNWRITABLE,
                   "run.db: is in use by another process");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 1, &path, output), PARITAS_UNREADABLE,
                   "run.db: is in use by another process");
    assert_int_not_equal(access(output, F_OK), 0);
    assert_first_rows(path, CHUNK); /* reading is free */
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(report->status, PARITAS_OK);
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, true, &store));
    ASSERT_STORE_OK(add_range(store, CHUNK, 2 * CHUNK));
    store_close(store);
    assert_first_rows(path, 2 * CHUNK);
    munmap(report, sizeof *report);
}

TEST(of_runs_that_start_at_once_one_gets_the_store)
{
    enum { RUNS = 8 };
    struct report *reports[RUNS];
    for (int k = 0; k < RUNS; k++) reports[k] = make_report();
    for (int round = 0; round < 20; round++) {
        const char *path = path_of("run.db");
        pid_t children[RUNS];
        for (int k = 0; k < RUNS; k++) {
            children[k] = fork();
            if (children[k] != 0) continue;
            struct store *store;
            paritas_status opened = store_open(scene.context, path, &tests_run, true, &store);
            /* a second one in a row finds them there */
            if (opened == PARITAS_OK) opened = add_range(store, 0, CHUNK);
            tell(reports[k], opened);
            store_close(store);
            _exit(0);
        }
        int winners = 0;
        for (int k = 0; k < RUNS; k++) {
            int status;
            assert_int_equal(waitpid(children[k], &status, 0), children[k]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            winners += reports[k]->status == PARITAS_OK;
            if (reports[k]->status != PARITAS_OK &&
                strstr(reports[k]->message, "is in use by another process") == NULL &&
                strstr(reports[k]->message, "is stored already") == NULL)
                fail_msg("%s", reports[k]->message);
        }
        assert_int_equal(winners, 1);
        assert_first_rows(path, CHUNK);
        assert_int_equal(unlink(path), 0);
    }
    for (int k = 0; k < RUNS; k++) munmap(reports[k], sizeof *reports[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_run_that_is_killed_at_any_moment_goes_on_where_it_was),
        STORE_TEST(a_full_disk_is_an_error_and_loses_nothing),
        STORE_TEST(two_processes_cannot_have_one_store_and_a_death_frees_it),
        STORE_TEST(of_runs_that_start_at_once_one_gets_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
