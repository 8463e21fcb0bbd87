/* toy_runner.c: runs of toys in chunks. */
#include "toys/toy_runner.h"

#include <math.h>
#include <string.h>

#define USUAL_GRADIENTS 20.0   /* of a toy by quasi-Newton */
#define MANY_ITERATIONS 5000.0 /* of a toy with many starts, before any was fitted: 1700 to 11000 */
#define LEAST_CHUNK 64.0       /* of usual toys */
#define LARGEST_CHUNK 16384.0

/* What a toy costs, in usual ones. Depends on counts alone, so a run repeats its chunks. */
static double toy_cost(const struct ensemble *ensemble, const paritas_toys_tally *tally)
{
    const double gradients = ensemble->quasi_newton ? 1.0 : ENSEMBLE_STEP_COST;
    double iterations = ensemble->options.plan.starts == STARTS_MANY ? MANY_ITERATIONS : 0.0;
    if (tally && tally->fitted > 0) iterations = (double)tally->iterations / (double)tally->fitted;
    return fmax(1.0, iterations * gradients / USUAL_GRADIENTS);
}

size_t toy_runner_step(const paritas_context *context, const struct ensemble *ensemble,
                       const paritas_toys_tally *tally)
{
    const double slots = (double)ensemble->model->n_slots, threads = context->threads,
                 usual = fmax(2.5e7 * threads / (slots * slots + 1000.0), LEAST_CHUNK);
    const double cost = toy_cost(ensemble, tally), teams = device_teams(context->device),
                 for_device = fmax(2.0 * teams / cost, 0.5 * teams);
    const size_t most = ensemble_chunk(ensemble),
                 n = (size_t)fmin(fmax(usual / cost, for_device), LARGEST_CHUNK);
    return n < most ? n : most;
}

void toy_tally_add(paritas_toys_tally *tally, const struct profile *profile)
{
    tally->fitted++;
    tally->iterations += profile->iterations;
    tally->refitted += profile->refitted;
    tally->by_quasi_newton += profile->method == PROFILE_QUASI_NEWTON;
    tally->by_newton += profile->method == PROFILE_NEWTON;
    tally->from_suggested_start += profile->method == PROFILE_SUGGESTED_START;
    tally->from_the_other_fit += profile->method == PROFILE_FROM_THE_OTHER;
    tally->from_further_starts += profile->method == PROFILE_FURTHER_STARTS;
    tally->at_edge += profile->method == PROFILE_AT_EDGE;
}

double toy_fraction(uint64_t k, uint64_t n, double *error)
{
    if (n == 0) return *error = (double)NAN;
    const double p = ((double)k + 1.0) / ((double)n + 2.0);
    *error = sqrt(p * (1.0 - p) / (double)n);
    return (double)k / (double)n;
}

/* Runs missing toys in blocks of neighbours. */
static paritas_status run_missing(const struct toy_runner *runner, int which, uint64_t first, size_t n,
                                  unsigned char *present)
{
    memset(present, 0, n);
    if (runner->present) TRY(runner->present(runner->user, which, first, n, present));
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && present[end] == present[i];) end++;
        if (!present[i]) TRY(runner->run(runner->user, which, first + i, end - i));
    }
    return PARITAS_OK;
}

/* Progress over all toys: each launch counts only its own. */
struct overall {
    paritas_progress progress;
    void *user;
    uint64_t done, total, chunk, told;
};

static int tell(void *user, uint64_t done, uint64_t total)
{
    struct overall *o = user;
    const uint64_t now =
        o->done + (total ? (uint64_t)((double)o->chunk * ((double)done / (double)total)) : 0);
    if (now > o->told) o->told = now;
    return o->progress(o->user, o->told, o->total);
}

paritas_status toy_runner_run(const struct toy_runner *runner, uint64_t first, uint64_t end)
{
    paritas_context *context = runner->context;
    unsigned char *present = NULL;
    size_t room = 0;
    struct overall overall = {.progress = context->progress,
                              .user = context->progress_user,
                              .total = (end - first) * (uint64_t)runner->n_ensembles};
    if (context->progress) {
        context->progress = tell;
        context->progress_user = &overall;
    }
    paritas_status status = PARITAS_OK;
    for (uint64_t at = first; at < end && status == PARITAS_OK; at += overall.chunk) {
        const size_t step = toy_runner_step(context, runner->sized_by, runner->tally);
        overall.chunk = end - at < step ? end - at : step;
        if (overall.chunk > room) {
            paritas_release(&context->allocator, present);
            room = (size_t)overall.chunk;
            present = paritas_allocate(context, room, 1);
            if (!present) status = paritas_fail_memory(context);
        }
        for (int which = 0; which < runner->n_ensembles && status == PARITAS_OK; which++) {
            status = run_missing(runner, which, at, (size_t)overall.chunk, present);
            overall.done += overall.chunk;
        }
    }
    context->progress = overall.progress;
    context->progress_user = overall.user;
    paritas_release(&context->allocator, present);
    return status;
}
