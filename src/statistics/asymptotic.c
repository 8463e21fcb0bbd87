/* asymptotic.c: tests by formulas, as pyhf's AsymptoticCalculator (base distribution "normal"). */
#include "statistics/asymptotic.h"
#include "minima/cancelling.h"
#include "minima/minimum_search.h"
#include "minima/lowest_points.h"
#include "base/math/host_math.h"
#include "fit/edges.h"
#include "fit/fit_rows.h"
#include "base/math/probability.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DATA_DIFFER 1e-2 /* of the counts' errors: other Asimov data */

enum asimov_change { ASIMOV_STAYS, ASIMOV_FOUND_OTHER, ASIMOV_MADE };

double asymptotic_q(double q, double q_asimov)
{
    return q_asimov == 0.0 && q < PARITAS_SAME_MINIMUM ? 0.0 : q;
}

struct statistic_shift asymptotic_shift(paritas_test_statistic statistic, int curve, double q,
                                        double q_asimov)
{
    if (curve != ASYMPTOTIC_OBSERVED) return (struct statistic_shift){.t = 2.0 - curve};
    return statistic_formula(statistic)->shift(asymptotic_q(q, q_asimov), q_asimov);
}

double paritas_asymptotic_shift(paritas_test_statistic statistic, double q, double q_asimov)
{
    if (!statistic_known(statistic)) return (double)NAN;
    return asymptotic_shift(statistic, ASYMPTOTIC_OBSERVED, q, q_asimov).t;
}

double asymptotic_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const double t = asymptotic_shift(statistic, curve, q, q_asimov).t, clb = normal_cdf(-t);
    if (clb < DBL_MIN && !statistic_formula(statistic)->discovery) /* a quotient of numbers that underflow */
        return host_exp(asymptotic_log_cls(statistic, curve, q, q_asimov));
    return statistic_answer(statistic, normal_cdf(-(t + sqrt(q_asimov))), clb);
}

double asymptotic_log_cls(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const double t = asymptotic_shift(statistic, curve, q, q_asimov).t,
                 log_clsb = normal_log_cdf(-(t + sqrt(q_asimov)));
    return statistic_formula(statistic)->discovery ? log_clsb : log_clsb - normal_log_cdf(-t);
}

/* Data NULL: the point is outside the domain. `cleared`: how many counts are 0 since an edge holds the fit;
 * NULL: they stay as rounding left them. */
static paritas_status make_asimov_data(const struct asymptotic *a, const double *parameters,
                                       struct infer_profile *profile, size_t *cleared)
{
    struct infer *infer = a->infer;
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, parameters, expected));
    if (cleared)
        TRY(edges_clear(infer->context, infer->model, parameters, infer->base.data, expected, cleared));
    *profile = (struct infer_profile){.data = expected, .start = parameters};
    for (size_t i = 0; i < infer->n_data; i++)
        if (!rows_is_datum(paritas_model_frozen(infer->model), i, expected[i]))
            *profile = (struct infer_profile){0};
    return PARITAS_OK;
}

/* The free fit of Asimov data. Without the counts of an edge it may not end where it starts: then they come
 * back, unless rounding made them negative. */
static paritas_status fit_asimov_data(const struct asymptotic *a, const double *parameters, size_t cleared,
                                      struct infer_profile *profile)
{
    struct infer_profile rounded;
    TRY(infer_free_fit(a->infer, profile));
    if (cleared == 0 || profile->result.status == PARITAS_FIT_CONVERGED) return PARITAS_OK;
    TRY(make_asimov_data(a, parameters, &rounded, NULL));
    if (!rounded.data) return PARITAS_OK;
    *profile = rounded;
    return infer_free_fit(a->infer, profile);
}

/* Another minimum may give the same expectation. */
static bool data_differ(const struct infer *infer, const double *a, const double *b)
{
    for (size_t i = 0; i < infer->n_data; i++)
        if (fabs(a[i] - b[i]) > DATA_DIFFER * sqrt(fmax(fabs(a[i]), 1.0))) return true;
    return false;
}

