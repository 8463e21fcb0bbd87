/* toys_limit.c: upper limits by toys.
 *
 *   asymptotic limits ─► tested mu values ─► toys of both hypotheses ─► CLs of six curves, with errors
 *                          ▲          ▲                                   │
 *                          │          └─ more toys, if the error is       │
 *                          │             above rtol near a root ◄─────────┤
 *                          └─ a new value at a root without one near ◄────┘
 *
 * All curves share the mu values. A curve is z = Phi^-1(CLs) over mu, nearly straight (exactly, for CLs+b
 * of a Gaussian measurement). About its root m, with x = mu / m - 1, least squares over all values give
 *   z(x) = alpha + beta x + gamma x^2
 * The omitted REST |x|^3, and all of z beyond STRAIGHT from the level (CLs near 1, or few toys), count as
 * errors: far values have no weight in alpha. Priors help beta and gamma where values are few. beta is
 * -1.5 for CLs = e^-mu (nothing seen, no background; gamma 0.4), -2 for the median of a Gaussian
 * measurement, -3.7 for its +2 sigma.
 *
 * What is omitted and the priors have the same sign in each run, so they bias limits where errors of toys
 * average out. Weights count them AVERSION times: they stay well below the error.
 *
 * alpha is a weighted sum of z_i of unknown correlation: toy t has the same random numbers at every mu.
 * Unless a correlation is negative, the variance is at most (sum of weight * sigma over the positive
 * weights)^2 + (same over the negative ones)^2. The root's error is alpha's over |beta|. */
#include "statistics/asymptotic.h"
#include "base/sized.h"
#include "statistics/limit.h"
#include "base/math/probability.h"
#include "toys/toys.h"

#include <math.h>
#include <stdio.h>

#define CURVES ASYMPTOTIC_CURVES
#define FIRST_TOYS 1000
#define VALUES_ENOUGH 24 /* where those near a root have all their toys */
#define SAME_POINT 1e-3  /* relative; closer proposals are one */
#define SLOPE (-2.0)     /* beta's prior, its width, and gamma's */
#define SLOPE_WIDTH 1.5
#define CURVATURE_WIDTH 0.5
#define REST 0.5
#define STRAIGHT 1.5
#define AVERSION 10.0
/* Toys at the value nearest to a root, for an rtol of 1: fewer bias Phi^-1, and percentiles of few counts. */
#define LEAST_TOYS 10.0
#define SURE 3.0 /* standard errors */

struct tested {
    double mu;
    uint64_t toys, wished; /* of each hypothesis: now, and after this round */
    struct toy_test test;
    paritas_hypotest_toys_result result;
    double z[CURVES], sigma[CURVES]; /* Phi^-1(CLs) and its error; NaN: no answer */
};

enum root_state { ROOT_OPEN, ROOT_REACHED, ROOT_NOT_REACHED, ROOT_ABSENT };

struct root {
    enum root_state state;
    double at, error;
};

struct search {
    struct infer *infer;
    paritas_toys_options options;
    paritas_test_statistic statistic;
    struct store *store;
    /* z: of the level; near: useful toys' relative distance from a root; least: toys there; scale: typical mu
     */
    double z, rtol, near, least, widest, scale;
    size_t n;
    struct tested *points[PARITAS_SCAN_MOST];
    double proposed[CURVES];
    uint64_t proposed_toys[CURVES];
    size_t n_proposed;
    struct root roots[CURVES];
    struct known_fits known; /* of toys at mu' */
};

/* If no toy or every toy is as extreme, half a toy counts. That tells the side of the level. */
static void to_normal(double cls, double error, double *z, double *sigma)
{
    const double least = error < 0.8 ? 0.5 * error : 0.4;
    const double value = cls < least ? least : cls > 1.0 - least ? 1.0 - least : cls;
    *z = isnan(error) ? (double)NAN : normal_quantile(value);
    *sigma = error / normal_density(*z);
}

