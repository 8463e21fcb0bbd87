/* progress.h: progress on standard error, if that is a terminal. */
#ifndef PARITAS_CLI_PROGRESS_H
#define PARITAS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on, shown;
    const char *unit;   /* "fits" */
    double start, last; /* seconds; start 0: not yet */
    uint64_t total;
};

/* Seconds of a clock that only goes forward. */
double seconds_now(void);

/* On unless `quiet` or standard error is no terminal. */
void progress_open(struct progress *progress, bool quiet, const char *unit);
/* A paritas_progress callback; `user` is the struct progress. Nothing shows during the first half second. */
int progress_report(void *user, uint64_t done, uint64_t total);
/* The same of one run whose total is an estimate that changes. */
void progress_estimate(struct progress *progress, uint64_t done, uint64_t total);
/* Wipes the line. */
void progress_close(struct progress *progress);

#endif
