/* fit.c: from jobs to answers, one path for one job or ten million.
 *
 *   jobs ─► checked ─► blocks ─► completed ─► fitted (f32 first, then f64: launch.h) ─► confirmed ─► answers
 *
 * Confirmed: the answer meets the convergence conditions with its exact Hessian. Checked for errors, and for
 * all methods but Newton's. A failing fit continues. Methods that know no kinks end with Newton's.
 *
 * f64 Newton continues from f32's point to EDM_CLOSER times the usual EDM. Unfinished f32 fits are ordinary
 * starts; without an answer they begin anew: f32 costs only time.
 *
 * Results depend on (model, data, options, precision) alone. */
#include "fit/fit.h"
#include "fit/fit_rows.h"
#include "fit/kink_surfaces.h"
#include "fit/kinks.h"
#include "fit/minimum.h"

#include <string.h>

#define EDM_OF_ROUNDING 1e-14 /* below, the gradient is rounding, magnified by large errors */
#define CONTINUATIONS 3
#define WALKS 6 /* of a fit on kink surfaces, each after Newton's method */

static const unsigned iteration_limit[PARITAS_MINIMIZER_COUNT] = {
    [PARITAS_MINIMIZER_NEWTON] = 200, [PARITAS_MINIMIZER_LBFGSB] = 5000, [PARITAS_MINIMIZER_DE] = 3000};

/* L-BFGS-B never converges at a kink, where the confirming fit by Newton's method does. */
static unsigned usual_limit(const struct frozen *model, paritas_minimizer minimizer)
{
    return iteration_limit[model->kinked && minimizer == PARITAS_MINIMIZER_LBFGSB ? PARITAS_MINIMIZER_NEWTON
                                                                                  : minimizer];
}

/* Completes a job with the model's suggestions. */
static struct fit_job complete(const struct frozen *model, const paritas_job *job, size_t index)
{
    return (struct fit_job){.index = index,
                            .start = job->start ? job->start : model->init,
                            .lower = job->lower ? job->lower : model->lower,
                            .upper = job->upper ? job->upper : model->upper,
                            .fixed = job->fixed ? job->fixed : model->fixed,
                            .data = job->data ? job->data : model->data,
                            .held = -1};
}

static paritas_status check_job(paritas_context *context, const struct frozen *model,
                                const struct fit_job *job)
{
    for (size_t p = 0; p < model->n_parameters; p++) {
        const double start = job->start[p], lower = job->lower[p], upper = job->upper[p];
        const char *name = model->names[p];
        if (!(start - start == 0.0))
            return paritas_refuse(context, "start of %s: must be a finite number", name);
        if (job->fixed[p]) continue;
        if (!(lower <= upper))
            return paritas_refuse(context, "bounds of %s: %g to %g is no interval", name, lower, upper);
        if (start < lower || start > upper)
            return paritas_refuse(context, "start of %s: %.17g lies outside its bounds %g to %g", name, start,
                                  lower, upper);
    }
    return PARITAS_OK;
}

static paritas_status check_data(paritas_context *context, const struct frozen *model, const double *data)
{
    if (!data || data == model->data) return PARITAS_OK;
    for (size_t i = 0; i < model->n_data; i++)
        if (!rows_is_datum(model, i, data[i]))
            return paritas_refuse(context,
                                  "data[%zu]: must be a finite number, not negative where it is a count", i);
    return rows_check_templates(context, model, data, "data");
}

static paritas_status name_job(paritas_context *context, paritas_status status, size_t n, size_t i)
{
    return n == 1 || status == PARITAS_OK
               ? status
               : paritas_fail(context, status, "job %zu: %s", i, paritas_error_message(context));
}

paritas_status fit_check_starts(paritas_context *context, const paritas_model *given, size_t n,
                                const paritas_job *jobs)
{
    const struct frozen *model = paritas_model_frozen(given);
    for (size_t i = 0; i < n; i++) {
        const struct fit_job job = complete(model, &jobs[i], i);
        TRY(name_job(context, check_job(context, model, &job), n, i));
    }
    return PARITAS_OK;
}

