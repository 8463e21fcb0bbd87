/* day_sweeps.h: options of a day's sweeps: geometry, masks, potentials. */
#pragma once

#include "days/day_files.h"

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
    paritas_day_file *mags; /* of the magnetometer, by date; date 0: of any day */
    size_t n_mags;
    paritas_day_options options; /* theta is the one above */
    bool strict;
};

extern const struct option options_sources[];
#define GROUP_SOURCES {"Geometry and masks", options_sources}

bool sources_has(const struct sources *sources, int source);
bool sources_find_potentials(const struct sources *sources); /* from the plasma */
/* Is a file of the magnetometer of this day? */
bool sources_mag_is_of(const paritas_day_file *mag, const paritas_day *day);
paritas_status sources_open(struct session *session, struct sources *sources);
/* What is not known and therefore assumed. Call it when the days are found: errors come first. */
void sources_note(struct session *session, const struct sources *sources);
void sources_close(struct sources *sources);
/* Refuses several days with a table without dates (INVALID_INPUT). Spectrum numbers repeat every day. */
paritas_status sources_check_days(struct session *session, const struct sources *sources, size_t days);
/* Files by digest. */
paritas_status sources_describe(struct session *session, const struct sources *sources,
                                struct writer *writer);

struct sweeps {
    size_t n;
    paritas_er_day *day;       /* of all files of the date */
    paritas_day_share *shares; /* one a file */
    paritas_day_sweeps *made;
    uint64_t mag_skipped; /* rows of the magnetometer's files that are no records */
    paritas_allocator allocator;
};

/* `context` is the calling thread's; `sources` are shared. Free with sweeps_free, also after a failure. */
paritas_status sweeps_load(paritas_context *context, const struct sources *sources, const paritas_day *day,
                           struct sweeps *sweeps);
void sweeps_free(struct sweeps *sweeps);
/* Sweeps of the day that a source has. */
size_t sweeps_matched(const struct sweeps *sweeps, int source);
