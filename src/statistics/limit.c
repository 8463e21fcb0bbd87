/* limit.c: upper limits on the parameter of interest.
 *
 * A round tests one mu for each of the six curves without a root, as one batch (two fits a mu). First
 * proposals come from the free fits' variances. If CLs jumps at a root, tests are fitted from their
 * neighbours' points too. If tests show that a curve turns, more of them look for further crossings. */
#include "statistics/limit.h"
#include "minima/conditional_starts.h"
#include "base/math/host_math.h"
#include "base/sized.h"
#include "statistics/limit_search.h"
#include "base/math/probability.h"

#include <math.h>
#include <string.h>

#define GRID 16 /* further tests where a curve turns */

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

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 4.0 * LIMIT_ACCEPT * fabs(b);
}

/* The next tests of curves without a root. */
static paritas_status propose_roots(struct limit_search *s, size_t *n, double *mu)
{
    while (limit_search_propose(s)) {
        s->tests.careful = true;
        TRY(limit_tests_compare(&s->tests));
        if (s->tests.changed) {
            limit_search_restart(s);
            continue;
        }
        for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
            struct bracket *b = &s->brackets[curve];
            if (b->jump && !b->hopeless)
                limit_search_give_up(b, limit_search_has_answer(&s->tests, curve, b->high)
                                            ? PARITAS_REASON_JUMP
                                            : PARITAS_REASON_UNDEFINED);
        }
    }
    *n = limit_search_collect(s, mu, NULL);
    return PARITAS_OK;
}

/* From the best fit to twice the highest root, in geometric progression. */
static size_t spread_tests(const struct limit_search *s, size_t room, double *mu)
{
    const struct limit_tests *tests = &s->tests;
    const struct infer *infer = tests->a.infer;
    const double from = fmax(0.0, tests->a.data.parameters[infer->poi]), bound = infer->upper[infer->poi];
    double highest = 0.0, first = HUGE_VAL;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &s->brackets[curve];
        highest = fmax(highest, b->hopeless ? b->low : b->root);
        if (b->settled && b->root > from) first = fmin(first, b->root - from);
    }
    const double top = fmax(highest, fmin(2.0 * highest, bound));
    if (!(top > from)) return 0;
    first = fmax(fmin(first, s->scale), 1e-3 * (top - from));
    const double growth = host_log((top - from) / first);
    size_t n = 0;
    for (size_t i = 0; i < room; i++) {
        const double part = room > 1 ? (double)i / (double)(room - 1) : 1.0,
                     at = from + first * host_exp(part * growth);
        bool known = false;
        for (size_t k = 0; k < tests->n; k++) known = known || is_near(tests->points[k].mu, at);
        if (!known) mu[n++] = at;
    }
    return n;
}

/* All crossings but the limits. Those not yet near a test are proposed as tests. */
static size_t propose_crossings(struct limit_search *s, size_t room, double *mu)
{
    size_t n = 0;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        double all[PARITAS_CROSSINGS_MOST];
        const struct bracket *b = &s->brackets[curve];
        const size_t count = limit_search_crossings(&s->tests, curve, all);
        size_t kept = 0;
        for (size_t k = 0; k < PARITAS_CROSSINGS_MOST; k++) s->crossings[curve][k] = (double)NAN;
        for (size_t k = 0; k < count; k++) {
            if ((b->settled && !b->hopeless && is_near(all[k], b->root)) || all[k] < 1e-9 * s->scale)
                continue;
            s->crossings[curve][kept++] = all[k];
            bool known = false;
            for (size_t i = 0; i < s->tests.n; i++)
                known = known || fabs(s->tests.points[i].mu - all[k]) <= LIMIT_ACCEPT * all[k];
            for (size_t i = 0; i < n; i++) known = known || is_near(mu[i], all[k]);
            if (!known && n < room) mu[n++] = all[k];
        }
    }
    return n;
}

