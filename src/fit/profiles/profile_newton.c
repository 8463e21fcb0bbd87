/* profile_newton.c: Newton's method from start to start. */
#include "fit/profiles/profile_newton.h"
#include "base/math/counter_random.h"
#include "fit/kink_surfaces.h"
#include "fit/minimum.h"
#include "fit/random_start.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ITERATIONS 200 /* per Newton fit */

/* Profiles that one call fits. */
struct profiles {
    paritas_context *context;
    const struct profile_plan *plan;
    const struct frozen *model;
    const double *data;
    struct profile *profiles; /* all of the caller's */
    size_t n;
    const size_t *which;   /* n: numbers of the caller */
    double *points[KINDS]; /* n rows each */
    bool *landed;          /* n: f32 found a minimum, from which f64 continues */
};

static struct profile *profile_of(const struct profiles *c, size_t k)
{
    return &c->profiles[c->which[k]];
}
static const double *row_of(const struct profiles *c, size_t k)
{
    return c->data + c->which[k] * c->model->n_places;
}
static double *point_of(const struct profiles *c, enum kind kind, size_t k)
{
    return c->points[kind] + k * c->model->n_parameters;
}
static paritas_fit_status *status_of(struct profile *profile, enum kind kind)
{
    return kind == CONDITIONAL_FIT ? &profile->status_fixed : &profile->status_free;
}
static double *value_of(struct profile *profile, enum kind kind)
{
    return kind == CONDITIONAL_FIT ? &profile->value_fixed : &profile->value_free;
}

/* A minimum more than `same` above a known point is no better. */
static bool is_better(const struct fit_outcome *outcome, paritas_fit_status known, double known_value,
                      double same)
{
    const bool converged = outcome->status == PARITAS_FIT_CONVERGED;
    if (converged == (known == PARITAS_FIT_CONVERGED)) return !(outcome->value >= known_value);
    return converged && !(outcome->value > known_value + same);
}

/* Newton fits of one kind. */
struct newton {
    struct profiles *profiles;
    enum kind kind;
    const size_t *list; /* numbers of profiles */
    double *starts;
    uint32_t flags;
    bool by_f32; /* f32 first; f64 continues from its minima */
    enum launch_stage stage;
};

static bool polishes(const struct newton *call)
{
    return call->by_f32 && !call->profiles->context->no_polish;
}

static void keep_better(void *user, const struct fit_job *job, const double *answer)
{
    const struct newton *call = user;
    const struct profiles *c = call->profiles;
    struct profile *profile = profile_of(c, job->index);
    const struct fit_outcome outcome = rows_get_outcome(c->model, answer);
    paritas_fit_status *status = status_of(profile, call->kind);
    double *value = value_of(profile, call->kind), *point = point_of(c, call->kind, job->index);
    profile->iterations += outcome.iterations;
    profile->edge = profile->edge || outcome.edge;
    if (!is_better(&outcome, *status, *value, profile_same_minimum(c->context, c->plan))) return;
    *status = outcome.status;
    *value = outcome.inside ? outcome.value : (double)NAN;
    rows_get_point(c->model, answer, point);
    if (call->by_f32 && call->stage == STAGE_FIRST)
        profile_land(c->plan, call->kind == CONDITIONAL_FIT, point);
    if (call->kind == CONDITIONAL_FIT) return;
    profile->edm = outcome.edm;
    if (c->plan->poi >= 0) profile->mu_hat = point[c->plan->poi];
}

static void start_near(void *user, const struct fit_job *job, const double *answer)
{
    const struct newton *call = user;
    const struct profiles *c = call->profiles;
    const struct fit_outcome outcome = rows_get_outcome(c->model, answer);
    double *point = point_of(c, call->kind, job->index);
    bool *landed = &c->landed[job->index];
    profile_of(c, job->index)->iterations += outcome.iterations;
    rows_get_point(c->model, answer, point);
    *landed = outcome.status == PARITAS_FIT_CONVERGED &&
              profile_land(c->plan, call->kind == CONDITIONAL_FIT, point);
    if (*landed)
        memcpy(call->starts + job->index * c->model->n_parameters, point,
               c->model->n_parameters * sizeof *point);
}

