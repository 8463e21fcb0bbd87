/* landscape.h: the minima of one data set that searches have met, by the values of the parameters that were
 * held. */
#pragma once

#include "minima/search_targets.h"

#define STATION_ENDS 2
#define STATION_HELD 2 /* parameters: points that hold more have no place */
#define STATIONS_MOST 128
#define SEARCHED_VALUES_MOST 64
#define LANDSCAPE_STARTS (3 * STATION_ENDS)

/* The lowest minima of a fit. */
struct station {
    size_t k, parameter[STATION_HELD]; /* k is 0: the free fit's */
    double value[STATION_HELD];
    size_t n;
    struct end ends[STATION_ENDS];
};

struct landscape {
    bool free_searched;            /* the free fit had its starts */
    size_t free_tried, free_ended; /* of these */
    bool several;                  /* some fit has a second minimum, or had one above its answer */
    size_t n_others;               /* searched fits that hold other parameters than the one of interest */
    size_t n_searched;             /* and values of that one */
    double searched[SEARCHED_VALUES_MOST];
    size_t shared; /* minima of other data that were starts here */
    size_t n_free; /* minima of the free fit, ascending: of the search that met most */
    struct end free[ENDS_MOST];
    size_t n;
    struct station stations[STATIONS_MOST]; /* of as many fits as there is room for */
};

/* The profile's own, in the arena. */
paritas_status landscape_open(struct infer *infer, struct infer_profile *profile);
/* Takes the minima of a search's targets. */
void landscape_take(struct search *search);
/* The free fit's station; NULL: none yet. */
const struct station *landscape_free_fit(const struct landscape *landscape);
/* Starts for a fit of the profile: the minima of the nearest fits that hold the same parameters, and of the
 * free fit. Room for LANDSCAPE_STARTS; returns their number. */
size_t landscape_starts(const struct infer *infer, const struct infer_profile *profile,
                        const struct infer_point *point, const double **starts);
