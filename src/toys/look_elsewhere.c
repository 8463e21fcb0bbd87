/* look_elsewhere.c: global significance of the largest excess of many signals on one background.
 *
 *   background: its fit to the data ─► expected main data of all points
 *   point k: fits at 0 and free ─► observed q0, expected auxiliary data ─► an ensemble
 *   chunk of toys: every point fits the same toys ─► q0 (n_points x toys) ─► counts
 *
 * Random numbers belong to names. Main data have their number in the background. So have auxiliary data of
 * its parameters. Parameters of a signal have a number from the hash of their name. So a toy at a point
 * depends on neither the other points nor their order. */
#include "base/math/host_math.h"
#include "minima/lowest_points.h"
#include "base/json/json.h"
#include "base/sized.h"
#include "minima/domain.h"
#include "base/math/probability.h"
#include "toys/toy_runner.h"
#include "toys/toys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PURPOSE 3                /* random stream; tests use 0 and 1, fits of toys 2 */
#define ITEMS_OF_NAMES 0x800000u /* items from here on come from names; below are the background's own */

struct point {
    struct infer infer;
    struct infer_profile data;
    struct infer_point at_zero;
    struct ensemble ensemble;
    double *starts; /* expected at the starts of the parameters, without signal */
    double q;
    uint64_t as_large; /* toys whose q0 here is at least the observed one */
};

struct search {
    paritas_context *context;
    const paritas_look_elsewhere_request *request;
    const paritas_toys_options *options;
    struct arena arena;
    struct infer background;
    double *main;   /* expected by the background */
    double *starts; /* the same at the starts of the parameters */
    struct point *points;
    double same; /* tolerance for equal q */
    double largest;
    /* of a chunk */
    size_t room;
    struct profile *profiles;
    double *q; /* n_points rows of toys; NaN: no answer */
    paritas_fit_status *status;
    /* of all toys with an answer at all points */
    uint64_t n, as_large;
    double crossings, crossings_squared;
    paritas_look_elsewhere_result *result;
};

/* Expected data at the starts, where parameter `poi` is 0. */
static paritas_status expect_at_starts(struct infer *infer, size_t poi, double **expected)
{
    double *point = infer_reals(infer, infer->n_parameters, 1);
    *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    const double *start = infer->base.start ? infer->base.start : paritas_model_suggested_init(infer->model);
    memcpy(point, start, infer->n_parameters * sizeof *point);
    if (poi < infer->n_parameters) point[poi] = 0.0;
    return infer_expected(infer, point, *expected);
}

/* ---- the background ---- */

static paritas_status fit_background(struct search *s)
{
    struct infer *infer = &s->background;
    TRY(infer_open_for_toys(infer, s->context, s->request->background, s->request->background_job, false));
    struct infer_profile *profile = infer_array(infer, 1, sizeof *profile);
    TRY(infer_memory(infer));
    profile->data = infer->base.data;
    TRY(infer_free_fit(infer, profile));
    struct infer_point fit = {
        .profile = profile, .parameters = profile->parameters, .status = profile->result.status};
    TRY(infer_judge_place(infer, -1, profile->parameters, &fit.status));
    if (infer->n_pois > 0 && !infer->base.fixed[infer->pois[0]]) {
        infer->poi = infer->pois[0];
        fit = infer_point_at(infer, profile, 0.0);
        fit.place = true;
        TRY(infer_check_tested(infer, infer->poi, 0.0));
        TRY(infer_points(infer, 1, &fit));
    }
    TRY(domain_check(infer, fit.status, "the background's fit, where toys are drawn,", fit.parameters));
    TRY(infer_polish(infer, &fit));
    s->main = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    s->result->status = infer_worse(s->result->status, fit.status);
    TRY(expect_at_starts(infer, infer->n_pois > 0 ? infer->pois[0] : infer->n_parameters, &s->starts));
    return infer_expected(infer, fit.parameters, s->main);
}

/* ---- places in common ---- */

/* Where a channel's bins begin; -1: there is none with this name and as many bins. */
static ptrdiff_t find_channel(const paritas_model *model, const char *name, size_t bins)
{
    size_t first = 0;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        const size_t n = paritas_model_channel_bins(model, c);
        if (strcmp(paritas_model_channel_name(model, c), name) == 0) return n == bins ? (ptrdiff_t)first : -1;
        first += n;
    }
    return -1;
}

static paritas_status refuse_data(const struct search *s, size_t k, const char *channel)
{
    return paritas_refuse(s->context, "models[%zu]: %s has other data than the background", k, channel);
}

