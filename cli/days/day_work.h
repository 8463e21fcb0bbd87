/* day_work.h: a day at work. */
#pragma once

#include "days/day_column_list.h"
#include "days/day_sweeps.h"

/* A day's sweeps and what is made of them. Memory: the session's, until the day ends. */
struct day_work {
    struct session *session;
    const struct sources *sources;
    struct sweeps *sweeps;
    uint64_t first;            /* number of the date's first sweep */
    struct column_list rows;   /* CSV: a line a sweep */
    struct column_list arrays; /* NPZ */
    struct writer *writer;     /* in the provenance's "answer" */
};
