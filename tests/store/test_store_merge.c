/* Shards pooled: the rows of the run that was not cut, and nothing where they do not fit. */
#include "store/store_testing.h"

#include <signal.h>

enum { SHARDS = 7, TOYS = 1000 };

/* The run of shard k + 1 of SHARDS. */
static struct store_run shard_run(size_t k, paritas_key_entry own[COUNT(entries) + 1], char text[16])
{
    memcpy(own, entries, sizeof entries);
    snprintf(text, 16, "%zu/%d", k + 1, SHARDS);
    own[COUNT(entries)] = (paritas_key_entry){"shard", text};
    return (struct store_run){STORE_TESTS, COUNT(entries) + 1, own, 0, NULL};
}

static char shard_paths[SHARDS][256];
static const char *shards[SHARDS];

/* Shards of 2 * TOYS rows: blocks of neighbours, or every seventh toy. */
static void make_shards(bool blocks)
{
    for (size_t k = 0; k < SHARDS; k++) {
        paritas_key_entry own[COUNT(entries) + 1];
        char text[16];
        const struct store_run run = shard_run(k, own, text);
        struct store *store;
        snprintf(shard_paths[k], sizeof shard_paths[k], "%s/part%zu.db", scene.folder, k);
        shards[k] = shard_paths[k];
        ASSERT_STORE_OK(store_open(scene.context, shards[k], &run, false, &store));
        if (blocks)
            ASSERT_STORE_OK(add_range(store, 2 * (TOYS * k / SHARDS), 2 * (TOYS * (k + 1) / SHARDS)));
        else
            for (uint64_t toy = k; toy < TOYS; toy += SHARDS)
                ASSERT_STORE_OK(add_range(store, 2 * toy, 2 * toy + 2));
        ASSERT_STORE_OK(store_set_fact(store, "q_obs", 0.75));
        if (k == 3) ASSERT_STORE_OK(store_set_fact(store, "late", NAN));
        store_close(store);
    }
}

static void assert_nothing_made(const char *output)
{
    static const char *const endings[] = {"", "-merge", "-merge-journal", "-lock", "-wal"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s", output, endings[i]);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

TEST(shards_pool_to_the_rows_of_the_whole_run)
{
    for (int blocks = 0; blocks < 2; blocks++) {
        const char *output = path_of("all.db");
        make_shards(blocks);
        ASSERT_STORE_OK(paritas_store_merge(scene.context, SHARDS, shards, output));
        assert_first_rows(output, 2 * TOYS);
        struct store *store;
        double value;
        bool known;
        ASSERT_STORE_OK(store_open_read(scene.context, output, &store));
        assert_null(store_entry(store, "shard"));
        assert_string_equal(store_entry(store, "seed"), "7");
        ASSERT_STORE_OK(store_get_fact(store, "q_obs", &value, &known));
        assert_true(known && value == 0.75);
        ASSERT_STORE_OK(store_get_fact(store, "late", &value, &known));
        assert_true(known && isnan(value));
        store_close(store);
        /* and it is the store of that run */
        ASSERT_STORE_OK(store_open(scene.context, output, &tests_run, true, &store));
        ASSERT_STORE_OK(add_range(store, 2 * TOYS, 2 * TOYS + 4));
        store_close(store);
        assert_first_rows(output, 2 * TOYS + 4);
        for (size_t k = 0; k < SHARDS; k++) unlink(shards[k]);
        unlink(output);
        assert_nothing_made(output);
    }
}

TEST(pools_may_be_pooled)
{
    const char *first = path_of("first.db"), *second = path_of("second.db"), *all = path_of("all.db");
    const char *const halves[] = {second, first};
    make_shards(true);
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 3, shards, first));
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 4, shards + 3, second));
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 2, halves, all));
    assert_first_rows(all, 2 * TOYS);
}

TEST(a_key_that_no_run_has_is_refused_by_its_file)
{
    static const char *const keys[][2] = {
        {"12", "4/3"}, {"12", "0/3"}, {"12", "1/13"}, {"12", "half"}, {"18446744073709551615", "1/1"}};
    for (size_t k = 0; k < COUNT(keys); k++) {
        const paritas_key_entry own[] = {{"ntoys", keys[k][0]}, {"shard", keys[k][1]}};
        const struct store_run run = {STORE_TESTS, COUNT(own), own, 0, NULL};
        char name[16];
        snprintf(name, sizeof name, "%zu.db", k);
        const char *path = path_of(name);
        make_store(path, &run, 0, 2);
        ASSERT_REFUSED(paritas_store_check_whole(scene.context, 1, &path), PARITAS_INVALID_INPUT, name,
                       "no run has ");
    }
}

