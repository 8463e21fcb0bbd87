/* compatibility.c: one parameter of interest for all channels against one for each group of channels.
 *
 *   common model, job ─► best fit ─► start, bounds, fixed flags of the separate model, by name ─► best fit
 *       ─► difference of twice the NLL, MINOS errors of each group */
#include "statistics/compatibility.h"

#include "base/math/probability.h"
#include "base/sized.h"
#include "fit/family.h"
#include "minima/conditional_fits.h"
#include "minima/fit_notes.h"
#include "minima/minimum_search.h"

#include <math.h>
#include <string.h>

static paritas_status free_fit(struct infer *infer, struct infer_profile *best)
{
    *best = (struct infer_profile){.data = infer->base.data};
    TRY(infer_free_fit(infer, best));
    TRY(minimum_search_run(infer, best, 0, NULL));
    return fit_notes_profile(infer, best);
}

/* The next constrained set from number *at on; an empty name: there is none. */
static paritas_parameter_set next_constrained(const paritas_model *model, size_t *at)
{
    while (*at < paritas_model_set_count(model)) {
        const paritas_parameter_set set = paritas_model_set(model, (*at)++);
        if (set_has_data(&set)) return set;
    }
    return (paritas_parameter_set){.name = ""};
}

/* Rows of data must mean the same in both models. */
static paritas_status check_models(paritas_context *context, const paritas_model *model,
                                   const paritas_model *separate)
{
    const size_t channels = paritas_model_channel_count(model);
    bool same = channels == paritas_model_channel_count(separate) &&
                paritas_model_main_count(model) == paritas_model_main_count(separate) &&
                paritas_model_aux_count(model) == paritas_model_aux_count(separate);
    for (size_t c = 0; c < channels && same; c++)
        same = strcmp(paritas_model_channel_name(model, c), paritas_model_channel_name(separate, c)) == 0 &&
               paritas_model_channel_bins(model, c) == paritas_model_channel_bins(separate, c);
    for (size_t a = 0, b = 0; same;) {
        const paritas_parameter_set one = next_constrained(model, &a), other = next_constrained(separate, &b);
        same = strcmp(one.name, other.name) == 0 && one.n == other.n;
        if (one.name[0] == '\0') break;
    }
    if (paritas_model_template_count(model) > 0 || paritas_model_template_count(separate) > 0)
        return paritas_refuse(context, "compatibility of channels: models with templates have none");
    return same ? PARITAS_OK
                : paritas_refuse(context, "`separate` is not the split workspace of `model`: its channels or "
                                          "constraints differ");
}

static paritas_status check_pois(const struct infer *common, const paritas_model *separate)
{
    if (common->poi >= common->n_parameters)
        return paritas_refuse(common->context, "compatibility of channels needs a parameter of interest");
    return paritas_model_poi_count(separate) > 0
               ? PARITAS_OK
               : paritas_refuse(common->context, "`separate` has no parameters of interest: make it of a "
                                                 "workspace that paritas_workspace_split made");
}

/* The common model's parameter behind number i of the separate one; *shared: is it that itself? */
static size_t behind(const struct infer *common, const paritas_model *separate, size_t i, bool *shared)
{
    size_t from;
    const char *name = paritas_model_parameter_name(separate, i);
    *shared = paritas_model_parameter_index(common->context, common->model, name, &from) == PARITAS_OK;
    return *shared ? from : common->poi;
}

void compatibility_start(const struct infer *common, const double *point, const paritas_model *separate,
                         double *start)
{
    for (size_t i = 0; i < paritas_model_parameter_count(separate); i++) {
        bool shared;
        const size_t from = behind(common, separate, i, &shared);
        start[i] = point[from];
        if (!shared) start[i] = fmin(fmax(start[i], common->base.lower[from]), common->base.upper[from]);
    }
}

paritas_status compatibility_job(struct infer *common, const double *point, const paritas_model *separate,
                                 paritas_job *job)
{
    const size_t n = paritas_model_parameter_count(separate);
    double *start = infer_reals(common, 3, n);
    unsigned char *fixed = infer_array(common, n, 1), *kept = infer_array(common, n, 1);
    TRY(infer_memory(common));
    double *lower = start + n, *upper = lower + n;
    compatibility_start(common, point, separate, start);
    for (size_t i = 0; i < n; i++) {
        bool shared;
        const size_t from = behind(common, separate, i, &shared);
        lower[i] = common->base.lower[from];
        upper[i] = common->base.upper[from];
        fixed[i] = shared && common->base.fixed[from];
        kept[i] = common->base.kept[from];
    }
    *job = common->base;
    job->start = start;
    job->lower = lower;
    job->upper = upper;
    job->fixed = fixed;
    job->kept = kept;
    job->n_pois = 0;
    job->pois = NULL;
    return PARITAS_OK;
}

