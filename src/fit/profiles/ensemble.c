/* ensemble.c: draws and fits toys. */
#include "fit/profiles/ensemble.h"
#include "fit/fit_rows.h"
#include "fit/minimum.h"
#include "fit/profiles/profile_beyond.h"
#include "fit/profiles/profile_metric.h"
#include "fit/profiles/profiles.h"
#include "fit/signs.h"

#include <math.h>
#include <string.h>

/* above, doubles and the Poisson sampler lose whole numbers */
#define RATE_LARGEST 1e12
/* Probes fall by so much on average, in twice the NLL: many starts. Toys of random models with minima apart
 * fall by 0.4 to 4. sbottom's fall by 0.001 to 0.09: no p-value moves. Many starts take 45 times as long. */
#define FALL_LEAST 0.1
#define COMPARED 8 /* probes that Newton fits, too */
#define SMALL 64   /* parameters, of models whose toys get random starts wherever there are several minima */
/* Quasi-Newton's minima may lie above Newton's by so much on average, in twice the NLL: of several minima
 * either method meets the higher one now and then. */
#define RISE_MOST (0.5 * FALL_LEAST)

paritas_status ensemble_check(paritas_context *context, const paritas_model *given, const double *expected)
{
    const struct frozen *model = paritas_model_frozen(given);
    const size_t main = model->n_main;
    TRY(family_check_expectation(context, model));
    for (size_t i = 0; i < model->n_data; i++) {
        const double value = expected[i];
        const bool count = frozen_counts(model, i);
        if (value - value == 0.0 && (!count || (value >= 0.0 && value <= RATE_LARGEST))) continue;
        return paritas_refuse(context, "toys cannot be drawn: %s datum %zu has the expectation %.17g",
                              i < main ? "main" : "auxiliary", i < main ? i : i - main, value);
    }
    return PARITAS_OK;
}

struct draw {
    const struct ensemble *ensemble;
    uint64_t first;
    double *data;
};

static paritas_status fill_draw(void *user, struct launch_rows *rows)
{
    const struct draw *draw = user;
    const struct ensemble *e = draw->ensemble;
    const uint64_t first = draw->first + rows->at;
    uint32_t *args = rows->args;
    args[DRAW_ARG_TOYS] = (uint32_t)rows->n;
    args[DRAW_ARG_FIRST_LOW] = (uint32_t)first;
    args[DRAW_ARG_FIRST_HIGH] = (uint32_t)(first >> 32);
    args[DRAW_ARG_SEED_LOW] = (uint32_t)e->options.seed;
    args[DRAW_ARG_SEED_HIGH] = (uint32_t)(e->options.seed >> 32);
    args[DRAW_ARG_PURPOSE] = e->options.purpose;
    args[DRAW_ARG_FIX_AUX] = e->options.fix_aux;
    memcpy(args + DRAW_ARGS, e->items, e->model->n_places * sizeof *args);
    memcpy(rows->in, e->expected, e->model->n_places * sizeof *rows->in);
    return PARITAS_OK;
}

static paritas_status take_draw(void *user, const struct launch_rows *rows)
{
    const struct draw *draw = user;
    const size_t places = draw->ensemble->model->n_places;
    for (size_t i = 0; i < rows->n * places; i++)
        if (!(rows->out[i] - rows->out[i] == 0.0))
            return paritas_refuse(rows->context,
                                  "toys cannot be drawn: an auxiliary count has the expectation %.17g",
                                  draw->ensemble->expected[i % places]);
    memcpy(draw->data + rows->at * places, rows->out, rows->n * places * sizeof *rows->out);
    return PARITAS_OK;
}

/* data: n rows. An undrawable place is an error. */
static paritas_status draw_rows(paritas_context *context, const struct ensemble *e, uint64_t first, size_t n,
                                double *data)
{
    const size_t places = e->model->n_places;
    struct draw draw = {e, first, data};
    struct launch_plan plan;
    TRY(rows_plan(context, e->model, e->model->family->draw, &plan));
    plan.in.once = places;
    plan.out.job = places;
    plan.args.once = DRAW_ARGS + places;
    plan.fill = fill_draw;
    plan.take = take_draw;
    plan.user = &draw;
    /* always f64: toys do not depend on the fits' precision */
    return launch_run(context, launch_device_f64(context), &plan, n);
}

