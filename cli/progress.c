/* progress.c: one line, overwritten. */
#include "progress.h"
#include "base/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void progress_open(struct progress *progress, bool quiet, const char *unit)
{
    memset(progress, 0, sizeof *progress);
    progress->on = !quiet && platform_shows_progress();
    progress->unit = unit;
}

static void show(struct progress *progress, double time, uint64_t done, uint64_t total)
{
    const double elapsed = time - progress->start;
    if (elapsed < 0.5 || time - progress->last < 0.1 || done == 0) return;
    progress->last = time;
    progress->shown = true;
    const double rate = (double)done / elapsed;
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " %s, %.3g a second, %.0f s left\033[K", done, total,
            progress->unit, rate, (double)(total - done) / rate);
    fflush(stderr);
}

int progress_report(void *user, uint64_t done, uint64_t total)
{
    struct progress *progress = user;
    if (!progress->on) return 0;
    const double time = platform_seconds();
    if (progress->start == 0.0 || total != progress->total) { /* each list of jobs counts for itself */
        progress->start = progress->last = time;
        progress->total = total;
    }
    show(progress, time, done, total);
    return 0;
}

void progress_estimate(struct progress *progress, uint64_t done, uint64_t total)
{
    if (!progress->on) return;
    const double time = platform_seconds();
    if (progress->start == 0.0) progress->start = progress->last = time;
    show(progress, time, done, total > done ? total : done);
}

void progress_close(struct progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