static paritas_status run_point(struct tested *point)
{
    TRY(toy_test_run(&point->test, point->toys, point->wished));
    TRY(toy_test_result(&point->test, &point->result));
    point->toys = point->wished;
    const paritas_hypotest_toys_result *r = &point->result;
    for (int i = 0; i < 5; i++) to_normal(r->cls_exp[i], r->cls_exp_error[i], &point->z[i], &point->sigma[i]);
    to_normal(r->cls_obs, r->cls_obs_error, &point->z[ASYMPTOTIC_OBSERVED],
              &point->sigma[ASYMPTOTIC_OBSERVED]);
    return PARITAS_OK;
}

static paritas_status add_point(struct search *s, double mu, uint64_t toys)
{
    struct infer *infer = s->infer;
    struct tested *point = infer_array(infer, 1, sizeof *point);
    TRY(infer_memory(infer));
    infer_widen(infer, mu);
    size_t at = s->n++;
    for (; at > 0 && s->points[at - 1]->mu > mu; at--) s->points[at] = s->points[at - 1];
    s->points[at] = point;
    point->mu = mu;
    point->wished = toys < s->options.n ? toys : s->options.n;
    TRY(toy_test_open(&point->test, infer, &s->options, s->statistic, mu, s->store));
    point->test.ensemble[TOY_OTHER].known = &s->known;
    return s->store && s->n == 1 ? toys_set_best_fit(s->store, &point->test.result) : PARITAS_OK;
}

static bool answered(const struct tested *point, int curve)
{
    return !isnan(point->z[curve]);
}

/* The observation is rarer than all toys: CLb is 0. */
static bool too_few(const struct tested *point)
{
    const paritas_hypotest_toys_result *r = &point->result;
    return r->n_tested > 0 && r->n_other > 0 && !isnan(r->q);
}

/* A curve about a mu. share: of each point. */
struct local {
    double alpha, beta, error, share[PARITAS_SCAN_MOST];
};

static void solve(double a[3][3], double b[2][3], double x[2][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++) {
            const double factor = a[k][i] / a[i][i];
            for (int j = i; j < 3; j++) a[k][j] -= factor * a[i][j];
            for (int side = 0; side < 2; side++) b[side][k] -= factor * b[side][i];
        }
    for (int side = 0; side < 2; side++)
        for (int i = 2; i >= 0; i--) {
            double sum = b[side][i];
            for (int j = i + 1; j < 3; j++) sum -= a[i][j] * x[side][j];
            x[side][i] = sum / a[i][i];
        }
}

static void expand(const struct search *s, int curve, double mu, struct local *local)
{
    const double aversion = AVERSION * AVERSION, slope_weight = 1.0 / (aversion * SLOPE_WIDTH * SLOPE_WIDTH),
                 curvature_weight = 1.0 / (aversion * CURVATURE_WIDTH * CURVATURE_WIDTH);
    double a[3][3] = {{0.0, 0.0, 0.0}, {0.0, slope_weight, 0.0}, {0.0, 0.0, curvature_weight}},
           b[2][3] = {{0.0, slope_weight * SLOPE, 0.0}, {1.0, 0.0, 0.0}}, x[2][3];
    double weight[PARITAS_SCAN_MOST], rest[PARITAS_SCAN_MOST];
    for (size_t i = 0; i < s->n; i++) {
        const struct tested *point = s->points[i];
        weight[i] = 0.0;
        if (!answered(point, curve)) continue;
        const double d = point->mu / mu - 1.0, power[3] = {1.0, d, d * d}, sigma = point->sigma[curve];
        const double away = fabs(point->z[curve] - s->z) - STRAIGHT;
        rest[i] = REST * fabs(d * d * d) + (away > 0.0 ? away : 0.0);
        weight[i] = 1.0 / (sigma * sigma + aversion * rest[i] * rest[i]);
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++) a[k][j] += weight[i] * power[k] * power[j];
            b[0][k] += weight[i] * power[k] * point->z[curve];
        }
    }
    solve(a, b, x);
    local->alpha = x[0][0];
    local->beta = x[0][1] < -0.2 ? x[0][1] : -0.2;
    double plus = 0.0, minus = 0.0, left_out = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        local->share[i] = 0.0;
        if (weight[i] == 0.0) continue;
        const double d = s->points[i]->mu / mu - 1.0, w = weight[i] * (x[1][0] + d * (x[1][1] + d * x[1][2]));
        local->share[i] = fabs(w) * s->points[i]->sigma[curve];
        if (w > 0.0)
            plus += local->share[i];
        else
            minus += local->share[i];
        left_out += fabs(w) * rest[i];
    }
    const double slope = x[1][1] * slope_weight * SLOPE_WIDTH,
                 curvature = x[1][2] * curvature_weight * CURVATURE_WIDTH;
    local->error =
        sqrt(plus * plus + minus * minus + left_out * left_out + slope * slope + curvature * curvature);
}

