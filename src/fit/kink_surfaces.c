/* kink_surfaces.c: see kink_surfaces.h. */
#include "fit/kink_surfaces.h"
#include "fit/cholesky.h"
#include "fit/kinks.h"
#include "fit/minimum.h"

#include <math.h>
#include <string.h>

#define REACH_OF_FIT 0.03 /* errors: a fit that makes no progress is that near to its surfaces */
#define REACH_OF_END 1e-6 /* errors: a minimum lies on these */
#define DEPENDENT 1e8     /* the error of a g on the other surfaces is that much less, squared */
#define OFF 1e-10         /* errors: where a side's derivatives are taken */
#define KINK_SURFACES_ITERATIONS 30
#define WALKS 4          /* of a fit, each after Newton's method */
#define BELOW 1.5        /* depths: surfaces bend on the way down */
#define ROUNDS 30        /* steps of a walk */
#define CLOSE_STEPS 4    /* within the tolerance */
#define RETURNS 8        /* steps back onto surfaces */
#define HALVINGS 8       /* of a step */
#define RELEASE 1e-3     /* errors: how far a fit leaves a surface */
#define SLOPE_LEAST 1e-6 /* of twice the NLL per error: flat off a surface */

enum side { DOWN, UP, SIDES };

struct walk {
    paritas_context *context;
    const struct frozen *model;
    struct fit_job job;  /* its start is `at` */
    uint32_t iterations; /* of the whole fit, at most */
    size_t n;            /* surfaces held */
    size_t ids[KINK_SURFACES_MOST];
    double values[KINK_SURFACES_MOST], slopes[KINK_SURFACES_MOST], depths[KINK_SURFACES_MOST];
    /* rows of n_parameters: */
    double *at, *trial, *step;
    double *normals, *spread, *off; /* a row a surface: n, V n, a column of D */
    double *gradient;
    double *along;                               /* the gradient less its part off surfaces */
    double *last, *last_gradient, *last_normals; /* before the last step */
    double *v; /* n_parameters^2: V, then what steps tell of the inverse Hessian along surfaces */
    double *answer;
    bool whole; /* has it the matrix? */
    /* n x n: M, its inverse */
    double m[KINK_SURFACES_MOST * KINK_SURFACES_MOST], inverse[KINK_SURFACES_MOST * KINK_SURFACES_MOST];
};

/* ---- a list of surfaces ---- */

/* The number of parameter p's kink at 0, less p. */
#define OF_PARAMETER (SIZE_MAX / 2)

static double surface_at(const struct walk *w, const double *point, size_t id, double *normal, double *depth)
{
    const size_t n = w->model->n_parameters;
    if (id < OF_PARAMETER) return w->model->family->kink_surface(w->model, point, id, normal, depth);
    *depth = 0.0;
    memset(normal, 0, n * sizeof *normal);
    normal[id - OF_PARAMETER] = 1.0;
    return point[id - OF_PARAMETER];
}

/* Values and normals of the held surfaces at a point. */
static void look(struct walk *w, const double *point)
{
    for (size_t k = 0; k < w->n; k++)
        w->values[k] =
            surface_at(w, point, w->ids[k], w->normals + k * w->model->n_parameters, &w->depths[k]);
}

static void drop(struct walk *w, size_t k)
{
    w->n--;
    for (size_t i = k; i < w->n; i++) w->ids[i] = w->ids[i + 1];
}

static bool moves(const struct walk *w, size_t p)
{
    return !w->job.fixed[p] && (ptrdiff_t)p != w->job.held;
}

static double width_of(const struct frozen *model, size_t p)
{
    return model->width[p] > 0.0 ? model->width[p] : 1.0;
}

/* Lists surfaces near `at`: of the model, then kinks of parameters at their 0. */
static void find(struct walk *w, double reach)
{
    w->n = w->model->family->kink_surfaces_near(w->model, w->at, reach, KINK_SURFACES_MOST, w->ids);
    if (w->n == 0) return;
    for (size_t p = 0; p < w->model->n_parameters && w->n < KINK_SURFACES_MOST; p++)
        if (rows_is_kinked(w->model, &w->job, p) && fabs(w->at[p]) <= reach * width_of(w->model, p))
            w->ids[w->n++] = OF_PARAMETER + p;
}

