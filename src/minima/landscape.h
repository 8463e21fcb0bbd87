/* landscape.h: the minima of one data set that searches have met, along its parameter of interest. */
#pragma once

#include "minima/search_targets.h"

#define STATION_ENDS 2
#define STATIONS_MOST 64

/* A fitted value, with its lowest minima. */
struct station {
    double value;
    size_t n;
    struct end ends[STATION_ENDS];
};

struct landscape {
    bool checked;   /* further starts looked for a second minimum */
    bool surprised; /* one of them found an answer lower than flips had */
    bool several;   /* some fit has a second minimum */
    size_t shared;  /* minima of other data that were starts here */
    size_t n;
    struct station stations[STATIONS_MOST]; /* ascending; of as many values as there is room for */
};

/* The profile's own, in the arena. */
paritas_status landscape_open(struct infer *infer, struct infer_profile *profile);
/* Takes the minima of a search's targets. */
void landscape_take(struct search *search);
/* Starts for a fit at this value: the minima at the nearest values on both sides. Room for 2 STATION_ENDS;
 * returns their number. */
size_t landscape_starts(const struct landscape *landscape, double value, const double **starts);
