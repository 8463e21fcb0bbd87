/* fit.c: from job lists to results. One path for one job and for ten million.
 *
 *   jobs ──► chunks ──► device: whole fits ──► (f32: polish on the host in f64) ──► covariance on the host
 *       ──► results[i] for jobs[i]
 *
 * Polish: Newton's method in f64 goes on from the point that f32 found, as from a prediction, down to an EDM
 * of EDM_CLOSER times what a fit must have: the f32 point leaves no trace. What f32 did not finish is a start
 * like any other, and what has no answer from there begins anew where an f64 fit would: never a worse answer,
 * only a slower one.
 *
 * Results depend on (model, data, options, precision) alone: not on the device, lanes, threads or how jobs
 * were cut into chunks. Where errors are asked, and always after another minimiser than Newton's, the
 * conditions of convergence are checked once more with the exact Hessian of the returned point; a fit that
 * fails them is continued from there by the same minimiser.
 */
#include "fit/fit.h"
#include "base/sized.h"
#include "fit/closest.h"
#include "fit/minimum.h"
#include "fit/fit_rows.h"
#include "entry/entry_rows.h"
#include "minimise/minimiser_sizes.h"

#include <string.h>

#define EDM_OF_ROUNDING 1e-14 /* here the gradient is rounding, which a large error may still magnify */
#define CONTINUATIONS 3

static const unsigned iteration_limit[PARITAS_MINIMIZER_COUNT] = {
    [PARITAS_MINIMIZER_NEWTON] = 200, [PARITAS_MINIMIZER_LBFGSB] = 5000, [PARITAS_MINIMIZER_DE] = 3000};

struct chunk {
    paritas_context *context;
    const paritas_model *given;
    const struct frozen *model;
    paritas_fit_options options;
    size_t n;
    const paritas_job *jobs;
    paritas_fit_result *results;
    double *parameters, *errors, *covariance;
    paritas_parameter_state *states;
    const double **sets; /* distinct data rows */
    uint32_t *set_of;    /* per job */
    double *constants;   /* per data set */
    size_t n_sets;
    bool raw;                    /* f32, and not polished */
    uint32_t closer;             /* FIT_TO_CLOSEST, or 0 */
    struct closest_fit *closest; /* n, or NULL */
};

static const double *or_default(const double *given, const double *suggested)
{
    return given ? given : suggested;
}

static paritas_status check_job(const struct chunk *c, size_t index)
{
    const struct frozen *model = c->model;
    const paritas_job *job = &c->jobs[index];
    const double *start = or_default(job->start, model->init), *lower = or_default(job->lower, model->lower),
                 *upper = or_default(job->upper, model->upper);
    const unsigned char *fixed = job->fixed ? job->fixed : model->fixed;
    for (size_t p = 0; p < model->n_parameters; p++) {
        const char *name = paritas_model_parameter_name(c->given, p);
        if (!(start[p] - start[p] == 0.0))
            return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT, "start of %s: must be a finite number",
                                name);
        if (fixed[p]) continue;
        if (!(lower[p] <= upper[p]))
            return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT, "bounds of %s: %g to %g is no interval",
                                name, lower[p], upper[p]);
        if (start[p] < lower[p] || start[p] > upper[p])
            return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT,
                                "start of %s: %.17g lies outside its bounds %g to %g", name, start[p],
                                lower[p], upper[p]);
    }
    if (job->data) {
        for (size_t i = 0; i < model->n_data; i++)
            if (!(job->data[i] - job->data[i] == 0.0) || (frozen_counts(model, i) && job->data[i] < 0.0))
                return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT,
                                    "data[%zu]: must be a finite number, not negative where it is a count",
                                    i);
        return rows_check_templates(c->context, model, job->data, "data");
    }
    return PARITAS_OK;
}

