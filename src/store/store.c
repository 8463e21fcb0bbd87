/* store.c: opening stores, their run and facts. */
#include "store/store_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static paritas_status keep_text(struct store *store, const char *text, const char **kept)
{
    *kept = arena_text(&store->arena, text, strlen(text));
    return *kept ? PARITAS_OK : paritas_fail_memory(store->database.context);
}

paritas_status store_make(struct store *store, const struct store_run *run, const char *without)
{
    struct database *database = &store->database;
    char pragmas[96];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, STORE_FORMAT);
    TRY(run_copy(database->context, &store->arena, run, without, &store->run));
    TRY(database_run(database, pragmas));
    TRY(database_run(database, "CREATE TABLE run(name TEXT PRIMARY KEY, value TEXT);CREATE TABLE "
                               "facts(name TEXT PRIMARY KEY, value REAL)"));
    TRY(rows_create_table(store));
    if (run->kind == STORE_FITS)
        TRY(database_run(database, "CREATE TABLE parameters(number INTEGER PRIMARY KEY, name TEXT)"));
    TRY(database_insert(database, "INSERT INTO run VALUES(?, ?)", "kind", store_kind_names[run->kind]));
    for (size_t i = 0; i < store->run.n_entries; i++)
        TRY(database_insert(database, "INSERT INTO run VALUES(?, ?)", store->run.entries[i].name,
                            store->run.entries[i].value));
    for (size_t i = 0; i < run->n_parameters; i++) {
        char number[32]; /* SQLite converts it to an integer */
        snprintf(number, sizeof number, "%zu", i);
        TRY(database_insert(database, "INSERT INTO parameters VALUES(?, ?)", number, run->parameters[i]));
    }
    return PARITAS_OK;
}

/* A column of texts into the arena, in row order; at most `count` rows. */
static paritas_status read_texts(struct store *store, const char *query, size_t count, size_t columns,
                                 const char **texts)
{
    struct database *database = &store->database;
    sqlite3_stmt *statement;
    bool row;
    paritas_status status = database_first(database, query, NULL, &statement, &row);
    for (size_t i = 0; i < count && row && status == PARITAS_OK; i++) {
        for (size_t c = 0; c < columns && status == PARITAS_OK; c++) {
            const char *text = (const char *)sqlite3_column_text(statement, (int)c);
            status = text ? keep_text(store, text, &texts[i * columns + c])
                          : database_damaged(database, "the key of the run has an entry without a text");
        }
        if (status == PARITAS_OK) status = database_step(database, statement, &row);
    }
    sqlite3_finalize(statement);
    return status;
}

static paritas_status read_run(struct store *store)
{
    struct database *database = &store->database;
    sqlite3_int64 n_entries, n_parameters = 0;
    TRY(database_integer(database, "SELECT count(*) FROM run", &n_entries));
    const char **pairs = arena_array(&store->arena, (size_t)n_entries, 2 * sizeof *pairs);
    paritas_key_entry *entries = arena_array(&store->arena, (size_t)n_entries, sizeof *entries);
    if (!pairs || !entries) return paritas_fail_memory(database->context);
    TRY(read_texts(store, "SELECT name, value FROM run ORDER BY rowid", (size_t)n_entries, 2, pairs));
    const char *kind = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < (size_t)n_entries; i++) {
        if (strcmp(pairs[2 * i], "kind") == 0)
            kind = pairs[2 * i + 1];
        else
            entries[kept++] = (paritas_key_entry){pairs[2 * i], pairs[2 * i + 1]};
    }
    const bool fits = kind && strcmp(kind, store_kind_names[STORE_FITS]) == 0;
    if (!fits && (!kind || strcmp(kind, store_kind_names[STORE_TESTS]) != 0))
        return database_damaged(database, "the kind of the run is %s, not tests or fits",
                                kind ? kind : "missing");
    if (fits) TRY(database_integer(database, "SELECT count(*) FROM parameters", &n_parameters));
    const char **parameters = arena_array(&store->arena, (size_t)n_parameters, sizeof *parameters);
    if (!parameters) return paritas_fail_memory(database->context);
    store->run =
        (struct store_run){fits ? STORE_FITS : STORE_TESTS, kept, entries, (size_t)n_parameters, parameters};
    if (!fits) return PARITAS_OK;
    return read_texts(store, "SELECT name FROM parameters ORDER BY number", (size_t)n_parameters, 1,
                      parameters);
}

paritas_status store_recognise(struct store *store, bool *empty)
{
    struct database *database = &store->database;
    sqlite3_int64 application, format = 0, tables = 0;
    TRY(database_integer(database, "PRAGMA application_id", &application));
    TRY(database_integer(database, "PRAGMA user_version", &format));
    TRY(database_integer(database, "SELECT count(*) FROM sqlite_master", &tables));
    *empty = application == 0 && format == 0 && tables == 0;
    if (*empty) return PARITAS_OK;
    if (application != STORE_APPLICATION)
        return database_damaged(database,
                                "is not a store of toys: it is another program's database (application_id "
                                "0x%08x, a store has 0x%08x)",
                                (unsigned)application, (unsigned)STORE_APPLICATION);
    if (format != STORE_FORMAT)
        return database_damaged(database, "is a store of format %lld; this version knows format %d",
                                (long long)format, STORE_FORMAT);
    return read_run(store);
}

paritas_status store_compare(struct store *store, const struct store_run *other, const char *without,
                             const char *whose, paritas_status failure)
{
    return run_compare(store->database.context, store->database.name, &store->run, other, without, whose,
                       failure);
}

paritas_status store_prepare(paritas_context *context, const char *name, struct store **store)
{
    *store = paritas_allocate_clear(context, 1, sizeof **store);
    if (!*store) return paritas_fail_memory(context);
    (*store)->lock.file = -1;
    (*store)->database.context = context;
    arena_open(&(*store)->arena, &context->allocator);
    (*store)->database.name = arena_text(&(*store)->arena, name, strlen(name));
    return store_opened((*store)->database.name ? PARITAS_OK : paritas_fail_memory(context), store);
}

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
        TRY(store_compare(store, run, NULL, "this run", PARITAS_INVALID_ARGUMENT));
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
