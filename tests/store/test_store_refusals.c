/* What a store does not take, and what it says then. Whatever is refused is left as it was. */
#include "store/store_testing.h"

static paritas_status open_and_close(const char *path, const struct store_run *run, bool resume)
{
    struct store *store;
    const paritas_status status = store_open(scene.context, path, run, resume, &store);
    if (status != PARITAS_OK) assert_null(store);
    store_close(store);
    return status;
}

TEST(an_existing_file_needs_resume)
{
    make_store(path_of("run.db"), &tests_run, 0, 10);
    write_file(path_of("empty.db"), "", 0);
    ASSERT_REFUSED(open_and_close(path_of("run.db"), &tests_run, false), PARITAS_INVALID_ARGUMENT,
                   "run.db: exists already", "`resume`");
    ASSERT_REFUSED(open_and_close(path_of("empty.db"), &tests_run, false), PARITAS_INVALID_ARGUMENT,
                   "empty.db: exists already");
    assert_first_rows(path_of("run.db"), 10);
}

TEST(every_difference_of_two_runs_is_named_with_both_values)
{
    static const paritas_key_entry others[] = {{"workspace", "sha256:00"}, {"mu", "2"}, {"fix_aux", "yes"}};
    const struct store_run other = {STORE_TESTS, COUNT(others), others, 0, NULL};
    make_store(path_of("run.db"), &tests_run, 0, 10);
    ASSERT_REFUSED(open_and_close(path_of("run.db"), &other, true), PARITAS_INVALID_ARGUMENT,
                   "run.db: was made with mu = 1, this run has mu = 2",
                   "; was made with seed = 7, this run has no seed",
                   "; was made with no fix_aux, this run has fix_aux = yes");
    assert_null(strstr(paritas_error_message(scene.context), "workspace"));
    assert_first_rows(path_of("run.db"), 10);
}

TEST(the_order_of_a_key_does_not_matter)
{
    static const paritas_key_entry turned[] = {{"seed", "7"}, {"mu", "1"}, {"workspace", "sha256:00"}};
    const struct store_run other = {STORE_TESTS, COUNT(turned), turned, 0, NULL};
    make_store(path_of("run.db"), &tests_run, 0, 10);
    ASSERT_STORE_OK(open_and_close(path_of("run.db"), &other, true));
}

TEST(another_kind_and_other_parameters_are_named)
{
    static const char *const others[] = {"mu", "gamma[1]"};
    const struct store_run other = {STORE_FITS, COUNT(entries), entries, COUNT(others), others};
    struct store *store;
    make_store(path_of("run.db"), &tests_run, 0, 10);
    ASSERT_REFUSED(open_and_close(path_of("run.db"), &fits_run, true), PARITAS_INVALID_ARGUMENT,
                   "was made with kind = tests, this run has kind = fits");
    ASSERT_STORE_OK(store_open(scene.context, path_of("fits.db"), &fits_run, false, &store));
    ASSERT_REFUSED(add_range(store, 0, 1), PARITAS_INVALID_ARGUMENT, "fits.db", "another kind");
    ASSERT_REFUSED(store_read(store, NULL, NULL), PARITAS_INVALID_ARGUMENT, "fits.db", "another kind");
    store_close(store);
    ASSERT_REFUSED(open_and_close(path_of("fits.db"), &other, true), PARITAS_INVALID_ARGUMENT,
                   "parameter[1] = gamma[0], this run has parameter[1] = gamma[1]",
                   "parameter[2] = \xc3\xa9tale, this run has no parameter[2]");
}

TEST(a_double_is_named_and_nothing_of_its_call_is_kept)
{
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path_of("run.db"), &tests_run, false, &store));
    ASSERT_STORE_OK(add_range(store, 0, 10));
    ASSERT_REFUSED(add_range(store, 7, 30), PARITAS_INVALID_ARGUMENT,
                   "run.db: toy 3 at mu = 1, hypothesis = 1: is stored already");
    const paritas_toy twice[] = {some_toy(10), some_toy(11), some_toy(10)};
    ASSERT_REFUSED(store_add(store, 3, twice), PARITAS_INVALID_ARGUMENT,
                   "run.db: toy 5 at mu = 1, hypothesis = 0: is stored already");
    ASSERT_STORE_OK(add_range(store, 10, 12));
    store_close(store);
    assert_first_rows(path_of("run.db"), 12);
    const struct store_fit fit = {.toy = 4};
    ASSERT_STORE_OK(store_open(scene.context, path_of("fits.db"), &fits_run, false, &store));
    ASSERT_STORE_OK(store_add_fits(store, 1, &fit));
    ASSERT_REFUSED(store_add_fits(store, 1, &fit), PARITAS_INVALID_ARGUMENT,
                   "fits.db: toy 4: is stored already");
    store_close(store);
}

