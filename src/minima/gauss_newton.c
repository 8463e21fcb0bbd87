/* gauss_newton.c: fits by Fisher's matrix.
 *
 * With J the rates' Jacobian, r the rates, D the constraints' inverse variances and g the gradient of twice
 * the NLL, the step is -(D + J^T R^-1 J)^-1 g / 2. By Woodbury's identity it takes the system
 * (R + J D^-1 J^T) y = J D^-1 b of as many equations as there are bins. */
#include "minima/gauss_newton.h"
#include "fit/cholesky.h"
#include "fit/family.h"

#include <math.h>
#include <string.h>

#define BINS_MOST 256      /* their matrix costs the square */
#define ITERATIONS_MOST 10 /* what is not near an end then, Newton's method serves better */
#define TRIALS_MOST 7      /* of a step */
#define SHORTER 0.4        /* from trial to trial */
#define DRAWN 0.85         /* of the way to the domain that is left */
#define DRAWS_MOST 30
#define LEAST_RATE 1e-3              /* of Fisher's matrix: an empty bin has no information */
#define FREE_VARIANCE 1e6            /* of parameters without a constraint */
#define NEAR 0.2                     /* a known minimum: in half squared errors, and in twice the NLL */
#define READS 1.0                    /* twice the NLL: a step that promises less tells the end */
#define AT_END 1e-3                  /* the same: Newton's method takes a step or two more */
#define ELEMENTS_TOGETHER (1u << 20) /* of Jacobians in memory at once */

struct trial {
    struct gauss_fit *fit;
    bool open, has_value;
    double decrease, length; /* of twice the NLL by the step, as the matrix says; a part of the step */
    double *gradient, *step, *moved;
};

struct solver {
    struct infer *infer;
    const double *data;
    struct arena arena;
    size_t p, bins, n_main;
    size_t *used;                   /* the main data that count */
    const double *templates;        /* a data row for each fit; NULL: the model has none */
    const double *rates, *jacobian; /* of the fit in hand: n_main; n_main rows of p */
    double *across;                 /* p rows of bins: the Jacobian, turned */
    double *variance, *b, *matrix, *y, *held;
    unsigned char *moves;
};

bool gauss_newton_serves(const struct infer *infer)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    size_t bins = 0;
    if (model->no_expectation || !model->family->expected_jacobian) return false;
    for (size_t i = 0; i < model->n_main; i++) {
        if (frozen_is_masked(model, i)) continue;
        if (!frozen_counts(model, i) || model->family->precision(model, i) > 0.0) return false;
        bins++;
    }
    return bins > 0 && bins <= BINS_MOST;
}

/* ---- the step ---- */

static double variance_of(const struct infer *infer, size_t i)
{
    const double width = infer->widths[i];
    return width > 0.0 ? width * width : FREE_VARIANCE;
}

static bool is_held(const struct infer *infer, const struct gauss_fit *fit, const double *gradient, size_t i)
{
    const double x = fit->point[i];
    return fit->fixed[i] || (x <= infer->base.lower[i] && gradient[i] > 0.0) ||
           (x >= infer->base.upper[i] && gradient[i] < 0.0);
}

static double rate_of(const struct solver *s, size_t b)
{
    return fmax(s->rates[s->used[b]], LEAST_RATE);
}

static void turn_jacobian(struct solver *s)
{
    for (size_t b = 0; b < s->bins; b++) {
        const double *row = s->jacobian + s->used[b] * s->p;
        for (size_t i = 0; i < s->p; i++) s->across[i * s->bins + b] = row[i];
    }
}

/* R + J D^-1 J^T, the upper triangle. */
static void put_matrix(struct solver *s)
{
    const size_t n = s->bins;
    memset(s->matrix, 0, n * n * sizeof *s->matrix);
    for (size_t i = 0; i < s->p; i++) {
        const double *column = s->across + i * n;
        if (!s->moves[i]) continue;
        for (size_t a = 0; a < n; a++) {
            const double scaled = s->variance[i] * column[a];
            if (scaled == 0.0) continue;
            for (size_t b = a; b < n; b++) s->matrix[a * n + b] += scaled * column[b];
        }
    }
    for (size_t a = 0; a < n; a++) s->matrix[a * n + a] += rate_of(s, a);
}

/* y := (U^T U)^-1 y */
static void solve(size_t n, const double *u, double *y)
{
    for (size_t j = 0; j < n; j++) {
        y[j] /= u[j * n + j];
        for (size_t i = j + 1; i < n; i++) y[i] -= u[j * n + i] * y[j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++) y[j] -= u[j * n + i] * y[i];
        y[j] /= u[j * n + j];
    }
}

