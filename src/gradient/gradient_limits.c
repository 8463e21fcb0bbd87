/* gradient_limits.c: limits of many rows, and a point for each limit's derivatives.
 *
 *   shared matrix: free fits, fits at mu' ─► Asimov data ─► rounds ─► fits at the limits
 *       round: each row's next tests (limit_search.h) ─► conditional fits of all rows ─► their curves
 *   rows that this leaves open, and rows without a shared matrix: limit_asymptotic, one after the other
 *
 * A row leaves the rounds where limit_asymptotic would look for further minima, or make tests for other
 * reasons than its brackets: a fit without an answer, a lower point than the free fit, a curve that turns or
 * jumps, nonlinear rates, a factor at its bound. What becomes of a row depends on this row alone. */
#include "base/math/host_math.h"
#include "fit/minimum.h"
#include "minima/conditional_starts.h"
#include "gradient/gradient.h"
#include "statistics/limit.h"
#include "statistics/limit_search.h"
#include "minima/minimum_search.h"
#include "minima/search_signs.h"

#include <math.h>
#include <string.h>

#define PIECE 64       /* rows whose searches run at the same time: 40 kB each */
#define NODES_MOST 3   /* of a prediction */
#define APART 0.1      /* of the distance that is predicted over: nodes must be as far from each other */
#define WEIGHTS_MOST 8 /* sum of their sizes: no prediction far outside */
#define FITS_MOST (ASYMPTOTIC_CURVES + 1) /* a row's, in a round: Asimov data at six values, data at one */

/* ---- one row ---- */

void gradient_open_fits(const struct gradient *g, struct gradient_row *row, const double *upper)
{
    row->free = (struct gradient_fit){.data = row->data, .upper = upper};
    row->origin = (struct gradient_fit){
        .data = row->data, .upper = upper, .conditional = true, .mu = statistic_other(g->options.statistic)};
    for (size_t k = 0; k < row->n_points; k++) {
        struct gradient_point *point = &row->points[k];
        point->data = point->asimov = row->origin;
        point->data.mu = point->asimov.mu = point->mu;
    }
}

static paritas_status keep_fit(struct gradient *g, const double **parameters)
{
    if (!*parameters) return PARITAS_OK;
    double *copy = infer_reals(&g->infer, g->infer.n_parameters, 1);
    TRY(infer_memory(&g->infer));
    memcpy(copy, *parameters, g->infer.n_parameters * sizeof *copy);
    *parameters = copy;
    return PARITAS_OK;
}

static paritas_status keep_fits(struct gradient *g, struct limit_fits *fits)
{
    TRY(keep_fit(g, &fits->free));
    TRY(keep_fit(g, &fits->origin));
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        TRY(keep_fit(g, &fits->data[curve]));
        TRY(keep_fit(g, &fits->asimov[curve]));
    }
    return PARITAS_OK;
}

/* A point for each limit. Its fits start from those that found it. */
static paritas_status search_alone(struct gradient *g, struct gradient_row *row)
{
    paritas_limit_result result;
    struct infer own;
    paritas_job job = g->infer.base;
    job.data = row->data;
    paritas_status status = infer_open(&own, g->infer.context, g->infer.model, &job, true);
    struct limit_fits fits;
    if (status == PARITAS_OK)
        status = limit_asymptotic(
            &own, &(paritas_limit_request){.statistic = g->options.statistic, .level = g->options.level},
            &result, &fits);
    if (status == PARITAS_OK) status = keep_fits(g, &fits);
    infer_close(&own);
    TRY(status);
    double *upper = infer_reals(&g->infer, g->infer.n_parameters, 1);
    TRY(infer_memory(&g->infer));
    memcpy(upper, g->infer.base.upper, g->infer.n_parameters * sizeof *upper);
    upper[g->infer.poi] = result.upper_bound;
    row->status = result.status;
    row->no_asimov = false;
    for (size_t k = 0; k < g->n_outputs; k++) {
        const unsigned output = g->outputs[k];
        row->values[k] = output == 0 ? result.limit_obs : result.limit_exp[output - 1];
        if (isnan(row->values[k]) || row->status != PARITAS_FIT_CONVERGED) continue;
        row->points[row->n_points++] = (struct gradient_point){
            .mu = row->values[k], .output = output, .wants_data = output == 0, .wants_asimov = true};
    }
    gradient_open_fits(g, row, upper);
    if (result.several_minima) {
        row->free.start = fits.free;
        row->origin.start = fits.origin;
    }
    for (size_t k = 0; k < row->n_points; k++) {
        const int curve = gradient_curve(row->points[k].output);
        row->points[k].data.start = fits.data[curve];
        row->points[k].asimov.start = fits.asimov[curve];
    }
    return PARITAS_OK;
}