/* ---- one side ---- */

static size_t answer_size(const struct frozen *model)
{
    return COVARIANCE_SIZE(model->n_slots, 1);
}

static void take_answer(void *user, const struct fit_job *job, const double *answer)
{
    struct walk *w = user;
    (void)job;
    memcpy(w->answer, answer, COVARIANCE_SIZE(w->model->n_slots, w->whole) * sizeof *answer);
}

/* The covariance's answer and the gradient at a point. `whole`: with the matrix. */
static paritas_status run(struct walk *w, const double *point, bool whole)
{
    w->whole = whole;
    struct fit_job job = w->job;
    job.start = point;
    TRY(rows_fits_run(w->context, w->context->host,
                      &(struct rows_fits){.model = w->model,
                                          .entry = w->model->family->covariance,
                                          .args = {[FIT_ARG_WHOLE] = whole},
                                          .n = 1,
                                          .jobs = &job,
                                          .take = take_answer,
                                          .user = w}));
    const double *slopes = w->answer + COVARIANCE_SLOPE * w->model->n_slots;
    for (size_t p = 0; p < w->model->n_parameters; p++) w->gradient[p] = slopes[w->model->slot_of[p]];
    return PARITAS_OK;
}

static double value_of(const struct walk *w)
{
    return w->answer[COVARIANCE_SCALAR(w->model->n_slots, COVARIANCE_VALUE)];
}

/* V of the last run. Without one, that of the constraints alone: steps tell the rest. */
static void take_v(struct walk *w)
{
    const size_t n = w->model->n_parameters, slots = w->model->n_slots;
    const double *matrix = w->answer + COVARIANCE_MATRIX(slots);
    if (!rows_has_covariance(w->model, w->answer)) {
        memset(w->v, 0, n * n * sizeof *w->v);
        for (size_t p = 0; p < n; p++)
            if (moves(w, p)) w->v[p * n + p] = width_of(w->model, p) * width_of(w->model, p);
        return;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            const size_t i = w->model->slot_of[a], j = w->model->slot_of[b];
            w->v[a * n + b] = w->v[b * n + a] = matrix[i > j ? i * slots + j : j * slots + i];
        }
}

/* V x into `to`. */
static void spread_of(const struct walk *w, const double *x, double *to)
{
    const size_t n = w->model->n_parameters;
    memset(to, 0, n * sizeof *to);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n && x[a] != 0.0; b++) to[b] += w->v[a * n + b] * x[a];
}

/* M, D of the held surfaces. False: some depend on others. */
static bool span(struct walk *w)
{
    const size_t p = w->model->n_parameters, n = w->n;
    double *factor = w->inverse;
    for (size_t k = 0; k < n; k++) spread_of(w, w->normals + k * p, w->spread + k * p);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            w->m[k * n + j] = dot_product(p, w->normals + k * p, w->spread + j * p);
    memcpy(factor, w->m, n * n * sizeof *factor);
    for (size_t k = 0; k < n; k++) factor[k * n + k] *= 1.0 + 1e-12;
    if (!invert_positive(n, factor)) return false;
    for (size_t k = 0; k < n; k++)
        if (factor[k * n + k] * w->m[k * n + k] > DEPENDENT) return false;
    memset(w->off, 0, n * p * sizeof *w->off);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < p; i++) w->off[k * p + i] += w->inverse[j * n + k] * w->spread[j * p + i];
    return true;
}

/* The error of g off surface k, on the others. */
static double error_of(const struct walk *w, size_t k)
{
    return 1.0 / sqrt(w->inverse[k * w->n + k]);
}

/* Moves `to` by so many errors off surface k. */
static void go_off(const struct walk *w, size_t k, double errors, double *to)
{
    const size_t n = w->model->n_parameters;
    for (size_t p = 0; p < n; p++) to[p] += errors * error_of(w, k) * w->off[k * n + p];
}

#define ALL_UP SIZE_MAX

/* `trial` := `at`, off all surfaces: up from `up`, down from others, to where slopes are those below. */
static void put_side(struct walk *w, size_t up)
{
    memcpy(w->trial, w->at, w->model->n_parameters * sizeof *w->trial);
    for (size_t k = 0; k < w->n; k++)
        go_off(w, k, k == up || up == ALL_UP ? OFF : -OFF - BELOW * w->depths[k] / error_of(w, k), w->trial);
}

