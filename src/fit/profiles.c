/* profiles.c: quasi-Newton profiles; Newton for the rest. */
#include "fit/profile_tasks.h"

#include <string.h>

#define EVALUATIONS_HELD 24
/* then f64 starts afresh: the precisions may reach different minima (sbottom: one toy in 4000 with 40) */
#define EVALUATIONS_F32 24
#define EVALUATIONS_POLISH 16

/* ---- quasi-Newton in f64 ---- */

/* All n rows, without an answer yet. */
static struct profile_tasks new_tasks(const struct profile_plan *plan, size_t n, const double *data,
                                      struct profile *profiles)
{
    for (size_t i = 0; i < n; i++) profiles[i] = profile_without_answer;
    return (struct profile_tasks){
        .plan = plan, .model = paritas_model_frozen(plan->model), .data = data, .profiles = profiles, .n = n};
}

paritas_status profiles_closest(paritas_context *context, const struct profile_plan *plan, size_t n,
                                const double *data, struct profile *profiles, double *slopes, double *ends)
{
    struct profile_tasks tasks = new_tasks(plan, n, data, profiles);
    tasks.ends = ends;
    tasks.wants_ends = true;
    tasks.slopes = slopes;
    tasks.closest = true;
    tasks.evaluations = PROFILE_EVALUATIONS;
    return profile_tasks_run(context, launch_device_f64(context), &tasks);
}

paritas_status profiles_closest_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                                     const double *data, struct profile *profiles, double *slopes,
                                     double *ends)
{
    struct profile_plan held = *plan;
    held.conditional = false;
    struct profile_tasks tasks = new_tasks(&held, n, data, profiles);
    tasks.ends = ends;
    tasks.from_ends = tasks.wants_ends = true;
    tasks.holds_poi = true;
    tasks.slopes = slopes;
    tasks.closest = true;
    tasks.evaluations = PROFILE_EVALUATIONS;
    return profile_tasks_run(context, launch_device_f64(context), &tasks);
}

paritas_status profiles_held(paritas_context *context, const struct profile_plan *plan, size_t n,
                             const double *row, struct profile *profiles, bool closest, double *ends)
{
    struct profile_tasks tasks = new_tasks(plan, n, row, profiles);
    tasks.ends = ends;
    tasks.from_ends = tasks.wants_ends = true;
    tasks.closest = closest;
    tasks.own_holds = true;
    tasks.evaluations = EVALUATIONS_HELD;
    return profile_tasks_run(context, launch_device_f64(context), &tasks);
}

/* ---- quasi-Newton in f32, continued in f64 ---- */

static paritas_status run_stage(paritas_context *context, struct paritas_device *device, void *user,
                                enum launch_stage stage, size_t n, const size_t *which)
{
    struct profile_tasks tasks = *(const struct profile_tasks *)user;
    const bool in_f32 = stage == STAGE_FIRST && tasks.by_f32;
    tasks.n = n;
    tasks.which = which;
    tasks.from_ends = stage == STAGE_NEAR;
    tasks.wants_ends = tasks.wants_ends || in_f32;
    tasks.closest = in_f32 && !tasks.raw;
    tasks.evaluations = stage == STAGE_NEAR ? EVALUATIONS_POLISH
                        : in_f32            ? EVALUATIONS_F32
                                            : PROFILE_EVALUATIONS;
    return profile_tasks_run(context, device, &tasks);
}

static void forget(struct profile *profile)
{
    const unsigned spent = profile->iterations;
    *profile = profile_without_answer;
    profile->iterations = spent;
}

