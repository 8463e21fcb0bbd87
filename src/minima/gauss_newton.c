/* gauss_newton.c: fits by Fisher's matrix.
 *
 * With J the rates' Jacobian, r the rates, D the constraints' inverse variances and g the gradient of twice
 * the NLL, the step is -(D + J^T R^-1 J)^-1 g / 2. Where there are fewer bins than parameters, it takes the
 * system (R + J D^-1 J^T) y = J D^-1 b instead, by Woodbury's identity. */
#include "minima/gauss_newton.h"
#include "fit/cholesky.h"
#include "fit/family.h"

#include <math.h>
#include <string.h>

#define EQUATIONS_MOST 256 /* their matrix costs the square */
#define ITERATIONS_MOST 10 /* what is not near an end then, Newton's method serves better */
#define TRIALS_MOST 7      /* of a step */
#define SHORTER 0.4        /* from trial to trial */
#define LEAST_PART 0.1
#define DRAWN 0.85 /* of the way to the domain that is left */
#define DRAWS_MOST 30
#define LEAST_RATE 1e-3              /* of Fisher's matrix: an empty bin has no information */
#define FREE_VARIANCE 1e6            /* of parameters without a constraint */
#define NEAR 0.2                     /* a known minimum: in half squared errors, and in twice the NLL */
#define READS 1.0                    /* twice the NLL: a step that promises less tells the end */
#define AT_END 1e-3                  /* the same: Newton's method takes a step or two more */
#define ELEMENTS_TOGETHER (1u << 20) /* of Jacobians in memory at once */
#define LEAST_ROOM 16
#define ROWS_TOGETHER 4 /* of products: the matrix is read and written once for them */

struct trial {
    struct gauss_fit *fit;
    bool open, has_value;
    double decrease, length; /* of twice the NLL by the step, as the matrix says; a part of the step */
    double *gradient, *step, *moved;
};

struct gauss_newton {
    struct infer *infer;
    const double *data;
    size_t room; /* for so many fits at once */
    size_t p, bins, n_main;
    size_t *used;                   /* the main data that count */
    double *templates;              /* a data row for each fit; NULL: the model has none */
    const double *rates, *jacobian; /* of the fit in hand: n_main; n_main rows of p */
    double *across;                 /* p rows of bins: the Jacobian, turned */
    double *variance, *b, *matrix, *y, *held;
    double *left, *right;           /* ROWS_TOGETHER rows of a product */
    unsigned char *moves, *counted; /* counted: its constraint is a count */
    /* of all fits at once, a row each: where they are evaluated, and the answers */
    struct trial *trials, **list;
    double *rows; /* gradients, steps, places */
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
    return bins > 0 && (bins <= EQUATIONS_MOST || infer->n_parameters <= EQUATIONS_MOST);
}

/* ---- the step ---- */

/* Of the constraint: Fisher's, of a count where it is one. */
static double variance_at(const struct gauss_newton *s, size_t i, double value)
{
    const double width = s->infer->widths[i];
    if (!(width > 0.0)) return FREE_VARIANCE;
    return width * width * (s->counted[i] ? fmax(value, LEAST_RATE) : 1.0);
}

static void note_counted(const struct gauss_newton *s)
{
    const paritas_model *model = s->infer->model;
    for (size_t k = 0; k < paritas_model_set_count(model); k++) {
        const paritas_parameter_set set = paritas_model_set(model, k);
        for (size_t i = 0; i < set.n && strcmp(set.constraint, "constrained_by_poisson") == 0; i++)
            s->counted[set.first + i] = 1;
    }
}

static bool is_held(const struct infer *infer, const struct gauss_fit *fit, const double *gradient, size_t i)
{
    const double x = fit->point[i];
    return fit->fixed[i] || (x <= infer->base.lower[i] && gradient[i] > 0.0) ||
           (x >= infer->base.upper[i] && gradient[i] < 0.0);
}

static double rate_of(const struct gauss_newton *s, size_t b)
{
    return fmax(s->rates[s->used[b]], LEAST_RATE);
}