/* The Asimov data of a fit that is as low as theirs, if they differ. *found: they do. */
static paritas_status find_other_data(struct asymptotic *a, const struct infer_point *fit, bool *found)
{
    const double *ends[] = {fit->elsewhere, fit->parameters};
    struct infer_point end = *fit;
    size_t cleared = 0;
    for (size_t k = 0; k < 2 && !*found; k++) {
        end.parameters = ends[k];
        TRY(infer_polish(a->infer, &end));
        TRY(make_asimov_data(a, end.parameters, &a->other, &cleared));
        *found = a->other.data && data_differ(a->infer, a->asimov.data, a->other.data);
    }
    if (!*found) {
        a->other = (struct infer_profile){0};
        return PARITAS_OK;
    }
    TRY(fit_asimov_data(a, end.parameters, cleared, &a->other));
    a->other.is_lowest = true; /* no point is lower than where its data were made */
    return PARITAS_OK;
}

/* The Asimov data of the fit at mu', and their free fit. */
static paritas_status make_asimov(struct asymptotic *a, struct infer_point *fit)
{
    size_t cleared = 0;
    a->twice_nll = fit->twice_nll;
    TRY(infer_polish(a->infer, fit));
    a->status = fit->status;
    a->other = (struct infer_profile){0};
    TRY(make_asimov_data(a, fit->parameters, &a->asimov, &cleared));
    /* without a likelihood, where such a fit stops is chance, and so are its expected data */
    a->no_asimov = !a->asimov.data || a->status == PARITAS_FIT_NON_FINITE;
    if (a->no_asimov) a->asimov.data = a->data.data;
    TRY(fit_asimov_data(a, fit->parameters, a->no_asimov ? 0 : cleared, &a->asimov));
    a->asimov.is_lowest = !a->no_asimov; /* no point is lower than where its data were made */
    return PARITAS_OK;
}

/* The fit at mu'. Asimov data that were made before stay unless it is lower now. */
static paritas_status fit_background(struct asymptotic *a, enum asimov_change *change)
{
    struct infer *infer = a->infer;
    struct infer_point point = infer_point_at(infer, &a->data, statistic_other(a->statistic));
    point.place = true;
    TRY(infer_points(infer, 1, &point));
    const bool made = !a->asimov.data || (point.status == PARITAS_FIT_CONVERGED &&
                                          point.twice_nll < a->twice_nll - same_minimum(infer->context));
    bool found = false;
    if (made) TRY(make_asimov(a, &point));
    if (point.elsewhere && !a->no_asimov && !a->other.data) TRY(find_other_data(a, &point, &found));
    *change = made ? ASIMOV_MADE : found ? ASIMOV_FOUND_OTHER : ASIMOV_STAYS;
    return PARITAS_OK;
}

paritas_status asymptotic_open(struct asymptotic *a, struct infer *infer, paritas_test_statistic statistic)
{
    enum asimov_change change;
    memset(a, 0, sizeof *a);
    a->infer = infer;
    a->statistic = statistic;
    TRY(infer_check_tested(infer, infer->poi, statistic_other(statistic)));
    a->data.data = infer->base.data;
    TRY(infer_free_fit(infer, &a->data));
    TRY(fit_background(a, &change));
    a->reconsidered = minimum_search_is_suspicious(infer);
    return PARITAS_OK;
}

/* Where the best fit agrees with mu, q is 0 whatever the conditional fit is. */
static bool is_unread(const struct asymptotic *a, double mu)
{
    return statistic_formula(a->statistic)->agrees(mu, a->data.parameters[a->infer->poi]);
}

/* A lower free fit can make fits matter that did not. */
static paritas_status search_read(struct asymptotic *a, size_t n, struct infer_point *fits)
{
    bool read = false;
    for (size_t i = 0; i < n; i++) {
        const bool now = fits[i].unread && !is_unread(a, fits[i].value[0]);
        fits[i].unread = fits[i].unread && !now;
        read = read || now;
    }
    return read ? infer_points(a->infer, n, fits) : PARITAS_OK;
}

static paritas_status fit_tests(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes)
{
    struct infer *infer = a->infer;
    const size_t n_fits = a->other.data ? 3 * n : 2 * n;
    struct infer_point *fits = infer_array(infer, n_fits, sizeof *fits);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        fits[i] = infer_point_at(infer, &a->data, points[i].mu);
        fits[i].unread = is_unread(a, points[i].mu);
        fits[n + i] = infer_point_at(infer, &a->asimov, points[i].mu);
        if (a->other.data) fits[2 * n + i] = infer_point_at(infer, &a->other, points[i].mu);
    }
    TRY(infer_points(infer, n_fits, fits));
    TRY(search_read(a, n, fits));
    TRY(cancelling_note(infer, n, fits));
    if (slopes) TRY(infer_slopes(infer, 2 * n, fits));
    for (size_t i = 0; i < n; i++) {
        points[i].data = fits[i];
        points[i].asimov = fits[n + i];
        if (a->other.data) points[i].other = fits[2 * n + i];
    }
    return PARITAS_OK;
}

