/* plane.h: regions of two parameters, with all parts.
 *
 *   profiles of each parameter ─► lines where regions can be ─► a fit at each crossing of two lines ─►
 *   edges on the lines (rays.h) ─► closed curves (outline.h) ─► the minimum of each part
 *
 * A value of one parameter lies in the shadow of a region if its profile is below the level there. So the two
 * profiles, over all of the bounds, say where regions can be, and known minima get lines of their own. */
#pragma once

#include "statistics/regions/rays.h"

/* A closed curve: the edge of a part, or of a hole in one. */
struct plane_curve {
    size_t level, first, n; /* of plane.edges */
    bool hole;
    double minimum[2], q; /* of the part */
};

struct plane {
    struct infer *infer;
    struct infer_profile *profile; /* of the free fit; a lower minimum replaces it */
    const size_t *parameters;      /* 2 */
    size_t n_levels;
    const double *levels;     /* of q */
    size_t n_curves, n_edges; /* answers, in the arena: level by level */
    struct plane_curve *curves;
    struct ray *edges; /* along the curves: inner nodes on the left */
};

/* *lowered: fits found a lower best fit; there is no answer then. */
paritas_status plane_follow(struct plane *plane, bool *lowered);