static double along(const struct solver *s, size_t i, const double *bins)
{
    double sum = 0.0;
    for (size_t b = 0; b < s->bins; b++) sum += s->across[i * s->bins + b] * bins[b];
    return sum;
}

/* The step of all that moves, where held parameters go their way to a bound. False: no step. */
static bool put_step(struct solver *s, const double *gradient, double *step)
{
    memset(s->held, 0, s->bins * sizeof *s->held);
    memset(s->y, 0, s->bins * sizeof *s->y);
    for (size_t i = 0; i < s->p; i++)
        for (size_t b = 0; !s->moves[i] && step[i] != 0.0 && b < s->bins; b++)
            s->held[b] += s->across[i * s->bins + b] * step[i];
    for (size_t b = 0; b < s->bins; b++) s->held[b] /= rate_of(s, b);
    for (size_t i = 0; i < s->p; i++) {
        if (!s->moves[i]) continue;
        s->b[i] = -0.5 * gradient[i] - along(s, i, s->held);
        for (size_t b = 0; b < s->bins; b++) s->y[b] += s->across[i * s->bins + b] * s->variance[i] * s->b[i];
    }
    put_matrix(s);
    if (!cholesky(s->bins, s->matrix)) return false;
    solve(s->bins, s->matrix, s->y);
    for (size_t i = 0; i < s->p; i++)
        if (s->moves[i]) step[i] = s->variance[i] * (s->b[i] - along(s, i, s->y));
    return true;
}

/* Where a parameter may go; a fixed one may lie outside its bounds. */
static double reached(const struct solver *s, const struct gauss_fit *fit, size_t i, double step)
{
    return fit->fixed[i] ? fit->point[i] : infer_bounded(s->infer, i, fit->point[i] + step);
}

/* Parameters that the step takes beyond a bound end there. True: there were some. */
static bool hold_beyond(struct solver *s, const struct gauss_fit *fit, double *step)
{
    bool beyond = false;
    for (size_t i = 0; i < s->p; i++) {
        if (!s->moves[i]) continue;
        const double to = fit->point[i] + step[i], within = infer_bounded(s->infer, i, to);
        if (to == within) continue;
        step[i] = within - fit->point[i];
        s->moves[i] = 0;
        beyond = true;
    }
    return beyond;
}

/* A factor moves by its size at most: its rates are a product with others'. */
static void shorten(const struct solver *s, const struct gauss_fit *fit, double *step)
{
    double longest = 1.0;
    for (size_t i = 0; i < s->p; i++)
        if (!(s->infer->widths[i] > 0.0))
            longest = fmax(longest, fabs(step[i]) / fmax(1.0, fabs(fit->point[i])));
    for (size_t i = 0; longest > 1.0 && i < s->p; i++) step[i] /= longest;
}

/* The step from the fit's point; false: none. */
static bool find_step(struct solver *s, struct trial *trial)
{
    struct gauss_fit *fit = trial->fit;
    memset(trial->step, 0, s->p * sizeof *trial->step);
    for (size_t i = 0; i < s->p; i++) s->moves[i] = !is_held(s->infer, fit, trial->gradient, i);
    turn_jacobian(s);
    for (int round = 0; round < 3; round++) {
        if (!put_step(s, trial->gradient, trial->step)) return false;
        if (!hold_beyond(s, fit, trial->step)) break;
    }
    shorten(s, fit, trial->step);
    trial->decrease = 0.0;
    for (size_t i = 0; i < s->p; i++) {
        trial->step[i] = reached(s, fit, i, trial->step[i]) - fit->point[i];
        trial->decrease -= 0.5 * trial->gradient[i] * trial->step[i];
    }
    return isfinite(trial->decrease);
}

/* Does the step end in a known minimum, by Fisher's matrix? */
static bool goes_to(struct solver *s, const struct trial *trial, const double *known, double twice_nll)
{
    const struct gauss_fit *fit = trial->fit;
    double half = 0.0;
    if (!(trial->decrease < READS && fabs(fit->twice_nll - trial->decrease - twice_nll) < NEAR)) return false;
    memset(s->y, 0, s->bins * sizeof *s->y);
    for (size_t i = 0; i < s->p; i++) {
        const double apart = fit->point[i] + trial->step[i] - known[i];
        if (apart == 0.0) continue;
        half += 0.5 * apart * apart / s->variance[i];
        for (size_t b = 0; b < s->bins; b++) s->y[b] += s->across[i * s->bins + b] * apart;
    }
    for (size_t b = 0; b < s->bins; b++) half += 0.5 * s->y[b] * s->y[b] / rate_of(s, b);
    return half < NEAR;
}