/* Finds the root between the last value surely above the level and the next surely below, else from half the
 * smallest to twice the largest value. Returns false if no value has an answer. */
static bool find_curve_root(const struct search *s, int curve, struct local *local, double *root)
{
    double low = 0.0, high = 0.0, m = 0.0, least = HUGE_VAL;
    for (size_t i = 0; i < s->n; i++) {
        const struct tested *point = s->points[i];
        if (!answered(point, curve)) continue;
        if (low == 0.0) low = 0.5 * point->mu;
        high = 2.0 * point->mu;
        if (point->z[curve] - s->z > SURE * point->sigma[curve]) low = point->mu;
    }
    if (high == 0.0) return false;
    for (size_t i = s->n; i-- > 0 && s->points[i]->mu >= low;)
        if (answered(s->points[i], curve) &&
            s->z - s->points[i]->z[curve] > SURE * s->points[i]->sigma[curve])
            high = s->points[i]->mu;
    for (size_t i = 0; i < s->n; i++) {
        const struct tested *point = s->points[i];
        const double distance = fabs(point->z[curve] - s->z);
        if (!answered(point, curve) || point->mu < low || point->mu > high || distance > least) continue;
        m = point->mu;
        least = distance;
    }
    for (int i = 0; i < 60; i++) { /* Newton; short steps, as the expansion holds no further */
        expand(s, curve, m, local);
        double step = (s->z - local->alpha) / local->beta;
        step = step > 0.3 ? 0.3 : step > -0.3 ? step : -0.3;
        if (i > 30) step *= 0.5;
        const double next = m * (1.0 + step), bounded = next < low ? low : next > high ? high : next;
        const bool done = fabs(bounded - m) < 1e-9 * m;
        m = bounded;
        if (done) break;
    }
    expand(s, curve, m, local);
    *root = m;
    return true;
}

/* `factor` is at most 2; false: no more toys allowed. */
static bool raise_toys(const struct search *s, struct tested *point, double factor)
{
    if (point->toys >= s->options.n) return false;
    const double wished = (double)point->toys * (factor < 1.1 ? 1.1 : factor < 2.0 ? factor : 2.0);
    const uint64_t toys = wished < (double)s->options.n ? (uint64_t)wished : s->options.n;
    if (toys > point->wished) point->wished = toys;
    return true;
}

/* Adds toys if mu exists already; false: no toys or places left. */
static bool propose(struct search *s, double mu, uint64_t toys)
{
    if (mu > s->widest) mu = s->widest;
    for (size_t i = 0; i < s->n; i++)
        if (fabs(s->points[i]->mu - mu) <= SAME_POINT * mu) return raise_toys(s, s->points[i], 2.0);
    for (size_t i = 0; i < s->n_proposed; i++)
        if (fabs(s->proposed[i] - mu) <= SAME_POINT * mu) {
            if (s->proposed_toys[i] < toys) s->proposed_toys[i] = toys;
            return true;
        }
    if (s->n + s->n_proposed == PARITAS_SCAN_MOST) return false;
    s->proposed[s->n_proposed] = mu;
    s->proposed_toys[s->n_proposed++] = toys;
    return true;
}

