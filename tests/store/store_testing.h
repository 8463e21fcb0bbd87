/* store_testing.h: a folder to work in, toys whose numbers follow from their index, and SQLite as a second
 * pair of eyes. */
#ifndef PARITAS_STORE_TESTING_H
#define PARITAS_STORE_TESTING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkdtemp, fork, MAP_ANONYMOUS */
#endif
#include "common.h"
#include "store/store.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder that is empty at the start of each test, and a context. */
struct scene {
    char folder[64];
    paritas_context *context;
};
static struct scene scene;

static inline int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static inline int open_scene(void **state)
{
    (void)state;
    snprintf(scene.folder, sizeof scene.folder, "/tmp/paritas_store_XXXXXX");
    return mkdtemp(scene.folder) == NULL || paritas_open(NULL, &scene.context) != PARITAS_OK;
}

static inline int close_scene(void **state)
{
    (void)state;
    paritas_close(scene.context);
    chmod(scene.folder, 0700);
    return nftw(scene.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
#define STORE_TEST(claim) cmocka_unit_test_setup_teardown(claim, open_scene, close_scene)

/* A path in the folder; eight may be in use at a time. */
static inline const char *path_of(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scene.folder, name);
    return path;
}

#define ASSERT_STORE_OK(call)                                                                      \
    do {                                                                                           \
        if ((call) != PARITAS_OK) fail_msg("%s: %s", #call, paritas_error_message(scene.context)); \
    } while (0)

/* The call fails with that status and its message contains each of the texts. */
#define ASSERT_REFUSED(call, wanted, ...)                                                              \
    do {                                                                                               \
        const paritas_status refused_as = (call);                                                      \
        const char *const texts[] = {__VA_ARGS__};                                                     \
        if (refused_as != (wanted))                                                                    \
            fail_msg("%s: %s: %s", #call, paritas_status_name(refused_as),                             \
                     paritas_error_message(scene.context));                                            \
        for (size_t text = 0; text < COUNT(texts); text++)                                             \
            if (strstr(paritas_error_message(scene.context), texts[text]) == NULL)                     \
                fail_msg("'%s' does not say '%s'", paritas_error_message(scene.context), texts[text]); \
    } while (0)

static const paritas_key_entry entries[] = {{"workspace", "sha256:00"}, {"mu", "1"}, {"seed", "7"}};
static const struct store_run tests_run = {STORE_TESTS, COUNT(entries), entries, 0, NULL};
static const char *const parameter_names[] = {"mu", "gamma[0]", "\xc3\xa9tale"};
static const struct store_run fits_run = {STORE_FITS, COUNT(entries), entries, COUNT(parameter_names),
                                          parameter_names};

/* Row number i of a run with two hypotheses: any bits that are finite, from the index alone. */
static inline double some_real(uint64_t i)
{
    uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value - value == 0.0 ? 0.25 * value : 0.5;
}

static inline paritas_toy some_toy(uint64_t i)
{
    const uint64_t toy = i / 2;
    const bool answered = toy % 50 != 49;
    return (paritas_toy){.size = sizeof(paritas_toy),
                         .toy = toy,
                         .mu = 1.0,
                         .hypothesis = (double)(i % 2),
                         .q = fabs(some_real(4 * i)),
                         .mu_hat = some_real(4 * i + 1),
                         .twice_nll_free = answered ? some_real(4 * i + 2) : NAN,
                         .twice_nll_fixed = some_real(4 * i + 3),
                         .status = (paritas_fit_status)(answered ? 0 : 3),
                         .iterations = (unsigned)(i % 31)};
}

static inline bool same_real(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static inline bool same_toy(const paritas_toy *a, const paritas_toy *b)
{
    return a->toy == b->toy && same_real(a->mu, b->mu) && same_real(a->hypothesis, b->hypothesis) &&
           same_real(a->q, b->q) && same_real(a->mu_hat, b->mu_hat) &&
           same_real(a->twice_nll_free, b->twice_nll_free) &&
           same_real(a->twice_nll_fixed, b->twice_nll_fixed) && a->status == b->status &&
           a->iterations == b->iterations;
}

/* Adds rows [from, to) of the run in one transaction. */
static inline paritas_status add_range(struct store *store, uint64_t from, uint64_t to)
{
    paritas_toy *rows = calloc(to - from + 1, sizeof *rows);
    for (uint64_t i = from; i < to; i++) rows[i - from] = some_toy(i);
    const paritas_status status = store_add(store, to - from, rows);
    free(rows);
    return status;
}

/* Rows as they come out of a store. */
struct collected {
    size_t n, room;
    paritas_toy *rows;
};

static inline int collect(void *user, const paritas_toy *row)
{
    struct collected *all = user;
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 64;
        all->rows = realloc(all->rows, all->room * sizeof *all->rows);
    }
    all->rows[all->n++] = *row;
    return 0;
}

static inline struct collected rows_of(const char *path)
{
    struct collected all = {0};
    struct store *store;
    ASSERT_STORE_OK(store_open_read(scene.context, path, &store));
    ASSERT_STORE_OK(store_read(store, collect, &all));
    store_close(store);
    return all;
}

/* The file holds rows 0..n-1 of the run and nothing else. */
static inline void assert_first_rows(const char *path, uint64_t n)
{
    struct collected all = rows_of(path);
    assert_int_equal(all.n, n);
    for (size_t i = 0; i < all.n; i++) {
        const paritas_toy *row = &all.rows[i];
        const paritas_toy wanted = some_toy(2 * row->toy + (row->hypothesis != 0.0));
        if (!same_toy(row, &wanted)) fail_msg("toy %llu has other numbers", (unsigned long long)row->toy);
        if (2 * row->toy + (row->hypothesis != 0.0) >= n)
            fail_msg("toy %llu is none of the first %llu rows", (unsigned long long)row->toy,
                     (unsigned long long)n);
        if (i > 0)
            assert_true(row[-1].hypothesis < row->hypothesis ||
                        (row[-1].hypothesis == row->hypothesis && row[-1].toy < row->toy));
    }
    free(all.rows);
}

/* A whole store with rows [from, to). */
static inline void make_store(const char *path, const struct store_run *run, uint64_t from, uint64_t to)
{
    struct store *store;
    ASSERT_STORE_OK(store_open(scene.context, path, run, false, &store));
    ASSERT_STORE_OK(add_range(store, from, to));
    store_close(store);
}

/* Runs statements on a file as another program would. */
static inline void with_sqlite(const char *path, const char *statements)
{
    sqlite3 *database;
    char *reason = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, statements, NULL, NULL, &reason) != SQLITE_OK)
        fail_msg("%s: %s", statements, reason);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

/* One whole number, -1 where the question cannot be asked. */
static inline long long ask_sqlite(const char *path, const char *question)
{
    sqlite3 *database;
    sqlite3_stmt *statement = NULL;
    long long answer = -1;
    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(database, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return answer;
}

static inline void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* What a child process tells: shared memory, since a failed assertion cannot leave it. */
struct report {
    volatile uint64_t committed; /* rows that were added for certain */
    volatile int ready;
    paritas_status status;
    char message[512];
};

static inline struct report *make_report(void)
{
    struct report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(report != MAP_FAILED);
    return report;
}

static inline paritas_status tell(struct report *report, paritas_status status)
{
    report->status = status;
    snprintf(report->message, sizeof report->message, "%s", paritas_error_message(scene.context));
    return status;
}

#endif