/* Expected main data and their random numbers, bins [at, at + bins) from the background's `first` on. */
static paritas_status take_bins(const struct search *s, size_t k, const char *channel, size_t at, size_t bins,
                                size_t first, double *expected, uint32_t *items)
{
    const double *data = s->points[k].infer.base.data, *common = s->background.base.data;
    for (size_t i = 0; i < bins; i++) {
        if (data[at + i] != common[first + i]) return refuse_data(s, k, channel);
        const double rate = s->points[k].starts[at + i], wanted = s->starts[first + i];
        if (fabs(rate - wanted) > 1e-6 * fabs(wanted))
            return paritas_refuse(
                s->context, "models[%zu]: %s, bin %zu: without signal it expects %.6g, the background %.6g",
                k, channel, i, rate, wanted);
        expected[at + i] = s->main[first + i];
        items[at + i] = (uint32_t)(first + i);
    }
    return PARITAS_OK;
}

static paritas_status share_main(const struct search *s, size_t k, double *expected, uint32_t *items)
{
    const paritas_model *model = s->request->models[k], *background = s->request->background;
    const size_t n_main = paritas_model_main_count(model);
    if (paritas_model_channel_count(model) == 0) { /* a user's model */
        if (n_main != paritas_model_main_count(background)) return refuse_data(s, k, "it");
        return take_bins(s, k, "it", 0, n_main, 0, expected, items);
    }
    size_t at = 0;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        const char *name = paritas_model_channel_name(model, c);
        const size_t bins = paritas_model_channel_bins(model, c);
        const ptrdiff_t first = find_channel(background, name, bins);
        if (first < 0)
            return paritas_refuse(s->context, "models[%zu]: the background has no channel '%s' of %zu bins",
                                  k, name, bins);
        TRY(take_bins(s, k, name, at, bins, (size_t)first, expected, items));
        at += bins;
    }
    return PARITAS_OK;
}

/* Auxiliary data come in the order of the constrained parameters. */
static ptrdiff_t find_aux(const struct infer *infer, const char *name)
{
    ptrdiff_t aux = (ptrdiff_t)paritas_model_main_count(infer->model);
    for (size_t i = 0; i < infer->n_parameters; i++) {
        if (isnan(infer->widths[i])) continue;
        if (strcmp(paritas_model_parameter_name(infer->model, i), name) == 0) return aux;
        aux++;
    }
    return -1;
}

static uint32_t item_of_name(const char *name)
{
    char hex[65];
    sha256_of_bytes(name, strlen(name), hex);
    hex[6] = '\0'; /* 24 bits */
    return ITEMS_OF_NAMES | (uint32_t)strtoul(hex, NULL, 16);
}

/* Equal hashes within one model: the next free number. */
static uint32_t free_item(const uint32_t *items, size_t n, uint32_t item)
{
    for (size_t i = 0; i < n; i++)
        if (items[i] == item) return free_item(items, n, ITEMS_OF_NAMES | (item + 1));
    return item;
}

static void name_aux(const struct search *s, size_t k, uint32_t *items)
{
    const struct infer *infer = &s->points[k].infer;
    size_t at = paritas_model_main_count(infer->model);
    for (size_t i = 0; i < infer->n_parameters && at < infer->n_data; i++) {
        if (isnan(infer->widths[i])) continue;
        const char *name = paritas_model_parameter_name(infer->model, i);
        const ptrdiff_t common = find_aux(&s->background, name);
        items[at] = common >= 0 ? (uint32_t)common : free_item(items, at, item_of_name(name));
        at++;
    }
}

/* ---- points ---- */

static paritas_status open_ensemble(struct search *s, size_t k)
{
    struct point *point = &s->points[k];
    struct infer *infer = &point->infer;
    const double *at = point->at_zero.parameters;
    double *expected = infer_reals(infer, infer->n_data, 1);
    uint32_t *items = infer_array(infer, infer->n_data, sizeof *items);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, at, expected));
    TRY(expect_at_starts(infer, infer->poi, &point->starts));
    TRY(share_main(s, k, expected, items));
    name_aux(s, k, items);
    struct ensemble_options options = toys_ensemble(infer, s->options, at, expected, PURPOSE);
    options.items = items;
    options.plan.conditional_start = at;
    options.plan.poi = (ptrdiff_t)infer->poi;
    options.plan.conditional = true;
    toys_fix_aux(infer, s->options, expected);
    TRY(ensemble_open(infer->context, &options, &point->ensemble));
    toys_add_minima(&point->ensemble, &infer->minima);
    if (infer_has_several(&infer->minima)) TRY(ensemble_use_further_starts(infer->context, &point->ensemble));
    return PARITAS_OK;
}