/* ---- fits side by side ---- */

/* Values and gradients at `moved` of the listed trials. */
static paritas_status evaluate(struct solver *s, size_t n, struct trial *const *list, double *values,
                               double *gradients)
{
    double *points = arena_array(&s->arena, n, s->p * sizeof *points);
    if (!points) return paritas_fail_memory(s->infer->context);
    for (size_t k = 0; k < n; k++) memcpy(points + k * s->p, list[k]->moved, s->p * sizeof *points);
    return infer_evaluate(s->infer, n, points, s->data, values, gradients, NULL);
}

static void accept(const struct solver *s, struct trial *trial, double value, const double *gradient)
{
    memcpy(trial->fit->point, trial->moved, s->p * sizeof *trial->moved);
    memcpy(trial->gradient, gradient, s->p * sizeof *gradient);
    trial->fit->twice_nll = value;
    trial->has_value = true;
}

/* Values at the starts; those outside the domain are drawn in. */
static paritas_status enter(struct solver *s, size_t n, struct trial *trials, struct trial **list,
                            double *values, double *gradients)
{
    for (size_t k = 0; k < n; k++) memcpy(trials[k].moved, trials[k].fit->point, s->p * sizeof(double));
    for (int draw = 0; draw <= DRAWS_MOST; draw++) {
        size_t m = 0;
        for (size_t k = 0; k < n; k++)
            if (!trials[k].has_value) list[m++] = &trials[k];
        if (m == 0) break;
        TRY(evaluate(s, m, list, values, gradients));
        for (size_t k = 0; k < m; k++) {
            const double *inside = list[k]->fit->inside;
            if (isfinite(values[k])) accept(s, list[k], values[k], gradients + k * s->p);
            for (size_t i = 0; i < s->p && !list[k]->has_value; i++)
                list[k]->moved[i] = inside[i] + DRAWN * (list[k]->moved[i] - inside[i]);
        }
    }
    for (size_t k = 0; k < n; k++) trials[k].open = trials[k].has_value;
    return PARITAS_OK;
}

/* Steps of the open fits among n, and which of them end. */
static paritas_status find_steps(struct solver *s, size_t n, struct trial **list, double *points,
                                 double *expected, double *jacobians)
{
    struct infer *infer = s->infer;
    const size_t n_data = infer->n_data;
    for (size_t k = 0; k < n; k++) memcpy(points + k * s->p, list[k]->fit->point, s->p * sizeof *points);
    TRY(family_expected_data(infer->context, infer->context->host, infer->model, n, points, s->templates,
                             expected));
    TRY(family_expected_jacobian(infer->context, infer->context->host, infer->model, n, points, s->templates,
                                 jacobians));
    for (size_t k = 0; k < n; k++) {
        struct trial *trial = list[k];
        struct gauss_fit *fit = trial->fit;
        s->rates = expected + k * n_data;
        s->jacobian = jacobians + k * s->n_main * s->p;
        trial->length = 1.0;
        trial->open = find_step(s, trial) && trial->decrease > AT_END;
        for (size_t j = 0; isfinite(trial->decrease) && j < fit->n_known && fit->goes_to < 0; j++)
            if (goes_to(s, trial, fit->known[j], fit->known_nll[j])) fit->goes_to = (ptrdiff_t)j;
        trial->open = trial->open && fit->goes_to < 0;
    }
    return PARITAS_OK;
}

/* Goes along the steps as far as they lower the value. A fit that cannot is left where it is. */
static paritas_status take_steps(struct solver *s, size_t n, struct trial **list, double *values,
                                 double *gradients)
{
    for (int round = 0; round < TRIALS_MOST && n > 0; round++) {
        size_t left = 0;
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < s->p; i++)
                list[k]->moved[i] = reached(s, list[k]->fit, i, list[k]->length * list[k]->step[i]);
        TRY(evaluate(s, n, list, values, gradients));
        for (size_t k = 0; k < n; k++) {
            const double now = list[k]->fit->twice_nll;
            if (values[k] < now - 1e-9 * (1.0 + fabs(now))) {
                accept(s, list[k], values[k], gradients + k * s->p);
                continue;
            }
            list[k]->length *= SHORTER;
            list[left++] = list[k];
        }
        n = left;
    }
    for (size_t k = 0; k < n; k++) list[k]->open = false;
    return PARITAS_OK;
}