static void keep_within(const struct walk *w, double *point)
{
    for (size_t p = 0; p < w->model->n_parameters; p++) {
        if (!moves(w, p)) continue;
        if (point[p] < w->job.lower[p]) point[p] = w->job.lower[p];
        if (point[p] > w->job.upper[p]) point[p] = w->job.upper[p];
    }
}

/* Moves a point onto the held surfaces, by D of the last side. */
static void land(struct walk *w, double *point)
{
    const size_t n = w->model->n_parameters;
    for (int round = 0; round < RETURNS; round++) {
        double worst = 0.0;
        look(w, point);
        for (size_t k = 0; k < w->n; k++) worst = fmax(worst, fabs(w->values[k]) / error_of(w, k));
        if (worst <= 1e-3 * OFF) break;
        for (size_t k = 0; k < w->n; k++)
            for (size_t p = 0; p < n; p++) point[p] -= w->values[k] * w->off[k * n + p];
        keep_within(w, point);
    }
    for (size_t k = 0; k < w->n; k++)
        if (w->ids[k] >= OF_PARAMETER) point[w->ids[k] - OF_PARAMETER] = 0.0;
}

/* ---- the walk ---- */

/* A parameter stays where it is, and V is that of the others. */
static void hold(struct walk *w, size_t p)
{
    const size_t n = w->model->n_parameters;
    const double own = w->v[p * n + p];
    memcpy(w->trial, w->v + p * n, n * sizeof *w->trial);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) w->v[a * n + b] -= w->trial[a] * w->trial[b] / own;
    for (size_t a = 0; a < n; a++) w->v[a * n + p] = w->v[p * n + a] = 0.0;
}

/* The step along surfaces, and slopes off them. False: they depend on each other. */
static bool find_step(struct walk *w)
{
    const size_t n = w->model->n_parameters;
    if (!span(w)) return false;
    memcpy(w->along, w->gradient, n * sizeof *w->along);
    for (size_t k = 0; k < w->n; k++) {
        w->slopes[k] = dot_product(n, w->off + k * n, w->gradient);
        for (size_t p = 0; p < n; p++) w->along[p] -= w->slopes[k] * w->normals[k * n + p];
    }
    spread_of(w, w->along, w->step);
    for (size_t p = 0; p < n; p++) w->step[p] = -w->step[p];
    return true;
}

/* A parameter that the step moves beyond its bound; n_parameters: there is none. */
static size_t beyond_bound(const struct walk *w)
{
    const size_t n = w->model->n_parameters;
    for (size_t p = 0; p < n; p++)
        if (w->v[p * n + p] > 0.0 && ((w->step[p] < 0.0 && w->at[p] <= w->job.lower[p]) ||
                                      (w->step[p] > 0.0 && w->at[p] >= w->job.upper[p])))
            return p;
    return n;
}

/* The side below all surfaces: the step, and its EDM of twice the NLL. Parameters at bounds stay there if the
 * step would take them beyond. False: surfaces depend on each other. */
static bool take_side(struct walk *w, double *edm)
{
    const size_t n = w->model->n_parameters;
    bool known = find_step(w);
    for (size_t p = 0; known && (p = beyond_bound(w)) < n; known = find_step(w)) hold(w, p);
    *edm = known ? fabs(dot_product(n, w->along, w->step)) : 0.0;
    return known;
}

/* What the last step tells of curvature along surfaces, by BFGS (Nocedal and Wright, 6.17): that of the
 * Lagrangian, to which surfaces that bend add theirs. */
static void learn(struct walk *w)
{
    const size_t n = w->model->n_parameters;
    double *moved = w->last, *turned = w->last_gradient, *vy = w->trial;
    for (size_t p = 0; p < n; p++) {
        moved[p] = w->at[p] - moved[p];
        turned[p] = w->along[p] - turned[p];
    }
    for (size_t k = 0; k < w->n; k++)
        for (size_t p = 0; p < n; p++) turned[p] += w->slopes[k] * w->last_normals[k * n + p];
    const double curved = dot_product(n, moved, turned);
    spread_of(w, turned, vy);
    const double size = dot_product(n, turned, vy);
    if (!(curved > 0.0 && size > 0.0)) return;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            w->v[a * n + b] += (1.0 + size / curved) * moved[a] * moved[b] / curved -
                               (vy[a] * moved[b] + moved[a] * vy[b]) / curved;
}

