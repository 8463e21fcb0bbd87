/* ladder.c: see ladder.h. */
#include "fit/ladder.h"
#include "fit/minimum.h"
#include "fit/fit_rows.h"
#include "entry/entry_rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ITERATIONS 200 /* of a Newton fit */

void ladder_put_fit(const struct profile_plan *plan, bool conditional, const double *start, double *row)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    memcpy(row, start, slots * sizeof *row);
    rows_put_limits(model, plan->lower, plan->upper, plan->fixed, row);
    if (conditional) {
        const uint32_t slot = model->slot_of[plan->poi];
        row[slot] = row[slots + slot] = row[2 * slots + slot] = plan->mu;
        row[3 * slots + slot] = 0.0;
    }
    for (size_t p = 0; p < model->n_parameters; p++) {
        const uint32_t slot = model->slot_of[p];
        if (row[slot] < row[slots + slot]) row[slot] = row[slots + slot];
        if (row[slot] > row[2 * slots + slot]) row[slot] = row[2 * slots + slot];
    }
}

/* ---- f32 ---- */

bool ladder_begins_in_f32(const paritas_context *context, const struct profile_plan *plan)
{
    return context->precision == 32 && !plan->in_f64;
}

double ladder_same_minimum(const paritas_context *context, const struct profile_plan *plan)
{
    return 0.5 * (plan->in_f64 ? SAME_MINIMUM : same_minimum(context));
}

bool ladder_land(const struct profile_plan *plan, bool conditional, double *point)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    bool whole = true;
    for (size_t p = 0; p < model->n_parameters; p++) {
        double *x = &point[model->slot_of[p]];
        *x = plan->fixed[p] ? plan->start[p] : rows_land(*x, plan->lower[p], plan->upper[p]);
        if (conditional && (ptrdiff_t)p == plan->poi) *x = plan->mu;
        whole = whole && isfinite(*x);
    }
    return whole;
}

/* ---- Newton ---- */

/* Fits in hand: which profiles, and the points of their two fits. */
struct pending {
    const struct profile_plan *plan;
    const struct frozen *model;
    const double *data;
    struct profile *profiles;
    size_t n;
    size_t *which;        /* n */
    double *free, *fixed; /* n rows of n_slots */
};

/* Is an outcome better than what is known? A minimum that lies above a point that is known, by more than
 * `same`, is none that is looked for. */
static bool is_better(paritas_fit_status outcome, double value, paritas_fit_status known, double known_value,
                      double same)
{
    const bool converged = outcome == PARITAS_FIT_CONVERGED;
    if (converged == (known == PARITAS_FIT_CONVERGED)) return !(value >= known_value);
    return converged && !(value > known_value + same);
}

/* One fit of each listed pending profile from its row of `starts`. *into: its answers, the caller's to free
 * unless it fails. */
static paritas_status launch(paritas_context *context, struct paritas_device *device, const struct pending *p,
                             bool conditional, size_t n, const size_t *list, const double *starts,
                             uint32_t flags, struct rows *into)
{
    const struct frozen *model = p->model;
    const size_t slots = model->n_slots, stride = slots + 8;
    struct rows rows;
    paritas_status status =
        rows_allocate(context, n * (model->n_places + 4 * slots), n * stride, FIT_ARGS + n, &rows);
    if (status != PARITAS_OK) return status;
    for (size_t k = 0; k < n; k++) {
        memcpy(rows.in + k * model->n_places, p->data + p->which[list[k]] * model->n_places,
               model->n_places * sizeof *rows.in);
        ladder_put_fit(p->plan, conditional, starts + list[k] * slots,
                       rows.in + n * model->n_places + 4 * slots * k);
        rows.args[FIT_ARGS + k] = (uint32_t)k;
    }
    rows.args[0] = rows.args[1] = (uint32_t)n;
    rows.args[2] = ITERATIONS;
    rows.args[3] = flags;
    status = rows_launch(context, device, model, model->family->fit[PARITAS_MINIMIZER_NEWTON], n, &rows);
    if (status != PARITAS_OK) rows_free(&rows);
    *into = rows;
    return status;
}

