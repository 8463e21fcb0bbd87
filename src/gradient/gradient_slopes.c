/* gradient_slopes.c: derivatives of q and q_A by the data row t and by mu. L: twice the NLL.
 *
 *   q = L(fixed, t) - L(free, t)              dq/dt = dL/dt(fixed) - dL/dt(free), dq/dmu = dL/dmu(fixed)
 *   q_A = L(fixed_A, A) - L(origin, A)        w = dq_A/dA likewise, A = expected(origin, t)
 *   origin = argmin L(., t) at mu'            d(origin)/dt = -H^-1 d2L/d(theta)dt, free parameters
 *   dq_A/dt = w . dA/dt + v . d(origin)/dt    v = w . dA/d(origin); with x = -H^-1 v the last term is
 *                                             d2L/d(theta)dt along x
 *
 * Each number costs one product with the covariance (twice H^-1), whatever the row's length. */
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

struct pairs {
    size_t n;
    struct gradient_fit *fits;
    double *points, *data, *gradient;
};

static paritas_status pairs_open(struct gradient *g, size_t most, struct pairs *pairs)
{
    struct infer *infer = &g->infer;
    pairs->n = 0;
    pairs->fits = infer_array(infer, most, sizeof *pairs->fits);
    pairs->points = infer_reals(infer, most, infer->n_parameters);
    pairs->data = infer_reals(infer, most, g->n_row);
    pairs->gradient = infer_reals(infer, most, g->n_row);
    return infer_memory(infer);
}

static void pairs_add(const struct gradient *g, struct pairs *pairs, const struct gradient_fit *fit)
{
    const size_t p = g->infer.n_parameters;
    memcpy(pairs->points + pairs->n * p, fit->parameters, p * sizeof *fit->parameters);
    memcpy(pairs->data + pairs->n * g->n_row, fit->data, g->n_row * sizeof *fit->data);
    pairs->fits[pairs->n++] = *fit;
}

/* Rates that hold the fit at an edge stay 0 as templates move. */
static paritas_status pairs_follow_edges(struct gradient *g, struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->n && g->n_templates > 0; i++) {
        double *weights;
        TRY(gradient_follow_edges(g, &pairs->fits[i], NULL, &weights));
        TRY(gradient_take_edges(g, &pairs->fits[i], weights, pairs->gradient + i * g->n_row));
    }
    return PARITAS_OK;
}

static paritas_status pairs_run(struct gradient *g, struct pairs *pairs)
{
    paritas_context *context = g->infer.context;
    const size_t p = g->infer.n_parameters, r = g->n_row, most = gradient_piece(g);
    for (size_t i = 0; i < pairs->n; i += most)
        TRY(paritas_data_derivatives(context, g->infer.model, pairs->n - i < most ? pairs->n - i : most,
                                     pairs->points + i * p, pairs->data + i * r, NULL,
                                     pairs->gradient + i * r, NULL));
    return pairs_follow_edges(g, pairs);
}

/* a - b; 0 if one is infinite (count or rate 0). */
static void subtract(size_t n, const double *a, const double *b, double *difference)
{
    for (size_t i = 0; i < n; i++) {
        difference[i] = a[i] - b[i];
        if (!isfinite(difference[i])) difference[i] = 0.0;
    }
}

/* Where q is 0 it stays 0. */
static bool moves(const struct gradient_point *point)
{
    return point->wants_data && point->q > 0.0;
}
static bool moves_asimov(const struct gradient_point *point)
{
    return point->wants_asimov && point->q_asimov > 0.0;
}

static paritas_status data_slopes(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct pairs pairs;
    const size_t r = g->n_row;
    TRY(pairs_open(g, n * (1 + PARITAS_QUANTITY_OUTPUTS), &pairs));
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < rows[i]->n_points; k++) any = any || moves(&rows[i]->points[k]);
        if (any) pairs_add(g, &pairs, &rows[i]->free);
        for (size_t k = 0; k < rows[i]->n_points; k++)
            if (moves(&rows[i]->points[k])) pairs_add(g, &pairs, &rows[i]->points[k].data);
    }
    TRY(pairs_run(g, &pairs));
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double *free = NULL;
        for (size_t k = 0; k < rows[i]->n_points; k++) {
            if (!moves(&rows[i]->points[k])) continue;
            if (!free) free = pairs.gradient + at++ * r;
            double *fixed = pairs.gradient + at++ * r;
            subtract(r, fixed, free, fixed);
            rows[i]->points[k].by_row = fixed;
        }
    }
    return PARITAS_OK;
}

struct asimov_list {
    size_t n;
    struct gradient_row **row;
    struct gradient_point **point;
    double *weights, *by_parameters, *by_templates, *directions, *along; /* a row for each point */
    double *points, *data;
    struct gradient_fit *inside; /* the origin, or what moves as it does at an edge */
    double **held;               /* of its bins at a rate of 0; NULL: none */
};

static paritas_status list_asimov(struct gradient *g, size_t n, struct gradient_row **rows,
                                  struct asimov_list *list)
{
    struct infer *infer = &g->infer;
    const size_t most = n * PARITAS_QUANTITY_OUTPUTS, p = infer->n_parameters, r = g->n_row;
    *list = (struct asimov_list){.row = infer_array(infer, most, sizeof *list->row),
                                 .point = infer_array(infer, most, sizeof *list->point)};
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i]->n_points; k++) {
            if (!moves_asimov(&rows[i]->points[k])) continue;
            list->row[list->n] = rows[i];
            list->point[list->n++] = &rows[i]->points[k];
        }
    list->weights = infer_reals(infer, list->n, r);
    list->by_parameters = infer_reals(infer, list->n, p);
    list->by_templates = infer_reals(infer, list->n, g->n_templates);
    list->directions = infer_reals(infer, list->n, p);
    list->along = infer_reals(infer, list->n, r);
    list->points = infer_reals(infer, list->n, p);
    list->data = infer_reals(infer, list->n, r);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < list->n; i++) {
        memcpy(list->points + i * p, list->row[i]->origin.parameters, p * sizeof *list->points);
        memcpy(list->data + i * r, list->row[i]->data, r * sizeof *list->data);
    }
    return PARITAS_OK;
}

