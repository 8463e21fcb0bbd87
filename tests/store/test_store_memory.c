/* Every request for memory of ours fails once, with all that follow: the answer is PARITAS_OUT_OF_MEMORY,
 * nothing is left allocated, and the files are whole. */
#include "store/store_testing.h"

#include "base/base_testing.h"

static int ignore(void *user, const paritas_toy *row)
{
    (void)user, (void)row;
    return 0;
}

static int ignore_fit(void *user, const struct store_fit *row)
{
    (void)user, (void)row;
    return 0;
}

static paritas_status make_and_read(paritas_context *context)
{
    const char *path = path_of("run.db");
    struct store *store = NULL, *reader = NULL;
    const paritas_toy rows[] = {some_toy(0), some_toy(1), some_toy(2)};
    unlink(path);
    paritas_status status = store_open(context, path, &tests_run, false, &store);
    if (status == PARITAS_OK) status = store_add(store, 3, rows);
    if (status == PARITAS_OK) status = store_set_fact(store, "q_obs", 1.0);
    if (status == PARITAS_OK) status = store_read(store, ignore, NULL);
    store_close(store);
    if (status == PARITAS_OK) status = store_open_read(context, path, &reader);
    if (status == PARITAS_OK) status = store_read(reader, ignore, NULL);
    store_close(reader);
    return status;
}

static paritas_status resume_fits(paritas_context *context)
{
    static const double vector[] = {1.0, 2.0, 3.0};
    static uint64_t toy;
    struct store *store = NULL;
    const struct store_fit row = {.toy = toy++, .parameters = vector, .errors = vector};
    paritas_status status = store_open(context, path_of("fits.db"), &fits_run, true, &store);
    if (status == PARITAS_OK) status = store_add_fits(store, 1, &row);
    if (status == PARITAS_OK) status = store_read_fits(store, ignore_fit, NULL);
    store_close(store);
    return status;
}

static paritas_status refuse_another_run(paritas_context *context)
{
    static const paritas_key_entry other = {"mu", "2"};
    const struct store_run run = {STORE_TESTS, 1, &other, 0, NULL};
    struct store *store = NULL;
    const paritas_status status = store_open(context, path_of("run.db"), &run, true, &store);
    return status == PARITAS_INVALID_ARGUMENT ? PARITAS_OK : status;
}

static paritas_status merge_two(paritas_context *context)
{
    const char *const paths[] = {path_of("a.db"), path_of("b.db")}, *output = path_of("all.db");
    const paritas_status status = paritas_store_merge(context, 2, paths, output);
    if (status != PARITAS_OK) assert_int_not_equal(access(output, F_OK), 0);
    return status;
}

/* The third shard is missing. */
static paritas_status check_two(paritas_context *context)
{
    const char *const paths[] = {path_of("a.db"), path_of("b.db")};
    const paritas_status status = paritas_store_check_whole(context, 2, paths);
    return status == PARITAS_INVALID_INPUT ? PARITAS_OK : status;
}

TEST(every_request_may_fail)
{
    check_every_failure(make_and_read);
    assert_first_rows(path_of("run.db"), 3);
    check_every_failure(resume_fits);
    check_every_failure(refuse_another_run);
    assert_first_rows(path_of("run.db"), 3);
}

TEST(every_request_of_a_merge_may_fail)
{
    make_store(path_of("a.db"), &tests_run, 0, 10);
    make_store(path_of("b.db"), &tests_run, 10, 20);
    check_every_failure(merge_two);
    assert_first_rows(path_of("all.db"), 20);
}

TEST(every_request_of_a_check_may_fail)
{
    static const paritas_key_entry keys[2][2] = {{{"ntoys", "15"}, {"shard", "1/3"}},
                                                 {{"ntoys", "15"}, {"shard", "2/3"}}};
    for (int k = 0; k < 2; k++) {
        const struct store_run run = {STORE_TESTS, 2, keys[k], 0, NULL};
        make_store(path_of(k == 0 ? "a.db" : "b.db"), &run, 10 * k, 10 * (k + 1));
    }
    check_every_failure(check_two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(every_request_may_fail),
        STORE_TEST(every_request_of_a_merge_may_fail),
        STORE_TEST(every_request_of_a_check_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