/* Beside a jump of CLs one test is in a higher minimum: the one whose profile stands above the other's. */
static bool is_above_jump(const struct limit_search *s, const struct asymptotic_point *point)
{
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &s->brackets[curve];
        if (!b->hopeless || b->reason != PARITAS_REASON_JUMP) continue;
        for (size_t i = 0; i < s->tests.n; i++) {
            const struct asymptotic_point *other = &s->tests.points[i];
            const bool ends = (point->mu == b->low && other->mu == b->high) ||
                              (point->mu == b->high && other->mu == b->low);
            const double data = point->data.twice_nll - other->data.twice_nll,
                         asimov = point->asimov.twice_nll - other->asimov.twice_nll;
            if (ends && (fabs(data) > fabs(asimov) ? data : asimov) > 0.0) return true;
        }
    }
    return false;
}

static void write_result(const struct limit_search *s, const paritas_limit_request *request,
                         paritas_limit_result *result)
{
    const struct limit_tests *tests = &s->tests;
    const struct asymptotic *a = &tests->a;
    const paritas_fit_status statuses[] = {[PARITAS_REASON_JUMP] = PARITAS_FIT_NO_PROGRESS,
                                           [PARITAS_REASON_UNDEFINED] = PARITAS_FIT_NON_FINITE,
                                           [PARITAS_REASON_NOT_REACHED] = PARITAS_FIT_AT_ITERATION_LIMIT};
    paritas_fit_status worst =
        infer_worse(infer_worse(a->data.result.status, a->asimov.result.status), a->status);
    for (size_t i = 0; i < tests->n; i++) {
        paritas_hypotest_result one = PARITAS_INIT(paritas_hypotest_result);
        asymptotic_result(a, &tests->points[i], &one);
        infer_put_bound(a->infer, &one.upper_bound, &one.bound_widened);
        if (is_above_jump(s, &tests->points[i]))
            one.status = infer_worse(one.status, PARITAS_FIT_NO_PROGRESS);
        worst = infer_worse(worst, infer_worse(tests->points[i].data.status, tests->points[i].asimov.status));
        insert(&one, i, request->scan_room, request->scan);
        result->mu_hat = one.mu_hat;
    }
    asymptotic_note_domain(a);
    result->n_scan = tests->n;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &s->brackets[curve];
        const bool observed = curve == ASYMPTOTIC_OBSERVED;
        const paritas_reason reason = b->hopeless  ? b->reason
                                      : b->settled ? PARITAS_REASON_FOUND
                                                   : PARITAS_REASON_NOT_REACHED;
        *(observed ? &result->limit_obs : &result->limit_exp[curve]) =
            reason == PARITAS_REASON_FOUND ? b->root : (double)NAN;
        *(observed ? &result->reason_obs : &result->reason_exp[curve]) = reason;
        memcpy(observed ? result->crossings_obs : result->crossings_exp[curve], s->crossings[curve],
               sizeof s->crossings[curve]);
        worst = infer_worse(worst, statuses[reason]);
    }
    infer_put_bound(a->infer, &result->upper_bound, &result->bound_widened);
    result->status = worst;
    result->several_minima = infer_has_several(&a->infer->minima);
    result->minima = a->infer->minima;
}

static void write_fits(const struct limit_search *s, struct limit_fits *fits)
{
    fits->free = s->tests.a.data.parameters;
    fits->origin = s->tests.a.asimov.start;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        double nearest = HUGE_VAL;
        fits->data[curve] = fits->asimov[curve] = NULL;
        const struct bracket *b = &s->brackets[curve];
        for (size_t i = 0; i < s->tests.n && b->settled && !b->hopeless; i++) {
            const struct asymptotic_point *point = &s->tests.points[i];
            const double distance = fabs(point->mu - b->root);
            if (!(distance < nearest)) continue;
            nearest = distance;
            fits->data[curve] = point->data.parameters;
            fits->asimov[curve] = point->asimov.parameters;
        }
    }
}

