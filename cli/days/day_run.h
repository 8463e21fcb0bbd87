/* day_run.h: day files to tables, a day at a time.
 *
 *   day k + 1:  read, mask, normalise  (a thread beside)
 *   day k:      fit ──► DIR/STEM_YYYY-MM-DD.npz, .csv
 *
 * Memory holds two days. Tables from the same options and inputs are kept, damaged ones remade. Others are
 * refused, or replaced with --overwrite. A killed run leaves whole days. */
#ifndef PARITAS_CLI_DAY_RUN_H
#define PARITAS_CLI_DAY_RUN_H

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

/* Adds a column of sweeps to both tables: NAME, in the arrays spec_NAME. */
void column_add_both(struct day_work *work, const char *name, const char *suffix, enum column_kind kind,
                     const void *values);

/* A record a sweep. */
struct day_records {
    const char *type; /* "paritas_kappa_result" */
    const void *records;
    const unsigned char *exists; /* 0: NaN and empty words */
    const char *prefix;          /* of column names; NULL: none */
};
/* Adds fields from word `first` to word `last`, always with the status. */
void column_add_records(struct day_work *work, const char *suffix, const struct day_records *records,
                        const char *first, const char *last);

/* number of each word; sorts them */
void write_counts(struct day_work *work, const char *key, size_t n, const char **words);
/* of a value a sweep, without NaN; `chosen`: sweeps that count, NULL: all */
void write_median(struct day_work *work, const char *key, const double *values, const unsigned char *chosen);
void write_reasons(struct writer *writer, const paritas_er_day *day);

/* Columns of all day tables. Needs the spacecraft potentials. */
void add_sweep_columns(struct day_work *work);
/* A value a sweep, repeated for the sweep's rows. */
const void *values_of_rows(struct day_work *work, enum column_kind kind, const void *values);

extern const struct option options_tables[];
#define GROUP_TABLES {"Output", options_tables}

#endif