/* The same; a better answer replaces what is there. */
static paritas_status newton_on(paritas_context *context, struct paritas_device *device, struct pending *p,
                                bool conditional, size_t n, const size_t *list, const double *starts,
                                uint32_t flags)
{
    const struct frozen *model = p->model;
    const size_t slots = model->n_slots, stride = slots + 8;
    struct rows rows;
    if (n == 0) return PARITAS_OK;
    const paritas_status status = launch(context, device, p, conditional, n, list, starts, flags, &rows);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        double *out = rows.out + k * stride;
        const double *tail = out + slots;
        struct profile *profile = &p->profiles[p->which[list[k]]];
        if (device->precision == 32) ladder_land(p->plan, conditional, out);
        const paritas_fit_status outcome =
            tail[1] < ROWS_OUTSIDE ? (paritas_fit_status)(int)tail[0] : PARITAS_FIT_NON_FINITE;
        paritas_fit_status *known = conditional ? &profile->status_fixed : &profile->status_free;
        double *value = conditional ? &profile->value_fixed : &profile->value_free;
        profile->iterations += (unsigned)tail[3];
        if (!is_better(outcome, tail[1], *known, *value, ladder_same_minimum(context, p->plan))) continue;
        *known = outcome;
        *value = tail[1] < ROWS_OUTSIDE ? tail[1] : (double)NAN;
        memcpy((conditional ? p->fixed : p->free) + list[k] * slots, out, slots * sizeof *out);
        if (conditional) continue;
        profile->edm = tail[2];
        if (p->plan->poi >= 0) profile->mu_hat = out[model->slot_of[p->plan->poi]];
    }
    if (status == PARITAS_OK) rows_free(&rows);
    return status;
}

static paritas_status newton(paritas_context *context, struct pending *p, bool conditional, size_t n,
                             const size_t *list, const double *starts, uint32_t flags)
{
    return newton_on(context, rows_device_f64(context), p, conditional, n, list, starts, flags);
}

/* The first fits in f32: where they end at a minimum, the f64 fits go on from there, near; elsewhere as if
 * there had been none. `list` is put into another order. */
static paritas_status newton_by_f32(paritas_context *context, struct pending *p, bool conditional, size_t n,
                                    size_t *list, double *starts)
{
    const size_t slots = p->model->n_slots, stride = slots + 8;
    struct rows rows;
    if (n == 0) return PARITAS_OK;
    if (context->no_polish) return newton_on(context, context->device, p, conditional, n, list, starts, 0);
    paritas_status status = launch(context, context->device, p, conditional, n, list, starts, 0, &rows);
    if (status != PARITAS_OK) return status;
    size_t near = 0, far = 0;
    size_t *others = paritas_allocate(context, n, sizeof *others);
    if (!others) status = paritas_fail_memory(context);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        double *out = rows.out + k * stride;
        const size_t profile = list[k];
        p->profiles[p->which[profile]].iterations += (unsigned)out[slots + 3];
        if (out[slots] == (double)PARITAS_FIT_CONVERGED && out[slots + 1] < ROWS_OUTSIDE &&
            ladder_land(p->plan, conditional, out)) {
            memcpy(starts + profile * slots, out, slots * sizeof *starts);
            list[near++] = profile;
        } else {
            others[far++] = profile;
        }
    }
    rows_free(&rows);
    if (status == PARITAS_OK) status = newton(context, p, conditional, near, list, starts, FIT_FROM_NEAR);
    if (status == PARITAS_OK) status = newton(context, p, conditional, far, others, starts, 0);
    if (status == PARITAS_OK) memcpy(list + near, others, far * sizeof *list);
    paritas_release(&context->allocator, others);
    return status;
}

/* The pending profiles whose fit of that kind has no answer. */
static size_t without_answer(const struct pending *p, bool conditional, size_t *list)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++) {
        const struct profile *profile = &p->profiles[p->which[k]];
        if ((conditional ? profile->status_fixed : profile->status_free) != PARITAS_FIT_CONVERGED)
            list[n++] = k;
    }
    return n;
}

/* ---- the ladder: where a fit starts that has no answer yet ---- */

enum attempt {
    /* free: the plan's start; conditional: the free fit, moved along its response where there is a matrix */
    AT_START,
    AT_SUGGESTED, /* the model's suggested start */
    AT_OTHER,     /* where the other fit of the pair ended */
    /* where it ended itself, with what is a hair away from a bound on it: a product of two parameters has no
     * minimum beside the bound of one, and Newton's steps, cut by the other, only halve the distance */
    AT_BOUNDS,
    /* conditional: the fit to the expected data; free: half way from there to the suggested start */
    AT_EXPECTED,
    /* a point around the fit to the expected data, by random numbers that depend on the data row alone;
     * several of them */
    AT_PERTURBED,
    ATTEMPTS = AT_PERTURBED + 6
};

