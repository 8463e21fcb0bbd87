/* contour.c: edges of confidence regions of two parameters.
 *
 *   rays from the best fit ─► `points` of each region ─► a plane of values (plane.h) ─► all parts */
#include "statistics/regions/interval.h"
#include "statistics/regions/plane.h"
#include "base/math/host_math.h"
#include "minima/conditional_starts.h"
#include "base/sized.h"
#include "minima/lowest_points.h"

#include <math.h>
#include <string.h>

#define RESTARTS_MAX 6 /* with a lower best fit */
#define FARTHEST 1e6   /* errors; beyond, q never reaches the quantile */

struct search {
    struct infer *infer;
    const paritas_contour_request *request;
    struct infer_profile profile;
    double centre[2];
    struct rays rays;
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
    for (size_t i = 0; i < s->rays.n; i++) {
        const double degrees = start + step * (double)(i % request->n_points), x = host_cos_degrees(degrees),
                     y = host_sin_degrees(degrees);
        struct ray *ray = &s->rays.rays[i];
        *ray = (struct ray){
            .from = {s->centre[0], s->centre[1]},
            .along = {axes[0][0] * x, axes[0][1] * x + axes[1][1] * y},
            .wanted = host_sqrt(quantile_of(request->levels[i / request->n_points])),
            .root_outer = HUGE_VAL,
            .point = {.status = s->profile.result.status, .value = {s->centre[0], s->centre[1]}}};
        ray->farthest = FARTHEST * ray->wanted;
        ray->outer = ray->bound = rays_bound(&s->rays, ray);
        ray->settled = ray->at_bound = ray->bound == 0.0;
    }
    return PARITAS_OK;
}

static paritas_status check(struct infer *infer, const paritas_contour_request *request)
{
    paritas_context *context = infer->context;
    REQUIRE_AS(context, "parameters, levels, points, best", request->parameters, request->levels,
               request->points, request->best);
    if (request->parts)
        REQUIRE_AS(context, "n_parts, edges, n_edges", request->n_parts, request->edges, request->n_edges);
    TRY(infer_check_profiled(infer, 2, request->parameters));
    return confidences_check(infer, request->n_levels, request->levels);
}

/* ---- parts ---- */

static paritas_contour_point edge_point(const struct search *s, const struct ray *ray, bool lowered)
{
    const paritas_fit_status failed = infer_worse(ray->point.status, PARITAS_FIT_NO_PROGRESS);
    const bool known = ray->settled && !lowered && isfinite(ray->q);
    return (paritas_contour_point){.size = sizeof(paritas_contour_point),
                                   .values = {ray->point.value[0], ray->point.value[1]},
                                   .q = ray->q,
                                   .at_bound = ray->at_bound,
                                   .several_minima = infer_has_several(&s->infer->minima),
                                   .minima = s->infer->minima,
                                   .status = known ? ray->point.status : failed};
}

static void put_parts(const struct search *s, const struct plane *plane)
{
    const paritas_contour_request *request = s->request;
    for (size_t i = 0; i < plane->n_curves && i < request->parts_room; i++) {
        const struct plane_curve *curve = &plane->curves[i];
        request->parts[i] = (paritas_contour_part){.size = sizeof(paritas_contour_part),
                                                   .confidence = request->levels[curve->level],
                                                   .hole = curve->hole,
                                                   .minimum = {curve->minimum[0], curve->minimum[1]},
                                                   .q = curve->q,
                                                   .first = curve->first,
                                                   .n_points = curve->n};
    }
    for (size_t i = 0; i < plane->n_edges && i < request->edges_room; i++)
        request->edges[i] = edge_point(s, &plane->edges[i], false);
    *request->n_parts = plane->n_curves;
    *request->n_edges = plane->n_edges;
}

/* *lowered: there is a lower best fit, from which the rays must leave. */
static paritas_status find_parts(struct search *s, bool *lowered)
{
    const paritas_contour_request *request = s->request;
    double *levels = infer_reals(s->infer, request->n_levels, 1);
    if (!request->parts || !isfinite(s->profile.result.twice_nll)) return PARITAS_OK;
    TRY(infer_memory(s->infer));
    for (size_t k = 0; k < request->n_levels; k++) levels[k] = quantile_of(request->levels[k]);
    struct plane plane = {.infer = s->infer,
                          .profile = &s->profile,
                          .parameters = request->parameters,
                          .n_levels = request->n_levels,
                          .levels = levels};
    const unsigned char *kept = s->infer->base.kept;
    TRY(infer_keep_bounds(s->infer, true)); /* fits far away may end on them */
    const paritas_status status = plane_follow(&plane, lowered);
    infer_put_kept(s->infer, kept);
    TRY(status);
    if (*lowered)
        s->profile.start = s->profile.parameters; /* the rays' free fit begins there */
    else
        put_parts(s, &plane);
    return PARITAS_OK;
}

static paritas_status contour(struct search *s)
{
    const paritas_contour_request *request = s->request;
    bool lowered = true;
    TRY(check(s->infer, request));
    if (request->parts) *request->n_parts = *request->n_edges = 0;
    s->rays = (struct rays){.infer = s->infer,
                            .profile = &s->profile,
                            .parameters = request->parameters,
                            .n = request->n_levels * request->n_points};
    s->rays.rays = infer_array(s->infer, s->rays.n, sizeof *s->rays.rays);
    TRY(infer_memory(s->infer));
    s->profile.data = s->infer->base.data;
    for (int i = 0; i < RESTARTS_MAX && lowered; i++) {
        TRY(begin(s));
        TRY(rays_follow(&s->rays, &lowered));
        if (!lowered) TRY(find_parts(s, &lowered));
    }
    infer_put_best(s->infer, &s->profile, request->best, request->best_parameters);
    infer_note_widening(s->infer);
    for (size_t i = 0; i < s->rays.n; i++) request->points[i] = edge_point(s, &s->rays.rays[i], lowered);
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
    if (request.parts) {
        TRY(SIZED_CHECK(context, paritas_contour_part, "parts", request.parts_room, request.parts));
        TRY(SIZED_CHECK(context, paritas_contour_point, "edges", request.edges_room, request.edges));
    }
    struct infer infer;
    struct search search = {.infer = &infer, .request = &request};
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = contour(&search);
    infer_close(&infer);
    return status;
}
