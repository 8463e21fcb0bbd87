/* What is put into a store comes out of it: bits, order, facts, and what SQLite itself sees. */
#include "store/store_testing.h"

#include <float.h>

/* Whole numbers are among them, since SQLite keeps those in another way. The fits have failed: no others may
 * have such numbers. */
TEST(every_number_comes_back_with_its_bits)
{
    static const double reals[] = {0.0,
                                   1.0,
                                   -1.0,
                                   3.0,
                                   1e15,
                                   0.1,
                                   1.0 / 3.0,
                                   DBL_MIN,
                                   -DBL_MIN,
                                   4.9406564584124654e-324,
                                   -2.2250738585072009e-308,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   9007199254740993.0,
                                   -9223372036854775808.0,
                                   1e300,
                                   INFINITY,
                                   -INFINITY,
                                   NAN};
    enum { N = COUNT(reals) };
    const char *path = path_of("run.db");
    struct store *store;
    paritas_toy rows[N];
    for (size_t i = 0; i < N; i++)
        rows[i] = (paritas_toy){.size = sizeof(paritas_toy),
                                .toy = i * 461168601842738790u,
                                .mu = 1.0,
                                .hypothesis = 0.0,
                                .q = reals[i],
                                .mu_hat = reals[(i + 1) % N],
                                .twice_nll_free = reals[(i + 2) % N],
                                .twice_nll_fixed = reals[(i + 3) % N],
                                .status = (paritas_fit_status)(1 + i % 4),
                                .iterations = UINT32_MAX - (unsigned)i};
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    ASSERT_STORE_OK(store_add(store, N, rows));
    store_close(store);
    struct collected all = rows_of(path);
    assert_int_equal(all.n, N);
    for (size_t i = 0; i < N; i++) assert_true(same_toy(&all.rows[i], &rows[i]));
    free(all.rows);
}

TEST(zero_loses_its_sign)
{
    const paritas_toy row = {.toy = 1,
                             .mu = -0.0,
                             .hypothesis = -0.0,
                             .q = -0.0,
                             .mu_hat = -0.0,
                             .twice_nll_free = -0.0,
                             .twice_nll_fixed = -0.0};
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path_of("run.db"), &tests_run, false, &store));
    ASSERT_STORE_OK(store_add(store, 1, &row));
    store_close(store);
    struct collected all = rows_of(path_of("run.db"));
    const paritas_toy wanted = {.toy = 1};
    assert_true(all.n == 1 && same_toy(&all.rows[0], &wanted));
    free(all.rows);
}

TEST(every_finite_mu_is_a_key_of_its_own)
{
    static const double mu[] = {
        -DBL_MAX,          -1.0,   0.0, 4.9406564584124654e-324, DBL_MIN, 0.1, 0.10000000000000002, 1.0,
        1.0 + DBL_EPSILON, DBL_MAX};
    const char *path = path_of("run.db");
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    for (size_t i = COUNT(mu); i-- > 0;) {
        const paritas_toy row = {.toy = 5, .mu = mu[i], .hypothesis = mu[i]};
        ASSERT_STORE_OK(store_add(store, 1, &row));
        unsigned char present[2];
        ASSERT_STORE_OK(store_present(store, mu[i], mu[i], 4, 2, present));
        assert_true(!present[0] && present[1]);
    }
    store_close(store);
    struct collected all = rows_of(path);
    assert_int_equal(all.n, COUNT(mu));
    for (size_t i = 0; i < COUNT(mu); i++)
        assert_true(same_real(all.rows[i].mu, mu[i]) && same_real(all.rows[i].hypothesis, mu[i]));
    free(all.rows);
}

struct fits {
    size_t n;
    struct store_fit rows[8];
    double vectors[8][6];
};

static int collect_fit(void *user, const struct store_fit *row)
{
    struct fits *all = user;
    assert_true(all->n < 8);
    all->rows[all->n] = *row;
    if (row->parameters != NULL) memcpy(all->vectors[all->n], row->parameters, 3 * sizeof(double));
    if (row->errors != NULL) memcpy(all->vectors[all->n] + 3, row->errors, 3 * sizeof(double));
    all->n++;
    return 0;
}