static paritas_status run_side(struct walk *w, size_t up, bool whole)
{
    put_side(w, up);
    TRY(run(w, w->trial, whole));
    look(w, w->at);
    return PARITAS_OK;
}

/* Holds the surfaces near `at`. Those that depend on nearer ones are left out. */
static paritas_status gather(struct walk *w, double reach)
{
    find(w, reach);
    if (w->n == 0) return PARITAS_OK;
    TRY(run(w, w->at, true));
    take_v(w);
    look(w, w->at);
    while (w->n > 0 && !span(w)) w->n--;
    return PARITAS_OK;
}

/* Onto the surfaces near `at`. False: there are none. */
static paritas_status begin(struct walk *w, bool *begun)
{
    TRY(gather(w, REACH_OF_FIT));
    *begun = w->n > 0;
    if (*begun) land(w, w->at);
    return PARITAS_OK;
}

/* How much of the step there is before a bound, at most all of it. */
static double part_within(const struct walk *w)
{
    double part = 1.0;
    for (size_t p = 0; p < w->model->n_parameters; p++) {
        const double bound = w->step[p] > 0.0 ? w->job.upper[p] : w->job.lower[p];
        if (moves(w, p) && w->step[p] != 0.0) part = fmin(part, (bound - w->at[p]) / w->step[p]);
    }
    return fmax(part, 0.0);
}

/* Goes along the step, and back onto the surfaces, by less until that does not raise the value. */
static paritas_status go_along(struct walk *w, bool *gone)
{
    const size_t n = w->model->n_parameters;
    double part = part_within(w);
    memcpy(w->last, w->at, n * sizeof *w->last);
    memcpy(w->last_gradient, w->gradient, n * sizeof *w->last_gradient);
    memcpy(w->last_normals, w->normals, w->n * n * sizeof *w->normals);
    TRY(run(w, w->at, false)); /* for the value: its gradient is of either side */
    const double before = value_of(w), noise = 1e-15 * (1.0 + fabs(before));
    *gone = false;
    for (int halving = 0; halving < HALVINGS && !*gone; halving++, part *= 0.5) {
        for (size_t p = 0; p < n; p++) w->trial[p] = w->at[p] + part * w->step[p];
        keep_within(w, w->trial);
        land(w, w->trial);
        TRY(run(w, w->trial, false));
        *gone = value_of(w) <= before + noise;
    }
    if (*gone) memcpy(w->at, w->trial, n * sizeof *w->at);
    return PARITAS_OK;
}

/* Slope of twice the NLL off surface k, per error. */
static double fall(const struct walk *w, size_t k, double slope)
{
    return 2.0 * slope * error_of(w, k);
}

/* Leaves the surface off which the NLL falls most: others may fall for its sake alone. At the minimum along
 * surfaces, after take_side. */
static paritas_status leave(struct walk *w, bool *left)
{
    const size_t n = w->model->n_parameters;
    double most = SLOPE_LEAST;
    size_t which = w->n;
    bool down = false;
    for (size_t k = 0; k < w->n; k++) {
        TRY(run_side(w, k, false));
        const double below = fall(w, k, w->slopes[k]),
                     above = -fall(w, k, dot_product(n, w->off + k * n, w->gradient)),
                     falls = fmax(below, above);
        if (!(falls > most)) continue;
        most = falls;
        which = k;
        down = below > above;
    }
    *left = which < w->n;
    if (!*left) return PARITAS_OK;
    go_off(w, which, down ? -RELEASE : RELEASE, w->at);
    keep_within(w, w->at);
    drop(w, which);
    look(w, w->at);
    if (w->n > 0 && span(w)) land(w, w->at);
    return PARITAS_OK;
}

