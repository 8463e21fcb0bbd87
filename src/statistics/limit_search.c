/* limit_search.c: brackets of limits, and the tests that narrow them. */
#include "statistics/limit_search.h"

#include <math.h>
#include <stdint.h>

#define SAME_POINT 1e-7 /* relative; closer proposals are tested once */
#define FARTHEST 8.0    /* times the bound or the last test above the level */
/* of ln(CLs / level) at a root, from the nearest test: CLs is within 1e-7 of 0.05 */
#define LEVEL_MET 1e-6
#define CLOSE 1e-3      /* relative distance of two tests that tell a slope */
#define JUMP_LEAST 2e-3 /* a smaller step of ln(CLs / level) at a root is no jump */

struct curve_of_search {
    const struct limit_tests *tests;
    int curve;
};

static double interpolated(const void *user, double mu)
{
    const struct curve_of_search *c = user;
    /* no exclusion at mu': q_A and the statistic have no scale */
    if (!(mu > 0.0)) return 700.0;
    return limit_tests_excess_at(c->tests, c->curve, mu);
}

/* A test without an answer counts as beyond the root. */
static void update_bracket(const struct limit_tests *tests, int curve, struct bracket *bracket)
{
    bracket->low = 0.0;
    bracket->high = HUGE_VAL;
    bracket->below_before = false;
    bool below = false;
    for (size_t i = 0; i < tests->n; i++) {
        if (!limit_tests_asks(tests, curve, tests->ascending[i])) continue;
        const double mu = tests->points[tests->ascending[i]].mu,
                     f = limit_tests_excess(tests, curve, tests->ascending[i]);
        if (f >= 0.0) {
            bracket->low = mu;
            bracket->high = HUGE_VAL;
            bracket->below_before = below;
        } else if (mu < bracket->high) {
            bracket->high = mu;
        }
        below = below || f < 0.0;
    }
}

void limit_search_give_up(struct bracket *bracket, enum paritas_reason reason)
{
    bracket->hopeless = true;
    bracket->reason = reason;
}

bool limit_search_has_answer(const struct limit_tests *tests, int curve, double mu)
{
    for (size_t i = 0; i < tests->n; i++)
        if (tests->points[i].mu == mu) return !isnan(limit_tests_excess(tests, curve, i));
    return true;
}

/* Proposes a point above the last test: where extrapolation crosses, or a step further if a profile falls
 * there. A curvature near 0 says nothing: the bound is tested before values far beyond it, and from there
 * on no step is longer than CLs above the level has led so far. */
static void propose_beyond(const struct limit_tests *tests, int curve, double scale, struct bracket *bracket)
{
    const struct infer *infer = tests->a.infer;
    struct curve_of_search c = {tests, curve};
    const double bound = infer->upper_given[infer->poi];
    double high, step = scale;
    for (high = bracket->low + step; high < tests->widest && !(interpolated(&c, high) < 0.0); high += step)
        step *= 2.0;
    if (high > tests->widest) high = tests->widest;
    if (interpolated(&c, high) < 0.0) {
        bracket->root = find_root(interpolated, &c, bracket->low, high);
        if (bracket->proposals > LIMIT_PATIENCE) bracket->root = fmax(bracket->root, 2.0 * bracket->low);
    } else if (bracket->low < tests->widest && bracket->far < 12 && limit_tests_turn(tests)) {
        bracket->root =
            bracket->low + fmax(scale, bracket->low) * (double)(UINT64_C(1) << (2 * bracket->far++));
    } else {
        limit_search_give_up(bracket, bracket->below_before ? PARITAS_REASON_COMES_BACK
                                                            : PARITAS_REASON_NONE_BELOW_BOUND);
    }
    bracket->root = fmin(bracket->root, tests->widest);
    if (bracket->root > FARTHEST * fmax(bound, bracket->low))
        bracket->root = bracket->low < bound ? bound : FARTHEST * bracket->low;
}

/* The nearest test with an answer, but `without`; tests->n: none. */
static size_t nearest_test(const struct limit_tests *tests, int curve, double root, size_t without)
{
    size_t nearest = tests->n;
    for (size_t i = 0; i < tests->n; i++) {
        if (i == without || isnan(limit_tests_excess(tests, curve, i))) continue;
        if (nearest == tests->n || fabs(tests->points[i].mu - root) < fabs(tests->points[nearest].mu - root))
            nearest = i;
    }
    return nearest;
}

static bool is_near_test(const struct limit_tests *tests, size_t test, double root)
{
    return test < tests->n && fabs(tests->points[test].mu - root) <= LIMIT_ACCEPT * fabs(root);
}

/* Is CLs the level at the root, by the value and slope of the nearest test? Do these foretell the next test,
 * if it is close? A slope lacks what an edge of the domain adds, where a rate is 0: tests then come nearer
 * step by step. */
static bool meets_level(const struct limit_tests *tests, int curve, double root)
{
    const size_t nearest = nearest_test(tests, curve, root, tests->n);
    if (!is_near_test(tests, nearest, root)) return false;
    const size_t next = nearest_test(tests, curve, root, nearest);
    const double from = tests->points[nearest].mu, there = limit_tests_excess(tests, curve, nearest);
    if (fabs(there) <= LEVEL_MET && fabs(root - from) <= SAME_POINT * fabs(root)) return true;
    if (fabs(limit_tests_excess_from(tests, curve, nearest, root)) > LEVEL_MET || next == tests->n)
        return false;
    const double to = tests->points[next].mu, part = (root - from) / (to - from),
                 miss = limit_tests_excess_from(tests, curve, nearest, to) -
                        limit_tests_excess(tests, curve, next);
    return fabs(to - from) > CLOSE * fabs(root) || fabs(miss * part) <= LEVEL_MET;
}

