/* rays.h: where q of two parameters reaches a level along straight lines.
 *
 * The root of q is nearly linear along a line, so a secant needs three or four rounds. A round is one batch:
 * a conditional fit of each open ray, of all levels. */
#pragma once

#include "minima/infer.h"

/* A position is counted from where the ray begins, inside. `root`s are of q. */
struct ray {
    double from[2], along[2]; /* values at position 0, and per position */
    double wanted;            /* root at the edge */
    double inner, outer, root_inner, root_outer;
    double at, bound; /* tried last; where a bound of the parameters ends the ray */
    double farthest;  /* it ends here at the latest */
    int side;         /* which end moved last: -1 inner, 1 outer */
    bool settled, at_bound, failed, searched;
    double q;
    struct infer_point point;
    const struct infer_point *beside[2]; /* fits whose minima a fit on the ray may share; NULL: none */
};

struct rays {
    struct infer *infer;
    struct infer_profile *profile; /* of the free fit */
    const size_t *parameters;      /* 2 */
    size_t n;
    struct ray *rays;
};

/* The position of the next bound of the parameters, at most ray->farthest. */
double rays_bound(const struct rays *s, const struct ray *ray);
/* Follows all rays to their edges. Edges that were not searched get further starts. *lowered: conditional
 * fits found a lower best fit, from which q counts now: nothing is settled. */
paritas_status rays_follow(struct rays *s, bool *lowered);