TEST(a_shard_whose_run_was_killed_is_pooled_with_what_it_had)
{
    const char *path = path_of("run.db"), *output = path_of("all.db");
    const pid_t child = fork();
    if (child == 0) {
        struct store *store;
        if (store_open(scene.context, path, &tests_run, false, &store) != PARITAS_OK) _exit(1);
        if (add_range(store, 0, 500) != PARITAS_OK) _exit(1);
        kill(getpid(), SIGKILL); /* the rows are in the log */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(access(path_of("run.db-wal"), F_OK), 0);
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 1, &path, output));
    assert_first_rows(output, 500);
}

TEST(a_toy_in_two_shards_is_named_with_both_files)
{
    const char *output = path_of("all.db");
    make_shards(true);
    struct store *store;
    paritas_key_entry own[COUNT(entries) + 1];
    char text[16];
    const struct store_run run = shard_run(4, own, text);
    ASSERT_STORE_OK(store_open(scene.context, shards[4], &run, true, &store));
    paritas_toy other = some_toy(23); /* toy 11 is in shard 1 */
    other.iterations += 5;
    ASSERT_STORE_OK(store_add(store, 1, &other));
    store_close(store);
    ASSERT_REFUSED(paritas_store_merge(scene.context, SHARDS, shards, output), PARITAS_INVALID_INPUT,
                   "toy 11 at mu = 1, hypothesis = 1 is in ", "part0.db and in ", "part4.db");
    assert_nothing_made(output);
    const char *const twice[] = {shards[0], shards[1], shards[0]};
    ASSERT_REFUSED(paritas_store_merge(scene.context, 3, twice, output), PARITAS_INVALID_INPUT,
                   "toy 0 at mu = 1, hypothesis = 0 is in ", "part0.db and in ");
    assert_nothing_made(output);
}

TEST(stores_of_different_runs_are_refused_by_the_entry)
{
    static const paritas_key_entry others[] = {{"workspace", "sha256:00"}, {"mu", "1"}, {"seed", "8"}};
    const struct store_run other = {STORE_TESTS, COUNT(others), others, 0, NULL};
    const char *paths[] = {path_of("a.db"), path_of("b.db")}, *output = path_of("all.db");
    make_store(paths[0], &tests_run, 0, 10);
    make_store(paths[1], &other, 10, 20);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, output), PARITAS_INVALID_INPUT,
                   "b.db: was made with seed = 8, ", "a.db has seed = 7");
    assert_nothing_made(output);
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path_of("fits.db"), &fits_run, false, &store));
    store_close(store);
    paths[1] = path_of("fits.db");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, output), PARITAS_INVALID_INPUT,
                   "fits.db: was made with kind = fits, ");
}

TEST(facts_that_contradict_each_other_are_named)
{
    const char *const paths[] = {path_of("a.db"), path_of("b.db")}, *output = path_of("all.db");
    for (int k = 0; k < 2; k++) {
        struct store *store;
        ASSERT_STORE_OK(store_open(scene.context, paths[k], &tests_run, false, &store));
        ASSERT_STORE_OK(store_set_fact(store, "q_obs", 1.0 + k));
        store_close(store);
    }
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, output), PARITAS_INVALID_INPUT,
                   "b.db: q_obs is 2, in the stores before it 1");
    assert_nothing_made(output);
}

TEST(nothing_that_is_there_is_replaced)
{
    const char *path = path_of("run.db"), *output = path_of("all.db");
    make_store(path, &tests_run, 0, 10);
    make_store(output, &tests_run, 0, 4);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 1, &path, output), PARITAS_INVALID_ARGUMENT,
                   "all.db: exists already");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 1, &path, path), PARITAS_INVALID_ARGUMENT,
                   "run.db: exists already");
    assert_first_rows(output, 4);
    unlink(output);
    write_file(path_of("all.db-wal"), "log", 3); /* of a store that was removed without it */
    ASSERT_REFUSED(paritas_store_merge(scene.context, 1, &path, output), PARITAS_INVALID_ARGUMENT,
                   "all.db-wal: exists already");
    unlink(path_of("all.db-wal"));
    write_file(path_of("all.db-merge"), "left of a merge that was killed", 31);
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 1, &path, output));
    assert_first_rows(output, 10);
}

