/* test_statistic.c: formulas of the test statistics; equations of arXiv:1007.1727. */
#include "statistics/test_statistic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_above(double mu, double mu_hat)
{
    return mu_hat > mu;
}

static bool is_negative(double mu, double mu_hat)
{
    (void)mu;
    return mu_hat < 0.0;
}

static bool is_never(double mu, double mu_hat)
{
    (void)mu, (void)mu_hat;
    return false;
}

/* Eq. 59. */
static struct statistic_shift root_shift(double q, double q_asimov)
{
    return (struct statistic_shift){sqrt(q) - sqrt(q_asimov), 1.0, -1.0};
}

/* Eq. 67: beyond q_A linear in mu_hat. */
static struct statistic_shift tilde_shift(double q, double q_asimov)
{
    const double u = sqrt(q), a = sqrt(q_asimov);
    if (!(u > a)) return root_shift(q, q_asimov);
    return (struct statistic_shift){(q - q_asimov) / (2.0 * a), u / a, -0.5 * (q / q_asimov + 1.0)};
}

#define FORMULA(name) static const struct test_statistic formula_##name
FORMULA(PARITAS_STATISTIC_QTILDE) = {.from_zero = true, .agrees = is_above, .shift = tilde_shift};
FORMULA(PARITAS_STATISTIC_Q) = {.agrees = is_above, .shift = root_shift};
FORMULA(PARITAS_STATISTIC_Q0) = {.discovery = true, .agrees = is_negative, .shift = root_shift};

static const struct test_statistic formula_two_sided = {.alone = true, .agrees = is_never};

#define FORMULA_OF(name, value, word, doc) [value] = &formula_##name,
static const struct test_statistic *const formulas[] = {PARITAS_STATISTIC_LIST(FORMULA_OF)};

bool statistic_known(paritas_test_statistic statistic)
{
    return (size_t)statistic < sizeof formulas / sizeof *formulas && formulas[statistic];
}

paritas_status statistic_check(paritas_context *context, paritas_test_statistic statistic)
{
    if (statistic_known(statistic)) return PARITAS_OK;
    return paritas_refuse(context, "unknown test statistic %d", (int)statistic);
}

const struct test_statistic *statistic_formula(paritas_test_statistic statistic)
{
    return statistic == STATISTIC_TWO_SIDED ? &formula_two_sided : formulas[statistic];
}

double statistic_tested(paritas_test_statistic statistic, double mu)
{
    return statistic_formula(statistic)->discovery ? 0.0 : mu;
}

double statistic_other(paritas_test_statistic statistic)
{
    return statistic_formula(statistic)->discovery ? 1.0 : 0.0;
}

double statistic_q(paritas_test_statistic statistic, double mu, double mu_hat, double fixed, double free)
{
    const double q = fixed - free;
    return statistic_formula(statistic)->agrees(mu, mu_hat) || q < 0.0 ? 0.0 : q; /* NaN stays NaN */
}

double statistic_answer(paritas_test_statistic statistic, double clsb, double clb)
{
    return statistic_formula(statistic)->discovery ? clsb : clsb / clb;
}

paritas_status statistic_check_limit(paritas_context *context, paritas_test_statistic statistic)
{
    if (statistic_known(statistic) && !formulas[statistic]->discovery) return PARITAS_OK;
    const paritas_enumeration *all = paritas_enumeration_find("paritas_test_statistic");
    char words[200] = "";
    for (size_t i = 0; i < all->n; i++)
        if (!formulas[all->words[i].value]->discovery)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", words[0] ? " or " : "",
                     all->words[i].word);
    return paritas_refuse(context, "an upper limit needs the test statistic %s", words);
}