paritas_status fit_check_data(paritas_context *context, const paritas_model *model, size_t n,
                              const paritas_job *jobs, size_t i)
{
    return name_job(context, check_data(context, paritas_model_frozen(model), jobs[i].data), n, i);
}

paritas_status fit_check_jobs(paritas_context *context, const paritas_model *model, size_t n,
                              const paritas_job *jobs)
{
    TRY(fit_check_starts(context, model, n, jobs));
    for (size_t i = 0; i < n; i++) TRY(fit_check_data(context, model, n, jobs, i));
    return PARITAS_OK;
}

struct method {
    paritas_minimizer minimizer;
    uint32_t args[FIT_ARGS]; /* of the entry, without flags */
    uint32_t near;           /* FIT_FROM_NEAR or 0 */
    uint32_t closest;        /* FIT_TO_CLOSEST or 0 */
    bool raw;                /* f32 without polish */
    bool polished;           /* f32, then f64 */
};

static struct method method_of(const paritas_context *context, const struct frozen *model,
                               const paritas_fit_options *options)
{
    const size_t wished = 10 * model->n_parameters;
    const uint32_t usual = wished < 20 ? 20 : wished > 200 ? 200 : (uint32_t)wished;
    return (struct method){.minimizer = options->minimizer,
                           .args = {[FIT_ARG_ITERATIONS] = options->max_iterations
                                                               ? options->max_iterations
                                                               : usual_limit(model, options->minimizer),
                                    [FIT_ARG_MEMBERS] = options->population ? options->population : usual,
                                    [FIT_ARG_SEED_LOW] = (uint32_t)options->seed,
                                    [FIT_ARG_SEED_HIGH] = (uint32_t)(options->seed >> 32)},
                           .near = options->start_is_near ? FIT_FROM_NEAR : 0,
                           .raw = fits_are_raw(context),
                           .polished = context->precision == 32 && !context->no_polish};
}

static paritas_status read_options(paritas_context *context, const struct frozen *model,
                                   const paritas_fit_options *options, struct method *method)
{
    *method = method_of(context, model, options);
    const uint32_t members = method->args[FIT_ARG_MEMBERS];
    if (options->minimizer == PARITAS_MINIMIZER_DE &&
        model->slab + DE_MEMORY(model->n_slots, (size_t)members) > UINT32_MAX)
        return paritas_fail(context, PARITAS_OUT_OF_MEMORY,
                            "`population` %u: one fit would need more than 2^32 numbers", members);
    return PARITAS_OK;
}

/* ---- blocks: jobs that pass all stages together ---- */

struct block {
    const struct frozen *model;
    const struct method *method;
    size_t n;
    struct fit_job *jobs, *some;  /* n each: all; of this launch */
    struct fit_outcome *outcomes; /* n: the last fit's, with all iterations */
    double *parameters;           /* n rows: current points */
    double *own;                  /* used if the caller wants no parameters */
    size_t *open, n_open;         /* fits that failed confirmation */
    const paritas_fit_answers *answers;
};

static double *point_of(const struct block *block, size_t i)
{
    return block->parameters + i * block->model->n_parameters;
}

/* Listed jobs (NULL: all) into `some`, from current points or own starts. */
static const struct fit_job *select_jobs(struct block *block, size_t n, const size_t *which, bool from_points)
{
    for (size_t k = 0; k < n; k++) {
        block->some[k] = block->jobs[which ? which[k] : k];
        if (from_points) block->some[k].start = point_of(block, block->some[k].index);
    }
    return block->some;
}

/* ---- fits ---- */

static void take_fit(void *user, const struct fit_job *job, const double *answer)
{
    struct block *block = user;
    struct fit_outcome *outcome = &block->outcomes[job->index];
    const unsigned spent = outcome->iterations;
    *outcome = rows_get_outcome(block->model, answer);
    if (!outcome->inside || outcome->iterations == 0) outcome->edm = __builtin_nan("");
    outcome->iterations += spent;
    rows_get_point(block->model, answer, point_of(block, job->index));
}

