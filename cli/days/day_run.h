/* day_run.h: day files to tables, a day at a time.
 *
 *   day k + 1:  read, mask, normalise  (a thread beside)
 *   day k:      fit ──► DIR/STEM_YYYY-MM-DD.npz, .csv
 *
 * Memory holds two days. Tables from the same options and inputs are kept, damaged ones remade. Others are
 * refused, or replaced with --overwrite. A killed run leaves whole days. */
#pragma once

#include "days/day_work.h"

struct day_run {
    const char *stem; /* "losscone" */
    void *user;
    /* Writes options that decide numbers, except those of the sources. */
    void (*describe)(void *user, struct writer *writer);
    /* Answers the sweeps: fills tables and the provenance's "answer". */
    paritas_status (*answer)(void *user, struct day_work *work);
};

/* Runs all days of the operands and writes the answer. `sources` are open. */
paritas_status day_run(struct session *session, const struct day_run *run, const struct sources *sources);

extern const struct option options_tables[];
#define GROUP_TABLES {"Output", options_tables}
