/* store_rows.c: toys into the table and out of it, each number with its bits. */
#include "store/store_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The columns, in the order of the statements below; the key comes first. */
static const char *const test_columns[] = {
    "mu", "hypothesis", "toy", "q", "mu_hat", "twice_nll_free", "twice_nll_fixed", "status", "iterations"};
static const char *const fit_columns[] = {"toy",    "twice_nll",  "statistic",  "edm",
                                          "status", "iterations", "parameters", "errors"};

/* ---- into the table --------------------------------------------------------------------------- */

static void encode(unsigned char *bytes, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (unsigned b = 0; b < 8; b++) bytes[8 * i + b] = (unsigned char)(bits >> (8 * b));
    }
}

static void decode(double *values, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        for (unsigned b = 0; b < 8; b++) bits |= (uint64_t)bytes[8 * i + b] << (8 * b);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static paritas_status prepare_insert(struct store *store)
{
    if (store->insert != NULL) return PARITAS_OK;
    const bool fits = store->run.kind == STORE_FITS;
    if (fits && store->bytes == NULL) {
        store->bytes = paritas_allocate(store->database.context, 2 * store->run.n_parameters, sizeof(double));
        if (store->bytes == NULL) return paritas_fail_memory(store->database.context);
    }
    return database_prepare(&store->database,
                            fits ? "INSERT INTO toys(toy, twice_nll, statistic, edm, status, iterations, "
                                   "parameters, errors) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
                                 : "INSERT INTO toys(mu, hypothesis, toy, q, mu_hat, twice_nll_free, "
                                   "twice_nll_fixed, status, iterations) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            &store->insert);
}

/* "toy 7 at mu = 1, hypothesis = 0", or "toy 7". */
static void name_row(char name[160], const paritas_toy *test, const struct store_fit *fit)
{
    if (test != NULL)
        snprintf(name, 160, "toy %llu at mu = %.17g, hypothesis = %.17g", (unsigned long long)test->toy,
                 test->mu, test->hypothesis);
    else
        snprintf(name, 160, "toy %llu", (unsigned long long)fit->toy);
}

static paritas_status refuse_row(struct store *store, const paritas_toy *test, const struct store_fit *fit,
                                 const char *reason)
{
    char name[160];
    name_row(name, test, fit);
    return paritas_fail(store->database.context, PARITAS_INVALID_ARGUMENT, "%s: %s: %s", store->database.name,
                        name, reason);
}

/* SQLite makes NaN, which it does not know, NULL. It keeps a whole real as an integer, which has no -0.0: +
 * 0.0 makes that 0.0 here, so that what is added is what is read. */
static void bind_real(sqlite3_stmt *insert, int at, double value)
{
    sqlite3_bind_double(insert, at, value + 0.0);
}

static void bind_test(sqlite3_stmt *insert, const paritas_toy *row)
{
    bind_real(insert, 1, row->mu);
    bind_real(insert, 2, row->hypothesis);
    sqlite3_bind_int64(insert, 3, (sqlite3_int64)row->toy);
    bind_real(insert, 4, row->q);
    bind_real(insert, 5, row->mu_hat);
    bind_real(insert, 6, row->twice_nll_free);
    bind_real(insert, 7, row->twice_nll_fixed);
    sqlite3_bind_text(insert, 8, paritas_fit_status_name(row->status), -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 9, row->iterations);
}

static void bind_vector(sqlite3_stmt *insert, int at, unsigned char *bytes, const double *values, size_t n)
{
    if (values == NULL) {
        sqlite3_bind_null(insert, at);
        return;
    }
    encode(bytes, values, n);
    sqlite3_bind_blob64(insert, at, bytes, (sqlite3_uint64)n * sizeof(double), SQLITE_STATIC);
}

static void bind_fit(struct store *store, const struct store_fit *row)
{
    const size_t n = store->run.n_parameters;
    sqlite3_stmt *insert = store->insert;
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)row->toy);
    bind_real(insert, 2, row->twice_nll);
    bind_real(insert, 3, row->statistic);
    bind_real(insert, 4, row->edm);
    sqlite3_bind_text(insert, 5, paritas_fit_status_name(row->status), -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, row->iterations);
    bind_vector(insert, 7, store->bytes, row->parameters, n);
    bind_vector(insert, 8, store->bytes + n * sizeof(double), row->errors, n);
}

