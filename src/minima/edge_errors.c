/* edge_errors.c: which errors mean something where a rate is 0. */
#include "minima/edge_errors.h"
#include "fit/edges.h"
#include "fit/fit.h"
#include "fit/fit_evaluate.h"

#include <math.h>
#include <string.h>

/* The rise of twice the NLL one error away is 1 for a parabola. The NLL of 3 events has 0.7 and 1.7. */
#define RISE_LEAST 0.5
#define RISE_MOST 2.0
/* An error with all other parameters held is the smallest without an edge: only an edge makes its square
 * smaller than this part of that one's. */
#define ALONE_LEAST 0.9

struct judged {
    paritas_context *context;
    const paritas_model *model;
    struct arena arena;
    paritas_job job;
    paritas_fit_answers answers; /* of this job */
    size_t n;                    /* parameters */
    const unsigned char *fixed;
};

static void take_error(struct judged *j, size_t p)
{
    j->answers.errors[p] = (double)NAN;
    if (j->answers.states) j->answers.states[p] = PARITAS_PARAMETER_AT_EDGE;
}

/* The job with parameter p held at one of its errors, from the best fit. */
static paritas_status hold(struct judged *j, size_t p, double sign, paritas_job *job)
{
    double *start = arena_array(&j->arena, j->n, sizeof *start);
    unsigned char *fixed = arena_array(&j->arena, j->n, sizeof *fixed);
    if (!start || !fixed) return paritas_fail_memory(j->context);
    memcpy(start, j->answers.parameters, j->n * sizeof *start);
    memcpy(fixed, j->fixed, j->n);
    start[p] += sign * j->answers.errors[p];
    fixed[p] = 1;
    *job = j->job;
    job->start = start;
    job->fixed = fixed;
    return PARITAS_OK;
}

/* Fits one error to either side of m parameters. */
static paritas_status compare(struct judged *j, size_t m, const size_t *which)
{
    paritas_job *jobs = arena_array(&j->arena, 2 * m + 1, sizeof *jobs);
    paritas_fit_result *results = arena_array(&j->arena, 2 * m + 1, sizeof *results);
    if (!jobs || !results) return paritas_fail_memory(j->context);
    for (size_t k = 0; k < 2 * m; k++) TRY(hold(j, which[k / 2], k % 2 ? 1.0 : -1.0, &jobs[k]));
    TRY(fit_run(j->context, j->model, NULL, 2 * m, jobs, &(paritas_fit_answers){.results = results}));
    for (size_t k = 0; k < 2 * m; k++) {
        const double rise = results[k].twice_nll - j->answers.results->twice_nll;
        if (!(rise >= RISE_LEAST && rise <= RISE_MOST)) take_error(j, which[k / 2]);
    }
    return PARITAS_OK;
}

/* Parameters that the edge moves with it: no error; those whose error it made smaller: compared. */
static paritas_status judge(struct judged *j, const double *data, const struct edges *edges)
{
    const double *errors = j->answers.errors;
    const size_t n = j->n;
    size_t m = 0, *which = arena_array(&j->arena, n, sizeof *which);
    double *hessian = arena_array(&j->arena, n, n * sizeof *hessian);
    if (!which || !hessian) return paritas_fail_memory(j->context);
    TRY(fit_evaluate(j->context, j->context->host, j->model, 1, j->answers.parameters, 1, data,
                     &(paritas_evaluate_answers){.hessian = hessian}));
    for (size_t p = 0; p < n; p++) {
        const bool free = j->answers.states && j->answers.states[p] == PARITAS_PARAMETER_FREE;
        if (isnan(errors[p]) && free && edges->moves[p]) take_error(j, p);
        if (errors[p] * errors[p] * 0.5 * hessian[p * n + p] < ALONE_LEAST) which[m++] = p;
    }
    return compare(j, m, which);
}

paritas_status edge_errors_judge(paritas_context *context, const paritas_model *model, size_t n,
                                 const paritas_job *jobs, const paritas_fit_answers *answers)
{
    const struct frozen *frozen = paritas_model_frozen(model);
    const size_t p = frozen->n_parameters;
    for (size_t i = 0; i < n; i++) {
        if (answers->results[i].status != PARITAS_FIT_CONVERGED) continue;
        const double *data = jobs[i].data ? jobs[i].data : frozen->data;
        if (!edges_may_hold(frozen, data)) continue;
        struct judged j = {.context = context, .model = model, .job = jobs[i], .n = p};
        j.answers = fit_answers_from(answers, i, p);
        j.fixed = jobs[i].fixed ? jobs[i].fixed : frozen->fixed;
        struct edges edges;
        arena_open(&j.arena, &context->allocator);
        paritas_status status =
            edges_find(context, model, j.answers.parameters, jobs[i].data, &j.arena, &edges);
        if (status == PARITAS_OK && edges.n > 0) status = judge(&j, data, &edges);
        arena_free(&j.arena);
        TRY(status);
    }
    return PARITAS_OK;
}

paritas_status edge_errors_of(struct infer *infer, const struct infer_profile *profile, double **errors,
                              paritas_parameter_state **states)
{
    const size_t n = infer->n_parameters;
    *errors = profile->errors;
    *states = profile->states;
    if (!edges_may_hold(paritas_model_frozen(infer->model), profile->data)) return PARITAS_OK;
    paritas_fit_result result = profile->result;
    double *judged = infer_reals(infer, n, 1);
    paritas_parameter_state *kinds = infer_array(infer, n, sizeof *kinds);
    TRY(infer_memory(infer));
    memcpy(judged, profile->errors, n * sizeof *judged);
    memcpy(kinds, profile->states, n * sizeof *kinds);
    paritas_job job = infer->base;
    job.data = profile->data;
    *errors = judged;
    *states = kinds;
    return edge_errors_judge(infer->context, infer->model, 1, &job,
                             &(paritas_fit_answers){.size = sizeof(paritas_fit_answers),
                                                    .results = &result,
                                                    .parameters = profile->parameters,
                                                    .errors = judged,
                                                    .states = kinds});
}