/* At the minimum along surfaces: leaves one of them, or ends. */
static paritas_status end_walk(struct walk *w, double edm, struct fit_outcome *outcome, bool *goes_on,
                               bool *moved)
{
    bool left;
    TRY(leave(w, &left));
    *goes_on = left && w->n > 0;
    *moved = left && w->n == 0;
    if (left) return PARITAS_OK;
    TRY(run(w, w->at, false));
    outcome->status = PARITAS_FIT_CONVERGED;
    outcome->edm = edm;
    outcome->value = value_of(w);
    return PARITAS_OK;
}

static uint32_t iterations_left(const struct walk *w, const struct fit_outcome *outcome)
{
    return outcome->iterations < w->iterations ? w->iterations - outcome->iterations : 0;
}

/* Walks from `at`. `outcome`: CONVERGED if it ended at a minimum on surfaces. `beside`: surfaces were near.
 * `moved`: it left the last of them, and Newton's method may go on from there. */
static paritas_status walk(struct walk *w, struct fit_outcome *outcome, bool *beside, bool *moved)
{
    bool goes_on, gone = false;
    *beside = false;
    int close = 0;     /* steps within the tolerance: a few, as far as rounding lets them */
    bool fresh = true; /* V is of `at` */
    TRY(begin(w, &goes_on));
    *beside = goes_on;
    for (int round = 0; round < ROUNDS && goes_on && iterations_left(w, outcome) > 0; round++) {
        double edm;
        TRY(run_side(w, w->n, false));
        outcome->iterations++;
        if (!take_side(w, &edm)) break;
        if (gone) {
            learn(w);
            take_side(w, &edm);
        }
        gone = false;
        close += edm <= EDM_TOLERANCE_F64;
        if (edm > EDM_CLOSER * EDM_TOLERANCE_F64 && close < CLOSE_STEPS) TRY(go_along(w, &gone));
        if (!gone && edm <= EDM_TOLERANCE_F64) TRY(end_walk(w, edm, outcome, &goes_on, moved));
        if (!gone && edm > EDM_TOLERANCE_F64) {
            if (fresh) break;
            TRY(begin(w, &goes_on)); /* other surfaces may be in the way, or bounds no longer */
        }
        fresh = !gone;
    }
    return PARITAS_OK;
}

/* ---- memory ---- */

static paritas_status walk_open(struct walk *w, struct arena *arena)
{
    const size_t n = w->model->n_parameters;
    arena_open(arena, &w->context->allocator);
    w->at = arena_array(arena, (7 + 4 * KINK_SURFACES_MOST + n) * n, sizeof *w->at);
    w->answer = arena_array(arena, answer_size(w->model), sizeof *w->answer);
    if (!w->at || !w->answer) return paritas_fail_memory(w->context);
    double **rows[] = {&w->trial, &w->step, &w->gradient, &w->along, &w->last, &w->last_gradient},
           **lists[] = {&w->normals, &w->spread, &w->off, &w->last_normals}, *at = w->at;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) *rows[k] = at += n;
    at += n;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++, at += KINK_SURFACES_MOST * n) *lists[k] = at;
    w->v = at;
    return PARITAS_OK;
}

/* ---- fits ---- */

static bool is_stuck(const struct fit_outcome *outcome)
{
    return outcome->inside &&
           (outcome->status == PARITAS_FIT_NO_PROGRESS || outcome->status == PARITAS_FIT_AT_ITERATION_LIMIT);
}

struct newton_end {
    const struct frozen *model;
    double *point;
    struct fit_outcome *outcome;
};

static void take_end(void *user, const struct fit_job *job, const double *answer)
{
    const struct newton_end *end = user;
    const unsigned spent = end->outcome->iterations;
    (void)job;
    *end->outcome = rows_get_outcome(end->model, answer);
    end->outcome->iterations += spent;
    rows_get_point(end->model, answer, end->point);
}

/* Newton's method from `point`. */
static paritas_status fit_on(const struct walk *w, uint32_t iterations, double *point,
                             struct fit_outcome *outcome)
{
    struct fit_job job = w->job;
    struct newton_end end = {w->model, point, outcome};
    job.start = w->at;
    memcpy(w->at, point, w->model->n_parameters * sizeof *point);
    return rows_fits_run(w->context, w->context->host,
                         &(struct rows_fits){.model = w->model,
                                             .entry = w->model->family->fit[PARITAS_MINIMIZER_NEWTON],
                                             .args = {[FIT_ARG_ITERATIONS] = iterations,
                                                      [FIT_ARG_FLAGS] = FIT_FROM_NEAR | FIT_TO_CLOSER},
                                             .n = 1,
                                             .jobs = &job,
                                             .take = take_end,
                                             .user = &end});
}

