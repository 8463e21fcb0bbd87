/* contour.c: edges of confidence regions of two parameters.
 *
 * The root of q is nearly linear along a ray, so a secant needs three or four rounds. A round is one batch: a
 * conditional fit of each open ray, of all levels. */
#include "base/math/host_math.h"
#include "minima/conditional_starts.h"
#include "base/sized.h"
#include "minima/lowest_points.h"
#include "minima/minimum_search.h"

#include <math.h>
#include <string.h>

#define ACCEPT 1e-6 /* of the quantile */
#define ROUNDS_MAX 60
#define RESTARTS_MAX 6  /* with a lower best fit */
#define SEARCHES_MAX 6  /* of the edges */
#define FARTHEST 1e6    /* errors; beyond, q never reaches the quantile */
#define NARROWEST 1e-12 /* of a position: there q jumps */

/* A position is a distance from the best fit in errors. `root`s are of q. */
struct ray {
    double along[2]; /* values per position */
    double wanted;   /* root at the edge */
    double inner, outer, root_inner, root_outer;
    double at, bound; /* tried last; where the box ends */
    int side;         /* which end moved last: -1 inner, 1 outer */
    bool settled, at_bound, failed, searched;
    double q;
    struct infer_point point;
};

struct search {
    struct infer *infer;
    const paritas_contour_request *request;
    struct infer_profile profile;
    double centre[2];
    size_t n;
    struct ray *rays;
};

/* Error of a parameter for the first step; a bound without curvature has only a length. */
static paritas_status find_error(struct search *s, size_t j, double *error)
{
    const size_t parameter = s->request->parameters[j];
    double variance;
    TRY(infer_variance(s->infer, &s->profile, parameter, &variance));
    *error = sqrt(variance);
    if (!(*error > 0.0 && isfinite(*error)))
        *error = (s->infer->base.upper[parameter] - s->infer->base.lower[parameter]) / 16.0;
    return PARITAS_OK;
}

/* Columns of the Cholesky factor of the covariance: circles of positions become ellipses of values. */
static paritas_status find_axes(struct search *s, double axes[2][2])
{
    const size_t n = s->infer->n_parameters, *parameters = s->request->parameters;
    const double *covariance = s->profile.covariance, a = covariance[parameters[0] * n + parameters[0]],
                 b = covariance[parameters[1] * n + parameters[1]],
                 between = covariance[parameters[0] * n + parameters[1]], left = b - between * between / a;
    memset(axes, 0, 4 * sizeof axes[0][0]);
    if (a > 0.0 && left > 0.0) {
        axes[0][0] = host_sqrt(a);
        axes[0][1] = between / axes[0][0];
        axes[1][1] = host_sqrt(left);
        return PARITAS_OK;
    }
    for (size_t j = 0; j < 2; j++) TRY(find_error(s, j, &axes[j][j]));
    return PARITAS_OK;
}

/* Quantile of chi-squared with 2 degrees of freedom; by its series where 1 - level rounds. */
static double quantile_of(double level)
{
    return level > 1e-6 ? -2.0 * host_log(1.0 - level) : level * (2.0 + level);
}

static double position_of_bound(const struct search *s, const struct ray *ray)
{
    double bound = FARTHEST * ray->wanted;
    for (size_t j = 0; j < 2; j++) {
        const size_t parameter = s->request->parameters[j];
        const double edge = ray->along[j] > 0.0 ? s->infer->base.upper[parameter]
                                                : s->infer->base.lower[parameter],
                     position = ray->along[j] != 0.0 ? (edge - s->centre[j]) / ray->along[j] : bound;
        if (position < bound) bound = position > 0.0 ? position : 0.0;
    }
    return bound;
}

/* Widens the box where an upper bound of a parameter of interest ends a ray that is still inside. */
static bool gives_way(const struct search *s, const struct ray *ray)
{
    bool gives = false;
    for (size_t j = 0; j < 2; j++) {
        const size_t parameter = s->request->parameters[j];
        const double edge = s->infer->base.upper[parameter];
        if (ray->along[j] > 0.0 && (edge - s->centre[j]) / ray->along[j] <= ray->bound)
            gives = infer_doubles(s->infer, parameter) || gives;
    }
    return gives;
}

/* Rays leave into the box: around the best fit, or on one side of each bound where it lies. The covariance
 * has nothing of a parameter at its bound, so the axes are those of the parameters. */
