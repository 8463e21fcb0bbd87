/* limit.c: upper limits on the parameter of interest.
 *
 * A round fits one mu for each of the six curves without a root, as one batch (two fits a mu). CLs(mu)
 * follows from the interpolated observed and Asimov profiles (cls_curve.h). First proposals come from the
 * free fits' variances. Roots must be within ACCEPT of a fitted point; interpolation adds its square. */
#include "infer/limit.h"
#include "base/host_math.h"
#include "base/sized.h"
#include "infer/asymptotic.h"
#include "infer/cls_curve.h"
#include "infer/probability.h"

#include <math.h>
#include <string.h>

#define WIDEN_MAX 1048576.0 /* largest factor of the POI's interval */
#define ACCEPT 2e-5         /* relative distance of a root from the nearest fitted point */
#define SAME_POINT 1e-7     /* relative; closer proposals are fitted once */

struct search {
    struct asymptotic a;
    double log_level, widest;
    size_t n;
    struct asymptotic_point points[PARITAS_SCAN_MOST]; /* in fitting order */
    struct curve data, asimov;                         /* twice the NLL over mu */
};

/* CLs is above the level at `low`, below at `high`. */
struct bracket {
    double low, high; /* high: HUGE_VAL while unknown */
    double root;      /* NaN while unknown */
    bool settled, hopeless;
};

struct curve_of_search {
    const struct search *search;
    int curve;
};

static double log_excess(const struct search *s, int curve, double mu, double fixed, double fixed_asimov)
{
    const struct asymptotic *a = &s->a;
    size_t poi = a->infer->poi;
    double q = statistic_q(a->statistic, mu, a->data.parameters[poi], fixed, a->data.result.twice_nll);
    double q_asimov =
        statistic_q(a->statistic, mu, a->asimov.parameters[poi], fixed_asimov, a->asimov.result.twice_nll);
    return asymptotic_log_cls(a->statistic, curve, q, q_asimov) - s->log_level;
}

static double interpolated(const void *user, double mu)
{
    const struct curve_of_search *c = user;
    /* no exclusion at mu': q_A and the statistic have no scale */
    if (!(mu > 0.0)) return 700.0;
    return log_excess(c->search, c->curve, mu, curve_value(&c->search->data, mu),
                      curve_value(&c->search->asimov, mu));
}

static paritas_status rebuild_curves(struct search *s)
{
    struct infer *infer = s->a.infer;
    struct infer_profile *profiles[2] = {&s->a.data, &s->a.asimov};
    struct curve *curves[2] = {&s->data, &s->asimov};
    for (int k = 0; k < 2; k++) {
        double slope, variance;
        TRY(infer_free_slope(infer, profiles[k], infer->poi, &slope));
        TRY(infer_variance(infer, profiles[k], infer->poi, &variance));
        curves[k]->n = 0;
        curves[k]->curvature = 2.0 / variance;
        curve_add(curves[k], profiles[k]->parameters[infer->poi], profiles[k]->result.twice_nll, slope);
        for (size_t i = 0; i < s->n; i++) {
            const struct infer_point *point = k == 0 ? &s->points[i].data : &s->points[i].asimov;
            curve_add(curves[k], s->points[i].mu, point->twice_nll, point->slope);
        }
    }
    return PARITAS_OK;
}

double limit_widest(const struct infer *infer)
{
    const double lower = infer->base.lower[infer->poi];
    return lower + WIDEN_MAX * (infer->upper[infer->poi] - lower);
}

void limit_widen(struct infer *infer, double mu, double widest)
{
    double *upper = &infer->upper[infer->poi];
    const double lower = infer->base.lower[infer->poi];
    while (*upper < mu) *upper = lower + 2.0 * (*upper - lower);
    if (*upper > widest) *upper = widest;
}

