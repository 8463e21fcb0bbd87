/* search_targets.c: attempts at fits from further starts, and what their ends say. */
#include "minima/search_targets.h"
#include "fit/fit.h"
#include "fit/family.h"
#include "fit/launch.h"
#include "minima/conditional_fits.h"
#include "minima/gauss_newton.h"

#include <math.h>
#include <string.h>

#define LOWER 1e-6 /* in twice the NLL: another minimum */
#define CONTINUED_MOST 3
#define LEAST_TOGETHER 8
#define SMALL_PARAMETERS 32
#define FIRST_ITERATIONS 4 /* then fits on their way to a known minimum are given up */
#define LAST_ITERATIONS 200
#define LARGE_ITERATIONS 60 /* the last of a large model: those that take longer hardly end */
#define NEAR_LEVEL 1.0      /* in twice the NLL */
#define NEAR_POINT 0.3      /* widths, errors */

static bool is_same_point(const struct search *search, const double *a, const double *b)
{
    double apart = 0.0;
    for (size_t i = 0; i < search->infer->n_parameters; i++)
        apart = fmax(apart, fabs(a[i] - b[i]) / fmax(1.0, fabs(b[i])));
    return apart < 1e-3;
}

static void note_end(const struct search *search, struct target *s, struct end end)
{
    size_t at = 0;
    while (at < s->n_ends && s->ends[at].twice_nll < end.twice_nll - search->same) at++;
    if (at < s->n_ends && s->ends[at].twice_nll <= end.twice_nll + search->same) {
        struct end *known = &s->ends[at];
        known->count++;
        if (end.n_starts > 0 && known->n_starts < ENDS_STARTS)
            known->starts[known->n_starts++] = end.starts[0];
        return;
    }
    if (at == ENDS_MOST) return;
    if (s->n_ends < ENDS_MOST) s->n_ends++;
    memmove(&s->ends[at + 1], &s->ends[at], (s->n_ends - 1 - at) * sizeof s->ends[0]);
    s->ends[at] = end;
}

size_t search_minima_within(const struct target *target)
{
    size_t n = 0;
    while (n < target->n_ends && target->ends[n].twice_nll <= target->twice_nll + MINIMA_WITHIN) n++;
    return n;
}

/* ---- opening ---- */

bool search_model_is_small(const struct infer *infer)
{
    return infer->n_parameters <= SMALL_PARAMETERS;
}

static void note_unconverged(struct target *s, paritas_fit_status status, double twice_nll,
                             const double *parameters)
{
    if (status == PARITAS_FIT_CONVERGED || !isfinite(twice_nll)) return;
    if (s->unconverged.parameters && !(twice_nll < s->unconverged.twice_nll)) return;
    s->unconverged_status = status;
    s->unconverged = (struct end){.twice_nll = twice_nll, .parameters = parameters};
}

/* A lower point that an earlier search left without an end is not lost to a minimum above it. */
static paritas_status put_target(struct search *search, struct target *s)
{
    s->fixed = infer_fixed_flags(search->infer, s->point);
    s->had_end = s->status == PARITAS_FIT_CONVERGED;
    TRY(infer_memory(search->infer));
    if (s->status == PARITAS_FIT_CONVERGED)
        note_end(search, s, (struct end){.twice_nll = s->twice_nll, .parameters = s->parameters, .count = 1});
    note_unconverged(s, s->status, s->twice_nll, s->parameters);
    return PARITAS_OK;
}

paritas_status search_open(struct infer *infer, struct infer_profile *profile, size_t n,
                           struct infer_point *const *points, struct search *search)
{
    *search = (struct search){.infer = infer, .profile = profile, .n = 1 + n, .n_asked = 1 + n};
    search->same = fmax(same_minimum(infer->context), LOWER);
    search->is_small = search_model_is_small(infer);
    search->approaches = !search->is_small && infer->starts == 0 && gauss_newton_serves(infer);
    search->targets = infer_array(infer, search->n + AUXILIARY_MOST, sizeof *search->targets);
    TRY(infer_memory(infer));
    search->targets[0] = (struct target){.asked = true,
                                         .status = profile->result.status,
                                         .twice_nll = profile->result.twice_nll,
                                         .parameters = profile->parameters,
                                         .is_lowest = profile->is_lowest && !search->is_small};
    for (size_t i = 0; i < n; i++)
        search->targets[1 + i] = (struct target){.point = points[i],
                                                 .asked = true,
                                                 .status = points[i]->status,
                                                 .twice_nll = points[i]->twice_nll,
                                                 .parameters = points[i]->parameters};
    for (size_t i = 0; i < search->n; i++) TRY(put_target(search, &search->targets[i]));
    return PARITAS_OK;
}

