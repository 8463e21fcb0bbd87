/* gradient.h: what the parts of paritas_differentiate share: one call, and the rows of it that are in hand.
 *
 *   rows ─► free fits ─► conditional fits ─► lower minima, retried ─► Asimov data ─► their conditional fits
 *       ─► q, q_A of every point
 *              └──────── a job list each, over all rows ────────┘
 *                  └► dq, dq_A by the row and by mu
 *
 * A row has a point for every mu that it is tested at: one, or for limits one a limit. */
#ifndef PARITAS_INFER_GRADIENT_H
#define PARITAS_INFER_GRADIENT_H

#include "fit/fit.h"
#include "infer/infer.h"
#include "paritas_gradient.h"

/* One fit. */
struct gradient_fit {
    const double *data;  /* a data row */
    const double *upper; /* bounds; the job's, or as a limit widened them */
    const double *start;
    bool conditional; /* the parameter of interest held at mu */
    double mu;
    struct closest_fit is;
    double *parameters;
};

struct gradient_point {
    double mu;
    unsigned output;                  /* of limits: the one that this is the root of */
    bool wants_data, wants_asimov;    /* which of the two profiles it is needed of */
    struct gradient_fit data, asimov; /* conditional fits at mu; a start that is known stands in them */
    double q, q_asimov;
    double *by_row, *by_row_asimov; /* dq, dq_A by the row */
    double by_mu, by_mu_asimov;
};

struct gradient_row {
    const double *data;
    size_t index; /* in the call */
    paritas_fit_status status;
    struct gradient_fit free, origin; /* origin: conditional at mu', where the Asimov data are made */
    bool no_asimov;                   /* it left the domain */
    double *asimov;                   /* a data row */
    size_t n_points;
    struct gradient_point points[PARITAS_QUANTITY_OUTPUTS];
    double values[PARITAS_QUANTITY_OUTPUTS];
};

/* One call; `infer` has the memory of the rows in hand. */
struct gradient {
    struct infer infer;
    paritas_gradient_options options;
    size_t n_row, n_data, n_templates, n_outputs;
    unsigned outputs[PARITAS_QUANTITY_OUTPUTS];
    const unsigned char *held; /* fixed flags of conditional fits */
    const double *follows;     /* n_row: 1 for auxiliary data that follow the templates; NULL: none does */
    bool needs_asimov, wants_rows, wants_mu, shares;
};

/* gradient_shared.c: free and conditional fits of rows with one point each, with a matrix that all share;
 * done[i]: row i has both. */
paritas_status gradient_shared(struct gradient *g, size_t n, struct gradient_row **rows, bool *done);
/* gradient_fits.c: fits of all rows, their statuses, q and q_A. */
paritas_status gradient_fits(struct gradient *g, size_t n, struct gradient_row **rows);
/* One list of fits; `again`: they have answers, which only better ones replace. */
paritas_status gradient_run(struct gradient *g, bool near, bool again, size_t n, struct gradient_fit **fits);
/* gradient_slopes.c: derivatives of q and q_A at the fitted points, as far as the call wants them. */
paritas_status gradient_slopes(struct gradient *g, size_t n, struct gradient_row **rows);

#endif
