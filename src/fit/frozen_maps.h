/* frozen_maps.h: what every family fills of a frozen model: the maps between a user's order and the kernels',
 * and what is known of each parameter and datum. */
#ifndef PARITAS_FIT_FROZEN_MAPS_H
#define PARITAS_FIT_FROZEN_MAPS_H

#include "fit/family.h"

/* The members of struct frozen that have these names, to be written. */
struct frozen_maps {
    uint32_t *slot_of, *place_of;
    double *slot_template, *place_template;
    double *init, *lower, *upper, *width, *data;
    unsigned char *fixed;
    char **names;
};

/* Makes them in the arena, zeros, and hands them to the model, whose n_parameters, n_slots, n_data and
 * n_places are set. False: out of memory. */
bool frozen_make_maps(struct frozen *model, struct arena *arena, struct frozen_maps *maps);

#endif