paritas_status row_insert(struct store *store, const paritas_toy *test, const struct store_fit *fit)
{
    paritas_status status = prepare_insert(store);
    if (status != PARITAS_OK) return status;
    if ((test != NULL ? test->toy : fit->toy) > (uint64_t)INT64_MAX)
        return refuse_row(store, test, fit, "the index is not below 2^63");
    if (test != NULL && !(isfinite(test->mu) && isfinite(test->hypothesis)))
        return refuse_row(store, test, fit, "mu and hypothesis must be finite");
    const paritas_fit_status word = test != NULL ? test->status : fit->status;
    if ((unsigned)word >= PARITAS_FIT_STATUS_COUNT)
        return refuse_row(store, test, fit, "the status is none that a fit can have");
    if (test != NULL)
        bind_test(store->insert, test);
    else
        bind_fit(store, fit);
    const int code = sqlite3_step(store->insert);
    if (code == SQLITE_CONSTRAINT)
        status = refuse_row(store, test, fit, "is stored already");
    else if (code != SQLITE_DONE)
        status = database_fail(&store->database);
    sqlite3_reset(store->insert);
    return status;
}

static paritas_status add(struct store *store, enum store_kind kind, size_t n, const paritas_toy *tests,
                          const struct store_fit *fits)
{
    struct database *database = &store->database;
    if (!database->writes || store->run.kind != kind)
        return paritas_fail(database->context, PARITAS_INVALID_ARGUMENT, "%s: %s", database->name,
                            database->writes ? "the store is for rows of another kind"
                                             : "the store is open for reading only");
    if (n == 0) return PARITAS_OK;
    paritas_status status = database_run(database, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < n && status == PARITAS_OK; i++)
        status = row_insert(store, tests != NULL ? &tests[i] : NULL, fits != NULL ? &fits[i] : NULL);
    if (status == PARITAS_OK) status = database_run(database, "COMMIT");
    /* some failures have rolled it back already; the message of the first one stands */
    if (status != PARITAS_OK && sqlite3_get_autocommit(database->connection) == 0)
        sqlite3_exec(database->connection, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

paritas_status store_add(struct store *store, size_t n, const paritas_toy *rows)
{
    return add(store, STORE_TESTS, n, rows, NULL);
}

paritas_status store_add_fits(struct store *store, size_t n, const struct store_fit *rows)
{
    return add(store, STORE_FITS, n, NULL, rows);
}

/* ---- out of the table ------------------------------------------------------------------------- */

paritas_status store_present(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                             unsigned char *present)
{
    struct database *database = &store->database;
    const bool fits = store->run.kind == STORE_FITS;
    if (n > 0) memset(present, 0, n);
    if (n == 0 || first > (uint64_t)INT64_MAX) return PARITAS_OK;
    const uint64_t room = (uint64_t)INT64_MAX - first, last = first + (n - 1 < room ? n - 1 : room);
    paritas_status status = PARITAS_OK;
    if (store->present == NULL)
        status = database_prepare(
            database,
            fits ? "SELECT toy FROM toys WHERE toy BETWEEN ?1 AND ?2"
                 : "SELECT toy FROM toys WHERE mu = ?3 AND hypothesis = ?4 AND toy BETWEEN ?1 AND ?2",
            &store->present);
    if (status != PARITAS_OK) return status;
    sqlite3_bind_int64(store->present, 1, (sqlite3_int64)first);
    sqlite3_bind_int64(store->present, 2, (sqlite3_int64)last);
    if (!fits) {
        sqlite3_bind_double(store->present, 3, mu);
        sqlite3_bind_double(store->present, 4, hypothesis);
    }
    bool row = true;
    while (row && (status = database_step(database, store->present, &row)) == PARITAS_OK && row) {
        const uint64_t toy = (uint64_t)sqlite3_column_int64(store->present, 0);
        if (toy >= first && toy <= last) present[toy - first] = 1;
    }
    sqlite3_reset(store->present);
    return status;
}

paritas_status cursor_open(struct cursor *cursor, struct store *store)
{
    const bool fits = store->run.kind == STORE_FITS;
    *cursor = (struct cursor){.store = store};
    if (fits) {
        cursor->vectors =
            paritas_allocate(store->database.context, 2 * store->run.n_parameters, sizeof *cursor->vectors);
        if (cursor->vectors == NULL) return paritas_fail_memory(store->database.context);
    }
    return database_prepare(&store->database,
                            fits ? "SELECT toy, twice_nll, statistic, edm, status, iterations, parameters, "
                                   "errors FROM toys ORDER BY toy"
                                 : "SELECT mu, hypothesis, toy, q, mu_hat, twice_nll_free, twice_nll_fixed, "
                                   "status, iterations FROM toys ORDER BY mu, hypothesis, toy",
                            &cursor->statement);
}

void cursor_close(struct cursor *cursor)
{
    sqlite3_finalize(cursor->statement);
    if (cursor->store != NULL) paritas_release(&cursor->store->database.context->allocator, cursor->vectors);
    *cursor = (struct cursor){0};
}

/* Names row and column of what cannot be in a store. */
static paritas_status refuse_column(struct cursor *cursor, int column, const char *wanted)
{
    static const char *const types[] = {[SQLITE_INTEGER] = "a whole number",
                                        [SQLITE_FLOAT] = "a real number",
                                        [SQLITE_TEXT] = "a text",
                                        [SQLITE_BLOB] = "a blob",
                                        [SQLITE_NULL] = "nothing"};
    sqlite3_stmt *statement = cursor->statement;
    const bool fits = cursor->store->run.kind == STORE_FITS;
    const struct database *database = &cursor->store->database;
    const int type = sqlite3_column_type(statement, column);
    const char *texts[3];
    for (int i = 0; i < (fits ? 1 : 3); i++) {
        texts[i] = (const char *)sqlite3_column_text(statement, i);
        if (texts[i] == NULL) texts[i] = "nothing";
    }
    char row[240];
    if (fits)
        snprintf(row, sizeof row, "toy %.60s", texts[0]);
    else
        snprintf(row, sizeof row, "toy %.60s at mu = %.60s, hypothesis = %.60s", texts[2], texts[0],
                 texts[1]);
    const char *value = type == SQLITE_NULL || type == SQLITE_BLOB
                            ? NULL
                            : (const char *)sqlite3_column_text(statement, column);
    return paritas_fail(database->context, PARITAS_INVALID_INPUT, "%s: %s: %s is %s%s%.60s%s, not %s",
                        database->name, row, (fits ? fit_columns : test_columns)[column], types[type],
                        value != NULL ? " (" : "", value != NULL ? value : "", value != NULL ? ")" : "",
                        wanted);
}

static paritas_status read_real(struct cursor *cursor, int column, bool may_be_nan, double *value)
{
    const int type = sqlite3_column_type(cursor->statement, column);
    *value = NAN;
    if (type == SQLITE_NULL && may_be_nan) return PARITAS_OK;
    if (type != SQLITE_FLOAT) return refuse_column(cursor, column, "a real number");
    *value = sqlite3_column_double(cursor->statement, column);
    return PARITAS_OK;
}

static paritas_status read_index(struct cursor *cursor, int column, uint64_t *value)
{
    const sqlite3_int64 found = sqlite3_column_int64(cursor->statement, column);
    if (sqlite3_column_type(cursor->statement, column) != SQLITE_INTEGER || found < 0)
        return refuse_column(cursor, column, "a whole number from 0");
    *value = (uint64_t)found;
    return PARITAS_OK;
}

/* Status and iterations, neighbouring columns. */
static paritas_status read_outcome(struct cursor *cursor, int column, paritas_fit_status *word,
                                   unsigned *iterations)
{
    static const char *const wanted = "the name of a status";
    uint64_t count = 0;
    if (sqlite3_column_type(cursor->statement, column) != SQLITE_TEXT)
        return refuse_column(cursor, column, wanted);
    const char *text = (const char *)sqlite3_column_text(cursor->statement, column);
    if (text == NULL) return paritas_fail_memory(cursor->store->database.context);
    int found = 0;
    while (found < (int)PARITAS_FIT_STATUS_COUNT &&
           strcmp(text, paritas_fit_status_name((paritas_fit_status)found)) != 0)
        found++;
    if (found == (int)PARITAS_FIT_STATUS_COUNT) return refuse_column(cursor, column, wanted);
    *word = (paritas_fit_status)found;
    const paritas_status status = read_index(cursor, column + 1, &count);
    if (status != PARITAS_OK) return status;
    *iterations = (unsigned)count;
    return count <= UINT_MAX ? PARITAS_OK : refuse_column(cursor, column + 1, "a count of iterations");
}

static paritas_status read_vector(struct cursor *cursor, int column, double *place, const double **vector)
{
    const size_t n = cursor->store->run.n_parameters;
    const int type = sqlite3_column_type(cursor->statement, column);
    *vector = NULL;
    if (type == SQLITE_NULL) return PARITAS_OK;
    const unsigned char *bytes = sqlite3_column_blob(cursor->statement, column);
    const size_t length = (size_t)sqlite3_column_bytes(cursor->statement, column);
    if (type != SQLITE_BLOB || length != n * sizeof(double))
        return refuse_column(cursor, column, "a vector with 8 bytes a parameter");
    if (n > 0) decode(place, bytes, n);
    *vector = place;
    return PARITAS_OK;
}

paritas_status cursor_next(struct cursor *cursor, bool *more)
{
    paritas_status status = database_step(&cursor->store->database, cursor->statement, more);
    if (status != PARITAS_OK || !*more) return status;
    if (cursor->store->run.kind == STORE_FITS) {
        struct store_fit *row = &cursor->fit;
        status = read_index(cursor, 0, &row->toy);
        if (status == PARITAS_OK) status = read_real(cursor, 1, true, &row->twice_nll);
        if (status == PARITAS_OK) status = read_real(cursor, 2, true, &row->statistic);
        if (status == PARITAS_OK) status = read_real(cursor, 3, true, &row->edm);
        if (status == PARITAS_OK) status = read_outcome(cursor, 4, &row->status, &row->iterations);
        if (status == PARITAS_OK) status = read_vector(cursor, 6, cursor->vectors, &row->parameters);
        if (status == PARITAS_OK)
            status = read_vector(cursor, 7, cursor->vectors + cursor->store->run.n_parameters, &row->errors);
        cursor->test.toy = row->toy;
        return status;
    }
    paritas_toy *row = &cursor->test;
    row->size = sizeof *row;
    status = read_real(cursor, 0, false, &row->mu);
    if (status == PARITAS_OK) status = read_real(cursor, 1, false, &row->hypothesis);
    if (status == PARITAS_OK) status = read_index(cursor, 2, &row->toy);
    if (status == PARITAS_OK) status = read_real(cursor, 3, true, &row->q);
    if (status == PARITAS_OK) status = read_real(cursor, 4, true, &row->mu_hat);
    if (status == PARITAS_OK) status = read_real(cursor, 5, true, &row->twice_nll_free);
    if (status == PARITAS_OK) status = read_real(cursor, 6, true, &row->twice_nll_fixed);
    if (status == PARITAS_OK) status = read_outcome(cursor, 7, &row->status, &row->iterations);
    return status;
}

static paritas_status read_all(struct store *store, enum store_kind kind,
                               int (*take_test)(void *, const paritas_toy *),
                               int (*take_fit)(void *, const struct store_fit *), void *user)
{
    paritas_context *context = store->database.context;
    if (store->run.kind != kind)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s: the store holds rows of another kind",
                            store->database.name);
    struct cursor cursor;
    bool more = true;
    paritas_status status = cursor_open(&cursor, store);
    while (status == PARITAS_OK && (status = cursor_next(&cursor, &more)) == PARITAS_OK && more)
        if ((take_test != NULL ? take_test(user, &cursor.test) : take_fit(user, &cursor.fit)) != 0)
            status =
                paritas_fail(context, PARITAS_CANCELLED, "%s: reading was cancelled", store->database.name);
    cursor_close(&cursor);
    return status;
}

paritas_status store_read(struct store *store, int (*take)(void *user, const paritas_toy *row), void *user)
{
    return read_all(store, STORE_TESTS, take, NULL, user);
}

paritas_status store_read_fits(struct store *store, int (*take)(void *user, const struct store_fit *row),
                               void *user)
{
    return read_all(store, STORE_FITS, NULL, take, user);
}

/* Sums over the whole table rather than GROUP BY, which would sort it (a million rows: 0.1 s, not 1 s). */
paritas_status store_counts(struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT])
{
    struct database *database = &store->database;
    sqlite3_stmt *statement = NULL;
    char query[512];
    int length = snprintf(query, sizeof query, "SELECT count(*)");
    for (int i = 0; i < (int)PARITAS_FIT_STATUS_COUNT; i++)
        length += snprintf(query + length, sizeof query - (size_t)length, ", total(status = '%s')",
                           paritas_fit_status_name((paritas_fit_status)i));
    snprintf(query + length, sizeof query - (size_t)length, " FROM toys");
    bool row = false;
    paritas_status status = database_prepare(database, query, &statement);
    if (status == PARITAS_OK) status = database_step(database, statement, &row);
    uint64_t all = row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    for (int i = 0; i < (int)PARITAS_FIT_STATUS_COUNT; i++) {
        counts[i] = row ? (uint64_t)sqlite3_column_double(statement, i + 1) : 0;
        all -= counts[i];
    }
    sqlite3_finalize(statement);
    if (status != PARITAS_OK || all == 0) return status;
    /* a status that is none: the reader names its row */
    struct cursor cursor;
    bool more = true;
    status = cursor_open(&cursor, store);
    while (status == PARITAS_OK && more) status = cursor_next(&cursor, &more);
    cursor_close(&cursor);
    return status;
}