/* Checks the centre of draws, and puts it in the kernels' order. The arena is open. */
static paritas_status place_centre(paritas_context *context, struct ensemble *e)
{
    const struct frozen *model = e->model;
    const struct ensemble_options *options = &e->options;
    TRY(ensemble_check(context, options->plan.model, options->expected));
    e->expected = arena_array(&e->arena, model->n_places, sizeof *e->expected);
    e->items = arena_array(&e->arena, model->n_places, sizeof *e->items);
    if (!e->expected || !e->items) return paritas_fail_memory(context);
    rows_put_data(model, options->expected, e->expected);
    for (size_t i = 0; i < model->n_places; i++) e->items[i] = DRAW_NO_ITEM;
    for (size_t i = 0; i < model->n_data; i++)
        if (!frozen_is_masked(model, i))
            e->items[model->place_of[i]] = options->items ? options->items[i] : (uint32_t)i;
    return PARITAS_OK;
}

/* A row of places in the user's order. Masked bins have their expectation. */
static void row_of_places(const struct ensemble *e, const double *places, double *row)
{
    const struct frozen *model = e->model;
    for (size_t k = 0; k < model->n_data; k++)
        row[k] = frozen_is_masked(model, k) ? e->options.expected[k] : places[model->place_of[k]];
}

static paritas_status draw_in_chunks(paritas_context *context, const struct ensemble *e, uint64_t first,
                                     size_t n, double *data)
{
    const struct frozen *model = e->model;
    const size_t most = ensemble_chunk(e), step = n < most ? n : most;
    double *rows = paritas_allocate(context, step * model->n_places + 1, sizeof *rows);
    paritas_status status = rows ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t at = 0; at < n && status == PARITAS_OK; at += step) {
        const size_t count = n - at < step ? n - at : step;
        status = draw_rows(context, e, first + at, count, rows);
        for (size_t i = 0; i < count && status == PARITAS_OK; i++)
            row_of_places(e, rows + i * model->n_places, data + (at + i) * model->n_data);
    }
    paritas_release(&context->allocator, rows);
    return status;
}

paritas_status ensemble_draw(paritas_context *context, const struct ensemble_options *options, uint64_t first,
                             size_t n, double *data)
{
    struct ensemble e = {.options = *options, .model = paritas_model_frozen(options->plan.model)};
    arena_open(&e.arena, &context->allocator);
    paritas_status status = place_centre(context, &e);
    if (status == PARITAS_OK) status = draw_in_chunks(context, &e, first, n, data);
    arena_free(&e.arena);
    return status;
}

/* The first toys; freed by the caller even after a failure. */
static paritas_status draw_probes(paritas_context *context, const struct ensemble *e, double **data)
{
    *data = paritas_allocate(context, ENSEMBLE_PROBES * e->model->n_places + 1, sizeof **data);
    return *data ? draw_rows(context, e, 0, ENSEMBLE_PROBES, *data) : paritas_fail_memory(context);
}

/* Keeps the probes for a run, unless its fits begin in f32. */
static paritas_status keep_probes(paritas_context *context, struct ensemble *e, const struct profile *probes)
{
    if (profile_begins_in_f32(context, &e->options.plan)) return PARITAS_OK;
    e->probes = arena_array(&e->arena, ENSEMBLE_PROBES, sizeof *e->probes);
    if (!e->probes) return paritas_fail_memory(context);
    memcpy(e->probes, probes, ENSEMBLE_PROBES * sizeof *probes);
    return PARITAS_OK;
}

/* The height of a fit's end above another method's, in NLL; 0 where that has no answer. */
static double rise(double value, double other, paritas_fit_status status_of_other)
{
    return status_of_other == PARITAS_FIT_CONVERGED ? value - other : 0.0;
}

/* Of the first toys, in evaluations: is a fit without Hessians cheaper, with Newton for those it leaves? Are
 * its minima as low, but for chance between several? */
static bool is_worth_it(const struct profile *shared, const struct profile *alone)
{
    double evaluations = 0.0, left = 0.0, iterations = 0.0, above = 0.0;
    for (size_t i = 0; i < ENSEMBLE_PROBES; i++)
        if (shared[i].method == PROFILE_QUASI_NEWTON)
            evaluations += shared[i].iterations;
        else
            left += 1.0;
    for (size_t i = 0; i < COMPARED; i++) {
        iterations += alone[i].iterations;
        if (shared[i].method != PROFILE_QUASI_NEWTON) continue;
        above += rise(shared[i].value_free, alone[i].value_free, alone[i].status_free) +
                 rise(shared[i].value_fixed, alone[i].value_fixed, alone[i].status_fixed);
    }
    const double by_newton = ENSEMBLE_STEP_COST * iterations / COMPARED;
    evaluations += left * (PROFILE_EVALUATIONS + by_newton);
    return evaluations < ENSEMBLE_PROBES * by_newton && above <= RISE_MOST * COMPARED;
}

