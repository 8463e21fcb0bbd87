/* minos.c: MINOS errors: how far a parameter moves until the profile of twice the NLL has risen by 1.
 *
 * Both sides are one batch a round. The profile is interpolated with its slopes (curve.h), so that the second
 * or third round lands within ACCEPT of the root. */
#include "infer/cls_curve.h"
#include "base/sized.h"
#include "infer/infer.h"

#include <math.h>
#include <string.h>

#define ACCEPT 2e-5 /* of the offset: what the interpolation adds at this distance is below 1e-9 */
#define ROUNDS_MAX 16

struct side {
    double inner, outer; /* the rise is below 1 at `inner`, above at `outer`, where `outer_known` */
    double bound, root;
    bool outer_known, settled, at_bound;
};

struct profile_of_one {
    struct curve curve;
    double centre, level; /* level: twice the NLL at the crossing */
};

/* Positive inside, negative beyond the crossing; the root of the rise is nearly linear in the parameter. */
static double to_crossing(const void *user, double x)
{
    const struct profile_of_one *p = user;
    double rise = curve_value(&p->curve, x) - p->level + 1.0;
    return rise > 0.0 ? 1.0 - sqrt(rise) : 1.0;
}

static void propose(const struct profile_of_one *p, double sigma, struct side *side)
{
    double outward = side->bound > p->centre ? 1.0 : -1.0, outer = side->outer;
    if (!side->outer_known) {
        double step = 2.0 * sigma;
        outer = side->inner;
        do {
            outer += outward * step;
            step *= 2.0;
        } while (outward * (side->bound - outer) > 0.0 && to_crossing(p, outer) > 0.0);
        if (!(outward * (side->bound - outer) > 0.0)) outer = side->bound;
        if (outer == side->bound && to_crossing(p, outer) >= 0.0) {
            side->root = outer; /* as far as the interpolation knows, the bound comes first: look there */
            return;
        }
    }
    side->root = find_root(to_crossing, p, side->inner, outer);
}

static void take(const struct profile_of_one *p, const struct infer_point *point, struct side *side)
{
    double rise = point->twice_nll - p->level + 1.0;
    if (rise < 1.0) {
        side->inner = point->value[0];
        side->at_bound = point->value[0] == side->bound;
    } else { /* a point without an answer counts as beyond */
        side->outer = point->value[0];
        side->outer_known = true;
    }
}

static paritas_status minos(struct infer *infer, const double *best, double best_twice_nll, double error,
                            size_t parameter, double *down, double *up)
{
    struct infer_profile *profile = arena_array(&infer->arena, 1, sizeof *profile);
    struct profile_of_one *p = arena_array(&infer->arena, 1, sizeof *p);
    struct infer_point points[2];
    double variance;
    if (profile == NULL || p == NULL) return paritas_fail_memory(infer->context);
    profile->data = infer->base.data;
    profile->start = best;
    paritas_status status = infer_free_fits(infer, 1, &profile); /* at once there; brings the covariance */
    if (status == PARITAS_OK) status = infer_variance(infer, profile, parameter, &variance);
    if (status != PARITAS_OK) return status;
    bool failed = profile->result.status != PARITAS_FIT_CONVERGED ||
                  profile->result.twice_nll < best_twice_nll - same_minimum(infer->context);
    double slope;
    status = infer_free_slope(infer, profile, parameter, &slope);
    if (status != PARITAS_OK) return status;
    /* a scale to search on; a parameter on its bound may have a slope and no curvature */
    double sigma = error > 0.0 ? error : sqrt(variance);
    if (!(sigma > 0.0))
        sigma = slope != 0.0 ? 1.0 / fabs(slope)
                             : (infer->base.upper[parameter] - infer->base.lower[parameter]) / 16.0;
    p->centre = best[parameter];
    p->level = best_twice_nll + 1.0;
    p->curve.curvature = 2.0 / (sigma * sigma);
    curve_add(&p->curve, p->centre, best_twice_nll, slope);
    struct side sides[2] = {{.inner = p->centre, .bound = infer->base.lower[parameter]},
                            {.inner = p->centre, .bound = infer->base.upper[parameter]}};
    for (int k = 0; k < 2; k++) sides[k].at_bound = sides[k].bound == p->centre;
    if (!(sigma > 0.0)) failed = true;
    for (int round = 0; round < ROUNDS_MAX && !failed; round++) {
        struct side *owner[2];
        size_t n = 0;
        for (int k = 0; k < 2; k++) {
            struct side *side = &sides[k];
            if (side->settled || side->at_bound) continue;
            propose(p, sigma, side);
            for (size_t i = 0; i < p->curve.n; i++) {
                double distance = fabs(p->curve.node[i].x - side->root);
                if (p->curve.node[i].x != p->centre && distance <= ACCEPT * fabs(side->root - p->centre))
                    side->settled = true;
            }
            if (side->settled) continue;
            owner[n] = side;
            points[n++] = (struct infer_point){
                .profile = profile, .k = 1, .parameter = {parameter}, .value = {side->root}};
        }
        if (n == 0) break;
        status = infer_points_once(infer, n, points);
        if (status == PARITAS_OK) status = infer_slopes(infer, n, points);
        if (status != PARITAS_OK) return status;
        for (size_t i = 0; i < n; i++) {
            if (points[i].status != PARITAS_FIT_CONVERGED ||
                points[i].twice_nll < best_twice_nll - same_minimum(infer->context))
                failed = true;
            curve_add(&p->curve, points[i].value[0], points[i].twice_nll, points[i].slope);
            take(p, &points[i], owner[i]);
        }
    }
    if (sides[0].settled) *down = sides[0].root - p->centre;
    if (sides[1].settled) *up = sides[1].root - p->centre;
    for (int k = 0; k < 2; k++) failed = failed || !(sides[k].settled || sides[k].at_bound);
    if (!failed) return PARITAS_OK;
    return paritas_fail(infer->context, PARITAS_NOT_CONVERGED,
                        "MINOS: the profile of '%s' could not be followed to its crossing",
                        paritas_model_parameter_name(infer->model, parameter));
}

paritas_status paritas_minos(paritas_context *context, const paritas_model *model, const paritas_job *job,
                             const paritas_minos_request *given, double offsets[2])
{
    paritas_minos_request request = PARITAS_INIT(paritas_minos_request);
    offsets[0] = offsets[1] = (double)NAN;
    paritas_status status = SIZED_CHECK(context, paritas_minos_request, "request", 1, given);
    if (status == PARITAS_OK) status = SIZED_TAKE(context, paritas_minos_request, "request", given, &request);
    if (status != PARITAS_OK) return status;
    struct infer infer;
    status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK && request.parameter >= infer.n_parameters)
        status = paritas_fail(context, PARITAS_INVALID_ARGUMENT, "the model has no parameter %zu",
                              request.parameter);
    if (status == PARITAS_OK && infer.base.fixed[request.parameter])
        status = paritas_fail(context, PARITAS_INVALID_ARGUMENT, "'%s' is fixed and has no error",
                              paritas_model_parameter_name(model, request.parameter));
    if (status == PARITAS_OK)
        status = minos(&infer, request.best, request.best_twice_nll, request.error, request.parameter,
                       &offsets[0], &offsets[1]);
    infer_close(&infer);
    return status;
}