/* Repeats a free fit that the old bound held back. */
static paritas_status widen(struct search *s, double mu, paritas_limit_result *result)
{
    struct infer *infer = s->a.infer;
    size_t poi = infer->poi;
    limit_widen(infer, mu, s->widest);
    result->bound_widened = 1;
    if (s->a.data.states[poi] != PARITAS_PARAMETER_AT_UPPER_BOUND) return PARITAS_OK;
    s->a.data.start = s->a.data.parameters;
    return infer_free_fit(infer, &s->a.data);
}

static paritas_status test(struct search *s, size_t n, const double *mu)
{
    double free = s->a.data.result.twice_nll;
    struct asymptotic_point *fresh = s->points + s->n;
    for (size_t i = 0; i < n; i++) fresh[i].mu = mu[i];
    TRY(asymptotic_test(&s->a, n, fresh, true));
    s->n += n;
    if (s->a.data.result.twice_nll < free - same_minimum(s->a.infer->context))
        TRY(asymptotic_test(&s->a, s->n, s->points, true));
    return rebuild_curves(s);
}

/* A point without an answer counts as beyond the root. */
static void update_bracket(const struct search *s, int curve, struct bracket *bracket)
{
    bracket->low = 0.0;
    bracket->high = HUGE_VAL;
    for (size_t i = 0; i < s->n; i++) {
        const struct asymptotic_point *point = &s->points[i];
        double f = log_excess(s, curve, point->mu, point->data.twice_nll, point->asimov.twice_nll);
        if (f >= 0.0 && point->mu > bracket->low && point->mu < bracket->high) bracket->low = point->mu;
        if (!(f >= 0.0) && point->mu < bracket->high) bracket->high = point->mu;
    }
    if (bracket->low > bracket->high) bracket->low = 0.0;
}

static void propose(const struct search *s, int curve, double scale, struct bracket *bracket)
{
    struct curve_of_search c = {s, curve};
    update_bracket(s, curve, bracket);
    double high = bracket->high, root;
    if (high == HUGE_VAL) {
        double step = scale;
        for (high = bracket->low + step; high < s->widest && !(interpolated(&c, high) < 0.0); high += step)
            step *= 2.0;
        if (high > s->widest) high = s->widest;
    }
    if (interpolated(&c, high) < 0.0) {
        root = find_root(interpolated, &c, bracket->low, high);
    } else if (bracket->high == HUGE_VAL) {
        bracket->hopeless = true; /* CLs stays above the level up to the widest bound */
        return;
    } else {
        root = 0.5 * (bracket->low + high); /* no answer at `high`: halve */
    }
    if (root < 1e-9 * scale) bracket->hopeless = true;
    bracket->root = root;
    for (size_t i = 0; i < s->n; i++) {
        bool answered = isfinite(s->points[i].data.twice_nll) && isfinite(s->points[i].asimov.twice_nll);
        if (answered && fabs(s->points[i].mu - root) <= ACCEPT * fabs(root)) bracket->settled = true;
    }
}

/* Ascending, without doubles. */
static size_t collect(struct bracket *brackets, double *mu)
{
    size_t n = 0;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &brackets[curve];
        if (b->settled || b->hopeless) continue;
        bool known = false;
        for (size_t i = 0; i < n; i++) known = known || fabs(mu[i] - b->root) <= SAME_POINT * fabs(b->root);
        if (known) continue;
        size_t at = n++;
        for (; at > 0 && mu[at - 1] > b->root; at--) mu[at] = mu[at - 1];
        mu[at] = b->root;
    }
    return n;
}

/* Sorted by mu; if full, the last test falls out. */
static void insert(const paritas_hypotest_result *one, size_t n, size_t room, paritas_hypotest_result *scan)
{
    size_t at = n < room ? n : room;
    while (at > 0 && scan[at - 1].mu > one->mu) {
        if (at < room) scan[at] = scan[at - 1];
        at--;
    }
    if (at < room) scan[at] = *one;
}

