/* er.h: what the files on the Electron Reflectometer's day share.
 *
 *   bytes ──► read.c: lines, fields, numbers ──► struct er_row ──► sweeps.c: sweeps by number, masks, counts
 *       ──► paritas_er_day
 */
#ifndef PARITAS_ER_ER_H
#define PARITAS_ER_ER_H

#include "base/context.h"
#include "paritas_er.h"

#define ER_MISSING_FLUX 9.999e-99
#define ER_ERROR_FLUX (-9.99e-99)
#define ER_MISSING_AZIMUTH 999.99
#define ER_ERROR_AZIMUTH 998.99

#define ER_BUFFER ((size_t)256 * 1024) /* bytes read at once; a line longer than this is damaged */
#define ER_TOO_LONG SIZE_MAX           /* fields of such a line */

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

/* The public day, first, and what frees and grows it. */
struct er_day {
    paritas_er_day open;
    paritas_allocator allocator;
    size_t room; /* sweeps that its arrays have memory for */
};

/* An array with room for more than n elements, twice its `room` where that is used up, from `least` on; NULL,
 * and the context says so: there is no memory, and the array is as before. */
void *er_grow(paritas_context *context, void *array, size_t n, size_t *room, size_t least, size_t size);

/* A day without sweeps and with room for some. */
paritas_status er_day_open(paritas_context *context, size_t room, struct er_day **day);
/* Makes room for at least one more sweep and adds it, empty. */
paritas_status er_day_add(paritas_context *context, struct er_day *day, int64_t number);

/* Copies all arrays of `part` into those of `whole`, from sweep `at` on; both were made by this library. */
void er_day_put(paritas_er_day *whole, size_t at, const paritas_er_day *part);

/* A row that could be read as far as its spectrum number. */
struct er_row {
    char utc[PARITAS_ER_UTC_SIZE];
    uint64_t line;
    double value[PARITAS_ER_FIELDS]; /* value[0] is not used */
};

/* Rows on their way to sweeps. */
struct er_sweeps;
paritas_status er_sweeps_open(paritas_context *context, const char *label, const paritas_er_options *options,
                              struct er_day *day, struct er_sweeps **sweeps);
void er_sweeps_free(struct er_sweeps *sweeps);
/* Puts a row into its sweep. */
paritas_status er_sweeps_add(struct er_sweeps *sweeps, const struct er_row *row);
/* Counts a row that is lost. number: of its sweep, -1 where unknown; column: from 1, 0: the whole row;
 * fields: how many it has, of FIELD_COUNT and FILE_CUT. */
paritas_status er_sweeps_lose(struct er_sweeps *sweeps, paritas_er_reason reason, int64_t number,
                              uint64_t line, unsigned column, size_t fields);
/* Masks sweeps, names what is missing, counts. */
paritas_status er_sweeps_close(struct er_sweeps *sweeps);

/* The date that many days after 1970-01-01, and how many days a month has. */
void er_date_of_days(int64_t days, int *year, int *month, int *day);
int er_month_days(int year, int month);
/* A UTC, YYYY-MM-DDThh:mm:ss[.decimals][Z], that fills [at, end), in Unix seconds; false: it is none. */
bool er_read_utc(const char *at, const char *end, double *time);

double er_dot(const double a[3], const double b[3]);
/* Where a ray meets the Moon's sphere first; false: nowhere. */
bool er_meets_moon(const double position[3], const double direction[3], double point[3]);
/* Latitude and longitude (-180 to 180) of a point in IAU_MOON, degrees. */
void er_coordinates(const double point[3], double *latitude, double *longitude);

/* Is it what `strict` refuses a file for? */
bool er_is_damage(paritas_er_reason reason);
/* Counts a reason `times` times, in that line and field. */
void er_count(paritas_er_day *day, paritas_er_reason reason, uint64_t times, uint64_t line, unsigned column);

#endif
