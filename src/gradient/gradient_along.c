/* gradient_along.c: second derivatives by row t and mu along (v, m). L: twice the NLL at a fit's
 * parameters x.
 *
 *   q = L(fixed, t) - L(free, t)       dL/dt = L_t(x, t) (envelope theorem), dL/dmu of a conditional fit
 *   x' = -H^-1 (L_xt v + L_x,mu m)     of free parameters; mu' = m in a conditional fit
 *   (dL/dt)' = L_tx x' + L_tt v        one product, along parameters and row
 *
 * L_xt has a row for each parameter: the derivative of L_t along it. */
#include "fit/cholesky.h"
#include "fit/family.h"
#include "statistics/asymptotic.h"
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

/* Scratch for one fit; p parameters, r numbers of a row. */
struct along {
    double *points, *directions, *rows; /* p each */
    double *mixed;                      /* p x r: L_xt */
    double *hessian, *covariance;       /* p x p */
    double *moved;                      /* p: x' */
    double *slope;                      /* r: L_t */
    double *by_row[2], by_at[2];        /* of the free and the conditional fit, along */
    double *v;                          /* r: the direction */
};

static paritas_status along_open(struct gradient *g, struct along *a)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    a->points = infer_reals(infer, p, p);
    a->directions = infer_reals(infer, p, p);
    a->rows = infer_reals(infer, p, r);
    a->mixed = infer_reals(infer, p, r);
    a->hessian = infer_reals(infer, p, p);
    a->covariance = infer_reals(infer, p, p);
    a->moved = infer_reals(infer, p, 1);
    a->slope = infer_reals(infer, r, 1);
    a->by_row[0] = infer_reals(infer, r, 1);
    a->by_row[1] = infer_reals(infer, r, 1);
    a->v = infer_reals(infer, r, 1);
    return infer_memory(infer);
}

/* The row's direction; unread auxiliary data have none. */
static void take_direction(const struct gradient *g, const struct gradient_row *row, struct along *a)
{
    const size_t n_main = paritas_model_main_count(g->infer.model);
    for (size_t i = 0; i < g->n_row; i++) {
        const bool unread = g->options.aux_follow && i >= n_main && i < g->n_data;
        a->v[i] = g->directions && !unread ? g->directions[row->index * g->n_row + i] : 0.0;
    }
}

/* Derivatives by counts are infinite at a rate of 0, which `held` has for bins at an edge (NULL: none). */
static bool is_infinite(const double *held, size_t k, double derivative)
{
    return !isfinite(derivative) || (held && held[k] != 0.0);
}

/* L_xt at a point, and its product with v: p numbers into `product`. */
static paritas_status mix(struct gradient *g, const double *point, const double *row, const double *held,
                          struct along *a, double *product)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    memset(a->directions, 0, p * p * sizeof *a->directions);
    for (size_t i = 0; i < p; i++) {
        memcpy(a->points + i * p, point, p * sizeof *point);
        memcpy(a->rows + i * r, row, r * sizeof *row);
        a->directions[i * p + i] = 1.0;
    }
    const struct row_motion motion = {.parameters = a->directions, .follow = g->options.aux_follow};
    TRY(paritas_model_frozen(infer->model)
            ->family->data_derivatives(infer->context, infer->model, p, a->points, a->rows, &motion, NULL,
                                       a->mixed));
    for (size_t i = 0; i < p; i++) {
        product[i] = 0.0;
        for (size_t k = 0; k < r; k++)
            if (a->v[k] != 0.0 && !is_infinite(held, k, a->mixed[i * r + k]))
                product[i] += a->mixed[i * r + k] * a->v[k];
    }
    return PARITAS_OK;
}

/* (L_t)' into `to`, along x' = `moved` and v. */
static paritas_status turn_row(struct gradient *g, const double *point, const double *row, const double *held,
                               const struct along *a, double *to)
{
    struct infer *infer = &g->infer;
    const struct row_motion motion = {.parameters = a->moved, .rows = a->v, .follow = g->options.aux_follow};
    TRY(paritas_model_frozen(infer->model)
            ->family->data_derivatives(infer->context, infer->model, 1, point, row, &motion, a->slope, to));
    for (size_t k = 0; k < g->n_row; k++) {
        if (is_infinite(held, k, to[k])) to[k] = 0.0;
        if (is_infinite(held, k, 0.0)) a->slope[k] = (double)INFINITY;
    }
    return PARITAS_OK;
}

/* Of the profiled L: (dL/dt)' into by_row[k], (dL/dmu)' into by_at[k]; `m` is the move of mu. */
static paritas_status turn_fit(struct gradient *g, struct gradient_row *row, const struct gradient_fit *fit,
                               double m, int k, struct along *a)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, poi = infer->poi;
    double *force = infer_reals(infer, p, 1), *held;
    struct gradient_fit inside;
    TRY(infer_memory(infer));
    TRY(gradient_inside(g, fit, &inside, &held));
    TRY(mix(g, inside.parameters, inside.data, held, a, force));
    TRY(infer_evaluate(infer, 1, inside.parameters, inside.data, NULL, NULL, a->hessian));
    const double by_mu = force[poi];
    for (size_t i = 0; fit->conditional && i < p; i++) force[i] += a->hessian[i * p + poi] * m;
    paritas_job job = infer->base;
    job.data = inside.data;
    job.upper = fit->upper;
    job.start = inside.parameters;
    if (fit->conditional) job.fixed = g->fixed;
    TRY(fit_covariances(infer->context, infer->model, 1, &job, a->covariance));
    TRY(gradient_respond(g, &inside, held, a->covariance, force, a->moved));
    for (size_t i = 0; i < p; i++)
        if (isnan(a->moved[i])) row->status = infer_worse(row->status, PARITAS_FIT_NOT_A_MINIMUM);
    if (fit->conditional) a->moved[poi] = m;
    a->by_at[k] = by_mu + dot_product(p, a->hessian + poi * p, a->moved);
    return turn_row(g, inside.parameters, inside.data, held, a, a->by_row[k]);
}

