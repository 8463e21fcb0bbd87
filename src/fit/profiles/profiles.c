/* profiles.c: quasi-Newton profiles; Newton for the rest. */
#include "fit/profiles/profiles.h"
#include "fit/profiles/profile_flips.h"
#include "fit/profiles/profile_newton.h"
#include "fit/profiles/profile_quasi_newton.h"

#include <string.h>

#define EVALUATIONS_HELD 24
/* then f64 starts afresh: the precisions may reach different minima (sbottom: one toy in 4000 with 40) */
#define EVALUATIONS_F32 24
#define EVALUATIONS_POLISH 16

/* ---- quasi-Newton in f64 ---- */

static void forget_all(size_t n, struct profile *profiles)
{
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
}

paritas_status profiles_by_quasi_newton(paritas_context *context, const struct profile_plan *plan, size_t n,
                                        const double *data, uint32_t flags, struct profile *profiles,
                                        double *slopes, double *ends)
{
    forget_all(n, profiles);
    return quasi_newton_run(context, launch_device_f64(context),
                            &(struct quasi_newton){.plan = plan,
                                                   .n = n,
                                                   .data = data,
                                                   .profiles = profiles,
                                                   .ends = ends,
                                                   .slopes = slopes,
                                                   .flags = flags | PROFILE_POINTS,
                                                   .evaluations = flags & PROFILE_HOLDS
                                                                      ? EVALUATIONS_HELD
                                                                      : PROFILE_EVALUATIONS});
}

/* ---- quasi-Newton in f32, continued in f64 ---- */

struct staged {
    const struct quasi_newton *all;
    bool by_f32, raw; /* begins in f32; ends there */
};

static paritas_status run_stage(paritas_context *context, struct paritas_device *device, void *user,
                                enum launch_stage stage, size_t n, const size_t *which)
{
    const struct staged *staged = user;
    struct quasi_newton fits = *staged->all;
    const bool in_f32 = stage == STAGE_FIRST && staged->by_f32;
    fits.n = n;
    fits.which = which;
    if (stage == STAGE_NEAR) fits.flags |= PROFILE_STARTS;
    if (in_f32) fits.flags |= PROFILE_POINTS;
    if (in_f32 && !staged->raw) fits.flags |= PROFILE_CLOSEST;
    fits.evaluations = stage == STAGE_NEAR ? EVALUATIONS_POLISH
                       : in_f32            ? EVALUATIONS_F32
                                           : PROFILE_EVALUATIONS;
    return quasi_newton_run(context, device, &fits);
}

static void forget(struct profile *profile)
{
    const unsigned spent = profile->iterations;
    *profile = profile_without_answer;
    profile->iterations = spent;
}

static enum launch_stage next_stage(void *user, enum launch_stage stage, size_t i)
{
    const struct staged *staged = user;
    const struct profile_plan *plan = staged->all->plan;
    const size_t p = paritas_model_parameter_count(plan->model);
    const bool answered = staged->all->profiles[i].method == PROFILE_QUASI_NEWTON;
    if (!staged->by_f32 || stage == STAGE_ANEW) return STAGE_DONE;
    if (stage == STAGE_NEAR || !answered) return answered ? STAGE_DONE : STAGE_ANEW;
    double *ends = staged->all->ends + i * 2 * p;
    const bool whole =
        profile_land(plan, false, ends) && (!plan->conditional || profile_land(plan, true, ends + p));
    if (whole && staged->raw) return STAGE_DONE;
    forget(&staged->all->profiles[i]);
    return whole ? STAGE_NEAR : STAGE_ANEW;
}

/* ---- all methods ---- */

/* Profiles for Newton, in `which`: no answer, or the free fit above its conditional one. */
static size_t left_for_newton(const paritas_context *context, const struct profile_plan *plan, size_t n,
                              struct profile *profiles, size_t *which)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const bool above =
            profiles[i].method == PROFILE_QUASI_NEWTON &&
            profiles[i].value_fixed < profiles[i].value_free - profile_same_minimum(context, plan);
        if (above) forget(&profiles[i]);
        if (profiles[i].method == PROFILE_NO_ANSWER) which[left++] = i;
    }
    return left;
}

/* Rows whose free fit is known, or the others. `which`: scratch. */
static paritas_status run_part(paritas_context *context, const struct quasi_newton *all, bool knows,
                               size_t *which)
{
    const struct profile_known *known = all->plan->known;
    const size_t p = paritas_model_parameter_count(all->plan->model);
    struct quasi_newton fits = *all;
    fits.n = 0;
    fits.which = which;
    fits.known = known;
    fits.evaluations = PROFILE_EVALUATIONS;
    if (knows) fits.flags |= PROFILE_KNOWN | PROFILE_STARTS;
    for (size_t i = 0; i < all->n; i++) {
        if ((i < known->n && known->evaluations[i] > 0) != knows) continue;
        which[fits.n++] = i;
        if (knows) memcpy(all->ends + 2 * i * p, known->ends + i * p, p * sizeof *known->ends);
    }
    return quasi_newton_run(context, profile_device(context, all->plan), &fits);
}

/* `which`: scratch. */
static paritas_status by_quasi_newton(paritas_context *context, const struct quasi_newton *all, size_t *which)
{
    const struct profile_plan *plan = all->plan;
    struct staged staged = {all, profile_begins_in_f32(context, plan), context->no_polish};
    if (plan->known && !staged.by_f32) {
        TRY(run_part(context, all, true, which));
        TRY(run_part(context, all, false, which));
    } else {
        const struct launch_stages stages = {run_stage, next_stage, &staged};
        TRY(launch_in_stages(context, profile_device(context, plan), &stages, all->n));
    }
    return PARITAS_OK;
}

paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters, step = launch_jobs(model->n_places + 8 * model->n_slots);
    const bool turns = plan->starts == STARTS_TURNED, wants_points = points || plan->known || turns,
               wants_ends = wants_points || (plan->metric && profile_begins_in_f32(context, plan));
    size_t *which = paritas_allocate(context, n + 1, sizeof *which);
    double *ends = wants_ends ? paritas_allocate_clear(context, n * 2 * p + 1, sizeof *ends) : NULL;
    paritas_status status = which && (ends || !wants_ends) ? PARITAS_OK : paritas_fail_memory(context);
    forget_all(n, profiles);
    if (status == PARITAS_OK && plan->metric)
        status = by_quasi_newton(
            context,
            &(struct quasi_newton){.plan = plan,
                                   .n = n,
                                   .data = data,
                                   .profiles = profiles,
                                   .ends = ends,
                                   .flags = profile_poi_flag(plan) | (wants_points ? PROFILE_POINTS : 0)},
            which);
    const size_t left = status == PARITAS_OK ? left_for_newton(context, plan, n, profiles, which) : 0;
    for (size_t k = 0; k < left && status == PARITAS_OK; k += step)
        status = profiles_by_newton(context, plan, left - k < step ? left - k : step, which + k, data,
                                    profiles, ends);
    if (status == PARITAS_OK && turns) status = profiles_flip(context, plan, n, data, profiles, ends);
    for (size_t i = 0; i < n && points && status == PARITAS_OK; i++)
        memcpy(points + i * p, ends + i * 2 * p, p * sizeof *points);
    paritas_release(&context->allocator, which);
    paritas_release(&context->allocator, ends);
    return status;
}
