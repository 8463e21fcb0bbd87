/* store_rows.h: the open store and its rows, for src/store alone. A row is a paritas_toy or (FITS) a
 * struct store_fit. */
#pragma once

#include "store/database.h"
#include "store/store_run.h"

struct store {
    struct database database;
    struct store_lock lock; /* held by store_open */
    struct arena arena;     /* run and name */
    struct store_run run;
    sqlite3_stmt *insert; /* NULL until needed */
    unsigned char *bytes; /* FITS: two vectors as stored */
};

paritas_status rows_create_table(struct store *store);
/* Inserts a row in the caller's transaction. */
paritas_status row_insert(struct store *store, const void *row);

/* First and last toy; TESTS: at one mu and hypothesis. */
struct key_range {
    double mu, hypothesis;
    uint64_t first, last;
};

/* Checked rows in order; `row` is valid until the next step. */
struct cursor {
    struct store *store;
    sqlite3_stmt *statement;
    void *row;        /* `test` or `fit` */
    paritas_toy test; /* FITS use its toy number too */
    struct store_fit fit;
    double *vectors;    /* FITS: parameters, then errors */
    paritas_toy before; /* key of the row before */
    bool begun;
};
paritas_status cursor_open(struct cursor *cursor, struct store *store, const struct key_range *range);
paritas_status cursor_next(struct cursor *cursor, bool *more);
void cursor_close(struct cursor *cursor); /* zeros: no-op */