static void turn_jacobian(struct gauss_newton *s)
{
    for (size_t b = 0; b < s->bins; b++) {
        const double *row = s->jacobian + s->used[b] * s->p;
        for (size_t i = 0; i < s->p; i++) s->across[i * s->bins + b] = row[i];
    }
}

/* Adds left^T right to a matrix's upper triangle, of ROWS_TOGETHER rows of n each. */
static void add_product(size_t n, const double *left, const double *right, double *restrict matrix)
{
    for (size_t a = 0; a < n; a++) {
        const double f0 = left[a], f1 = left[n + a], f2 = left[2 * n + a], f3 = left[3 * n + a];
        if (f0 == 0.0 && f1 == 0.0 && f2 == 0.0 && f3 == 0.0) continue;
        double *restrict row = matrix + a * n;
        for (size_t b = a; b < n; b++)
            row[b] = (((row[b] + f0 * right[b]) + f1 * right[n + b]) + f2 * right[2 * n + b]) +
                     f3 * right[3 * n + b];
    }
}

/* A product's rows come one by one; `add_product` takes them together, and zeros for those that lack. */
static void add_row(struct gauss_newton *s, size_t n, size_t *waiting)
{
    if (++*waiting < ROWS_TOGETHER) return;
    add_product(n, s->left, s->right, s->matrix);
    *waiting = 0;
}

static void add_last_rows(struct gauss_newton *s, size_t n, size_t waiting)
{
    if (waiting == 0) return;
    memset(s->left + waiting * n, 0, (ROWS_TOGETHER - waiting) * n * sizeof *s->left);
    add_product(n, s->left, s->right, s->matrix);
}

static double along(const struct gauss_newton *s, size_t i, const double *bins)
{
    return dot_product(s->bins, s->across + i * s->bins, bins);
}

/* The right side: the gradient, and what held parameters on their way to a bound leave of it. */
static void put_sides(struct gauss_newton *s, const double *gradient, const double *step)
{
    memset(s->held, 0, s->bins * sizeof *s->held);
    for (size_t i = 0; i < s->p; i++)
        for (size_t b = 0; !s->moves[i] && step[i] != 0.0 && b < s->bins; b++)
            s->held[b] += s->across[i * s->bins + b] * step[i];
    for (size_t b = 0; b < s->bins; b++) s->held[b] /= rate_of(s, b);
    for (size_t i = 0; i < s->p; i++)
        if (s->moves[i]) s->b[i] = -0.5 * gradient[i] - along(s, i, s->held);
}

/* Solves the system of the bins: R + J D^-1 J^T. */
static bool step_by_bins(struct gauss_newton *s, double *step)
{
    const size_t n = s->bins;
    size_t waiting = 0;
    memset(s->matrix, 0, n * n * sizeof *s->matrix);
    memset(s->y, 0, n * sizeof *s->y);
    for (size_t i = 0; i < s->p; i++) {
        if (!s->moves[i]) continue;
        double *left = s->left + waiting * n, *right = s->right + waiting * n;
        for (size_t b = 0; b < n; b++) {
            right[b] = s->across[i * n + b];
            left[b] = s->variance[i] * right[b];
            s->y[b] += left[b] * s->b[i];
        }
        add_row(s, n, &waiting);
    }
    add_last_rows(s, n, waiting);
    for (size_t a = 0; a < n; a++) s->matrix[a * n + a] += rate_of(s, a);
    if (!cholesky(n, s->matrix)) return false;
    cholesky_solve(n, s->matrix, s->y);
    for (size_t i = 0; i < s->p; i++)
        if (s->moves[i]) step[i] = s->variance[i] * (s->b[i] - along(s, i, s->y));
    return true;
}