static void write_result(const struct search *s, const struct bracket *brackets,
                         const paritas_limit_request *request, paritas_limit_result *result)
{
    paritas_fit_status worst =
        infer_worse(infer_worse(s->a.data.result.status, s->a.asimov.result.status), s->a.status);
    for (size_t i = 0; i < s->n; i++) {
        paritas_hypotest_result one = PARITAS_INIT(paritas_hypotest_result);
        asymptotic_result(&s->a, &s->points[i], &one);
        worst = infer_worse(worst, one.status);
        insert(&one, i, request->scan_room, request->scan);
        result->mu_hat = one.mu_hat;
    }
    result->n_scan = s->n;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &brackets[curve];
        double limit = b->settled ? b->root : (double)NAN;
        /* no root is an answer; a root not reached is a failure */
        if (!b->settled && !b->hopeless) worst = infer_worse(worst, PARITAS_FIT_AT_ITERATION_LIMIT);
        if (curve == ASYMPTOTIC_OBSERVED)
            result->limit_obs = limit;
        else
            result->limit_exp[curve] = limit;
    }
    result->upper_bound = s->a.infer->upper[s->a.infer->poi];
    result->status = worst;
}

static void write_fits(const struct search *s, const struct bracket *brackets, struct limit_fits *fits)
{
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        double nearest = HUGE_VAL;
        fits->data[curve] = fits->asimov[curve] = NULL;
        for (size_t i = 0; i < s->n && brackets[curve].settled; i++) {
            const double distance = fabs(s->points[i].mu - brackets[curve].root);
            if (!(distance < nearest)) continue;
            nearest = distance;
            fits->data[curve] = s->points[i].data.parameters;
            fits->asimov[curve] = s->points[i].asimov.parameters;
        }
    }
}

static paritas_status limit(struct infer *infer, struct search *s, const paritas_limit_request *request,
                            paritas_limit_result *result, struct limit_fits *fits)
{
    struct bracket brackets[ASYMPTOTIC_CURVES];
    double mu[ASYMPTOTIC_CURVES], variance;
    memset(brackets, 0, sizeof brackets);
    TRY(asymptotic_open(&s->a, infer, s->a.statistic));
    TRY(rebuild_curves(s));
    TRY(infer_variance(infer, &s->a.asimov, infer->poi, &variance));
    size_t poi = infer->poi;
    double width = infer->upper[poi] - infer->base.lower[poi];
    double scale = variance > 0.0 ? sqrt(variance) : width / 16.0;
    s->widest = limit_widest(infer);
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) brackets[curve].hopeless = s->a.no_asimov;
    for (;;) {
        for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++)
            if (!brackets[curve].settled && !brackets[curve].hopeless)
                propose(s, curve, scale, &brackets[curve]);
        size_t n = collect(brackets, mu);
        if (n == 0 || s->n + n > PARITAS_SCAN_MOST) break;
        if (mu[n - 1] > infer->upper[poi]) TRY(widen(s, mu[n - 1], result));
        TRY(test(s, n, mu));
    }
    write_result(s, brackets, request, result);
    if (fits != NULL) write_fits(s, brackets, fits);
    return PARITAS_OK;
}

paritas_status limit_check(paritas_context *context, paritas_test_statistic statistic, double level)
{
    TRY(statistic_check_limit(context, statistic));
    if (!(level > 0.0 && level < 1.0))
        return paritas_refuse(context, "level %.10g does not lie between 0 and 1", level);
    return PARITAS_OK;
}

paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits)
{
    struct search *search = infer_array(infer, 1, sizeof *search);
    TRY(infer_memory(infer));
    *result = (paritas_limit_result){.size = sizeof *result, .mu_hat = (double)NAN};
    search->a.statistic = request->statistic;
    search->log_level = host_log(request->level);
    return limit(infer, search, request, result, fits);
}

paritas_status paritas_limit(paritas_context *context, const paritas_model *model, const paritas_job *job,
                             const paritas_limit_request *given, paritas_limit_result *result)
{
    REQUIRE(context, model);
    paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_limit_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_hypotest_result, "scan", request.scan_room, request.scan));
    TRY(SIZED_CHECK(context, paritas_limit_result, "result", 1, result));
    TRY(limit_check(context, request.statistic, request.level));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = limit_asymptotic(&infer, &request, result, NULL);
    infer_close(&infer);
    return status;
}
