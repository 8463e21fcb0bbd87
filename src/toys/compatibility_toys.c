/* compatibility_toys.c: compatibility of channels by toys.
 *
 *   common best fit ─► chunk of toys ─► common fits ─► separate fits from there ─► differences of 2 NLL */
#include "base/sized.h"
#include "minima/conditional_fits.h"
#include "statistics/compatibility.h"
#include "toys/toy_fits.h"
#include "toys/toys.h"

#include <string.h>

#define CHUNK 1024 /* toys that are drawn and fitted together */

/* Room for a chunk, in the arena of the common model. */
struct chunk {
    paritas_job *jobs, *jobs_beyond;
    paritas_fit_result *common, *separate, *beyond;
    double *values, *starts, *separate_values, *values_beyond, *upper;
    size_t *which; /* toys that ended on a bound */
    size_t n_parameters, n_separate;
};

struct compared {
    struct infer *infer;
    const paritas_model *separate;
    paritas_job job, separate_job;
    struct widening widening; /* of the separate job */
    const double *best;
    double observed;
    paritas_toys_options options;
    struct chunk chunk;
    uint64_t above;
};

static paritas_status hold_chunk(struct compared *c)
{
    struct chunk *chunk = &c->chunk;
    chunk->n_parameters = c->infer->n_parameters;
    chunk->n_separate = paritas_model_parameter_count(c->separate);
    chunk->jobs = infer_array(c->infer, CHUNK, sizeof *chunk->jobs);
    chunk->common = infer_array(c->infer, CHUNK, sizeof *chunk->common);
    chunk->separate = infer_array(c->infer, CHUNK, sizeof *chunk->separate);
    chunk->values = infer_reals(c->infer, CHUNK, chunk->n_parameters);
    chunk->starts = infer_reals(c->infer, CHUNK, chunk->n_separate);
    const size_t most = chunk->n_separate > chunk->n_parameters ? chunk->n_separate : chunk->n_parameters;
    chunk->separate_values = infer_reals(c->infer, CHUNK, chunk->n_separate);
    chunk->jobs_beyond = infer_array(c->infer, CHUNK, sizeof *chunk->jobs_beyond);
    chunk->beyond = infer_array(c->infer, CHUNK, sizeof *chunk->beyond);
    chunk->values_beyond = infer_reals(c->infer, CHUNK, most);
    chunk->upper = infer_reals(c->infer, most, 1);
    chunk->which = infer_array(c->infer, CHUNK, sizeof *chunk->which);
    return infer_memory(c->infer);
}

static paritas_status hold_widening(struct compared *c)
{
    const paritas_job *job = &c->separate_job;
    double *widest = infer_reals(c->infer, c->chunk.n_separate, 1);
    TRY(infer_memory(c->infer));
    for (size_t i = 0; i < c->chunk.n_separate; i++)
        widest[i] = widening_widest(job->lower[i], job->upper[i]);
    c->widening = (struct widening){paritas_model_poi_count(c->separate), paritas_model_pois(c->separate),
                                    job->kept, job->lower, widest};
    return PARITAS_OK;
}

/* Toys that ended on a bound which gives way, of `n` or of those that did before. */
static size_t list_cut(const struct chunk *chunk, const struct widening *w, const paritas_job *job, size_t n,
                       const size_t *from, size_t p, const double *values)
{
    size_t cut = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = from ? from[k] : k;
        if (widening_is_met(w, job->fixed, values + i * p, chunk->upper)) chunk->which[cut++] = i;
    }
    return cut;
}

/* Repeats such fits with bounds twice as wide. Those of all parameters of interest widen together, so that no
 * toy depends on others. */
static paritas_status go_beyond(struct compared *c, const paritas_model *model, const paritas_job *job,
                                const struct widening *w, size_t n, paritas_fit_result *results,
                                double *values)
{
    const struct chunk *chunk = &c->chunk;
    const size_t p = paritas_model_parameter_count(model);
    const paritas_fit_answers answers = {
        .size = sizeof answers, .results = chunk->beyond, .parameters = chunk->values_beyond};
    memcpy(chunk->upper, job->upper, p * sizeof *chunk->upper);
    for (size_t m = list_cut(chunk, w, job, n, NULL, p, values); m > 0;
         m = list_cut(chunk, w, job, m, chunk->which, p, values)) {
        for (size_t k = 0; k < w->n; k++) widening_doubles(w, w->pois[k], chunk->upper);
        for (size_t k = 0; k < m; k++) {
            chunk->jobs_beyond[k] = chunk->jobs[chunk->which[k]];
            chunk->jobs_beyond[k].upper = chunk->upper;
            chunk->beyond[k].size = sizeof *results;
        }
        TRY(paritas_fit(c->infer->context, model, NULL, m, chunk->jobs_beyond, &answers));
        for (size_t k = 0; k < m; k++) {
            const size_t i = chunk->which[k];
            chunk->beyond[k].iterations += results[i].iterations;
            results[i] = chunk->beyond[k];
            memcpy(values + i * p, chunk->values_beyond + k * p, p * sizeof *values);
        }
    }
    return PARITAS_OK;
}

