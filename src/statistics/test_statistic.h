/* test_statistic.h: all that depends on the test statistic.
 *
 * To add one: a line in PARITAS_STATISTIC_LIST (paritas_statistics.h), its formula in test_statistic.c. */
#pragma once

#include "base/context.h"

/* t is normal with mean 0 under the other hypothesis, -sqrt(q_A) under the tested one. Derivatives by u =
 * sqrt(q) and a = sqrt(q_A). */
struct statistic_shift {
    double t, by_u, by_a;
};

/* The two-sided statistic, -2 ln lambda (eq. 8, bounded eq. 11). Intervals by toys alone use it, so it has no
 * word. */
#define STATISTIC_TWO_SIDED ((paritas_test_statistic)(0 PARITAS_STATISTIC_LIST(PARITAS_COUNT_ITEM)))

struct test_statistic {
    /* tests mu = 0 against 1, for p0; else mu against 0, for CLs */
    bool discovery;
    bool alone;     /* has no other hypothesis */
    bool from_zero; /* holds for best fits from 0 on */
    /* q is 0 if the best fit is on this side of mu. */
    bool (*agrees)(double mu, double mu_hat);
    struct statistic_shift (*shift)(double q, double q_asimov);
};

bool statistic_known(paritas_test_statistic statistic);
/* INVALID_ARGUMENT if unknown. The functions below do not check. */
paritas_status statistic_check(paritas_context *context, paritas_test_statistic statistic);
/* INVALID_ARGUMENT if it has no upper limits. */
paritas_status statistic_check_limit(paritas_context *context, paritas_test_statistic statistic);
const struct test_statistic *statistic_formula(paritas_test_statistic statistic);

/* The mu to test when `mu` is asked for, and the alternative mu'. */
double statistic_tested(paritas_test_statistic statistic, double mu);
double statistic_other(paritas_test_statistic statistic);
/* The statistic from twice the NLL, fixed and free. */
double statistic_q(paritas_test_statistic statistic, double mu, double mu_hat, double fixed, double free);
double statistic_answer(paritas_test_statistic statistic, double clsb, double clb);
