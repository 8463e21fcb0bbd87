/* minos.c: MINOS errors: where the profile of twice the NLL has risen by 1.
 *
 * A round fits both sides as one batch. With interpolation (cls_curve.h) round two or three lands within
 * ACCEPT of the root. Further starts then look for lower minima at both crossings, as in a test. If there
 * are any, or kinks, where other parameters may change sides on the way, or if interpolation leads nowhere,
 * fits bracket the crossing, each the lowest that is known.
 *
 * A fit may find no point of the domain: a rate is negative there whatever the other parameters are. Or it
 * may fail. Either is a wall, and later fits go half the way to it at most. A side on which the domain ends
 * before a rise of 1 ends at that edge. */
#include "statistics/cls_curve.h"
#include "minima/conditional_starts.h"
#include "minima/conditional_fits.h"
#include "base/sized.h"
#include "fit/family.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"

#include <math.h>
#include <stdio.h>

#define ACCEPT 2e-5   /* of the offset; the interpolation error is then below 1e-9 */
#define REACHED 0.01  /* the rise beside a root, from 1: fits of other minima jump */
#define SURE 5e-7     /* the rise of a fit at the root itself, which no answer goes without */
#define NEAREST 1e-10 /* of the offset: no fit tells more than one as near */
#define CLOSELY 2e-4  /* the same, of a fit that interpolation led to */
#define STEEP 16.0
#define EDGE 1e-6 /* of the offset, or of an error if that is more: how well a domain's edge is known */
#define ROUNDS_MAX 16
#define ROUNDS_MAX_CAREFUL 34  /* also beside walls; CURVE_NODES_MAX holds two sides */
#define FIRST_STEP_CAREFUL 0.3 /* in errors */
#define NEXT_STEP_CAREFUL 1.3  /* of the last */
#define SEARCHES_MAX 4         /* of the crossings */

struct side {
    double inner, outer;            /* rise below 1 at `inner`, above at `outer` */
    double bound, wall, root;       /* wall: a fit there had no answer; infinite: none was met */
    paritas_fit_status wall_status; /* non_finite: outside the domain */
    double step, brackets[2];       /* careful: the next step outward; the bracket's last widths */
    double beyond;                  /* careful: rise below 1, too, but perhaps not between it and `inner` */
    bool outer_known, has_beyond, settled, stuck, at_bound, at_edge;
    struct infer_point last, next; /* fitted last; the one with a rise of 1 or more, next to the crossing */
};

struct search {
    struct infer *infer;
    const paritas_minos_request *request;
    struct infer_profile profile;
    struct curve curve;
    double centre, sigma;
    struct side sides[2];
    bool kinked, careful; /* fits bracket the crossings */
    bool confirmed;       /* further starts found nothing lower at the crossings */
    char failure[256];    /* no answer, or below the best fit */
};

static bool has_failed(const struct search *s)
{
    return s->failure[0] != '\0';
}

static double rise_of(const struct search *s, double twice_nll)
{
    return twice_nll - (s->request->best_twice_nll + 1.0) + 1.0;
}

/* Positive inside. The root of the rise is nearly linear. */
static double to_crossing(const void *user, double x)
{
    const struct search *s = user;
    const double rise = rise_of(s, curve_value(&s->curve, x));
    return rise > 0.0 ? 1.0 - sqrt(rise) : 1.0;
}

static void propose(const struct search *s, struct side *side)
{
    double outward = side->bound > s->centre ? 1.0 : -1.0, outer = side->outer;
    if (!side->outer_known) {
        double step = 2.0 * s->sigma;
        outer = side->inner;
        do {
            outer += outward * step;
            step *= 2.0;
        } while (outward * (side->bound - outer) > 0.0 && to_crossing(s, outer) > 0.0);
        if (!(outward * (side->bound - outer) > 0.0)) outer = side->bound;
        if (outer == side->bound && to_crossing(s, outer) >= 0.0) {
            side->root = outer; /* the bound comes first: fit there */
            return;
        }
    }
    side->root = find_root(to_crossing, s, side->inner, outer);
}

