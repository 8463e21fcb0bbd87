/* database.c: connections, statements, errors and the lock of a store. */
#define _DEFAULT_SOURCE /* flock, realpath */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest wait for another program's lock (a reader that sets the log up or down). */
#define PATIENCE_MS 5000

paritas_status database_say(struct database *database, paritas_status status, const char *format, ...)
{
    char reason[sizeof database->context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return paritas_fail(database->context, status, "%s: %s", database->name, reason);
}

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
    case SQLITE_NOMEM:
        return paritas_fail_memory(database->context);
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
    TRY(database_run(database, "PRAGMA temp_store = MEMORY"));
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

paritas_status database_path(paritas_context *context, const char *name, char real[PATH_MAX])
{
    if (realpath(name, real)) return PARITAS_OK;
    if (errno == ENOENT && name[0] != '\0') {
        const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
        char folder[PATH_MAX];
        const int length = slash ? snprintf(folder, sizeof folder, "%.*s", (int)(file - name), name)
                                 : snprintf(folder, sizeof folder, ".");
        if (length > 0 && length < (int)sizeof folder && realpath(folder, real)) {
            const size_t used = strlen(real);
            if (used + strlen(file) + 2 <= PATH_MAX && file[0] != '\0') {
                snprintf(real + used, PATH_MAX - used, "%s%s", used > 1 ? "/" : "", file);
                return PARITAS_OK;
            }
            errno = file[0] == '\0' ? EISDIR : ENAMETOOLONG;
        }
    }
    return paritas_fail(context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", name, strerror(errno));
}

static bool in_use(int error)
{
    return error == EWOULDBLOCK || error == EAGAIN;
}

paritas_status lock_take(paritas_context *context, const char *name, const char *real,
                         struct store_lock *lock)
{
    snprintf(lock->path, sizeof lock->path, "%s-lock", real);
    for (;;) {
        lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->file < 0)
            return paritas_fail(context, PARITAS_UNWRITABLE, "%s: its lock, %s, cannot be made: %s", name,
                                lock->path, strerror(errno));
        if (flock(lock->file, LOCK_EX | LOCK_NB) != 0) {
            const int error = errno;
            close(lock->file);
            lock->file = -1;
            if (error == EINTR) continue;
            if (in_use(error))
                return paritas_fail(context, PARITAS_UNWRITABLE, "%s: is in use by another process", name);
            return paritas_fail(context, PARITAS_UNWRITABLE, "%s: cannot be locked: %s", name,
                                strerror(error));
        }
        /* the last holder may have removed the file between our open and lock: then nobody else finds it */
        struct stat held, there;
        if (fstat(lock->file, &held) == 0 && stat(lock->path, &there) == 0 && held.st_dev == there.st_dev &&
            held.st_ino == there.st_ino)
            return PARITAS_OK;
        close(lock->file);
    }
}

void lock_drop(struct store_lock *lock)
{
    if (lock->file < 0) return;
    unlink(lock->path); /* before unlocking, see lock_take */
    close(lock->file);
    lock->file = -1;
}

paritas_status lock_check(paritas_context *context, const char *name, const char *real)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s-lock", real);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return PARITAS_OK;
    const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && in_use(errno);
    close(file);
    return held ? paritas_fail(context, PARITAS_UNREADABLE, "%s: is in use by another process", name)
                : PARITAS_OK;
}