static paritas_status fit_some(paritas_context *context, struct paritas_device *device, struct block *block,
                               paritas_minimizer minimizer, uint32_t flags, bool from_points, size_t n,
                               const size_t *which)
{
    const struct fit_job *jobs = select_jobs(block, n, which, from_points);
    struct rows_fits call = {.model = block->model,
                             .entry = block->model->family->fit[minimizer],
                             .n = n,
                             .jobs = jobs,
                             .take = take_fit,
                             .user = block};
    memcpy(call.args, block->method->args, sizeof call.args);
    call.args[FIT_ARG_FLAGS] = flags;
    if (minimizer != block->method->minimizer) call.args[FIT_ARG_ITERATIONS] = iteration_limit[minimizer];
    if (minimizer == PARITAS_MINIMIZER_NEWTON)
        call.args[FIT_ARG_ITERATIONS] = kink_surfaces_limit(block->model, call.args[FIT_ARG_ITERATIONS]);
    return rows_fits_run(context, device, &call);
}

/* Ends what the method began. */
static paritas_minimizer confirmer(const struct block *block)
{
    return block->model->kinked ? PARITAS_MINIMIZER_NEWTON : block->method->minimizer;
}

static paritas_status run_stage(paritas_context *context, struct paritas_device *device, void *user,
                                enum launch_stage stage, size_t n, const size_t *which)
{
    struct block *block = user;
    const struct method *method = block->method;
    const bool goes_on = stage == STAGE_NEAR || stage == STAGE_FAR;
    const uint32_t closer = method->minimizer == PARITAS_MINIMIZER_NEWTON ? FIT_TO_CLOSER : 0,
                   flags = goes_on ? closer | (stage == STAGE_NEAR ? FIT_FROM_NEAR : 0)
                                   : method->near | (stage == STAGE_FIRST ? method->closest : 0);
    return fit_some(context, device, block, method->minimizer, flags, goes_on, n, which);
}

static enum launch_stage next_stage(void *user, enum launch_stage stage, size_t i)
{
    const struct block *block = user;
    const struct method *method = block->method;
    const bool converged = block->outcomes[i].status == PARITAS_FIT_CONVERGED,
               whole = stage == STAGE_FIRST && (method->raw || method->polished) &&
                       rows_land(block->model, &block->jobs[i], point_of(block, i));
    if (stage == STAGE_FIRST && method->polished) {
        if (!whole)
            memcpy(point_of(block, i), block->jobs[i].start, block->model->n_parameters * sizeof(double));
        return whole && (converged || method->minimizer != PARITAS_MINIMIZER_NEWTON) ? STAGE_NEAR : STAGE_FAR;
    }
    /* a fit that cannot get closest gets the usual limit */
    const bool anew = stage == STAGE_FIRST ? method->closest != 0 : stage != STAGE_ANEW;
    return anew && !converged ? STAGE_ANEW : STAGE_DONE;
}

/* ---- confirmation ---- */

static void put_covariance(const struct frozen *model, const double *answer, bool usable, double *covariance)
{
    const size_t p = model->n_parameters, slots = model->n_slots;
    const double *matrix = answer + COVARIANCE_MATRIX(slots);
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b <= a; b++) {
            /* one half only: the other may differ in the last bit */
            const size_t i = model->slot_of[a], j = model->slot_of[b], row = i > j ? i : j,
                         column = i > j ? j : i;
            covariance[a * p + b] = covariance[b * p + a] =
                usable ? matrix[row * slots + column] : __builtin_nan("");
        }
}

static void put_errors(const struct block *block, const struct fit_job *job, const double *answer,
                       bool usable)
{
    const struct frozen *model = block->model;
    const paritas_fit_answers *to = block->answers;
    const double *active = answer + COVARIANCE_ACTIVE * model->n_slots,
                 *errors = answer + COVARIANCE_ERRORS * model->n_slots;
    for (size_t p = 0; p < model->n_parameters; p++) {
        const size_t slot = model->slot_of[p], i = job->index * model->n_parameters + p;
        const bool moves = active[slot] > 0.0,
                   kink = moves && block->parameters[i] == 0.0 && rows_is_kinked(model, job, p);
        if (to->states)
            to->states[i] = job->fixed[p]                           ? PARITAS_PARAMETER_FIXED
                            : kink                                  ? PARITAS_PARAMETER_AT_KINK
                            : moves                                 ? PARITAS_PARAMETER_FREE
                            : block->parameters[i] <= job->lower[p] ? PARITAS_PARAMETER_AT_LOWER_BOUND
                                                                    : PARITAS_PARAMETER_AT_UPPER_BOUND;
        if (to->errors)
            to->errors[i] = usable && moves && errors[slot] > 0.0 ? errors[slot] : __builtin_nan("");
    }
}

