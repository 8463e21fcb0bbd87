/* database.h: the little of SQLite that a store needs, its errors translated in one place. For src/store
 * alone. */
#ifndef PARITAS_STORE_DATABASE_H
#define PARITAS_STORE_DATABASE_H

#include "base/context.h"
#include <limits.h>
#include <sqlite3.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

#define STORE_APPLICATION 0x50544f59 /* "PTOY" */
#define STORE_FORMAT 1

struct database {
    paritas_context *context;
    const char *name; /* as the caller named it, for messages; borrowed */
    sqlite3 *connection;
    bool writes; /* opened for writing: decides which status a failure has */
};

enum database_access {
    DATABASE_READ,   /* where the file may be written, SQLite mends what a crash has left */
    DATABASE_WRITE,  /* makes the file where it is missing */
    DATABASE_SCRATCH /* as WRITE, without a journal: for a file that is thrown away on failure */
};

/* `path` must be absolute or begin with a point: SQLite gives others a meaning (":memory:", "file:...").
 * Close it also after a failure. */
paritas_status database_open(struct database *database, paritas_context *context, const char *name,
                             const char *path, enum database_access access);
void database_close(struct database *database);
/* Runs statements that give no rows. */
paritas_status database_run(struct database *database, const char *statements);
/* The caller finalises it before the database is closed. */
paritas_status database_prepare(struct database *database, const char *text, sqlite3_stmt **statement);
/* The next row; *row: there is one. */
paritas_status database_step(struct database *database, sqlite3_stmt *statement, bool *row);
/* A statement of two texts and no rows. */
paritas_status database_insert(struct database *database, const char *text, const char *first,
                               const char *second);
/* A statement with one whole number as its answer. */
paritas_status database_integer(struct database *database, const char *text, sqlite3_int64 *value);
/* The connection's last failure as a status, with its message. */
paritas_status database_fail(struct database *database);

/* The absolute path of a file, through links. It need not exist, its folder must; else UNWRITABLE. */
paritas_status database_path(paritas_context *context, const char *name, char real[PATH_MAX]);

/* The lock that one run holds on a store: REAL-lock beside it. */
struct store_lock {
    int file; /* -1: not held */
    char path[PATH_MAX + 8];
};
paritas_status lock_take(paritas_context *context, const char *name, const char *real,
                         struct store_lock *lock);
void lock_drop(struct store_lock *lock);
/* Fails where another process holds it. */
paritas_status lock_check(paritas_context *context, const char *name, const char *real);

#endif
