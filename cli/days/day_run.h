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

struct day_tables {
    struct column_list rows;   /* CSV: a line a sweep */
    struct column_list arrays; /* NPZ */
};

struct day_run {
    const char *stem; /* "losscone" */
    void *user;
    /* Writes options that decide numbers, except those of the sources. */
    void (*describe)(void *user, struct writer *writer);
    /* Answers a day's sweeps; `first` is the date's first sweep number. Makes tables in the arena and the
     * members of the provenance's "answer". */
    paritas_status (*answer)(struct session *session, void *user, const struct sources *sources,
                             struct sweeps *sweeps, uint64_t first, struct arena *arena,
                             struct day_tables *tables, struct writer *writer);
};

/* Runs all days of the operands and writes the answer. `sources` are open. */
paritas_status day_run(struct session *session, const struct day_run *run, const struct sources *sources);

/* Adds a column of sweeps to both tables: NAME, in the arrays spec_NAME. */
void column_add_both(struct day_tables *tables, const char *name, const char *suffix, enum column_kind kind,
                     size_t n, const void *values);

struct day_records {
    const char *type; /* "paritas_kappa_result" */
    size_t n;
    const void *records;
    const unsigned char *exists; /* 0: NaN and empty words */
    const char *prefix;          /* of column names; NULL: none */
};
/* Adds fields from word `first` to word `last`, always with the status. */
void column_add_records(struct day_tables *tables, const char *suffix, const struct day_records *records,
                        const char *first, const char *last);

/* number of each word; sorts them */
void write_counts(struct writer *writer, const char *key, size_t n, const char **words);
/* without NaN */
void write_median(struct writer *writer, const char *key, size_t n, const double *values,
                  struct arena *arena);
void write_reasons(struct writer *writer, const paritas_er_day *day);

/* Columns of all day tables. Needs the spacecraft potentials. */
void add_sweep_columns(struct day_tables *tables, const struct sweeps *sweeps);

extern const struct option options_tables[];
#define GROUP_TABLES {"Output", options_tables}

#endif