static enum launch_stage next_stage(void *user, enum launch_stage stage, size_t i)
{
    const struct profile_tasks *tasks = user;
    const struct profile_plan *plan = tasks->plan;
    const size_t p = tasks->model->n_parameters;
    const bool answered = tasks->profiles[i].rung == PROFILE_QUASI_NEWTON;
    if (!tasks->by_f32 || stage == STAGE_ANEW) return STAGE_DONE;
    if (stage == STAGE_NEAR || !answered) return answered ? STAGE_DONE : STAGE_ANEW;
    double *ends = tasks->ends + i * 2 * p;
    const bool whole =
        profile_land(plan, false, ends) && (!plan->conditional || profile_land(plan, true, ends + p));
    if (whole && tasks->raw) return STAGE_DONE;
    forget(&tasks->profiles[i]);
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
            profiles[i].rung == PROFILE_QUASI_NEWTON &&
            profiles[i].value_fixed < profiles[i].value_free - profile_same_minimum(context, plan);
        if (above) forget(&profiles[i]);
        if (profiles[i].rung == PROFILE_NO_ANSWER) which[left++] = i;
    }
    return left;
}

/* Rows whose free fit is known, or the others. `which`: scratch. */
static paritas_status run_part(paritas_context *context, const struct profile_tasks *all, bool knows,
                               size_t *which)
{
    const struct profile_known *known = all->plan->known;
    const size_t p = all->model->n_parameters;
    struct profile_tasks tasks = *all;
    tasks.n = 0;
    tasks.which = which;
    tasks.knows = tasks.from_ends = knows;
    tasks.evaluations = PROFILE_EVALUATIONS;
    for (size_t i = 0; i < all->n; i++) {
        if ((i < known->n && known->evaluations[i] > 0) != knows) continue;
        which[tasks.n++] = i;
        if (knows) memcpy(all->ends + 2 * i * p, known->ends + i * p, p * sizeof *known->ends);
    }
    return profile_tasks_run(context, profile_device(context, all->plan), &tasks);
}

static paritas_status by_known(paritas_context *context, const struct profile_tasks *tasks)
{
    size_t *which = paritas_allocate(context, tasks->n + 1, sizeof *which);
    paritas_status status = which ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) status = run_part(context, tasks, true, which);
    if (status == PARITAS_OK) status = run_part(context, tasks, false, which);
    paritas_release(&context->allocator, which);
    return status;
}

static paritas_status by_quasi_newton(paritas_context *context, struct profile_tasks *tasks, double *points)
{
    const size_t p = tasks->model->n_parameters;
    const struct launch_stages stages = {run_stage, next_stage, tasks};
    if (tasks->plan->known && !tasks->by_f32)
        TRY(by_known(context, tasks));
    else
        TRY(launch_in_stages(context, profile_device(context, tasks->plan), &stages, tasks->n));
    for (size_t i = 0; i < tasks->n && points; i++)
        if (tasks->profiles[i].rung == PROFILE_QUASI_NEWTON)
            memcpy(points + i * p, tasks->ends + i * 2 * p, p * sizeof *points);
    return PARITAS_OK;
}

paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters, step = launch_jobs(model->n_places + 8 * model->n_slots);
    struct profile_tasks tasks = new_tasks(plan, n, data, profiles);
    tasks.wants_ends = plan->metric && (points || plan->known);
    tasks.by_f32 = profile_begins_in_f32(context, plan);
    tasks.raw = context->no_polish;
    const bool wants_ends = tasks.wants_ends || (plan->metric && tasks.by_f32);
    size_t *which = paritas_allocate(context, n + 1, sizeof *which);
    tasks.ends = wants_ends ? paritas_allocate_clear(context, n * 2 * p + 1, sizeof *tasks.ends) : NULL;
    paritas_status status = which && (tasks.ends || !wants_ends) ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK && plan->metric) status = by_quasi_newton(context, &tasks, points);
    const size_t left = status == PARITAS_OK ? left_for_newton(context, plan, n, profiles, which) : 0;
    for (size_t k = 0; k < left && status == PARITAS_OK; k += step)
        status =
            ladder_fit(context, plan, left - k < step ? left - k : step, which + k, data, profiles, points);
    paritas_release(&context->allocator, which);
    paritas_release(&context->allocator, tasks.ends);
    return status;
}