static paritas_status run_stage(paritas_context *context, struct paritas_device *device, void *user,
                                enum launch_stage stage, size_t n, const size_t *which)
{
    struct newton *call = user;
    const struct profiles *c = call->profiles;
    struct fit_job *jobs = paritas_allocate(context, n, sizeof *jobs);
    if (!jobs) return paritas_fail_memory(context);
    for (size_t k = 0; k < n; k++) {
        const size_t index = call->list[which[k]];
        jobs[k] = profile_job(c->plan, call->kind == CONDITIONAL_FIT, row_of(c, index),
                              call->starts + index * c->model->n_parameters);
        jobs[k].index = index;
    }
    call->stage = stage;
    const paritas_status status = rows_fits_run(
        context, device,
        &(struct rows_fits){.model = c->model,
                            .entry = c->model->family->fit[PARITAS_MINIMIZER_NEWTON],
                            .args = {[FIT_ARG_ITERATIONS] = kink_surfaces_limit(c->model, ITERATIONS),
                                     [FIT_ARG_FLAGS] = stage == STAGE_NEAR ? FIT_FROM_NEAR : call->flags},
                            .n = n,
                            .jobs = jobs,
                            .take = stage == STAGE_FIRST && polishes(call) ? start_near : keep_better,
                            .user = call});
    paritas_release(&context->allocator, jobs);
    return status;
}

static enum launch_stage next_stage(void *user, enum launch_stage stage, size_t i)
{
    const struct newton *call = user;
    if (stage != STAGE_FIRST || !polishes(call)) return STAGE_DONE;
    return call->profiles->landed[call->list[i]] ? STAGE_NEAR : STAGE_ANEW;
}

/* Fits that ended beside kink surfaces. */
static paritas_status settle(const struct newton *call, size_t n)
{
    const struct profiles *c = call->profiles;
    for (size_t i = 0; i < n; i++) {
        const size_t k = call->list[i];
        struct profile *profile = profile_of(c, k);
        paritas_fit_status *status = status_of(profile, call->kind);
        double *value = value_of(profile, call->kind), *point = point_of(c, call->kind, k);
        const struct fit_job job = profile_job(c->plan, call->kind == CONDITIONAL_FIT, row_of(c, k), point);
        struct fit_outcome outcome = {.status = *status, .inside = isfinite(*value), .value = *value};
        TRY(kink_surfaces_settle(c->context, c->model, &job, ITERATIONS, point, &outcome));
        profile->iterations += outcome.iterations;
        if (outcome.status != PARITAS_FIT_CONVERGED || *status == PARITAS_FIT_CONVERGED) continue;
        *status = outcome.status;
        *value = outcome.value;
        if (call->kind == CONDITIONAL_FIT) continue;
        profile->edm = outcome.edm;
        if (c->plan->poi >= 0) profile->mu_hat = point[c->plan->poi];
    }
    return PARITAS_OK;
}

static paritas_status newton(struct newton *call, size_t n)
{
    paritas_context *context = call->profiles->context;
    const struct launch_stages stages = {run_stage, next_stage, call};
    TRY(launch_in_stages(context, call->by_f32 ? context->device : launch_device_f64(context), &stages, n));
    return call->profiles->model->has_kink_surfaces ? settle(call, n) : PARITAS_OK;
}

/* ---- starts ---- */

enum attempt {
    /* free: plan's start; conditional: free fit, moved along its response if there is a matrix */
    AT_START,
    AT_SUGGESTED,
    AT_OTHER, /* the pair's other fit */
    /* its own end, moved onto bounds a hair away: a product of two parameters has no minimum beside one's
     * bound, and steps cut by the other only halve the distance */
    AT_BOUNDS,
    /* conditional: the fit to expected data; free: half way from there to the suggested start */
    AT_EXPECTED,
    /* random points around the fit to expected data, by the data row alone */
    AT_PERTURBED,
    ATTEMPTS = AT_PERTURBED + 6,
    /* of toys with several minima: random points around the suggested start */
    AT_RANDOM = ATTEMPTS
};

#define HAIR 1e-6 /* of a parameter: below any error, above creeping steps */