static paritas_status open_point(struct search *s, size_t k)
{
    const paritas_look_elsewhere_request *request = s->request;
    struct point *point = &s->points[k];
    struct infer *infer = &point->infer;
    TRY(infer_open_for_toys(infer, s->context, request->models[k], request->jobs ? &request->jobs[k] : NULL,
                            true));
    TRY(infer_check_tested(infer, infer->poi, 0.0));
    point->data.data = infer->base.data;
    point->at_zero = infer_point_at(infer, &point->data, 0.0);
    TRY(infer_free_fit(infer, &point->data));
    TRY(infer_points(infer, 1, &point->at_zero));
    TRY(domain_check(infer, point->at_zero.status, "a fit at 0, where toys are drawn,",
                     point->at_zero.parameters));
    const double mu_hat = point->data.parameters[infer->poi];
    point->q = statistic_q(PARITAS_STATISTIC_Q0, 0.0, mu_hat, point->at_zero.twice_nll,
                           point->data.result.twice_nll);
    TRY(infer_polish(infer, &point->at_zero));
    infer_note_widening(infer);
    const double z = sqrt(point->q);
    request->points[k] = (paritas_look_elsewhere_point){
        .size = sizeof *request->points,
        .q0 = point->q,
        .mu_hat = mu_hat,
        .z_local = z,
        .p_local = normal_cdf(-z),
        .status = infer_worse(point->data.result.status, point->at_zero.status)};
    return open_ensemble(s, k);
}

static void find_largest(struct search *s)
{
    paritas_look_elsewhere_result *result = s->result;
    for (size_t k = 0; k < s->request->n_points; k++) {
        result->status = infer_worse(result->status, s->request->points[k].status);
        infer_add_minima(&result->minima, &s->points[k].infer.minima);
        if (s->points[k].q > s->points[result->point].q || isnan(s->points[result->point].q))
            result->point = k;
    }
    const paritas_look_elsewhere_point *largest = &s->request->points[result->point];
    s->largest = result->q0 = largest->q0;
    result->p_local = largest->p_local;
    result->z_local = largest->z_local;
    result->several_minima = infer_has_several(&result->minima);
}

/* ---- toys ---- */

static paritas_status hold(struct search *s, size_t n)
{
    if (n <= s->room) return PARITAS_OK;
    s->room = 0;
    arena_free(&s->arena);
    s->profiles = arena_array(&s->arena, n, sizeof *s->profiles);
    s->q = arena_array(&s->arena, n, s->request->n_points * sizeof *s->q);
    s->status = arena_array(&s->arena, n, sizeof *s->status);
    if (!s->profiles || !s->q || !s->status) return paritas_fail_memory(s->context);
    s->room = n;
    return PARITAS_OK;
}

/* A toy that all points have fitted. */
static void count_toy(struct search *s, size_t i)
{
    const double wanted = s->largest - s->same, level = s->request->upcrossed;
    double largest = 0.0, upcrossings = 0.0;
    s->result->tally.counts[s->status[i]]++;
    if (s->status[i] != PARITAS_FIT_CONVERGED) return;
    for (size_t k = 0; k < s->request->n_points; k++) {
        const double q = s->q[k * s->room + i];
        s->points[k].as_large += q >= s->points[k].q - s->same;
        largest = fmax(largest, q);
        if (k > 0 && q >= level && s->q[(k - 1) * s->room + i] < level) upcrossings += 1.0;
    }
    s->n++;
    s->as_large += largest >= wanted;
    s->crossings += upcrossings;
    s->crossings_squared += upcrossings * upcrossings;
}

static paritas_status run_point(void *user, int which, uint64_t first, size_t n)
{
    struct search *s = user;
    const size_t k = (size_t)which;
    if (k == 0) TRY(hold(s, n));
    TRY(ensemble_run(s->context, &s->points[k].ensemble, first, n, s->profiles, NULL, NULL, NULL));
    for (size_t i = 0; i < n; i++) {
        const struct profile *profile = &s->profiles[i];
        const paritas_fit_status status = infer_worse(profile->status_free, profile->status_fixed);
        s->q[k * s->room + i] = statistic_q(PARITAS_STATISTIC_Q0, 0.0, profile->mu_hat,
                                            2.0 * profile->value_fixed, 2.0 * profile->value_free);
        s->status[i] = k == 0 ? status : infer_worse(s->status[i], status);
        toy_tally_add(&s->result->tally, profile);
    }
    for (size_t i = 0; i < n && k + 1 == s->request->n_points; i++) count_toy(s, i);
    return PARITAS_OK;
}

static void answer_points(struct search *s)
{
    for (size_t k = 0; k < s->request->n_points; k++) {
        paritas_look_elsewhere_point *point = &s->request->points[k];
        point->p_local_toys = toy_fraction(s->points[k].as_large, s->n, &point->p_local_toys_error);
    }
}

