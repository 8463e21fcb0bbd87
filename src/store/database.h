/* database.h: access to SQLite, with its errors translated. For src/store alone. */
#pragma once

#include "base/context.h"
#include "base/platform.h"
#include "store/store_run.h"
#include <sqlite3.h>

#define STORE_APPLICATION 0x50544f59 /* "PTOY" */
#define STORE_FORMAT 1

struct database {
    paritas_context *context;
    const char *name; /* as the caller named it, for messages; borrowed */
    sqlite3 *connection;
    bool writes; /* decides the status of failures */
};

enum database_access {
    DATABASE_READ,   /* SQLite repairs what a crash left, if the file is writable */
    DATABASE_WRITE,  /* creates the file */
    DATABASE_SCRATCH /* WRITE without a journal: the file is deleted on failure */
};

/* `path`: absolute or with a leading dot, as SQLite interprets others (":memory:", "file:..."). Close it
 * even after a failure. */
paritas_status database_open(struct database *database, paritas_context *context, const char *name,
                             const char *path, enum database_access access);
void database_close(struct database *database);
paritas_status database_run(struct database *database, const char *statements);
/* Finalise it before closing the database. */
paritas_status database_prepare(struct database *database, const char *text, sqlite3_stmt **statement);
paritas_status database_step(struct database *database, sqlite3_stmt *statement, bool *row);
/* Prepares it, binds `name` unless NULL, and takes the first step. Finalise it even after a failure. */
paritas_status database_first(struct database *database, const char *text, const char *name,
                              sqlite3_stmt **statement, bool *row);
#define database_say(database, status, ...) \
    store_say((database)->context, (database)->name, status, __VA_ARGS__)
/* Says that the file is not as a store must be (INVALID_INPUT). */
#define database_damaged(database, ...) database_say(database, PARITAS_INVALID_INPUT, __VA_ARGS__)
/* A statement of two texts, without rows. */
paritas_status database_insert(struct database *database, const char *text, const char *first,
                               const char *second);
/* A statement with one integer result. */
paritas_status database_integer(struct database *database, const char *text, sqlite3_int64 *value);
paritas_status database_fail(struct database *database);

/* The absolute path, links resolved. The file need not exist, its folder must; else UNWRITABLE. */
paritas_status database_path(paritas_context *context, const char *name, char real[PLATFORM_PATH_MAX]);

/* One run's lock on a store: the file REAL-lock. */
struct store_lock {
    int file; /* -1: not held */
    char path[PLATFORM_PATH_MAX + 8];
};
paritas_status lock_take(paritas_context *context, const char *name, const char *real,
                         struct store_lock *lock);
void lock_drop(struct store_lock *lock);
/* Fails if another process holds it. */
paritas_status lock_check(paritas_context *context, const char *name, const char *real);
