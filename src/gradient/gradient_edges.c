/* gradient_edges.c: fits that empty bins hold where their rates are 0 (fit/edges.h). L: twice the NLL.
 *
 *   min L, rates of these bins 0 or more     dL/dt = L_t - sum over bins of lambda d(rate)/dt
 *
 * lambda: the part of L's gradient by free parameters that the bin's rate takes.
 *
 * How the fit itself moves: with the count n = lambda rate / 2, the slope 2 (1 - n / rate) of L by the rate
 * is the one that lambda leaves, and the minimum lies at this rate. Its curvature 2 n / rate^2, which is
 * lambda / rate, keeps a small rate where it is. So such a count in place of 0 makes an edge a minimum like
 * others. */
#include "fit/cholesky.h"
#include "fit/edges.h"
#include "gradient/gradient.h"

#include <math.h>
#include <string.h>

/* Of a parameter's size or of 1: how far the fit goes inside. What is left out is as small a part of the
 * derivatives, and rounding makes an error of its reciprocal times 1e-16. */
#define INSIDE 1e-8
#define ROUNDS 3 /* of improving a solution: one is enough, where 1e8 is the largest curvature */

/* Flags of parameters that do not move with the data. */
static unsigned char *held_parameters(struct gradient *g, const struct gradient_fit *fit)
{
    const struct infer *infer = &g->infer;
    const unsigned char *fixed = fit->conditional ? g->fixed : infer->base.fixed;
    unsigned char *held = infer_array(&g->infer, infer->n_parameters, 1);
    for (size_t i = 0; held && i < infer->n_parameters; i++)
        held[i] =
            fixed[i] || fit->parameters[i] <= infer->base.lower[i] || fit->parameters[i] >= fit->upper[i];
    return held;
}

/* Bins that hold a fit, and what they take. */
struct hold {
    struct edges edges;
    const unsigned char *held;
    double *multipliers;
};

/* `slopes`: of L, of which the bins' part is taken away; NULL: L's own. */
static paritas_status find_hold(struct gradient *g, const struct gradient_fit *fit, struct arena *arena,
                                double *slopes, struct hold *hold)
{
    struct infer *infer = &g->infer;
    struct edges *edges = &hold->edges;
    TRY(edges_find(infer->context, infer->model, fit->parameters, fit->data, arena, edges));
    if (edges->n == 0) return PARITAS_OK;
    hold->held = held_parameters(g, fit);
    hold->multipliers = infer_reals(infer, edges->n, 1);
    double *own = slopes ? slopes : infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    if (!slopes) TRY(infer_evaluate(infer, 1, fit->parameters, fit->data, NULL, own, NULL));
    return edges_follow(infer->context, infer->n_parameters, edges, hold->held, arena, own,
                        hold->multipliers);
}

static paritas_status weigh(struct gradient *g, const struct hold *hold, double **weights)
{
    const struct edges *edges = &hold->edges;
    if (edges->n == 0) return PARITAS_OK;
    double *row = infer_reals(&g->infer, g->n_row, 1);
    TRY(infer_memory(&g->infer));
    for (size_t k = 0; k < edges->n; k++) row[edges->bins[k]] = hold->multipliers[k];
    *weights = row;
    return PARITAS_OK;
}

paritas_status gradient_follow_edges(struct gradient *g, const struct gradient_fit *fit, double *slopes,
                                     double **weights)
{
    struct infer *infer = &g->infer;
    struct arena arena;
    struct hold hold;
    *weights = NULL;
    if (!edges_may_hold(paritas_model_frozen(infer->model), fit->data)) return PARITAS_OK;
    arena_open(&arena, &infer->context->allocator);
    paritas_status status = find_hold(g, fit, &arena, slopes, &hold);
    if (status == PARITAS_OK) status = weigh(g, &hold, weights);
    arena_free(&arena);
    return status;
}

paritas_status gradient_by_mu(struct gradient *g, const struct gradient_fit *fit, double *slope)
{
    struct infer *infer = &g->infer;
    double *gradient = infer_reals(infer, infer->n_parameters, 1), *weights;
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, fit->parameters, fit->data, NULL, gradient, NULL));
    TRY(gradient_follow_edges(g, fit, gradient, &weights));
    *slope = gradient[infer->poi];
    return PARITAS_OK;
}