static paritas_status settle(struct walk *w, double *point, struct fit_outcome *outcome)
{
    uint32_t left;
    for (int k = 0; k < WALKS && is_stuck(outcome) && iterations_left(w, outcome) > 0; k++) {
        bool beside, moved = false;
        memcpy(w->at, point, w->model->n_parameters * sizeof *point);
        if (w->job.held >= 0) w->at[w->job.held] = w->job.held_at;
        TRY(walk(w, outcome, &beside, &moved));
        if (moved || outcome->status == PARITAS_FIT_CONVERGED)
            memcpy(point, w->at, w->model->n_parameters * sizeof *point);
        if (outcome->status == PARITAS_FIT_CONVERGED || (beside && !moved)) break;
        left = iterations_left(w, outcome);
        if (left == 0) break;
        if (!beside) return fit_on(w, left, point, outcome);
        TRY(fit_on(w, left < KINK_SURFACES_ITERATIONS ? left : KINK_SURFACES_ITERATIONS, point, outcome));
    }
    if (is_stuck(outcome) && iterations_left(w, outcome) == 0)
        outcome->status = PARITAS_FIT_AT_ITERATION_LIMIT;
    return PARITAS_OK;
}

uint32_t kink_surfaces_limit(const struct frozen *model, uint32_t iterations)
{
    return model->has_kink_surfaces && iterations > KINK_SURFACES_ITERATIONS ? KINK_SURFACES_ITERATIONS
                                                                             : iterations;
}

paritas_status kink_surfaces_settle(paritas_context *context, const struct frozen *model,
                                    const struct fit_job *job, uint32_t iterations, double *point,
                                    struct fit_outcome *outcome)
{
    struct walk w = {.context = context, .model = model, .job = *job, .iterations = iterations};
    struct arena arena;
    if (!model->has_kink_surfaces || !is_stuck(outcome) || iterations_left(&w, outcome) == 0)
        return PARITAS_OK;
    paritas_status status = walk_open(&w, &arena);
    if (status == PARITAS_OK) status = settle(&w, point, outcome);
    arena_free(&arena);
    return status;
}

/* ---- errors ---- */

bool kink_surfaces_hold(const struct frozen *model, const struct fit_job *job)
{
    size_t id;
    return model->has_kink_surfaces &&
           model->family->kink_surfaces_near(model, job->start, REACH_OF_END, 1, &id) > 0;
}

/* What both sides give, in the order of parameters. */
struct both {
    double *matrix;                                        /* n_parameters^2: along surfaces */
    double *follow[SIDES];                                 /* D of each, a row a surface */
    double stiff[KINK_SURFACES_MOST * KINK_SURFACES_MOST]; /* M^-1 */
    double errors[KINK_SURFACES_MOST];
    double edm, pull;
    double sides; /* that have a covariance */
};

/* V - V N M^-1 N^T V: how a side lets parameters move along surfaces. */
static void add_along(const struct walk *w, double *matrix)
{
    const size_t n = w->model->n_parameters;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = w->v[a * n + b];
            for (size_t k = 0; k < w->n; k++) sum -= w->spread[k * n + a] * w->off[k * n + b];
            matrix[a * n + b] += sum;
        }
}

/* A side's EDM and largest pull: along surfaces, and off those where it falls. */
static void judge_side(const struct walk *w, enum side side, double edm, struct both *both)
{
    const size_t n = w->model->n_parameters;
    double pull = 0.0;
    for (size_t k = 0; k < w->n; k++) {
        const double slope = fmax(side == UP ? -w->slopes[k] : w->slopes[k], 0.0);
        edm += slope * slope * w->m[k * w->n + k];
        pull = fmax(pull, fall(w, k, slope));
    }
    for (size_t p = 0; p < n; p++) pull = fmax(pull, fabs(2.0 * w->along[p]) * sqrt(w->v[p * n + p]));
    both->edm = fmax(both->edm, edm);
    both->pull = fmax(both->pull, pull);
}