/* Gives a curve without answers more toys, or where fits fail a mu nearer to 0, which is easier. An
 * observation that is rarer than all toys is as rare there. */
static enum root_state seek_answer(struct search *s)
{
    bool more = false, rare = false;
    for (size_t i = 0; i < s->n; i++) {
        if (!too_few(s->points[i])) continue;
        rare = true;
        more = raise_toys(s, s->points[i], 2.0) || more;
    }
    if (rare) return more ? ROOT_OPEN : ROOT_NOT_REACHED;
    if (s->points[0]->mu < 1e-3 * s->scale) return ROOT_NOT_REACHED;
    return propose(s, 0.5 * s->points[0]->mu, FIRST_TOYS) ? ROOT_OPEN : ROOT_NOT_REACHED;
}

/* A new mu at the root, or more toys. */
static enum root_state improve(struct search *s, int curve, const struct local *local,
                               const struct root *root)
{
    size_t nearest = 0, first = s->n, last = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!answered(s->points[i], curve)) continue;
        if (first == s->n) nearest = first = i;
        last = i;
        if (fabs(s->points[i]->mu - root->at) < fabs(s->points[nearest]->mu - root->at)) nearest = i;
    }
    struct tested *point = s->points[nearest];
    const double distance = fabs(point->mu - root->at) / root->at,
                 factor = root->error / (s->rtol * root->at);
    const uint64_t most = s->options.n;
    if (factor <= 1.0) { /* the slope from there to the root must not matter */
        if (distance > 0.5 * s->near && s->n < VALUES_ENOUGH && propose(s, root->at, (uint64_t)s->least))
            return ROOT_OPEN;
        return (double)point->toys < s->least && raise_toys(s, point, 2.0) ? ROOT_OPEN : ROOT_REACHED;
    }
    if (distance > 2.0 * s->near) {
        /* errors may have moved the root beyond this edge: toys first */
        const bool beyond = root->at < s->points[first]->mu || root->at > s->points[last]->mu;
        const bool sure = fabs(point->z[curve] - s->z) > SURE * point->sigma[curve];
        /* without more of them each root would lie beyond the last, however far */
        if (beyond && !sure) return raise_toys(s, point, 2.0) ? ROOT_OPEN : ROOT_NOT_REACHED;
        if (root->at < 1e-9 * s->scale || (root->at > s->widest && point->mu >= s->widest))
            return sure ? ROOT_ABSENT : ROOT_NOT_REACHED;
        double mu = root->at;
        /* without an answer: counts as beyond the root */
        struct tested *silent = last + 1 < s->n ? s->points[last + 1] : NULL;
        if (silent && mu >= silent->mu) {
            if (too_few(silent) && raise_toys(s, silent, 2.0)) return ROOT_OPEN;
            if (silent->mu - point->mu < 2.0 * s->near * point->mu) return ROOT_NOT_REACHED;
            mu = 0.5 * (silent->mu + point->mu);
        }
        return propose(s, mu, FIRST_TOYS) ? ROOT_OPEN : ROOT_NOT_REACHED;
    }
    /* much precision is missing and no value is close: a value at the root beats many toys */
    if (distance > s->near && factor > 1.5 && root->error < s->near * root->at && 2 * point->toys <= most &&
        propose(s, root->at, 2 * point->toys))
        return ROOT_OPEN;
    struct tested *best = NULL; /* where a toy reduces the error most */
    double gain = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const double one = local->share[i] / (double)s->points[i]->toys;
        if (s->points[i]->toys < most && local->share[i] > 0.1 * local->error && one > gain) {
            best = s->points[i];
            gain = one;
        }
    }
    if (best) return raise_toys(s, best, factor * factor) ? ROOT_OPEN : ROOT_NOT_REACHED;
    return s->n < VALUES_ENOUGH && propose(s, root->at, point->toys) ? ROOT_OPEN : ROOT_NOT_REACHED;
}

