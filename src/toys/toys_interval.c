/* toys_interval.c: intervals of Feldman and Cousins by toys.
 *
 *   best fit ─► steps outward, doubled until a value is out ─► bisection ─► an edge and its error
 *
 * Toy t has the same random numbers at every value, so that p-values of neighbours fluctuate together. */
#include "base/sized.h"
#include "minima/conditional_starts.h"
#include "minima/lowest_points.h"
#include "minima/minimum_search.h"
#include "base/math/probability.h"
#include "toys/toys.h"

#include <math.h>
#include <stdio.h>

#define ROOM 8.0    /* half widths, some 13 to 16 standard deviations */
#define STEPS_OUT 3 /* beyond an edge whose error is not known yet */

struct tested {
    double mu;
    paritas_hypotest_toys_result result; /* clsb: the p-value */
};

/* One count over the toys of all values. How many values will be tested is a guess, and grows. */
struct interval_progress {
    paritas_progress report;
    void *user;
    bool counts; /* the launches running now are a value's toys */
    uint64_t before, total;
};

struct interval {
    struct infer *infer;
    paritas_toys_options options;
    struct store *store;
    double level;
    uint64_t end; /* toys of each value */
    double best, reach, resolution;
    struct interval_progress progress;
    size_t n;
    struct tested points[PARITAS_SCAN_MOST]; /* ascending */
};

/* The data have no probability at mu, which no toy needs to tell. */
static bool is_impossible(const struct toy_test *test)
{
    return test->data.result.status == PARITAS_FIT_CONVERGED &&
           test->point[TOY_TESTED].status == PARITAS_FIT_NON_FINITE;
}

static int tell(void *user, uint64_t done, uint64_t total)
{
    struct interval_progress *p = user;
    (void)total;
    if (!p->counts) return p->report(p->user, p->before, p->total); /* it can still end the call */
    if (p->before + done > p->total) p->total = p->before + done;
    return p->report(p->user, p->before + done, p->total);
}

/* Toys of a usual search: of an edge two steps outward, bisections, and one value surely out. */
static uint64_t expected_toys(const struct interval *s, double rtol)
{
    uint64_t values = 2 * 3;
    for (double bracket = 1.0; bracket > rtol; bracket *= 0.5) values += 2;
    return s->end * values;
}

static paritas_status run_toys(struct interval *s, double mu, paritas_hypotest_toys_result *result)
{
    struct toy_test test = {.store = NULL};
    paritas_status status = toy_test_open(&test, s->infer, &s->options, STATISTIC_TWO_SIDED, mu, s->store);
    if (status == PARITAS_NOT_CONVERGED && is_impossible(&test)) {
        result->mu = mu;
        result->mu_hat = s->best;
        result->q = HUGE_VAL;
        toy_test_close(&test);
        return PARITAS_OK;
    }
    if (status == PARITAS_OK && s->store && s->n == 0) status = toys_set_best_fit(s->store, &test.result);
    s->progress.counts = true;
    if (status == PARITAS_OK) status = toy_test_run(&test, 0, s->end);
    s->progress.counts = false;
    s->progress.before += s->end;
    if (status == PARITAS_OK) status = toy_test_result(&test, result);
    toy_test_close(&test);
    return status;
}

/* Widens the upper bound so far that it does not cut the best fits of toys drawn at mu: cut fits lower t. */
static void make_room(struct interval *s, double mu)
{
    const double away = fabs(mu - s->best), wanted = s->best + ROOM * (away > s->reach ? away : s->reach);
    infer_widen(s->infer, wanted);
}

/* *in: mu is in the set. A value whose toys have no answer is not. */
static paritas_status test_value(struct interval *s, double mu, bool *in)
{
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    make_room(s, mu);
    TRY(run_toys(s, mu, &result));
    size_t at = s->n++;
    for (; at > 0 && s->points[at - 1].mu > mu; at--) s->points[at] = s->points[at - 1];
    s->points[at] = (struct tested){mu, result};
    *in = result.clsb > s->level;
    return PARITAS_OK;
}

/* Half the distance between the nearest values that are surely in and surely out, on one side of the best
 * fit, which is surely in. At least half of the last bracket; NaN if no value is surely out. */
