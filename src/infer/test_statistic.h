/* test_statistic.h: all that depends on which test statistic it is.
 *
 * To add one: a line in PARITAS_STATISTIC_LIST (paritas_statistics.h), its formula in test_statistic.c. */
#ifndef PARITAS_INFER_TEST_STATISTIC_H
#define PARITAS_INFER_TEST_STATISTIC_H

#include "base/context.h"

/* The observed statistic as t, which is normal with mean 0 under the other hypothesis and mean -sqrt(q_A)
 * under the tested one, and its derivatives by u = sqrt(q) and a = sqrt(q_A). */
struct statistic_shift {
    double t, by_u, by_a;
};

struct test_statistic {
    /* true: tests mu = 0 against 1 and answers p0; false: tests mu against 0 and answers CLs */
    bool discovery;
    /* Does this best fit agree with mu by its side alone? Then q is 0. */
    bool (*agrees)(double mu, double mu_hat);
    struct statistic_shift (*shift)(double q, double q_asimov);
};

/* INVALID_ARGUMENT for a number that is no test statistic. The functions below take only those that are. */
paritas_status statistic_check(paritas_context *context, paritas_test_statistic statistic);
/* The same for one that has no upper limits. */
paritas_status statistic_check_limit(paritas_context *context, paritas_test_statistic statistic);
const struct test_statistic *statistic_formula(paritas_test_statistic statistic);

/* The value of mu that is tested when `mu` is asked for, and the one it is tested against (mu'). */
double statistic_tested(paritas_test_statistic statistic, double mu);
double statistic_other(paritas_test_statistic statistic);
/* q from twice the NLL, fixed and free. */
double statistic_q(paritas_test_statistic statistic, double mu, double mu_hat, double fixed, double free);
/* CLs, or p0, from both p-values. */
double statistic_answer(paritas_test_statistic statistic, double clsb, double clb);

#endif
