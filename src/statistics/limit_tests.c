/* limit_tests.c: tests of a search for limits, their curves, and fits from neighbours. */
#include "statistics/limit_tests.h"
#include "minima/conditional_starts.h"
#include "minima/conditional_fits.h"
#include "minima/minimum_search.h"
#include "minima/neighbours.h"

#include <math.h>
#include <string.h>

#define TURN 1e-3     /* in twice the NLL and in ln(CLs): smaller falls and rises are not seen */
#define DEEPEST -30.0 /* ln(CLs / level) where rises no longer matter */

static double excess(const struct limit_tests *tests, int curve, double mu, double fixed, double fixed_asimov)
{
    const struct asymptotic *a = &tests->a;
    size_t poi = a->infer->poi;
    double q = statistic_q(a->statistic, mu, a->data.parameters[poi], fixed, a->data.result.twice_nll);
    double q_asimov =
        statistic_q(a->statistic, mu, a->asimov.parameters[poi], fixed_asimov, a->asimov.result.twice_nll);
    return asymptotic_log_cls(a->statistic, curve, q, q_asimov) - tests->log_level;
}

double limit_tests_excess(const struct limit_tests *tests, int curve, size_t test)
{
    const struct asymptotic_point *point = &tests->points[test];
    return excess(tests, curve, point->mu, point->data.twice_nll, point->asimov.twice_nll);
}

double limit_tests_excess_at(const struct limit_tests *tests, int curve, double mu)
{
    return excess(tests, curve, mu, curve_value(&tests->data, mu), curve_value(&tests->asimov, mu));
}

double limit_tests_excess_from(const struct limit_tests *tests, int curve, size_t test, double mu)
{
    const struct asymptotic_point *point = &tests->points[test];
    const struct infer_point *fits[2] = {&point->data, &point->asimov};
    const struct curve *curves[2] = {&tests->data, &tests->asimov};
    const double d = mu - point->mu;
    double at[2];
    for (int k = 0; k < 2; k++)
        at[k] = fits[k]->twice_nll +
                d * (curve_slope(curves[k], point->mu) + 0.5 * fmax(curves[k]->curvature, 0.0) * d);
    return excess(tests, curve, mu, at[0], at[1]);
}

static bool falls(const struct infer_point *point, double mu, size_t poi)
{
    return mu > point->profile->parameters[poi] && point->slope * mu < -TURN;
}

/* Is CLs of the observed curve, or of an expected one, not negligible there? */
static bool is_above_depth(const struct limit_tests *tests, size_t test, bool observed)
{
    const int first = observed ? ASYMPTOTIC_OBSERVED : 0,
              end = observed ? ASYMPTOTIC_OBSERVED + 1 : ASYMPTOTIC_OBSERVED;
    for (int curve = first; curve < end; curve++)
        if (!(limit_tests_excess(tests, curve, test) < DEEPEST)) return true;
    return false;
}

bool limit_tests_turn(const struct limit_tests *tests)
{
    double before[ASYMPTOTIC_CURVES];
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) before[curve] = HUGE_VAL;
    for (size_t i = 0; i < tests->n; i++) {
        const size_t test = tests->ascending[i];
        const struct asymptotic_point *point = &tests->points[test];
        if (point->data.profile && falls(&point->data, point->mu, tests->a.infer->poi) &&
            is_above_depth(tests, test, true))
            return true;
        if (falls(&point->asimov, point->mu, tests->a.infer->poi) && is_above_depth(tests, test, false))
            return true;
        for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
            if (!limit_tests_asks(tests, curve, test)) continue;
            const double now = limit_tests_excess(tests, curve, test);
            if (now > fmax(before[curve], DEEPEST) + TURN) return true;
            before[curve] = now;
        }
    }
    return false;
}

void limit_tests_curves(struct limit_tests *tests, const double *slopes, const double *variances)
{
    const struct infer *infer = tests->a.infer;
    const struct infer_profile *profiles[2] = {&tests->a.data, &tests->a.asimov};
    struct curve *curves[2] = {&tests->data, &tests->asimov};
    for (int k = 0; k < 2; k++) {
        curves[k]->n = 0;
        curves[k]->curvature = 2.0 / variances[k];
        curve_add(curves[k], profiles[k]->parameters[infer->poi], profiles[k]->result.twice_nll, slopes[k]);
        for (size_t i = 0; i < tests->n; i++) {
            const struct infer_point *point = k == 0 ? &tests->points[i].data : &tests->points[i].asimov;
            curve_add(curves[k], tests->points[i].mu, point->twice_nll, point->slope);
        }
        if (tests->careful) curve_mend_slopes(curves[k], 10.0 * same_minimum(infer->context));
    }
}