/* ---- rounds ---- */

struct limit_row {
    struct gradient_row *row;
    struct limit_search search;
    bool active, done; /* takes part in rounds; has its answer */
    size_t n_fresh;    /* tests of this round */
    struct gradient_fit fits[FITS_MOST];
    struct infer_point *points[FITS_MOST]; /* where they go */
    size_t n_fits;
};

struct node {
    double mu;
    const double *parameters;
};

/* Fitted points of a data set. */
static size_t list_nodes(const struct limit_row *r, bool asimov, struct node *nodes)
{
    const struct limit_tests *tests = &r->search.tests;
    const size_t poi = tests->a.infer->poi;
    size_t n = 0;
    nodes[n++] = (struct node){0.0, r->row->origin.parameters};
    if (!asimov) nodes[n++] = (struct node){r->row->free.parameters[poi], r->row->free.parameters};
    for (size_t i = 0; i < tests->n; i++) {
        const struct infer_point *point = asimov ? &tests->points[i].asimov : &tests->points[i].data;
        if (point->profile) nodes[n++] = (struct node){tests->points[i].mu, point->parameters};
    }
    return n;
}

/* Puts the nearest ones in front, if they stand far enough apart. */
static size_t choose_nodes(double mu, size_t n, struct node *nodes)
{
    size_t chosen = 0;
    while (chosen < NODES_MOST) {
        size_t best = n;
        for (size_t i = chosen; i < n; i++) {
            const double distance = fabs(nodes[i].mu - mu);
            bool usable = best == n || distance < fabs(nodes[best].mu - mu);
            for (size_t k = 0; k < chosen; k++)
                usable = usable && fabs(nodes[i].mu - nodes[k].mu) > APART * distance;
            if (usable) best = i;
        }
        if (best == n) break;
        const struct node node = nodes[best];
        nodes[best] = nodes[chosen];
        nodes[chosen++] = node;
    }
    return chosen;
}

/* Returns false if mu lies too far outside. */
static bool find_weights(double mu, size_t n, const double *places, double *weights)
{
    double sum = 0.0;
    infer_weigh(mu, n, places, weights);
    for (size_t k = 0; k < n; k++) sum += fabs(weights[k]);
    return sum <= WEIGHTS_MOST;
}

/* From the fits to the same data at other values, or from one by the shared matrix. */
static void predict(const struct gradient *g, const struct limit_row *r, bool asimov, double mu, double *to)
{
    struct node nodes[PARITAS_SCAN_MOST + 2];
    double places[NODES_MOST], weights[NODES_MOST] = {1.0};
    const double *points[NODES_MOST];
    size_t n = choose_nodes(mu, list_nodes(r, asimov, nodes), nodes);
    for (size_t k = 0; k < n; k++) {
        places[k] = nodes[k].mu;
        points[k] = nodes[k].parameters;
    }
    while (n > 1 && !find_weights(mu, n, places, weights)) n--;
    if (n == 1) {
        gradient_shared_respond(g, points[0], mu, to);
        points[0] = to;
        weights[0] = 1.0;
    }
    infer_mix_points(&g->infer, n, points, weights, to);
    to[g->infer.poi] = mu;
}

