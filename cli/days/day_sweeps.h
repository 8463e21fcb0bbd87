/* day_sweeps.h: a day's sweeps: read, masked, normalised, with geometry. */
#ifndef PARITAS_DAY_SWEEPS_H
#define PARITAS_DAY_SWEEPS_H

#include "days/day_files.h"
#include "moon/er/er.h"
#include "paritas_losscone.h"

enum potential_source { POTENTIAL_AUTO, POTENTIAL_VALUE, POTENTIAL_TABLE };

/* What tells of sweeps: tables, and files of the magnetometer. */
enum {
    SOURCES_GEOMETRY,
    SOURCES_POLARITY,
    SOURCES_POTENTIAL,
    SOURCES_TABLES,
    SOURCES_MAG = SOURCES_TABLES,
    SOURCES
};
extern const char *const sources_options[SOURCES];

/* Read once for all days. */
struct sources {
    double theta[PARITAS_SWEEP_CELLS];
    /* NULL: not given. The last table with a column counts */
    paritas_er_geometry *tables[SOURCES_TABLES];
    paritas_er_attitude *attitude;
    paritas_er_spice *spice;
    struct day_file *mags; /* of the magnetometer, by date; date 0: of any day */
    size_t n_mags;
    double polarity; /* of all rows; 0: of each sweep, from a table or SPICE */
    enum potential_source potential;
    double potential_value;
    double sunlight; /* masked degrees around the Sun; 0: none */
    paritas_normalisation normalisation;
    bool strict;
};

extern const struct option options_sources[];
#define GROUP_SOURCES {"Geometry and masks", options_sources}

bool sources_has(const struct sources *sources, int source);
/* Is a file of the magnetometer of this day? */
bool sources_mag_is_of(const struct day_file *mag, const struct day *day);
paritas_status sources_open(struct session *session, struct sources *sources);
void sources_close(struct sources *sources);
/* Refuses several days with a table without dates (INVALID_INPUT): spectrum numbers repeat every day. */
paritas_status sources_check_days(struct session *session, const struct sources *sources, size_t days);
/* Files by digest. */
paritas_status sources_describe(struct session *session, const struct sources *sources,
                                struct writer *writer);

/* What a file of a day brings. */
struct file_share {
    char digest[65];
    struct er_joined joined;
    uint64_t strays; /* sweeps of other days */
};

struct sweeps {
    size_t n;
    paritas_er_day *day;      /* of all files of the date */
    struct file_share *files; /* each */
    size_t matched[SOURCES];  /* sweeps found in each source */
    uint64_t mag_skipped;     /* rows of the magnetometer's files that are no records */
    double *mag;              /* n x 3, field of the magnetometer in SEL; NULL: not asked for */
    double *potential;        /* n x 15, of the spacecraft; NaN: to be found from the plasma */
    double *cosine, *flux;    /* n x 15 x 88: cosine of pitch angle; normalised flux of all cells with one */
    paritas_allocator allocator;
};

/* `context` is the calling thread's; `sources` are shared. Free with sweeps_free, also after a failure. */
paritas_status sweeps_load(paritas_context *context, const struct sources *sources, const struct day *day,
                           struct sweeps *sweeps);
void sweeps_free(struct sweeps *sweeps);
/* Sets the spacecraft's potential for sweep k and its rows. */
void sweeps_set_potential(struct sweeps *sweeps, size_t k, double potential);
paritas_sweeps sweeps_of(const struct sweeps *sweeps);

#endif