static paritas_status rebuild_curves(struct limit_tests *tests)
{
    struct infer *infer = tests->a.infer;
    struct infer_profile *profiles[2] = {&tests->a.data, &tests->a.asimov};
    double slopes[2], variances[2];
    for (int k = 0; k < 2; k++) {
        TRY(infer_free_slope(infer, profiles[k], infer->poi, &slopes[k]));
        TRY(infer_variance(infer, profiles[k], infer->poi, &variances[k]));
    }
    limit_tests_curves(tests, slopes, variances);
    return PARITAS_OK;
}

paritas_status limit_tests_open(struct limit_tests *tests, struct infer *infer)
{
    /* mostly untouched: memory that is cleared costs its pages */
    tests->points = arena_allocate(&infer->arena, PARITAS_SCAN_MOST * sizeof *tests->points);
    if (!tests->points) return paritas_fail_memory(infer->context);
    TRY(asymptotic_open(&tests->a, infer, tests->a.statistic));
    tests->widest = infer->widening.widest[infer->poi];
    return rebuild_curves(tests);
}

/* Repeats a free fit that ended at the old bound. */
static paritas_status widen(struct limit_tests *tests, double mu)
{
    struct infer *infer = tests->a.infer;
    size_t poi = infer->poi;
    infer_widen(infer, mu);
    if (tests->a.data.states[poi] != PARITAS_PARAMETER_AT_UPPER_BOUND) return PARITAS_OK;
    tests->a.data.start = tests->a.data.parameters;
    return infer_free_fit(infer, &tests->a.data);
}

/* All tests once more, after a lower free fit or with other Asimov data. */
static paritas_status repeat(struct limit_tests *tests)
{
    struct asymptotic_point *before = infer_array(tests->a.infer, tests->n, sizeof *before);
    TRY(infer_memory(tests->a.infer));
    memcpy(before, tests->points, tests->n * sizeof *before);
    TRY(asymptotic_test(&tests->a, tests->n, tests->points, true));
    for (size_t i = 0; i < tests->n; i++) {
        if (neighbours_is_lower(tests->a.infer, &before[i].data, &tests->points[i].data))
            tests->points[i].data = before[i].data;
        if (!tests->a.remade &&
            neighbours_is_lower(tests->a.infer, &before[i].asimov, &tests->points[i].asimov))
            tests->points[i].asimov = before[i].asimov;
    }
    tests->changed = true;
    tests->a.remade = false;
    return PARITAS_OK;
}

void limit_tests_add(struct limit_tests *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = tests->n++;
        for (; at > 0 && tests->points[tests->ascending[at - 1]].mu > tests->points[tests->n - 1].mu; at--)
            tests->ascending[at] = tests->ascending[at - 1];
        tests->ascending[at] = tests->n - 1;
    }
}

paritas_status limit_tests_make(struct limit_tests *tests, size_t n, const double *mu)
{
    double highest = mu[0];
    for (size_t i = 1; i < n; i++) highest = fmax(highest, mu[i]);
    if (highest > tests->a.infer->upper[tests->a.infer->poi]) TRY(widen(tests, highest));
    const double free = tests->a.data.result.twice_nll;
    struct asymptotic_point *fresh = tests->points + tests->n;
    for (size_t i = 0; i < n; i++) fresh[i] = (struct asymptotic_point){.mu = mu[i]};
    /* lower minima are looked for where answers are: limit_tests_search */
    struct infer *infer = tests->a.infer;
    const unsigned starts = infer->starts;
    if (starts == 0) infer->starts = 1;
    const paritas_status status = asymptotic_test(&tests->a, n, fresh, true);
    infer->starts = starts;
    TRY(status);
    limit_tests_add(tests, n);
    if (tests->a.remade || tests->a.data.result.twice_nll < free - same_minimum(tests->a.infer->context))
        TRY(repeat(tests));
    if (tests->careful) return limit_tests_compare(tests);
    return rebuild_curves(tests);
}

/* Tests that were not compared since they were made. */
static paritas_status compare_fresh(struct limit_tests *tests, bool asimov, bool *lowered)
{
    struct infer *infer = tests->a.infer;
    struct infer_point **ascending = infer_array(infer, tests->n, sizeof *ascending);
    bool *fresh = infer_array(infer, tests->n, sizeof *fresh);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < tests->n; i++) {
        struct asymptotic_point *point = &tests->points[tests->ascending[i]];
        ascending[i] = asimov ? &point->asimov : &point->data;
        fresh[i] = !tests->compared[tests->ascending[i]];
    }
    return neighbours_compare(infer, tests->n, ascending, fresh, lowered);
}

