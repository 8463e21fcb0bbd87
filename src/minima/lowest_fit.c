/* lowest_fit.c: the search behind a single fit. */
#include "base/sized.h"
#include "fit/family.h"
#include "minima/fit_notes.h"
#include "minima/landscape.h"
#include "minima/lowest_points.h"

#include <math.h>
#include <string.h>

/* What the starts of the free fit met. */
static void put_found(const struct infer_profile *profile, const paritas_fit_result *usual,
                      paritas_fit_starts *found)
{
    const struct landscape *landscape = profile->landscape;
    const struct station *free = landscape ? landscape_free_fit(landscape) : NULL;
    if (!free || free->n < 2) return;
    *found = (paritas_fit_starts){.size = sizeof *found,
                                  .n = 1 + landscape->free_tried,
                                  .converged = 1 + landscape->free_ended,
                                  .gain = usual->twice_nll - profile->result.twice_nll,
                                  .n_minima = free->n,
                                  .lower_known.twice_nll = (double)NAN};
    for (size_t k = 0; k < free->n; k++)
        found->minima[k] = (paritas_fit_minimum){free->ends[k].twice_nll, free->ends[k].count};
    found->spread = free->ends[free->n - 1].twice_nll - free->ends[0].twice_nll;
    found->best_start = found->gain > PARITAS_SAME_MINIMUM ? 1 : 0;
}

static paritas_status look(struct infer *infer, const paritas_fit_result *usual, double *start, bool *lower,
                           paritas_fit_starts *found)
{
    struct infer_profile profile = {.data = infer->base.data};
    const ptrdiff_t poi = paritas_model_frozen(infer->model)->poi;
    TRY(infer_keep_bounds(infer, true));
    if (poi >= 0 && !infer->base.fixed[poi]) infer->poi = (size_t)poi;
    TRY(infer_lowest_free_fit(infer, &profile));
    TRY(fit_notes_profile(infer, &profile));
    put_found(&profile, usual, found);
    const bool mended = usual->status != PARITAS_FIT_CONVERGED;
    *lower = profile.result.status == PARITAS_FIT_CONVERGED &&
             (mended || !(profile.result.twice_nll >= usual->twice_nll - same_minimum(infer->context)));
    if (*lower)
        memcpy(start, profile.from ? profile.from : profile.parameters, infer->n_parameters * sizeof *start);
    return PARITAS_OK;
}

/* Looks for a minimum below `usual`, the answer of the fit from the job's own start. *lower: there is one,
 * and `start` leads there. */
static paritas_status look_lower(paritas_context *context, const paritas_model *model, const paritas_job *job,
                                 const paritas_fit_result *usual, double *start, bool *lower,
                                 paritas_fit_starts *found)
{
    struct infer infer;
    *lower = false;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = look(&infer, usual, start, lower, found);
    infer_close(&infer);
    return status;
}

/* Starts that the caller counts are those of paritas_fit. Other minimisers take their own way. */
static bool is_searched(const paritas_fit_options *options, const paritas_job *job,
                        const paritas_fit_result *usual)
{
    return job->starts == 0 && !options->start_is_near && options->minimizer == PARITAS_MINIMIZER_NEWTON &&
           job->max_iterations == 0 && options->max_iterations == 0 && !isnan(usual->twice_nll);
}

paritas_status paritas_fit_lowest(paritas_context *context, const paritas_model *model,
                                  const paritas_fit_options *options, const paritas_job *given,
                                  const paritas_fit_answers *answers)
{
    REQUIRE(context, model);
    paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_options own = PARITAS_FIT_OPTIONS_DEFAULT;
    paritas_fit_answers to = PARITAS_FIT_ANSWERS_DEFAULT;
    paritas_fit_starts found = {.n_minima = 0};
    bool lower;
    TRY(OPTIONS_READ(context, paritas_job, "job", given, &job));
    TRY(OPTIONS_READ(context, paritas_fit_options, "options", options, &own));
    TRY(SIZED_CHECK(context, paritas_fit_answers, "answers", 1, answers));
    TRY(SIZED_TAKE(context, paritas_fit_answers, "answers", answers, &to));
    TRY(paritas_fit(context, model, &own, 1, &job, &to));
    if (!is_searched(&own, &job, to.results)) return PARITAS_OK;
    double *start = paritas_allocate(context, paritas_model_parameter_count(model) + 1, sizeof *start);
    if (!start) return paritas_fail_memory(context);
    paritas_status status = look_lower(context, model, &job, to.results, start, &lower, &found);
    job.start = start;
    if (status == PARITAS_OK && lower) status = paritas_fit(context, model, &own, 1, &job, &to);
    if (status == PARITAS_OK && to.starts && found.n_minima > 0) *to.starts = found;
    paritas_release(&context->allocator, start);
    return status;
}