TEST(fits_keep_their_vectors_as_little_endian_bits)
{
    static const double parameters[] = {1.5, -0.0, 1e-310}, errors[] = {NAN, 4.0, 0.25},
                        failed[] = {NAN, INFINITY, 0.25};
    const struct store_fit rows[] = {{9, 1.25, 0.75, 1e-12, PARITAS_FIT_CONVERGED, 7, parameters, errors},
                                     {2, NAN, NAN, NAN, PARITAS_FIT_NON_FINITE, 0, NULL, NULL},
                                     {3, -4.0, 2.5, 0.0, PARITAS_FIT_AT_ITERATION_LIMIT, 200, failed, NULL}};
    const char *path = path_of("run.db");
    struct store *store;
    struct fits all = {0};
    unsigned char present[10];
    uint64_t counts[PARITAS_FIT_STATUS_COUNT];
    ASSERT_STORE_OK(store_open(scene.context, path, &fits_run, false, &store));
    ASSERT_STORE_OK(store_add_fits(store, 3, rows));
    ASSERT_STORE_OK(store_present(store, 0.0, 0.0, 0, 10, present));
    assert_memory_equal(present, "\0\0\1\1\0\0\0\0\0\1", 10);
    ASSERT_STORE_OK(store_counts(store, counts));
    assert_true(counts[PARITAS_FIT_CONVERGED] == 1 && counts[PARITAS_FIT_AT_ITERATION_LIMIT] == 1 &&
                counts[PARITAS_FIT_NON_FINITE] == 1 && counts[PARITAS_FIT_NO_PROGRESS] == 0);
    store_close(store);
    ASSERT_STORE_OK(store_open_read(scene.context, path, &store));
    assert_int_equal(store_run(store)->n_parameters, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(store_run(store)->parameters[i], parameter_names[i]);
    ASSERT_STORE_OK(store_read_fits(store, collect_fit, &all));
    store_close(store);
    assert_int_equal(all.n, 3);
    assert_true(isnan(all.rows[0].edm) && isnan(all.rows[0].statistic));
    assert_true(all.rows[0].toy == 2 && all.rows[0].parameters == NULL && all.rows[0].errors == NULL &&
                all.rows[0].status == PARITAS_FIT_NON_FINITE);
    assert_true(all.rows[1].toy == 3 && all.rows[1].errors == NULL && all.rows[1].iterations == 200 &&
                all.rows[1].twice_nll == -4.0 && all.rows[1].statistic == 2.5 && all.rows[1].edm == 0.0);
    for (size_t i = 0; i < 3; i++)
        assert_true(same_real(all.vectors[1][i], failed[i]) && same_real(all.vectors[2][i], parameters[i]) &&
                    same_real(all.vectors[2][3 + i], errors[i]));
    assert_int_equal(
        ask_sqlite(path, "SELECT hex(parameters) = '000000000000F83F00000000000000802BE6708B68120000' FROM "
                         "toys WHERE toy = 9"),
        1);
}

TEST(rows_come_in_the_order_of_their_keys)
{
    const char *path = path_of("run.db");
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    for (uint64_t k = 0; k < 97; k++) {
        const uint64_t i = k * 31 % 97;
        ASSERT_STORE_OK(add_range(store, 10 * i, 10 * i + 10));
    }
    store_close(store);
    assert_first_rows(path, 970);
}

TEST(toys_that_are_there_are_told)
{
    const char *path = path_of("run.db");
    struct store *store;
    unsigned char present[70];
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    ASSERT_STORE_OK(add_range(store, 20, 41)); /* toys 10 to 19 of both, and 20 of hypothesis 0 */
    for (int hypothesis = 0; hypothesis < 2; hypothesis++) {
        ASSERT_STORE_OK(store_present(store, 1.0, hypothesis, 5, 70, present));
        for (unsigned i = 0; i < 70; i++)
            assert_int_equal(present[i], i + 5 >= 10 && i + 5 < 21u - (unsigned)hypothesis);
    }
    ASSERT_STORE_OK(store_present(store, 2.0, 0.0, 5, 70, present));
    for (unsigned i = 0; i < 70; i++) assert_int_equal(present[i], 0);
    const paritas_toy last = {.toy = INT64_MAX, .mu = 1.0};
    ASSERT_STORE_OK(store_add(store, 1, &last));
    ASSERT_STORE_OK(store_present(store, 1.0, 0.0, (uint64_t)INT64_MAX - 1, 70, present));
    for (unsigned i = 0; i < 70; i++) assert_int_equal(present[i], i == 1);
    store_close(store);
}

TEST(an_empty_call_adds_nothing_and_is_no_error)
{
    const char *path = path_of("run.db");
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    ASSERT_STORE_OK(store_add(store, 0, NULL));
    ASSERT_STORE_OK(store_present(store, 1.0, 0.0, 0, 0, NULL));
    store_close(store);
    assert_first_rows(path, 0);
}

TEST(missing_and_empty_files_are_made_on_resume)
{
    struct store *store;
    write_file(path_of("empty.db"), "", 0);
    with_sqlite(path_of("hollow.db"), "PRAGMA journal_mode = WAL; VACUUM"); /* a database without a table */
    static const char *const names[] = {"missing.db", "empty.db", "hollow.db"};
    for (size_t i = 0; i < COUNT(names); i++) {
        ASSERT_STORE_OK(store_open(scene.context, path_of(names[i]), &tests_run, true, &store));
        ASSERT_STORE_OK(add_range(store, 0, 3));
        store_close(store);
        /* finished: nothing to do is no error */
        ASSERT_STORE_OK(store_open(scene.context, path_of(names[i]), &tests_run, true, &store));
        store_close(store);
        assert_first_rows(path_of(names[i]), 3);
    }
}

TEST(the_key_is_kept_in_its_order)
{
    const char *path = path_of("run.db");
    make_store(path, &tests_run, 0, 0);
    struct store *store;
    ASSERT_STORE_OK(store_open_read(scene.context, path, &store));
    const struct store_run *run = store_run(store);
    assert_int_equal(run->n_entries, COUNT(entries));
    for (size_t i = 0; i < COUNT(entries); i++) {
        assert_string_equal(run->entries[i].name, entries[i].name);
        assert_string_equal(run->entries[i].value, entries[i].value);
    }
    assert_string_equal(store_entry(store, "seed"), "7");
    assert_null(store_entry(store, "sead"));
    assert_string_equal(store_path(store), path);
    store_close(store);
    assert_int_equal(ask_sqlite(path, "SELECT value FROM run WHERE name = 'seed'"), 7);
}

TEST(facts_are_written_once)
{
    const char *path = path_of("run.db");
    struct store *store;
    double value;
    bool known;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    ASSERT_STORE_OK(store_get_fact(store, "q_obs", &value, &known));
    assert_true(!known && isnan(value));
    ASSERT_STORE_OK(store_set_fact(store, "q_obs", 0.1));
    ASSERT_STORE_OK(store_set_fact(store, "zero", -0.0));
    ASSERT_STORE_OK(store_set_fact(store, "zero", 0.0));
    ASSERT_STORE_OK(store_set_fact(store, "none", NAN));
    ASSERT_STORE_OK(store_set_fact(store, "q_obs", 0.1));
    ASSERT_STORE_OK(store_set_fact(store, "none", NAN));
    ASSERT_REFUSED(store_set_fact(store, "q_obs", 0.2), PARITAS_INVALID_ARGUMENT, "q_obs is 0.1", " 0.2");
    ASSERT_REFUSED(store_set_fact(store, "none", 0.0), PARITAS_INVALID_ARGUMENT, "none is nan", " 0 ");
    store_close(store);
    ASSERT_STORE_OK(store_open_read(scene.context, path, &store));
    ASSERT_STORE_OK(store_get_fact(store, "q_obs", &value, &known));
    assert_true(known && value == 0.1);
    ASSERT_STORE_OK(store_get_fact(store, "zero", &value, &known));
    assert_true(known && same_real(value, 0.0));
    ASSERT_STORE_OK(store_get_fact(store, "none", &value, &known));
    assert_true(known && isnan(value));
    store_close(store);
}

TEST(others_may_read_while_a_run_is_on)
{
    const char *path = path_of("run.db");
    struct store *store, *reader;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    for (uint64_t k = 0; k < 20; k++) {
        ASSERT_STORE_OK(add_range(store, 500 * k, 500 * k + 500));
        assert_int_equal(ask_sqlite(path, "SELECT count(*) FROM toys"), 500 * k + 500);
        assert_first_rows(path, 500 * k + 500);
    }
    ASSERT_STORE_OK(store_open_read(scene.context, path, &reader));
    ASSERT_REFUSED(add_range(reader, 20000, 20001), PARITAS_INVALID_ARGUMENT, "run.db", "reading");
    store_close(store); /* with a reader at work: the log stays, and nothing is lost */
    store_close(reader);
    assert_first_rows(path, 10000);
}

TEST(a_reader_that_stays_does_not_hold_up_the_writer)
{
    const char *path = path_of("run.db");
    struct store *store;
    sqlite3 *reader;
    ASSERT_STORE_OK(store_open(scene.context, path, &tests_run, false, &store));
    ASSERT_STORE_OK(add_range(store, 0, 100));
    assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(reader, "SELECT count(*) FROM toys", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    ASSERT_STORE_OK(add_range(store, 100, 60000));
    sqlite3_reset(statement);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(statement, 0), 100); /* what was there when it began */
    store_close(store);
    sqlite3_finalize(statement);
    sqlite3_close(reader);
    assert_first_rows(path, 60000);
}

TEST(a_closed_store_is_one_file)
{
    const char *path = path_of("run.db");
    make_store(path, &tests_run, 0, 100);
    static const char *const endings[] = {"run.db-wal", "run.db-shm", "run.db-journal", "run.db-lock"};
    for (size_t i = 0; i < COUNT(endings); i++) assert_int_not_equal(access(path_of(endings[i]), F_OK), 0);
    assert_int_equal(ask_sqlite(path, "SELECT count(*) FROM toys WHERE status = 'converged'"), 98);
    assert_int_equal(
        ask_sqlite(path, "SELECT count(*) FROM toys WHERE status = 'non_finite' AND twice_nll_free IS NULL"),
        2);
}

TEST(names_that_mean_something_to_sqlite_are_files_like_others)
{
    static const char *const names[] = {":memory:", "file:run.db?mode=memory", "a b%41?#.db"};
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scene.folder), 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        make_store(names[i], &tests_run, 0, 4);
        assert_int_equal(access(path_of(names[i]), F_OK), 0);
        assert_first_rows(names[i], 4);
    }
    assert_int_equal(chdir(before), 0);
}