/* Steps outward until fits bracket the crossing; then the bracket halves at least every third round. */
static void propose_carefully(const struct search *s, struct side *side)
{
    const double outward = side->bound > s->centre ? 1.0 : -1.0;
    if (side->has_beyond) { /* where both tangents meet */
        const double a = side->inner, b = side->beyond, slope = curve_slope(&s->curve, b),
                     rise = curve_value(&s->curve, b) - curve_value(&s->curve, a),
                     meet = a + (rise - slope * (b - a)) / (curve_slope(&s->curve, a) - slope);
        side->root = (meet - a) * (meet - b) < 0.0 ? meet : 0.5 * (a + b);
        return;
    }
    if (!side->outer_known) {
        side->root = side->inner + outward * side->step;
        side->step *= NEXT_STEP_CAREFUL;
        if (!(outward * (side->bound - side->root) > 0.0)) side->root = side->bound;
        return;
    }
    const double width = fabs(side->outer - side->inner);
    const bool slow = width > 0.5 * side->brackets[1];
    side->root =
        slow ? 0.5 * (side->inner + side->outer) : find_root(to_crossing, s, side->inner, side->outer);
    side->brackets[1] = side->brackets[0];
    side->brackets[0] = width;
}

/* Where fits have met a wall, a proposal goes no further than half the way. Returns whether it would have. */
static bool step_back(struct side *side)
{
    const double half = 0.5 * (side->inner + side->wall);
    if (isinf(side->wall) || side->outer_known || side->has_beyond) return false;
    const bool beyond = (side->root - half) * (side->wall - side->inner) > 0.0;
    if (beyond) side->root = half;
    return beyond;
}

/* The slope outward fell on the way to `point`: two branches meet between, the highest place so far. */
static bool passed_a_peak(const struct search *s, const struct side *side, const struct infer_point *point)
{
    const double outward = side->bound > s->centre ? 1.0 : -1.0;
    return s->careful && !side->has_beyond &&
           outward * point->slope < outward * curve_slope(&s->curve, side->inner);
}

static void take(const struct search *s, const struct infer_point *point, struct side *side)
{
    const double x = point->value[0];
    side->last = *point;
    if (rise_of(s, point->twice_nll) >= 1.0) {
        side->next = *point;
        side->outer = x;
        side->outer_known = true;
        side->has_beyond = false;
    } else if (passed_a_peak(s, side, point)) {
        side->beyond = x;
        side->has_beyond = true;
    } else {
        side->inner = side->has_beyond ? side->beyond : x;
        side->has_beyond = false;
        side->at_bound = side->inner == side->bound;
    }
}

/* Is there a wall so near that nothing is left to fit before it? */
static bool is_at_wall(const struct search *s, const struct side *side)
{
    const double offset = fabs(side->inner - s->centre);
    return !side->outer_known && fabs(side->wall - side->inner) <= EDGE * fmax(offset, s->sigma);
}

static void meet_wall(const struct infer_point *point, struct side *side)
{
    side->wall = point->value[0];
    side->wall_status = isnan(point->twice_nll) ? PARITAS_FIT_NON_FINITE : point->status;
}

/* Notes why the fit with the parameter at `value` is of no use. */
static void check_fit(struct search *s, double value, paritas_fit_status status, double twice_nll)
{
    const double fall = s->request->best_twice_nll - twice_nll;
    if (status != PARITAS_FIT_CONVERGED)
        snprintf(s->failure, sizeof s->failure, "the fit at %.6g ended with status %s", value,
                 paritas_fit_status_name(status));
    else if (twice_nll < s->request->best_twice_nll - same_minimum(s->infer->context))
        snprintf(s->failure, sizeof s->failure,
                 "at %.6g twice the NLL is %.3g below the best fit: fit from several starts", value, fall);
}

