/* profiles.c: see profiles.h. */
#include "fit/ladder.h"
#include "fit/fit_rows.h"
#include "minimise/minimiser_sizes.h"

#include <math.h>
#include <string.h>

#define EVALUATIONS 40 /* of a quasi-Newton fit; what takes longer is Newton's */
/* in f32; what takes longer is f64's from the start: there the two precisions may take ways to different
 * minima (sbottom: with 40, one toy in 4000 did) */
#define EVALUATIONS_F32 24
#define EVALUATIONS_POLISH 10 /* from where f32 ended */
#define SHARE_MOST 32u        /* tasks that a lane works through: lanes are idle during the last one only */

paritas_status profiles_matrix(paritas_context *context, const struct profile_plan *plan,
                               const double *expected, double *matrix, bool *usable)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots, stride = 3 * slots + 8 + slots * slots;
    struct rows rows;
    *usable = false;
    paritas_status status = rows_allocate(context, model->n_places + 4 * slots, stride, 8, &rows);
    if (status != PARITAS_OK) return status;
    double *row = rows.in + model->n_places;
    memcpy(rows.in, expected, model->n_places * sizeof *expected);
    rows_put_point(model, plan->start, model->slot_template, row);
    rows_put_limits(model, plan->lower, plan->upper, plan->fixed, row);
    for (size_t p = 0; p < model->n_parameters; p++) {
        row[slots + model->slot_of[p]] = -1e300;
        row[2 * slots + model->slot_of[p]] = 1e300;
    }
    rows.args[0] = rows.args[1] = rows.args[2] = 1;
    status = rows_launch(context, context->host, model, model->family->covariance, 1, &rows);
    if (status == PARITAS_OK) {
        *usable = rows.out[3 * slots] < ROWS_OUTSIDE && rows.out[3 * slots + 2] == 0.0;
        memcpy(matrix, rows.out + 3 * slots + 8, slots * slots * sizeof *matrix);
        for (size_t p = 0; p < model->n_parameters; p++) {
            const uint32_t slot = model->slot_of[p];
            /* an error of 0 says that the data do not determine the parameter */
            *usable = *usable &&
                      (plan->fixed[p] || (rows.out[slots + slot] > 0.0 && isfinite(rows.out[slots + slot])));
        }
        for (size_t i = 0; i < slots * slots; i++) *usable = *usable && isfinite(matrix[i]);
    }
    rows_free(&rows);
    return status;
}

/* ---- quasi-Newton ---- */

/* One launch: fits of the data rows `which` (NULL: 0 .. n - 1) on a device. `starts`: NULL, then all from the
 * plan's, or a row for each data row there is, of the starts of its two fits (n_slots each). `ends`: NULL, or
 * such rows for where they end. Rows of what has no answer stay as they are. */
struct quasi_newton {
    const struct profile_plan *plan;
    struct paritas_device *device;
    size_t n;
    const size_t *which;
    uint32_t evaluations; /* limit of a fit */
    const double *data, *starts;
    struct profile *profiles;
    double *ends;
    bool closest; /* down to EDM_CLOSEST */
};