/* Finds the distinct data rows of the chunk. */
static void gather_sets(struct chunk *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const double *data = or_default(c->jobs[i].data, c->model->data);
        size_t k = c->n_sets;
        const size_t oldest = c->n_sets > 8 ? c->n_sets - 8 : 0;
        while (k > oldest && c->sets[k - 1] != data) k--;
        if (k == oldest) {
            c->constants[c->n_sets] = c->model->constant(c->model, data);
            c->sets[c->n_sets++] = data;
            k = c->n_sets;
        }
        c->set_of[i] = (uint32_t)(k - 1);
    }
}

/* Rows for an entry that takes jobs; `from` replaces the start of the listed jobs (NULL: their own). */
static void put_jobs(const struct chunk *c, struct rows *rows, uint32_t option, size_t n, const size_t *which,
                     const double *from)
{
    const struct frozen *model = c->model;
    const size_t slots = model->n_slots;
    for (size_t s = 0; s < c->n_sets; s++) rows_put_data(model, c->sets[s], rows->in + s * model->n_places);
    rows->args[0] = (uint32_t)n;
    rows->args[1] = (uint32_t)c->n_sets;
    rows->args[2] = option;
    for (size_t k = 0; k < n; k++) {
        const size_t i = which ? which[k] : k;
        const paritas_job *job = &c->jobs[i];
        double *row = rows->in + c->n_sets * model->n_places + 4 * slots * k;
        rows_put_point(model, from ? from + i * model->n_parameters : or_default(job->start, model->init),
                       model->slot_template, row);
        rows_put_limits(model, or_default(job->lower, model->lower), or_default(job->upper, model->upper),
                        job->fixed ? job->fixed : model->fixed, row);
        rows->args[FIT_ARGS + k] = c->set_of[i];
    }
}

/* Members of a population of differential evolution. */
static uint32_t members_of(const struct chunk *c)
{
    const size_t wished = 10 * c->model->n_parameters;
    return c->options.population ? c->options.population
           : wished < 20         ? 20
           : wished > 200        ? 200
                                 : (uint32_t)wished;
}

/* Fits the listed jobs of the chunk (NULL: all), from `from` where given. Parameters land in
 * c->parameters. */
static paritas_status fit_jobs(struct chunk *c, struct paritas_device *device, size_t n, const size_t *which,
                               const double *from, uint32_t flags)
{
    const struct frozen *model = c->model;
    const size_t slots = model->n_slots, stride = slots + 8;
    struct rows rows;
    paritas_status status =
        rows_allocate(c->context, c->n_sets * model->n_places + 4 * slots * n, n * stride, FIT_ARGS + n, &rows);
    if (status != PARITAS_OK) return status;
    const paritas_minimizer minimizer = c->options.minimizer;
    put_jobs(c, &rows, c->options.max_iterations ? c->options.max_iterations : iteration_limit[minimizer], n,
             which, from);
    rows.args[3] = flags;
    rows.args[FIT_ARG_MEMBERS] = members_of(c);
    rows.args[FIT_ARG_SEED_LOW] = (uint32_t)c->options.seed;
    rows.args[FIT_ARG_SEED_HIGH] = (uint32_t)(c->options.seed >> 32);
    if (minimizer == PARITAS_MINIMIZER_DE) rows.more = DE_MEMORY(slots, (size_t)rows.args[FIT_ARG_MEMBERS]);
    status = rows_launch(c->context, device, model, model->family->fit[minimizer], n, &rows);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        const size_t i = which ? which[k] : k;
        const double *out = rows.out + k * stride, *tail = out + slots, nan = __builtin_nan("");
        paritas_fit_result *result = &c->results[i];
        const int inside = tail[1] < ROWS_OUTSIDE;
        result->status = inside ? (paritas_fit_status)(int)tail[0] : PARITAS_FIT_NON_FINITE;
        result->iterations += (unsigned)tail[3];
        result->twice_nll = inside ? 2.0 * (tail[1] + c->constants[c->set_of[i]]) : nan;
        result->edm = inside && tail[3] > 0.0 ? tail[2] : nan;
        result->projected_gradient = inside ? tail[4] : nan;
        if (c->closest)
            c->closest[i] = (struct closest_fit){
                .status = result->status, .deviance = inside ? 2.0 * tail[1] : nan, .open = tail[6] != 0.0};
        rows_get_point(model, out, c->parameters + i * model->n_parameters);
    }
    rows_free(&rows);
    return status;
}