static enum profile_method method_of(int attempt)
{
    return attempt == AT_START       ? PROFILE_NEWTON
           : attempt == AT_SUGGESTED ? PROFILE_SUGGESTED_START
           : attempt == AT_OTHER     ? PROFILE_FROM_THE_OTHER
                                     : PROFILE_FURTHER_STARTS;
}

static uint64_t mix(uint64_t x)
{
    return random_mixed(x + RANDOM_STEP);
}

/* Key of random points. The data row and the attempt alone decide. */
static uint64_t random_key(const struct profiles *c, size_t k, int attempt)
{
    const double *row = row_of(c, k);
    uint64_t key = (uint64_t)attempt;
    for (size_t i = 0; i < c->model->n_places; i++) {
        uint64_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        key = mix(key ^ bits);
    }
    return key;
}

/* Moves each parameter by up to a constraint width, or half its size without one. */
static void perturb(const struct profiles *c, uint64_t key, double *point)
{
    for (size_t i = 0; i < c->model->n_parameters; i++) {
        const double width = c->model->width[i], uniform = (double)(int64_t)mix(key + i) * 0x1p-63;
        if (c->plan->fixed[i]) continue;
        point[i] += uniform * (width > 0.0 ? width : 0.5 * (fabs(point[i]) + 0.1));
    }
}

#define REACH_WIDTHS 2.1 /* of random starts: constraint widths */

/* Moves the suggested start to anywhere within reach and bounds. */
static void draw_start(const struct profiles *c, uint64_t key, double *point)
{
    for (size_t i = 0; i < c->model->n_parameters; i++) {
        const double width = c->model->width[i], part = (double)(mix(key + i) >> 11) * 0x1p-53;
        if (c->plan->fixed[i]) continue;
        const double reach = width > 0.0 ? REACH_WIDTHS * width : random_start_reach(point[i]);
        point[i] = random_start(point[i], reach, c->plan->lower[i], c->plan->upper[i], part);
    }
}

static void put_on_bounds(const struct profile_plan *plan, size_t n, double *point)
{
    for (size_t i = 0; i < n; i++) {
        if (plan->fixed[i]) continue;
        if (point[i] - plan->lower[i] < HAIR)
            point[i] = plan->lower[i];
        else if (plan->upper[i] - point[i] < HAIR)
            point[i] = plan->upper[i];
    }
}

/* Moves a free fit's end to the conditional start: along the response, or without a matrix as the fits to
 * expected data moved. */
static void respond(const struct profile_plan *plan, const struct frozen *model, double *point)
{
    const size_t poi = (size_t)plan->poi, p = model->n_parameters;
    if (!plan->metric) {
        /* not finite for toys drawn at mu; far away meaningless */
        const double part = (plan->mu - point[poi]) / (plan->mu - plan->start[poi]);
        for (size_t i = 0; i < p && fabs(part) <= 2.0; i++)
            point[i] += part * (plan->conditional_start[i] - plan->start[i]);
        return;
    }
    const double *column = plan->metric->matrix + model->slot_of[poi] * model->n_slots,
                 variance = column[model->slot_of[poi]];
    if (!(variance > 0.0)) return;
    const double part = (plan->mu - point[poi]) / variance;
    for (size_t i = 0; i < p; i++) point[i] += part * column[model->slot_of[i]];
}

static void put_start(const struct profiles *c, int attempt, enum kind kind, size_t k, double *start)
{
    const struct profile_plan *plan = c->plan;
    const size_t p = c->model->n_parameters;
    const double *expected = kind == CONDITIONAL_FIT ? plan->conditional_start : plan->start,
                 *from = expected;
    if (attempt == AT_SUGGESTED || attempt >= AT_RANDOM) from = c->model->init;
    if (attempt == AT_BOUNDS) from = point_of(c, kind, k);
    if (attempt == AT_OTHER) from = point_of(c, kind == FREE_FIT ? CONDITIONAL_FIT : FREE_FIT, k);
    if (attempt == AT_START && kind == CONDITIONAL_FIT) from = point_of(c, FREE_FIT, k);
    memcpy(start, from, p * sizeof *start);
    if (attempt == AT_START && kind == CONDITIONAL_FIT) respond(plan, c->model, start);
    if (attempt == AT_BOUNDS) put_on_bounds(plan, p, start);
    if (attempt == AT_EXPECTED && kind == FREE_FIT)
        for (size_t i = 0; i < p; i++) start[i] = 0.5 * (plan->start[i] + c->model->init[i]);
    if (attempt >= AT_RANDOM)
        draw_start(c, random_key(c, k, attempt), start);
    else if (attempt >= AT_PERTURBED)
        perturb(c, random_key(c, k, attempt), start);
    /* not where a failed fit ended, nor the suggested value of what is fixed elsewhere */
    for (size_t i = 0; i < p; i++)
        if (plan->fixed[i] || !isfinite(start[i])) start[i] = expected[i];
}