/* Solves the system of the m parameters that move: D + J^T R^-1 J. */
static bool step_by_parameters(struct gauss_newton *s, size_t m, double *step)
{
    size_t waiting = 0, n;
    memset(s->matrix, 0, m * m * sizeof *s->matrix);
    for (size_t b = 0; b < s->bins; b++) {
        const double *row = s->jacobian + s->used[b] * s->p, rate = rate_of(s, b);
        double *left = s->left + waiting * m, *right = s->right + waiting * m;
        n = 0;
        for (size_t i = 0; i < s->p; i++)
            if (s->moves[i]) right[n++] = row[i];
        for (size_t k = 0; k < m; k++) left[k] = right[k] / rate;
        add_row(s, m, &waiting);
    }
    add_last_rows(s, m, waiting);
    n = 0;
    for (size_t i = 0; i < s->p; i++) {
        if (!s->moves[i]) continue;
        s->matrix[n * m + n] += 1.0 / s->variance[i];
        s->y[n++] = s->b[i];
    }
    if (!cholesky(m, s->matrix)) return false;
    cholesky_solve(m, s->matrix, s->y);
    n = 0;
    for (size_t i = 0; i < s->p; i++)
        if (s->moves[i]) step[i] = s->y[n++];
    return true;
}

/* The step of all that moves, where held parameters go their way to a bound. False: no step. */
static bool put_step(struct gauss_newton *s, const double *gradient, double *step)
{
    size_t m = 0;
    for (size_t i = 0; i < s->p; i++) m += s->moves[i];
    put_sides(s, gradient, step);
    return m < s->bins ? step_by_parameters(s, m, step) : step_by_bins(s, step);
}

/* Where a parameter may go; a fixed one may lie outside its bounds. A count's parameter falls to a tenth at
 * most: nearer to 0 its logarithm hides the rest. */
static double reached(const struct gauss_newton *s, const struct gauss_fit *fit, size_t i, double step)
{
    const double x = fit->point[i], to = infer_bounded(s->infer, i, x + step);
    if (fit->fixed[i]) return x;
    return s->counted[i] && to < LEAST_PART * x ? LEAST_PART * x : to;
}

/* Parameters that the step takes beyond a bound end there. True: there were some. */
static bool hold_beyond(struct gauss_newton *s, const struct gauss_fit *fit, double *step)
{
    bool beyond = false;
    for (size_t i = 0; i < s->p; i++) {
        if (!s->moves[i]) continue;
        const double to = fit->point[i] + step[i], within = reached(s, fit, i, step[i]);
        if (to == within) continue;
        step[i] = within - fit->point[i];
        s->moves[i] = 0;
        beyond = true;
    }
    return beyond;
}

/* A factor moves by its size at most: its rates are a product with others'. */
static void shorten(const struct gauss_newton *s, const struct gauss_fit *fit, double *step)
{
    double longest = 1.0;
    for (size_t i = 0; i < s->p; i++)
        if (!(s->infer->widths[i] > 0.0))
            longest = fmax(longest, fabs(step[i]) / fmax(1.0, fabs(fit->point[i])));
    for (size_t i = 0; longest > 1.0 && i < s->p; i++) step[i] /= longest;
}