static void plan(struct search *s, int curve)
{
    struct root *root = &s->roots[curve];
    struct local local;
    root->at = root->error = (double)NAN;
    if (!find_curve_root(s, curve, &local, &root->at)) {
        root->state = seek_answer(s);
        return;
    }
    root->error = root->at * local.error / fabs(local.beta);
    root->state = improve(s, curve, &local, root);
    if (root->state == ROOT_ABSENT || root->at > s->widest) root->at = root->error = (double)NAN;
}

/* The asymptotic limits, or else one mu within the bounds. */
static void propose_first(struct search *s, const paritas_limit_result *asymptotic)
{
    for (int curve = 0; curve < CURVES; curve++) {
        const double mu = curve == ASYMPTOTIC_OBSERVED ? asymptotic->limit_obs : asymptotic->limit_exp[curve];
        bool near = !(mu > 0.0) || !isfinite(mu);
        for (size_t i = 0; i < s->n_proposed; i++)
            near = near || fabs(s->proposed[i] - mu) < 0.5 * s->near * mu;
        if (!near) propose(s, mu, FIRST_TOYS);
    }
    const double upper = s->infer->upper[s->infer->poi];
    if (s->n_proposed == 0) propose(s, upper < 2.0 ? 0.5 * upper : 1.0, FIRST_TOYS);
    s->scale = s->proposed[0];
}

static paritas_status run_round(struct search *s)
{
    for (size_t i = 0; i < s->n_proposed; i++) TRY(add_point(s, s->proposed[i], s->proposed_toys[i]));
    s->n_proposed = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->points[i]->wished > s->points[i]->toys) TRY(run_point(s->points[i]));
    return PARITAS_OK;
}

/* Ends, as points and toys are limited. */
static paritas_status run_rounds(struct search *s)
{
    for (bool open = true; open;) {
        TRY(run_round(s));
        open = false;
        for (int curve = 0; curve < CURVES; curve++) {
            plan(s, curve);
            open = open || s->roots[curve].state == ROOT_OPEN;
        }
    }
    return PARITAS_OK;
}

/* Curves 0 to 4 ascend at each mu, and so do their roots. Errors may turn some around: these get their mean,
 * weighted by the errors. Returns how many. */