static paritas_status add_fit(struct gradient *g, struct limit_row *r, bool asimov, double mu,
                              struct infer_point *point)
{
    double *start = infer_reals(&g->infer, g->infer.n_parameters, 1);
    TRY(infer_memory(&g->infer));
    predict(g, r, asimov, mu, start);
    r->points[r->n_fits] = point;
    r->fits[r->n_fits++] = (struct gradient_fit){.data = asimov ? r->row->asimov : r->row->data,
                                                 .upper = g->infer.base.upper,
                                                 .start = start,
                                                 .conditional = true,
                                                 .mu = mu};
    return PARITAS_OK;
}

/* The next tests of a row. None: it has left the rounds. */
static paritas_status plan_tests(struct gradient *g, struct limit_row *r)
{
    double mu[ASYMPTOTIC_CURVES];
    bool observed[ASYMPTOTIC_CURVES];
    struct limit_tests *tests = &r->search.tests;
    r->n_fresh = r->n_fits = 0;
    r->active = r->active && !limit_search_propose(&r->search);
    if (!r->active) return PARITAS_OK;
    r->n_fresh = limit_search_collect(&r->search, mu, observed);
    r->done = r->n_fresh == 0;
    r->active = !r->done && tests->n + r->n_fresh <= PARITAS_SCAN_MOST;
    for (size_t i = 0; i < r->n_fresh && r->active; i++) {
        struct asymptotic_point *point = &tests->points[tests->n + i];
        *point = (struct asymptotic_point){.mu = mu[i], .data = {.twice_nll = (double)NAN}};
        TRY(add_fit(g, r, true, mu[i], &point->asimov));
        if (observed[i]) TRY(add_fit(g, r, false, mu[i], &point->data));
    }
    return PARITAS_OK;
}

/* Of the free fits; at mu_hat = mu' the data's is a conditional one. */
static void rebuild_curves(const struct gradient *g, struct limit_row *r)
{
    const double variance = gradient_shared_variance(g), variances[2] = {variance, variance},
                 slopes[2] = {r->row->free.parameters[g->infer.poi] == 0.0 ? r->row->origin.slope : 0.0, 0.0};
    limit_tests_curves(&r->search.tests, slopes, variances);
}

static void take_tests(const struct gradient *g, struct limit_row *r)
{
    struct limit_tests *tests = &r->search.tests;
    const double same = same_minimum(g->infer.context);
    for (size_t i = 0; i < r->n_fits; i++) {
        const struct gradient_fit *fit = &r->fits[i];
        const bool asimov = fit->data == r->row->asimov;
        struct infer_profile *profile = asimov ? &tests->a.asimov : &tests->a.data;
        r->points[i]->profile = profile;
        r->points[i]->status = fit->is.status;
        r->points[i]->twice_nll = fit->is.deviance;
        r->points[i]->slope = fit->slope;
        r->points[i]->parameters = fit->parameters;
        r->active = r->active && fit->is.status == PARITAS_FIT_CONVERGED &&
                    fit->is.deviance >= profile->result.twice_nll - same;
    }
    limit_tests_add(tests, r->n_fresh);
    rebuild_curves(g, r);
}

static paritas_status run_fits(struct gradient *g, size_t n, struct limit_row *rows)
{
    struct gradient_fit **fits = infer_array(&g->infer, n * FITS_MOST, sizeof *fits);
    TRY(infer_memory(&g->infer));
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i].n_fits; k++) fits[m++] = &rows[i].fits[k];
    return gradient_shared_conditional(g, m, fits);
}

static paritas_status run_rounds(struct gradient *g, size_t n, struct limit_row *rows)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < n; i++) TRY(plan_tests(g, &rows[i]));
        TRY(run_fits(g, n, rows));
        for (size_t i = 0; i < n; i++) {
            if (rows[i].active) take_tests(g, &rows[i]);
            any = any || rows[i].active;
        }
    }
    return PARITAS_OK;
}

