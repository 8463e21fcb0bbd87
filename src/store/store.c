/* store.c: opens stores; their run, toys and facts. */
#include "store/store.h"
#include "store/store_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static paritas_status fail_exists(struct store *store)
{
    return database_say(&store->database, PARITAS_INVALID_ARGUMENT,
                        "exists already; `resume` goes on with it");
}

static paritas_status fail_unwritable(struct store *store, const char *reason)
{
    return database_say(&store->database, PARITAS_UNWRITABLE, "cannot be written: %s", reason);
}

static paritas_status check_writable(struct store *store, const char *real, bool resume, bool *exists)
{
    struct platform_info about;
    *exists = platform_info(real, &about);
    if (*exists && about.kind == PLATFORM_FOLDER) return fail_unwritable(store, "it is a directory");
    if (*exists && !resume) return fail_exists(store);
    if (*exists && about.kind != PLATFORM_FILE)
        return database_say(&store->database, PARITAS_UNWRITABLE, "cannot be a store: it is no regular file");
    if (*exists && !platform_writable(real)) return fail_unwritable(store, strerror(errno));
    char *folder = platform_folder_of(real);
    const bool writable = folder && platform_writable(folder);
    free(folder);
    if (!writable)
        return database_say(&store->database, PARITAS_UNWRITABLE, "cannot be written: its folder: %s",
                            strerror(errno));
    return PARITAS_OK;
}

/* Write-ahead log: many readers, one writer, commits without waiting for the disk. A file system without
 * shared memory keeps the journal, and commits wait. */
