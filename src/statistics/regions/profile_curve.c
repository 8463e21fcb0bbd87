/* profile_curve.c: the profile of one parameter over a range, and its parts below levels. */
#include "statistics/regions/profile_curve.h"
#include "minima/landscape.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"
#include "statistics/regions/profile_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COARSE 24      /* gaps of the range */
#define COARSE_LARGE 8 /* the same of a large model */
#define NODES_MOST 1024
#define ROUNDS_MOST 90
#define SEARCHES_MOST 4  /* of the crossings */
#define SAME_VALUE 1e-12 /* of a value: no fit tells more */
#define SAME_PLACE 1e-4  /* of an error: one minimum */
#define FARTHEST 1e6     /* errors: no bound further away is a place for fits */
#define DESCENTS_MOST 8  /* a round */

void profile_curve_open(struct profile_curve *curve, struct infer *infer, struct infer_profile *profile,
                        size_t n_levels, const double *levels)
{
    const double at = profile->parameters[infer->poi], error = profile->errors[infer->poi],
                 reach = error > 0.0 ? FARTHEST * error : HUGE_VAL;
    *curve = (struct profile_curve){.infer = infer,
                                    .profile = profile,
                                    .lower = fmax(infer->base.lower[infer->poi], at - reach),
                                    .upper = fmin(infer->upper[infer->poi], at + reach),
                                    .n_levels = n_levels,
                                    .levels = levels};
    for (size_t k = 0; k < n_levels; k++) curve->top = fmax(curve->top, levels[k]);
}

/* ---- nodes ---- */

/* Where a value has its place. *known: a node has it. */
static size_t place_of(const struct profile_curve *curve, double value, bool *known)
{
    const double same = SAME_VALUE * fmax(fabs(value), curve->unit);
    size_t at = 0;
    while (at < curve->n && curve->nodes[at].point->value[0] < value - same) at++;
    *known = at < curve->n && curve->nodes[at].point->value[0] <= value + same;
    return at;
}

static void insert(struct profile_curve *curve, struct infer_point *point, bool searched)
{
    bool known;
    const size_t at = place_of(curve, point->value[0], &known);
    if (known && !neighbours_is_lower(curve->infer, point, curve->nodes[at].point)) return;
    if (!known) {
        if (curve->n == NODES_MOST) return;
        memmove(&curve->nodes[at + 1], &curve->nodes[at], (curve->n - at) * sizeof *curve->nodes);
        curve->n++;
        curve->nodes[at] = (struct curve_node){.checked = at > 0 && curve->nodes[at - 1].checked};
    }
    curve->nodes[at].point = point;
    curve->nodes[at].searched = searched;
    curve->nodes[at].fresh = true;
}

/* New nodes go on from their neighbours' minima, and these from theirs. */
static paritas_status compare(struct profile_curve *curve)
{
    struct infer *infer = curve->infer;
    struct infer_point **points = infer_array(infer, curve->n, sizeof *points);
    bool *fresh = infer_array(infer, curve->n, sizeof *fresh), lowered = false;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < curve->n; i++) {
        points[i] = curve->nodes[i].point;
        fresh[i] = curve->nodes[i].fresh;
        curve->nodes[i].fresh = false;
    }
    if (infer->starts == 1 || (!search_model_is_small(infer) && !minimum_search_is_suspicious(infer)))
        return PARITAS_OK;
    return neighbours_compare(infer, curve->n, points, fresh, &lowered);
}

/* The end of a free fit is a node, where the slope is 0. */
static paritas_status take_minimum(struct profile_curve *curve, const struct infer_profile *fit)
{
    struct infer *infer = curve->infer;
    const double value = fit->parameters[infer->poi];
    const struct curve_minimum found = {value, fit->result.twice_nll, fit->errors[infer->poi],
                                        fit->parameters};
    struct infer_point *point = infer_array(infer, 1, sizeof *point);
    TRY(infer_memory(infer));
    const double same = SAME_PLACE * (found.error > 0.0 ? found.error : curve->unit);
    for (size_t k = 0; k < curve->n_minima; k++)
        if (fabs(curve->minima[k].value - value) <= same) return PARITAS_OK;
    if (curve->n_minima < COUNT_OF(curve->minima)) curve->minima[curve->n_minima++] = found;
    if (!(value >= curve->lower && value <= curve->upper)) return PARITAS_OK;
    *point = infer_point_at(infer, curve->profile, value);
    point->status = fit->result.status;
    point->iterations = fit->result.iterations;
    point->twice_nll = fit->result.twice_nll;
    point->parameters = fit->parameters;
    TRY(infer_slopes(infer, 1, point));
    if (infer_is_free(fit, infer->poi)) point->slope = 0.0;
    insert(curve, point, false);
    return compare(curve);
}

