/* gradient.h: one call of paritas_differentiate and its chunk of rows.
 *
 *   rows ─► free fits ─► conditional fits ─► lower minima, retried ─► Asimov data ─► their fits
 *       ─► q, q_A of every point ─► dq, dq_A by row and mu
 *
 * Each stage is one job list over all rows. A row has one point, or one for each limit. */
#pragma once

#include "fit/fit.h"
#include "fit/launch.h"
#include "statistics/asymptotic.h"
#include "paritas_gradient.h"

struct gradient_fit {
    const double *data;
    const double *upper; /* the job's, or widened by a limit */
    const double *start;
    bool conditional; /* POI fixed at mu */
    double mu;
    struct closest_fit is;
    double *parameters;
    double slope; /* of the deviance by mu: of conditional fits by a shared matrix */
};

struct gradient_point {
    double mu;
    unsigned output;                  /* the limit that is this root */
    bool wants_data, wants_asimov;    /* profiles that need this point */
    struct gradient_fit data, asimov; /* conditional fits at mu; may hold a start */
    double q, q_asimov;
    double *by_row, *by_row_asimov; /* dq, dq_A by the row */
    double by_mu, by_mu_asimov;
};

struct gradient_row {
    const double *data;
    size_t index;
    paritas_fit_status status;
    struct gradient_fit free, origin; /* origin: fit at mu', where Asimov data are made */
    bool no_asimov;                   /* the origin left the domain */
    double *asimov;
    size_t n_points;
    struct gradient_point points[PARITAS_QUANTITY_OUTPUTS];
    double values[PARITAS_QUANTITY_OUTPUTS];
    bool fitted; /* a limit's points have their fits */
};

/* One call; `infer` has the chunk's memory. */
struct gradient {
    struct infer infer;
    paritas_gradient_options options;
    size_t n_row, n_data, n_templates, n_outputs;
    unsigned outputs[PARITAS_QUANTITY_OUTPUTS];
    const unsigned char *fixed; /* fixed flags of conditional fits */
    const double *follows;      /* n_row: 1 for auxiliary data that follow the templates; NULL: none */
    bool needs_asimov, wants_rows, wants_mu, shares;
    const double *at_directions, *directions; /* NULL: 0 */
    const paritas_gradient *along;            /* NULL: first derivatives only */
    unsigned char nonlinear[64]; /* gradient_limits.c: the job's rates, by size of mu; 0: not yet asked for */
};

/* Fits for derivatives are in f64. Between these two, an f32 context is one of f64 on the host. */
struct gradient_precision {
    struct paritas_device *device;
    unsigned precision;
};
static inline struct gradient_precision gradient_begin(paritas_context *context)
{
    const struct gradient_precision usual = {context->device, context->precision};
    context->device = launch_device_f64(context);
    context->precision = 64;
    return usual;
}
static inline void gradient_end(paritas_context *context, struct gradient_precision usual)
{
    context->device = usual.device;
    context->precision = usual.precision;
}

/* Rows of one call for derivatives: eight for each thread, whose rates by cell stay in the cache. */
static inline size_t gradient_piece(const struct gradient *g)
{
    return 8 * (size_t)g->infer.context->threads;
}

/* Curve of a band's output. */
static inline int gradient_curve(unsigned output)
{
    return output == 0 ? ASYMPTOTIC_OBSERVED : (int)output - 1;
}

/* gradient_shared.c: fits by a shared matrix. */
paritas_status gradient_shared_check(const struct gradient *g);
bool gradient_shares(const struct gradient *g);
/* Free fits, and conditional ones of rows' only points; of limits at mu'. done[i]: row i has both. */
paritas_status gradient_shared(struct gradient *g, size_t n, struct gradient_row **rows, bool *done);
/* Conditional fits, from starts of their own; Newton's method finishes those that the matrix does not. */
paritas_status gradient_shared_conditional(struct gradient *g, size_t n, struct gradient_fit *const *fits);
/* Variance of the parameter of interest. */
double gradient_shared_variance(const struct gradient *g);
/* `to`: where a fit at `from` goes if the parameter of interest goes to mu. */
void gradient_shared_respond(const struct gradient *g, const double *from, double mu, double *to);
/* gradient_limits.c: limits of rows, and points for their derivatives. */
paritas_status gradient_limits(struct gradient *g, size_t n, struct gradient_row **rows);
void gradient_open_fits(const struct gradient *g, struct gradient_row *row, const double *upper);
/* gradient_fits.c: all fits, q and q_A. */
paritas_status gradient_fits(struct gradient *g, size_t n, struct gradient_row **rows);
/* Asimov data of fitted origins; status, q and q_A of a row with all its fits. */
paritas_status gradient_make_asimov(struct gradient *g, size_t n, struct gradient_row **rows);
void gradient_finish(const struct gradient *g, struct gradient_row *row);
/* `again`: only better answers replace the old ones. */
paritas_status gradient_run(struct gradient *g, bool near, bool again, size_t n, struct gradient_fit **fits);
/* gradient_edges.c: empty bins that hold a fit at a rate of 0. `slopes`: of twice the NLL by the parameters,
 * of which what these bins hold is taken away; NULL: not needed. `weights`: a row with the multiplier of each
 * of these bins; NULL: there are none. */
paritas_status gradient_follow_edges(struct gradient *g, const struct gradient_fit *fit, double *slopes,
                                     double **weights);
/* The slope of a conditional fit's deviance by mu. */
paritas_status gradient_by_mu(struct gradient *g, const struct gradient_fit *fit, double *slope);
/* A minimum of a row with counts in these bins that moves as the fit does; the fit itself without them. */
paritas_status gradient_inside(struct gradient *g, const struct gradient_fit *fit,
                               struct gradient_fit *inside, double **weights);
/* How its parameters move under a force on them, by its covariance. */
paritas_status gradient_respond(struct gradient *g, const struct gradient_fit *inside, const double *weights,
                                const double *covariance, const double *force, double *moved);
/* Takes away from derivatives by the row what these rates would move. */
paritas_status gradient_take_edges(struct gradient *g, const struct gradient_fit *fit, const double *weights,
                                   double *by_row);
/* gradient_slopes.c: the derivatives that the call wants. */
paritas_status gradient_slopes(struct gradient *g, size_t n, struct gradient_row **rows);
/* gradient_along.c: second derivatives of q, z and likelihoods into `along`. Rows have their slopes. `at`: of
 * all rows. */
paritas_status gradient_along(struct gradient *g, size_t n, struct gradient_row **rows, const double *at);
