/* many_starts.c: paritas_fit. Jobs may ask for many starts:
 *
 *   job ─► a fit from each start ─► failed fits below the lowest minimum continue ─► the fit from the winner
 *                                                ▲                                              │
 *                                                └─ if it fails where another start is better ◄─┘
 *
 * The last fit is the answer. It alone computes what the caller asks for. Its checks may be stricter, so it
 * can fail. Fits of many jobs run together. A job's answer does not depend on the others. */
#include "minima/many_starts.h"
#include "base/math/counter_random.h"
#include "base/math/probability.h"
#include "base/sized.h"
#include "fit/fit.h"
#include "fit/random_start.h"
#include "minima/edge_errors.h"

#include <math.h>
#include <string.h>

#define SAME_OUTCOME 1e-6   /* in twice the NLL */
#define FURTHER_ROUNDS 4    /* of fits from where others failed */
#define FITS_TOGETHER 65536 /* at most, unless one job asks for more */

/* Of a factor with a constraint that stays above 0: at its bound a count's logarithm is all there is. */
#define LEAST_FACTOR 0.1

/* Where one kind of start lies: published analyses have minima that only one of them meets. */
struct law {
    double widths, evenly; /* of constraints: normal; evenly to both sides */
    double sizes;          /* reach of parameters without a constraint, in sizes */
    bool on_bounds;        /* half of these lie on their lower bounds */
};

/* Every second start is a far one. */
static struct law law_of(uint64_t k)
{
    static const struct law far = {.widths = 3.0, .sizes = 10.0},
                            others[] = {{.widths = 1.0, .sizes = 3.0},
                                        {.widths = 2.0, .sizes = 3.0},
                                        {.evenly = 3.0, .sizes = 3.0},
                                        {.sizes = 3.0, .on_bounds = true}};
    return k % 2 ? far : others[k / 2 % 4];
}

void many_starts_draw(size_t n, const double *widths, const double *lower, const double *upper,
                      const unsigned char *fixed, uint64_t k, double *start)
{
    const struct law law = law_of(k);
    for (size_t i = 0; i < n; i++) {
        if (fixed[i]) continue;
        const uint64_t bits = counter_bits(k, i);
        const double u = random_part(bits), least = LEAST_FACTOR * start[i];
        if (!isnan(widths[i]))
            start[i] += (law.widths * normal_quantile(u) + law.evenly * (2.0 * u - 1.0)) * widths[i];
        else if (law.on_bounds && bits % 2 && isfinite(lower[i]))
            start[i] = lower[i];
        else
            start[i] = random_start(start[i], law.sizes * random_start_size(start[i]), lower[i], upper[i], u);
        if (!isnan(widths[i]) && lower[i] > 0.0) start[i] = fmax(start[i], least);
        start[i] = fmin(fmax(start[i], lower[i]), upper[i]);
    }
}

void many_starts_count(paritas_fit_minimum *minima, size_t *n, size_t most, double twice_nll, double same)
{
    size_t at = 0;
    while (at < *n && minima[at].twice_nll < twice_nll - same) at++;
    if (at < *n && minima[at].twice_nll <= twice_nll + same) {
        minima[at].count++;
        return;
    }
    if (at == most) return;
    if (*n < most) ++*n;
    memmove(&minima[at + 1], &minima[at], (*n - 1 - at) * sizeof minima[0]);
    minima[at] = (paritas_fit_minimum){twice_nll, 1};
}

/* A fit from one start. */
struct attempt {
    struct search *search;
    const double *start, *end;
    paritas_fit_result result;
};

/* The fits of one job. */
struct search {
    paritas_job job;
    size_t n;  /* 0: the job has one start */
    bool open; /* other starts are still tried */
    struct attempt *attempts;
    unsigned answers; /* that failed */
    double lowest;    /* twice the NLL of converged fits; NaN: none converged */
    paritas_fit_starts found;
};

/* Jobs that are fitted together. */
struct batch {
    paritas_context *context;
    const paritas_model *model;
    const paritas_fit_options *options;
    paritas_fit_answers answers;
    struct arena arena;
    size_t n, n_parameters;
    unsigned max_iterations; /* the first job's */
    struct search *searches;
    struct attempt **list; /* room for all attempts */
};