/* ---- rows ---- */

static bool has_own_templates(const struct gradient *g, const struct gradient_row *row)
{
    const struct frozen *model = paritas_model_frozen(g->infer.model);
    return memcmp(frozen_templates(model, row->data), frozen_templates(model, g->infer.base.data),
                  g->n_templates * sizeof *row->data) != 0;
}

/* The row's templates and the size of mu alone decide, in powers of two. */
static paritas_status rates_are_nonlinear(struct gradient *g, const struct gradient_row *row, double mu,
                                          bool *nonlinear)
{
    const int most = (int)sizeof g->nonlinear - 1, half = most / 2;
    int exponent;
    frexp(fmax(mu, fabs(g->infer.base.start[g->infer.poi])), &exponent);
    const int at = exponent < -half ? 0 : exponent > half ? most : exponent + half;
    const double largest = ldexp(1.0, at - half);
    if (has_own_templates(g, row)) return signs_is_nonlinear(&g->infer, row->data, largest, nonlinear);
    if (!g->nonlinear[at]) {
        TRY(signs_is_nonlinear(&g->infer, g->infer.base.data, largest, nonlinear));
        g->nonlinear[at] = *nonlinear ? 2 : 1;
    }
    *nonlinear = g->nonlinear[at] == 2;
    return PARITAS_OK;
}

/* The first fits leave no doubt. */
static bool begins_well(const struct gradient *g, const struct gradient_row *row)
{
    const struct infer *infer = &g->infer;
    const double mu_hat = row->free.parameters[infer->poi];
    const bool inside =
        mu_hat < infer->base.upper[infer->poi] && (mu_hat > infer->base.lower[infer->poi] || mu_hat == 0.0);
    return inside && !row->no_asimov && !minimum_search_has_factor_at_bound(infer, row->free.parameters) &&
           row->origin.is.deviance >= row->free.is.deviance - same_minimum(infer->context);
}

static void open_search(const struct gradient *g, struct limit_row *r)
{
    struct limit_search *s = &r->search;
    const struct gradient_row *row = r->row;
    s->tests.a.infer = (struct infer *)&g->infer;
    s->tests.a.statistic = g->options.statistic;
    s->tests.a.data.parameters = row->free.parameters;
    s->tests.a.data.result.twice_nll = row->free.is.deviance;
    s->tests.a.asimov.parameters = row->origin.parameters; /* their own free fit, of deviance 0 */
    s->tests.log_level = host_log(g->options.level);
    s->tests.widest = g->infer.widening.widest[g->infer.poi];
    s->scale = sqrt(gradient_shared_variance(g));
    limit_search_restart(s);
    rebuild_curves(g, r);
}

/* All curves have a limit, or surely none. */
static paritas_status ends_well(struct gradient *g, struct limit_row *r)
{
    const struct limit_tests *tests = &r->search.tests;
    double largest = 0.0;
    bool nonlinear = false;
    for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
        const struct bracket *b = &r->search.brackets[curve];
        r->done = r->done && (b->hopeless ? b->reason == PARITAS_REASON_NONE_BELOW_BOUND : b->settled);
    }
    for (size_t i = 0; i < tests->n; i++) largest = fmax(largest, tests->points[i].mu);
    r->done = r->done && !limit_tests_turn(tests);
    if (r->done) TRY(rates_are_nonlinear(g, r->row, largest, &nonlinear));
    r->done = r->done && !nonlinear;
    return PARITAS_OK;
}