/* Proposes a point between two tests. */
static void propose_between(const struct limit_tests *tests, int curve, struct bracket *bracket)
{
    struct curve_of_search c = {tests, curve};
    const double low = bracket->low, high = bracket->high, middle = 0.5 * (low + high);
    const bool slow = bracket->proposals > LIMIT_PATIENCE && bracket->proposals % 2;
    bracket->root = middle; /* no answer at `high`, or interpolation is slow */
    if (!(interpolated(&c, high) < 0.0)) return;
    const double crossing = find_root(interpolated, &c, low, high);
    if (!slow || meets_level(tests, curve, crossing)) bracket->root = crossing;
}

/* Near a test: is its CLs the level at the root? Otherwise the next test is at the root, or narrows the
 * bracket, or CLs jumps there. */
static void settle(const struct limit_tests *tests, int curve, double scale, size_t nearest,
                   struct bracket *bracket)
{
    const double low = bracket->low, high = bracket->high, root = bracket->root,
                 there = limit_tests_excess(tests, curve, nearest),
                 expected = limit_tests_excess_from(tests, curve, nearest, root);
    const bool jump = !(fabs(there) <= JUMP_LEAST || fabs(expected) <= JUMP_LEAST);
    if (meets_level(tests, curve, root)) {
        bracket->settled = true;
    } else if (!jump && fabs(tests->points[nearest].mu - root) > SAME_POINT * fabs(root)) {
        return;
    } else if (high == HUGE_VAL) {
        bracket->root = fmin(low + 0.01 * fmax(scale, low), tests->widest);
    } else if (high - low > 4.0 * LIMIT_ACCEPT * root) {
        bracket->root = 0.5 * (low + high);
    } else {
        bracket->settled = true;
        bracket->jump = jump;
    }
}

static void propose(const struct limit_tests *tests, int curve, double scale, struct bracket *bracket)
{
    update_bracket(tests, curve, bracket);
    const double high = bracket->high;
    bracket->proposals++;
    if (high == HUGE_VAL)
        propose_beyond(tests, curve, scale, bracket);
    else
        propose_between(tests, curve, bracket);
    if (bracket->hopeless) return;
    if (bracket->root < 1e-9 * scale) {
        /* CLs at mu' is no number: the curve may be below the level everywhere, but only tests tell */
        bracket->root = 0.1 * fmin(high, 10.0 * scale);
        if (high < 1e-3 * scale)
            limit_search_give_up(bracket, limit_search_has_answer(tests, curve, high)
                                              ? PARITAS_REASON_ALL_EXCLUDED
                                              : PARITAS_REASON_UNDEFINED);
    }
    const size_t nearest = nearest_test(tests, curve, bracket->root, tests->n);
    if (is_near_test(tests, nearest, bracket->root) && !bracket->hopeless)
        settle(tests, curve, scale, nearest, bracket);
}

size_t limit_search_collect(const struct limit_search *s, double *mu, bool *observed)
{
    size_t n = 0;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &s->brackets[curve];
        if (b->settled || b->hopeless) continue;
        size_t at = 0;
        while (at < n && !(fabs(mu[at] - b->root) <= SAME_POINT * fabs(b->root))) at++;
        if (at == n) {
            for (n++; at > 0 && mu[at - 1] > b->root; at--) {
                mu[at] = mu[at - 1];
                if (observed) observed[at] = observed[at - 1];
            }
            mu[at] = b->root;
            if (observed) observed[at] = false;
        }
        if (observed && curve == ASYMPTOTIC_OBSERVED) observed[at] = true;
    }
    return n;
}

size_t limit_search_crossings(const struct limit_tests *tests, int curve, double *crossings)
{
    struct curve_of_search c = {tests, curve};
    size_t n = 0;
    double last = 0.0;
    bool above = true;
    for (size_t i = 0; i < tests->n; i++) {
        const double mu = tests->points[tests->ascending[i]].mu,
                     f = limit_tests_excess(tests, curve, tests->ascending[i]);
        if (isnan(f)) continue;
        if ((f >= 0.0) != above) crossings[n++] = find_root(interpolated, &c, last, mu);
        above = f >= 0.0;
        last = mu;
    }
    return n;
}

void limit_search_restart(struct limit_search *s)
{
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        s->brackets[curve] = (struct bracket){.proposals = s->brackets[curve].proposals};
        if (s->tests.a.no_asimov) limit_search_give_up(&s->brackets[curve], PARITAS_REASON_UNDEFINED);
    }
    s->tests.changed = false;
}

/* Later tests can show that a curve was given up too early. */
static void revive(const struct limit_tests *tests, int curve, double scale, struct bracket *bracket)
{
    if (!bracket->hopeless || tests->a.no_asimov) return;
    update_bracket(tests, curve, bracket);
    if (bracket->reason == PARITAS_REASON_ALL_EXCLUDED)
        bracket->hopeless = bracket->low <= 1e-9 * scale;
    else if (bracket->reason == PARITAS_REASON_NONE_BELOW_BOUND ||
             bracket->reason == PARITAS_REASON_COMES_BACK)
        bracket->hopeless = bracket->high == HUGE_VAL;
}

bool limit_search_propose(struct limit_search *s)
{
    bool special = false;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        struct bracket *b = &s->brackets[curve];
        revive(&s->tests, curve, s->scale, b);
        if (!b->settled && !b->hopeless) propose(&s->tests, curve, s->scale, b);
        special =
            special || (b->jump && !b->hopeless) || (b->proposals > LIMIT_PATIENCE && !s->tests.careful);
    }
    return special;
}