#define HAIR 1e-6 /* of a parameter; far below any error, yet more than creeping steps leave */

static enum profile_rung rung_of(int attempt)
{
    return attempt == AT_START       ? PROFILE_NEWTON
           : attempt == AT_SUGGESTED ? PROFILE_SUGGESTED_START
           : attempt == AT_OTHER     ? PROFILE_FROM_THE_OTHER
                                     : PROFILE_FURTHER_STARTS;
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Moves a point by up to one constraint width a parameter, or half its size where there is none. */
static void perturb(const struct pending *p, size_t k, int attempt, double *point)
{
    const struct frozen *model = p->model;
    const double *row = p->data + p->which[k] * model->n_places;
    uint64_t key = (uint64_t)attempt;
    for (size_t i = 0; i < model->n_places; i++) {
        uint64_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        key = mix(key ^ bits);
    }
    for (size_t i = 0; i < model->n_parameters; i++) {
        const double width = model->width[i], uniform = (double)(int64_t)mix(key + i) * 0x1p-63;
        double *x = &point[model->slot_of[i]];
        *x += uniform * (width > 0.0 ? width : 0.5 * (fabs(*x) + 0.1));
    }
}

static void put_on_bounds(const struct pending *p, double *point)
{
    for (size_t i = 0; i < p->model->n_parameters; i++) {
        double *x = &point[p->model->slot_of[i]];
        if (p->plan->fixed[i]) continue;
        if (*x - p->plan->lower[i] < HAIR)
            *x = p->plan->lower[i];
        else if (p->plan->upper[i] - *x < HAIR)
            *x = p->plan->upper[i];
    }
}

/* Where the conditional fit of a profile begins: at its free fit, moved along the response; where there is no
 * matrix, as far as the fits to the expected data moved. */
static void respond(const struct pending *p, size_t k, double *start)
{
    const struct profile_plan *plan = p->plan;
    const size_t slots = p->model->n_slots, poi = p->model->slot_of[plan->poi];
    memcpy(start, p->free + k * slots, slots * sizeof *start);
    if (!plan->matrix) {
        /* not finite where the toys are drawn at mu; far away it would say little */
        const double part = (plan->mu - start[poi]) / (plan->mu - plan->start[plan->poi]);
        for (size_t i = 0; i < p->model->n_parameters && fabs(part) <= 2.0; i++)
            start[p->model->slot_of[i]] += part * (plan->conditional_start[i] - plan->start[i]);
        return;
    }
    const double *column = plan->matrix + poi * slots;
    if (!(column[poi] > 0.0)) return;
    const double part = (plan->mu - start[poi]) / column[poi];
    for (size_t i = 0; i < slots; i++) start[i] += part * column[i];
}

static void put_start(const struct pending *p, int attempt, bool conditional, size_t k, double *start)
{
    const struct profile_plan *plan = p->plan;
    const struct frozen *model = p->model;
    const size_t slots = model->n_slots;
    const double *expected = conditional ? plan->conditional_start : plan->start,
                 *own = (conditional ? p->fixed : p->free) + k * slots;
    if (attempt == AT_START && conditional) {
        respond(p, k, start);
    } else if (attempt == AT_OTHER) {
        memcpy(start, (conditional ? p->free : p->fixed) + k * slots, slots * sizeof *start);
    } else if (attempt == AT_BOUNDS) {
        memcpy(start, own, slots * sizeof *start);
        put_on_bounds(p, start);
    } else if (attempt == AT_SUGGESTED) {
        rows_put_point(model, model->init, model->slot_template, start);
    } else {
        rows_put_point(model, expected, model->slot_template, start);
        if (attempt == AT_EXPECTED && !conditional)
            for (size_t i = 0; i < model->n_parameters; i++)
                start[model->slot_of[i]] = 0.5 * (plan->start[i] + model->init[i]);
        if (attempt >= AT_PERTURBED) perturb(p, k, attempt, start);
    }
    /* a start is where data were expected, never where a failed fit left the numbers */
    for (size_t i = 0; i < model->n_parameters; i++)
        if (!isfinite(start[model->slot_of[i]])) start[model->slot_of[i]] = expected[i];
}

static void note_rung(const struct pending *p, enum profile_rung rung)
{
    for (size_t k = 0; k < p->n; k++) {
        struct profile *profile = &p->profiles[p->which[k]];
        if (!p->plan->conditional) {
            profile->status_fixed = profile->status_free;
            profile->value_fixed = profile->value_free;
        }
        if (profile->rung != PROFILE_NO_ANSWER) continue;
        if (profile->status_free == PARITAS_FIT_CONVERGED && profile->status_fixed == PARITAS_FIT_CONVERGED)
            profile->rung = rung;
    }
}

/* Both fits, one attempt after the other, for those without an answer. */
static paritas_status climb(paritas_context *context, struct pending *p, size_t *list, double *starts)
{
    const size_t slots = p->model->n_slots;
    const int kinds = p->plan->conditional ? 2 : 1;
    paritas_status status = PARITAS_OK;
    for (int attempt = 0; attempt < ATTEMPTS && status == PARITAS_OK; attempt++) {
        if (attempt == AT_OTHER && kinds == 1) continue;
        size_t open = 0;
        for (int conditional = 0; conditional < kinds && status == PARITAS_OK; conditional++) {
            const size_t n = without_answer(p, conditional, list);
            for (size_t k = 0; k < n; k++)
                put_start(p, attempt, conditional, list[k], starts + list[k] * slots);
            if (attempt == AT_START && !p->plan->matrix && ladder_begins_in_f32(context, p->plan))
                status = newton_by_f32(context, p, conditional, n, list, starts);
            else
                status =
                    newton(context, p, conditional, n, list, starts, attempt == AT_OTHER ? FIT_TO_CLOSER : 0);
            open += n;
        }
        note_rung(p, rung_of(attempt));
        if (open == 0) break;
    }
    return status;
}

/* ---- the edge of the domain ---- */

/* A bin without entries pulls its rate down. Where that gets to 0 before the slope does, the least value lies
 * on the edge of the domain, which Newton's steps creep up to: the expected curvature is infinite there, the
 * exact one not positive. With a little of an entry in such bins, which is a logarithmic barrier, the minimum
 * is inside, and above the least value by no more than what was added in all; each smaller one starts where
 * the one before ended (interior-point methods: Nocedal, Wright, Numerical Optimization, 2nd ed., ch. 19). */
#define BARRIER_FIRST 1e-3
#define BARRIER_LAST 1e-9

static size_t put_barrier(const struct pending *p, const double *data, double barrier, double *row)
{
    size_t empty = 0;
    memcpy(row, data, p->model->n_places * sizeof *row);
    for (size_t i = 0; i < p->model->n_main; i++) {
        double *count = &row[p->model->place_of[i]];
        if (*count != 0.0 || !frozen_counts(p->model, i)) continue;
        *count = barrier;
        empty++;
    }
    return empty;
}

static paritas_status value_at(paritas_context *context, const struct frozen *model, const double *data,
                               const double *point, double *value)
{
    struct rows rows;
    paritas_status status = rows_allocate(context, model->n_places + model->n_slots, 1, 4, &rows);
    if (status != PARITAS_OK) return status;
    memcpy(rows.in, data, model->n_places * sizeof *data);
    memcpy(rows.in + model->n_places, point, model->n_slots * sizeof *point);
    rows.args[0] = rows.args[1] = 1;
    status = rows_launch(context, context->host, model, model->family->evaluate, 1, &rows);
    *value = rows.out[0];
    rows_free(&rows);
    return status;
}

/* One fit of one profile, from near where it ended, with barriers; `space`: a data row, then 3 points. One
 * fit keeps no accelerator busy, so it is the host's. */
static paritas_status fit_at_edge(paritas_context *context, const struct pending *p, size_t k,
                                  bool conditional, double *space)
{
    const struct frozen *model = p->model;
    const size_t slots = model->n_slots;
    const double *data = p->data + p->which[k] * model->n_places;
    struct profile *profile = &p->profiles[p->which[k]], one = {.value_free = (double)NAN};
    double *own = (conditional ? p->fixed : p->free) + k * slots, *start = space + model->n_places,
           value = (double)NAN;
    struct pending alone = {.plan = p->plan,
                            .model = model,
                            .data = space,
                            .profiles = &one,
                            .n = 1,
                            .which = &(size_t){0},
                            .free = start + slots,
                            .fixed = start + 2 * slots};
    const double *end = conditional ? alone.fixed : alone.free;
    size_t empty = 0;
    /* a tenth of the way back to where the data were expected: at the edge itself there is no value */
    const double *inside = conditional ? p->plan->conditional_start : p->plan->start;
    memcpy(start, own, slots * sizeof *start);
    for (size_t i = 0; i < model->n_parameters; i++)
        start[model->slot_of[i]] += 0.1 * (inside[i] - own[model->slot_of[i]]);
    for (double barrier = BARRIER_FIRST; barrier > 0.5 * BARRIER_LAST; barrier *= 0.1) {
        one = (struct profile){.value_free = (double)NAN,
                               .value_fixed = (double)NAN,
                               .status_free = PARITAS_FIT_NO_PROGRESS,
                               .status_fixed = PARITAS_FIT_NO_PROGRESS};
        empty = put_barrier(p, data, barrier, space);
        if (empty == 0) return PARITAS_OK;
        const paritas_status status =
            newton_on(context, context->host, &alone, conditional, 1, &(size_t){0}, start, 0);
        if (status != PARITAS_OK) return status;
        profile->iterations += one.iterations;
        memcpy(start, end, slots * sizeof *start);
    }
    if ((conditional ? one.status_fixed : one.status_free) != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    const paritas_status status = value_at(context, model, data, end, &value);
    double *known = conditional ? &profile->value_fixed : &profile->value_free;
    /* that would be another place */
    if (status != PARITAS_OK || !(value < ROWS_OUTSIDE) ||
        value > *known + ladder_same_minimum(context, p->plan))
        return status;
    *known = value;
    *(conditional ? &profile->status_fixed : &profile->status_free) = PARITAS_FIT_CONVERGED;
    memcpy(own, end, slots * sizeof *own);
    if (conditional) return PARITAS_OK;
    profile->edm = one.edm + 2.0 * (double)empty * BARRIER_LAST;
    if (p->plan->poi >= 0) profile->mu_hat = one.mu_hat;
    return PARITAS_OK;
}

static paritas_status at_edge(paritas_context *context, struct pending *p, size_t *list)
{
    const int kinds = p->plan->conditional ? 2 : 1;
    double *space = NULL;
    paritas_status status = PARITAS_OK;
    for (int conditional = 0; conditional < kinds && status == PARITAS_OK; conditional++) {
        const size_t n = without_answer(p, conditional, list);
        if (n > 0 && !space)
            space = paritas_allocate(context, p->model->n_places + 3 * p->model->n_slots, sizeof *space);
        if (n > 0 && !space) return paritas_fail_memory(context);
        for (size_t k = 0; k < n && status == PARITAS_OK; k++)
            status = fit_at_edge(context, p, list[k], conditional, space);
    }
    paritas_release(&context->allocator, space);
    note_rung(p, PROFILE_AT_EDGE);
    return status;
}

/* Free fits above their conditional ones go on from there: that was another minimum. */
static paritas_status refit_above(paritas_context *context, struct pending *p, size_t *list)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++) {
        struct profile *profile = &p->profiles[p->which[k]];
        if (!(profile->value_fixed < profile->value_free - ladder_same_minimum(context, p->plan))) continue;
        profile->refitted = true;
        list[n++] = k;
    }
    return newton(context, p, false, n, list, p->fixed, 0);
}

paritas_status ladder_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                          const size_t *which, const double *data, struct profile *profiles, double *points)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    struct pending p = {.plan = plan, .model = model, .data = data, .profiles = profiles, .n = n};
    size_t *list = paritas_allocate(context, 2 * n, sizeof *list);
    double *space = paritas_allocate_clear(context, 3 * n * slots, sizeof *space);
    paritas_status status = list && space ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        p.which = list + n;
        memcpy(p.which, which, n * sizeof *which);
        p.free = space;
        p.fixed = space + n * slots;
        status = climb(context, &p, list, space + 2 * n * slots);
    }
    if (status == PARITAS_OK) status = at_edge(context, &p, list);
    if (status == PARITAS_OK && plan->conditional) status = refit_above(context, &p, list);
    for (size_t k = 0; k < n && points && status == PARITAS_OK; k++)
        memcpy(points + which[k] * slots, p.free + k * slots, slots * sizeof *points);
    paritas_release(&context->allocator, list);
    paritas_release(&context->allocator, space);
    return status;
}