static paritas_status begin_log(struct store *store)
{
    struct database *database = &store->database;
    sqlite3_stmt *statement;
    bool row;
    paritas_status status = database_first(database, "PRAGMA journal_mode = WAL", NULL, &statement, &row);
    const bool log = row && strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    if (status == PARITAS_OK)
        status = database_run(database, log ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    return status;
}

static paritas_status open_for_writing(struct store *store, const char *real, const struct store_run *run,
                                       bool resume)
{
    struct database *database = &store->database;
    paritas_context *context = database->context;
    const char *name = database->name;
    bool empty = false;
    TRY(lock_take(context, name, real, &store->lock));
    TRY(database_open(database, context, name, real, DATABASE_WRITE));
    TRY(store_recognise(store, &empty));
    if (empty) {
        TRY(database_run(database, "BEGIN IMMEDIATE"));
        TRY(store_make(store, run, NULL));
        TRY(database_run(database, "COMMIT"));
    } else {
        if (!resume) return fail_exists(store); /* another run made it before we had the lock */
        const bool extends = run_extends(run, &store->run);
        TRY(store_compare(store, run, extends ? store_shard_entries : NULL, "this run",
                          PARITAS_INVALID_ARGUMENT));
        if (extends) TRY(store_lengthen(store, run));
    }
    return begin_log(store);
}

static paritas_status open_path(struct store *store, const struct store_run *run, bool resume)
{
    char real[PLATFORM_PATH_MAX];
    bool exists;
    TRY(database_path(store->database.context, store->database.name, real));
    TRY(check_writable(store, real, resume, &exists));
    const paritas_status status = open_for_writing(store, real, run, resume);
    if (status != PARITAS_OK && !exists && store->lock.file >= 0) {
        /* nothing was committed: leave no empty file for the next try */
        database_close(&store->database);
        struct platform_info about;
        if (platform_info(real, &about) && about.size == 0) platform_remove(real);
    }
    return status;
}

static paritas_status open_for_reading(struct store *store)
{
    struct database *database = &store->database;
    paritas_context *context = database->context;
    const char *name = database->name;
    char real[PLATFORM_PATH_MAX];
    bool empty;
    if (!platform_readable(name))
        return database_say(database, PARITAS_UNREADABLE, "cannot be read: %s", strerror(errno));
    TRY(database_path(context, name, real));
    TRY(database_open(database, context, name, real, DATABASE_READ));
    TRY(store_recognise(store, &empty));
    return empty ? database_damaged(database, "is not a store of toys: it is empty") : PARITAS_OK;
}

paritas_status store_open(paritas_context *context, const char *path, const struct store_run *run,
                          bool resume, struct store **store)
{
    TRY(store_prepare(context, path, store));
    return store_opened(open_path(*store, run, resume), store);
}

paritas_status store_open_read(paritas_context *context, const char *path, struct store **store)
{
    TRY(store_prepare(context, path, store));
    return store_opened(open_for_reading(*store), store);
}

void store_close(struct store *store)
{
    if (!store) return;
    paritas_allocator allocator = store->database.context->allocator;
    sqlite3_finalize(store->insert);
    if (store->lock.file >= 0 && store->database.connection) {
        /* back to one file, readable in a read-only folder; a reader in the way keeps the log */
        sqlite3_busy_timeout(store->database.connection, 0);
        sqlite3_exec(store->database.connection, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    database_close(&store->database);
    lock_drop(&store->lock);
    paritas_release(&allocator, store->bytes);
    arena_free(&store->arena);
    paritas_release(&allocator, store);
}

const struct store_run *store_run(const struct store *store)
{
    return &store->run;
}

const char *store_entry(const struct store *store, const char *name)
{
    return run_entry(&store->run, name);
}

const char *store_path(const struct store *store)
{
    return store->database.name;
}

static paritas_status add(struct store *store, enum store_kind kind, size_t n, const void *rows)
{
    struct database *database = &store->database;
    if (!database->writes || store->run.kind != kind)
        return database_say(database, PARITAS_INVALID_ARGUMENT, "%s",
                            database->writes ? "the store is for rows of another kind"
                                             : "the store is open for reading only");
    if (n == 0) return PARITAS_OK;
    paritas_status status = database_run(database, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < n && status == PARITAS_OK; i++)
        status = row_insert(store, (const char *)rows + i * run_table(&store->run)->row_size);
    if (status == PARITAS_OK) status = database_run(database, "COMMIT");
    /* some failures have rolled back already; keep the first message */
    if (status != PARITAS_OK && sqlite3_get_autocommit(database->connection) == 0)
        sqlite3_exec(database->connection, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

paritas_status store_add(struct store *store, size_t n, const paritas_toy *rows)
{
    return add(store, STORE_TESTS, n, rows);
}

paritas_status store_add_fits(struct store *store, size_t n, const struct store_fit *rows)
{
    return add(store, STORE_FITS, n, rows);
}

static paritas_status read_rows(struct store *store, enum store_kind kind, const struct key_range *range,
                                int (*take_test)(void *, const paritas_toy *),
                                int (*take_fit)(void *, const struct store_fit *), void *user)
{
    struct database *database = &store->database;
    if (store->run.kind != kind)
        return database_say(database, PARITAS_INVALID_ARGUMENT, "the store holds rows of another kind");
    struct cursor cursor;
    bool more = true;
    paritas_status status = cursor_open(&cursor, store, range);
    while (status == PARITAS_OK && (status = cursor_next(&cursor, &more)) == PARITAS_OK && more)
        if ((kind == STORE_TESTS ? take_test(user, &cursor.test) : take_fit(user, &cursor.fit)) != 0)
            status = database_say(database, PARITAS_CANCELLED, "reading was cancelled");
    cursor_close(&cursor);
    return status;
}

paritas_status store_read(struct store *store, int (*take)(void *user, const paritas_toy *row), void *user)
{
    return read_rows(store, STORE_TESTS, NULL, take, NULL, user);
}

paritas_status store_read_fits(struct store *store, int (*take)(void *user, const struct store_fit *row),
                               void *user)
{
    return read_rows(store, STORE_FITS, NULL, NULL, take, user);
}

/* Returns false if there are no such toys. */
static bool find_range(struct key_range *range, uint64_t first, size_t n)
{
    if (n == 0 || first > (uint64_t)INT64_MAX) return false;
    const uint64_t room = (uint64_t)INT64_MAX - first;
    range->first = first;
    range->last = first + (n - 1 < room ? n - 1 : room);
    return true;
}

paritas_status store_read_range(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                                int (*take)(void *user, const paritas_toy *row), void *user)
{
    struct key_range range = {.mu = mu, .hypothesis = hypothesis};
    return find_range(&range, first, n) ? read_rows(store, STORE_TESTS, &range, take, NULL, user)
                                        : PARITAS_OK;
}

paritas_status store_present(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                             unsigned char *present)
{
    struct key_range range = {.mu = mu, .hypothesis = hypothesis};
    struct cursor cursor;
    bool more = true;
    if (n > 0) memset(present, 0, n);
    if (!find_range(&range, first, n)) return PARITAS_OK;
    paritas_status status = cursor_open(&cursor, store, &range);
    while (status == PARITAS_OK && (status = cursor_next(&cursor, &more)) == PARITAS_OK && more)
        present[cursor.test.toy - first] = 1;
    cursor_close(&cursor);
    return status;
}

/* Sums, not GROUP BY, which would sort (a million rows: 0.1 s, not 1 s). */
paritas_status store_counts(struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT])
{
    struct database *database = &store->database;
    sqlite3_stmt *statement;
    char query[512];
    int length = snprintf(query, sizeof query, "SELECT count(*)");
    for (int i = 0; i < (int)PARITAS_FIT_STATUS_COUNT; i++)
        length += snprintf(query + length, sizeof query - (size_t)length, ", total(status = '%s')",
                           paritas_fit_status_name((paritas_fit_status)i));
    snprintf(query + length, sizeof query - (size_t)length, " FROM toys");
    bool row;
    paritas_status status = database_first(database, query, NULL, &statement, &row);
    uint64_t all = row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    for (int i = 0; i < (int)PARITAS_FIT_STATUS_COUNT; i++) {
        counts[i] = row ? (uint64_t)sqlite3_column_double(statement, i + 1) : 0;
        all -= counts[i];
    }
    sqlite3_finalize(statement);
    if (status != PARITAS_OK || all == 0) return status;
    /* an unknown status: the reader names its row */
    struct cursor cursor;
    bool more = true;
    status = cursor_open(&cursor, store, NULL);
    while (status == PARITAS_OK && more) status = cursor_next(&cursor, &more);
    cursor_close(&cursor);
    return status;
}

paritas_status store_get_fact(struct store *store, const char *name, double *value, bool *known)
{
    struct database *database = &store->database;
    sqlite3_stmt *statement;
    *value = NAN;
    paritas_status status =
        database_first(database, "SELECT value FROM facts WHERE name = ?", name, &statement, known);
    if (*known) {
        const int type = sqlite3_column_type(statement, 0);
        if (type == SQLITE_FLOAT)
            *value = sqlite3_column_double(statement, 0);
        else if (type != SQLITE_NULL)
            status = database_damaged(database, "the fact %s is no number", name);
    }
    sqlite3_finalize(statement);
    return status;
}

paritas_status store_set_fact(struct store *store, const char *name, double value)
{
    struct database *database = &store->database;
    sqlite3_stmt *statement = NULL;
    double there;
    bool known, row;
    value += 0.0; /* no -0.0, as in rows */
    TRY(store_get_fact(store, name, &there, &known));
    if (known) return fact_check(database->context, database->name, name, there, value);
    paritas_status status = database_prepare(database, "INSERT INTO facts VALUES(?, ?)", &statement);
    if (status == PARITAS_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_double(statement, 2, value);
        status = database_step(database, statement, &row);
    }
    sqlite3_finalize(statement);
    return status;
}