/* A free fit above a test is repeated from there. */
static paritas_status lower_free_fit(struct limit_tests *tests, struct infer_profile *profile, bool asimov)
{
    const struct infer_point free = {.status = profile->result.status,
                                     .twice_nll = profile->result.twice_nll},
                             *lowest = &free;
    for (size_t i = 0; i < tests->n; i++) {
        const struct infer_point *point = asimov ? &tests->points[i].asimov : &tests->points[i].data;
        if (neighbours_is_lower(tests->a.infer, point, lowest)) lowest = point;
    }
    if (lowest == &free) return PARITAS_OK;
    struct infer_profile again = {.data = profile->data, .start = lowest->parameters};
    TRY(infer_free_fit(tests->a.infer, &again));
    if (!(again.result.twice_nll <= lowest->twice_nll + same_minimum(tests->a.infer->context)))
        profile->result.status =
            infer_worse(free.status, infer_worse(again.result.status, PARITAS_FIT_NO_PROGRESS));
    if (!(again.result.twice_nll < free.twice_nll)) return PARITAS_OK;
    again.start = profile->start;
    *profile = again;
    tests->changed = true;
    return PARITAS_OK;
}

paritas_status limit_tests_compare(struct limit_tests *tests)
{
    bool lowered = false;
    TRY(compare_fresh(tests, false, &lowered));
    TRY(compare_fresh(tests, true, &lowered));
    for (size_t i = 0; i < tests->n; i++) tests->compared[i] = true;
    tests->changed = tests->changed || lowered;
    tests->careful = tests->careful || lowered;
    TRY(lower_free_fit(tests, &tests->a.data, false));
    TRY(lower_free_fit(tests, &tests->a.asimov, true));
    return rebuild_curves(tests);
}

/* The points of these tests in one profile. */
static paritas_status search_points(struct limit_tests *tests, struct infer_profile *profile, size_t n_asked,
                                    size_t n, struct infer_point **points, bool *lowered)
{
    struct infer *infer = tests->a.infer;
    const double free = profile->result.twice_nll, same = same_minimum(infer->context);
    double *before = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) before[i] = points[i]->twice_nll;
    TRY(minimum_search_run(infer, profile, n_asked, points));
    TRY(minimum_search_carry(infer, profile, n - n_asked, points + n_asked));
    *lowered = *lowered || profile->result.twice_nll < free - same;
    for (size_t i = 0; i < n; i++) {
        if (!(points[i]->twice_nll < before[i])) continue;
        *lowered = *lowered || points[i]->twice_nll < before[i] - same;
        TRY(infer_slopes(infer, 1, points[i]));
    }
    return PARITAS_OK;
}

/* Points of one profile: those asked for, then the others. */
struct searched {
    struct infer_profile *profile;
    struct infer_point **points;
    size_t n_asked, n;
};

static void list_points(struct limit_tests *tests, const bool *asked, struct searched *data,
                        struct searched *asimov, struct searched *other)
{
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < tests->n; i++) {
            struct asymptotic_point *test = &tests->points[i];
            if (asked[i] == (others != 0)) continue;
            if (test->data.profile && !test->data.unread) data->points[data->n++] = &test->data;
            asimov->points[asimov->n++] = &test->asimov;
            other->points[other->n++] = &test->other;
            if (others) continue;
            data->n_asked = data->n;
            asimov->n_asked = other->n_asked = asimov->n;
        }
}

paritas_status limit_tests_search(struct limit_tests *tests, size_t n, const size_t *which, bool *fresh)
{
    struct asymptotic *a = &tests->a;
    struct infer_point **points = infer_array(a->infer, 3 * tests->n, sizeof *points);
    bool *asked = infer_array(a->infer, tests->n, sizeof *asked), lowered = false, remade;
    TRY(infer_memory(a->infer));
    *fresh = false;
    for (size_t k = 0; k < n; k++) {
        asked[which[k]] = !tests->searched[which[k]];
        *fresh = *fresh || asked[which[k]];
        tests->searched[which[k]] = true;
    }
    if (!*fresh || a->infer->starts == 1) return PARITAS_OK;
    if (a->infer->told_cancelling && a->infer->starts == 0) return PARITAS_OK; /* it would not end */
    struct searched of[] = {{&a->data, points, 0, 0},
                            {&a->asimov, points + tests->n, 0, 0},
                            {&a->other, points + 2 * tests->n, 0, 0}};
    list_points(tests, asked, &of[0], &of[1], &of[2]);
    for (size_t k = 0; k < (a->other.data ? 3 : 2); k++)
        TRY(search_points(tests, of[k].profile, of[k].n_asked, of[k].n, of[k].points, &lowered));
    TRY(asymptotic_reconsider(a, &remade));
    if (remade) return repeat(tests);
    if (!lowered) return PARITAS_OK;
    tests->changed = tests->careful = true;
    for (size_t i = 0; i < tests->n; i++) tests->compared[i] = tests->compared[i] && !asked[i];
    return limit_tests_compare(tests);
}
