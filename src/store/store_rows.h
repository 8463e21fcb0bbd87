/* store_rows.h: what store.c, rows.c and merge.c share: the open store, and rows one by one. For src/store
 * alone. */
#ifndef PARITAS_STORE_ROWS_H
#define PARITAS_STORE_ROWS_H

#include "store/database.h"
#include "store/store.h"

struct store {
    struct database database;
    struct store_lock lock; /* held where the store is open for writing by store_open */
    struct arena arena;     /* holds the run and the name */
    struct store_run run;
    sqlite3_stmt *insert, *present; /* NULL until they are needed */
    unsigned char *bytes;           /* FITS: two vectors as they lie in the file */
};

/* A store that is nothing yet, with the arena and the file's name in it; then database_open and either of the
 * two below. */
paritas_status store_prepare(paritas_context *context, const char *name, struct store **store);
/* Writes tables and key of a new store and copies the run, of which the entry named `without` (may be NULL)
 * is left out. In the caller's transaction. */
paritas_status store_make(struct store *store, const struct store_run *run, const char *without);
/* Reads what the file says of itself: that it is a store of this format, and the run. *empty: it has nothing
 * in it, not even another's tables. */
paritas_status store_recognise(struct store *store, bool *empty);
/* Fails with `status` where the store's run differs from `other` in more than the entry `without`; `whose`
 * names the other one: "this run". */
paritas_status store_compare(struct store *store, const struct store_run *other, const char *without,
                             const char *whose, paritas_status status);

/* Inserts one row: `test` or, in a FITS store, `fit`. In the caller's transaction. */
paritas_status row_insert(struct store *store, const paritas_toy *test, const struct store_fit *fit);

/* Rows in order, each checked. `test` or `fit` is valid until the next step; both carry the toy's index. */
struct cursor {
    struct store *store;
    sqlite3_stmt *statement;
    paritas_toy test;
    struct store_fit fit;
    double *vectors; /* FITS: parameters, then errors */
};
paritas_status cursor_open(struct cursor *cursor, struct store *store);
paritas_status cursor_next(struct cursor *cursor, bool *more);
void cursor_close(struct cursor *cursor); /* one of zeros is a no-op */

#endif
