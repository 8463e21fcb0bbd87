/* er.h: internals of Electron Reflectometer days.
 *
 *   bytes ──► er_read.c: lines, fields, numbers ──► struct er_row
 *         ──► er_sweeps.c: sweeps by number, masks, counts ──► paritas_er_day */
#pragma once

#include "base/context.h"
#include "paritas_er.h"

#define ER_MISSING_FLUX 9.999e-99
#define ER_ERROR_FLUX (-9.99e-99)
#define ER_MISSING_AZIMUTH 999.99
#define ER_ERROR_AZIMUTH 998.99

#define ER_SPAN 160.0                  /* s: two sweeps; a sweep's rows are within 80 */
#define ER_BUFFER ((size_t)256 * 1024) /* read at once; longer lines are damaged */
#define ER_TOO_LONG SIZE_MAX           /* field count of such a line */

/* Fields of a row, from 0. */
enum er_field {
    ER_AT_UTC = 0,
    ER_AT_TIME = 1,
    ER_AT_ENERGY = 2,
    ER_AT_NUMBER = 3,
    ER_AT_FIELD = 4,
    ER_AT_FLUX = 7,
    ER_AT_AZIMUTH = 95
};

/* The public day (first) and its memory. */
struct er_day {
    paritas_er_day open;
    paritas_allocator allocator;
    size_t room; /* sweeps that fit */
};

/* Grows an array beyond n elements, to twice its `room`, at least `least`. NULL: out of memory (message
 * set), array unchanged. */
void *er_grow(paritas_context *context, void *array, size_t n, size_t *room, size_t least, size_t size);

/* Makes a day without sweeps, with room for some. */
paritas_status er_day_open(paritas_context *context, size_t room, struct er_day **day);
/* Adds an empty sweep. */
paritas_status er_day_add(paritas_context *context, struct er_day *day, int64_t number);

/* Copies sweep `from` of `part`, all arrays, to sweep `at` of `whole`. Both must be of this library. */
void er_day_put(paritas_er_day *whole, size_t at, const paritas_er_day *part, size_t from);

/* What a file brings to the other files of its date. */
struct er_joined {
    uint64_t sweeps;   /* in the file */
    uint64_t repeated; /* of these in an earlier file too: counted once, the one with more rows */
    uint64_t other;    /* of the repeated: with other data */
    int64_t first_other;
    int64_t shift; /* added to its spectrum numbers, which earlier files use for other sweeps; 0: none */
};
/* Adds a file's day to the day of the files before. Frees `part`, also after a failure. *whole NULL: it is
 * the first file. */
paritas_status er_join(paritas_context *context, paritas_er_day **whole, paritas_er_day *part,
                       struct er_joined *joined);
/* Adds what sweep k has in a day's counts: its own reason, or those of its rows and cells. */
void er_sweep_counts(const paritas_er_day *day, size_t k, uint64_t counts[PARITAS_ER_REASON_COUNT]);

/* A row readable up to its spectrum number. */
struct er_row {
    char utc[PARITAS_ER_UTC_SIZE];
    uint64_t line;
    double value[PARITAS_ER_FIELDS]; /* value[0] unused */
};

struct er_sweeps;
paritas_status er_sweeps_open(paritas_context *context, const char *label, const paritas_er_options *options,
                              struct er_day *day, struct er_sweeps **sweeps);
void er_sweeps_free(struct er_sweeps *sweeps);
paritas_status er_sweeps_add(struct er_sweeps *sweeps, const struct er_row *row);
/* Counts a lost row. number: of the sweep, -1: unknown. column: from 1, 0: whole row. fields: their
 * number, for FIELD_COUNT and FILE_CUT. */
paritas_status er_sweeps_lose(struct er_sweeps *sweeps, paritas_er_reason reason, int64_t number,
                              uint64_t line, unsigned column, size_t fields);
/* Masks sweeps, names missing ones, counts. */
paritas_status er_sweeps_close(struct er_sweeps *sweeps);

/* YYYYMMDD in the name of a .TAB or .TAB.gz file, after the two letters `kind`, large or small; 0: none. */
int er_name_date(const char *path, const char *kind);
/* paritas_er_find for names with other letters. */
paritas_status er_find_kind(paritas_context *context, const char *path, const char *kind, int year, int month,
                            int day, paritas_er_files **files);
/* *date: YYYYMMDD of the first row that begins with a time; `name` if as many rows are of that date (a file
 * may begin before midnight); 0: no row begins so. */
paritas_status er_date_of_rows(paritas_context *context, const char *path, int name, int *date);
int er_month_days(int year, int month);
/* [at, end) is YYYY-MM-DDThh:mm:ss[.decimals][Z] in UTC; *time: Unix seconds. False: it is not. */
bool er_read_utc(const char *at, const char *end, double *time);

/* Half widths in azimuth (degrees), by cell, of the disk with this cosine of its radius around a Sun at that
 * elevation; < 0: outside. */
void er_sun_widths(const double *theta, double elevation, double cosine, double *width);
/* Is a cell of this azimuth in the disk? */
bool er_sun_is_near(double azimuth, double sun_azimuth, double width);

/* Pseudo-counts of a row. */
struct er_row_counts {
    double counts, time; /* of the cells with a flux, in all */
    unsigned cells, errors;
};
struct er_row_counts er_count_row(const paritas_er_day *day, const double *exposure, size_t row);

double er_dot(const double a[3], const double b[3]);
/* The instrument stored counts as intervals (er_codes.h), and the archive has their lower ends. If this day's
 * fluxes are such ends, they become those of the middles; else false. */
bool er_take_middles(const double theta[PARITAS_SWEEP_CELLS], paritas_er_day *day);
/* First hit of a ray on the Moon's sphere; false: none. */
bool er_meets_moon(const double position[3], const double direction[3], double point[3]);
/* Coordinates in IAU_MOON, in degrees; longitude -180 to 180. */
void er_coordinates(const double point[3], double *latitude, double *longitude);

/* UNREADABLE, UNWRITABLE: "PATH: reason", from errno. */
paritas_status er_unreadable(paritas_context *context, const char *path);
paritas_status er_unwritable(paritas_context *context, const char *path);
/* FOLDER/NAME in an arena; NULL: out of memory. */
char *er_path(struct arena *arena, const char *folder, const char *name);

/* What is wrong with a line of that many fields, or ER_TOO_LONG. */
void er_fields_text(size_t fields, char out[64]);
/* Does `strict` refuse it? */
bool er_is_damage(paritas_er_reason reason);
/* Masks n rows from `first` on; data but fluxes stay. */
void er_mask_rows(paritas_er_day *day, size_t first, size_t n, paritas_er_reason reason);
/* Counts a reason `times` times, at a line and field. */
void er_count(paritas_er_day *day, paritas_er_reason reason, uint64_t times, uint64_t line, unsigned column);
