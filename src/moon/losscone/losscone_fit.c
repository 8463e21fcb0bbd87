/* losscone_fit.c: fits of loss cones. */
#include "base/sized.h"
#include "moon/losscone/losscone_counted.h"
#include "moon/losscone/losscone_evolution.h"

#include <string.h>

/* Of 1 + misfit: a minimum this near its lower bound is proven. Formula and tables differ by rounding;
 * with a beam the plateau's centre stands for the minimum. */
#define PROVEN_F64 1e-6
#define PROVEN_F32 2e-5

struct fit {
    const struct losscone_call *call;
    double proven;
    paritas_losscone_result *results;
};

static void take(const void *user, size_t sweep, const double *row)
{
    const struct fit *fit = user;
    const paritas_losscone_options *options = &fit->call->options;
    paritas_losscone_result *r = &fit->results[sweep];
    const unsigned cells = (unsigned)row[OUTCOME_CELLS];
    *r = losscone_result(options, cells);
    if (r->status != PARITAS_SWEEP_FITTED) return;
    const double scale = options->method == PARITAS_LOSSCONE_METHOD_LILLIS ? (double)(cells - 3) : 1.0;
    r->misfit = row[OUTCOME_MISFIT] / scale;
    r->gap = (row[OUTCOME_MISFIT] - row[OUTCOME_PROVEN]) / scale;
    r->potential = row[OUTCOME_POINT + LOSSCONE_U];
    r->ratio = row[OUTCOME_POINT + LOSSCONE_R];
    r->amplitude = row[OUTCOME_POINT + LOSSCONE_A];
    r->potential_centre = row[OUTCOME_CENTRE_U];
    r->ratio_centre = row[OUTCOME_CENTRE_R];
    r->potential_lower = row[OUTCOME_U_LOWER];
    r->potential_upper = row[OUTCOME_U_UPPER];
    r->ratio_lower = row[OUTCOME_R_LOWER];
    r->ratio_upper = row[OUTCOME_R_UPPER];
    r->boxes = (unsigned)row[OUTCOME_BOXES];
    r->solved = (unsigned)row[OUTCOME_SOLVED];
    r->vertices = (unsigned)row[OUTCOME_VERTICES];
    memcpy(r->vertex, row + OUTCOME_VERTEX, sizeof r->vertex);
    const bool at_limit = r->gap > fit->proven * (1.0 + r->misfit);
    if (!at_limit) r->gap = 0.0;
    r->status = losscone_status(options, r->misfit, !at_limit);
    losscone_judge(options, row + OUTCOME_QUALITY, scale, r);
}

static paritas_status fit_sweeps(paritas_context *context, const struct losscone_call *call,
                                 paritas_losscone_result *results)
{
    if (losscone_is_counted(call)) return losscone_counted_fit(context, call, results);
    if (call->options.search == PARITAS_LOSSCONE_SEARCH_DE) return losscone_evolve(context, call, results);
    struct fit fit = {call, context->device->precision == 32 ? PROVEN_F32 : PROVEN_F64, results};
    TRY(losscone_run(context, call,
                     (struct batch){.entry = ENTRY_losscone_search,
                                    .n_out = OUTCOME_SIZE,
                                    .slab = call->grid->search_slab,
                                    .take = take,
                                    .user = &fit}));
    if (!call->sweeps.measured || !call->sweeps.counts) return PARITAS_OK;
    return losscone_counted_deviances(context, call, results);
}

paritas_status paritas_losscone_fit(paritas_context *context, const paritas_sweeps *given_sweeps,
                                    const paritas_losscone_options *given_options,
                                    paritas_losscone_result *results)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(losscone_open(context, given_sweeps, given_options, true, &call));
    TRY(SIZED_CHECK(context, paritas_losscone_result, "results", call.sweeps.n, results));
    if (call.sweeps.n == 0) return PARITAS_OK;
    TRY(losscone_counted_check(context, &call));
    TRY(fit_sweeps(context, &call, results));
    losscone_judge_rows(&call, results);
    return PARITAS_OK;
}
