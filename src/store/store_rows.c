/* store_rows.c: reads and writes toys bit for bit. */
#include "store/store_rows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const sql_types[] = {[COLUMN_double] = "REAL",
                                        [COLUMN_uint64_t] = "INTEGER",
                                        [COLUMN_unsigned] = "INTEGER",
                                        [COLUMN_paritas_fit_status] = "TEXT",
                                        [COLUMN_store_vector] = "BLOB"};

static const struct store_table *table_of(const struct store *store)
{
    return run_table(&store->run);
}

#define STATEMENT_ROOM 1024
enum column_list { NAMES, PLACES, DECLARATIONS };

static void list_columns(char statement[STATEMENT_ROOM], const struct store_table *table, int n,
                         enum column_list what)
{
    for (int i = 0; i < n; i++) {
        const size_t used = strlen(statement);
        const struct column *column = &table->columns[i];
        const bool declare = what == DECLARATIONS;
        snprintf(statement + used, STATEMENT_ROOM - used, "%s%s%s%s%s", i > 0 ? ", " : "",
                 what == PLACES ? "?" : column->name, declare ? " " : "",
                 declare ? sql_types[column->type] : "",
                 declare && i == 0 && table->n_key == 1 ? " PRIMARY KEY" : "");
    }
}

static void append(char statement[STATEMENT_ROOM], const char *text)
{
    const size_t used = strlen(statement);
    snprintf(statement + used, STATEMENT_ROOM - used, "%s", text);
}

paritas_status rows_create_table(struct store *store)
{
    const struct store_table *table = table_of(store);
    char statement[STATEMENT_ROOM] = "CREATE TABLE toys(";
    list_columns(statement, table, table->n, DECLARATIONS);
    if (table->n_key > 1) {
        append(statement, ", PRIMARY KEY(");
        list_columns(statement, table, table->n_key, NAMES);
        append(statement, ")) WITHOUT ROWID");
    } else {
        append(statement, ")");
    }
    return database_run(&store->database, statement);
}

static paritas_status prepare_insert(struct store *store)
{
    const struct store_table *table = table_of(store);
    if (store->insert) return PARITAS_OK;
    if (store->run.kind == STORE_FITS && !store->bytes) {
        store->bytes = paritas_allocate(store->database.context, 2 * store->run.n_parameters, sizeof(double));
        if (!store->bytes) return paritas_fail_memory(store->database.context);
    }
    char statement[STATEMENT_ROOM] = "INSERT INTO toys(";
    list_columns(statement, table, table->n, NAMES);
    append(statement, ") VALUES(");
    list_columns(statement, table, table->n, PLACES);
    append(statement, ")");
    return database_prepare(&store->database, statement, &store->insert);
}

static paritas_status refuse_row(struct store *store, const void *row, const char *reason)
{
    char name[160];
    row_name(name, store->run.kind, row);
    return database_say(&store->database, PARITAS_INVALID_ARGUMENT, "%s: %s", name, reason);
}

static void encode(unsigned char *bytes, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (unsigned b = 0; b < 8; b++) bytes[8 * i + b] = (unsigned char)(bits >> (8 * b));
    }
}

/* Returns why the value cannot be stored; NULL: it can. */
static const char *bind_value(struct store *store, int i, const void *value, unsigned char *bytes)
{
    const struct store_table *table = table_of(store);
    sqlite3_stmt *insert = store->insert;
    const double *real = value;
    const uint64_t *index = value;
    const paritas_fit_status *status = value;
    const store_vector *vector = value;
    switch (table->columns[i].type) {
    case COLUMN_double:
        if (i < table->n_key && !isfinite(*real)) return "mu and hypothesis must be finite";
        /* SQLite stores NaN as NULL and whole reals as integers, which have no -0.0: + 0.0 removes it */
        sqlite3_bind_double(insert, i + 1, *real + 0.0);
        return NULL;
    case COLUMN_uint64_t:
        if (*index > (uint64_t)INT64_MAX) return "the index is not below 2^63";
        sqlite3_bind_int64(insert, i + 1, (sqlite3_int64)*index);
        return NULL;
    case COLUMN_unsigned:
        sqlite3_bind_int64(insert, i + 1, *(const unsigned *)value);
        return NULL;
    case COLUMN_paritas_fit_status:
        if ((unsigned)*status >= PARITAS_FIT_STATUS_COUNT) return "the status is none that a fit can have";
        sqlite3_bind_text(insert, i + 1, paritas_fit_status_name(*status), -1, SQLITE_STATIC);
        return NULL;
    case COLUMN_store_vector:
        if (*vector) encode(bytes, *vector, store->run.n_parameters);
        /* of NULL: NULL */
        sqlite3_bind_blob64(insert, i + 1, *vector ? bytes : NULL,
                            (sqlite3_uint64)store->run.n_parameters * sizeof(double), SQLITE_STATIC);
    }
    return NULL;
}