static bool has_converged(const paritas_fit_result *result)
{
    return result->status == PARITAS_FIT_CONVERGED;
}

static void summarise(struct search *search)
{
    paritas_fit_starts *found = &search->found;
    double highest = (double)NAN;
    *found = (paritas_fit_starts){.size = sizeof *found, .n = search->n, .gain = (double)NAN};
    search->lowest = (double)NAN;
    for (size_t k = 0; k < search->n; k++) {
        const double twice_nll = search->attempts[k].result.twice_nll;
        if (!has_converged(&search->attempts[k].result)) continue;
        /* of equal minima the earliest start wins, whatever rounding says */
        if (found->converged == 0 || twice_nll < search->lowest - SAME_OUTCOME) found->best_start = k;
        search->lowest = fmin(search->lowest, twice_nll);
        highest = fmax(highest, twice_nll);
        found->converged++;
        many_starts_count(found->minima, &found->n_minima, PARITAS_FIT_MINIMA_MOST, twice_nll, SAME_OUTCOME);
    }
    found->spread = highest - search->lowest;
    if (has_converged(&search->attempts[0].result))
        found->gain = search->attempts[0].result.twice_nll - search->lowest;
}

/* Did the fit fail below this value? Any value in the domain lies below NaN. */
static bool failed_below(const paritas_fit_result *result, double twice_nll)
{
    return !has_converged(result) && isfinite(result->twice_nll) &&
           !(result->twice_nll >= twice_nll - SAME_OUTCOME);
}

static void find_lower_known(struct search *search, double answer)
{
    paritas_fit_point *lower = &search->found.lower_known;
    *lower = (paritas_fit_point){.twice_nll = (double)NAN};
    for (size_t k = 0; k < search->n; k++) {
        const paritas_fit_result *result = &search->attempts[k].result;
        if (failed_below(result, answer) && !(result->twice_nll >= lower->twice_nll))
            *lower = (paritas_fit_point){result->twice_nll, result->status};
    }
}

/* ---- fits ---- */

/* Fits the batch's first n listed attempts, from their ends if `again`. */
static paritas_status fit_listed(struct batch *batch, const paritas_fit_options *options, bool again,
                                 size_t n, paritas_fit_result **results, double **ends)
{
    const size_t p = batch->n_parameters;
    paritas_job *jobs = arena_array(&batch->arena, n, sizeof *jobs);
    double *errors = again ? arena_array(&batch->arena, n, p * sizeof *errors) : NULL;
    *results = arena_array(&batch->arena, n, sizeof **results);
    *ends = arena_array(&batch->arena, n, p * sizeof **ends);
    if (!jobs || !*results || !*ends || (again && !errors)) return paritas_fail_memory(batch->context);
    for (size_t i = 0; i < n; i++) {
        jobs[i] = batch->list[i]->search->job;
        jobs[i].start = again ? batch->list[i]->end : batch->list[i]->start;
    }
    return fit_run(batch->context, batch->model, options, n, jobs,
                   &(paritas_fit_answers){.results = *results, .parameters = *ends, .errors = errors});
}

static paritas_status fit_from_starts(struct batch *batch)
{
    size_t n = 0;
    paritas_fit_result *results;
    double *ends;
    for (size_t i = 0; i < batch->n; i++)
        for (size_t k = 0; k < batch->searches[i].n; k++) batch->list[n++] = &batch->searches[i].attempts[k];
    TRY(fit_listed(batch, batch->options, false, n, &results, &ends));
    for (size_t i = 0; i < n; i++) {
        batch->list[i]->result = results[i];
        batch->list[i]->end = ends + i * batch->n_parameters;
    }
    return PARITAS_OK;
}

/* Fits again from where the first n listed fits failed, with errors: their checks are stricter. A fit that
 * ends higher changes nothing. */