/* Does an answer depend on the test? */
static bool is_beside_answer(const struct limit_search *s, double mu)
{
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &s->brackets[curve];
        if (b->settled && !b->hopeless && is_near(mu, b->root)) return true;
        if (b->hopeless && (mu == b->low || mu == b->high)) return true;
        for (size_t k = 0; k < PARITAS_CROSSINGS_MOST; k++)
            if (is_near(mu, s->crossings[curve][k])) return true;
    }
    return false;
}

/* *fresh: some were not searched before. */
static paritas_status search_answers(struct limit_search *s, bool *fresh)
{
    size_t which[PARITAS_SCAN_MOST], n = 0;
    for (size_t i = 0; i < s->tests.n; i++)
        if (is_beside_answer(s, s->tests.points[i].mu)) which[n++] = i;
    return limit_tests_search(&s->tests, n, which, fresh);
}

/* A round: the values of the next tests. *n is 0: there is nothing left to test. */
static paritas_status propose(struct limit_search *s, size_t *n, double *mu)
{
    struct limit_tests *tests = &s->tests;
    bool fresh = false;
    TRY(propose_roots(s, n, mu));
    const size_t room = PARITAS_SCAN_MOST - tests->n;
    if (*n > 0) return PARITAS_OK;
    if (!s->spread && tests->n > 0 && limit_tests_turn(tests)) {
        s->spread = true;
        TRY(limit_tests_compare(tests));
        tests->careful = tests->changed = true;
        *n = spread_tests(s, room / 2 < GRID ? room / 2 : GRID, mu);
        return PARITAS_OK;
    }
    *n = propose_crossings(s, room, mu);
    if (*n == 0) TRY(search_answers(s, &fresh));
    return PARITAS_OK;
}

static paritas_status find_limits(struct infer *infer, struct limit_search *s)
{
    struct limit_tests *tests = &s->tests;
    double mu[PARITAS_SCAN_MOST], variance;
    TRY(limit_tests_open(tests, infer));
    TRY(infer_variance(infer, &tests->a.asimov, infer->poi, &variance));
    const double width = infer->upper[infer->poi] - infer->base.lower[infer->poi];
    s->scale = variance > 0.0 ? sqrt(variance) : width / 16.0;
    limit_search_restart(s);
    for (;;) {
        size_t n;
        TRY(propose(s, &n, mu));
        if (n == 0 && !tests->changed) return PARITAS_OK;
        if (n > PARITAS_SCAN_MOST - tests->n) break;
        if (n > 0) TRY(limit_tests_make(tests, n, mu));
        if (tests->changed) limit_search_restart(s);
        /* enough tests: from now on neighbours show lower minima */
        if (infer_has_several(&infer->minima) && tests->n > 2 * ASYMPTOTIC_CURVES) tests->careful = true;
    }
    propose_crossings(s, 0, mu);
    return PARITAS_OK;
}

paritas_status limit_asymptotic(struct infer *infer, const paritas_limit_request *request,
                                paritas_limit_result *result, struct limit_fits *fits)
{
    struct limit_search *search = infer_array(infer, 1, sizeof *search);
    TRY(infer_memory(infer));
    *result = (paritas_limit_result){.size = sizeof *result, .mu_hat = (double)NAN};
    search->tests.a.statistic = request->statistic;
    search->tests.log_level = host_log(request->level);
    TRY(find_limits(infer, search));
    write_result(search, request, result);
    if (fits) write_fits(search, fits);
    return PARITAS_OK;
}

paritas_status paritas_limit(paritas_context *context, const paritas_model *model, const paritas_job *job,
                             const paritas_limit_request *given, paritas_limit_result *result)
{
    REQUIRE(context, model);
    paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_limit_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_hypotest_result, "scan", request.scan_room, request.scan));
    TRY(SIZED_CHECK(context, paritas_limit_result, "result", 1, result));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = limit_asymptotic(&infer, &request, result, NULL);
    infer_close(&infer);
    return status;
}
