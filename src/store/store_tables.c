/* store_tables.c: makes and recognises the tables of a store. */
#include "store/store_tables.h"

#include <stdio.h>
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

/* A column of texts into the arena, in row order: `count` rows. A damaged file may count more than it has. */
static paritas_status read_texts(struct store *store, const char *query, size_t count, size_t columns,
                                 const char **texts)
{
    struct database *database = &store->database;
    sqlite3_stmt *statement;
    bool row;
    paritas_status status = database_first(database, query, NULL, &statement, &row);
    for (size_t i = 0; i < count && status == PARITAS_OK; i++) {
        if (!row) status = database_damaged(database, "it counts more rows than it has");
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
    /* a view could have rows without end */
    TRY(database_integer(database,
                         "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR "
                         "(type = 'table' AND rootpage = 0)",
                         &tables));
    if (tables > 0)
        return database_damaged(database, "has a view, a trigger or a virtual table, which no store has");
    return read_run(store);
}

paritas_status store_lengthen(struct store *store, const struct store_run *run)
{
    struct database *database = &store->database;
    TRY(run_copy(database->context, &store->arena, run, NULL, &store->run));
    return database_insert(database, "UPDATE run SET value = ?2 WHERE name = ?1", STORE_NTOYS,
                           run_entry(run, STORE_NTOYS));
}

paritas_status store_compare(struct store *store, const struct store_run *other, const char *const *without,
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
    if ((*store)->database.name) return PARITAS_OK;
    arena_free(&(*store)->arena);
    paritas_release(&context->allocator, *store);
    *store = NULL;
    return paritas_fail_memory(context);
}