static paritas_status fit_again(struct batch *batch, const paritas_fit_options *options, bool same_method,
                                size_t n)
{
    paritas_fit_result *results;
    double *ends;
    TRY(fit_listed(batch, options, true, n, &results, &ends));
    for (size_t i = 0; i < n; i++) {
        struct attempt *attempt = batch->list[i];
        const double known = attempt->result.twice_nll, *from = attempt->end;
        const bool converged = has_converged(&results[i]);
        if (!(results[i].twice_nll <= known + SAME_OUTCOME)) continue;
        if (!converged && !(results[i].twice_nll < known)) continue;
        attempt->result = results[i];
        attempt->end = ends + i * batch->n_parameters;
        /* the answer's fit must end there too */
        if (same_method || converged) attempt->start = same_method ? from : attempt->end;
    }
    return PARITAS_OK;
}

/* Failed fits below the lowest minimum continue from where they ended. */
static paritas_status leave_failures(struct batch *batch)
{
    paritas_fit_options other = PARITAS_FIT_OPTIONS_DEFAULT;
    other.minimizer = PARITAS_MINIMIZER_LBFGSB;
    other.max_iterations = batch->options->max_iterations;
    for (int round = 0; round < FURTHER_ROUNDS; round++) {
        /* another method may leave the place where this one is stuck */
        const bool same_method = round % 2 == 0;
        size_t n = 0;
        for (size_t i = 0; i < batch->n; i++) {
            struct search *search = &batch->searches[i];
            for (size_t k = 0; k < search->n && search->open; k++)
                if (failed_below(&search->attempts[k].result, search->lowest))
                    batch->list[n++] = &search->attempts[k];
        }
        if (n == 0) break;
        TRY(fit_again(batch, same_method ? batch->options : &other, same_method, n));
        for (size_t i = 0; i < batch->n; i++)
            if (batch->searches[i].open) summarise(&batch->searches[i]);
    }
    return PARITAS_OK;
}

/* Where the answer's fit begins. */
static const double *winner(const struct search *search)
{
    const struct attempt *attempts = search->attempts;
    size_t best = search->found.best_start;
    for (size_t k = 0; k < search->n && search->found.converged == 0; k++)
        if (attempts[k].result.twice_nll < attempts[best].result.twice_nll ||
            isnan(attempts[best].result.twice_nll))
            best = k;
    return attempts[best].start;
}

/* The answers of n jobs from number `first` on. */
static paritas_status fit_answers(struct batch *batch, size_t first, size_t n)
{
    const paritas_fit_answers answers = fit_answers_from(&batch->answers, first, batch->n_parameters);
    paritas_job *jobs = arena_array(&batch->arena, n, sizeof *jobs);
    if (!jobs) return paritas_fail_memory(batch->context);
    for (size_t i = 0; i < n; i++) {
        const struct search *search = &batch->searches[first + i];
        jobs[i] = search->job;
        if (search->n > 0) jobs[i].start = winner(search);
    }
    return fit_run(batch->context, batch->model, batch->options, n, jobs, &answers);
}

/* Did the answer fail where another start is better? Then the winner's fits did not converge either. */
static bool gives_way(struct search *search, const paritas_fit_result *answer)
{
    if (has_converged(answer) || search->found.converged == 0 || search->answers++ >= FURTHER_ROUNDS)
        return false;
    for (size_t k = 0; k < search->n; k++) {
        paritas_fit_result *result = &search->attempts[k].result;
        if (has_converged(result) && result->twice_nll <= search->lowest + SAME_OUTCOME)
            result->status = answer->status;
    }
    summarise(search);
    return true;
}

/* What the caller is told of the job's starts. */
static paritas_fit_starts told(struct search *search, const paritas_fit_result *answer)
{
    struct attempt alone = {.result = *answer};
    if (search->n == 0) {
        search->n = 1;
        search->attempts = &alone;
        summarise(search);
    }
    find_lower_known(search, answer->twice_nll);
    return search->found;
}