static void find_sector(const struct search *s, double *start, double *step)
{
    static const double starts[3][3] = {{0.0, 0.0, 180.0}, {270.0, 0.0, 270.0}, {90.0, 90.0, 180.0}};
    const double points = (double)s->request->n_points;
    int at[2]; /* 0 inside, 1 at the lower bound, 2 at the upper */
    for (size_t j = 0; j < 2; j++) {
        const paritas_parameter_state state = s->profile.states[s->request->parameters[j]];
        at[j] = state == PARITAS_PARAMETER_AT_LOWER_BOUND   ? 1
                : state == PARITAS_PARAMETER_AT_UPPER_BOUND ? 2
                                                            : 0;
    }
    *start = starts[at[0]][at[1]];
    *step = at[0] || at[1] ? (at[0] && at[1] ? 90.0 : 180.0) / (points - 1.0) : 360.0 / points;
}

static paritas_status begin(struct search *s)
{
    const paritas_contour_request *request = s->request;
    double axes[2][2], start, step;
    TRY(infer_lowest_free_fit(s->infer, &s->profile));
    TRY(find_axes(s, axes));
    find_sector(s, &start, &step);
    for (size_t j = 0; j < 2; j++) s->centre[j] = s->profile.parameters[request->parameters[j]];
    for (size_t i = 0; i < s->n; i++) {
        const double degrees = start + step * (double)(i % request->n_points), x = host_cos_degrees(degrees),
                     y = host_sin_degrees(degrees);
        struct ray *ray = &s->rays[i];
        *ray = (struct ray){
            .along = {axes[0][0] * x, axes[0][1] * x + axes[1][1] * y},
            .wanted = host_sqrt(quantile_of(request->levels[i / request->n_points])),
            .root_outer = HUGE_VAL,
            .point = {.status = s->profile.result.status, .value = {s->centre[0], s->centre[1]}}};
        ray->outer = ray->bound = position_of_bound(s, ray);
        ray->settled = ray->at_bound = ray->bound == 0.0;
    }
    return PARITAS_OK;
}

/* Without an outer end: by the line from the best fit, then by steps that grow. */
static double propose(const struct ray *ray)
{
    double at = ray->wanted;
    if (isfinite(ray->root_outer))
        at = ray->inner + (ray->outer - ray->inner) * (ray->wanted - ray->root_inner) /
                              (ray->root_outer - ray->root_inner);
    else if (ray->failed) /* no answer at the outer end */
        at = 0.5 * (ray->inner + ray->outer);
    else if (ray->inner > 0.0) {
        const double line = ray->inner * ray->wanted / ray->root_inner;
        at = line < 4.0 * ray->inner ? 1.01 * line : 4.0 * ray->inner;
    }
    return at < ray->bound ? at : ray->bound;
}

/* Illinois: an end that stays twice counts half as far from the edge. */
static void take(struct search *s, struct ray *ray)
{
    const double q = ray->point.twice_nll - s->profile.result.twice_nll, quantile = ray->wanted * ray->wanted;
    const bool inside = ray->point.status == PARITAS_FIT_CONVERGED && q < quantile;
    ray->q = q < 0.0 ? 0.0 : q;
    ray->at_bound = inside && ray->at == ray->bound;
    if (ray->at_bound) {
        ray->at_bound = !gives_way(s, ray);
        ray->outer = ray->bound = position_of_bound(s, ray);
    }
    ray->settled = ray->at_bound || fabs(q - quantile) <= ACCEPT * quantile;
    if (ray->settled) return;
    const double root = ray->point.status == PARITAS_FIT_CONVERGED ? host_sqrt(ray->q) : HUGE_VAL;
    if (inside) {
        if (ray->side < 0 && isfinite(ray->root_outer))
            ray->root_outer = ray->wanted + 0.5 * (ray->root_outer - ray->wanted);
        ray->inner = ray->at;
        ray->root_inner = root;
    } else {
        if (ray->side > 0) ray->root_inner = ray->wanted + 0.5 * (ray->root_inner - ray->wanted);
        ray->outer = ray->at;
        ray->root_outer = root;
        ray->failed = !isfinite(root);
    }
    ray->side = inside ? -1 : 1;
    ray->settled = ray->outer - ray->inner <= NARROWEST * ray->outer;
}

static paritas_status run_round(struct search *s, size_t *open)
{
    struct infer_point *points = infer_array(s->infer, s->n, sizeof *points);
    struct ray **owner = infer_array(s->infer, s->n, sizeof *owner);
    TRY(infer_memory(s->infer));
    *open = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        if (ray->settled) continue;
        ray->at = propose(ray);
        struct infer_point *point = &points[*open];
        *point = (struct infer_point){.profile = &s->profile, .k = 2};
        for (size_t j = 0; j < 2; j++) {
            point->parameter[j] = s->request->parameters[j];
            point->value[j] =
                infer_bounded(s->infer, point->parameter[j], s->centre[j] + ray->at * ray->along[j]);
        }
        owner[(*open)++] = ray;
    }
    if (*open == 0) return PARITAS_OK;
    TRY(infer_points_nearby(s->infer, *open, points));
    for (size_t i = 0; i < *open; i++) {
        owner[i]->point = points[i];
        take(s, owner[i]);
    }
    return PARITAS_OK;
}