/* Errors, covariance and states at the fitted points; fits that fail the check with this Hessian are listed
 * in `again`. */
static paritas_status covariance_jobs(struct chunk *c, size_t n, const size_t *which, size_t *again,
                                      size_t *n_again)
{
    const struct frozen *model = c->model;
    const size_t slots = model->n_slots, p = model->n_parameters, whole = c->covariance != NULL;
    const size_t stride = 3 * slots + 8 + (whole ? slots * slots : 0);
    struct rows rows;
    paritas_status status =
        rows_allocate(c->context, c->n_sets * model->n_places + 4 * slots * n, n * stride, FIT_ARGS + n, &rows);
    if (status != PARITAS_OK) return status;
    const double edm_most = c->raw ? EDM_TOLERANCE_F32 : EDM_TOLERANCE_F64,
                 pull_most = c->raw ? PULL_TOLERANCE_F32 : PULL_TOLERANCE_F64;
    put_jobs(c, &rows, whole, n, which, c->parameters);
    status = rows_launch(c->context, c->context->host, model, model->family->covariance, n, &rows);
    *n_again = 0;
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        const size_t i = which[k];
        const double *out = rows.out + k * stride, *tail = out + 3 * slots, nan = __builtin_nan("");
        const double *lower = or_default(c->jobs[i].lower, model->lower);
        const unsigned char *fixed = c->jobs[i].fixed ? c->jobs[i].fixed : model->fixed;
        paritas_fit_result *result = &c->results[i];
        const int usable = tail[0] < ROWS_OUTSIDE && tail[2] == 0.0;
        const int met =
            tail[2] == 0.0 && tail[1] <= edm_most && (tail[3] <= pull_most || tail[1] <= EDM_OF_ROUNDING);
        /* a method that knows no Hessian asks for more than rounding may allow: where its line search ended
         * the conditions may yet hold */
        if (met && c->options.minimizer != PARITAS_MINIMIZER_NEWTON &&
            result->status == PARITAS_FIT_NO_PROGRESS)
            result->status = PARITAS_FIT_CONVERGED;
        if (result->status == PARITAS_FIT_CONVERGED) {
            result->edm = tail[1];
            result->projected_gradient = tail[3];
            if (tail[2] != 0.0)
                result->status = PARITAS_FIT_NOT_A_MINIMUM;
            else if (!met)
                again[(*n_again)++] = i;
        }
        for (size_t a = 0; a < p; a++) {
            const uint32_t slot = model->slot_of[a];
            const int active = out[slot] > 0.0;
            if (c->states)
                c->states[i * p + a] = fixed[a] ? PARITAS_PARAMETER_FIXED
                                       : active ? PARITAS_PARAMETER_FREE
                                       : c->parameters[i * p + a] <= lower[a]
                                           ? PARITAS_PARAMETER_AT_LOWER_BOUND
                                           : PARITAS_PARAMETER_AT_UPPER_BOUND;
            if (c->errors)
                c->errors[i * p + a] = usable && active && out[slots + slot] > 0.0 ? out[slots + slot] : nan;
            /* from one half: the other may differ in the last bit */
            for (size_t b = 0; whole && b < p; b++) {
                const uint32_t other = model->slot_of[b], row = slot > other ? slot : other,
                               column = slot > other ? other : slot;
                c->covariance[(i * p + a) * p + b] = usable ? tail[8 + row * slots + column] : nan;
            }
        }
    }
    rows_free(&rows);
    return status;
}

/* ---- f32 ---- */

/* What f32 answered, as numbers of the job: a fixed parameter has its value, one at a rounded bound is on the
 * bound. False: it is no point. */