paritas_status search_add_auxiliary(struct search *search, double value)
{
    struct infer *infer = search->infer;
    struct infer_point *point = &search->auxiliary[search->n - search->n_asked];
    struct target *s = &search->targets[search->n++];
    *point = infer_point_at(infer, search->profile, infer_bounded(infer, infer->poi, value));
    *s = (struct target){.point = point, .status = PARITAS_FIT_NO_PROGRESS, .twice_nll = (double)NAN};
    return put_target(search, s);
}

/* ---- attempts ---- */

static bool is_better(const struct target *s, const paritas_fit_result *found, double same)
{
    const bool converged = found->status == PARITAS_FIT_CONVERGED;
    if (converged != (s->status == PARITAS_FIT_CONVERGED)) return converged;
    return !(found->twice_nll >= s->twice_nll - same);
}

static void put_start(const struct search *search, const struct attempt *attempt, double *start)
{
    const struct infer_point *point = attempt->target->point;
    const struct infer *infer = search->infer;
    for (size_t i = 0; i < infer->n_parameters; i++) /* a fixed value may lie outside */
        start[i] = infer->base.fixed[i] ? infer->base.start[i] : infer_bounded(infer, i, attempt->start[i]);
    for (size_t j = 0; point && j < point->k; j++) start[point->parameter[j]] = point->value[j];
}

/* A minimum beside the answer, or none any more if the fit lowers the answer. */
static void note_elsewhere(const struct search *search, const struct target *s,
                           const paritas_fit_result *found, const double *parameters)
{
    if (!s->point || found->status != PARITAS_FIT_CONVERGED) return;
    if (is_better(s, found, search->same))
        s->point->elsewhere = NULL;
    else if (found->twice_nll <= s->twice_nll + search->same &&
             !is_same_point(search, s->parameters, parameters))
        s->point->elsewhere = parameters;
}

static void take_end(struct search *search, struct target *s, const double *start,
                     const paritas_fit_result *found, const double *parameters)
{
    s->n_tried++;
    s->n_ended += found->status == PARITAS_FIT_CONVERGED;
    if (found->status == PARITAS_FIT_CONVERGED)
        note_end(search, s,
                 (struct end){.twice_nll = found->twice_nll,
                              .parameters = parameters,
                              .count = 1,
                              .n_starts = 1,
                              .starts = {start}});
    note_elsewhere(search, s, found, parameters);
    note_unconverged(s, found->status, found->twice_nll, parameters);
    if (!is_better(s, found, search->same)) return;
    s->status = found->status;
    s->twice_nll = found->twice_nll;
    s->parameters = parameters;
    s->lower = true;
    search->lowered = search->lowered || s->asked;
}

/* A fit on its way: few iterations tell whether it goes to a known minimum. */
struct run {
    size_t attempt;
    double *point;
};

/* Did the limit end it? A fit that started outside the domain may still be there. In a large model it is
 * given up. */
static bool is_on_its_way(const struct search *search, const paritas_fit_result *found, unsigned limit)
{
    return found->status == PARITAS_FIT_AT_ITERATION_LIMIT ||
           (search->is_small && found->status == PARITAS_FIT_NON_FINITE && found->iterations >= limit);
}

/* Its end is known. */
static void note_given_up(struct target *s, size_t end)
{
    s->n_tried++;
    s->n_ended++;
    s->ends[end].count++;
}