TEST(what_cannot_be_a_key_or_a_status_is_refused)
{
    const paritas_toy wrong[] = {{.toy = (uint64_t)INT64_MAX + 1},
                                 {.mu = NAN},
                                 {.mu = INFINITY},
                                 {.hypothesis = NAN},
                                 {.status = (paritas_fit_status)5},
                                 {.status = (paritas_fit_status)-1}};
    static const char *const reasons[] = {"2^63", "finite", "finite", "finite", "status", "status"};
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path_of("run.db"), &tests_run, false, &store));
    for (size_t i = 0; i < COUNT(wrong); i++)
        ASSERT_REFUSED(store_add(store, 1, &wrong[i]), PARITAS_INVALID_ARGUMENT, "run.db: toy ", reasons[i]);
    store_close(store);
    assert_first_rows(path_of("run.db"), 0);
}

/* Neither resuming nor reading takes the file; both say the same, and its bytes stay. */
static void assert_no_store(const char *name, const char *reason)
{
    const char *path = path_of(name);
    struct stat before, after;
    struct store *store;
    assert_int_equal(stat(path, &before), 0);
    ASSERT_REFUSED(open_and_close(path, &tests_run, true), PARITAS_INVALID_INPUT, name, reason);
    ASSERT_REFUSED(store_open_read(scene.context, path, &store), PARITAS_INVALID_INPUT, name, reason);
    assert_null(store);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

TEST(a_file_that_is_no_store_is_refused_and_left_alone)
{
    char noise[20000];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)(i * i >> 3);
    write_file(path_of("text.db"), "hello\n", 6);
    write_file(path_of("noise.db"), noise, sizeof noise);
    with_sqlite(path_of("other.db"), "CREATE TABLE toys(mu REAL); PRAGMA application_id = 42");
    with_sqlite(path_of("plain.db"), "CREATE TABLE toys(mu REAL)");
    assert_no_store("text.db", "is not a store of toys: the file is not a database");
    assert_no_store("noise.db", "is not a store of toys: the file is not a database");
    assert_no_store("other.db", "another program's database (application_id 0x0000002a");
    assert_no_store("plain.db", "another program's database (application_id 0x00000000");
}

TEST(a_store_of_another_format_is_refused_by_its_number)
{
    make_store(path_of("run.db"), &tests_run, 0, 10);
    with_sqlite(path_of("run.db"), "PRAGMA user_version = 7");
    assert_no_store("run.db", "is a store of format 7; this version knows format 1");
}

TEST(a_store_that_lacks_a_part_says_which)
{
    static const struct {
        const char *change, *reason;
    } cases[] = {
        {"DROP TABLE run", "no such table: run"},
        {"UPDATE run SET value = 'cats' WHERE name = 'kind'", "the kind of the run is cats"},
        {"DELETE FROM run WHERE name = 'kind'", "the kind of the run is missing"},
        {"UPDATE run SET value = NULL WHERE name = 'seed'", "an entry without a text"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_store(path_of("run.db"), &tests_run, 0, 10);
        with_sqlite(path_of("run.db"), cases[i].change);
        assert_no_store("run.db", cases[i].reason);
        unlink(path_of("run.db"));
    }
}

TEST(a_damaged_store_is_an_error)
{
    make_store(path_of("run.db"), &tests_run, 0, 5000);
    FILE *file = fopen(path_of("run.db"), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 3 * 4096, SEEK_SET), 0);
    for (int i = 0; i < 40 * 4096; i++) fputc(0xa5, file);
    fclose(file);
    struct store *store;
    struct collected all = {0};
    ASSERT_STORE_OK(store_open_read(scene.context, path_of("run.db"), &store));
    ASSERT_REFUSED(store_read(store, collect, &all), PARITAS_INVALID_INPUT,
                   "run.db: the database is damaged");
    store_close(store);
    free(all.rows);
}