static void write_none(const struct gradient *g, const struct gradient_row *row, size_t n_at, double value)
{
    const paritas_gradient *to = g->along;
    if (to->values) to->values[row->index] = value;
    for (size_t i = 0; i < g->n_row && to->data; i++) to->data[row->index * g->n_row + i] = value;
    for (size_t i = 0; i < n_at && to->at; i++) to->at[row->index * n_at + i] = value;
}

/* Turns q and its slopes into z = sqrt(q): z'' = q'' / (2 z) - q' q' / (4 z^3). */
static paritas_status turn_statistic(struct gradient *g, struct gradient_row *row, struct along *a)
{
    const struct gradient_point *point = &row->points[0];
    const paritas_gradient *to = g->along;
    const bool tested = g->at_directions && !statistic_formula(g->options.statistic)->discovery;
    const double m = tested ? g->at_directions[row->index] : 0.0;
    if (row->status != PARITAS_FIT_CONVERGED || !(point->q > 0.0)) {
        write_none(g, row, 1, row->status == PARITAS_FIT_CONVERGED ? 0.0 : (double)NAN);
        return PARITAS_OK;
    }
    TRY(turn_fit(g, row, &row->free, 0.0, 0, a));
    double *by_free = a->slope; /* L_t of the free fit, kept: the next fit has its own */
    a->slope = infer_reals(&g->infer, g->n_row, 1);
    TRY(infer_memory(&g->infer));
    TRY(turn_fit(g, row, &point->data, m, 1, a));
    if (row->status != PARITAS_FIT_CONVERGED) {
        write_none(g, row, 1, (double)NAN);
        return PARITAS_OK;
    }
    const bool root = g->options.quantity == PARITAS_QUANTITY_Z;
    const double scale = root ? 0.5 / sqrt(point->q) : 1.0;
    double along = point->by_mu * m;
    for (size_t k = 0; k < g->n_row; k++) {
        const double slope = a->slope[k] - by_free[k];
        a->slope[k] = isfinite(slope) ? slope : 0.0;
        along += a->slope[k] * a->v[k];
    }
    const double curvature = root ? -0.25 * along / (point->q * sqrt(point->q)) : 0.0;
    if (to->values) to->values[row->index] = scale * along;
    if (to->at) to->at[row->index] = scale * a->by_at[1] + curvature * point->by_mu;
    for (size_t k = 0; k < g->n_row && to->data; k++)
        to->data[row->index * g->n_row + k] =
            scale * (a->by_row[1][k] - a->by_row[0][k]) + curvature * a->slope[k];
    return PARITAS_OK;
}

static paritas_status turn_likelihood(struct gradient *g, struct gradient_row *row, const double *point,
                                      struct along *a)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    const paritas_gradient *to = g->along;
    const double scale = g->options.quantity == PARITAS_QUANTITY_NLL ? 0.5 : 1.0;
    if (row->status != PARITAS_FIT_CONVERGED) {
        write_none(g, row, p, (double)NAN);
        return PARITAS_OK;
    }
    double *force = infer_reals(infer, p, 1), *gradient = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < p; i++)
        a->moved[i] = g->at_directions ? g->at_directions[row->index * p + i] : 0.0;
    TRY(mix(g, point, row->data, NULL, a, force));
    TRY(infer_evaluate(infer, 1, point, row->data, NULL, gradient, a->hessian));
    TRY(turn_row(g, point, row->data, NULL, a, a->by_row[0]));
    double along = dot_product(p, gradient, a->moved);
    for (size_t k = 0; k < r; k++)
        if (a->v[k] != 0.0 && isfinite(a->slope[k])) along += a->slope[k] * a->v[k];
    if (to->values) to->values[row->index] = scale * along;
    for (size_t k = 0; k < r && to->data; k++) to->data[row->index * r + k] = scale * a->by_row[0][k];
    for (size_t i = 0; i < p && to->at; i++)
        to->at[row->index * p + i] = scale * (force[i] + dot_product(p, a->hessian + i * p, a->moved));
    return PARITAS_OK;
}

paritas_status gradient_along(struct gradient *g, size_t n, struct gradient_row **rows, const double *at)
{
    const size_t n_main = paritas_model_main_count(g->infer.model), p = g->infer.n_parameters;
    const bool likelihood =
        g->options.quantity == PARITAS_QUANTITY_NLL || g->options.quantity == PARITAS_QUANTITY_TWICE_NLL;
    struct along a;
    if (n == 0) return PARITAS_OK;
    TRY(along_open(g, &a));
    for (size_t i = 0; i < n; i++) {
        take_direction(g, rows[i], &a);
        TRY(likelihood ? turn_likelihood(g, rows[i], at + rows[i]->index * p, &a)
                       : turn_statistic(g, rows[i], &a));
        for (size_t k = n_main; g->options.aux_follow && g->along->data && k < g->n_data; k++) {
            double *by_aux = g->along->data + rows[i]->index * g->n_row + k;
            if (!isnan(*by_aux)) *by_aux = 0.0;
        }
    }
    return PARITAS_OK;
}