/* The job's templates, once for each fit. */
static paritas_status repeat_templates(struct solver *s, size_t n)
{
    const size_t row = s->infer->n_data;
    if (paritas_model_template_count(s->infer->model) == 0) return PARITAS_OK;
    double *rows = arena_array(&s->arena, n, row * sizeof *rows);
    if (!rows) return paritas_fail_memory(s->infer->context);
    for (size_t k = 0; k < n; k++) memcpy(rows + k * row, s->infer->base.data, row * sizeof *rows);
    s->templates = rows;
    return PARITAS_OK;
}

static paritas_status run(struct solver *s, size_t n, struct trial *trials)
{
    struct arena *arena = &s->arena;
    struct trial **list = arena_array(arena, n, sizeof *list);
    double *values = arena_array(arena, n, sizeof *values),
           *gradients = arena_array(arena, n, s->p * sizeof *gradients),
           *points = arena_array(arena, n, s->p * sizeof *points),
           *expected = arena_array(arena, n, s->infer->n_data * sizeof *expected),
           *jacobians = arena_array(arena, n, s->n_main * s->p * sizeof *jacobians);
    if (!list || !values || !gradients || !points || !expected || !jacobians)
        return paritas_fail_memory(s->infer->context);
    TRY(repeat_templates(s, n));
    TRY(enter(s, n, trials, list, values, gradients));
    for (int iteration = 0; iteration < ITERATIONS_MOST; iteration++) {
        size_t m = 0, going = 0;
        for (size_t k = 0; k < n; k++)
            if (trials[k].open) list[m++] = &trials[k];
        if (m == 0) break;
        TRY(find_steps(s, m, list, points, expected, jacobians));
        for (size_t k = 0; k < m; k++)
            if (list[k]->open) list[going++] = list[k];
        TRY(take_steps(s, going, list, values, gradients));
    }
    return PARITAS_OK;
}

/* Fits that are in memory together. */
static paritas_status run_together(struct infer *infer, const double *data, size_t n, struct gauss_fit *fits)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct solver s = {
        .infer = infer, .data = data, .p = infer->n_parameters, .n_main = model->n_main, .bins = 0};
    arena_open(&s.arena, &infer->context->allocator);
    paritas_status status = PARITAS_OK;
    struct trial *trials = arena_array(&s.arena, n, sizeof *trials);
    double *rows = arena_array(&s.arena, n, 3 * s.p * sizeof *rows);
    s.used = arena_array(&s.arena, s.n_main, sizeof *s.used);
    for (size_t i = 0; s.used && i < s.n_main; i++)
        if (!frozen_is_masked(model, i)) s.used[s.bins++] = i;
    s.across = arena_array(&s.arena, s.p, s.bins * sizeof *s.across);
    s.matrix = arena_array(&s.arena, s.bins, s.bins * sizeof *s.matrix);
    double *parts = arena_array(&s.arena, 2 * s.p + 2 * s.bins, sizeof *parts);
    s.moves = arena_array(&s.arena, s.p, 1);
    if (!trials || !rows || !s.used || !s.across || !s.matrix || !parts || !s.moves)
        status = paritas_fail_memory(infer->context);
    if (status == PARITAS_OK) {
        s.variance = parts;
        s.b = s.variance + s.p;
        s.y = s.b + s.p;
        s.held = s.y + s.bins;
        for (size_t i = 0; i < s.p; i++) s.variance[i] = variance_of(infer, i);
        for (size_t k = 0; k < n; k++) {
            fits[k].goes_to = -1;
            trials[k] = (struct trial){.fit = &fits[k],
                                       .gradient = rows + 3 * k * s.p,
                                       .step = rows + (3 * k + 1) * s.p,
                                       .moved = rows + (3 * k + 2) * s.p};
        }
        status = run(&s, n, trials);
    }
    arena_free(&s.arena);
    return status;
}

paritas_status gauss_newton_run(struct infer *infer, const double *data, size_t n, struct gauss_fit *fits)
{
    const size_t elements = paritas_model_frozen(infer->model)->n_main * infer->n_parameters + 1,
                 most = ELEMENTS_TOGETHER / elements, together = most < 1 ? 1 : most;
    for (size_t i = 0; i < n; i += together)
        TRY(run_together(infer, data, n - i < together ? n - i : together, fits + i));
    return PARITAS_OK;
}