/* Values, and fits at the limits where derivatives are asked for. */
static paritas_status plan_points(struct gradient *g, struct limit_row *r)
{
    struct gradient_row *row = r->row;
    r->n_fits = 0;
    if (!r->done) return PARITAS_OK;
    for (size_t k = 0; k < g->n_outputs; k++) {
        const unsigned output = g->outputs[k];
        const struct bracket *b = &r->search.brackets[gradient_curve(output)];
        row->values[k] = b->hopeless ? (double)NAN : b->root;
        if (b->hopeless) continue;
        row->points[row->n_points++] = (struct gradient_point){
            .mu = b->root, .output = output, .wants_data = output == 0, .wants_asimov = true};
        if (!g->wants_rows) continue;
        TRY(add_fit(g, r, true, b->root, NULL));
        if (output == 0) TRY(add_fit(g, r, false, b->root, NULL));
    }
    return PARITAS_OK;
}

static void take_points(const struct gradient *g, struct limit_row *r)
{
    struct gradient_row *row = r->row;
    for (size_t i = 0; i < r->n_fits; i++) r->done = r->done && r->fits[i].is.status == PARITAS_FIT_CONVERGED;
    if (!r->done) {
        row->n_points = 0;
        return;
    }
    size_t at = 0;
    for (size_t k = 0; k < row->n_points && g->wants_rows; k++) {
        row->points[k].asimov = r->fits[at++];
        if (row->points[k].wants_data) row->points[k].data = r->fits[at++];
    }
    row->fitted = true;
    row->status = PARITAS_FIT_CONVERGED;
    if (g->wants_rows) gradient_finish(g, row);
}

static paritas_status search_piece(struct gradient *g, size_t n, struct limit_row *rows)
{
    for (size_t i = 0; i < n; i++) {
        rows[i].active = begins_well(g, rows[i].row);
        if (rows[i].active) open_search(g, &rows[i]);
    }
    TRY(run_rounds(g, n, rows));
    for (size_t i = 0; i < n; i++) {
        TRY(ends_well(g, &rows[i]));
        TRY(plan_points(g, &rows[i]));
    }
    TRY(run_fits(g, n, rows));
    for (size_t i = 0; i < n; i++) take_points(g, &rows[i]);
    return PARITAS_OK;
}

/* Limits of rows whose free fits and fits at mu' the shared matrix finds. */
static paritas_status search_together(struct gradient *g, size_t n, struct gradient_row **rows)
{
    struct gradient_row **begun = infer_array(&g->infer, n, sizeof *begun);
    bool *both = infer_array(&g->infer, n, sizeof *both);
    const size_t most = n < PIECE ? n : PIECE;
    struct limit_row *piece = infer_array(&g->infer, most, sizeof *piece);
    struct asymptotic_point *points = infer_array(&g->infer, most * PARITAS_SCAN_MOST, sizeof *points);
    TRY(infer_memory(&g->infer));
    for (size_t i = 0; i < n; i++) gradient_open_fits(g, rows[i], g->infer.base.upper);
    TRY(gradient_shared(g, n, rows, both));
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (both[i]) begun[m++] = rows[i];
    TRY(gradient_make_asimov(g, m, begun));
    for (size_t i = 0, count; i < m; i += count) {
        count = m - i < PIECE ? m - i : PIECE;
        memset(piece, 0, count * sizeof *piece);
        for (size_t k = 0; k < count; k++) {
            piece[k].row = begun[i + k];
            piece[k].search.tests.points = points + k * PARITAS_SCAN_MOST;
        }
        TRY(search_piece(g, count, piece));
    }
    return PARITAS_OK;
}

paritas_status gradient_limits(struct gradient *g, size_t n, struct gradient_row **rows)
{
    const struct infer *infer = &g->infer;
    const double other = statistic_other(g->options.statistic);
    const bool inside = infer->base.lower[infer->poi] <= other && other < infer->base.upper[infer->poi];
    if (gradient_shares(g) && inside && n > 0) TRY(search_together(g, n, rows));
    for (size_t i = 0; i < n; i++)
        if (!rows[i]->fitted) TRY(search_alone(g, rows[i]));
    return PARITAS_OK;
}