static paritas_status begin(struct search *s)
{
    struct infer *infer = s->infer;
    const size_t parameter = s->request->parameter;
    double slope, variance;
    if (!s->profile.data) {
        s->profile = (struct infer_profile){.data = infer->base.data, .start = s->request->best};
        TRY(infer_free_fit(infer, &s->profile));
    }
    TRY(infer_variance(infer, &s->profile, parameter, &variance));
    TRY(infer_free_slope(infer, &s->profile, parameter, &slope));
    const double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    s->centre = s->request->best[parameter];
    s->sigma = s->request->error > 0.0 ? s->request->error : sqrt(variance);
    if (!(s->sigma > 0.0)) /* on a bound there may be a slope without curvature */
        s->sigma = slope != 0.0 ? 1.0 / fabs(slope) : (upper - lower) / 16.0;
    check_fit(s, s->profile.parameters[parameter], s->profile.result.status, s->profile.result.twice_nll);
    if (!(s->sigma > 0.0)) snprintf(s->failure, sizeof s->failure, "its error is unknown");
    s->curve = (struct curve){.curvature = 2.0 / (s->sigma * s->sigma)};
    curve_add(&s->curve, s->centre, s->request->best_twice_nll, slope);
    for (int k = 0; k < 2; k++) {
        const double bound = k == 0 ? lower : upper;
        s->sides[k] = (struct side){.inner = s->centre,
                                    .bound = bound,
                                    .wall = HUGE_VAL,
                                    .at_bound = bound == s->centre,
                                    .step = FIRST_STEP_CAREFUL * s->sigma,
                                    .brackets = {HUGE_VAL, HUGE_VAL}};
    }
    return PARITAS_OK;
}

/* How far the rise is from 1 where a fit was as near to the proposed value; infinite: there was none. */
static double distance_from_crossing(const struct search *s, const struct side *side, double near)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < s->curve.n && !side->has_beyond; i++) {
        const double x = s->curve.node[i].x;
        if (x != s->centre && fabs(x - side->root) <= near * fabs(side->root - s->centre))
            least = fmin(least, fabs(rise_of(s, s->curve.node[i].y) - 1.0));
    }
    return least;
}

/* The last fit of a side has the rise that is looked for: it is the answer. */
static bool is_sure(const struct search *s, const struct side *side)
{
    const double sure = fmax(SURE, 10.0 * same_minimum(s->infer->context));
    return side->last.profile && !side->has_beyond && fabs(rise_of(s, side->last.twice_nll) - 1.0) <= sure;
}

/* Proposes the next value; false: none needed, or none helps. */
static bool is_open(const struct search *s, struct side *side)
{
    if (side->settled || side->stuck || side->at_bound || side->at_edge) return false;
    side->settled = is_sure(s, side);
    if (side->settled) {
        side->root = side->last.value[0];
        return false;
    }
    if (is_at_wall(s, side)) {
        side->at_edge = side->wall_status == PARITAS_FIT_NON_FINITE;
        side->stuck = !side->at_edge;
        return false;
    }
    if (s->careful)
        propose_carefully(s, side);
    else
        propose(s, side);
    const bool stepped_back = step_back(side);
    double off = distance_from_crossing(s, side, ACCEPT);
    if (off > CLOSELY && side->outer_known && isfinite(off)) {
        /* the slopes mislead: where a rate is 0 they do not tell how the profile goes on */
        const double middle = 0.5 * (side->inner + side->outer);
        if (fabs(side->outer - side->inner) > 4.0 * ACCEPT * fabs(middle - s->centre)) {
            side->root = middle;
            off = distance_from_crossing(s, side, ACCEPT);
        }
    }
    if (off <= REACHED) off = distance_from_crossing(s, side, NEAREST);
    side->stuck = isfinite(off) && !stepped_back; /* half the way to a wall always leads on */
    return !side->stuck;
}

/* Where a rate is 0 the gradient has a part that holds the fit at the domain's edge, which no profile has. A
 * slope of many times the parabola's has it: the parabola's is nearer. */
static double slope_of(const struct search *s, const struct infer_point *point)
{
    const double parabola = 2.0 * rise_of(s, point->twice_nll) / (point->value[0] - s->centre);
    return fabs(point->slope) > STEEP * fabs(parabola) ? parabola : point->slope;
}

