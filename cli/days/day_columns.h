/* day_columns.h: columns and summaries of a day's sweeps. */
#pragma once

#include "days/day_work.h"

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
const void *values_of_rows(const struct day_work *work, enum column_kind kind, const void *values);
