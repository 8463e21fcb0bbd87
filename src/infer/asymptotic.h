/* asymptotic.h: CLs from two profiles, of the data and of the Asimov data (arXiv:1007.1727).
 *
 *   asymptotic_open: free fit ──► conditional fit at mu' ──► Asimov data ──► free fit to them
 *   asymptotic_test: conditional fits at n values of mu to both, one batch ──► q, q_A ──► p-values
 *
 * The Asimov data do not depend on the tested mu, so each further value costs two fits. mu' is 0, or 1 for
 * q0. */
#ifndef PARITAS_INFER_ASYMPTOTIC_H
#define PARITAS_INFER_ASYMPTOTIC_H

#include "infer/infer.h"
#include "infer/test_statistic.h"

struct asymptotic {
    struct infer *infer;
    paritas_test_statistic statistic;
    struct infer_profile data, asimov;
    paritas_fit_status status; /* of the conditional fit at mu' */
    /* that fit left the domain, so that there are no Asimov data: every answer is NaN */
    bool no_asimov;
};

/* The fits at one value of mu. */
struct asymptotic_point {
    double mu;
    struct infer_point data, asimov;
};

paritas_status asymptotic_open(struct asymptotic *a, struct infer *infer, paritas_test_statistic statistic);
/* Conditional fits at points[i].mu; with `slopes`, also the slopes of both profiles there. */
paritas_status asymptotic_test(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes);
/* The answer at a point. To be called after all tests: a later one can find a lower free fit. */
void asymptotic_result(const struct asymptotic *a, const struct asymptotic_point *point,
                       paritas_hypotest_result *result);

/* The statistic that a curve stands for: observed for curve 5, expected for 0..4 (at -2 .. 2 sigma, ascending
 * in CLs). */
struct statistic_shift asymptotic_shift(paritas_test_statistic statistic, int curve, double q,
                                        double q_asimov);
/* CLs (or p0) of one curve. */
double asymptotic_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov);
/* Its logarithm, which also exists where numerator and denominator are too small for a number. */
double asymptotic_log_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov);
#define ASYMPTOTIC_OBSERVED 5
#define ASYMPTOTIC_CURVES 6

#endif
