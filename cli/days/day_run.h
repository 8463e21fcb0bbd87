/* day_run.h: day files to tables, a day at a time.
 *
 *   day k + 1:  read, mask, normalise  (a thread beside)
 *   day k:      fit ──► DIR/STEM_YYYY-MM-DD.npz, .csv
 *
 * Memory holds two days. A day whose tables stand there and were made by the same options from the same
 * inputs is not made again; tables of anything else are refused, or replaced where --overwrite says so; of
 * tables whose bytes are damaged the day is made again. What a killed run leaves is whole days.
 */
#ifndef PARITAS_CLI_DAY_RUN_H
#define PARITAS_CLI_DAY_RUN_H

#include "days/day_column_list.h"
#include "days/day_sweeps.h"

/* What a day's tables hold. */
struct day_tables {
    struct column_list rows;   /* CSV: a line a sweep */
    struct column_list arrays; /* NPZ */
};

struct day_run {
    const char *stem; /* "losscone" */
    void *user;
    /* Keys and values of the options that decide numbers, beside those of the sources. */
    void (*describe)(void *user, struct writer *writer);
    /* Answers for a day's sweeps, of which the first is number `first` of the run's date: its tables, in the
     * arena, and the members of the provenance's "answer". */
    paritas_status (*answer)(struct session *session, void *user, const struct sources *sources,
                             struct sweeps *sweeps, uint64_t first, struct arena *arena,
                             struct day_tables *tables, struct writer *writer);
};

/* Runs over all days of the operands, with sources already open; writes the command's answer. */
paritas_status day_run(struct session *session, const struct day_run *run, const struct sources *sources);

/* Adds a column of sweeps to both tables: NAME, and spec_NAME in the arrays. */
void column_add_both(struct day_tables *tables, const char *name, const char *suffix, enum column_kind kind,
                     size_t n, const void *values);

/* Records of the library, one for each sweep. */
struct day_records {
    const char *type; /* "paritas_kappa_result" */
    size_t n;
    const void *records;
    const unsigned char *exists; /* of those that it denies real numbers are NaN and words empty */
    const char *prefix;          /* of the columns' names; NULL: none */
};
/* Adds columns of the records' fields from word `first` to word `last`, in the order of their list. The
 * status of a record is always told. */
void column_add_records(struct day_tables *tables, const char *suffix, const struct day_records *records,
                        const char *first, const char *last);

/* Members of an "answer". */
/* how many there are of each word; sorts them */
void write_counts(struct writer *writer, const char *key, size_t n, const char **words);
/* of those that are not NaN */
void write_median(struct writer *writer, const char *key, size_t n, const double *values,
                  struct arena *arena);
void write_reasons(struct writer *writer, const paritas_er_day *day);

/* Columns that all tables of days share; to be called when the day's spacecraft potentials are known. */
void add_sweep_columns(struct day_tables *tables, const struct sweeps *sweeps);

extern const struct option options_tables[];
#define GROUP_TABLES {"Output", options_tables}

#endif