static double edge_error(const struct interval *s, double side, double bracket)
{
    double in = 0.0, out = HUGE_VAL; /* distances from the best fit */
    for (size_t i = 0; i < s->n; i++) {
        const paritas_hypotest_toys_result *r = &s->points[i].result;
        const double distance = side * (s->points[i].mu - s->best);
        if (distance < 0.0) continue;
        if (r->clsb - r->clsb_error > s->level && distance > in) in = distance;
        if (r->clsb + r->clsb_error < s->level && distance < out) out = distance;
    }
    if (!isfinite(out)) return (double)NAN;
    return out - in > bracket ? 0.5 * (out - in) : 0.5 * bracket;
}

/* Steps on outward until a value is surely out, for the error of an edge. It stays NaN if there is none. */
static paritas_status find_out(struct interval *s, double side, double last, size_t room, double bracket,
                               double *error)
{
    double farthest = 0.0;
    bool in;
    for (size_t i = 0; i < s->n; i++) farthest = fmax(farthest, side * (s->points[i].mu - s->best));
    for (int step = 0; step < STEPS_OUT && isnan(*error) && s->n < room; step++) {
        const double end = side * (last - s->best), at = fmin(farthest + s->reach * (1 << step), end);
        if (!(at > farthest)) return PARITAS_OK;
        farthest = at;
        TRY(test_value(s, at == end ? last : s->best + side * at, &in));
        *error = edge_error(s, side, bracket);
    }
    return PARITAS_OK;
}

/* The edge on one side: +1 up, -1 down. `room`: values that may be known afterwards. *edge is NaN if all
 * values up to `last` are in. */
static paritas_status find_edge(struct interval *s, double side, double last, size_t room, double *edge,
                                double *error)
{
    double inside = s->best, outside = s->best;
    bool in = true;
    *edge = *error = (double)NAN;
    for (double step = s->reach; in; step *= 2.0) {
        if (side * (last - inside) <= 0.0 || s->n >= room) return PARITAS_OK;
        outside = s->best + side * step;
        if (side * (last - outside) < 0.0) outside = last;
        TRY(test_value(s, outside, &in));
        if (in) inside = outside;
    }
    while (fabs(outside - inside) > s->resolution && s->n < room) {
        const double middle = 0.5 * (inside + outside);
        TRY(test_value(s, middle, &in));
        *(in ? &inside : &outside) = middle;
    }
    *edge = 0.5 * (inside + outside);
    *error = edge_error(s, side, fabs(outside - inside));
    return find_out(s, side, last, room, fabs(outside - inside), error);
}

/* Conditional fits at no signal and on both sides of the best fit show signs of several minima, as those of a
 * test do. */
static paritas_status look_for_minima(struct interval *s, struct infer_profile *profile)
{
    struct infer *infer = s->infer;
    const double values[] = {0.0, s->best - s->reach, s->best + s->reach};
    struct infer_point points[COUNT_OF(values)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        const double mu = infer_bounded(infer, infer->poi, values[i]);
        if (mu != s->best) points[n++] = infer_point_at(infer, profile, mu);
    }
    return infer_points(infer, n, points);
}

/* The best fit, and the asymptotic half width as a first step. */
static paritas_status begin(struct interval *s, double rtol, paritas_interval_toys_result *result)
{
    struct infer *infer = s->infer;
    struct infer_profile profile = {.data = infer->base.data};
    const double width = infer->upper[infer->poi] - infer->base.lower[infer->poi];
    double variance;
    TRY(infer_keep_bounds(infer, false)); /* values beyond are tested, too */
    TRY(infer_lowest_free_fit(infer, &profile));
    TRY(infer_variance(infer, &profile, infer->poi, &variance));
    const double reach = normal_quantile(1.0 - 0.5 * s->level) * sqrt(variance);
    s->best = profile.parameters[infer->poi];
    s->reach = reach > 0.0 && isfinite(reach) ? reach : 0.1 * width;
    s->resolution = rtol * s->reach;
    TRY(look_for_minima(s, &profile));
    s->best = profile.parameters[infer->poi];
    result->mu_hat = s->best;
    result->status = profile.result.status;
    return PARITAS_OK;
}