static void answer_upcrossings(const struct search *s, paritas_look_elsewhere_result *r)
{
    const double n = (double)s->n, fall = host_exp(0.5 * (s->request->upcrossed - s->largest));
    r->upcrossings = r->upcrossings_error = r->p_upcrossings = r->p_upcrossings_error = (double)NAN;
    if (!(s->request->upcrossed > 0.0) || s->n == 0) return;
    r->upcrossings = s->crossings / n;
    const double variance = s->crossings_squared / n - r->upcrossings * r->upcrossings;
    r->upcrossings_error = sqrt(fmax(variance, 0.0) / n);
    r->p_upcrossings = fmin(1.0, r->p_local + r->upcrossings * fall);
    r->p_upcrossings_error = r->upcrossings_error * fall;
}

static void answer(struct search *s)
{
    paritas_look_elsewhere_result *r = s->result;
    answer_points(s);
    const paritas_look_elsewhere_point *largest = &s->request->points[r->point];
    const double local = (double)s->points[r->point].as_large;
    r->n = s->n;
    r->p_global = toy_fraction(s->as_large, s->n, &r->p_global_error);
    r->z_global = toy_significance(r->p_global, r->p_global_error, s->n, &r->z_global_error, &r->z_at_least);
    r->p_local_toys = largest->p_local_toys;
    r->p_local_toys_error = largest->p_local_toys_error;
    /* given the toys with a global excess, those with a local one are binomial */
    r->trial_factor = local > 0.0 ? (double)s->as_large / local : (double)NAN;
    r->trial_factor_error = r->trial_factor * sqrt(fmax(1.0 - 1.0 / r->trial_factor, 0.0) / local);
    answer_upcrossings(s, r);
}

static paritas_status run(struct search *s)
{
    uint64_t first, end;
    TRY(toys_share(s->context, s->options, &first, &end));
    TRY(fit_background(s));
    for (size_t k = 0; k < s->request->n_points; k++) TRY(open_point(s, k));
    find_largest(s);
    const struct toy_runner runner = {.context = s->context,
                                      .sized_by = &s->points[0].ensemble,
                                      .n_ensembles = (int)s->request->n_points,
                                      .run = run_point,
                                      .user = s,
                                      .tally = &s->result->tally};
    TRY(toy_runner_run(&runner, first, end));
    answer(s);
    return PARITAS_OK;
}

static paritas_status check(paritas_context *context, const paritas_look_elsewhere_request *request,
                            const paritas_toys_options *options)
{
    REQUIRE_AS(context, "models", request->models);
    if (request->n_points < 1 || request->n_points > 100000)
        return paritas_refuse(context, "n_points: %zu; there are 1 to 100000", request->n_points);
    REQUIRE_EACH(context, "models", request->n_points, request->models);
    TRY(SIZED_CHECK(context, paritas_look_elsewhere_point, "points", request->n_points, request->points));
    if (options->store || options->resume || options->shard || options->shards || options->take)
        return paritas_refuse(context, "look-elsewhere keeps no toys: `store`, `resume`, `shard` and `take` "
                                       "are not for it");
    return PARITAS_OK;
}

paritas_status paritas_look_elsewhere(paritas_context *context, const paritas_look_elsewhere_request *given,
                                      const paritas_toys_options *given_options,
                                      paritas_look_elsewhere_result *result)
{
    paritas_look_elsewhere_request request = PARITAS_LOOK_ELSEWHERE_REQUEST_DEFAULT;
    paritas_toys_options options;
    TRY(SIZED_CHECK(context, paritas_look_elsewhere_request, "request", 1, given));
    TRY(OPTIONS_READ(context, paritas_look_elsewhere_request, "request", given, &request));
    TRY(toys_take_options(context, given_options, &options));
    TRY(SIZED_CHECK(context, paritas_look_elsewhere_result, "result", 1, result));
    TRY(check(context, &request, &options));
    if (!request.background) { /* its parameter of interest is held at 0 */
        request.background = request.models[0];
        request.background_job = request.jobs;
    }
    *result = (paritas_look_elsewhere_result)PARITAS_INIT(paritas_look_elsewhere_result);
    struct search search = {.context = context,
                            .request = &request,
                            .options = &options,
                            .same = fits_are_raw(context) ? RAW_SAME_MINIMUM : PARITAS_SAME_MINIMUM,
                            .result = result,
                            .points = paritas_allocate(context, request.n_points, sizeof *search.points)};
    if (!search.points) return paritas_fail_memory(context);
    memset(search.points, 0, request.n_points * sizeof *search.points);
    arena_open(&search.arena, &context->allocator);
    const paritas_status status = run(&search);
    for (size_t k = 0; k < request.n_points; k++) {
        if (search.points[k].ensemble.model) ensemble_close(&search.points[k].ensemble);
        if (search.points[k].infer.context) infer_close(&search.points[k].infer);
    }
    if (search.background.context) infer_close(&search.background);
    arena_free(&search.arena);
    paritas_release(&context->allocator, search.points);
    return status;
}