TEST(a_row_that_cannot_be_one_is_named)
{
    static const struct {
        const char *change, *reason;
    } cases[] = {
        {"UPDATE toys SET q = 'much' WHERE toy = 3 AND hypothesis = 1",
         "toy 3 at mu = 1.0, hypothesis = 1.0: q is a text (much), not a real number"},
        {"UPDATE toys SET mu_hat = x'00ff' WHERE toy = 3 AND hypothesis = 1",
         "toy 3 at mu = 1.0, hypothesis = 1.0: mu_hat is a blob, not"},
        {"UPDATE toys SET status = 'fine' WHERE toy = 4 AND hypothesis = 0",
         "toy 4 at mu = 1.0, hypothesis = 0.0: status is a text (fine), not the name of a status"},
        {"UPDATE toys SET status = NULL WHERE toy = 4 AND hypothesis = 0",
         "toy 4 at mu = 1.0, hypothesis = 0.0: status is nothing, not"},
        {"UPDATE toys SET status = x'ff' WHERE toy = 4 AND hypothesis = 0", "status is a blob, not"},
        {"UPDATE toys SET iterations = -1 WHERE toy = 4 AND hypothesis = 0",
         "iterations is a whole number (-1), not"},
        {"UPDATE toys SET iterations = 5000000000 WHERE toy = 4 AND hypothesis = 0",
         "iterations is a whole number (5000000000), not"},
        {"UPDATE toys SET iterations = 'few' WHERE toy = 4 AND hypothesis = 0",
         "iterations is a text (few), not"},
        {"UPDATE toys SET toy = -4 WHERE toy = 4 AND hypothesis = 0",
         "toy -4 at mu = 1.0, hypothesis = 0.0: toy is a whole number (-4), not"},
        {"UPDATE toys SET toy = 'x' WHERE toy = 4 AND hypothesis = 0",
         "toy x at mu = 1.0, hypothesis = 0.0: toy is a text (x), not"},
        {"UPDATE toys SET mu = 'one' WHERE toy = 4 AND hypothesis = 0",
         "toy 4 at mu = one, hypothesis = 0.0: mu is a text (one), not"},
        {"UPDATE toys SET mu = 9e999 WHERE toy = 4 AND hypothesis = 0", "mu is not a finite number"},
        {"UPDATE toys SET hypothesis = -9e999 WHERE toy = 4 AND hypothesis = 0",
         "hypothesis is not a finite number"},
        {"UPDATE toys SET q = NULL WHERE toy = 4 AND hypothesis = 0",
         "toy 4 at mu = 1, hypothesis = 0: q is nothing: fits that converged have a number"},
        {"UPDATE toys SET q = 9e999 WHERE toy = 4 AND hypothesis = 0",
         "q is inf: fits that converged have a finite number from 0"},
        {"UPDATE toys SET q = -1 WHERE toy = 4 AND hypothesis = 0",
         "q is -1: fits that converged have a finite number from 0"},
        {"UPDATE toys SET mu_hat = NULL WHERE toy = 4 AND hypothesis = 0", "mu_hat is nothing"},
        {"UPDATE toys SET mu_hat = -9e999 WHERE toy = 4 AND hypothesis = 0", "mu_hat is -inf"},
        {"UPDATE toys SET twice_nll_free = NULL WHERE toy = 4 AND hypothesis = 0",
         "twice_nll_free is nothing"},
        {"UPDATE toys SET twice_nll_fixed = 9e999 WHERE toy = 4 AND hypothesis = 0",
         "twice_nll_fixed is inf"},
        {"CREATE TABLE other AS SELECT * FROM toys; DROP TABLE toys; ALTER TABLE other RENAME TO toys; "
         "INSERT INTO toys SELECT * FROM toys WHERE toy = 4 AND hypothesis = 0",
         "toy 4 at mu = 1, hypothesis = 0: is there twice"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct store *store;
        struct collected all = {0};
        make_store(path_of("run.db"), &tests_run, 0, 20);
        with_sqlite(path_of("run.db"), cases[i].change);
        ASSERT_STORE_OK(store_open_read(scene.context, path_of("run.db"), &store));
        ASSERT_REFUSED(store_read(store, collect, &all), PARITAS_INVALID_INPUT, "run.db: toy ",
                       cases[i].reason);
        if (strstr(cases[i].change, "status") != NULL) {
            uint64_t counts[PARITAS_FIT_STATUS_COUNT];
            ASSERT_REFUSED(store_counts(store, counts), PARITAS_INVALID_INPUT, cases[i].reason);
        }
        store_close(store);
        free(all.rows);
        unlink(path_of("run.db"));
    }
}

static int ignore_fit(void *user, const struct store_fit *row)
{
    (void)user, (void)row;
    return 0;
}

TEST(a_vector_of_another_length_is_named)
{
    static const double vector[] = {1.0, 2.0, 3.0};
    const struct store_fit rows[] = {{.toy = 1, .parameters = vector, .errors = vector},
                                     {.toy = 2, .parameters = vector}};
    static const char *const changes[] = {"UPDATE toys SET errors = x'0011' WHERE toy = 1",
                                          "UPDATE toys SET errors = 'abcdefghabcdefghabcdefgh' WHERE toy = 1",
                                          "UPDATE toys SET errors = x'' WHERE toy = 1"};
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct store *store;
        ASSERT_STORE_OK(store_open(scene.context, path_of("fits.db"), &fits_run, false, &store));
        ASSERT_STORE_OK(store_add_fits(store, 2, rows));
        store_close(store);
        with_sqlite(path_of("fits.db"), changes[i]);
        ASSERT_STORE_OK(store_open_read(scene.context, path_of("fits.db"), &store));
        ASSERT_REFUSED(store_read_fits(store, ignore_fit, NULL), PARITAS_INVALID_INPUT,
                       "fits.db: toy 1: errors is ", "8 bytes a parameter");
        store_close(store);
        unlink(path_of("fits.db"));
    }
}