TEST(a_wrong_row_or_path_makes_nothing)
{
    const char *paths[] = {path_of("a.db"), path_of("b.db")}, *output = path_of("all.db"),
               *nowhere = path_of("nowhere/all.db");
    make_store(paths[0], &tests_run, 0, 10);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, output), PARITAS_UNREADABLE,
                   "b.db: cannot be read: No such file");
    make_store(paths[1], &tests_run, 10, 20);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, nowhere), PARITAS_UNWRITABLE,
                   "nowhere/all.db: cannot be written: No such file");
    with_sqlite(paths[1], "UPDATE toys SET q = 'much' WHERE toy = 8 AND hypothesis = 1");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, output), PARITAS_INVALID_INPUT,
                   "b.db: toy 8 at mu = 1.0, hypothesis = 1.0: q is a text (much)");
    assert_nothing_made(output);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 0, paths, output), PARITAS_INVALID_ARGUMENT, "stores");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, NULL, output), PARITAS_INVALID_ARGUMENT,
                   "paths: must not");
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, paths, NULL), PARITAS_INVALID_ARGUMENT,
                   "output: must not");
}

static int collect_toys(void *user, const struct store_fit *row)
{
    static const double vector[] = {1.5, -0.0, 1e-310};
    uint64_t *next = user;
    assert_int_equal(row->toy, *next);
    assert_true(
        row->twice_nll == (double)row->toy &&
        (row->toy % 2 ? row->parameters == NULL : memcmp(row->parameters, vector, sizeof vector) == 0));
    ++*next;
    return 0;
}

TEST(shards_of_fits_pool_with_their_vectors)
{
    static const double vector[] = {1.5, -0.0, 1e-310};
    const char *const paths[] = {path_of("a.db"), path_of("b.db")}, *output = path_of("all.db"),
                      *again = path_of("again.db");
    const char *const overlapping[] = {output, paths[1]};
    struct store *store;
    for (unsigned k = 0; k < 2; k++) {
        ASSERT_STORE_OK(store_open(scene.context, paths[k], &fits_run, false, &store));
        for (uint64_t toy = 0; toy < 40; toy++) {
            const struct store_fit row = {
                .toy = toy, .twice_nll = (double)toy, .parameters = toy % 2 ? NULL : vector};
            if (toy / 3 % 2 == k) ASSERT_STORE_OK(store_add_fits(store, 1, &row));
        }
        store_close(store);
    }
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 2, paths, output));
    uint64_t next = 0;
    ASSERT_STORE_OK(store_open_read(scene.context, output, &store));
    ASSERT_STORE_OK(store_read_fits(store, collect_toys, &next));
    store_close(store);
    assert_int_equal(next, 40);
    ASSERT_REFUSED(paritas_store_merge(scene.context, 2, overlapping, again), PARITAS_INVALID_INPUT,
                   "toy 3 is in ", "all.db and in ", "b.db");
}

struct watch {
    uint64_t calls, last, total, stop_at;
};

static int watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    assert_true(done > watch->last && done <= total);
    watch->last = done;
    watch->total = total;
    return ++watch->calls == watch->stop_at;
}

TEST(merging_tells_how_far_it_is_and_may_be_cancelled)
{
    struct watch watch = {0};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.progress = watch_progress;
    options.progress_user = &watch;
    const char *path = path_of("run.db"), *output = path_of("all.db");
    make_store(path, &tests_run, 0, 40000);
    paritas_close(scene.context);
    assert_int_equal(paritas_open(&options, &scene.context), PARITAS_OK);
    ASSERT_STORE_OK(paritas_store_merge(scene.context, 1, &path, output));
    assert_true(watch.calls >= 4 && watch.total == 40000);
    unlink(output);
    watch = (struct watch){.stop_at = 2};
    assert_int_equal(paritas_store_merge(scene.context, 1, &path, output), PARITAS_CANCELLED);
    assert_int_equal(watch.calls, 2);
    assert_nothing_made(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(shards_pool_to_the_rows_of_the_whole_run),
        STORE_TEST(pools_may_be_pooled),
        STORE_TEST(a_key_that_no_run_has_is_refused_by_its_file),
        STORE_TEST(a_shard_whose_run_was_killed_is_pooled_with_what_it_had),
        STORE_TEST(a_toy_in_two_shards_is_named_with_both_files),
        STORE_TEST(stores_of_different_runs_are_refused_by_the_entry),
        STORE_TEST(facts_that_contradict_each_other_are_named),
        STORE_TEST(nothing_that_is_there_is_replaced),
        STORE_TEST(a_wrong_row_or_path_makes_nothing),
        STORE_TEST(shards_of_fits_pool_with_their_vectors),
        STORE_TEST(merging_tells_how_far_it_is_and_may_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
