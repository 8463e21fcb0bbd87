/* rays.c: where q of two parameters reaches a level along straight lines. */
#include "statistics/regions/rays.h"
#include "base/math/host_math.h"
#include "minima/lowest_points.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"

#include <math.h>

#define ACCEPT 1e-6 /* of the quantile */
#define ROUNDS_MAX 60
#define SEARCHES_MAX 6  /* of the edges */
#define NARROWEST 1e-12 /* of a position: there q jumps */

double rays_bound(const struct rays *s, const struct ray *ray)
{
    double bound = ray->farthest;
    for (size_t j = 0; j < 2; j++) {
        const size_t parameter = s->parameters[j];
        const double edge = ray->along[j] > 0.0 ? s->infer->base.upper[parameter]
                                                : s->infer->base.lower[parameter],
                     position = ray->along[j] != 0.0 ? (edge - ray->from[j]) / ray->along[j] : bound;
        if (position < bound) bound = position > 0.0 ? position : 0.0;
    }
    return bound;
}

/* Widens the box where an upper bound of a parameter of interest ends a ray that is still inside. */
static bool gives_way(const struct rays *s, const struct ray *ray)
{
    bool gives = false;
    for (size_t j = 0; j < 2; j++) {
        const size_t parameter = s->parameters[j];
        const double edge = s->infer->base.upper[parameter];
        if (ray->along[j] > 0.0 && (edge - ray->from[j]) / ray->along[j] <= ray->bound)
            gives = infer_doubles(s->infer, parameter) || gives;
    }
    return gives;
}

/* Without an outer end: by the line from the best fit, then by steps that grow. */
static double propose(const struct ray *ray)
{
    double at = ray->wanted;
    if (isfinite(ray->root_outer))
        at = ray->inner + (ray->outer - ray->inner) * (ray->wanted - ray->root_inner) /
                              (ray->root_outer - ray->root_inner);
    else if (ray->failed) /* no answer at the outer end */
        at = 0.5 * (ray->inner + ray->outer);
    else if (ray->inner > 0.0) {
        const double line = ray->inner * ray->wanted / ray->root_inner;
        at = line < 4.0 * ray->inner ? 1.01 * line : 4.0 * ray->inner;
    }
    return at < ray->bound ? at : ray->bound;
}

/* Illinois: an end that stays twice counts half as far from the edge. */
static void take(struct rays *s, struct ray *ray)
{
    const double q = ray->point.twice_nll - s->profile->result.twice_nll,
                 quantile = ray->wanted * ray->wanted;
    const bool inside = ray->point.status == PARITAS_FIT_CONVERGED && q < quantile;
    ray->q = q < 0.0 ? 0.0 : q;
    ray->at_bound = inside && ray->at == ray->bound;
    if (ray->at_bound) {
        ray->at_bound = !gives_way(s, ray);
        ray->outer = ray->bound = rays_bound(s, ray);
    }
    ray->settled = ray->at_bound || fabs(q - quantile) <= ACCEPT * quantile;
    if (ray->settled) return;
    const double root = ray->point.status == PARITAS_FIT_CONVERGED ? host_sqrt(ray->q) : HUGE_VAL;
    if (inside) {
        if (ray->side < 0 && isfinite(ray->root_outer))
            ray->root_outer = ray->wanted + 0.5 * (ray->root_outer - ray->wanted);
        ray->inner = ray->at;
        ray->root_inner = root;
    } else {
        if (ray->side > 0) ray->root_inner = ray->wanted + 0.5 * (ray->root_inner - ray->wanted);
        ray->outer = ray->at;
        ray->root_outer = root;
        ray->failed = !isfinite(root);
    }
    ray->side = inside ? -1 : 1;
    ray->settled = ray->outer - ray->inner <= NARROWEST * ray->outer;
}

/* Fits between others go on from their minima, too. */
static paritas_status compare(struct rays *s, size_t n, struct infer_point *points, struct ray *const *owner)
{
    struct neighbour_pair *pairs = infer_array(s->infer, 2 * n, sizeof *pairs);
    size_t m = 0;
    TRY(infer_memory(s->infer));
    if (!minimum_search_is_suspicious(s->infer)) return PARITAS_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            const struct infer_point *from = owner[i]->beside[k];
            if (from && isfinite(from->twice_nll))
                pairs[m++] = (struct neighbour_pair){.from = from, .other = from, .to = &points[i]};
        }
    return neighbours_fit(s->infer, m, pairs);
}

static paritas_status run_round(struct rays *s, size_t *open)
{
    struct infer_point *points = infer_array(s->infer, s->n, sizeof *points);
    struct ray **owner = infer_array(s->infer, s->n, sizeof *owner);
    TRY(infer_memory(s->infer));
    *open = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        if (ray->settled) continue;
        ray->at = propose(ray);
        struct infer_point *point = &points[*open];
        *point = (struct infer_point){.profile = s->profile, .k = 2};
        for (size_t j = 0; j < 2; j++) {
            point->parameter[j] = s->parameters[j];
            point->value[j] =
                infer_bounded(s->infer, point->parameter[j], ray->from[j] + ray->at * ray->along[j]);
        }
        owner[(*open)++] = ray;
    }
    if (*open == 0) return PARITAS_OK;
    TRY(infer_points_nearby(s->infer, *open, points));
    TRY(compare(s, *open, points, owner));
    for (size_t i = 0; i < *open; i++) {
        owner[i]->point = points[i];
        take(s, owner[i]);
    }
    return PARITAS_OK;
}

/* Further starts at edges that had none. Where one is lower, the edge lies further out: *open of them. */
static paritas_status search_edges(struct rays *s, size_t *open)
{
    struct infer_point **points = infer_array(s->infer, s->n, sizeof *points);
    double *before = infer_reals(s->infer, s->n, 1);
    size_t n = 0;
    TRY(infer_memory(s->infer));
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        before[i] = ray->point.twice_nll;
        if (ray->settled && !ray->searched && ray->point.profile) points[n++] = &ray->point;
        ray->searched = ray->searched || ray->settled;
    }
    *open = 0;
    if (n == 0) return PARITAS_OK;
    TRY(minimum_search_run(s->infer, s->profile, n, points));
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        if (!ray->point.profile || !(ray->point.twice_nll < before[i])) continue;
        ray->outer = ray->bound; /* fits further out may have been above their lowest minima, too */
        ray->root_outer = HUGE_VAL;
        ray->failed = ray->searched = false;
        ray->side = 0;
        take(s, ray);
        *open += !ray->settled;
    }
    return PARITAS_OK;
}

paritas_status rays_follow(struct rays *s, bool *lowered)
{
    const double least = s->profile->result.twice_nll - same_minimum(s->infer->context);
    size_t open = s->n;
    *lowered = false;
    for (int search = 0; search < SEARCHES_MAX && open > 0 && !*lowered; search++) {
        for (int round = 0; round < ROUNDS_MAX && open > 0 && !*lowered; round++) {
            TRY(run_round(s, &open));
            *lowered = s->profile->result.twice_nll < least;
        }
        if (!*lowered) TRY(search_edges(s, &open));
        *lowered = s->profile->result.twice_nll < least;
    }
    return PARITAS_OK;
}