paritas_status row_insert(struct store *store, const void *row)
{
    const struct store_table *table = table_of(store);
    TRY(prepare_insert(store));
    unsigned char *bytes = store->bytes;
    for (int i = 0; i < table->n; i++) {
        const char *reason = bind_value(store, i, (const char *)row + table->columns[i].offset, bytes);
        if (reason) return refuse_row(store, row, reason);
        if (table->columns[i].type == COLUMN_store_vector) bytes += store->run.n_parameters * sizeof(double);
    }
    paritas_status status = PARITAS_OK;
    const int code = sqlite3_step(store->insert);
    if (code == SQLITE_CONSTRAINT)
        status = refuse_row(store, row, "is stored already");
    else if (code != SQLITE_DONE)
        status = database_fail(&store->database);
    sqlite3_reset(store->insert);
    return status;
}

paritas_status cursor_open(struct cursor *cursor, struct store *store, const struct key_range *range)
{
    const struct store_table *table = table_of(store);
    const bool fits = store->run.kind == STORE_FITS;
    *cursor = (struct cursor){.store = store, .row = fits ? (void *)&cursor->fit : &cursor->test};
    cursor->test.size = sizeof cursor->test;
    cursor->test.weight = cursor->test.weight_other = NAN;
    if (fits) {
        cursor->vectors =
            paritas_allocate(store->database.context, 2 * store->run.n_parameters, sizeof *cursor->vectors);
        if (!cursor->vectors) return paritas_fail_memory(store->database.context);
    }
    char statement[STATEMENT_ROOM] = "SELECT ";
    list_columns(statement, table, table->n, NAMES);
    append(statement, " FROM toys");
    if (range) append(statement, " WHERE toy BETWEEN ?1 AND ?2");
    if (range && !fits) append(statement, " AND mu = ?3 AND hypothesis = ?4");
    append(statement, " ORDER BY ");
    list_columns(statement, table, table->n_key, NAMES);
    TRY(database_prepare(&store->database, statement, &cursor->statement));
    if (range) {
        sqlite3_bind_int64(cursor->statement, 1, (sqlite3_int64)range->first);
        sqlite3_bind_int64(cursor->statement, 2, (sqlite3_int64)range->last);
    }
    if (range && !fits) {
        sqlite3_bind_double(cursor->statement, 3, range->mu);
        sqlite3_bind_double(cursor->statement, 4, range->hypothesis);
    }
    return PARITAS_OK;
}

void cursor_close(struct cursor *cursor)
{
    sqlite3_finalize(cursor->statement);
    if (cursor->store) paritas_release(&cursor->store->database.context->allocator, cursor->vectors);
    *cursor = (struct cursor){0};
}

/* Fails with row and column. */
static paritas_status refuse_column(struct cursor *cursor, int column, const char *wanted)
{
    static const char *const types[] = {[SQLITE_INTEGER] = "a whole number",
                                        [SQLITE_FLOAT] = "a real number",
                                        [SQLITE_TEXT] = "a text",
                                        [SQLITE_BLOB] = "a blob",
                                        [SQLITE_NULL] = "nothing"};
    sqlite3_stmt *statement = cursor->statement;
    const struct store_table *table = table_of(cursor->store);
    const int type = sqlite3_column_type(statement, column);
    const char *key[3];
    for (int i = 0; i < table->n_key; i++) {
        key[i] = (const char *)sqlite3_column_text(statement, i);
        if (!key[i]) key[i] = "nothing";
    }
    char row[240];
    if (table->n_key == 1)
        snprintf(row, sizeof row, "toy %.60s", key[0]);
    else
        snprintf(row, sizeof row, "toy %.60s at mu = %.60s, hypothesis = %.60s", key[2], key[0], key[1]);
    const char *value = type == SQLITE_NULL || type == SQLITE_BLOB
                            ? NULL
                            : (const char *)sqlite3_column_text(statement, column);
    return database_damaged(&cursor->store->database, "%s: %s is %s%s%.60s%s, not %s", row,
                            table->columns[column].name, types[type], value ? " (" : "", value ? value : "",
                            value ? ")" : "", wanted);
}