static bool land(struct chunk *c, size_t i)
{
    const struct frozen *model = c->model;
    const paritas_job *job = &c->jobs[i];
    const double *start = or_default(job->start, model->init), *lower = or_default(job->lower, model->lower),
                 *upper = or_default(job->upper, model->upper);
    const unsigned char *fixed = job->fixed ? job->fixed : model->fixed;
    double *point = c->parameters + i * model->n_parameters;
    bool whole = true;
    for (size_t p = 0; p < model->n_parameters; p++) {
        point[p] = fixed[p] ? start[p] : rows_land(point[p], lower[p], upper[p]);
        whole = whole && point[p] - point[p] == 0.0;
    }
    return whole;
}

/* Polishes all fits of the chunk, as the top of this file says. `which`: room for them. */
static paritas_status polish(struct chunk *c, size_t *which)
{
    const bool newton = c->options.minimizer == PARITAS_MINIMIZER_NEWTON;
    const uint32_t own = c->options.start_is_near ? FIT_FROM_NEAR : 0, closer = newton ? FIT_TO_CLOSER : 0;
    size_t near = 0, far = c->n;
    for (size_t i = 0; i < c->n; i++) {
        const bool whole = land(c, i);
        if (!whole)
            memcpy(c->parameters + i * c->model->n_parameters, or_default(c->jobs[i].start, c->model->init),
                   c->model->n_parameters * sizeof *c->parameters);
        if (whole && (!newton || c->results[i].status == PARITAS_FIT_CONVERGED))
            which[near++] = i;
        else
            which[--far] = i;
    }
    paritas_status status =
        near > 0 ? fit_jobs(c, c->context->host, near, which, c->parameters, FIT_FROM_NEAR | closer)
                 : PARITAS_OK;
    if (far < c->n && status == PARITAS_OK)
        status = fit_jobs(c, c->context->host, c->n - far, which + far, c->parameters, closer);
    size_t open = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->results[i].status != PARITAS_FIT_CONVERGED) which[open++] = i;
    return open > 0 && status == PARITAS_OK ? fit_jobs(c, c->context->host, open, which, NULL, own) : status;
}

/* ---- chunks ---- */

static paritas_status run_chunk(struct chunk *c)
{
    paritas_context *context = c->context;
    size_t *again = paritas_allocate(context, 2 * c->n, sizeof *again);
    c->sets = paritas_allocate(context, c->n, sizeof *c->sets);
    c->set_of = paritas_allocate(context, c->n, sizeof *c->set_of);
    c->constants = paritas_allocate(context, c->n, sizeof *c->constants);
    paritas_status status =
        again && c->sets && c->set_of && c->constants ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        gather_sets(c);
        for (size_t i = 0; i < c->n; i++)
            c->results[i] = (paritas_fit_result)PARITAS_INIT(paritas_fit_result);
        const uint32_t own = c->options.start_is_near ? FIT_FROM_NEAR : 0;
        status = fit_jobs(c, context->device, c->n, NULL, NULL, own | c->closer);
        for (size_t i = 0; i < c->n && c->raw && status == PARITAS_OK; i++) land(c, i);
        if (status == PARITAS_OK && context->precision == 32 && !c->raw) status = polish(c, again);
        size_t open = 0;
        for (size_t i = 0; i < c->n && c->closer && status == PARITAS_OK; i++)
            if (c->results[i].status != PARITAS_FIT_CONVERGED) again[open++] = i;
        /* as near as any fit, if not closest */
        if (open > 0 && status == PARITAS_OK) status = fit_jobs(c, context->host, open, again, NULL, own);
    }
    if (status == PARITAS_OK &&
        (c->errors || c->covariance || c->states || c->options.minimizer != PARITAS_MINIMIZER_NEWTON)) {
        size_t n = c->n, *now = again + c->n;
        for (size_t i = 0; i < n; i++) now[i] = i;
        for (unsigned round = 0; n > 0 && status == PARITAS_OK; round++) {
            size_t open = 0;
            status = covariance_jobs(c, n, now, again, &open);
            if (open == 0 || status != PARITAS_OK) break;
            if (round == CONTINUATIONS || c->raw) {
                for (size_t k = 0; k < open; k++) c->results[again[k]].status = PARITAS_FIT_NO_PROGRESS;
                break;
            }
            n = open;
            memcpy(now, again, n * sizeof *now);
            /* what goes on from a fit is near */
            status = fit_jobs(c, context->host, n, now, c->parameters, FIT_FROM_NEAR | FIT_TO_CLOSER);
        }
    }
    paritas_release(&context->allocator, again);
    paritas_release(&context->allocator, c->sets);
    paritas_release(&context->allocator, c->set_of);
    paritas_release(&context->allocator, c->constants);
    return status;
}