static void take_confirmation(void *user, const struct fit_job *job, const double *answer)
{
    struct block *block = user;
    const struct frozen *model = block->model;
    const struct method *method = block->method;
    const double *scalars = answer + COVARIANCE_SCALAR(model->n_slots, 0), edm = scalars[COVARIANCE_EDM],
                 pull = scalars[COVARIANCE_PULL];
    const double edm_most = method->raw ? EDM_TOLERANCE_F32 : EDM_TOLERANCE_F64,
                 pull_most = method->raw ? PULL_TOLERANCE_F32 : PULL_TOLERANCE_F64;
    struct fit_outcome *outcome = &block->outcomes[job->index];
    const bool good = scalars[COVARIANCE_BAD] == 0.0,
               met = good && edm <= edm_most && (pull <= pull_most || edm <= EDM_OF_ROUNDING);
    /* without a Hessian a method may ask more than rounding allows: a stuck line search may still have
     * converged */
    if (met && method->minimizer != PARITAS_MINIMIZER_NEWTON && outcome->status == PARITAS_FIT_NO_PROGRESS)
        outcome->status = PARITAS_FIT_CONVERGED;
    if (outcome->status == PARITAS_FIT_CONVERGED) {
        outcome->edm = edm;
        outcome->pull = pull;
        if (!good)
            outcome->status = PARITAS_FIT_NOT_A_MINIMUM;
        else if (!met)
            block->open[block->n_open++] = job->index;
    }
    put_errors(block, job, answer, rows_has_covariance(model, answer));
    if (block->answers->covariance)
        put_covariance(model, answer, rows_has_covariance(model, answer),
                       block->answers->covariance + job->index * model->n_parameters * model->n_parameters);
}

typedef paritas_status at_kinks_function(paritas_context *, const struct frozen *, const struct fit_job *,
                                         double *answer);
typedef void take_function(void *user, const struct fit_job *, const double *answer);

/* Covariances of `jobs`, reordered: those with parameters at kinks come last, and alone, by `at_kinks`. */
static paritas_status run_covariances(paritas_context *context, const struct frozen *model, bool whole,
                                      size_t n, struct fit_job *jobs, at_kinks_function *at_kinks,
                                      take_function *take, void *user)
{
    size_t plain = 0;
    for (size_t i = 0; i < n; i++) {
        if (kink_surfaces_hold(model, &jobs[i]) || (model->kinked && kinks_hold(model, &jobs[i]))) continue;
        const struct fit_job job = jobs[i];
        jobs[i] = jobs[plain];
        jobs[plain++] = job;
    }
    const struct rows_fits call = {.model = model,
                                   .entry = model->family->covariance,
                                   .args = {[FIT_ARG_WHOLE] = whole},
                                   .n = plain,
                                   .jobs = jobs,
                                   .take = take,
                                   .user = user};
    TRY(rows_fits_run(context, context->host, &call));
    if (plain == n) return PARITAS_OK;
    double *answer = paritas_allocate(context, COVARIANCE_SIZE(model->n_slots, 1), sizeof *answer);
    paritas_status status = answer ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t i = plain; i < n && status == PARITAS_OK; i++) {
        status = (kink_surfaces_hold(model, &jobs[i]) ? kink_surfaces_covariance
                                                      : at_kinks)(context, model, &jobs[i], answer);
        if (status == PARITAS_OK) take(user, &jobs[i], answer);
    }
    paritas_release(&context->allocator, answer);
    return status;
}

