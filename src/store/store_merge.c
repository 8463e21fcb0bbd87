/* store_merge.c: shards into one store.
 *
 *   a.db ─► cursor ┐
 *   b.db ─► cursor ├─ heap by (mu, hypothesis, toy) ─► OUTPUT-merge ─► renamed to OUTPUT
 *   c.db ─► cursor ┘
 *
 * Sorted reading brings equal keys together, which finds doubles. The new file needs no journal: a failure
 * deletes it. */
#include "store/store.h"
#include "store/store_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROWS_BETWEEN_REPORTS 8192

struct merge {
    paritas_context *context;
    size_t n;
    struct store **stores;
    struct cursor *cursors;
    size_t *heap, n_heap; /* cursors with a row, least first */
    struct store *pool;
    size_t longest; /* the store of the run with most toys: the pool's */
    uint64_t done, total;
};

static bool before(const struct merge *merge, size_t a, size_t b)
{
    const int order = row_compare(STORE_TESTS, &merge->cursors[a].test, &merge->cursors[b].test);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct merge *merge, size_t at)
{
    size_t *heap = merge->heap;
    for (size_t child; (child = 2 * at + 1) < merge->n_heap; at = child) {
        if (child + 1 < merge->n_heap && before(merge, heap[child + 1], heap[child])) child++;
        if (!before(merge, heap[child], heap[at])) return;
        const size_t moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static paritas_status begin_heap(struct merge *merge)
{
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < merge->n && status == PARITAS_OK; i++) {
        bool more = false;
        status = cursor_open(&merge->cursors[i], merge->stores[i], NULL);
        if (status == PARITAS_OK) status = cursor_next(&merge->cursors[i], &more);
        if (more) merge->heap[merge->n_heap++] = i;
    }
    for (size_t i = merge->n_heap / 2; i-- > 0 && status == PARITAS_OK;) sift_down(merge, i);
    return status;
}

static paritas_status fail_double(struct merge *merge, const void *row, size_t first, size_t second)
{
    char name[160];
    row_name(name, merge->pool->run.kind, row);
    return paritas_fail(merge->context, PARITAS_INVALID_INPUT, "%s is in %s and in %s: leave one of them out",
                        name, store_path(merge->stores[first]), store_path(merge->stores[second]));
}

static paritas_status merge_rows(struct merge *merge)
{
    paritas_toy last = {0};
    size_t last_from = 0;
    paritas_status status = begin_heap(merge);
    while (status == PARITAS_OK && merge->n_heap > 0) {
        const size_t from = merge->heap[0];
        struct cursor *cursor = &merge->cursors[from];
        if (merge->done > 0 && row_compare(STORE_TESTS, &last, &cursor->test) == 0)
            return fail_double(merge, cursor->row, last_from, from);
        status = row_insert(merge->pool, cursor->row);
        last = cursor->test;
        last_from = from;
        bool more = false;
        if (status == PARITAS_OK) status = cursor_next(cursor, &more);
        if (!more) merge->heap[0] = merge->heap[--merge->n_heap];
        sift_down(merge, 0);
        if (++merge->done % ROWS_BETWEEN_REPORTS == 0 && merge->context->progress && status == PARITAS_OK &&
            merge->context->progress(merge->context->progress_user, merge->done, merge->total) != 0)
            status = paritas_fail(merge->context, PARITAS_CANCELLED, "%s",
                                  paritas_status_message(PARITAS_CANCELLED));
    }
    return status;
}

/* Facts must not contradict earlier shards. */
static paritas_status merge_facts(struct merge *merge, struct store *shard)
{
    struct database *database = &shard->database;
    sqlite3_stmt *statement = NULL;
    bool row = true;
    paritas_status status = database_prepare(database, "SELECT name FROM facts ORDER BY rowid", &statement);
    while (status == PARITAS_OK && (status = database_step(database, statement, &row)) == PARITAS_OK && row) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        double value, there;
        bool known;
        if (!name) status = database_damaged(database, "a fact has no name");
        if (status == PARITAS_OK) status = store_get_fact(shard, name, &value, &known);
        if (status == PARITAS_OK) status = store_get_fact(merge->pool, name, &there, &known);
        if (status == PARITAS_OK && known)
            status = fact_check_shard(merge->context, database->name, name, there, value);
        else if (status == PARITAS_OK)
            status = store_set_fact(merge->pool, name, value);
    }
    sqlite3_finalize(statement);
    return status;
}