/* Runs all jobs of `all`, chunk by chunk. `step`: jobs of a chunk; `own`: room for the parameters of one,
 * where the caller wants none. */
static paritas_status run_all(const struct chunk *all, size_t step, double *own)
{
    const size_t p = all->model->n_parameters;
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < all->n && status == PARITAS_OK; i += step) {
        struct chunk c = *all;
        c.raw = fits_are_raw(all->context);
        c.n = i + step < all->n ? step : all->n - i;
        c.jobs = all->jobs + i;
        c.results = all->results + i;
        c.parameters = own ? own : all->parameters + i * p;
        if (all->errors) c.errors = all->errors + i * p;
        if (all->covariance) c.covariance = all->covariance + i * p * p;
        if (all->states) c.states = all->states + i * p;
        if (all->closest) c.closest = all->closest + i;
        status = run_chunk(&c);
    }
    return status;
}

/* Jobs whose rows one launch takes. */
static size_t chunk_of(const struct frozen *model, bool covariance)
{
    const size_t slots = model->n_slots,
                 each = model->n_places + 8 * slots + 16 + (covariance ? slots * slots : 0);
    return ROWS_ELEMENTS / each + 1;
}

static paritas_status check_jobs(const struct chunk *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const paritas_status status = check_job(c, i);
        if (status != PARITAS_OK)
            return c->n == 1 ? status
                             : paritas_fail(c->context, status, "job %zu: %s", i,
                                            paritas_error_message(c->context));
    }
    return PARITAS_OK;
}

paritas_status fit_closest(paritas_context *context, const paritas_model *given, bool start_is_near, size_t n,
                           const paritas_job *jobs, struct closest_fit *fits, double *parameters)
{
    struct chunk c = {.context = context,
                      .given = given,
                      .model = paritas_model_frozen(given),
                      .options = PARITAS_FIT_OPTIONS_DEFAULT,
                      .n = n,
                      .jobs = jobs,
                      .parameters = parameters};
    c.options.start_is_near = start_is_near;
    c.closest = fits;
    c.closer = FIT_TO_CLOSEST;
    paritas_status status = check_jobs(&c);
    if (status != PARITAS_OK) return status;
    c.results = paritas_allocate(context, n + 1, sizeof *c.results);
    status = c.results ? run_all(&c, chunk_of(c.model, false), NULL) : paritas_fail_memory(context);
    paritas_release(&context->allocator, c.results);
    return status;
}