/* Finds w of every point. */
static paritas_status weigh(struct gradient *g, struct asimov_list *list)
{
    struct pairs pairs;
    const size_t r = g->n_row;
    TRY(pairs_open(g, 2 * list->n, &pairs));
    for (size_t i = 0; i < list->n; i++) {
        if (i == 0 || list->row[i] != list->row[i - 1]) {
            struct gradient_fit free = list->row[i]->origin; /* of its own Asimov data */
            free.data = list->row[i]->asimov;
            free.conditional = false;
            pairs_add(g, &pairs, &free);
        }
        pairs_add(g, &pairs, &list->point[i]->asimov);
    }
    TRY(pairs_run(g, &pairs));
    const double *origin = NULL;
    for (size_t i = 0, at = 0; i < list->n; i++) {
        if (i == 0 || list->row[i] != list->row[i - 1]) origin = pairs.gradient + at++ * r;
        subtract(r, pairs.gradient + at++ * r, origin, list->weights + i * r);
    }
    return PARITAS_OK;
}

/* From here on origins are minima that move with the row: those at an edge are replaced. */
static paritas_status put_inside(struct gradient *g, struct asimov_list *list)
{
    const size_t p = g->infer.n_parameters, r = g->n_row;
    list->inside = infer_array(&g->infer, list->n, sizeof *list->inside);
    list->held = infer_array(&g->infer, list->n, sizeof *list->held);
    TRY(infer_memory(&g->infer));
    for (size_t i = 0; i < list->n; i++) {
        struct gradient_fit *inside = &list->inside[i];
        if (i > 0 && list->row[i] == list->row[i - 1]) {
            *inside = inside[-1];
            list->held[i] = list->held[i - 1];
        } else
            TRY(gradient_inside(g, &list->row[i]->origin, inside, &list->held[i]));
        memcpy(list->points + i * p, inside->parameters, p * sizeof *list->points);
        memcpy(list->data + i * r, inside->data, r * sizeof *list->data);
    }
    return PARITAS_OK;
}

/* Finds x of every point. Without a factor of the Hessian the row is NOT_A_MINIMUM. */
static paritas_status solve(struct gradient *g, struct asimov_list *list)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters;
    paritas_job *jobs = infer_array(infer, list->n, sizeof *jobs);
    double *covariance = infer_reals(infer, list->n, p * p);
    TRY(infer_memory(infer));
    size_t m = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0 && list->row[i] == list->row[i - 1]) continue;
        jobs[m] = infer->base;
        jobs[m].data = list->inside[i].data;
        jobs[m].upper = list->inside[i].upper;
        jobs[m].fixed = g->fixed;
        jobs[m++].start = list->inside[i].parameters;
    }
    TRY(fit_covariances(infer->context, infer->model, m, jobs, covariance));
    m = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0 && list->row[i] != list->row[i - 1]) m++;
        const double *c = covariance + m * p * p, *v = list->by_parameters + i * p;
        double *x = list->directions + i * p;
        TRY(gradient_respond(g, &list->inside[i], list->held[i], c, v, x));
        for (size_t a = 0; a < p; a++)
            if (isnan(x[a]))
                list->row[i]->status = infer_worse(list->row[i]->status, PARITAS_FIT_NOT_A_MINIMUM);
    }
    return PARITAS_OK;
}

static paritas_status asimov_slopes(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct infer *infer = &g->infer;
    struct asimov_list list;
    const size_t r = g->n_row;
    TRY(list_asimov(g, n, rows, &list));
    if (list.n == 0) return PARITAS_OK;
    TRY(weigh(g, &list));
    TRY(paritas_expected_pullback(infer->context, infer->model, list.n, list.points, list.data, list.weights,
                                  list.by_parameters, g->n_templates ? list.by_templates : NULL));
    TRY(put_inside(g, &list));
    TRY(solve(g, &list));
    TRY(paritas_data_derivatives(infer->context, infer->model, list.n, list.points, list.data,
                                 list.directions, NULL, list.along));
    for (size_t i = 0; i < list.n; i++) {
        double *along = list.along + i * r;
        for (size_t k = 0; k < r; k++)
            if (!isfinite(along[k]) || (list.held[i] && list.held[i][k] != 0.0))
                along[k] = 0.0; /* at a rate of 0 */
        for (size_t k = 0; k < g->n_templates; k++)
            along[g->n_data + k] += list.by_templates[i * g->n_templates + k];
        list.point[i]->by_row_asimov = along;
    }
    return PARITAS_OK;
}

static paritas_status mu_slopes(struct gradient *g, size_t n, struct gradient_row **rows)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i]->n_points; k++) {
            struct gradient_point *point = &rows[i]->points[k];
            if (moves(point)) TRY(gradient_by_mu(g, &point->data, &point->by_mu));
            if (moves_asimov(point)) TRY(gradient_by_mu(g, &point->asimov, &point->by_mu_asimov));
        }
    return PARITAS_OK;
}

paritas_status gradient_slopes(struct gradient *g, size_t n, struct gradient_row **rows)
{
    if (g->wants_rows) TRY(data_slopes(g, n, rows));
    if (g->wants_rows && g->needs_asimov) TRY(asimov_slopes(g, n, rows));
    return g->wants_mu ? mu_slopes(g, n, rows) : PARITAS_OK;
}
