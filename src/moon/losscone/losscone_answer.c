/* losscone_answer.c: fits of one response with confidence sets, and what both responses say together. */
#include "base/sized.h"
#include "moon/losscone/losscone.h"

#include <math.h>

void paritas_losscone_options_of(const paritas_losscone_options *given, paritas_losscone_response response,
                                 paritas_losscone_options *options)
{
    GIVEN(, given, options);
    *options = *given;
    options->response = response;
    if (response == PARITAS_LOSSCONE_RESPONSE_FOLDED)
        options->amplitude_lower = options->amplitude_upper = 0.0;
}

static paritas_status sets_read(paritas_context *context, const paritas_losscone_sets *given,
                                const paritas_losscone_options *options, paritas_losscone_sets *sets)
{
    *sets = (paritas_losscone_sets)PARITAS_LOSSCONE_SETS_DEFAULT;
    TRY(SIZED_TAKE(context, paritas_losscone_sets, "sets", given, sets));
    if (!paritas_enumeration_word(paritas_enumeration_find("paritas_confidence_kind"), (int)sets->confidence))
        return paritas_refuse(context, "sets: confidence %d is not known", (int)sets->confidence);
    if (sets->confidence == PARITAS_CONFIDENCE_KIND_THRESHOLD && !(sets->threshold >= 0.0))
        return paritas_refuse(context, "sets: threshold %g; it must be a number from 0 on", sets->threshold);
    if (sets->confidence != PARITAS_CONFIDENCE_KIND_NONE && options->search != PARITAS_LOSSCONE_SEARCH_EXACT)
        return paritas_refuse(context, "sets: confidence sets need the exact search");
    return PARITAS_OK;
}

static paritas_status make_sets(paritas_context *context, const paritas_sweeps *sweeps,
                                const paritas_losscone_options *options, const paritas_losscone_sets *sets,
                                const paritas_losscone_result *results, paritas_confidence *confidence)
{
    if (sets->confidence == PARITAS_CONFIDENCE_KIND_RESIDUALS)
        return paritas_losscone_confidence(context, sweeps, options, results, NULL, sets->step, confidence);
    double *thresholds = paritas_allocate(context, sweeps->n, sizeof *thresholds);
    if (!thresholds) return paritas_fail_memory(context);
    paritas_status status = PARITAS_OK;
    for (size_t k = 0; k < sweeps->n; k++) thresholds[k] = sets->threshold;
    if (sets->confidence == PARITAS_CONFIDENCE_KIND_BOOTSTRAP)
        status = paritas_losscone_bootstrap(context, sweeps, options, results, sets->draws, sets->level,
                                            thresholds);
    if (status == PARITAS_OK)
        status = paritas_losscone_confidence(context, sweeps, options, results, thresholds, sets->step,
                                             confidence);
    paritas_release(&context->allocator, thresholds);
    return status;
}

paritas_status paritas_losscone_answer(paritas_context *context, const paritas_sweeps *sweeps,
                                       const paritas_losscone_options *given,
                                       const paritas_losscone_sets *given_sets,
                                       paritas_losscone_result *results, paritas_confidence *confidence)
{
    paritas_losscone_options checked, options;
    paritas_losscone_sets sets;
    REQUIRE(context, sweeps, results);
    TRY(losscone_options_read(context, given, &checked));
    TRY(sets_read(context, given_sets, &checked, &sets));
    if (sets.confidence != PARITAS_CONFIDENCE_KIND_NONE)
        TRY(SIZED_CHECK(context, paritas_confidence, "confidence", sweeps->n, confidence));
    if (sweeps->n == 0) return PARITAS_OK;
    paritas_losscone_options_of(&checked, checked.response, &options);
    /* the bootstrap knows no counts */
    if (sets.confidence == PARITAS_CONFIDENCE_KIND_BOOTSTRAP &&
        options.method == PARITAS_LOSSCONE_METHOD_AUTO)
        options.method = PARITAS_LOSSCONE_METHOD_HALEKAS;
    TRY(paritas_losscone_fit(context, sweeps, &options, results));
    for (size_t k = 0; k < sweeps->n && options.search == PARITAS_LOSSCONE_SEARCH_DE; k++)
        results[k].potential_lower = results[k].potential_upper = results[k].ratio_lower =
            results[k].ratio_upper = NAN;
    if (sets.confidence == PARITAS_CONFIDENCE_KIND_NONE) return PARITAS_OK;
    return make_sets(context, sweeps, &options, &sets, results, confidence);
}

int paritas_losscone_fitted(const paritas_losscone_result *result)
{
    GIVEN(0, result);
    return result->status == PARITAS_SWEEP_FITTED || result->status == PARITAS_SWEEP_MISFIT ||
           result->status == PARITAS_SWEEP_AT_LIMIT;
}

int paritas_losscone_preferred(const paritas_losscone_result *hard, const paritas_losscone_result *folded)
{
    if (!hard || !folded || !paritas_losscone_fitted(hard) || !paritas_losscone_fitted(folded)) return -1;
    const bool counted = hard->deviance >= 0.0 && folded->deviance >= 0.0;
    return (counted ? hard->deviance <= folded->deviance : hard->misfit <= folded->misfit)
               ? PARITAS_LOSSCONE_RESPONSE_HARD
               : PARITAS_LOSSCONE_RESPONSE_FOLDED;
}

unsigned paritas_losscone_flags(const paritas_losscone_result *hard, const paritas_losscone_result *folded)
{
    if (!hard && !folded) return PARITAS_QUALITY_NO_FIT;
    const bool second =
        !hard || paritas_losscone_preferred(hard, folded) == (int)PARITAS_LOSSCONE_RESPONSE_FOLDED;
    return second ? paritas_quality_flags(folded, hard) : paritas_quality_flags(hard, folded);
}
