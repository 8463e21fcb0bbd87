/* lowest_points.c: conditional fits, repeated where a lower minimum is known or likely. */
#include "minima/lowest_points.h"
#include "minima/fit_notes.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct infer_point *below_free_fit(const struct infer *infer,
                                                const struct infer_profile *profile, size_t n,
                                                const struct infer_point *points)
{
    const struct infer_point *lowest = NULL;
    double level = profile->result.twice_nll - same_minimum(infer->context);
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile || !(points[i].twice_nll < level)) continue;
        level = points[i].twice_nll;
        lowest = &points[i];
    }
    return lowest;
}

/* Gives the level below which another answer replaces the point's. A minimum may be as low as a point without
 * an end. */
static double level_of(const struct infer *infer, const struct infer_point *point)
{
    if (point->status == PARITAS_FIT_CONVERGED) return point->twice_nll;
    return isfinite(point->twice_nll) ? point->twice_nll + same_minimum(infer->context) : HUGE_VAL;
}

/* Fits each point alone once more; the lower answer stays. */
static paritas_status fit_again(struct infer *infer, const struct infer_profile *profile, bool afresh,
                                size_t n, struct infer_point *points)
{
    struct infer_point *repeated = infer_array(infer, n, sizeof *repeated);
    size_t *origin = infer_array(infer, n, sizeof *origin), m = 0;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        if (points[i].profile != profile) continue;
        origin[m] = i;
        repeated[m] = points[i];
        repeated[m].wave = 0; /* the neighbours may be in another minimum */
        repeated[m].afresh = afresh;
        memset(repeated[m++].neighbour, 0, sizeof points->neighbour);
    }
    TRY(infer_points_once(infer, m, repeated));
    for (size_t j = 0; j < m; j++) {
        struct infer_point *point = &points[origin[j]];
        if (repeated[j].status == PARITAS_FIT_CONVERGED && repeated[j].twice_nll < level_of(infer, point))
            *point = repeated[j];
    }
    return PARITAS_OK;
}

/* Repeats the free fit from a lower point, then the conditional fits. */
static paritas_status repeat_from(struct infer *infer, const struct infer_point *lower, size_t n,
                                  struct infer_point *points)
{
    struct infer_profile *profile = lower->profile;
    struct infer_profile again = {.data = profile->data, .start = lower->parameters};
    TRY(infer_free_fit(infer, &again));
    if (!(again.result.twice_nll <= lower->twice_nll + same_minimum(infer->context))) {
        /* a lower point exists, but no fit found the minimum */
        profile->result.status =
            infer_worse(profile->result.status, infer_worse(again.result.status, PARITAS_FIT_NO_PROGRESS));
        return PARITAS_OK;
    }
    again.start = profile->start;
    *profile = again;
    return fit_again(infer, profile, false, n, points);
}

/* Do the data leave a direction open here? */
static bool is_open(const struct infer *infer, const struct infer_profile *profile)
{
    if (profile->result.status != PARITAS_FIT_CONVERGED) return true;
    for (size_t i = 0; i < infer->n_parameters; i++)
        if (infer_is_free(profile, i) && isnan(profile->errors[i])) return true;
    return false;
}

typedef paritas_status searches(struct infer *infer, struct infer_profile *profile, size_t n,
                                struct infer_point *const *points);

/* Further starts for the points of each profile. */
static paritas_status look_lower(struct infer *infer, searches *search, size_t n, struct infer_point *points)
{
    struct infer_point **own = infer_array(infer, n, sizeof *own);
    TRY(infer_memory(infer));
    for (size_t i = 0, m; i < n; i += m) {
        size_t read = 0;
        for (m = 0; i + m < n && points[i + m].profile == points[i].profile; m++)
            if (!points[i + m].unread) own[read++] = &points[i + m];
        TRY(search(infer, points[i].profile, read, own));
    }
    return PARITAS_OK;
}

/* What the searches of later data met serves earlier ones, and the other way round. */
static paritas_status look_on_both_sides(struct infer *infer, searches *search, size_t n,
                                         struct infer_point *points)
{
    TRY(look_lower(infer, search, n, points));
    return n > 1 && points[0].profile != points[n - 1].profile
               ? look_lower(infer, minimum_search_carry, n, points)
               : PARITAS_OK;
}

static int by_value(const void *a, const void *b)
{
    const struct infer_point *x = *(struct infer_point *const *)a, *y = *(struct infer_point *const *)b;
    return (x->value[0] > y->value[0]) - (x->value[0] < y->value[0]);
}

/* Points of each profile that hold the same parameter alone. */
static paritas_status compare_neighbours(struct infer *infer, size_t n, struct infer_point *points)
{
    struct infer_point **alike = infer_array(infer, n, sizeof *alike);
    bool *fresh = infer_array(infer, n, sizeof *fresh), lowered;
    TRY(infer_memory(infer));
    for (size_t i = 0, m; i < n; i += m) {
        for (m = 0; i + m < n && points[i + m].profile == points[i].profile && points[i + m].k == 1 &&
                    infer_same_parameters(&points[i + m], &points[i]);
             m++) {
            alike[m] = &points[i + m];
            fresh[m] = true;
        }
        qsort(alike, m, sizeof *alike, by_value);
        if (m > 1) TRY(neighbours_compare(infer, m, alike, fresh, &lowered));
        if (m == 0) m = 1;
    }
    return PARITAS_OK;
}

static paritas_status find_points(struct infer *infer, searches *search, size_t n, struct infer_point *points)
{
    TRY(infer_points_once(infer, n, points));
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || points[i].profile != points[i - 1].profile) && is_open(infer, points[i].profile))
            TRY(fit_again(infer, points[i].profile, true, n, points));
    TRY(look_on_both_sides(infer, search, n, points));
    if (minimum_search_is_suspicious(infer)) TRY(compare_neighbours(infer, n, points));
    /* two rounds: the first may find a lower point */
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            if (i > 0 && points[i].profile == points[i - 1].profile) continue;
            const struct infer_point *lower = below_free_fit(infer, points[i].profile, n, points);
            if (lower) TRY(repeat_from(infer, lower, n, points));
        }
    return fit_notes_points(infer, n, points);
}

paritas_status infer_points(struct infer *infer, size_t n, struct infer_point *points)
{
    return find_points(infer, minimum_search_run, n, points);
}

paritas_status infer_points_nearby(struct infer *infer, size_t n, struct infer_point *points)
{
    return find_points(infer, minimum_search_carry, n, points);
}

paritas_status infer_lowest_free_fit(struct infer *infer, struct infer_profile *profile)
{
    TRY(infer_free_fit(infer, profile));
    return minimum_search_run(infer, profile, 0, NULL);
}