/* Goes on to the minimum to which a free fit leads from a point. *value: where it is; NaN: none. */
static paritas_status descend(struct profile_curve *curve, const double *start, double *value)
{
    struct infer *infer = curve->infer;
    struct infer_profile fit;
    *value = (double)NAN;
    TRY(infer_free_fit_from(infer, curve->profile, start, &fit));
    if (fit.result.status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    *value = fit.parameters[infer->poi];
    if (fit.result.twice_nll < curve->profile->result.twice_nll - same_minimum(infer->context))
        *curve->profile = fit;
    return take_minimum(curve, &fit);
}

/* A node below the best fit leads to a better one. */
static paritas_status leave_best(struct profile_curve *curve)
{
    double level = curve->profile->result.twice_nll - same_minimum(curve->infer->context), value;
    const struct infer_point *lowest = NULL;
    for (size_t i = 0; i < curve->n; i++) {
        const struct infer_point *point = curve->nodes[i].point;
        if (point->status != PARITAS_FIT_CONVERGED || !(point->twice_nll < level)) continue;
        level = point->twice_nll;
        lowest = point;
    }
    return lowest ? descend(curve, lowest->parameters, &value) : PARITAS_OK;
}

/* Two nodes on each side predict where a fit starts. */
static void find_neighbours(const struct profile_curve *curve, struct infer_point *point)
{
    bool known;
    const size_t at = place_of(curve, point->value[0], &known), half = INFER_NEIGHBOURS / 2,
                 first = at > half ? at - half : 0;
    for (size_t j = 0; j < INFER_NEIGHBOURS && first + j < curve->n; j++)
        point->neighbour[j] = curve->nodes[first + j].point;
}

static paritas_status take(struct profile_curve *curve, size_t n, struct infer_point *points, bool searched)
{
    TRY(infer_slopes(curve->infer, n, points));
    for (size_t i = 0; i < n; i++) insert(curve, &points[i], searched);
    TRY(compare(curve));
    return leave_best(curve);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Fits values that are not known, in one batch. `searches`: from further starts, too. */
static paritas_status fit_values(struct profile_curve *curve, size_t n, double *values, bool searches)
{
    struct infer *infer = curve->infer;
    struct infer_point *points = infer_array(infer, n, sizeof *points),
                       **each = infer_array(infer, n, sizeof *each);
    size_t m = 0;
    TRY(infer_memory(infer));
    qsort(values, n, sizeof *values, ascending);
    for (size_t i = 0; i < n; i++) {
        bool known;
        const double value = infer_bounded(infer, infer->poi, values[i]);
        place_of(curve, value, &known);
        if (known || (m > 0 && value <= points[m - 1].value[0])) continue;
        points[m] = infer_point_at(infer, curve->profile, value);
        find_neighbours(curve, &points[m]);
        each[m] = &points[m];
        m++;
    }
    if (m == 0) return PARITAS_OK;
    TRY(infer_points_once(infer, m, points));
    TRY((searches ? minimum_search_run : minimum_search_carry)(infer, curve->profile, m, each));
    return take(curve, m, points, searches);
}

/* ---- rounds ---- */

/* Even values, where nodes are further apart, and the ends. */
static paritas_status fit_coarsely(struct profile_curve *curve)
{
    const size_t gaps = search_model_is_small(curve->infer) ? COARSE : COARSE_LARGE;
    const double step = (curve->upper - curve->lower) / (double)gaps;
    double values[COARSE + 1];
    size_t n = 0;
    for (size_t i = 0; i <= gaps; i++) {
        const double value = i == gaps ? curve->upper : curve->lower + (double)i * step;
        bool known;
        const size_t at = place_of(curve, value, &known);
        const double before = at > 0 ? value - curve->nodes[at - 1].point->value[0] : HUGE_VAL,
                     after = at < curve->n ? curve->nodes[at].point->value[0] - value : HUGE_VAL;
        if (i == 0 || i == gaps || !(fmin(before, after) <= 0.5 * step)) values[n++] = value;
    }
    return fit_values(curve, n, values, true);
}

static paritas_status make_room(struct profile_curve *curve)
{
    const double error = curve->profile->errors[curve->infer->poi],
                 part = (curve->upper - curve->lower) / COARSE;
    curve->unit = error > 0.0 ? error : part > 0.0 ? part : 1.0;
    curve->nodes = infer_array(curve->infer, NODES_MOST, sizeof *curve->nodes);
    return infer_memory(curve->infer);
}

static paritas_status take_known(struct profile_curve *curve)
{
    const struct landscape *landscape = curve->profile->landscape;
    double value;
    TRY(take_minimum(curve, curve->profile));
    for (size_t k = 0; landscape && k < landscape->n_free; k++)
        TRY(descend(curve, landscape->free[k].parameters, &value));
    return PARITAS_OK;
}

paritas_status profile_curve_take_known(struct profile_curve *curve)
{
    TRY(make_room(curve));
    return take_known(curve);
}

/* Where the parabola of each minimum crosses the highest level. */
static paritas_status fit_beside_minima(struct profile_curve *curve)
{
    double values[2 * COUNT_OF(curve->minima)];
    size_t n = 0;
    for (size_t k = 0; k < curve->n_minima; k++) {
        const struct curve_minimum *at = &curve->minima[k];
        const double left = curve->top - (at->twice_nll - curve->profile->result.twice_nll);
        if (!(left > 0.0 && at->error > 0.0)) continue;
        for (int side = -1; side <= 1; side += 2) {
            const double value = at->value + side * at->error * sqrt(left);
            if (value > curve->lower && value < curve->upper) values[n++] = value;
        }
    }
    return fit_values(curve, n, values, false);
}

/* Minima between nodes, by free fits. */
static paritas_status descend_between(struct profile_curve *curve, bool *went)
{
    struct curve_gap gap;
    *went = false;
    for (int k = 0; k < DESCENTS_MOST; k++) {
        size_t i = profile_curve_next(curve, 0);
        for (; gap_from(curve, i, &gap); i = gap.right)
            if (gap_hides_minimum(&gap) && !curve->nodes[i].descended) break;
        if (!gap_from(curve, i, &gap)) return PARITAS_OK;
        double value;
        *went = curve->nodes[i].descended = true;
        TRY(descend(curve, curve->nodes[gap.qa <= gap.qb ? i : gap.right].point->parameters, &value));
    }
    return PARITAS_OK;
}

/* A gap whose middle is fitted, to see whether its cubic holds. */
struct check {
    double middle;
    struct curve_gap gap;
};

static void judge(struct profile_curve *curve, const struct check *check, bool agrees)
{
    for (size_t i = 0; i < curve->n && agrees; i++) {
        const double value = curve->nodes[i].point->value[0];
        if (value >= check->gap.a && value < check->gap.b) curve->nodes[i].checked = true;
    }
}

static paritas_status fit_round(struct profile_curve *curve, int round, bool *went)
{
    struct infer *infer = curve->infer;
    struct check *checks = infer_array(infer, curve->n + 1, sizeof *checks);
    double *values = infer_reals(infer, curve->n + 1, curve->n_levels + 2);
    size_t n = 0, m = 0;
    struct curve_gap gap;
    TRY(infer_memory(infer));
    for (size_t i = profile_curve_next(curve, 0); gap_from(curve, i, &gap); i = gap.right) {
        n += gap_propose(&gap, round, values + n);
        if (!gap_wants_check(&gap)) continue;
        checks[m] = (struct check){0.5 * (gap.a + gap.b), gap};
        values[n++] = checks[m++].middle;
    }
    *went = n > 0 && curve->n < NODES_MOST;
    if (!*went) return PARITAS_OK;
    const double best = curve->profile->result.twice_nll;
    TRY(fit_values(curve, n, values, false));
    for (size_t k = 0; k < m; k++) {
        bool known;
        const size_t at = place_of(curve, checks[k].middle, &known);
        const double q = known ? curve->nodes[at].point->twice_nll - best : (double)NAN;
        judge(curve, &checks[k], gap_agrees(&checks[k].gap, checks[k].middle, q));
    }
    return PARITAS_OK;
}

/* Does the part with the best fit reach the upper bound? */
static bool reaches_bound(const struct profile_curve *curve)
{
    const double best = curve->profile->parameters[curve->infer->poi];
    size_t last = curve->n;
    for (size_t i = profile_curve_next(curve, 0); i < curve->n; i = profile_curve_next(curve, i + 1)) {
        if (curve->nodes[i].point->value[0] < best) continue;
        if (profile_curve_q(curve, i) > curve->top) return false;
        last = i;
    }
    return last < curve->n && curve->nodes[last].point->value[0] == curve->upper;
}

/* Goes on beyond an upper bound that gives way to the part with the best fit. */
static paritas_status widen(struct profile_curve *curve, bool *widened)
{
    struct infer *infer = curve->infer;
    const unsigned char *on_the_way = infer->base.kept;
    *widened = false;
    if (!curve->widens || !reaches_bound(curve)) return PARITAS_OK;
    infer_put_kept(infer, curve->kept);
    *widened = infer_doubles(infer, infer->poi);
    infer_put_kept(infer, on_the_way);
    if (!*widened) return PARITAS_OK;
    const double from = curve->upper, to = infer->upper[infer->poi];
    double values[COARSE_LARGE];
    for (size_t i = 0; i < COARSE_LARGE; i++)
        values[i] = i + 1 == COARSE_LARGE ? to : from + (to - from) * (double)(i + 1) / COARSE_LARGE;
    curve->upper = to;
    curve->nodes[curve->n - 1].checked = false;
    return fit_values(curve, COARSE_LARGE, values, true);
}

/* Further starts beside the crossings. *lowered: a node is lower now. */
static paritas_status search_edges(struct profile_curve *curve, bool *lowered)
{
    struct infer *infer = curve->infer;
    struct infer_point **points = infer_array(infer, curve->n + 1, sizeof *points);
    size_t *places = infer_array(infer, curve->n + 1, sizeof *places), n = 0;
    double *before = infer_reals(infer, curve->n + 1, 1);
    struct curve_gap gap;
    TRY(infer_memory(infer));
    *lowered = false;
    for (size_t i = profile_curve_next(curve, 0); gap_from(curve, i, &gap); i = gap.right)
        for (size_t k = 0; k < curve->n_levels; k++) {
            if (!gap_crosses(&gap, curve->levels[k])) continue;
            const size_t outside = gap.qa <= gap.qb ? gap.right : gap.left;
            if (curve->nodes[outside].searched || isinf(profile_curve_q(curve, outside))) continue;
            curve->nodes[outside].searched = true;
            places[n] = outside;
            before[n] = curve->nodes[outside].point->twice_nll;
            points[n++] = curve->nodes[outside].point;
        }
    if (n == 0) return PARITAS_OK;
    TRY(minimum_search_run(infer, curve->profile, n, points));
    for (size_t k = 0; k < n; k++) {
        if (!(points[k]->twice_nll < before[k] - same_minimum(infer->context))) continue;
        TRY(infer_slopes(infer, 1, points[k]));
        curve->nodes[places[k]].fresh = *lowered = true;
        for (size_t i = 0; i < curve->n; i++) curve->nodes[i].checked = curve->nodes[i].descended = false;
    }
    TRY(compare(curve));
    return leave_best(curve);
}

static paritas_status follow(struct profile_curve *curve, size_t n, struct infer_point *taken)
{
    bool lowered = true, widened = false;
    TRY(make_room(curve));
    if (n > 0) TRY(take(curve, n, taken, true));
    TRY(fit_coarsely(curve));
    TRY(take_known(curve));
    TRY(fit_beside_minima(curve));
    for (int search = 0; search < SEARCHES_MOST && (lowered || widened); search += !widened) {
        bool went = true;
        for (int round = 1; round < ROUNDS_MOST && went; round++) {
            bool descended;
            TRY(descend_between(curve, &descended));
            TRY(fit_round(curve, round, &went));
            went = went || descended;
        }
        TRY(widen(curve, &widened));
        if (!widened) TRY(search_edges(curve, &lowered));
    }
    return PARITAS_OK;
}

/* Fits far from the best fit may end on bounds, which do not give way to them. */
paritas_status profile_curve_follow(struct profile_curve *curve, size_t n, struct infer_point *taken)
{
    curve->kept = curve->infer->base.kept;
    TRY(infer_keep_bounds(curve->infer, true));
    const paritas_status status = follow(curve, n, taken);
    infer_put_kept(curve->infer, curve->kept);
    return status;
}

/* ---- parts ---- */

/* The end of a part whose last node on one side has no neighbour there. */
static struct curve_end outer_end(const struct profile_curve *curve, size_t node, double bound)
{
    const double value = curve->nodes[node].point->value[0];
    if (value == bound) return (struct curve_end){PARITAS_MINOS_END_BOUND, value};
    return (struct curve_end){PARITAS_MINOS_END_UNKNOWN, (double)NAN};
}

static void take_into(const struct profile_curve *curve, size_t node, struct curve_part *part)
{
    const double q = profile_curve_q(curve, node);
    if (!(q < part->q)) return;
    part->q = q;
    part->at = curve->nodes[node].point->value[0];
}

size_t profile_curve_parts(const struct profile_curve *curve, double level, size_t room,
                           struct curve_part *parts)
{
    size_t found = 0;
    struct curve_gap gap;
    struct curve_part part = {.q = HUGE_VAL};
    size_t i = profile_curve_next(curve, 0);
    if (i == curve->n) return 0;
    bool inside = profile_curve_q(curve, i) <= level;
    if (inside) part.ends[0] = outer_end(curve, i, curve->lower);
    for (;; i = gap.right) {
        const bool more = gap_from(curve, i, &gap), crosses = more && gap_crosses(&gap, level);
        if (inside) take_into(curve, i, &part);
        if (inside && (crosses || !more)) {
            part.ends[1] = more ? gap_edge(&gap, level) : outer_end(curve, i, curve->upper);
            if (found < room) parts[found] = part;
            found++;
            part = (struct curve_part){.q = HUGE_VAL};
        }
        if (!more) return found;
        if (crosses && !inside) part.ends[0] = gap_edge(&gap, level);
        if (crosses) inside = !inside;
    }
}