/* The step from the fit's point; false: none. */
static bool find_step(struct gauss_newton *s, struct trial *trial)
{
    struct gauss_fit *fit = trial->fit;
    memset(trial->step, 0, s->p * sizeof *trial->step);
    for (size_t i = 0; i < s->p; i++) {
        s->moves[i] = !is_held(s->infer, fit, trial->gradient, i);
        s->variance[i] = variance_at(s, i, fit->point[i]);
    }
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
static bool goes_to(struct gauss_newton *s, const struct trial *trial, const double *known, double twice_nll)
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
static paritas_status evaluate(struct gauss_newton *s, size_t n)
{
    for (size_t k = 0; k < n; k++) memcpy(s->points + k * s->p, s->list[k]->moved, s->p * sizeof *s->points);
    return infer_evaluate(s->infer, n, s->points, s->data, s->values, s->gradients, NULL);
}

/* The k-th listed trial goes where it was evaluated. */
static void accept(const struct gauss_newton *s, size_t k)
{
    struct trial *trial = s->list[k];
    memcpy(trial->fit->point, trial->moved, s->p * sizeof *trial->moved);
    memcpy(trial->gradient, s->gradients + k * s->p, s->p * sizeof *trial->gradient);
    trial->fit->twice_nll = s->values[k];
    trial->has_value = true;
}

/* Values at the starts; those outside the domain are drawn in. */
static paritas_status enter(struct gauss_newton *s, size_t n, struct trial *trials)
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
static paritas_status find_steps(struct gauss_newton *s, size_t n)
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
static paritas_status take_steps(struct gauss_newton *s, size_t n)
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

static paritas_status run(struct gauss_newton *s, size_t n, struct trial *trials)
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

/* Room for n fits, in the arena. */
static paritas_status make_room(struct gauss_newton *s, size_t n)
{
    struct infer *infer = s->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    s->room = n;
    s->bins = 0;
    s->used = infer_array(infer, s->n_main, sizeof *s->used);
    s->moves = infer_array(infer, s->p, 1);
    s->counted = infer_array(infer, s->p, 1);
    s->list = infer_array(infer, n, sizeof(struct trial *));
    s->trials = infer_array(infer, n, sizeof *s->trials);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < s->n_main; i++)
        if (!frozen_is_masked(model, i)) s->used[s->bins++] = i;
    const size_t small = s->bins < s->p ? s->bins : s->p, large = s->bins < s->p ? s->p : s->bins;
    s->across = infer_reals(infer, s->p, s->bins);
    s->matrix = infer_reals(infer, small, small);
    s->variance = infer_reals(infer, s->p, 1);
    s->b = infer_reals(infer, s->p, 1);
    s->y = infer_reals(infer, large, 1);
    s->left = infer_reals(infer, ROWS_TOGETHER, large);
    s->right = infer_reals(infer, ROWS_TOGETHER, large);
    s->held = infer_reals(infer, s->bins, 1);
    s->rows = infer_reals(infer, n, 3 * s->p);
    s->points = infer_reals(infer, n, s->p);
    s->values = infer_reals(infer, n, 1);
    s->gradients = infer_reals(infer, n, s->p);
    s->expected = infer_reals(infer, n, infer->n_data);
    s->jacobians = infer_reals(infer, n, s->n_main * s->p);
    if (model->n_templates > 0) s->templates = infer_reals(infer, n, infer->n_data);
    TRY(infer_memory(infer));
    note_counted(s);
    for (size_t k = 0; k < n && s->templates; k++)
        memcpy(s->templates + k * infer->n_data, infer->base.data, infer->n_data * sizeof(double));
    return PARITAS_OK;
}

static paritas_status run_together(struct gauss_newton *s, size_t n, struct gauss_fit *fits)
{
    for (size_t k = 0; k < n; k++) {
        double *own = s->rows + 3 * k * s->p;
        fits[k].goes_to = -1;
        s->trials[k] =
            (struct trial){.fit = &fits[k], .gradient = own, .step = own + s->p, .moved = own + 2 * s->p};
    }
    return run(s, n, s->trials);
}

paritas_status gauss_newton_run(struct infer *infer, const double *data, size_t n, struct gauss_fit *fits)
{
    const size_t n_main = paritas_model_frozen(infer->model)->n_main, p = infer->n_parameters,
                 most = ELEMENTS_TOGETHER / (n_main * p + 1), together = most < 1 ? 1 : most,
                 room = n < together ? n : together;
    if (!infer->fisher) infer->fisher = infer_array(infer, 1, sizeof *infer->fisher);
    TRY(infer_memory(infer));
    struct gauss_newton *s = infer->fisher;
    s->infer = infer;
    s->data = data;
    s->p = p;
    s->n_main = n_main;
    if (s->room < room) TRY(make_room(s, room < LEAST_ROOM && LEAST_ROOM <= together ? LEAST_ROOM : room));
    for (size_t i = 0; i < n; i += together)
        TRY(run_together(s, n - i < together ? n - i : together, fits + i));
    return PARITAS_OK;
}
