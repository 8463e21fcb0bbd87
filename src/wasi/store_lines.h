/* store_lines.h: stores of toys as lines of text, for src/wasi alone. WASI has no locks of files, which
 * SQLite needs.
 *
 *   {"store": 1, "kind": "tests", "run": {"command": "toys", ...}, "parameters": [], "columns": [...]}
 *   {"fact": "q", "value": 3.9}
 *   [1.0, 0.0, 7, 2.5, ..., "converged", 12]                              a toy, in the order of `columns`
 *
 * Numbers keep their bits; NaN is null. An open store has all rows in memory. Each call adds its lines at
 * once; a last line that a kill cut off does not count. Nothing hinders a second program. */
#pragma once

#include "base/json/json.h"
#include "store/store.h"
#include "store/store_run.h"

#include <stdio.h>

#define LINES_FORMAT 1

struct fact {
    const char *name;
    double value;
};

struct store {
    paritas_context *context;
    const char *name;
    FILE *file; /* NULL: open for reading */
    struct arena arena;
    struct store_run run;
    struct fact *facts; /* from the context's allocator, as `rows` */
    size_t n_facts;
    char *rows; /* paritas_toy or struct store_fit; vectors in the arena */
    size_t n, room;
    bool sorted;
};

#define lines_fail(store, status, ...) store_say((store)->context, (store)->name, status, __VA_ARGS__)
paritas_status lines_open(paritas_context *context, const char *name, struct store **store);
/* Copies the run, without the entry `without` (NULL allowed), and begins the file. */
paritas_status lines_begin(struct store *store, const struct store_run *run, const char *without);
/* Appends what the file does not have yet: the facts from `fact` and the rows from `row` on. */
paritas_status lines_append(struct store *store, size_t fact, size_t row);
/* Keeps a row in memory alone, with copies of its vectors. */
paritas_status lines_keep_row(struct store *store, const void *row);
paritas_status lines_keep_fact(struct store *store, const char *name, double value);
void *lines_row(const struct store *store, size_t i);
/* Sorts by the key. Fails if a toy is there twice. */
paritas_status lines_sort(struct store *store);
