/* progress.h: progress on standard error, if it is a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on, shown;
    const char *unit;
    double start, last; /* seconds; start 0: not yet */
    uint64_t done;
};

/* Off if `quiet` or no terminal. */
void progress_open(struct progress *progress, bool quiet, const char *unit);
/* A paritas_progress callback; `user`: the struct progress. Silent for the first half second. */
int progress_report(void *user, uint64_t done, uint64_t total);
/* Reports progress towards a total that is an estimate and changes. */
void progress_estimate(struct progress *progress, uint64_t done, uint64_t total);
void progress_close(struct progress *progress);