paritas_status fit_covariances(paritas_context *context, const paritas_model *given, size_t n,
                               const paritas_job *jobs, double *covariance)
{
    const struct frozen *model = paritas_model_frozen(given);
    const size_t p = model->n_parameters, step = chunk_of(model, true);
    double *points = paritas_allocate(context, n * p + 1, sizeof *points);
    paritas_fit_result *results = paritas_allocate_clear(context, n + 1, sizeof *results);
    size_t *which = paritas_allocate(context, 2 * n + 1, sizeof *which);
    struct chunk all = {
        .context = context, .given = given, .model = model, .options = PARITAS_FIT_OPTIONS_DEFAULT};
    all.sets = paritas_allocate(context, n + 1, sizeof *all.sets);
    all.set_of = paritas_allocate(context, n + 1, sizeof *all.set_of);
    all.constants = paritas_allocate(context, n + 1, sizeof *all.constants);
    paritas_status status = points && results && which && all.sets && all.set_of && all.constants
                                ? PARITAS_OK
                                : paritas_fail_memory(context);
    for (size_t i = 0; i < n && status == PARITAS_OK; i += step) {
        struct chunk c = all;
        size_t open;
        c.n = i + step < n ? step : n - i;
        c.jobs = jobs + i;
        c.results = results;
        c.parameters = points;
        c.covariance = covariance + i * p * p;
        for (size_t k = 0; k < c.n; k++) {
            memcpy(points + k * p, or_default(jobs[i + k].start, model->init), p * sizeof *points);
            which[k] = k;
        }
        gather_sets(&c);
        status = covariance_jobs(&c, c.n, which, which + n, &open);
    }
    paritas_release(&context->allocator, all.sets);
    paritas_release(&context->allocator, all.set_of);
    paritas_release(&context->allocator, all.constants);
    paritas_release(&context->allocator, which);
    paritas_release(&context->allocator, results);
    paritas_release(&context->allocator, points);
    return status;
}

/* Refuses options that nothing can be fitted with. */
static paritas_status check_options(const struct chunk *c)
{
    const paritas_fit_options *options = &c->options;
    if ((unsigned)options->minimizer >= PARITAS_MINIMIZER_COUNT)
        return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT,
                            "minimizer %d: there is none of this number", (int)options->minimizer);
    if (options->population && (options->population < 4 || options->population > 65536))
        return paritas_fail(c->context, PARITAS_INVALID_ARGUMENT, "population %u: takes 4 to 65536 members",
                            options->population);
    if (options->minimizer == PARITAS_MINIMIZER_DE &&
        c->model->slab + DE_MEMORY(c->model->n_slots, (size_t)members_of(c)) > UINT32_MAX)
        return paritas_fail(c->context, PARITAS_OUT_OF_MEMORY,
                            "population %u: one fit would need more than 2^32 numbers", members_of(c));
    return PARITAS_OK;
}

paritas_status fit_run(paritas_context *context, const paritas_model *given,
                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                       const paritas_fit_answers *answers)
{
    static const paritas_fit_options defaults = PARITAS_FIT_OPTIONS_DEFAULT;
    const struct frozen *model = paritas_model_frozen(given);
    const size_t p = model->n_parameters, step = chunk_of(model, answers->covariance != NULL);
    const struct chunk c = {.context = context,
                            .given = given,
                            .model = model,
                            .options = options ? *options : defaults,
                            .n = n,
                            .jobs = jobs,
                            .results = answers->results,
                            .parameters = answers->parameters,
                            .errors = answers->errors,
                            .covariance = answers->covariance,
                            .states = answers->states};
    paritas_status status = check_options(&c);
    if (status == PARITAS_OK) status = check_jobs(&c);
    if (status != PARITAS_OK) return status;
    double *own = NULL;
    if (!answers->parameters && n > 0) {
        own = paritas_allocate(context, (n < step ? n : step) * p, sizeof *own);
        if (!own) return paritas_fail_memory(context);
    }
    status = run_all(&c, step, own);
    paritas_release(&context->allocator, own);
    return status;
}

paritas_status paritas_fit(paritas_context *context, const paritas_model *model,
                           const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                           const paritas_fit_answers *answers)
{
    paritas_fit_options own = PARITAS_FIT_OPTIONS_DEFAULT;
    paritas_fit_answers into = PARITAS_FIT_ANSWERS_DEFAULT;
    paritas_status status = SIZED_TAKE(context, paritas_fit_options, "options", options, &own);
    if (status == PARITAS_OK) status = SIZED_TAKE(context, paritas_fit_answers, "answers", answers, &into);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_job, "jobs", n, jobs);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_fit_result, "results", n, into.results);
    return status == PARITAS_OK ? fit_run(context, model, &own, n, jobs, &into) : status;
}
