/* store.h: toys in a file, so that none is lost or doubled.
 *
 *   run.db ── run(name, value)             the key: equal keys have equal toys
 *          ├─ facts(name, value)           numbers written once (the observed q, ...)
 *          ├─ parameters(number, name)     FITS: names of the vectors' elements
 *          └─ toys                         a row a toy, by number (TESTS: and by tested mu, hypothesis)
 *
 * SQLite database with its own application_id and user_version (format). No SQLite type or error leaves
 * this folder. Columns of `toys` are the fields of paritas_toy (TESTS) or struct store_fit (FITS).
 * Numbers keep their bits; NaN is NULL. A REAL -0.0 becomes 0.0, but not in vectors (little-endian f64).
 *
 * A call adds its rows in one transaction. A kill (-9) loses at most that one, a power cut perhaps the
 * last few; the file stays whole (write-ahead log, synchronous = NORMAL). An open store has PATH-wal,
 * PATH-shm and PATH-lock beside it. PATH-lock has the advisory lock against a second run, freed by the
 * system if its holder dies. It is a separate file, because closing any descriptor of a database's file
 * drops SQLite's own locks. Others may read meanwhile.
 *
 * Memory: the context's allocator; SQLite uses malloc, up to 2 MB a store. One thread at a time; no use
 * after fork(). */
#pragma once

#include "store/store_records.h"

struct store;

/* Opens `path` for `run`, exclusively: creates it or, with `resume`, continues it. Copies all. Fails with
 *   INVALID_ARGUMENT  it exists without `resume`, or belongs to another run (lists the differences)
 *   INVALID_INPUT     no database, another program's or format, damaged
 *   UNWRITABLE        no permission, disk full, or used by another process */
paritas_status store_open(paritas_context *context, const char *path, const struct store_run *run,
                          bool resume, struct store **store);
/* Read only; repairs what a kill left if the file is writable. Others may write meanwhile. UNREADABLE:
 * missing or no permission. */
paritas_status store_open_read(paritas_context *context, const char *path, struct store **store);
/* NULL is a no-op. Rows are safe even if closing fails. */
void store_close(struct store *store);
/* `status`; after a failure the store is closed and NULL. */
static inline paritas_status store_opened(paritas_status status, struct store **store)
{
    if (status == PARITAS_OK) return PARITAS_OK;
    store_close(*store);
    *store = NULL;
    return status;
}

/* The run in the file; valid until store_close. */
const struct store_run *store_run(const struct store *store);
const char *store_entry(const struct store *store, const char *name); /* NULL: none */
const char *store_path(const struct store *store);

/* present[i] = 1 if toy first + i is stored, i < n. FITS ignore mu and hypothesis. */
paritas_status store_present(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                             unsigned char *present);
/* Adds all n rows or none. INVALID_ARGUMENT: a toy exists already (named, not replaced), or an impossible
 * mu, hypothesis or number (>= 2^63). UNWRITABLE: disk full. Fastest in order of (mu, hypothesis, toy). */
paritas_status store_add(struct store *store, size_t n, const paritas_toy *rows);
paritas_status store_add_fits(struct store *store, size_t n, const struct store_fit *rows);

/* The rows at the time of the call, by (mu, hypothesis, toy). The row is valid inside `take`; nonzero
 * stops with CANCELLED. INVALID_INPUT: an impossible row (key, column). */
paritas_status store_read(struct store *store, int (*take)(void *user, const paritas_toy *row), void *user);
paritas_status store_read_fits(struct store *store, int (*take)(void *user, const struct store_fit *row),
                               void *user);

/* Only toys first .. first + n - 1 of a TESTS store at these values. */
paritas_status store_read_range(struct store *store, double mu, double hypothesis, uint64_t first, size_t n,
                                int (*take)(void *user, const paritas_toy *row), void *user);

/* Rows by paritas_fit_status. */
paritas_status store_counts(struct store *store, uint64_t counts[PARITAS_FIT_STATUS_COUNT]);

/* Written once; another value is INVALID_ARGUMENT. */
paritas_status store_set_fact(struct store *store, const char *name, double value);
/* NaN if unknown */
paritas_status store_get_fact(struct store *store, const char *name, double *value, bool *known);
