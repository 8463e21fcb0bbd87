/* profile.c: what all methods of fitting profiles share. */
#include "fit/profiles/profile.h"
#include "fit/minimum.h"

#include <math.h>

const struct profile profile_without_answer = {
    NAN,   NAN,  NAN, NAN, 0.0, PARITAS_FIT_NO_PROGRESS, PARITAS_FIT_NO_PROGRESS, 0, PROFILE_NO_ANSWER,
    false, false};

struct fit_job profile_job(const struct profile_plan *plan, bool conditional, const double *row,
                           const double *start)
{
    return (struct fit_job){.start = start,
                            .lower = plan->lower,
                            .upper = plan->upper,
                            .fixed = plan->fixed,
                            .row = row,
                            .held = conditional ? plan->poi : -1,
                            .held_at = plan->mu};
}

bool profile_begins_in_f32(const paritas_context *context, const struct profile_plan *plan)
{
    return context->precision == 32 && !plan->in_f64;
}

struct paritas_device *profile_device(const paritas_context *context, const struct profile_plan *plan)
{
    return profile_begins_in_f32(context, plan) ? context->device : launch_device_f64(context);
}

double profile_same_minimum(const paritas_context *context, const struct profile_plan *plan)
{
    return 0.5 * (plan->in_f64 ? PARITAS_SAME_MINIMUM : same_minimum(context));
}

bool profile_land(const struct profile_plan *plan, bool conditional, double *point)
{
    const struct fit_job job = profile_job(plan, conditional, NULL, plan->start);
    return rows_land(paritas_model_frozen(plan->model), &job, point);
}

size_t profile_free_count(const struct profile_plan *plan)
{
    size_t count = 0;
    for (size_t p = 0; p < paritas_model_frozen(plan->model)->n_parameters; p++) count += !plan->fixed[p];
    return count;
}

uint32_t profile_poi_flag(const struct profile_plan *plan)
{
    return plan->poi >= 0 && !plan->fixed[plan->poi] ? PROFILE_POI_FREE : 0;
}