static paritas_status add_side(struct walk *w, enum side side, struct both *both)
{
    const size_t n = w->model->n_parameters;
    double edm;
    TRY(run_side(w, side == UP ? ALL_UP : w->n, true));
    take_v(w);
    if (!rows_has_covariance(w->model, w->answer) || !take_side(w, &edm)) return PARITAS_OK;
    both->sides += 1.0;
    judge_side(w, side, edm, both);
    add_along(w, both->matrix);
    memcpy(both->follow[side], w->off, w->n * n * sizeof *w->off);
    for (size_t k = 0; k < w->n; k++) {
        const double rise = fmax(side == UP ? w->slopes[k] : -w->slopes[k], 0.0);
        both->errors[k] += kinks_error(rise, w->inverse[k * w->n + k]);
        for (size_t j = 0; j < w->n; j++) both->stiff[k * w->n + j] += w->inverse[k * w->n + j];
    }
    return PARITAS_OK;
}

/* Adds what goes off surfaces, with their errors, correlated as their curvature says. */
static void add_off(const struct walk *w, struct both *both)
{
    const size_t n = w->model->n_parameters;
    double *covariance = both->stiff;
    for (size_t k = 0; k < w->n * w->n; k++) covariance[k] /= both->sides;
    for (size_t k = 0; k < w->n; k++) both->errors[k] /= both->sides;
    kinks_correlate(w->n, both->errors, covariance);
    for (enum side side = DOWN; side < SIDES; side++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++)
                for (size_t k = 0; k < w->n; k++)
                    for (size_t j = 0; j < w->n; j++)
                        both->matrix[a * n + b] += both->follow[side][k * n + a] * covariance[k * w->n + j] *
                                                   both->follow[side][j * n + b];
}

static void put_answer(struct walk *w, const struct both *both, double *answer)
{
    const size_t n = w->model->n_parameters, slots = w->model->n_slots;
    double *scalars = answer + COVARIANCE_SCALAR(slots, 0), *matrix = answer + COVARIANCE_MATRIX(slots);
    memcpy(answer, w->answer, answer_size(w->model) * sizeof *answer);
    scalars[COVARIANCE_BAD] = 0.0;
    scalars[COVARIANCE_EDM] = both->edm;
    scalars[COVARIANCE_PULL] = both->pull;
    for (size_t a = 0; a < n; a++) {
        const size_t i = w->model->slot_of[a];
        for (size_t b = 0; b <= a; b++) {
            const size_t j = w->model->slot_of[b];
            matrix[i > j ? i * slots + j : j * slots + i] = both->matrix[a * n + b] / both->sides;
        }
        const double variance = both->matrix[a * n + a] / both->sides;
        answer[COVARIANCE_ERRORS * slots + i] = variance > 0.0 ? sqrt(variance) : 0.0;
    }
}

static paritas_status find_covariance(struct walk *w, struct both *both, double *answer)
{
    const size_t n = w->model->n_parameters;
    TRY(gather(w, REACH_OF_END));
    for (enum side side = DOWN; side < SIDES; side++) {
        both->follow[side] = both->matrix + n * n + (size_t)side * KINK_SURFACES_MOST * n;
        TRY(add_side(w, side, both));
    }
    if (both->sides > 0.0) {
        add_off(w, both);
        put_answer(w, both, answer);
    } else {
        memcpy(answer, w->answer, answer_size(w->model) * sizeof *answer);
    }
    return PARITAS_OK;
}

paritas_status kink_surfaces_covariance(paritas_context *context, const struct frozen *model,
                                        const struct fit_job *job, double *answer)
{
    struct walk w = {.context = context, .model = model, .job = *job};
    struct both both = {.edm = 0.0};
    struct arena arena;
    paritas_status status = walk_open(&w, &arena);
    const size_t n = model->n_parameters;
    both.matrix = arena_array(&arena, n * (n + SIDES * KINK_SURFACES_MOST), sizeof *both.matrix);
    if (status == PARITAS_OK && !both.matrix) status = paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        memcpy(w.at, job->start, n * sizeof *w.at);
        status = find_covariance(&w, &both, answer);
    }
    arena_free(&arena);
    return status;
}