static enum kind last_kind(const struct profiles *c)
{
    return c->plan->conditional ? CONDITIONAL_FIT : FREE_FIT;
}

static size_t without_answer(const struct profiles *c, enum kind kind, size_t *list)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n; k++)
        if (*status_of(profile_of(c, k), kind) != PARITAS_FIT_CONVERGED) list[n++] = k;
    return n;
}

static void note_method(const struct profiles *c, enum profile_method method)
{
    for (size_t k = 0; k < c->n; k++) {
        struct profile *profile = profile_of(c, k);
        if (!c->plan->conditional) {
            profile->status_fixed = profile->status_free;
            profile->value_fixed = profile->value_free;
        }
        if (profile->method != PROFILE_NO_ANSWER) continue;
        if (profile->status_free == PARITAS_FIT_CONVERGED && profile->status_fixed == PARITAS_FIT_CONVERGED)
            profile->method = profile->edge ? PROFILE_AT_EDGE : method;
    }
}

static paritas_status attempt_fits(struct profiles *c, int attempt, enum kind kind, size_t n,
                                   const size_t *list, double *starts)
{
    for (size_t k = 0; k < n; k++)
        put_start(c, attempt, kind, list[k], starts + list[k] * c->model->n_parameters);
    return newton(&(struct newton){.profiles = c,
                                   .kind = kind,
                                   .list = list,
                                   .starts = starts,
                                   .flags = attempt == AT_OTHER ? FIT_TO_CLOSER : 0,
                                   .by_f32 = attempt == AT_START && !c->plan->metric &&
                                             c->plan->starts <= STARTS_TURNED &&
                                             profile_begins_in_f32(c->context, c->plan)},
                  n);
}

static paritas_status fit_until_answered(struct profiles *c, size_t *list, double *starts)
{
    size_t open = 1;
    for (int attempt = 0; attempt < ATTEMPTS && open > 0; attempt++) {
        if (attempt == AT_OTHER && !c->plan->conditional) continue;
        open = 0;
        for (enum kind kind = FREE_FIT; kind <= last_kind(c); kind++) {
            const size_t n = without_answer(c, kind, list);
            open += n;
            TRY(attempt_fits(c, attempt, kind, n, list, starts));
        }
        note_method(c, method_of(attempt));
    }
    return PARITAS_OK;
}

/* ---- several minima: all fits from several starts, the lowest ends stay ---- */

#define ROUND 12 /* random starts; of 2400 fits of three random models' toys, 2 end too high */
#define ROUNDS_LEAST 2
#define ROUNDS_MOST 16

/* Attempts `first` .. `end` - 1, of both kinds each. */
static paritas_status attempt_all(struct profiles *c, int first, int end, size_t n, const size_t *list,
                                  double *starts)
{
    for (int attempt = first; attempt < end; attempt++)
        for (enum kind kind = FREE_FIT; kind <= last_kind(c); kind++) {
            if (attempt == AT_OTHER && !c->plan->conditional) continue;
            TRY(attempt_fits(c, attempt, kind, n, list, starts));
        }
    return PARITAS_OK;
}

/* Keeps those in `list` whose fits fell below `levels` (both kinds of each profile), which follow. */
static size_t still_falling(const struct profiles *c, size_t n, size_t *list, double *levels)
{
    const double same = profile_same_minimum(c->context, c->plan);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        struct profile *profile = profile_of(c, list[i]);
        double fell = 0.0;
        for (enum kind kind = FREE_FIT; kind <= last_kind(c); kind++) {
            const double value = *value_of(profile, kind);
            double *level = &levels[KINDS * list[i] + kind];
            /* NaN: no answer until now */
            fell = fmax(fell, isnan(*level) && !isnan(value) ? HUGE_VAL : *level - value);
            *level = value;
        }
        if (!(fell > same)) continue;
        if (isfinite(fell)) profile->below += 2.0 * fell;
        if (profile->method != PROFILE_NO_ANSWER) profile->method = PROFILE_FURTHER_STARTS;
        list[left++] = list[i];
    }
    return left;
}