/* The shortest step by free parameters that takes the rates of the m bins `which` inside, from `point`. */
static paritas_status step_inside(struct gradient *g, const struct hold *hold, size_t m, const size_t *which,
                                  struct arena *arena, double *point)
{
    const size_t p = g->infer.n_parameters;
    double *rows = arena_array(arena, m, p * sizeof *rows),
           *product = arena_array(arena, m, m * sizeof *rows), *step = arena_array(arena, m, sizeof *step);
    if (!rows || !product || !step) return paritas_fail_memory(g->infer.context);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < p; i++) {
            const double slope = hold->held[i] ? 0.0 : hold->edges.jacobian[which[k] * p + i];
            rows[k * p + i] = slope;
            step[k] = fmax(step[k], INSIDE * fabs(slope) * fmax(fabs(point[i]), 1.0));
        }
    for (size_t k = 0; k < m; k++)
        for (size_t l = 0; l < m; l++) product[k * m + l] = dot_product(p, rows + k * p, rows + l * p);
    if (!cholesky(m, product)) return PARITAS_OK; /* rounding: the fit stays, and has no derivatives */
    cholesky_solve(m, product, step);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < p; i++) point[i] += step[k] * rows[k * p + i];
    return PARITAS_OK;
}

static paritas_status go_inside(struct gradient *g, const struct gradient_fit *fit, struct arena *arena,
                                struct gradient_fit *inside, double **weights)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    struct hold hold;
    size_t m = 0;
    TRY(find_hold(g, fit, arena, NULL, &hold));
    TRY(weigh(g, &hold, weights));
    size_t *which = arena_array(arena, hold.edges.n + 1, sizeof *which);
    if (!which) return paritas_fail_memory(infer->context);
    for (size_t k = 0; k < hold.edges.n; k++)
        if (hold.multipliers[k] > 0.0) which[m++] = hold.edges.bins[k];
    if (m == 0) return PARITAS_OK;
    double *point = infer_reals(infer, infer->n_parameters, 1), *row = infer_reals(infer, g->n_row, 1),
           *expected = infer_reals(infer, model->n_data, 1);
    TRY(infer_memory(infer));
    memcpy(point, fit->parameters, infer->n_parameters * sizeof *point);
    memcpy(row, fit->data, g->n_row * sizeof *row);
    TRY(step_inside(g, &hold, m, which, arena, point));
    TRY(family_expected_data(infer->context, infer->context->host, infer->model, 1, point, row, expected));
    for (size_t k = 0; k < m; k++) row[which[k]] = 0.5 * (*weights)[which[k]] * expected[which[k]];
    inside->parameters = point;
    inside->data = row;
    return PARITAS_OK;
}

paritas_status gradient_inside(struct gradient *g, const struct gradient_fit *fit,
                               struct gradient_fit *inside, double **weights)
{
    struct infer *infer = &g->infer;
    struct arena arena;
    *inside = *fit;
    *weights = NULL;
    if (!edges_may_hold(paritas_model_frozen(infer->model), fit->data)) return PARITAS_OK;
    arena_open(&arena, &infer->context->allocator);
    const paritas_status status = go_inside(g, fit, &arena, inside, weights);
    arena_free(&arena);
    return status;
}

paritas_status gradient_take_edges(struct gradient *g, const struct gradient_fit *fit, const double *weights,
                                   double *by_row)
{
    struct infer *infer = &g->infer;
    if (!weights || g->n_templates == 0) return PARITAS_OK;
    double *by_templates = infer_reals(infer, g->n_templates, 1);
    TRY(infer_memory(infer));
    TRY(paritas_expected_pullback(infer->context, infer->model, 1, fit->parameters, fit->data, weights, NULL,
                                  by_templates));
    for (size_t i = 0; i < g->n_templates; i++) by_row[g->n_data + i] -= by_templates[i];
    return PARITAS_OK;
}

/* The curvature across the edge is so large that rounding in the inverse moves the rate by its own size. */
static paritas_status improve(struct gradient *g, const struct gradient_fit *inside, const double *covariance,
                              const double *force, double *moved)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters;
    double *hessian = infer_reals(infer, p, p), *left = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    TRY(infer_evaluate(infer, 1, inside->parameters, inside->data, NULL, NULL, hessian));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < p; i++) left[i] = force[i] + dot_product(p, hessian + i * p, moved);
        for (size_t i = 0; i < p; i++) moved[i] -= 0.5 * dot_product(p, covariance + i * p, left);
    }
    return PARITAS_OK;
}

paritas_status gradient_respond(struct gradient *g, const struct gradient_fit *inside, const double *weights,
                                const double *covariance, const double *force, double *moved)
{
    const size_t p = g->infer.n_parameters;
    for (size_t i = 0; i < p; i++) moved[i] = -0.5 * dot_product(p, covariance + i * p, force);
    return weights ? improve(g, inside, covariance, force, moved) : PARITAS_OK;
}