/* Checks all fits with exact Hessians; continues those that fail. */
static paritas_status confirm(paritas_context *context, struct block *block)
{
    const uint32_t closer = FIT_FROM_NEAR | FIT_TO_CLOSER;
    size_t n = block->n;
    if (confirmer(block) != block->method->minimizer)
        TRY(fit_some(context, context->host, block, confirmer(block), closer, true, n, NULL));
    for (unsigned round = 0; n > 0; round++) {
        select_jobs(block, n, round ? block->open : NULL, true);
        block->n_open = 0;
        TRY(run_covariances(context, block->model, block->answers->covariance != NULL, n, block->some,
                            kinks_covariance, take_confirmation, block));
        n = block->n_open;
        if (round < CONTINUATIONS && !block->method->raw) {
            TRY(fit_some(context, context->host, block, confirmer(block), closer, true, n, block->open));
            continue;
        }
        for (size_t k = 0; k < n; k++) block->outcomes[block->open[k]].status = PARITAS_FIT_NO_PROGRESS;
        break;
    }
    return PARITAS_OK;
}

/* ---- all blocks ---- */

static void put_results(const struct block *block)
{
    const struct frozen *model = block->model;
    for (size_t i = 0; i < block->n; i++) {
        const struct fit_outcome *outcome = &block->outcomes[i];
        const double nan = __builtin_nan("");
        const size_t like = fit_job_like(block->jobs, i);
        paritas_fit_result *result = &block->answers->results[i];
        block->jobs[i].constant =
            like < i ? block->jobs[like].constant : model->constant(model, block->jobs[i].data);
        *result = (paritas_fit_result){
            .size = sizeof *result,
            .status = outcome->status,
            .iterations = outcome->iterations,
            .twice_nll = outcome->inside ? 2.0 * (outcome->value + block->jobs[i].constant) : nan,
            .edm = outcome->edm,
            .projected_gradient = outcome->inside ? outcome->pull : nan};
    }
}

static void put_closest(const struct block *block, struct closest_fit *fits)
{
    for (size_t i = 0; i < block->n; i++) {
        const struct fit_outcome *outcome = &block->outcomes[i];
        fits[i] = (struct closest_fit){
            outcome->status, outcome->inside ? 2.0 * outcome->value : __builtin_nan(""), outcome->flat};
    }
}

/* Call block_close also after a failure. */
static paritas_status block_open(paritas_context *context, const struct frozen *model,
                                 const struct method *method, size_t room, bool parameters,
                                 struct block *block)
{
    *block = (struct block){.model = model, .method = method};
    block->jobs = paritas_allocate(context, 2 * room, sizeof *block->jobs);
    block->outcomes = paritas_allocate(context, room, sizeof *block->outcomes);
    block->open = paritas_allocate(context, room, sizeof *block->open);
    if (parameters) block->own = paritas_allocate(context, room * model->n_parameters, sizeof *block->own);
    if (!block->jobs || !block->outcomes || !block->open || (parameters && !block->own))
        return paritas_fail_memory(context);
    block->some = block->jobs + room;
    return PARITAS_OK;
}

static void block_close(paritas_context *context, struct block *block)
{
    paritas_release(&context->allocator, block->jobs);
    paritas_release(&context->allocator, block->outcomes);
    paritas_release(&context->allocator, block->open);
    paritas_release(&context->allocator, block->own);
}

static paritas_status block_fit(paritas_context *context, struct block *block, size_t n,
                                const paritas_job *jobs)
{
    const struct launch_stages stages = {run_stage, next_stage, block};
    block->n = n;
    block->parameters = block->own ? block->own : block->answers->parameters;
    memset(block->outcomes, 0, n * sizeof *block->outcomes);
    for (size_t i = 0; i < n; i++) block->jobs[i] = complete(block->model, &jobs[i], i);
    TRY(launch_in_stages(context, context->device, &stages, n));
    for (size_t i = 0; i < n; i++)
        TRY(kink_surfaces_settle(context, block->model, &block->jobs[i],
                                 block->method->args[FIT_ARG_ITERATIONS], point_of(block, i),
                                 &block->outcomes[i]));
    return PARITAS_OK;
}