static paritas_status run_searches(struct batch *batch)
{
    const paritas_fit_answers *to = &batch->answers;
    TRY(fit_from_starts(batch));
    for (size_t i = 0; i < batch->n; i++) {
        batch->searches[i].open = batch->searches[i].n > 0;
        if (batch->searches[i].open) summarise(&batch->searches[i]);
    }
    TRY(leave_failures(batch));
    TRY(fit_answers(batch, 0, batch->n));
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < batch->n; i++) {
            struct search *search = &batch->searches[i];
            search->open = search->open && gives_way(search, &to->results[i]);
            again = again || search->open;
        }
        TRY(leave_failures(batch));
        for (size_t i = 0; i < batch->n; i++)
            if (batch->searches[i].open) TRY(fit_answers(batch, i, 1));
    }
    for (size_t i = 0; i < batch->n && to->starts; i++)
        to->starts[i] = told(&batch->searches[i], &to->results[i]);
    return PARITAS_OK;
}

static paritas_status open_search(struct batch *batch, const paritas_job *job, struct search *search)
{
    const paritas_model *model = batch->model;
    const size_t p = batch->n_parameters;
    *search = (struct search){.job = *job, .n = job->starts > 1 ? job->starts : 0};
    search->job.max_iterations = batch->max_iterations;
    if (search->n == 0) return PARITAS_OK;
    search->attempts = arena_array(&batch->arena, search->n, sizeof *search->attempts);
    double *start = arena_array(&batch->arena, search->n, p * sizeof *start);
    if (!search->attempts || !start) return paritas_fail_memory(batch->context);
    for (size_t k = 0; k < search->n; k++, start += p) {
        memcpy(start, job->start ? job->start : paritas_model_suggested_init(model), p * sizeof *start);
        search->attempts[k] = (struct attempt){.search = search, .start = start};
        if (k == 0) continue;
        many_starts_draw(p, paritas_model_constraint_widths(model),
                         job->lower ? job->lower : paritas_model_lower_bounds(model),
                         job->upper ? job->upper : paritas_model_upper_bounds(model),
                         job->fixed ? job->fixed : paritas_model_suggested_fixed(model), k, start);
    }
    return PARITAS_OK;
}

static paritas_status run_batch(struct batch *batch, const paritas_job *jobs, size_t n_attempts)
{
    batch->searches = arena_array(&batch->arena, batch->n, sizeof *batch->searches);
    batch->list = arena_array(&batch->arena, n_attempts, sizeof *batch->list);
    if (!batch->searches || !batch->list) return paritas_fail_memory(batch->context);
    for (size_t i = 0; i < batch->n; i++) TRY(open_search(batch, &jobs[i], &batch->searches[i]));
    return run_searches(batch);
}

/* ---- all jobs ---- */

static paritas_status fit_many_starts(struct batch *batch, size_t n, const paritas_job *jobs)
{
    paritas_context *context = batch->context;
    const paritas_fit_answers all = batch->answers;
    if (n > 0) batch->max_iterations = jobs[0].max_iterations;
    for (size_t first = 0; first < n; first += batch->n) {
        size_t n_attempts = 0;
        for (batch->n = 0; first + batch->n < n; batch->n++) {
            const size_t more = jobs[first + batch->n].starts;
            if (batch->n > 0 && n_attempts + more > FITS_TOGETHER) break;
            n_attempts += more;
        }
        batch->answers = fit_answers_from(&all, first, batch->n_parameters);
        arena_open(&batch->arena, &context->allocator);
        const paritas_status status = run_batch(batch, jobs + first, n_attempts);
        arena_free(&batch->arena);
        TRY(status);
    }
    return PARITAS_OK;
}

static paritas_status fit_all(struct batch *batch, bool several, size_t n, const paritas_job *jobs)
{
    return several ? fit_many_starts(batch, n, jobs)
                   : fit_run(batch->context, batch->model, batch->options, n, jobs, &batch->answers);
}

/* ---- jobs whose data no fit can have ---- */

static void forget(const paritas_fit_answers *all, size_t i, size_t p)
{
    const paritas_fit_answers one = fit_answers_from(all, i, p);
    const double nan = (double)NAN;
    *one.results = (paritas_fit_result){.size = sizeof *one.results,
                                        .status = PARITAS_FIT_NON_FINITE,
                                        .twice_nll = nan,
                                        .edm = nan,
                                        .projected_gradient = nan};
    for (size_t a = 0; a < p; a++) {
        if (one.parameters) one.parameters[a] = nan;
        if (one.errors) one.errors[a] = nan;
    }
    for (size_t a = 0; one.covariance && a < p * p; a++) one.covariance[a] = nan;
    if (one.starts) *one.starts = (paritas_fit_starts)PARITAS_INIT(paritas_fit_starts);
}

