/* frozen_maps.h: maps of a frozen model, filled by its family. */
#pragma once

#include "fit/family.h"

/* Writable members of struct frozen of these names. */
struct frozen_maps {
    uint32_t *slot_of, *place_of;
    double *slot_template, *place_template;
    double *init, *lower, *upper, *width, *data;
    unsigned char *fixed;
    char **names;
};

/* Makes zeroed maps in the arena for a model with set n_parameters, n_slots, n_data, n_places. False: out of
 * memory. */
bool frozen_make_maps(struct frozen *model, struct arena *arena, struct frozen_maps *maps);