static void write_result(const struct interval *s, const paritas_interval_toys_request *request,
                         paritas_interval_toys_result *result)
{
    infer_put_bound(s->infer, &result->upper_bound, &result->bound_widened);
    result->n_scan = s->n;
    for (size_t i = 0; i < s->n; i++) {
        const paritas_hypotest_toys_result *r = &s->points[i].result;
        if (i < request->scan_room) request->scan[i] = *r;
        result->status = infer_worse(result->status, r->status);
        result->several_minima = result->several_minima || r->several_minima;
        infer_add_minima(&result->minima, &r->minima);
        toys_add_tally(&result->tally, &r->tally);
    }
}

/* The key has the level, as it decides which mu are tested. */
static paritas_status open_store(struct interval *s)
{
    char number[40];
    snprintf(number, sizeof number, "%.17g", s->level);
    const struct toys_key key = {.what = "interval",
                                 .kind = STORE_TESTS,
                                 .statistic = "t",
                                 .mu = (double)NAN,
                                 .n_entries = 1,
                                 .entries = &(paritas_key_entry){"level", number}};
    return toys_open_store(s->infer, &s->options, &key, &s->store);
}

static paritas_status find_interval(struct interval *s, const paritas_interval_toys_request *request,
                                    paritas_interval_toys_result *result)
{
    const double lowest = s->infer->base.lower[s->infer->poi];
    TRY(open_store(s));
    TRY(begin(s, request->rtol, result));
    TRY(find_edge(s, 1.0, s->infer->widening.widest[s->infer->poi], PARITAS_SCAN_MOST / 2, &result->upper,
                  &result->upper_error));
    result->upper_reason = !isnan(result->upper)           ? PARITAS_REASON_FOUND
                           : s->n >= PARITAS_SCAN_MOST / 2 ? PARITAS_REASON_NOT_REACHED
                                                           : PARITAS_REASON_NONE_BELOW_BOUND;
    TRY(find_edge(s, -1.0, lowest, PARITAS_SCAN_MOST, &result->lower, &result->lower_error));
    result->lower_at_bound = isnan(result->lower);
    if (result->lower_at_bound) {
        result->lower = lowest;
        result->lower_error = 0.0;
    }
    write_result(s, request, result);
    return PARITAS_OK;
}

paritas_status paritas_interval_toys(paritas_context *context, const paritas_model *model,
                                     const paritas_job *job, const paritas_interval_toys_request *given,
                                     const paritas_toys_options *given_options,
                                     paritas_interval_toys_result *result)
{
    REQUIRE(context, model);
    paritas_interval_toys_request request = PARITAS_INTERVAL_TOYS_REQUEST_DEFAULT;
    struct infer infer;
    struct interval search = {.infer = &infer};
    uint64_t first;
    TRY(OPTIONS_READ(context, paritas_interval_toys_request, "request", given, &request));
    TRY(toys_take_options(context, given_options, &search.options));
    TRY(SIZED_CHECK(context, paritas_hypotest_toys_result, "scan", request.scan_room, request.scan));
    TRY(SIZED_CHECK(context, paritas_interval_toys_result, "result", 1, result));
    *result = (paritas_interval_toys_result)PARITAS_INIT(paritas_interval_toys_result);
    TRY(toys_refuse_shards(context, &search.options, "an interval"));
    TRY(toys_share(context, &search.options, &first, &search.end));
    if ((double)search.end * request.level < 1.0)
        return paritas_refuse(
            context, "`n` %llu: toys that few have no p-value near the level of %.4g: draw at least %.0f",
            (unsigned long long)search.end, request.level, ceil(1.0 / request.level));
    search.level = request.level;
    search.progress = (struct interval_progress){.report = context->progress,
                                                 .user = context->progress_user,
                                                 .total = expected_toys(&search, request.rtol)};
    if (context->progress) {
        context->progress = tell;
        context->progress_user = &search.progress;
    }
    paritas_status status = infer_open_for_toys(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = find_interval(&search, &request, result);
    context->progress = search.progress.report;
    context->progress_user = search.progress.user;
    if (status == PARITAS_OK && context->progress)
        (void)context->progress(context->progress_user, search.progress.before, search.progress.before);
    store_close(search.store);
    infer_close(&infer);
    return status;
}
