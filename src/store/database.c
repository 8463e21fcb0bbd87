/* database.c: connections, statements, errors and the lock of a store. */
#include "store/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest wait for another program's lock (a reader that sets the log up or down). */
#define PATIENCE_MS 5000

/* The system's reason, if it explains more than SQLite's. */
static const char *reason_of(const struct database *database)
{
    const int error = sqlite3_system_errno(database->connection);
    return error != 0 ? strerror(error) : sqlite3_errmsg(database->connection);
}

paritas_status database_fail(struct database *database)
{
    if (!database->connection) return paritas_fail_memory(database->context);
    const int code = sqlite3_extended_errcode(database->connection);
    const paritas_status either = database->writes ? PARITAS_UNWRITABLE : PARITAS_UNREADABLE;
    switch (code & 0xff) {
    case SQLITE_NOMEM: /* SQLite says so of forged pages, too */
        return database_say(database, PARITAS_OUT_OF_MEMORY,
                            "needs more memory than there is, or the database is damaged");
    case SQLITE_FULL:
        return database_say(database, PARITAS_UNWRITABLE, "cannot be written: the disk is full");
    case SQLITE_READONLY:
        return database_say(database, either,
                            database->writes
                                ? "cannot be written: it is read-only"
                                : "was left in the middle of a change, which only who may write it can mend");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return database_say(database, either, "is in use by another process");
    case SQLITE_NOTADB:
        return database_damaged(database, "is not a store of toys: the file is not a database");
    case SQLITE_CORRUPT:
        return database_damaged(database, "the database is damaged");
    case SQLITE_IOERR:
        if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ)
            return database_say(database, PARITAS_UNREADABLE, "cannot be read: %s", reason_of(database));
        /* fall through */
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return database_say(database, either, "cannot be %s: %s", database->writes ? "written" : "read",
                            reason_of(database));
    default: /* a table or column is missing in the file */
        return database_damaged(database, "is not a whole store of toys: %s",
                                sqlite3_errmsg(database->connection));
    }
}

paritas_status database_open(struct database *database, paritas_context *context, const char *name,
                             const char *path, enum database_access access)
{
    /* NOMUTEX: a context serves one thread at a time */
    const int flags =
        SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | (access == DATABASE_READ ? 0 : SQLITE_OPEN_CREATE);
    *database = (struct database){.context = context, .name = name, .writes = access != DATABASE_READ};
    if (sqlite3_open_v2(path, &database->connection, flags, NULL) != SQLITE_OK)
        return database_fail(database);
    sqlite3_busy_timeout(database->connection, PATIENCE_MS);
    /* temporary tables in memory: for a folder SQLite would read the environment */
    TRY(database_run(database, "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; "
                               "PRAGMA cell_size_check = ON"));
    /* rows are read once, in order; hundreds of shards may be open */
    if (access == DATABASE_READ)
        return database_run(database, "PRAGMA query_only = ON; PRAGMA cache_size = -256");
    if (access == DATABASE_SCRATCH)
        return database_run(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL");
    return PARITAS_OK;
}

void database_close(struct database *database)
{
    sqlite3_close(database->connection);
    database->connection = NULL;
}

paritas_status database_run(struct database *database, const char *statements)
{
    return sqlite3_exec(database->connection, statements, NULL, NULL, NULL) == SQLITE_OK
               ? PARITAS_OK
               : database_fail(database);
}

paritas_status database_prepare(struct database *database, const char *text, sqlite3_stmt **statement)
{
    const int code =
        sqlite3_prepare_v3(database->connection, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return code == SQLITE_OK ? PARITAS_OK : database_fail(database);
}

paritas_status database_step(struct database *database, sqlite3_stmt *statement, bool *row)
{
    const int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? PARITAS_OK : database_fail(database);
}

paritas_status database_insert(struct database *database, const char *text, const char *first,
                               const char *second)
{
    sqlite3_stmt *insert = NULL;
    bool row;
    TRY(database_prepare(database, text, &insert));
    sqlite3_bind_text(insert, 1, first, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, second, -1, SQLITE_STATIC);
    const paritas_status status = database_step(database, insert, &row);
    sqlite3_finalize(insert);
    return status;
}

paritas_status database_first(struct database *database, const char *text, const char *name,
                              sqlite3_stmt **statement, bool *row)
{
    *statement = NULL;
    *row = false;
    TRY(database_prepare(database, text, statement));
    if (name) sqlite3_bind_text(*statement, 1, name, -1, SQLITE_STATIC);
    return database_step(database, *statement, row);
}

paritas_status database_integer(struct database *database, const char *text, sqlite3_int64 *value)
{
    sqlite3_stmt *statement;
    bool row;
    const paritas_status status = database_first(database, text, NULL, &statement, &row);
    *value = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

paritas_status database_path(paritas_context *context, const char *name, char real[PLATFORM_PATH_MAX])
{
    if (platform_real_path(name, real)) return PARITAS_OK;
    if (errno == ENOENT && name[0] != '\0') {
        const char *file = platform_file_name(name);
        char *folder = platform_folder_of(name);
        const bool found = folder && platform_real_path(folder, real);
        const int error = errno;
        free(folder);
        errno = error;
        if (found) {
            const size_t used = strlen(real);
            if (used + strlen(file) + 2 <= PLATFORM_PATH_MAX && file[0] != '\0') {
                snprintf(real + used, PLATFORM_PATH_MAX - used, "%s%s",
                         platform_is_separator(real[used - 1]) ? "" : "/", file);
                return PARITAS_OK;
            }
            errno = file[0] == '\0' ? EISDIR : ENAMETOOLONG;
        }
    }
    return paritas_fail(context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", name, strerror(errno));
}

paritas_status lock_take(paritas_context *context, const char *name, const char *real,
                         struct store_lock *lock)
{
    snprintf(lock->path, sizeof lock->path, "%s-lock", real);
    switch (platform_lock_take(lock->path, &lock->file)) {
    case PLATFORM_LOCK_TAKEN:
        return PARITAS_OK;
    case PLATFORM_LOCK_IN_USE:
        return paritas_fail(context, PARITAS_UNWRITABLE, "%s: is in use by another process", name);
    case PLATFORM_LOCK_NOT_MADE:
        return paritas_fail(context, PARITAS_UNWRITABLE, "%s: its lock, %s, cannot be made: %s", name,
                            lock->path, strerror(errno));
    default:
        return paritas_fail(context, PARITAS_UNWRITABLE, "%s: cannot be locked: %s", name, strerror(errno));
    }
}

void lock_drop(struct store_lock *lock)
{
    if (lock->file < 0) return;
    platform_lock_drop(lock->path, lock->file);
    lock->file = -1;
}

paritas_status lock_check(paritas_context *context, const char *name, const char *real)
{
    char path[PLATFORM_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s-lock", real);
    return platform_lock_is_held(path)
               ? paritas_fail(context, PARITAS_UNREADABLE, "%s: is in use by another process", name)
               : PARITAS_OK;
}
