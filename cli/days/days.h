/* days.h: day files of the Electron Reflectometer, found and put together by date. */
#ifndef PARITAS_CLI_DAYS_H
#define PARITAS_CLI_DAYS_H

#include "session.h"

struct day_file {
    const char *path;
    int date; /* YYYYMMDD: of the name where a folder was searched, else of the first row that has one */
};

struct day {
    char date[11];                /* YYYY-MM-DD */
    const struct day_file *files; /* by path */
    size_t n;
};

struct days {
    struct day *days; /* by date */
    size_t n;
};

/* Options of commands that read day files: --year, --month, --day. */
extern const struct option options_days[];
#define GROUP_DAYS                                                                                                                         \
    {                                                                                                                                      \
        "Days", options_days                                                                                                               \
    }

/* The operands, in the arena: files as they are, folders searched for day files of the dates that options_days ask for. NOT_FOUND, saying why, where none is left. */
paritas_status days_find(struct session *session, struct days *days);

#endif
