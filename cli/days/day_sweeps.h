/* day_sweeps.h: the sweeps of a day as fits take them: day files read, geometry and polarity given to them,
 * masked and normalised. */
#ifndef PARITAS_DAY_SWEEPS_H
#define PARITAS_DAY_SWEEPS_H

#include "days/day_files.h"
#include "paritas_er.h"
#include "paritas_losscone.h"

enum potential_source { POTENTIAL_AUTO, POTENTIAL_VALUE, POTENTIAL_TABLE };

enum { SOURCES_GEOMETRY, SOURCES_POLARITY, SOURCES_POTENTIAL, SOURCES_TABLES };
extern const char *const sources_options[SOURCES_TABLES]; /* that name the tables */

/* What is read once for all days. */
struct sources {
    double theta[PARITAS_SWEEP_CELLS];
    /* NULL: not given. A later one counts where several have a column */
    paritas_er_geometry *tables[SOURCES_TABLES];
    paritas_er_attitude *attitude;
    paritas_er_spice *spice;
    double polarity; /* of all rows; 0: each sweep's own, from a table or SPICE */
    enum potential_source potential;
    double potential_value;
    double sunlight; /* degrees around the Sun that are masked; 0: none */
    paritas_normalisation normalisation;
    bool strict;
};

/* Options of what goes with day files. */
extern const struct option options_sources[];
#define GROUP_SOURCES {"Geometry and masks", options_sources}

paritas_status sources_open(struct session *session, struct sources *sources);
void sources_close(struct sources *sources);
/* INVALID_INPUT where a table without dates, whose spectrum numbers every day has, would be given to several
 * days. */
paritas_status sources_check_days(struct session *session, const struct sources *sources, size_t days);
/* Keys and values for the provenance. Files by their digest. */
paritas_status sources_describe(struct session *session, const struct sources *sources,
                                struct writer *writer);

struct sweeps {
    size_t n;
    /* several files of one date are one day, spectrum numbers of the later ones above those before */
    paritas_er_day *day;
    char (*digests)[65];            /* of its files */
    size_t matched[SOURCES_TABLES]; /* sweeps that each table has */
    double *potential;     /* n x 15: of the spacecraft; NaN where it is to be found from the plasma */
    double *cosine, *flux; /* n x 15 x 88: of pitch angles; normalised, of all cells that have a flux */
    paritas_allocator allocator;
};

/* Reads a day. The context is that of the calling thread; sources are shared. Freed by sweeps_free, also
 * after a failure. */
paritas_status sweeps_load(paritas_context *context, const struct sources *sources, const struct day *day,
                           struct sweeps *sweeps);
void sweeps_free(struct sweeps *sweeps);
paritas_sweeps sweeps_of(const struct sweeps *sweeps);

#endif