/* Near a known end of the target, and hardly above it? Scales: widths, errors. */
static bool is_on_the_way(const struct search *search, struct target *s, double twice_nll,
                          const double *point)
{
    const struct infer *infer = search->infer;
    for (size_t k = 0; k < s->n_ends; k++) {
        bool near = fabs(twice_nll - s->ends[k].twice_nll) < NEAR_LEVEL;
        for (size_t i = 0; i < infer->n_parameters && near; i++) {
            const double width = infer->widths[i], error = search->profile->errors[i],
                         scale = width > 0.0   ? width
                                 : error > 0.0 ? error
                                               : 1.0;
            near = fabs(point[i] - s->ends[k].parameters[i]) <= NEAR_POINT * scale;
        }
        if (!near) continue;
        note_given_up(s, k);
        return true;
    }
    return false;
}

/* Fits of one launch, which then says where memory runs out: larger ones are halved. */
static size_t fits_together(const struct infer *infer)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t most = LAUNCH_ELEMENTS_LEAST / (2 * (model->n_places + 8 * model->n_slots + 64));
    return most < LEAST_TOGETHER ? LEAST_TOGETHER : most;
}

static paritas_status fit_runs(struct search *search, const struct attempt *attempts, unsigned iterations,
                               size_t n, const struct run *runs, paritas_fit_result *results, double *fitted)
{
    struct infer *infer = search->infer;
    paritas_job *jobs = infer_array(infer, n, sizeof *jobs);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        jobs[i] = infer->base;
        jobs[i].data = search->profile->data;
        jobs[i].fixed = attempts[runs[i].attempt].target->fixed;
        jobs[i].start = runs[i].point;
    }
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.max_iterations = infer->base.max_iterations && infer->base.max_iterations < iterations
                                 ? infer->base.max_iterations
                                 : iterations;
    const size_t together = fits_together(infer);
    for (size_t i = 0; i < n; i += together) {
        const paritas_fit_answers answers = {.results = results + i,
                                             .parameters = fitted + i * infer->n_parameters};
        TRY(fit_run(infer->context, infer->model, &options, n - i < together ? n - i : together, jobs + i,
                    &answers));
    }
    return PARITAS_OK;
}

paritas_status search_run_attempts(struct search *search, size_t n, const struct attempt *attempts)
{
    struct infer *infer = search->infer;
    const size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    struct run *runs = infer_array(infer, n, sizeof *runs);
    paritas_fit_result *results = infer_array(infer, n, sizeof *results);
    double *rows = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        runs[i] = (struct run){i, rows + i * p};
        put_start(search, &attempts[i], runs[i].point);
    }
    const unsigned limits[] = {FIRST_ITERATIONS, search->is_small ? LAST_ITERATIONS : LARGE_ITERATIONS};
    const size_t stages = sizeof limits / sizeof *limits;
    for (size_t stage = 0; stage < stages && n > 0; stage++) {
        double *fitted = infer_reals(infer, n, p);
        size_t left = 0;
        TRY(infer_memory(infer));
        TRY(fit_runs(search, attempts, limits[stage], n, runs, results, fitted));
        for (size_t i = 0; i < n; i++) {
            struct target *s = attempts[runs[i].attempt].target;
            if (stage + 1 < stages && is_on_its_way(search, &results[i], limits[stage])) {
                if (!is_on_the_way(search, s, results[i].twice_nll, fitted + i * p))
                    runs[left++] = (struct run){runs[i].attempt, fitted + i * p};
                continue;
            }
            take_end(search, s, runs[i].point, &results[i], fitted + i * p);
        }
        n = left;
    }
    return PARITAS_OK;
}

/* Leaves attempts that do not go to a known minimum, at their ends. */
paritas_status search_approach(const struct search *search, size_t *n, struct attempt *attempts)
{
    struct infer *infer = search->infer;
    struct gauss_fit *fits = infer_array(infer, *n + 1, sizeof *fits);
    size_t left = 0;
    TRY(infer_memory(infer));
    for (size_t k = 0; k < *n; k++) {
        const struct target *s = attempts[k].target;
        double *point = infer_reals(infer, infer->n_parameters, 1);
        TRY(infer_memory(infer));
        put_start(search, &attempts[k], point);
        fits[k] = (struct gauss_fit){.fixed = s->fixed, .inside = s->parameters, .point = point};
        for (size_t j = 0; j < s->n_ends && j < GAUSS_KNOWN_MOST; j++, fits[k].n_known++) {
            fits[k].known[j] = s->ends[j].parameters;
            fits[k].known_nll[j] = s->ends[j].twice_nll;
        }
    }
    TRY(gauss_newton_run(infer, search->profile->data, *n, fits));
    for (size_t k = 0; k < *n; k++) {
        if (fits[k].goes_to >= 0)
            note_given_up(attempts[k].target, (size_t)fits[k].goes_to);
        else
            attempts[left++] = (struct attempt){attempts[k].target, fits[k].point};
    }
    *n = left;
    return PARITAS_OK;
}