/* Fits without an answer start again where the last fit of their side ended, or the best fit. */
static paritas_status fit_again(struct search *s, size_t n, struct infer_point *points,
                                struct side *const *owner)
{
    struct infer_point best = {.profile = &s->profile,
                               .k = 1,
                               .parameter = {s->request->parameter},
                               .value = {s->centre},
                               .status = s->profile.result.status,
                               .twice_nll = s->profile.result.twice_nll,
                               .parameters = s->profile.parameters};
    for (size_t i = 0; i < n; i++) {
        struct infer_point *from = owner[i]->last.profile ? &owner[i]->last : &best;
        const bool up = points[i].value[0] > from->value[0];
        struct infer_point *const ascending[2] = {up ? from : &points[i], up ? &points[i] : from};
        bool fresh[2] = {true, true}, lowered = false;
        if (points[i].status == PARITAS_FIT_CONVERGED) continue;
        TRY(neighbours_compare(s->infer, 2, ascending, fresh, &lowered));
    }
    return PARITAS_OK;
}

static paritas_status run_round(struct search *s, size_t *n)
{
    struct side *owner[2];
    struct infer_point points[2];
    *n = 0;
    for (int k = 0; k < 2; k++) {
        if (!is_open(s, &s->sides[k])) continue;
        owner[*n] = &s->sides[k];
        points[(*n)++] = (struct infer_point){.profile = &s->profile,
                                              .k = 1,
                                              .parameter = {s->request->parameter},
                                              .value = {s->sides[k].root}};
    }
    if (*n == 0) return PARITAS_OK;
    struct infer_point *both[] = {&points[0], &points[1]};
    TRY(infer_points_once(s->infer, *n, points));
    if (s->kinked)
        TRY(minimum_search_run(s->infer, &s->profile, *n, both));
    else if (s->careful)
        TRY(minimum_search_carry(s->infer, &s->profile, *n, both));
    TRY(fit_again(s, *n, points, owner));
    TRY(infer_slopes(s->infer, *n, points));
    check_fit(s, s->profile.parameters[s->request->parameter], s->profile.result.status,
              s->profile.result.twice_nll);
    for (size_t i = 0; i < *n; i++) {
        if (points[i].status != PARITAS_FIT_CONVERGED) {
            meet_wall(&points[i], owner[i]);
            continue;
        }
        check_fit(s, points[i].value[0], points[i].status, points[i].twice_nll);
        points[i].slope = slope_of(s, &points[i]);
        curve_add(&s->curve, points[i].value[0], points[i].twice_nll, points[i].slope);
        take(s, &points[i], owner[i]);
    }
    return PARITAS_OK;
}

static bool is_missed(const struct side *side)
{
    return !side->settled && !side->at_bound && !side->at_edge;
}

/* Further starts at the crossings and at the best fit. *lower: one of them is not the lowest minimum. */
static paritas_status search_crossings(struct search *s, bool *lower)
{
    struct infer_point *points[4];
    double before[4];
    size_t n = 0;
    *lower = false;
    for (int k = 0; k < 2; k++) {
        struct infer_point *last = &s->sides[k].last, *next = &s->sides[k].next;
        if (last->profile) points[n++] = last;
        if (is_missed(&s->sides[k]) && next->profile && next->value[0] != last->value[0]) points[n++] = next;
    }
    for (size_t i = 0; i < n; i++) before[i] = points[i]->twice_nll;
    TRY(minimum_search_run(s->infer, &s->profile, n, points));
    check_fit(s, s->profile.parameters[s->request->parameter], s->profile.result.status,
              s->profile.result.twice_nll);
    for (size_t i = 0; i < n; i++)
        *lower = *lower || points[i]->twice_nll < before[i] - same_minimum(s->infer->context);
    return PARITAS_OK;
}

static int rounds_most(const struct search *s)
{
    const bool walled = !isinf(s->sides[0].wall) || !isinf(s->sides[1].wall);
    return s->careful || walled ? ROUNDS_MAX_CAREFUL : ROUNDS_MAX;
}