TEST(a_store_is_found_through_a_link)
{
    make_store(path_of("run.db"), &tests_run, 0, 4);
    assert_int_equal(symlink(path_of("run.db"), path_of("link.db")), 0);
    struct store *store, *second;
    ASSERT_STORE_OK(store_open(scene.context, path_of("link.db"), &tests_run, true, &store));
    ASSERT_REFUSED(store_open(scene.context, path_of("run.db"), &tests_run, true, &second),
                   PARITAS_UNWRITABLE, "run.db: is in use by another process");
    ASSERT_STORE_OK(add_range(store, 4, 6));
    store_close(store);
    assert_first_rows(path_of("run.db"), 6);
}

static int stop_at_three(void *user, const paritas_toy *row)
{
    (void)row;
    return ++*(int *)user == 3;
}

TEST(reading_ends_when_the_caller_has_enough)
{
    make_store(path_of("run.db"), &tests_run, 0, 10);
    struct store *store;
    int seen = 0;
    ASSERT_STORE_OK(store_open_read(scene.context, path_of("run.db"), &store));
    ASSERT_REFUSED(store_read(store, stop_at_three, &seen), PARITAS_CANCELLED, "run.db");
    assert_int_equal(seen, 3);
    store_close(store);
    store_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(every_number_comes_back_with_its_bits),
        STORE_TEST(zero_loses_its_sign),
        STORE_TEST(every_finite_mu_is_a_key_of_its_own),
        STORE_TEST(fits_keep_their_vectors_as_little_endian_bits),
        STORE_TEST(rows_come_in_the_order_of_their_keys),
        STORE_TEST(toys_that_are_there_are_told),
        STORE_TEST(an_empty_call_adds_nothing_and_is_no_error),
        STORE_TEST(missing_and_empty_files_are_made_on_resume),
        STORE_TEST(the_key_is_kept_in_its_order),
        STORE_TEST(facts_are_written_once),
        STORE_TEST(others_may_read_while_a_run_is_on),
        STORE_TEST(a_reader_that_stays_does_not_hold_up_the_writer),
        STORE_TEST(a_closed_store_is_one_file),
        STORE_TEST(names_that_mean_something_to_sqlite_are_files_like_others),
        STORE_TEST(a_store_is_found_through_a_link),
        STORE_TEST(reading_ends_when_the_caller_has_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