/* Fits the model's data in their place, then forgets the answers. The message says why. */
static paritas_status fit_without_lost(struct batch *batch, bool several, size_t n, const paritas_job *given)
{
    paritas_context *context = batch->context;
    const paritas_fit_answers all = batch->answers;
    paritas_job *jobs = paritas_allocate(context, n, sizeof *jobs);
    if (!jobs) return paritas_fail_memory(context);
    memcpy(jobs, given, n * sizeof *jobs);
    for (size_t i = 0; i < n; i++)
        if (fit_check_data(context, batch->model, n, given, i) != PARITAS_OK) jobs[i].data = NULL;
    const paritas_status status = fit_all(batch, several, n, jobs);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++)
        if (fit_check_data(context, batch->model, n, given, i) != PARITAS_OK)
            forget(&all, i, batch->n_parameters);
    paritas_release(&context->allocator, jobs);
    return status;
}

static paritas_status fit_jobs(struct batch *batch, bool several, size_t n, const paritas_job *jobs)
{
    for (size_t i = 0; i < n; i++)
        if (fit_check_data(batch->context, batch->model, n, jobs, i) != PARITAS_OK)
            return fit_without_lost(batch, several, n, jobs);
    return fit_all(batch, several, n, jobs);
}

/* Errors and states say what they mean at the edge of the domain, whichever of them the caller asked for. */
static paritas_status fit_and_judge(struct batch *batch, bool several, size_t n, const paritas_job *jobs)
{
    paritas_context *context = batch->context;
    paritas_fit_answers *to = &batch->answers;
    double *own[2] = {NULL, NULL}, **wanted[2] = {&to->parameters, &to->errors};
    paritas_status status = PARITAS_OK;
    if (!to->errors && !to->states) return fit_jobs(batch, several, n, jobs);
    for (int k = 0; k < 2; k++) {
        if (*wanted[k]) continue;
        *wanted[k] = own[k] = paritas_allocate(context, n * batch->n_parameters + 1, sizeof *own[k]);
        if (!own[k]) status = paritas_fail_memory(context);
    }
    if (status == PARITAS_OK) status = fit_jobs(batch, several, n, jobs);
    if (status == PARITAS_OK) status = edge_errors_judge(context, batch->model, n, jobs, to);
    for (int k = 0; k < 2; k++) paritas_release(&context->allocator, own[k]);
    return status;
}

paritas_status paritas_fit(paritas_context *context, const paritas_model *model,
                           const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                           const paritas_fit_answers *answers)
{
    paritas_fit_options own = PARITAS_FIT_OPTIONS_DEFAULT;
    struct batch batch = {.context = context,
                          .model = model,
                          .options = &own,
                          .answers = PARITAS_FIT_ANSWERS_DEFAULT,
                          .n_parameters = paritas_model_parameter_count(model)};
    REQUIRE(context, model);
    TRY(OPTIONS_READ(context, paritas_fit_options, "options", options, &own));
    TRY(SIZED_CHECK(context, paritas_fit_answers, "answers", n, answers));
    TRY(SIZED_TAKE(context, paritas_fit_answers, "answers", answers, &batch.answers));
    TRY(SIZED_CHECK(context, paritas_job, "jobs", n, jobs));
    TRY(SIZED_CHECK(context, paritas_fit_result, "results", n, batch.answers.results));
    if (batch.answers.starts)
        TRY(SIZED_CHECK(context, paritas_fit_starts, "starts", n, batch.answers.starts));
    bool several = batch.answers.starts != NULL;
    for (size_t i = 0; i < n; i++) {
        several = several || jobs[i].starts > 1;
        if (jobs[i].starts > PARITAS_STARTS_MOST)
            return paritas_refuse(context, "`starts` is %u: there are at most %d", jobs[i].starts,
                                  PARITAS_STARTS_MOST);
    }
    TRY(fit_check_starts(context, model, n, jobs));
    return fit_and_judge(&batch, several, n, jobs);
}
