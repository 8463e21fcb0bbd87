/* test_statistic.h: all that depends on the choice of test statistic.
 *
 * To add one: a line in PARITAS_STATISTIC_LIST (paritas_statistics.h) and a formula in test_statistic.c. */
#ifndef PARITAS_INFER_TEST_STATISTIC_H
#define PARITAS_INFER_TEST_STATISTIC_H

#include "base/context.h"

/* The statistic as t: mean 0 under the other hypothesis, -sqrt(q_A) under the tested one, width 1. With
 * derivatives by u = sqrt(q) and a = sqrt(q_A). */
struct statistic_shift {
    double t, by_u, by_a;
};

struct test_statistic {
    /* true: tests mu = 0 against 1, answers p0; false: mu against 0, CLs */
    bool discovery;
    /* q is 0 if the best fit is on this side of mu. */
    bool (*agrees)(double mu, double mu_hat);
    struct statistic_shift (*shift)(double q, double q_asimov);
};

/* INVALID_ARGUMENT for an unknown statistic; the functions below assume a known one. */
paritas_status statistic_check(paritas_context *context, paritas_test_statistic statistic);
/* INVALID_ARGUMENT for one without upper limits. */
paritas_status statistic_check_limit(paritas_context *context, paritas_test_statistic statistic);
const struct test_statistic *statistic_formula(paritas_test_statistic statistic);

/* The tested mu when `mu` is asked for, and the alternative mu'. */
double statistic_tested(paritas_test_statistic statistic, double mu);
double statistic_other(paritas_test_statistic statistic);
/* From twice the NLL, fixed and free. */
double statistic_q(paritas_test_statistic statistic, double mu, double mu_hat, double fixed, double free);
/* CLs, or p0. */
double statistic_answer(paritas_test_statistic statistic, double clsb, double clb);

#endif
