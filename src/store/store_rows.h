/* store_rows.h: what the files of this folder share: the open store, and rows one by one. For src/store
 * alone. A row is a paritas_toy or, in a FITS store, a struct store_fit. */
#ifndef PARITAS_STORE_ROWS_H
#define PARITAS_STORE_ROWS_H

#include "store/database.h"
#include "store/store.h"

struct store {
    struct database database;
    struct store_lock lock; /* held where store_open opened it */
    struct arena arena;     /* holds the run and the name */
    struct store_run run;
    sqlite3_stmt *insert; /* NULL until it is needed */
    unsigned char *bytes; /* FITS: two vectors as they lie in the file */
};

/* A store that is nothing yet, with the arena and the file's name in it; then database_open and one of the
 * two below. */
paritas_status store_prepare(paritas_context *context, const char *name, struct store **store);
/* Writes tables and key of a new store and copies the run without the entry `without` (may be NULL). In the
 * caller's transaction. */
paritas_status store_make(struct store *store, const struct store_run *run, const char *without);
/* Reads what the file says of itself: that it is a store of this format, and the run. *empty: it has nothing
 * in it, not even another's tables. */
paritas_status store_recognise(struct store *store, bool *empty);
/* Fails with `status` where the store's run differs from `other` in more than the entry `without`; `whose`
 * names the other one: "this run". */
paritas_status store_compare(struct store *store, const struct store_run *other, const char *without,
                             const char *whose, paritas_status status);

/* Makes the table `toys`. */
paritas_status rows_create_table(struct store *store);
/* Inserts one row. In the caller's transaction. */
paritas_status row_insert(struct store *store, const void *row);
/* "toy 7 at mu = 1, hypothesis = 0", or "toy 7". */
void row_name(char name[160], const struct store *store, const void *row);

/* Toys first ... last, of a TESTS store at one mu and hypothesis. */
struct key_range {
    double mu, hypothesis;
    uint64_t first, last;
};

/* Rows in order, each checked; `row` is valid until the next step. */
struct cursor {
    struct store *store;
    sqlite3_stmt *statement;
    void *row;        /* `test` or `fit` */
    paritas_toy test; /* has the toy's number in a FITS store too */
    struct store_fit fit;
    double *vectors; /* FITS: parameters, then errors */
};
paritas_status cursor_open(struct cursor *cursor, struct store *store, const struct key_range *range);
paritas_status cursor_next(struct cursor *cursor, bool *more);
void cursor_close(struct cursor *cursor); /* one of zeros is a no-op */

#endif
