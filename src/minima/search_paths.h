/* search_paths.h: fits of tested values that are reached by steps from other values. */
#pragma once

#include "minima/search_targets.h"

/* Reaches the tested values of a small model from its free fit, and from the minima of the auxiliary fits.
 * Some minima are met from a neighbour's alone. Of a large model only those whose usual fits took long, from
 * auxiliary fits: where two branches cross, one step from afar ends on the upper one. */
paritas_status search_follow_paths(struct search *search);
