/* limit_tests.h: the tests that a search for limits makes, and CLs between them.
 *
 * CLs(mu) follows from the interpolated observed and Asimov profiles (cls_curve.h). The lowest minimum is
 * continuous in mu. If CLs is not, a fit is in a higher minimum: neighbours' fits are starts for it. */
#pragma once

#include "statistics/asymptotic.h"
#include "statistics/cls_curve.h"

struct limit_tests {
    struct asymptotic a;
    double log_level, widest;
    size_t n;
    struct asymptotic_point *points;     /* in fitting order; room for PARITAS_SCAN_MOST */
    size_t ascending[PARITAS_SCAN_MOST]; /* points by mu */
    bool compared[PARITAS_SCAN_MOST];    /* fitted from the neighbours too */
    bool searched[PARITAS_SCAN_MOST];    /* lower minima were looked for */
    bool careful;                        /* every new test is compared, slopes are checked */
    bool changed;                        /* an earlier answer was lowered; the caller clears it */
    struct curve data, asimov;           /* twice the NLL over mu */
};

/* The free fits and the Asimov data. */
paritas_status limit_tests_open(struct limit_tests *tests, struct infer *infer);
/* Rebuilds both curves. Slopes and variances of the free fits: data, Asimov data. */
void limit_tests_curves(struct limit_tests *tests, const double *slopes, const double *variances);
/* Takes the n fitted points behind the last test. */
void limit_tests_add(struct limit_tests *tests, size_t n);
/* Makes tests at n values; at most PARITAS_SCAN_MOST in all. Widens the POI's bound if they need it. */
paritas_status limit_tests_make(struct limit_tests *tests, size_t n, const double *mu);
/* Fits tests also from their neighbours' points, until none goes lower. */
paritas_status limit_tests_compare(struct limit_tests *tests);

/* Looks for lower minima at these tests, which answers depend on, unless it did before. *fresh: it did not at
 * one of them. */
paritas_status limit_tests_search(struct limit_tests *tests, size_t n, const size_t *which, bool *fresh);

/* Expected curves do not need a fit to the data; a point without a profile has none. */
static inline bool limit_tests_asks(const struct limit_tests *tests, int curve, size_t test)
{
    return curve != ASYMPTOTIC_OBSERVED || tests->points[test].data.profile;
}
/* ln(CLs / level) at a test. NaN: no answer. */
double limit_tests_excess(const struct limit_tests *tests, int curve, size_t test);
/* Interpolated. */
double limit_tests_excess_at(const struct limit_tests *tests, int curve, double mu);
/* Extrapolated from one test alone. */
double limit_tests_excess_from(const struct limit_tests *tests, int curve, size_t test, double mu);

/* Does a profile fall, or CLs rise, above the best fit? */
bool limit_tests_turn(const struct limit_tests *tests);
