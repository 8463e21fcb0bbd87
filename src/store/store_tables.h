/* store_tables.h: the tables of a store's file and the key in them, for src/store alone. */
#pragma once

#include "store/store_rows.h"

/* A new store object with its name; database_open and one of the two below follow. */
paritas_status store_prepare(paritas_context *context, const char *name, struct store **store);
/* Writes tables and key and copies the run, without the entry `without` (NULL allowed). In the caller's
 * transaction. */
paritas_status store_make(struct store *store, const struct store_run *run, const char *without);
/* Reads and checks format and run. *empty: the file has no tables at all. */
paritas_status store_recognise(struct store *store, bool *empty);
/* Writes the number of toys of a longer run, and copies the run. */
paritas_status store_lengthen(struct store *store, const struct store_run *run);
/* Fails with `status` if the runs differ, except in `without`, which NULL ends; `whose` names `other` ("this
 * run"). */
paritas_status store_compare(struct store *store, const struct store_run *other, const char *const *without,
                             const char *whose, paritas_status status);
