/* known_fits.c: memory of free fits, and whether they still hold. */
#include "fit/known_fits.h"

#include <string.h>

#define BYTES_MOST ((size_t)64 << 20) /* of ends */

/* Room for toys 0 .. end - 1, or as many as may be kept. */
static paritas_status make_room(paritas_context *context, struct known_fits *fits, size_t p, uint64_t end)
{
    const size_t most = BYTES_MOST / ((p + 1) * sizeof *fits->ends);
    size_t room = fits->room ? fits->room : 1024;
    while (room < end && room < most) room *= 2;
    if (room > most) room = most;
    if (room <= fits->room) return PARITAS_OK;
    double *ends = paritas_reallocate(context, fits->ends, room, p * sizeof *ends);
    if (!ends) return paritas_fail_memory(context);
    fits->ends = ends;
    unsigned *evaluations = paritas_reallocate(context, fits->evaluations, room, sizeof *evaluations);
    if (!evaluations) return paritas_fail_memory(context);
    memset(evaluations + fits->room, 0, (room - fits->room) * sizeof *evaluations);
    fits->evaluations = evaluations;
    fits->room = room;
    return PARITAS_OK;
}

static void put_setting(const struct profile_plan *plan, const double *expected, double *setting)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters, places = model->n_places;
    memcpy(setting, plan->start, p * sizeof *setting);
    memcpy(setting + p, plan->lower, p * sizeof *setting);
    memcpy(setting + 2 * p, plan->upper, p * sizeof *setting);
    memcpy(setting + 3 * p, expected, places * sizeof *setting);
    memcpy(setting + 3 * p + places, plan->metric->matrix, model->n_slots * model->n_slots * sizeof *setting);
}

static paritas_status check_setting(paritas_context *context, struct known_fits *fits,
                                    const struct profile_plan *plan, const double *expected)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t size = 3 * model->n_parameters + model->n_places + model->n_slots * model->n_slots;
    double *setting = paritas_allocate(context, size, sizeof *setting);
    if (!setting) return paritas_fail_memory(context);
    put_setting(plan, expected, setting);
    if (fits->setting_size == size && !memcmp(fits->setting, setting, size * sizeof *setting)) {
        paritas_release(&context->allocator, setting);
        return PARITAS_OK;
    }
    paritas_release(&context->allocator, fits->setting);
    fits->setting = setting;
    fits->setting_size = size;
    if (fits->room > 0) memset(fits->evaluations, 0, fits->room * sizeof *fits->evaluations);
    return PARITAS_OK;
}

paritas_status known_fits_take(paritas_context *context, struct known_fits *fits,
                               const struct profile_plan *plan, const double *expected, uint64_t first,
                               size_t n, struct profile_known *part)
{
    const size_t p = paritas_model_frozen(plan->model)->n_parameters;
    *part = (struct profile_known){.n = 0};
    TRY(check_setting(context, fits, plan, expected));
    TRY(make_room(context, fits, p, first + n));
    if (first >= fits->room) return PARITAS_OK;
    const size_t left = fits->room - (size_t)first;
    *part = (struct profile_known){.ends = fits->ends + (size_t)first * p,
                                   .evaluations = fits->evaluations + first,
                                   .n = n < left ? n : left};
    return PARITAS_OK;
}

void known_fits_free(paritas_context *context, struct known_fits *fits)
{
    paritas_release(&context->allocator, fits->ends);
    paritas_release(&context->allocator, fits->evaluations);
    paritas_release(&context->allocator, fits->setting);
    *fits = (struct known_fits){0};
}