paritas_status asymptotic_reconsider(struct asymptotic *a, bool *remade)
{
    enum asimov_change change;
    *remade = false;
    if (a->reconsidered || a->infer->starts == 1 || !minimum_search_has_starts(a->infer)) return PARITAS_OK;
    a->reconsidered = true;
    TRY(fit_background(a, &change));
    a->remade = a->remade || change == ASIMOV_MADE;
    *remade = change != ASIMOV_STAYS;
    return PARITAS_OK;
}

paritas_status asymptotic_test(struct asymptotic *a, size_t n, struct asymptotic_point *points, bool slopes)
{
    bool remade;
    TRY(fit_tests(a, n, points, slopes));
    TRY(asymptotic_reconsider(a, &remade));
    return remade ? fit_tests(a, n, points, slopes) : PARITAS_OK;
}

static double q_of(const struct asymptotic *a, const struct infer_point *fit)
{
    const struct infer_profile *profile = fit->profile;
    return statistic_q(a->statistic, fit->value[0], profile->parameters[a->infer->poi], fit->twice_nll,
                       profile->result.twice_nll);
}

/* NaN where the Asimov data have no twin. */
static void put_other(const struct asymptotic *a, const struct asymptotic_point *point,
                      paritas_hypotest_result *result)
{
    const bool there = point->other.profile != NULL;
    const double q_asimov = there ? q_of(a, &point->other) : (double)NAN;
    result->q_asimov_other = q_asimov;
    result->cls_obs_other = asymptotic_cls(a->statistic, ASYMPTOTIC_OBSERVED, result->q, q_asimov);
    for (int i = 0; i < 5; i++)
        result->cls_exp_other[i] = asymptotic_cls(a->statistic, i, result->q, q_asimov);
    if (!there) return;
    result->status = infer_worse(result->status, infer_worse(a->other.result.status, point->other.status));
}

void asymptotic_result(const struct asymptotic *a, const struct asymptotic_point *point,
                       paritas_hypotest_result *result)
{
    const size_t poi = a->infer->poi;
    const double mu_hat = a->data.parameters[poi], q = q_of(a, &point->data),
                 q_asimov = a->no_asimov ? (double)NAN : q_of(a, &point->asimov);
    const double t = asymptotic_shift(a->statistic, ASYMPTOTIC_OBSERVED, q, q_asimov).t;
    *result = (paritas_hypotest_result)PARITAS_INIT(paritas_hypotest_result);
    result->mu = point->mu;
    result->q = q;
    result->q_asimov = q_asimov;
    result->mu_hat = mu_hat;
    result->clsb = normal_cdf(-(t + sqrt(q_asimov)));
    result->clb = normal_cdf(-t);
    result->p0 = statistic_formula(a->statistic)->discovery ? result->clsb : (double)NAN;
    result->cls_obs = asymptotic_cls(a->statistic, ASYMPTOTIC_OBSERVED, q, q_asimov);
    for (int i = 0; i < 5; i++) result->cls_exp[i] = asymptotic_cls(a->statistic, i, q, q_asimov);
    result->several_minima = infer_has_several(&a->infer->minima);
    result->minima = a->infer->minima;
    result->twice_nll_free = a->data.result.twice_nll;
    result->twice_nll_fixed = point->data.twice_nll;
    result->status = infer_worse(infer_worse(a->data.result.status, a->asimov.result.status), a->status);
    result->status = infer_worse(result->status, infer_worse(point->data.status, point->asimov.status));
    put_other(a, point, result);
    if (!isnan(result->cls_obs)) return;
    result->reason = PARITAS_REASON_UNDEFINED;
    result->status = infer_worse(result->status, PARITAS_FIT_NON_FINITE);
}

void asymptotic_note_domain(const struct asymptotic *a)
{
    const double mu_hat = a->data.parameters[a->infer->poi];
    if (!statistic_formula(a->statistic)->from_zero || !(mu_hat < 0.0)) return;
    paritas_note(
        a->infer->context,
        "the best fit of %s is %.4g, and qtilde is defined for best fits from 0 on: give the range a "
        "lower end of 0, or take the statistic q",
        paritas_model_parameter_name(a->infer->model, a->infer->poi), mu_hat);
}