/* Where several minima are met, carefully once more. */
static paritas_status find_crossings(struct search *s, int *rounds)
{
    bool again = true;
    s->infer->poi = s->request->parameter; /* searches look far along it */
    s->kinked = s->careful = paritas_model_frozen(s->infer->model)->kinked != NULL;
    for (int search = 0; search < SEARCHES_MAX && again && !has_failed(s); search++) {
        size_t n = 1;
        TRY(begin(s));
        for (*rounds = 0; *rounds < rounds_most(s) && n > 0 && !has_failed(s); ++*rounds)
            TRY(run_round(s, &n));
        if (has_failed(s)) break;
        TRY(search_crossings(s, &again));
        s->confirmed = !again && !has_failed(s);
        again = again || (!s->careful && (infer_has_several(&s->infer->minima) || is_missed(&s->sides[0]) ||
                                          is_missed(&s->sides[1])));
        s->careful = s->careful || again;
    }
    if (again && !has_failed(s)) snprintf(s->failure, sizeof s->failure, "each search finds lower minima");
    return PARITAS_OK;
}

static paritas_minos_end end_of(const struct search *s, const struct side *side)
{
    if (side->settled && (s->confirmed || !infer_has_several(&s->infer->minima)))
        return PARITAS_MINOS_END_CROSSING;
    if (has_failed(s) || is_missed(side) || side->settled) return PARITAS_MINOS_END_UNKNOWN;
    return side->at_bound ? PARITAS_MINOS_END_BOUND : PARITAS_MINOS_END_EDGE;
}

static void put_side(const struct search *s, int k, double offsets[2])
{
    const struct side *side = &s->sides[k];
    const paritas_minos_end end = end_of(s, side);
    const bool crosses = end == PARITAS_MINOS_END_CROSSING, ends = end != PARITAS_MINOS_END_UNKNOWN;
    if (crosses) offsets[k] = side->root - s->centre;
    if (s->request->ends) s->request->ends[k] = end;
    if (s->request->reach && ends) s->request->reach[k] = (crosses ? side->root : side->inner) - s->centre;
}

static void say_missed(struct search *s, const struct side *side, int rounds)
{
    if (is_at_wall(s, side))
        check_fit(s, side->wall, side->wall_status, (double)NAN);
    else
        snprintf(s->failure, sizeof s->failure, "%d rounds of fits came no nearer than %.6g", rounds,
                 side->inner);
}

static paritas_status minos(struct search *s, double offsets[2])
{
    int rounds = 0;
    TRY(find_crossings(s, &rounds));
    for (int k = 0; k < 2; k++)
        if (!has_failed(s) && is_missed(&s->sides[k])) say_missed(s, &s->sides[k], rounds);
    for (int k = 0; k < 2; k++) put_side(s, k, offsets);
    if (!has_failed(s)) return PARITAS_OK;
    return paritas_fail(s->infer->context, PARITAS_NOT_CONVERGED,
                        "MINOS: the profile of '%s' could not be followed to its crossing: %s",
                        paritas_model_parameter_name(s->infer->model, s->request->parameter), s->failure);
}

static paritas_status check(const struct infer *infer, size_t parameter)
{
    if (parameter >= infer->n_parameters)
        return paritas_refuse(infer->context, "the model has no parameter %zu", parameter);
    if (infer->base.fixed[parameter])
        return paritas_refuse(infer->context, "'%s' is fixed and has no error",
                              paritas_model_parameter_name(infer->model, parameter));
    return PARITAS_OK;
}

paritas_status paritas_minos(paritas_context *context, const paritas_model *model, const paritas_job *job,
                             const paritas_minos_request *given, double offsets[2])
{
    REQUIRE(context, model, offsets);
    paritas_minos_request request = PARITAS_INIT(paritas_minos_request);
    offsets[0] = offsets[1] = (double)NAN;
    TRY(SIZED_CHECK(context, paritas_minos_request, "request", 1, given));
    TRY(SIZED_TAKE(context, paritas_minos_request, "request", given, &request));
    REQUIRE_AS(context, "best", request.best);
    for (int k = 0; k < 2; k++) {
        if (request.ends) request.ends[k] = PARITAS_MINOS_END_UNKNOWN;
        if (request.reach) request.reach[k] = (double)NAN;
    }
    struct infer infer;
    struct search search = {.infer = &infer, .request = &request};
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = infer_keep_bounds(&infer, true); /* the fit's */
    if (status == PARITAS_OK) status = check(&infer, request.parameter);
    if (status == PARITAS_OK) status = minos(&search, offsets);
    if (request.minima) infer_add_minima(request.minima, &infer.minima);
    infer_close(&infer);
    return status;
}
