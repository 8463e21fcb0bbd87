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
    double *templates;              /* a data row for each fit; NULL: the model has none */
    const double *rates, *jacobian; /* of the fit in hand: n_main; n_main rows of p */
    double *across;                 /* p rows of bins: the Jacobian, turned */
    double *variance, *b, *matrix, *y, *held;
    unsigned char *moves;
    /* of all fits in memory, a row each: where they are evaluated, and the answers */
    struct trial **list;
    double *points, *values, *gradients, *expected, *jacobians;
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

static double along(const struct solver *s, size_t i, const double *bins)
{
    return dot_product(s->bins, s->across + i * s->bins, bins);
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
    cholesky_solve(s->bins, s->matrix, s->y);
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

/* Values and gradients at `moved` of the first n listed trials. */
static paritas_status evaluate(struct solver *s, size_t n)
{
    for (size_t k = 0; k < n; k++) memcpy(s->points + k * s->p, s->list[k]->moved, s->p * sizeof *s->points);
    return infer_evaluate(s->infer, n, s->points, s->data, s->values, s->gradients, NULL);
}

/* The k-th listed trial goes where it was evaluated. */
static void accept(const struct solver *s, size_t k)
{
    struct trial *trial = s->list[k];
    memcpy(trial->fit->point, trial->moved, s->p * sizeof *trial->moved);
    memcpy(trial->gradient, s->gradients + k * s->p, s->p * sizeof *trial->gradient);
    trial->fit->twice_nll = s->values[k];
    trial->has_value = true;
}

/* Values at the starts; those outside the domain are drawn in. */
static paritas_status enter(struct solver *s, size_t n, struct trial *trials)
{
    for (size_t k = 0; k < n; k++) memcpy(trials[k].moved, trials[k].fit->point, s->p * sizeof(double));
    for (int draw = 0; draw <= DRAWS_MOST; draw++) {
        size_t m = 0;
        for (size_t k = 0; k < n; k++)
            if (!trials[k].has_value) s->list[m++] = &trials[k];
        if (m == 0) break;
        TRY(evaluate(s, m));
        for (size_t k = 0; k < m; k++) {
            struct trial *trial = s->list[k];
            const double *inside = trial->fit->inside;
            if (isfinite(s->values[k])) accept(s, k);
            for (size_t i = 0; i < s->p && !trial->has_value; i++)
                trial->moved[i] = inside[i] + DRAWN * (trial->moved[i] - inside[i]);
        }
    }
    for (size_t k = 0; k < n; k++) trials[k].open = trials[k].has_value;
    return PARITAS_OK;
}

/* Steps of the first n listed fits, and which of them end. */
static paritas_status find_steps(struct solver *s, size_t n)
{
    struct infer *infer = s->infer;
    struct paritas_device *host = infer->context->host;
    for (size_t k = 0; k < n; k++)
        memcpy(s->points + k * s->p, s->list[k]->fit->point, s->p * sizeof *s->points);
    TRY(family_expected_data(infer->context, host, infer->model, n, s->points, s->templates, s->expected));
    TRY(family_expected_jacobian(infer->context, host, infer->model, n, s->points, s->templates,
                                 s->jacobians));
    for (size_t k = 0; k < n; k++) {
        struct trial *trial = s->list[k];
        struct gauss_fit *fit = trial->fit;
        s->rates = s->expected + k * infer->n_data;
        s->jacobian = s->jacobians + k * s->n_main * s->p;
        trial->length = 1.0;
        trial->open = find_step(s, trial) && trial->decrease > AT_END;
        for (size_t j = 0; isfinite(trial->decrease) && j < fit->n_known && fit->goes_to < 0; j++)
            if (goes_to(s, trial, fit->known[j], fit->known_nll[j])) fit->goes_to = (ptrdiff_t)j;
        trial->open = trial->open && fit->goes_to < 0;
    }
    return PARITAS_OK;
}

/* The first n listed fits go along their steps as far as these lower the value. A fit that cannot is left
 * where it is. */
static paritas_status take_steps(struct solver *s, size_t n)
{
    for (int round = 0; round < TRIALS_MOST && n > 0; round++) {
        size_t left = 0;
        for (size_t k = 0; k < n; k++) {
            const struct trial *trial = s->list[k];
            for (size_t i = 0; i < s->p; i++)
                trial->moved[i] = reached(s, trial->fit, i, trial->length * trial->step[i]);
        }
        TRY(evaluate(s, n));
        for (size_t k = 0; k < n; k++) {
            const double now = s->list[k]->fit->twice_nll;
            if (s->values[k] < now - 1e-9 * (1.0 + fabs(now))) {
                accept(s, k);
                continue;
            }
            s->list[k]->length *= SHORTER;
            s->list[left++] = s->list[k];
        }
        n = left;
    }
    for (size_t k = 0; k < n; k++) s->list[k]->open = false;
    return PARITAS_OK;
}

static paritas_status run(struct solver *s, size_t n, struct trial *trials)
{
    TRY(enter(s, n, trials));
    for (int iteration = 0; iteration < ITERATIONS_MOST; iteration++) {
        size_t m = 0, going = 0;
        for (size_t k = 0; k < n; k++)
            if (trials[k].open) s->list[m++] = &trials[k];
        if (m == 0) break;
        TRY(find_steps(s, m));
        for (size_t k = 0; k < m; k++)
            if (s->list[k]->open) s->list[going++] = s->list[k];
        TRY(take_steps(s, going));
    }
    return PARITAS_OK;
}

/* ---- memory ---- */

static double *reals(struct solver *s, size_t n, size_t row, bool *enough)
{
    double *array = arena_array(&s->arena, n, row * sizeof *array);
    *enough = *enough && array;
    return array;
}

/* Room for n fits. False: there is none. */
static bool make_room(struct solver *s, size_t n)
{
    const struct frozen *model = paritas_model_frozen(s->infer->model);
    bool enough = true;
    s->used = arena_array(&s->arena, s->n_main, sizeof *s->used);
    s->moves = arena_array(&s->arena, s->p, 1);
    s->list = arena_array(&s->arena, n, sizeof(struct trial *));
    if (!s->used || !s->moves || !s->list) return false;
    for (size_t i = 0; i < s->n_main; i++)
        if (!frozen_is_masked(model, i)) s->used[s->bins++] = i;
    s->across = reals(s, s->p, s->bins, &enough);
    s->matrix = reals(s, s->bins, s->bins, &enough);
    s->variance = reals(s, s->p, 1, &enough);
    s->b = reals(s, s->p, 1, &enough);
    s->y = reals(s, s->bins, 1, &enough);
    s->held = reals(s, s->bins, 1, &enough);
    s->points = reals(s, n, s->p, &enough);
    s->values = reals(s, n, 1, &enough);
    s->gradients = reals(s, n, s->p, &enough);
    s->expected = reals(s, n, s->infer->n_data, &enough);
    s->jacobians = reals(s, n, s->n_main * s->p, &enough);
    if (model->n_templates > 0) s->templates = reals(s, n, s->infer->n_data, &enough);
    return enough;
}

static paritas_status run_together(struct solver *s, size_t n, struct gauss_fit *fits)
{
    const struct infer *infer = s->infer;
    bool enough = true;
    struct trial *trials = arena_array(&s->arena, n, sizeof *trials);
    double *rows = reals(s, n, 3 * s->p, &enough);
    if (!trials || !enough || !make_room(s, n)) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < s->p; i++) s->variance[i] = variance_of(infer, i);
    for (size_t k = 0; k < n; k++) {
        double *own = rows + 3 * k * s->p;
        fits[k].goes_to = -1;
        trials[k] =
            (struct trial){.fit = &fits[k], .gradient = own, .step = own + s->p, .moved = own + 2 * s->p};
        if (s->templates)
            memcpy(s->templates + k * infer->n_data, infer->base.data, infer->n_data * sizeof(double));
    }
    return run(s, n, trials);
}

paritas_status gauss_newton_run(struct infer *infer, const double *data, size_t n, struct gauss_fit *fits)
{
    const size_t n_main = paritas_model_frozen(infer->model)->n_main, p = infer->n_parameters,
                 most = ELEMENTS_TOGETHER / (n_main * p + 1), together = most < 1 ? 1 : most;
    for (size_t i = 0; i < n; i += together) {
        struct solver s = {.infer = infer, .data = data, .p = p, .n_main = n_main};
        arena_open(&s.arena, &infer->context->allocator);
        const paritas_status status = run_together(&s, n - i < together ? n - i : together, fits + i);
        arena_free(&s.arena);
        TRY(status);
    }
    return PARITAS_OK;
}