/* MINOS errors of a group's parameter. A bound before a crossing gives way. */
static paritas_status find_errors(struct infer *infer, paritas_job job, const struct infer_profile *best,
                                  size_t parameter, double offsets[2])
{
    paritas_minos_end ends[2];
    const paritas_minos_request request = {.size = sizeof request,
                                           .parameter = parameter,
                                           .best = best->parameters,
                                           .best_twice_nll = best->result.twice_nll,
                                           .error = best->errors[parameter],
                                           .ends = ends};
    job.upper = infer->upper;
    for (;;) {
        const paritas_status status = paritas_minos(infer->context, infer->model, &job, &request, offsets);
        if (ends[1] != PARITAS_MINOS_END_BOUND || !infer_doubles(infer, parameter)) return status;
    }
}

static paritas_status fill_groups(struct infer *infer, const paritas_job *job,
                                  const struct infer_profile *best, paritas_compatibility_group *groups)
{
    const size_t *pois = paritas_model_pois(infer->model);
    for (size_t k = 0; k < paritas_model_poi_count(infer->model); k++) {
        const size_t i = pois[k];
        double offsets[2] = {(double)NAN, (double)NAN};
        if (best->result.status == PARITAS_FIT_CONVERGED) {
            const paritas_status status = find_errors(infer, *job, best, i, offsets);
            if (status != PARITAS_OK && status != PARITAS_NOT_CONVERGED) return status;
        }
        groups[k] = (paritas_compatibility_group){.size = sizeof *groups,
                                                  .mu = best->parameters[i],
                                                  .error = best->errors[i],
                                                  .down = offsets[0],
                                                  .up = offsets[1],
                                                  .state = best->states[i],
                                                  .parameter = i};
    }
    return PARITAS_OK;
}

/* `twice_nll` and the status of the common fit are in `result`. */
static paritas_status fit_separately(struct infer *common, const double *best, const paritas_model *separate,
                                     paritas_compatibility_result *result,
                                     paritas_compatibility_group *groups)
{
    struct infer infer;
    struct infer_profile own;
    paritas_job job;
    const bool held = common->base.fixed[common->poi];
    TRY(compatibility_job(common, best, separate, &job));
    paritas_status status = infer_open(&infer, common->context, separate, &job, false);
    if (status == PARITAS_OK) status = free_fit(&infer, &own);
    if (status == PARITAS_OK) {
        result->twice_nll_separate = own.result.twice_nll;
        result->statistic = result->twice_nll - result->twice_nll_separate;
        result->ndof = paritas_model_poi_count(separate) - !held;
        result->p = chi2_survival(result->statistic, (double)result->ndof);
        result->status = infer_worse(result->status, own.result.status);
    }
    if (status == PARITAS_OK && groups) status = fill_groups(&infer, &job, &own, groups);
    if (status == PARITAS_OK) infer_note_widening(&infer);
    infer_close(&infer);
    return status;
}

paritas_status compatibility_fit(struct infer *common, const paritas_model *separate,
                                 struct infer_profile *best, paritas_compatibility_result *result,
                                 paritas_compatibility_group *groups)
{
    TRY(check_models(common->context, common->model, separate));
    TRY(check_pois(common, separate));
    TRY(free_fit(common, best));
    result->mu = best->parameters[common->poi];
    result->error = best->errors[common->poi];
    result->twice_nll = best->result.twice_nll;
    result->status = best->result.status;
    infer_put_bound(common, &result->upper_bound, &result->bound_widened);
    return fit_separately(common, best->parameters, separate, result, groups);
}

paritas_status compatibility_open(struct infer *common, paritas_context *context, const paritas_model *model,
                                  const paritas_job *job)
{
    const ptrdiff_t poi = paritas_model_poi_index(model);
    TRY(infer_open(common, context, model, job, false));
    common->poi = common->n_pois > 0 ? common->pois[0] : poi >= 0 ? (size_t)poi : common->n_parameters;
    return PARITAS_OK;
}

paritas_status paritas_compatibility(paritas_context *context, const paritas_model *model,
                                     const paritas_job *job, const paritas_model *separate,
                                     paritas_compatibility_result *result,
                                     paritas_compatibility_group *groups)
{
    REQUIRE(context, model, separate);
    TRY(SIZED_CHECK(context, paritas_compatibility_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_compatibility_group, "groups",
                    groups ? paritas_model_poi_count(separate) : 0, groups));
    struct infer infer;
    struct infer_profile best;
    paritas_status status = compatibility_open(&infer, context, model, job);
    if (status == PARITAS_OK) status = compatibility_fit(&infer, separate, &best, result, groups);
    infer_close(&infer);
    return status;
}