static paritas_status open_shards(struct merge *merge, const char *const *paths)
{
    for (size_t i = 0; i < merge->n; i++) {
        char real[PLATFORM_PATH_MAX];
        sqlite3_int64 rows;
        struct store **store = &merge->stores[i];
        TRY(store_open_read(merge->context, paths[i], store));
        TRY(database_path(merge->context, paths[i], real));
        TRY(lock_check(merge->context, paths[i], real));
        TRY(store_compare(*store, &merge->stores[0]->run, store_shard_entries, paths[0],
                          PARITAS_INVALID_INPUT));
        if (run_longer(&(*store)->run, &merge->stores[merge->longest]->run)) merge->longest = i;
        TRY(database_integer(&(*store)->database, "SELECT count(*) FROM toys", &rows));
        merge->total += (uint64_t)rows;
    }
    return PARITAS_OK;
}

static paritas_status fill_pool(struct merge *merge, const char *name, const char *path)
{
    TRY(store_prepare(merge->context, name, &merge->pool));
    struct database *database = &merge->pool->database;
    TRY(database_open(database, merge->context, database->name, path, DATABASE_SCRATCH));
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    TRY(store_make(merge->pool, &merge->stores[merge->longest]->run, STORE_SHARD));
    for (size_t i = 0; i < merge->n; i++) TRY(merge_facts(merge, merge->stores[i]));
    TRY(merge_rows(merge));
    return database_run(database, "COMMIT");
}

/* Refuses an existing file or an old database's log: SQLite would replay the log. */
static paritas_status check_output(paritas_context *context, const char *output, const char *real)
{
    static const char *const endings[] = {"", "-wal", "-journal"};
    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        char path[PLATFORM_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s%s", real, endings[i]);
        if (platform_exists(path))
            return paritas_refuse(context, "%s%s: exists already; the pooled store must be a new file",
                                  output, endings[i]);
    }
    return PARITAS_OK;
}

static paritas_status fail_unwritable(struct merge *merge, const char *output)
{
    return paritas_fail(merge->context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", output,
                        strerror(errno));
}

static paritas_status make_output(struct merge *merge, const char *output, const char *real)
{
    char path[PLATFORM_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s-merge", real); /* the lock makes it ours */
    if (!platform_remove(path) && errno != ENOENT) return fail_unwritable(merge, output);
    paritas_status status = fill_pool(merge, output, path);
    store_close(merge->pool);
    if (status == PARITAS_OK && !platform_rename(path, real)) status = fail_unwritable(merge, output);
    if (status != PARITAS_OK) platform_remove(path);
    return status;
}

static paritas_status merge_all(struct merge *merge, const char *const *paths, const char *output,
                                struct store_lock *lock)
{
    char real[PLATFORM_PATH_MAX];
    TRY(open_shards(merge, paths));
    TRY(database_path(merge->context, output, real));
    TRY(lock_take(merge->context, output, real, lock));
    TRY(check_output(merge->context, output, real));
    return make_output(merge, output, real);
}

paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths,
                                   const char *output)
{
    REQUIRE(context, paths, output);
    TRY(stores_check(context, n, paths));
    struct merge merge = {.context = context, .n = n};
    struct store_lock lock = {.file = -1};
    struct arena arena;
    arena_open(&arena, &context->allocator);
    merge.stores = arena_array(&arena, n, sizeof *merge.stores);
    merge.cursors = arena_array(&arena, n, sizeof *merge.cursors);
    merge.heap = arena_array(&arena, n, sizeof *merge.heap);
    const bool whole = merge.stores && merge.cursors && merge.heap;
    const paritas_status status =
        whole ? merge_all(&merge, paths, output, &lock) : paritas_fail_memory(context);
    lock_drop(&lock);
    for (size_t i = 0; i < n && whole; i++) {
        cursor_close(&merge.cursors[i]);
        store_close(merge.stores[i]);
    }
    arena_free(&arena);
    return status;
}
