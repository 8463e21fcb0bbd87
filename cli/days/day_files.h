/* day_files.h: day files by date. */
#ifndef PARITAS_DAY_FILES_H
#define PARITAS_DAY_FILES_H

#include "session.h"

struct day_file {
    const char *path;
    int date; /* YYYYMMDD of its rows, else of its name; 0: no day file */
};

struct day {
    /* YYYY-MM-DD; "": no day file, a day by itself */
    char date[11];
    const struct day_file *files; /* by path */
    size_t n;
};

struct days {
    struct day *days; /* by date */
    size_t n;
};

/* --year, --month, --day */
extern const struct option options_days[];
#define GROUP_DAYS {"Days", options_days}

/* Day files among the operands for the dates asked for; in the arena. NOT_FOUND with the reason if none is
 * left. A lone file without a date gives its own reason. */
paritas_status days_find(struct session *session, struct days *days);
/* Days are far apart: a sweep's number, and so its random numbers, are the same in any run. */
uint64_t day_first_sweep(const struct day *day);
/* Makes a folder and its parents, unless they are there. It must be writable. */
paritas_status make_folder(struct session *session, const char *folder);
/* INVALID_INPUT with the reason. */
paritas_status no_day_file(paritas_context *context, const char *path);

#endif