static paritas_status quasi_newton(paritas_context *context, const struct quasi_newton *call)
{
    const struct profile_plan *plan = call->plan;
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t n = call->n, slots = model->n_slots, places = model->n_places,
                 full = slots * slots + 6 * slots + 8, stride = 8 + (call->ends ? 2 * slots : 0);
    if (n == 0) return PARITAS_OK;
    /* as few tasks a lane as keep the device busy; no more than SHARE_MOST */
    const size_t even = n / device_teams(call->device), share = even < 1            ? 1
                                                                : even > SHARE_MOST ? SHARE_MOST
                                                                                    : even;
    size_t count = 0;
    for (size_t p = 0; p < model->n_parameters; p++) count += !plan->fixed[p];
    const size_t width = (count + 7) / 8 * 8, head = full + count * width;
    struct rows rows;
    paritas_status status = rows_allocate(context, head + n * (places + (call->starts ? 2 * slots : 0)),
                                          (n + n / share + 1) * stride, 8 + count, &rows);
    if (status != PARITAS_OK) return status;
    double *row = rows.in + slots * slots, *cap = row + 4 * slots;
    double *start = paritas_allocate(context, slots, sizeof *start);
    if (!start) {
        rows_free(&rows);
        return paritas_fail_memory(context);
    }
    memcpy(rows.in, plan->matrix, slots * slots * sizeof *row);
    rows_put_point(model, plan->start, model->slot_template, start);
    ladder_put_fit(plan, false, start, row);
    paritas_release(&context->allocator, start);
    double *shift = cap + slots;
    memset(cap, 0, (2 * slots + 8) * sizeof *cap);
    for (size_t p = 0; p < model->n_parameters; p++)
        if (model->width[p] > 0.0) cap[model->slot_of[p]] = STEP_WIDTHS * model->width[p];
    shift[slots] = plan->mu;
    rows.args[0] = (uint32_t)n;
    rows.args[1] = rows.share = (uint32_t)share;
    rows.args[2] = 0xffffffffu;
    for (size_t p = 0; p < model->n_parameters && plan->conditional; p++)
        shift[model->slot_of[p]] = plan->conditional_start[p] - plan->start[p];
    if (plan->poi >= 0) {
        rows.args[2] = model->slot_of[plan->poi];
        row[3 * slots + rows.args[2]] = 0.0; /* its state is the fit's */
    }
    rows.args[3] = (plan->conditional ? 1u : 0u) | (call->ends ? 2u : 0u) |
                   (plan->poi >= 0 && !plan->fixed[plan->poi] ? 4u : 0u) | (call->starts ? 8u : 0u) |
                   (call->closest ? 16u : 0u);
    rows.args[4] = call->evaluations;
    rows.args[5] = (uint32_t)count;
    size_t at = 0;
    for (size_t p = 0; p < model->n_parameters; p++)
        if (!plan->fixed[p]) rows.args[8 + at++] = model->slot_of[p];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++)
            rows.in[full + i * width + j] =
                j < count ? plan->matrix[rows.args[8 + i] * slots + rows.args[8 + j]] : 0.0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = call->which ? call->which[k] : k;
        memcpy(rows.in + head + k * places, call->data + i * places, places * sizeof *rows.in);
        if (call->starts)
            memcpy(rows.in + head + n * places + k * 2 * slots, call->starts + i * 2 * slots,
                   2 * slots * sizeof *rows.in);
    }
    status = rows_launch(context, call->device, model, model->family->profile, n, &rows);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        const size_t i = call->which ? call->which[k] : k;
        const double *out = rows.out + k * stride;
        const double done = plan->conditional ? 2.0 : 1.0;
        struct profile *profile = &call->profiles[i];
        profile->iterations += (unsigned)(out[3] + out[4]);
        if (out[5] != 0.0 || out[6] != done) continue; /* Newton's */
        profile->value_free = out[0];
        profile->value_fixed = plan->conditional ? out[1] : out[0];
        profile->mu_hat = out[2];
        profile->edm = out[7];
        profile->status_free = profile->status_fixed = PARITAS_FIT_CONVERGED;
        profile->rung = PROFILE_QUASI_NEWTON;
        if (call->ends)
            memcpy(call->ends + i * 2 * slots, out + 8,
                   (plan->conditional ? 2 : 1) * slots * sizeof *call->ends);
    }
    rows_free(&rows);
    return status;
}

static const struct profile no_answer = {
    NAN, NAN, NAN, NAN, PARITAS_FIT_NO_PROGRESS, PARITAS_FIT_NO_PROGRESS, 0, PROFILE_NO_ANSWER, false};

paritas_status profiles_closest(paritas_context *context, const struct profile_plan *plan, size_t n,
                                const double *data, struct profile *profiles, double *ends)
{
    for (size_t i = 0; i < n; i++) profiles[i] = no_answer;
    const struct quasi_newton call = {.plan = plan,
                                      .device = rows_device_f64(context),
                                      .n = n,
                                      .evaluations = EVALUATIONS,
                                      .data = data,
                                      .profiles = profiles,
                                      .ends = ends,
                                      .closest = true};
    return quasi_newton(context, &call);
}