paritas_status search_carry_attempts(struct search *search, size_t n, struct attempt *attempts)
{
    if (search->approaches) TRY(search_approach(search, &n, attempts));
    return search_run_attempts(search, n, attempts);
}

/* ---- answers ---- */

static bool has_lower_unconverged(const struct search *search, const struct target *s)
{
    return s->unconverged.parameters && s->unconverged.twice_nll < s->twice_nll - search->same;
}

paritas_status search_leave_unconverged(struct search *search)
{
    struct attempt *attempts = infer_array(search->infer, search->n, sizeof *attempts);
    TRY(infer_memory(search->infer));
    search->lowered = true;
    for (int again = 0; again < CONTINUED_MOST && search->lowered; again++) {
        size_t n = 0;
        for (size_t i = 0; i < search->n; i++) {
            struct target *s = &search->targets[i];
            if (s->status == PARITAS_FIT_CONVERGED && has_lower_unconverged(search, s))
                attempts[n++] = (struct attempt){s, s->unconverged.parameters};
        }
        search->lowered = false;
        TRY(search_run_attempts(search, n, attempts));
    }
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        if (!has_lower_unconverged(search, s)) continue;
        s->status = s->unconverged_status;
        s->twice_nll = s->unconverged.twice_nll;
        s->parameters = s->unconverged.parameters;
        s->lower = true;
    }
    return PARITAS_OK;
}

/* The free fit with errors, from a point; `to` stays if it ends higher. */
static paritas_status fit_freely(struct search *search, const double *start, const struct target *s,
                                 struct infer_profile *to)
{
    struct infer_profile again;
    TRY(infer_free_fit_from(search->infer, search->profile, start, &again));
    const bool as_low = again.result.twice_nll <= s->twice_nll + search->same;
    if (as_low && (!to->parameters || again.result.status == PARITAS_FIT_CONVERGED)) *to = again;
    return PARITAS_OK;
}

/* A fit that starts at an edge of the domain may stay there without an end, where those before had one. */
static paritas_status give_free_fit(struct search *search, const struct target *s)
{
    struct infer_profile found = {.result.twice_nll = HUGE_VAL};
    TRY(fit_freely(search, s->parameters, s, &found));
    for (size_t k = 0; s->status == PARITAS_FIT_CONVERGED && s->n_ends > 0 && k < s->ends[0].n_starts &&
                       found.result.status != PARITAS_FIT_CONVERGED;
         k++)
        TRY(fit_freely(search, s->ends[0].starts[k], s, &found));
    if (found.parameters) *search->profile = found;
    return PARITAS_OK;
}

static void note_minima(const struct search *search, const struct target *s, size_t met)
{
    const double lowest = s->ends[0].twice_nll;
    const paritas_minima found = {
        .met = met, .apart = s->ends[met - 1].twice_nll - lowest, .next = s->ends[1].twice_nll - lowest};
    infer_note_minima(search->infer, &found, s->ends[0].parameters, s->ends[1].parameters);
}

paritas_status search_give_answers(struct search *search)
{
    for (size_t i = 0; i < search->n_asked; i++) {
        struct target *s = &search->targets[i];
        const size_t met = search_minima_within(s);
        if (met > 1) note_minima(search, s, met);
        if (!s->lower) continue;
        if (!s->point) {
            TRY(give_free_fit(search, s));
            continue;
        }
        s->point->status = s->status;
        s->point->twice_nll = s->twice_nll;
        s->point->parameters = s->parameters;
    }
    return PARITAS_OK;
}
