/* breakdown.c: parts of the error of the parameter of interest, by groups of parameters.
 *
 *   free fit ─► a job without all constrained parameters, one without each group ─► errors ─► differences
 *
 * The jobs start at their minimum: fixed parameters keep their best values. */
#include "minima/lowest_points.h"
#include "base/pattern.h"
#include "base/sized.h"
#include "fit/fit.h"
#include "minima/edge_errors.h"

#include <math.h>
#include <string.h>

static double part_of(double total, double without)
{
    const double square = total * total - without * without;
    return square > 0.0 ? sqrt(square) : isnan(square) ? square : 0.0;
}

/* Flags of job j: 0 holds all constrained parameters, j the members of group j - 1. Returns how many free
 * ones that are. */
static size_t hold(const struct infer *infer, const unsigned char *members, size_t j, unsigned char *fixed)
{
    const size_t p = infer->n_parameters;
    size_t held = 0;
    for (size_t i = 0; i < p; i++) {
        const bool wanted = j == 0 ? i != infer->poi && !isnan(infer->widths[i]) : members[(j - 1) * p + i];
        held += wanted && !infer->base.fixed[i];
        fixed[j * p + i] = infer->base.fixed[i] || wanted;
    }
    return held;
}

static paritas_status break_down(struct infer *infer, size_t n_groups, const unsigned char *members,
                                 paritas_breakdown_result *result, paritas_breakdown_group *groups)
{
    const size_t p = infer->n_parameters, n = n_groups + 1;
    struct infer_profile profile = {.data = infer->base.data};
    paritas_job *jobs = infer_array(infer, n, sizeof *jobs);
    unsigned char *fixed = infer_array(infer, n, p);
    paritas_fit_result *results = infer_array(infer, n, sizeof *results);
    double *errors = infer_reals(infer, n, p), *parameters = infer_reals(infer, n, p);
    double *own;
    paritas_parameter_state *states;
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    TRY(infer_memory(infer));
    TRY(infer_check_members(infer, n_groups, members));
    TRY(infer_lowest_free_fit(infer, &profile));
    for (size_t j = 0; j < n; j++) {
        const size_t held = hold(infer, members, j, fixed);
        if (j > 0) groups[j - 1].held = held;
        jobs[j] = infer->base;
        jobs[j].start = profile.parameters;
        jobs[j].fixed = fixed + j * p;
    }
    answers.results = results;
    answers.errors = errors;
    answers.parameters = parameters;
    TRY(fit_run(infer->context, infer->model, NULL, n, jobs, &answers));
    TRY(edge_errors_judge(infer->context, infer->model, n, jobs, &answers));
    TRY(edge_errors_of(infer, &profile, &own, &states));
    result->best = profile.parameters[infer->poi];
    result->state = states[infer->poi];
    result->total = own[infer->poi];
    result->statistical = errors[infer->poi];
    result->systematic = part_of(result->total, result->statistical);
    result->status = infer_worse(profile.result.status, results[0].status);
    result->several_minima = infer_has_several(&infer->minima);
    result->minima = infer->minima;
    for (size_t j = 1; j < n; j++) {
        paritas_breakdown_group *group = &groups[j - 1];
        group->without = errors[j * p + infer->poi];
        group->impact = part_of(result->total, group->without);
        group->status = results[j].status;
        result->status = infer_worse(result->status, group->status);
    }
    return PARITAS_OK;
}

paritas_status paritas_breakdown(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                 size_t n_groups, const unsigned char *members,
                                 paritas_breakdown_result *result, paritas_breakdown_group *groups)
{
    REQUIRE(context, model, result);
    if (n_groups > 0) REQUIRE(context, members, groups);
    TRY(SIZED_CHECK(context, paritas_breakdown_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_breakdown_group, "groups", n_groups, groups));
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = break_down(&infer, n_groups, members, result, groups);
    if (status == PARITAS_OK) infer_note_widening(&infer);
    infer_close(&infer);
    return status;
}

paritas_status paritas_match_parameters(paritas_context *context, const paritas_model *model,
                                        const char *pattern, unsigned char *members)
{
    REQUIRE(context, model, pattern, members);
    bool found = false;
    for (size_t i = 0; i < paritas_model_parameter_count(model); i++) {
        if (!pattern_matches(pattern, paritas_model_parameter_name(model, i))) continue;
        members[i] = 1;
        found = true;
    }
    return found ? PARITAS_OK
                 : paritas_fail(context, PARITAS_NOT_FOUND, "no parameter has a name like '%s'", pattern);
}