static size_t order_bands(struct search *s)
{
    struct pool {
        double at, weight;
        size_t n, curve[CURVES];
    } pools[CURVES];
    size_t n = 0, turned = 0;
    for (size_t i = 0; i < ASYMPTOTIC_OBSERVED; i++) {
        const struct root *root = &s->roots[i];
        if (isnan(root->at) || !(root->error > 0.0 && isfinite(root->error))) continue;
        pools[n++] = (struct pool){root->at, 1.0 / (root->error * root->error), 1, {i}};
        for (; n > 1 && pools[n - 2].at > pools[n - 1].at; n--) {
            struct pool *a = &pools[n - 2], *b = &pools[n - 1];
            a->at = (a->weight * a->at + b->weight * b->at) / (a->weight + b->weight);
            a->weight += b->weight;
            for (size_t k = 0; k < b->n; k++) a->curve[a->n++] = b->curve[k];
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; pools[j].n > 1 && k < pools[j].n; k++, turned++)
            s->roots[pools[j].curve[k]].at = pools[j].at;
    return turned;
}

static void write_result(const struct search *s, const paritas_limit_result *asymptotic,
                         const paritas_limit_toys_request *request, paritas_limit_toys_result *result)
{
    const struct root *observed = &s->roots[ASYMPTOTIC_OBSERVED];
    result->limit_obs = observed->at;
    result->limit_obs_error = observed->error;
    result->reached_obs = observed->state != ROOT_NOT_REACHED;
    result->asymptotic_obs = asymptotic->limit_obs;
    for (int i = 0; i < 5; i++) {
        result->limit_exp[i] = s->roots[i].at;
        result->limit_exp_error[i] = s->roots[i].error;
        result->reached_exp[i] = s->roots[i].state != ROOT_NOT_REACHED;
        result->asymptotic_exp[i] = asymptotic->limit_exp[i];
    }
    infer_put_bound(s->infer, &result->upper_bound, &result->bound_widened);
    result->n_scan = s->n;
    for (size_t i = 0; i < s->n; i++) {
        const paritas_hypotest_toys_result *r = &s->points[i]->result;
        if (i < request->scan_room) request->scan[i] = *r;
        result->mu_hat = r->mu_hat;
        result->twice_nll_free = r->twice_nll_free;
        result->status = infer_worse(result->status, r->status);
        result->several_minima = result->several_minima || r->several_minima;
        infer_add_minima(&result->minima, &r->minima);
        toys_add_tally(&result->tally, &r->tally);
    }
}

/* The key has the level, as it decides which mu are tested. */
static paritas_status open_store(struct search *s, double level)
{
    char number[40];
    snprintf(number, sizeof number, "%.17g", level);
    const struct toys_key key = {.what = "limit",
                                 .kind = STORE_TESTS,
                                 .statistic = paritas_test_statistic_name(s->statistic),
                                 .mu = (double)NAN,
                                 .n_entries = 1,
                                 .entries = &(paritas_key_entry){"level", number}};
    return toys_open_store(s->infer, &s->options, &key, &s->store);
}

static paritas_status limit_toys(struct search *s, const paritas_limit_toys_request *request,
                                 paritas_limit_toys_result *result)
{
    const paritas_limit_request by_formula = {.statistic = request->statistic, .level = request->level};
    paritas_limit_result asymptotic;
    s->widest = s->infer->widening.widest[s->infer->poi];
    TRY(open_store(s, request->level));
    TRY(limit_asymptotic(s->infer, &by_formula, &asymptotic, NULL));
    propose_first(s, &asymptotic);
    TRY(run_rounds(s));
    const size_t turned = order_bands(s);
    if (turned > 0)
        paritas_note(s->infer->context,
                     "%zu expected limits were out of order, as toys are few: they got their mean; --ntoys "
                     "asks for more",
                     turned);
    write_result(s, &asymptotic, request, result);
    return PARITAS_OK;
}

paritas_status paritas_limit_toys(paritas_context *context, const paritas_model *model,
                                  const paritas_job *job, const paritas_limit_toys_request *given,
                                  const paritas_toys_options *given_options,
                                  paritas_limit_toys_result *result)
{
    REQUIRE(context, model);
    paritas_toys_options options;
    paritas_limit_toys_request request = PARITAS_LIMIT_TOYS_REQUEST_DEFAULT;
    uint64_t first, end;
    TRY(OPTIONS_READ(context, paritas_limit_toys_request, "request", given, &request));
    TRY(toys_take_options(context, given_options, &options));
    TRY(SIZED_CHECK(context, paritas_hypotest_toys_result, "scan", request.scan_room, request.scan));
    TRY(SIZED_CHECK(context, paritas_limit_toys_result, "result", 1, result));
    if (options.n == 0) options.n = PARITAS_LIMIT_TOYS;
    *result = (paritas_limit_toys_result)PARITAS_INIT(paritas_limit_toys_result);
    TRY(toys_refuse_shards(context, &options, "a limit"));
    TRY(toys_share(context, &options, &first, &end));
    struct infer infer;
    struct search search = {.infer = &infer,
                            .options = options,
                            .statistic = request.statistic,
                            .z = normal_quantile(request.level),
                            .rtol = request.rtol,
                            .near = request.rtol < 0.25 ? 0.4 * sqrt(request.rtol) : 0.2,
                            .least = LEAST_TOYS / (request.rtol * request.rtol)};
    paritas_status status = infer_open_for_toys(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = limit_toys(&search, &request, result);
    for (size_t i = 0; i < search.n; i++) toy_test_close(&search.points[i]->test);
    known_fits_free(context, &search.known);
    store_close(search.store);
    infer_close(&infer);
    return status;
}