/* Further starts at edges that had none. Where one is lower, the edge lies further out: *open of them. */
static paritas_status search_edges(struct search *s, size_t *open)
{
    struct infer_point **points = infer_array(s->infer, s->n, sizeof *points);
    double *before = infer_reals(s->infer, s->n, 1);
    size_t n = 0;
    TRY(infer_memory(s->infer));
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        before[i] = ray->point.twice_nll;
        if (ray->settled && !ray->searched && ray->point.profile) points[n++] = &ray->point;
        ray->searched = ray->searched || ray->settled;
    }
    *open = 0;
    if (n == 0) return PARITAS_OK;
    TRY(minimum_search_run(s->infer, &s->profile, n, points));
    for (size_t i = 0; i < s->n; i++) {
        struct ray *ray = &s->rays[i];
        if (!ray->point.profile || !(ray->point.twice_nll < before[i])) continue;
        ray->outer = ray->bound; /* fits further out may have been above their lowest minima, too */
        ray->root_outer = HUGE_VAL;
        ray->failed = ray->searched = false;
        ray->side = 0;
        take(s, ray);
        *open += !ray->settled;
    }
    return PARITAS_OK;
}

/* *lowered: conditional fits found a lower best fit, from which the rays must leave. */
static paritas_status follow(struct search *s, bool *lowered)
{
    TRY(begin(s));
    const double least = s->profile.result.twice_nll - same_minimum(s->infer->context);
    size_t open = s->n;
    *lowered = false;
    for (int search = 0; search < SEARCHES_MAX && open > 0 && !*lowered; search++) {
        for (int round = 0; round < ROUNDS_MAX && open > 0 && !*lowered; round++) {
            TRY(run_round(s, &open));
            *lowered = s->profile.result.twice_nll < least;
        }
        if (!*lowered) TRY(search_edges(s, &open));
        *lowered = s->profile.result.twice_nll < least;
    }
    return PARITAS_OK;
}

static paritas_status check(struct infer *infer, const paritas_contour_request *request)
{
    paritas_context *context = infer->context;
    REQUIRE_AS(context, "parameters, levels, points, best", request->parameters, request->levels,
               request->points, request->best);
    TRY(infer_check_profiled(infer, 2, request->parameters));
    for (size_t i = 0; i < request->n_levels; i++)
        if (!(request->levels[i] > 0.0 && request->levels[i] < 1.0))
            return paritas_refuse(context, "levels[%zu]: %g is not between 0 and 1", i, request->levels[i]);
    return PARITAS_OK;
}

static paritas_status contour(struct search *s)
{
    const paritas_contour_request *request = s->request;
    bool lowered = true;
    TRY(check(s->infer, request));
    s->n = request->n_levels * request->n_points;
    s->rays = infer_array(s->infer, s->n, sizeof *s->rays);
    TRY(infer_memory(s->infer));
    s->profile.data = s->infer->base.data;
    for (int i = 0; i < RESTARTS_MAX && lowered; i++) TRY(follow(s, &lowered));
    *request->best = s->profile.result;
    request->best->size = sizeof *request->best;
    if (request->best_parameters)
        memcpy(request->best_parameters, s->profile.parameters, s->infer->n_parameters * sizeof(double));
    infer_note_widening(s->infer);
    for (size_t i = 0; i < s->n; i++) {
        const struct ray *ray = &s->rays[i];
        request->points[i] =
            (paritas_contour_point){.size = sizeof(paritas_contour_point),
                                    .values = {ray->point.value[0], ray->point.value[1]},
                                    .q = ray->q,
                                    .at_bound = ray->at_bound,
                                    .several_minima = infer_has_several(&s->infer->minima),
                                    .minima = s->infer->minima,
                                    .status = ray->settled && !lowered && isfinite(ray->q)
                                                  ? ray->point.status
                                                  : infer_worse(ray->point.status, PARITAS_FIT_NO_PROGRESS)};
    }
    return PARITAS_OK;
}

paritas_status paritas_contour(paritas_context *context, const paritas_model *model, const paritas_job *job,
                               const paritas_contour_request *given)
{
    paritas_contour_request request = PARITAS_CONTOUR_REQUEST_DEFAULT;
    REQUIRE(context, model);
    TRY(SIZED_CHECK(context, paritas_contour_request, "request", 1, given));
    TRY(OPTIONS_READ(context, paritas_contour_request, "request", given, &request));
    TRY(SIZED_CHECK(context, paritas_fit_result, "best", 1, request.best));
    TRY(SIZED_CHECK(context, paritas_contour_point, "points", request.n_levels * request.n_points,
                    request.points));
    struct infer infer;
    struct search search = {.infer = &infer, .request = &request};
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = contour(&search);
    infer_close(&infer);
    return status;
}