/* Chooses between quasi-Newton and Newton by the first toys. */
static paritas_status choose_method(paritas_context *context, struct ensemble *e)
{
    struct profile shared[ENSEMBLE_PROBES], alone[COMPARED];
    struct profile_plan plan = e->options.plan;
    double *data = NULL;
    paritas_status status = draw_probes(context, e, &data);
    plan.in_f64 = true; /* f32 runs choose alike */
    plan.metric = NULL;
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, COMPARED, data, alone, NULL);
    plan.metric = &e->metric;
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, COMPARED, data, shared, NULL);
    bool any = false; /* without one among the first, the others are not worth their price */
    for (size_t i = 0; i < COMPARED && status == PARITAS_OK; i++)
        any = any || shared[i].method == PROFILE_QUASI_NEWTON;
    if (any)
        status = profiles_fit(context, &plan, ENSEMBLE_PROBES - COMPARED,
                              data + COMPARED * e->model->n_places, shared + COMPARED, NULL);
    paritas_release(&context->allocator, data);
    if (status != PARITAS_OK) return status;
    e->quasi_newton = any && is_worth_it(shared, alone);
    return e->quasi_newton ? keep_probes(context, e, shared) : PARITAS_OK;
}

/* How far does a further start fall below the usual one, in the first toys? */
static paritas_status probe_minima(paritas_context *context, struct ensemble *e)
{
    struct profile probes[ENSEMBLE_PROBES];
    struct profile_plan plan = e->options.plan;
    double *data = NULL;
    plan.in_f64 = true;
    plan.metric = NULL;
    plan.starts = STARTS_PROBE;
    paritas_status status = draw_probes(context, e, &data);
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, ENSEMBLE_PROBES, data, probes, NULL);
    paritas_release(&context->allocator, data);
    if (status != PARITAS_OK) return status;
    double sum = 0.0, most = 0.0;
    for (size_t i = 0; i < ENSEMBLE_PROBES; i++) {
        sum += probes[i].below;
        most = fmax(most, probes[i].below);
    }
    if (sum >= FALL_LEAST * ENSEMBLE_PROBES) e->below = most;
    return PARITAS_OK;
}

/* Are minima from the other sides of parameters as low as those of many starts, in the first toys? */
static paritas_status compare_starts(paritas_context *context, const struct ensemble *e, bool *as_low)
{
    struct profile turned[COMPARED], many[COMPARED];
    struct profile_plan plan = e->options.plan;
    double *data = NULL;
    paritas_status status = draw_probes(context, e, &data);
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, COMPARED, data, many, NULL);
    plan.starts = STARTS_TURNED;
    plan.metric = &e->metric;
    if (status == PARITAS_OK) status = profiles_fit(context, &plan, COMPARED, data, turned, NULL);
    paritas_release(&context->allocator, data);
    double above = 0.0;
    for (size_t i = 0; i < COMPARED && status == PARITAS_OK; i++)
        above += fmax(rise(turned[i].value_free, many[i].value_free, many[i].status_free), 0.0) +
                 fmax(rise(turned[i].value_fixed, many[i].value_fixed, many[i].status_fixed), 0.0);
    *as_low = above <= RISE_MOST * COMPARED;
    return status;
}

/* Looks for the metric once. Where there is none, it stays without its parts. */
static paritas_status find_metric(paritas_context *context, struct ensemble *e)
{
    if (e->sought_metric) return PARITAS_OK;
    e->sought_metric = true;
    return profiles_metric(context, &e->options.plan, e->expected, &e->arena, &e->metric, &e->has_metric);
}