/* Only the iterations that were spent stay. */
static void forget(struct profile *profile)
{
    const unsigned spent = profile->iterations;
    *profile = no_answer;
    profile->iterations = spent;
}

/* In f32 on the device, then on the host in f64 from where that ended. What has no answer keeps none; what
 * f32 does not finish is f64's alone. */
static paritas_status quasi_newton_by_f32(paritas_context *context, struct quasi_newton *call, size_t *which)
{
    const struct profile_plan *plan = call->plan;
    const size_t slots = paritas_model_frozen(plan->model)->n_slots;
    struct profile *profiles = call->profiles;
    size_t near = 0, far = 0;
    call->device = context->device;
    call->evaluations = EVALUATIONS_F32;
    paritas_status status = quasi_newton(context, call);
    for (size_t i = 0; i < call->n && status == PARITAS_OK; i++) {
        if (profiles[i].rung != PROFILE_QUASI_NEWTON) continue;
        double *ends = call->ends + i * 2 * slots;
        const bool whole =
            ladder_land(plan, false, ends) && (!plan->conditional || ladder_land(plan, true, ends + slots));
        if (whole && context->no_polish) continue;
        forget(&profiles[i]);
        if (whole) which[near++] = i;
    }
    struct quasi_newton again = *call;
    again.device = context->host;
    again.evaluations = EVALUATIONS_POLISH;
    again.which = which;
    again.n = near;
    again.starts = call->ends;
    if (status == PARITAS_OK) status = quasi_newton(context, &again);
    for (size_t i = 0; i < call->n && status == PARITAS_OK; i++)
        if (profiles[i].rung != PROFILE_QUASI_NEWTON) which[far++] = i;
    again.n = far;
    again.evaluations = EVALUATIONS;
    again.starts = NULL;
    return status == PARITAS_OK ? quasi_newton(context, &again) : status;
}

/* Rows that one pass of Newton takes: keeps its memory flat. */
#define NEWTON_ELEMENTS ((size_t)4 << 20)

paritas_status profiles_fit(paritas_context *context, const struct profile_plan *plan, size_t n,
                            const double *data, struct profile *profiles, double *points)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t slots = model->n_slots;
    const bool by_f32 = ladder_begins_in_f32(context, plan);
    for (size_t i = 0; i < n; i++) profiles[i] = no_answer;
    size_t *which = paritas_allocate(context, n + 1, sizeof *which), left = 0;
    double *ends =
        plan->matrix && (points || by_f32) ? paritas_allocate(context, n * 2 * slots, sizeof *ends) : NULL;
    struct quasi_newton call = {
        .plan = plan, .n = n, .evaluations = EVALUATIONS, .data = data, .profiles = profiles, .ends = ends};
    call.device = rows_device_f64(context);
    paritas_status status =
        which && (ends || !(plan->matrix && (points || by_f32))) ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK && plan->matrix)
        status = by_f32 ? quasi_newton_by_f32(context, &call, which) : quasi_newton(context, &call);
    for (size_t i = 0; i < n && points && ends && status == PARITAS_OK; i++)
        if (profiles[i].rung == PROFILE_QUASI_NEWTON)
            memcpy(points + i * slots, ends + i * 2 * slots, slots * sizeof *points);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        /* a free fit above its conditional one is Newton's to repeat, too */
        const bool above =
            profiles[i].rung == PROFILE_QUASI_NEWTON &&
            profiles[i].value_fixed < profiles[i].value_free - ladder_same_minimum(context, plan);
        if (above) forget(&profiles[i]);
        if (profiles[i].rung == PROFILE_NO_ANSWER) which[left++] = i;
    }
    const size_t step = NEWTON_ELEMENTS / (model->n_places + 8 * model->n_slots) + 1;
    for (size_t k = 0; k < left && status == PARITAS_OK; k += step)
        status =
            ladder_fit(context, plan, left - k < step ? left - k : step, which + k, data, profiles, points);
    paritas_release(&context->allocator, which);
    paritas_release(&context->allocator, ends);
    return status;
}