static paritas_status fit_rows(struct compared *c, const paritas_model *model, const paritas_job *job,
                               const struct widening *w, const paritas_toy_data *data, const double *starts,
                               paritas_fit_result *results, double *values)
{
    const size_t n_data = c->infer->n_data, n_starts = starts ? c->chunk.n_separate : 0;
    for (size_t i = 0; i < data->n; i++) {
        c->chunk.jobs[i] = *job;
        c->chunk.jobs[i].data = data->rows + i * n_data;
        if (starts) c->chunk.jobs[i].start = starts + i * n_starts;
        results[i].size = sizeof *results;
    }
    const paritas_fit_answers answers = {.size = sizeof answers, .results = results, .parameters = values};
    TRY(paritas_fit(c->infer->context, model, NULL, data->n, c->chunk.jobs, &answers));
    return go_beyond(c, model, job, w, data->n, results, values);
}

/* A separate fit starts at the toy's common one, so it is never above it. */
static paritas_status fit_chunk(struct compared *c, const paritas_toy_data *data)
{
    const struct chunk *chunk = &c->chunk;
    TRY(fit_rows(c, c->infer->model, &c->job, &c->infer->widening, data, NULL, chunk->common, chunk->values));
    for (size_t i = 0; i < data->n; i++)
        compatibility_start(c->infer, chunk->values + i * chunk->n_parameters, c->separate,
                            chunk->starts + i * chunk->n_separate);
    return fit_rows(c, c->separate, &c->separate_job, &c->widening, data, chunk->starts, chunk->separate,
                    chunk->separate_values);
}

static void count_chunk(struct compared *c, size_t n, paritas_gof_toys_result *result)
{
    for (size_t i = 0; i < n; i++) {
        const paritas_fit_result *common = c->chunk.common + i, *separate = c->chunk.separate + i;
        const paritas_fit_status status = infer_worse(common->status, separate->status);
        result->tally.counts[status]++;
        result->tally.fitted++;
        result->tally.by_newton++;
        result->tally.iterations += common->iterations + separate->iterations;
        if (status != PARITAS_FIT_CONVERGED) continue;
        result->n++;
        c->above += common->twice_nll - separate->twice_nll >= c->observed - same_minimum(c->infer->context);
    }
}

static paritas_status run_toys(struct compared *c, paritas_gof_toys_result *result)
{
    const uint64_t n = c->options.n, shards = (n + CHUNK - 1) / CHUNK;
    const paritas_toys_request request = {.size = sizeof request, .point = c->best};
    TRY(hold_chunk(c));
    TRY(hold_widening(c));
    c->options.shards = (unsigned)shards;
    for (c->options.shard = 1; c->options.shard <= shards; c->options.shard++) {
        paritas_toy_data *data;
        TRY(paritas_generate(c->infer->context, c->infer->model, &c->job, &request, &c->options, &data));
        const paritas_status status = fit_chunk(c, data);
        if (status == PARITAS_OK) count_chunk(c, data->n, result);
        paritas_toy_data_free(data);
        TRY(status);
    }
    result->p = toy_fraction(c->above, result->n, &result->p_error);
    return PARITAS_OK;
}

static paritas_status check_options(paritas_context *context, const paritas_toys_options *options)
{
    if (options->store || options->shards > 0)
        return paritas_refuse(context, "compatibility by toys has no `store` and no `shard`");
    if (options->newton_only)
        return paritas_refuse(context, "compatibility by toys has no `newton_only`: all fits are by newton");
    return PARITAS_OK;
}

paritas_status paritas_compatibility_toys(paritas_context *context, const paritas_model *model,
                                          const paritas_job *job, const paritas_model *separate,
                                          const paritas_toys_options *given, paritas_gof_toys_result *result,
                                          paritas_compatibility_result *observed,
                                          paritas_compatibility_group *groups)
{
    REQUIRE(context, model, separate);
    struct infer infer;
    struct infer_profile best;
    struct compared c = {.infer = &infer, .separate = separate};
    paritas_compatibility_result own = PARITAS_INIT(paritas_compatibility_result);
    paritas_compatibility_result *found = observed ? observed : &own;
    TRY(toys_take_options(context, given, &c.options));
    TRY(check_options(context, &c.options));
    TRY(SIZED_CHECK(context, paritas_gof_toys_result, "result", 1, result));
    TRY(SIZED_CHECK(context, paritas_compatibility_result, "observed", observed != NULL, observed));
    TRY(SIZED_CHECK(context, paritas_compatibility_group, "groups",
                    groups ? paritas_model_poi_count(separate) : 0, groups));
    *result = (paritas_gof_toys_result)PARITAS_INIT(paritas_gof_toys_result);
    paritas_status status = compatibility_open(&infer, context, model, job);
    if (status == PARITAS_OK) status = compatibility_fit(&infer, separate, &best, found, groups);
    if (status == PARITAS_OK) status = compatibility_job(&infer, best.parameters, separate, &c.separate_job);
    if (status == PARITAS_OK) {
        c.job = infer.base;
        c.job.start = c.best = best.parameters;
        c.observed = found->statistic;
        status = run_toys(&c, result);
    }
    infer_close(&infer);
    return status;
}