static paritas_status fit_in_rounds(struct profiles *c, size_t *list, double *starts, double *levels)
{
    size_t n = c->n;
    for (size_t k = 0; k < n; k++) list[k] = k;
    TRY(attempt_all(c, AT_START, AT_START + 1, n, list, starts));
    note_method(c, PROFILE_NEWTON);
    for (size_t i = 0; i < KINDS * n; i++)
        levels[i] = *value_of(profile_of(c, i / KINDS), i % KINDS ? CONDITIONAL_FIT : FREE_FIT);
    TRY(attempt_all(c, AT_SUGGESTED, AT_SUGGESTED + 1, n, list, starts));
    if (c->plan->starts == STARTS_MANY) TRY(attempt_all(c, AT_OTHER, AT_OTHER + 1, n, list, starts));
    for (int round = 0; round < ROUNDS_MOST && c->plan->starts == STARTS_MANY && n > 0; round++) {
        const int first = AT_RANDOM + round * ROUND;
        TRY(attempt_all(c, first, first + ROUND, n, list, starts));
        TRY(attempt_all(c, AT_OTHER, AT_OTHER + 1, n, list, starts));
        if (round + 1 >= ROUNDS_LEAST) n = still_falling(c, n, list, levels);
    }
    still_falling(c, n, list, levels);
    note_method(c, PROFILE_FURTHER_STARTS);
    return PARITAS_OK;
}

static paritas_status fit_from_many_starts(struct profiles *c, size_t *list, double *starts)
{
    double *levels = paritas_allocate(c->context, KINDS * c->n, sizeof *levels);
    const paritas_status status =
        levels ? fit_in_rounds(c, list, starts, levels) : paritas_fail_memory(c->context);
    paritas_release(&c->context->allocator, levels);
    return status;
}

/* ---- all attempts ---- */

/* Repeats free fits from lower conditional ones, which found another minimum. */
static paritas_status refit_above(struct profiles *c, size_t *list)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n; k++) {
        struct profile *profile = profile_of(c, k);
        if (!(profile->value_fixed < profile->value_free - profile_same_minimum(c->context, c->plan)))
            continue;
        profile->refitted = true;
        list[n++] = k;
    }
    return newton(
        &(struct newton){.profiles = c, .kind = FREE_FIT, .list = list, .starts = c->points[CONDITIONAL_FIT]},
        n);
}

paritas_status profiles_by_newton(paritas_context *context, const struct profile_plan *plan, size_t n,
                                  const size_t *which, const double *data, struct profile *profiles,
                                  double *ends)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters;
    size_t *list = paritas_allocate(context, n, sizeof *list);
    double *space = paritas_allocate_clear(context, 3 * n * p, sizeof *space);
    bool *landed = paritas_allocate_clear(context, n, sizeof *landed);
    struct profiles c = {.context = context,
                         .plan = plan,
                         .model = model,
                         .data = data,
                         .profiles = profiles,
                         .n = n,
                         .which = which,
                         .points = {space, space ? space + n * p : NULL},
                         .landed = landed};
    paritas_status status = list && space && landed ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK && plan->starts > STARTS_TURNED)
        status = fit_from_many_starts(&c, list, space + 2 * n * p);
    if (status == PARITAS_OK) status = fit_until_answered(&c, list, space + 2 * n * p);
    if (status == PARITAS_OK && plan->conditional) status = refit_above(&c, list);
    for (size_t k = 0; k < n && ends && status == PARITAS_OK; k++)
        for (enum kind kind = FREE_FIT; kind <= last_kind(&c); kind++)
            memcpy(ends + (KINDS * which[k] + kind) * p, point_of(&c, kind, k), p * sizeof *ends);
    paritas_release(&context->allocator, list);
    paritas_release(&context->allocator, space);
    paritas_release(&context->allocator, landed);
    return status;
}
