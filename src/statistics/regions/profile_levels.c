/* profile_levels.c: where a profile is fitted next, between two neighbouring nodes. */
#include "statistics/regions/profile_levels.h"
#include "minima/search_targets.h"
#include "statistics/cls_curve.h"

#include <math.h>

#define SURE 1e-7    /* in q: a fit so near to the level, with its slope, gives the edge */
#define NARROW 1e-10 /* of a value, or of the parameter's unit */
#define FLAT 1e-4    /* slope times unit: the sign of less is rounding */
#define HEIGHT 1e-9  /* in q: maxima and minima are known so well */
#define AGREES 0.05  /* in q, and of q: the cubic holds */
#define FINE 0.02    /* units: narrower gaps are not halved to see whether the cubic holds */
#define MARGIN 9.0   /* above the highest level: there small models are still checked */

bool gap_from(const struct profile_curve *curve, size_t left, struct curve_gap *gap)
{
    const size_t right = left < curve->n ? profile_curve_next(curve, left + 1) : curve->n;
    if (right == curve->n) return false;
    const struct infer_point *a = curve->nodes[left].point, *b = curve->nodes[right].point;
    const double flat = FLAT / curve->unit;
    *gap = (struct curve_gap){.curve = curve,
                              .left = left,
                              .right = right,
                              .a = a->value[0],
                              .b = b->value[0],
                              .qa = profile_curve_q(curve, left),
                              .qb = profile_curve_q(curve, right),
                              .sa = fabs(a->slope) > flat ? a->slope : 0.0,
                              .sb = fabs(b->slope) > flat ? b->slope : 0.0};
    return true;
}

static double width(const struct curve_gap *gap)
{
    return gap->b - gap->a;
}

bool gap_is_closed(const struct curve_gap *gap)
{
    return width(gap) <= NARROW * fmax(fmax(fabs(gap->a), fabs(gap->b)), gap->curve->unit);
}

static struct curve cubic_of(const struct curve_gap *gap)
{
    struct curve cubic = {.n = 0};
    curve_add(&cubic, gap->a, gap->qa, gap->curve->nodes[gap->left].point->slope);
    curve_add(&cubic, gap->b, gap->qb, gap->curve->nodes[gap->right].point->slope);
    return cubic;
}

bool gap_wants_check(const struct curve_gap *gap)
{
    const struct profile_curve *curve = gap->curve;
    const double margin = search_model_is_small(curve->infer) ? MARGIN : 0.0;
    return !curve->nodes[gap->left].checked && width(gap) > FINE * curve->unit &&
           fmin(gap->qa, gap->qb) <= curve->top + margin;
}

bool gap_agrees(const struct curve_gap *gap, double x, double q)
{
    const struct curve cubic = cubic_of(gap); /* has one node if an end is outside the domain */
    return cubic.n == 2 && fabs(q - curve_value(&cubic, x)) <= AGREES * (1.0 + fabs(q));
}

/* ---- crossings ---- */

bool gap_crosses(const struct curve_gap *gap, double level)
{
    return (gap->qa <= level) != (gap->qb <= level);
}

bool gap_has_edge(const struct curve_gap *gap, double level)
{
    return fabs(gap->qa - level) <= SURE || fabs(gap->qb - level) <= SURE || gap_is_closed(gap);
}

/* A step by the slope of a node that is all but at the level. */
static double step_to(const struct curve_gap *gap, double level, double x, double q, double slope)
{
    const double root = slope != 0.0 ? x - (q - level) / slope : x;
    return fmin(fmax(root, gap->a), gap->b);
}

struct curve_end gap_edge(const struct curve_gap *gap, double level)
{
    const bool left_in = gap->qa <= level;
    const double a = fabs(gap->qa - level), b = fabs(gap->qb - level), outside = left_in ? gap->qb : gap->qa;
    if (!gap_has_edge(gap, level)) return (struct curve_end){PARITAS_MINOS_END_UNKNOWN, (double)NAN};
    if (isinf(outside) && (left_in ? a : b) > SURE)
        return (struct curve_end){PARITAS_MINOS_END_EDGE, left_in ? gap->a : gap->b};
    return (struct curve_end){PARITAS_MINOS_END_CROSSING,
                              a <= b ? step_to(gap, level, gap->a, gap->qa, gap->sa)
                                     : step_to(gap, level, gap->b, gap->qb, gap->sb)};
}

struct above {
    const struct curve *cubic;
    double level;
};

static double height_above(const void *user, double x)
{
    const struct above *above = user;
    return curve_value(above->cubic, x) - above->level;
}

static double middle(const struct curve_gap *gap)
{
    return 0.5 * (gap->a + gap->b);
}

static double propose_crossing(const struct curve_gap *gap, int round, double level)
{
    const struct curve cubic = cubic_of(gap);
    if (cubic.n < 2 || round % 3 == 0) return middle(gap);
    return find_root(height_above, &(struct above){&cubic, level}, gap->a, gap->b);
}

/* ---- maxima and minima ---- */

/* The slope of the cubic, at a part of the gap. */
static double slope_at(const void *user, double part)
{
    const struct curve_gap *gap = user;
    const double w = width(gap), rise = gap->qb - gap->qa;
    return w * gap->sa + 2.0 * part * (3.0 * rise - w * (2.0 * gap->sa + gap->sb)) +
           3.0 * part * part * (w * (gap->sa + gap->sb) - 2.0 * rise);
}

/* The only place where the cubic turns, as the slopes have different signs. */
static double propose_turn(const struct curve_gap *gap, int round)
{
    if (round % 3 == 0) return middle(gap);
    return gap->a + width(gap) * find_root(slope_at, gap, 0.0, 1.0);
}

bool gap_hides_minimum(const struct curve_gap *gap)
{
    if (!(gap->sa < 0.0 && gap->sb > 0.0) || gap_is_closed(gap)) return false;
    const double least = fmin(gap->qa, gap->qb),
                 lowest = fmin(gap->qa + gap->sa * width(gap), gap->qb - gap->sb * width(gap));
    return lowest <= gap->curve->top && lowest < least - HEIGHT;
}

/* May the curve rise above a level between two ends below it? */
static bool hides_maximum(const struct curve_gap *gap)
{
    if (!(gap->sa > 0.0 && gap->sb < 0.0) || gap_is_closed(gap)) return false;
    const double most = fmax(gap->qa, gap->qb),
                 highest = fmax(gap->qa + gap->sa * width(gap), gap->qb - gap->sb * width(gap));
    for (size_t k = 0; k < gap->curve->n_levels; k++)
        if (most <= gap->curve->levels[k] && highest > gap->curve->levels[k] + HEIGHT) return true;
    return false;
}

size_t gap_propose(const struct curve_gap *gap, int round, double *values)
{
    const struct profile_curve *curve = gap->curve;
    size_t n = 0;
    if (gap_is_closed(gap)) return 0;
    for (size_t k = 0; k < curve->n_levels; k++)
        if (gap_crosses(gap, curve->levels[k]) && !gap_has_edge(gap, curve->levels[k]))
            values[n++] = propose_crossing(gap, round, curve->levels[k]);
    const bool minimum = gap_hides_minimum(gap) && curve->nodes[gap->left].descended;
    if (minimum || hides_maximum(gap)) values[n++] = propose_turn(gap, round);
    return n;
}