paritas_fit_answers fit_answers_from(const paritas_fit_answers *all, size_t i, size_t p)
{
    paritas_fit_answers some = *all;
    if (some.results) some.results += i;
    if (some.parameters) some.parameters += i * p;
    if (some.errors) some.errors += i * p;
    if (some.covariance) some.covariance += i * p * p;
    if (some.states) some.states += i * p;
    if (some.starts) some.starts += i;
    return some;
}

/* `closest`: their answers; NULL: `answers` has all. */
static paritas_status run_blocks(paritas_context *context, const struct frozen *model,
                                 const struct method *method, size_t n, const paritas_job *jobs,
                                 const paritas_fit_answers *answers, struct closest_fit *closest)
{
    const size_t slots = model->n_slots,
                 most = launch_jobs(model->n_places + 8 * slots + 16 +
                                    (answers->covariance ? slots * slots : 0)),
                 room = n < most ? n : most;
    const bool confirmed = answers->errors || answers->covariance || answers->states ||
                           method->minimizer != PARITAS_MINIMIZER_NEWTON;
    struct block block;
    if (n == 0) return PARITAS_OK;
    paritas_status status = block_open(context, model, method, room, !answers->parameters, &block);
    for (size_t i = 0; i < n && status == PARITAS_OK; i += room) {
        const paritas_fit_answers some = fit_answers_from(answers, i, model->n_parameters);
        block.answers = &some;
        status = block_fit(context, &block, n - i < room ? n - i : room, jobs + i);
        if (status == PARITAS_OK && confirmed) status = confirm(context, &block);
        if (status != PARITAS_OK) break;
        if (closest)
            put_closest(&block, closest + i);
        else
            put_results(&block);
    }
    block_close(context, &block);
    return status;
}

paritas_status fit_run(paritas_context *context, const paritas_model *given,
                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                       const paritas_fit_answers *answers)
{
    static const paritas_fit_options defaults = PARITAS_FIT_OPTIONS_DEFAULT;
    const struct frozen *model = paritas_model_frozen(given);
    struct method method;
    paritas_fit_options chosen = options ? *options : defaults;
    if (!chosen.max_iterations && n) chosen.max_iterations = jobs[0].max_iterations;
    TRY(read_options(context, model, &chosen, &method));
    TRY(fit_check_jobs(context, given, n, jobs));
    return run_blocks(context, model, &method, n, jobs, answers, NULL);
}

/* ---- for derivatives ---- */

paritas_status fit_closest(paritas_context *context, const paritas_model *given, bool start_is_near, size_t n,
                           const paritas_job *jobs, struct closest_fit *fits, double *parameters)
{
    const struct frozen *model = paritas_model_frozen(given);
    const paritas_fit_answers answers = {.parameters = parameters};
    paritas_fit_options options = PARITAS_FIT_OPTIONS_DEFAULT;
    options.start_is_near = start_is_near;
    struct method method = method_of(context, model, &options);
    method.closest = FIT_TO_CLOSEST;
    TRY(fit_check_jobs(context, given, n, jobs));
    return run_blocks(context, model, &method, n, jobs, &answers, fits);
}

struct covariances {
    const struct frozen *model;
    double *covariance;
};

static void take_covariance(void *user, const struct fit_job *job, const double *answer)
{
    const struct covariances *to = user;
    const size_t p = to->model->n_parameters;
    put_covariance(to->model, answer, rows_has_covariance(to->model, answer),
                   to->covariance + job->index * p * p);
}

paritas_status fit_covariances(paritas_context *context, const paritas_model *given, size_t n,
                               const paritas_job *jobs, double *covariance)
{
    const struct frozen *model = paritas_model_frozen(given);
    struct fit_job *list = paritas_allocate(context, n + 1, sizeof *list);
    if (!list) return paritas_fail_memory(context);
    for (size_t i = 0; i < n; i++) list[i] = complete(model, &jobs[i], i);
    struct covariances to = {model, covariance};
    const paritas_status status =
        run_covariances(context, model, true, n, list, kinks_response, take_covariance, &to);
    paritas_release(&context->allocator, list);
    return status;
}
