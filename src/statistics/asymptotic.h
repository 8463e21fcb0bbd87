/* asymptotic.h: CLs from the profiles of the data and of the Asimov data (arXiv:1007.1727).
 *
 *   asymptotic_open: free fit ─► fit at mu' ─► Asimov data ─► free fit
 *   asymptotic_test: fits of both at n values of mu ─► q, q_A ─► p-values
 *
 * mu' is 0, or 1 for q0. All mu share the Asimov data: each further mu costs two fits. */
#pragma once

#include "minima/infer.h"
#include "statistics/test_statistic.h"

struct asymptotic {
    struct infer *infer;
    paritas_test_statistic statistic;
    struct infer_profile data, asimov;
    struct infer_profile other; /* Asimov data of another minimum at mu', as low; data NULL: none */
    paritas_fit_status status;  /* of the fit at mu' */
    double twice_nll;           /* of that fit */
    bool reconsidered;          /* that fit, since tests showed several minima */
    bool remade;                /* the Asimov data then: earlier tests do not count */
    /* the fit at mu' left the domain: all answers are NaN */
    bool no_asimov;
};

struct asymptotic_point {
    double mu;
    struct infer_point data, asimov, other;
};

paritas_status asymptotic_open(struct asymptotic *a, struct infer *infer, paritas_test_statistic statistic);
/* Fits at points[i].mu; `slopes`: also the profiles' slopes. */
paritas_status asymptotic_test(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes);
/* Fits the background once more, if tests have met minima that it does not know. *remade: the Asimov data
 * changed, or there are others; earlier tests do not count. */
paritas_status asymptotic_reconsider(struct asymptotic *a, bool *remade);
/* Call it after all tests: a later test can find a lower free fit. */
void asymptotic_result(const struct asymptotic *a, const struct asymptotic_point *point,
                       paritas_hypotest_result *result);
/* A note where qtilde meets a best fit below 0 (eq. 14 of arXiv:1007.1727). */
void asymptotic_note_domain(const struct asymptotic *a);

/* The statistic that p-values are made of: where mu has no effect (q_A = 0), a tiny q is the fits' noise. */
double asymptotic_q(double q, double q_asimov);
/* Curve 5 is observed; 0..4 are expected at -2 .. 2 sigma, ascending in CLs. */
struct statistic_shift asymptotic_shift(paritas_test_statistic statistic, int curve, double q,
                                        double q_asimov);
double asymptotic_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov);
/* ln(CLs), also where CLs underflows. */
double asymptotic_log_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov);
#define ASYMPTOTIC_OBSERVED 5
#define ASYMPTOTIC_CURVES 6