paritas_status ensemble_use_further_starts(paritas_context *context, struct ensemble *e)
{
    struct profile_plan *plan = &e->options.plan;
    if (plan->starts != STARTS_USUAL) return PARITAS_OK;
    e->probes = NULL;
    e->quasi_newton = false;
    plan->starts = STARTS_MANY;
    plan->metric = NULL;
    plan->in_f64 = true;
    if (e->options.newton_only || e->model->n_parameters <= SMALL || !signs_are_known(e->model))
        return PARITAS_OK;
    TRY(find_metric(context, e));
    if (e->has_metric) TRY(compare_starts(context, e, &e->quasi_newton));
    if (!e->quasi_newton) return PARITAS_OK;
    plan->starts = STARTS_TURNED;
    plan->metric = &e->metric;
    return PARITAS_OK;
}

paritas_status ensemble_open(paritas_context *context, const struct ensemble_options *options,
                             struct ensemble *e)
{
    *e = (struct ensemble){.options = *options, .model = paritas_model_frozen(options->plan.model)};
    arena_open(&e->arena, &context->allocator);
    TRY(place_centre(context, e));
    e->options.plan.metric = NULL;
    if (options->has_several) return ensemble_use_further_starts(context, e);
    if (options->may_have_several) TRY(probe_minima(context, e));
    if (options->newton_only || e->below > 0.0) return PARITAS_OK;
    TRY(find_metric(context, e));
    if (e->has_metric) TRY(choose_method(context, e));
    if (e->quasi_newton) e->options.plan.metric = &e->metric;
    return PARITAS_OK;
}

void ensemble_close(struct ensemble *e)
{
    arena_free(&e->arena);
}

size_t ensemble_chunk(const struct ensemble *e)
{
    const size_t n = launch_jobs(e->model->n_places + e->model->n_slots + 16);
    return n < 65536 ? n : 65536;
}

/* Toys drawn and fitted together. On a processor a queue's launch, whose memory stays in its caches. */
static size_t at_once(const paritas_context *context, const struct ensemble *e, size_t n)
{
    const struct paritas_device *device = profile_device(context, &e->options.plan);
    const size_t most = e->quasi_newton ? launch_queued_jobs(device) : n;
    return most < n ? most : n;
}

/* Draws and fits `count` toys, or takes them from the probes. Their free fits are known, or noted, where the
 * caller keeps them. */
static paritas_status run_part(paritas_context *context, const struct ensemble *e, uint64_t first,
                               size_t count, double *rows, struct profile *profiles, double *parameters)
{
    struct profile_plan plan = e->options.plan;
    struct profile_known known;
    size_t fitted = 0;
    if (e->known && e->quasi_newton) {
        TRY(known_fits_take(context, e->known, &plan, e->expected, first, count, &known));
        plan.known = &known;
    }
    TRY(draw_rows(context, e, first, count, rows));
    if (e->probes && e->quasi_newton && !plan.known && !parameters && first < ENSEMBLE_PROBES) {
        const size_t left = ENSEMBLE_PROBES - (size_t)first;
        fitted = left < count ? left : count;
        memcpy(profiles, e->probes + first, fitted * sizeof *profiles);
    }
    TRY(profiles_fit(context, &plan, count - fitted, rows + fitted * e->model->n_places, profiles + fitted,
                     parameters));
    return profiles_go_beyond(context, &plan, count, rows, profiles, parameters);
}

paritas_status ensemble_run(paritas_context *context, const struct ensemble *e, uint64_t first, size_t n,
                            struct profile *profiles, double *data, double *parameters, double *constants)
{
    const struct frozen *model = e->model;
    const size_t n_data = model->n_data, p = model->n_parameters, step = at_once(context, e, n);
    double *rows = paritas_allocate(context, step * model->n_places + 1, sizeof *rows),
           *own = paritas_allocate(context, n_data, sizeof *own);
    const bool wants_ends = !parameters && profiles_need_ends(&e->options.plan);
    double *ends = wants_ends ? paritas_allocate(context, step * p + 1, sizeof *ends) : NULL;
    paritas_status status = rows && own && (ends || !wants_ends) ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t at = 0; at < n && status == PARITAS_OK; at += step) {
        const size_t count = n - at < step ? n - at : step;
        status = run_part(context, e, first + at, count, rows, profiles + at,
                          parameters ? parameters + at * p : ends);
        for (size_t i = 0; i < count && (data || constants) && status == PARITAS_OK; i++) {
            double *one = data ? data + (at + i) * n_data : own;
            row_of_places(e, rows + i * model->n_places, one);
            if (constants) constants[at + i] = model->constant(model, one);
        }
    }
    paritas_release(&context->allocator, rows);
    paritas_release(&context->allocator, own);
    paritas_release(&context->allocator, ends);
    return status;
}
