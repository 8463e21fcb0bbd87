/* store.h: toys in a file, so that none is lost or doubled.
 *
 *   run.db ── run(name, value)             the key: what must be equal for two runs to have the same toys
 *          ├─ facts(name, value)           numbers found on the way (the observed q, ...), written once
 *          ├─ parameters(number, name)     FITS: what the vectors' elements are
 *          └─ toys                         a row a toy, by its number (TESTS: and tested mu, hypothesis)
 *
 * The file is an SQLite database; its pragmas application_id and user_version say whose and of which format.
 * SQLite's types and errors stay in this folder. The columns of `toys` are the fields of paritas_toy (TESTS)
 * or of struct store_fit (FITS): a line in one of these lists is a column.
 * NaN is NULL; other numbers come back with their bits. SQLite keeps no sign of zero in a REAL, so -0.0
 * becomes 0.0; in vectors (little-endian f64) it stays.
 *
 * A call adds its rows in one transaction. A killed process (-9) loses at most the one in flight, a machine
 * without power perhaps the last few; the file stays whole (write-ahead log, synchronous = NORMAL). While a
 * store is open, PATH-wal, PATH-shm and PATH-lock stand beside it. PATH-lock carries the advisory lock that
 * keeps a second run out; the system frees it when its holder dies. It is a file of its own: a process that
 * closes any descriptor of a database's file drops SQLite's own locks. Others may read the store meanwhile.
 *
 * Memory: the context's allocator; SQLite has its own (malloc), at most some 2 MB a store. A store serves one
 * thread at a time and must not be carried through fork(). */
#ifndef PARITAS_STORE_STORE_H
#define PARITAS_STORE_STORE_H

#include "base/context.h"

struct store;

enum store_kind { STORE_TESTS, STORE_FITS };

/* What a run is: two runs whose kind, entries or parameters differ have different toys. */
struct store_run {
    enum store_kind kind;
    size_t n_entries;
    const paritas_key_entry *entries; /* names are distinct; none is "kind" */
    size_t n_parameters;              /* FITS: length of the vectors; TESTS: 0 */
    const char *const *parameters;    /* their names */
};

/* n_parameters of the run; NULL: not kept. */
typedef const double *store_vector;

/* One toy of a FITS store. */
#define STORE_FIT_FIELDS(FIELD, R)                                                                       \
    FIELD(R, uint64_t, toy, , "toy", "", "its number")                                                   \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the NLL at the best fit")                      \
    FIELD(R, double, statistic, , "statistic", "", "twice the NLL less its saturated value, all digits") \
    FIELD(R, double, edm, , "edm", "", "estimated distance to the minimum")                              \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of its fit")                           \
    FIELD(R, unsigned, iterations, , "iterations", "", "of its fit")                                     \
    FIELD(R, store_vector, parameters, , "parameters", "", "fitted values")                              \
    FIELD(R, store_vector, errors, , "errors", "", "their errors")
struct store_fit {
    STORE_FIT_FIELDS(PARITAS_MEMBER, )
};

/* Opens the store at `path` for `run`, alone: makes it or, with `resume`, goes on with one that exists
 * (missing or empty: made). All is copied. Errors name the file:
 *   INVALID_ARGUMENT  it exists without `resume`; it was made for another run (with each difference)
 *   INVALID_INPUT     it is no store: no database, another program's, of another format, damaged
 *   UNWRITABLE        file or folder cannot be written, the disk is full, another process has it */
paritas_status store_open(paritas_context *context, const char *path, const struct store_run *run,
                          bool resume, struct store **store);
/* Opens a store for reading only. What a killed run left is put in order where the file may be written.
 * Others may write it meanwhile. UNREADABLE: it is not there, or may not be read. */
paritas_status store_open_read(paritas_context *context, const char *path, struct store **store);
/* Closes; NULL is a no-op. What was added is safe whatever happens here. */
void store_close(struct store *store);

/* The run as it stands in the file. Texts and arrays live as long as the store. */
const struct store_run *store_run(const struct store *store);
const char *store_entry(const struct store *store, const char *name); /* NULL: no such entry */
const char *store_path(const struct store *store);

/* present[i] = 1 where toy first + i is in the store, else 0, i < n. FITS: mu and hypothesis do not
 * matter. */
paritas_status store_present(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                             unsigned char *present);
/* Adds n rows, or none on failure. INVALID_ARGUMENT: a toy is there already (named; nothing is replaced), or
 * mu, hypothesis or number (below 2^63) cannot be part of a key. UNWRITABLE: the disk is full. Quickest in
 * ascending order of (mu, hypothesis, toy). */
paritas_status store_add(struct store *store, size_t n, const paritas_toy *rows);
paritas_status store_add_fits(struct store *store, size_t n, const struct store_fit *rows);

/* All rows that the file has when the call begins, ascending in (mu, hypothesis, toy). `take` may read its
 * row until it returns; other than 0 ends the reading with CANCELLED. INVALID_INPUT: an impossible row, by
 * key and column. */
paritas_status store_read(struct store *store, int (*take)(void *user, const paritas_toy *row), void *user);
paritas_status store_read_fits(struct store *store, int (*take)(void *user, const struct store_fit *row),
                               void *user);

/* The same of toys first .. first + n - 1 of a TESTS store at these values. */
paritas_status store_read_range(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                                int (*take)(void *user, const paritas_toy *row), void *user);

/* How many rows have each status, indexed by paritas_fit_status. */
paritas_status store_counts(struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT]);

/* A named number of the run, written once. Another value is INVALID_ARGUMENT, which names both. */
paritas_status store_set_fact(struct store *store, const char *name, double value);
/* *value is NaN where not known */
paritas_status store_get_fact(struct store *store, const char *name, double *value, bool *known);

#endif
