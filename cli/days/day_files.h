/* day_files.h: day files of the Electron Reflectometer, found and put together by date. */
#ifndef PARITAS_DAY_FILES_H
#define PARITAS_DAY_FILES_H

#include "session.h"

struct day_file {
    const char *path;
    /* YYYYMMDD: of the name where a folder was searched, else of the first row that has one, or of the name;
     * 0: of a file that is no day file */
    int date;
};

struct day {
    /* YYYY-MM-DD; "": of a file that is no day file, which is a day by itself */
    char date[11];
    const struct day_file *files; /* by path */
    size_t n;
};

struct days {
    struct day *days; /* by date */
    size_t n;
};

/* Options of commands that read day files: --year, --month, --day. */
extern const struct option options_days[];
#define GROUP_DAYS {"Days", options_days}

/* The operands, in the arena: files, and folders searched for day files, of the dates that options_days ask
 * for. NOT_FOUND, saying why, where none is left; the reason of a file without a date where there is nothing
 * else. */
paritas_status days_find(struct session *session, struct days *days);
/* INVALID_INPUT, saying why a file is no day file. */
paritas_status no_day_file(paritas_context *context, const char *path);

#endif