/* What a fit that converged cannot have; of those that failed all is read. */
TEST(a_fit_that_cannot_be_one_is_named)
{
    static const double vector[] = {1.0, 2.0, 3.0};
    static const struct {
        const char *change, *reason;
    } cases[] = {
        {"twice_nll = NULL", "toy 1: twice_nll is nothing"},
        {"twice_nll = 9e999", "toy 1: twice_nll is inf"},
        {"statistic = NULL", "toy 1: statistic is nothing"},
        {"statistic = -9e999", "toy 1: statistic is -inf"},
        {"parameters = x'000000000000f03f000000000000f87f000000000000f03f'", "toy 1: parameters is nothing"},
        {"parameters = x'000000000000f03f000000000000f07f000000000000f03f'", "toy 1: parameters is inf"},
        {"errors = x'000000000000f03f000000000000f0bf000000000000f03f'", "toy 1: errors is -1"},
        {"errors = x'000000000000f03f000000000000f87f000000000000f03f'", NULL},
        {"parameters = NULL, errors = NULL, edm = NULL", NULL},
        {"status = 'no_progress', twice_nll = NULL, statistic = 9e999", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct store_fit row = {
            .toy = 1, .twice_nll = 8.0, .statistic = 3.0, .parameters = vector, .errors = vector};
        char statement[256];
        struct store *store;
        ASSERT_STORE_OK(store_open(scene.context, path_of("fits.db"), &fits_run, false, &store));
        ASSERT_STORE_OK(store_add_fits(store, 1, &row));
        store_close(store);
        snprintf(statement, sizeof statement, "UPDATE toys SET %s", cases[i].change);
        with_sqlite(path_of("fits.db"), statement);
        ASSERT_STORE_OK(store_open_read(scene.context, path_of("fits.db"), &store));
        if (cases[i].reason)
            ASSERT_REFUSED(store_read_fits(store, ignore_fit, NULL), PARITAS_INVALID_INPUT,
                           "fits.db: ", cases[i].reason);
        else
            ASSERT_STORE_OK(store_read_fits(store, ignore_fit, NULL));
        store_close(store);
        unlink(path_of("fits.db"));
    }
}

TEST(a_path_that_leads_nowhere_is_unwritable_and_unreadable)
{
    struct store *store;
    assert_int_equal(mkdir(path_of("folder"), 0755), 0);
    ASSERT_REFUSED(open_and_close(path_of("nowhere/run.db"), &tests_run, false), PARITAS_UNWRITABLE,
                   "nowhere/run.db", "No such file");
    ASSERT_REFUSED(open_and_close(path_of("folder"), &tests_run, true), PARITAS_UNWRITABLE, "is a directory");
    ASSERT_REFUSED(open_and_close("", &tests_run, true), PARITAS_UNWRITABLE, "No such file");
    ASSERT_REFUSED(store_open_read(scene.context, path_of("run.db"), &store), PARITAS_UNREADABLE, "run.db",
                   "No such file");
    ASSERT_REFUSED(store_open_read(scene.context, path_of("folder"), &store), PARITAS_UNREADABLE, "folder");
    write_file(path_of("empty.db"), "", 0);
    ASSERT_REFUSED(store_open_read(scene.context, path_of("empty.db"), &store), PARITAS_INVALID_INPUT,
                   "empty.db: is not a store of toys: it is empty");
}

/* Runs `work` in a child that is not root; false where that cannot be had. */
static bool as_nobody(paritas_status (*work)(const char *path), const char *path, struct report *report)
{
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(77);
        tell(report, work(path));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

static paritas_status resume(const char *path)
{
    return open_and_close(path, &tests_run, true);
}

static paritas_status read_only(const char *path)
{
    struct store *store;
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
    paritas_status status = store_open_read(scene.context, path, &store);
    if (status == PARITAS_OK) status = store_counts(store, counts);
    if (status == PARITAS_OK && counts[PARITAS_FIT_CONVERGED] != 10)
        status = paritas_fail(scene.context, PARITAS_INVALID_INPUT, "not ten");
    store_close(store);
    return status;
}

TEST(files_and_folders_without_permission_are_unwritable)
{
    struct report *report = make_report();
    make_store(path_of("run.db"), &tests_run, 0, 10);
    assert_int_equal(chmod(path_of("run.db"), 0444), 0);
    assert_int_equal(chmod(scene.folder, 0777), 0);
    if (!as_nobody(resume, path_of("run.db"), report)) skip_because("no user without rights can be had");
    assert_int_equal(report->status, PARITAS_UNWRITABLE);
    assert_non_null(strstr(report->message, "run.db: cannot be written: Permission denied"));
    assert_int_equal(chmod(path_of("run.db"), 0666), 0);
    assert_int_equal(chmod(scene.folder, 0555), 0);
    assert_true(as_nobody(resume, path_of("run.db"), report));
    assert_int_equal(report->status, PARITAS_UNWRITABLE);
    assert_non_null(strstr(report->message, "run.db: cannot be written: its folder: Permission denied"));
    assert_true(as_nobody(resume, path_of("new.db"), report));
    assert_int_equal(report->status, PARITAS_UNWRITABLE);
    assert_non_null(strstr(report->message, "new.db: cannot be written: its folder: Permission denied"));
    assert_int_not_equal(access(path_of("new.db"), F_OK), 0);
    assert_true(as_nobody(read_only, path_of("run.db"), report)); /* but reading needs no more than reading */
    if (report->status != PARITAS_OK) fail_msg("%s", report->message);
    assert_int_equal(chmod(path_of("run.db"), 0), 0);
    assert_true(as_nobody(read_only, path_of("run.db"), report));
    assert_int_equal(report->status, PARITAS_UNREADABLE);
    assert_non_null(strstr(report->message, "run.db: cannot be read: Permission denied"));
    munmap(report, sizeof *report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(an_existing_file_needs_resume),
        STORE_TEST(every_difference_of_two_runs_is_named_with_both_values),
        STORE_TEST(the_order_of_a_key_does_not_matter),
        STORE_TEST(another_kind_and_other_parameters_are_named),
        STORE_TEST(a_double_is_named_and_nothing_of_its_call_is_kept),
        STORE_TEST(what_cannot_be_a_key_or_a_status_is_refused),
        STORE_TEST(a_file_that_is_no_store_is_refused_and_left_alone),
        STORE_TEST(a_store_of_another_format_is_refused_by_its_number),
        STORE_TEST(a_store_that_lacks_a_part_says_which),
        STORE_TEST(a_damaged_store_is_an_error),
        STORE_TEST(a_row_that_cannot_be_one_is_named),
        STORE_TEST(a_vector_of_another_length_is_named),
        STORE_TEST(a_fit_that_cannot_be_one_is_named),
        STORE_TEST(a_path_that_leads_nowhere_is_unwritable_and_unreadable),
        STORE_TEST(files_and_folders_without_permission_are_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