static void decode(double *values, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        for (unsigned b = 0; b < 8; b++) bits |= (uint64_t)bytes[8 * i + b] << (8 * b);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static paritas_status read_status(struct cursor *cursor, int i, int type, paritas_fit_status *value)
{
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(cursor->statement, i) : "";
    if (!text) return paritas_fail_memory(cursor->store->database.context);
    for (int k = 0; k < (int)PARITAS_FIT_STATUS_COUNT; k++) {
        if (strcmp(text, paritas_fit_status_name((paritas_fit_status)k)) != 0) continue;
        *value = (paritas_fit_status)k;
        return PARITAS_OK;
    }
    return refuse_column(cursor, i, "the name of a status");
}

/* `place`: for a vector's elements. */
static paritas_status read_value(struct cursor *cursor, int i, double *place, void *value)
{
    const struct store_table *table = table_of(cursor->store);
    sqlite3_stmt *statement = cursor->statement;
    const int type = sqlite3_column_type(statement, i);
    const size_t n = cursor->store->run.n_parameters;
    sqlite3_int64 whole;
    switch (table->columns[i].type) {
    case COLUMN_double:
        if (type != SQLITE_FLOAT && (type != SQLITE_NULL || i < table->n_key))
            return refuse_column(cursor, i, "a real number");
        *(double *)value = type == SQLITE_NULL ? (double)NAN : sqlite3_column_double(statement, i);
        return PARITAS_OK;
    case COLUMN_uint64_t:
    case COLUMN_unsigned:
        whole = sqlite3_column_int64(statement, i);
        if (type != SQLITE_INTEGER || whole < 0) return refuse_column(cursor, i, "a whole number from 0");
        if (table->columns[i].type == COLUMN_uint64_t) {
            *(uint64_t *)value = (uint64_t)whole;
            return PARITAS_OK;
        }
        *(unsigned *)value = (unsigned)whole;
        return whole <= UINT_MAX ? PARITAS_OK : refuse_column(cursor, i, "a count of iterations");
    case COLUMN_paritas_fit_status:
        return read_status(cursor, i, type, value);
    case COLUMN_store_vector:
        *(store_vector *)value = NULL;
        if (type == SQLITE_NULL) return PARITAS_OK;
        const void *bytes = sqlite3_column_blob(statement, i);
        if (type != SQLITE_BLOB || (size_t)sqlite3_column_bytes(statement, i) != n * sizeof(double))
            return refuse_column(cursor, i, "a vector with 8 bytes a parameter");
        decode(place, bytes, n);
        *(store_vector *)value = place;
    }
    return PARITAS_OK;
}

/* Keys ascend: SQLite sorted them, and a file without their index may have one twice. */
static paritas_status check_row(struct cursor *cursor)
{
    struct store *store = cursor->store;
    char name[160], reason[ROW_REASON] = "is there twice";
    const bool twice = cursor->begun && row_compare(STORE_TESTS, &cursor->before, &cursor->test) == 0;
    cursor->begun = true;
    cursor->before = cursor->test;
    if (!twice && row_is_possible(table_of(store), cursor->row, store->run.n_parameters, reason))
        return PARITAS_OK;
    row_name(name, store->run.kind, cursor->row);
    return database_damaged(&store->database, "%s: %s", name, reason);
}

paritas_status cursor_next(struct cursor *cursor, bool *more)
{
    const struct store_table *table = table_of(cursor->store);
    double *place = cursor->vectors;
    TRY(database_step(&cursor->store->database, cursor->statement, more));
    for (int i = 0; i < table->n && *more; i++) {
        TRY(read_value(cursor, i, place, (char *)cursor->row + table->columns[i].offset));
        if (table->columns[i].type == COLUMN_store_vector) place += cursor->store->run.n_parameters;
    }
    cursor->test.toy = row_toy(table, cursor->row);
    return *more ? check_row(cursor) : PARITAS_OK;
}
