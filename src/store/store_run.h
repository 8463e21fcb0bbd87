/* store_run.h: what every kind of store shares: the key of a run, and the columns of its rows. Knows no
 * SQLite. */
#pragma once

#include "store/store_records.h"

#define STORE_SHARD "shard"
#define STORE_NTOYS "ntoys" /* toys of each hypothesis; toy t is the same whatever their number */

/* Entries of the key that differ between the stores of one merge; NULL at the end. */
extern const char *const store_shard_entries[];

extern const char *const store_kind_names[2];

/* Fails with "NAME: reason". */
paritas_status store_say(paritas_context *context, const char *name, paritas_status status,
                         const char *format, ...) PRINTF_LIKE(4, 5);
/* Refuses no stores, and a path that is NULL. */
paritas_status stores_check(paritas_context *context, size_t n, const char *const *paths);
/* A fact has one value, which may be NaN: INVALID_ARGUMENT if `now` is another one than `there`. */
paritas_status fact_check(paritas_context *context, const char *name, const char *fact, double there,
                          double now);
/* The same between a shard, NAME, and the shards before it: INVALID_INPUT. */
paritas_status fact_check_shard(paritas_context *context, const char *name, const char *fact, double there,
                                double value);

/* Returns NULL if there is no such entry. */
const char *run_entry(const struct store_run *run, const char *name);
/* Copies a run into the arena, without the entry `without` (NULL allowed). */
paritas_status run_copy(paritas_context *context, struct arena *arena, const struct store_run *from,
                        const char *without, struct store_run *copy);
/* Has `run` more toys than `other`? Runs without a number of toys have as many. */
bool run_longer(const struct store_run *run, const struct store_run *other);
/* Does `run` go on where the shorter run of the store ended? Shards do not: theirs are other toys. */
bool run_extends(const struct store_run *run, const struct store_run *stored);
/* Fails with `failure` if the runs differ, except in `without`, which NULL ends. `name`: of the store of
 * `run`; `whose` names `other` ("this run"). */
paritas_status run_compare(paritas_context *context, const char *name, const struct store_run *run,
                           const struct store_run *other, const char *const *without, const char *whose,
                           paritas_status failure);

enum column_type {
    COLUMN_double,
    COLUMN_uint64_t,
    COLUMN_unsigned,
    COLUMN_paritas_fit_status,
    COLUMN_store_vector
};
struct column {
    const char *name;
    enum column_type type;
    size_t offset; /* in the row */
};

/* What a number of a toy with an answer must be; NaN is NULL in a file. */
struct demand {
    const char *name;
    size_t offset;
    double least;
    enum column_type type; /* double, or a vector of them that may be NULL */
    bool may_be_nan;
};

/* The rows of a kind. The key: the first columns; last the toy's number. */
struct store_table {
    const struct column *columns;
    int n, n_key;
    size_t row_size, toy, status; /* toy, status: offsets */
    const struct demand *demands; /* ends with a name that is NULL */
};
const struct store_table *run_table(const struct store_run *run);

uint64_t row_toy(const struct store_table *table, const void *row);
/* "toy 7 at mu = 1, hypothesis = 0", or "toy 7". */
void row_name(char name[160], enum store_kind kind, const void *row);
/* May a toy have these numbers? If not, `reason` begins with the column. One without an answer may have any,
 * in columns that are not the key. */
#define ROW_REASON 200
bool row_is_possible(const struct store_table *table, const void *row, size_t n_parameters,
                     char reason[ROW_REASON]);
/* Compares rows by the key, for sorting. */
int row_compare(enum store_kind kind, const void *a, const void *b);
