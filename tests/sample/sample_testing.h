/* sample_testing.h: runs of chains, for the tests of posteriors. */
#ifndef PARITAS_TESTS_SAMPLE_TESTING_H
#define PARITAS_TESTS_SAMPLE_TESTING_H

#include "infer/infer_testing.h"
#include "paritas_sample.h"

#include <math.h>
#include <stdlib.h>

/* Draws of one model. */
struct drawn {
    size_t p, chains, n; /* n: draws of a chain */
    double *parameters, *state;
    paritas_draw *draws;
    paritas_chain *of;
    paritas_posterior *posteriors;
};

static inline struct drawn make_drawn(const paritas_model *model, const paritas_sample_options *options)
{
    struct drawn d = {
        .p = paritas_model_parameter_count(model), .chains = options->chains, .n = options->draws};
    d.parameters = calloc(d.chains * d.n * d.p, sizeof *d.parameters);
    d.state = calloc(d.chains * paritas_sample_state_size(model), sizeof *d.state);
    d.draws = calloc(d.chains * d.n, sizeof *d.draws);
    d.of = calloc(d.chains, sizeof *d.of);
    d.posteriors = calloc(d.p, sizeof *d.posteriors);
    assert_true(d.parameters && d.state && d.draws && d.of && d.posteriors);
    d.of->size = sizeof *d.of;
    d.posteriors->size = sizeof *d.posteriors;
    return d;
}

static inline void free_drawn(struct drawn *d)
{
    free(d->parameters);
    free(d->state);
    free(d->draws);
    free(d->of);
    free(d->posteriors);
}

static inline paritas_status draw(paritas_context *context, const paritas_model *model,
                                  const paritas_job *job, const paritas_sample_options *options,
                                  struct drawn *d)
{
    const paritas_sample_answers answers = {.size = sizeof answers,
                                            .parameters = d->parameters,
                                            .draws = d->draws,
                                            .chains = d->of,
                                            .state = d->state};
    return paritas_sample(context, model, job, options, &answers);
}

/* Draws that converged, with summaries. */
static inline struct drawn sampled_of(paritas_context *context, const paritas_model *model,
                                      const paritas_job *job, const paritas_sample_options *options)
{
    struct drawn d = make_drawn(model, options);
    paritas_sample_verdict verdict = PARITAS_INIT(paritas_sample_verdict);
    ASSERT_OK(context, draw(context, model, job, options, &d));
    ASSERT_OK(context, paritas_summarise_draws(context, d.chains, d.n, d.p, d.parameters, 0.9, d.posteriors));
    ASSERT_OK(context, paritas_judge_draws(context, d.p, d.posteriors, d.chains, d.of, &verdict));
    if (!verdict.converged)
        fail_msg("R-hat %g, effective size %g, %u divergent", verdict.rhat, verdict.ess,
                 (unsigned)verdict.divergent);
    return d;
}

static inline struct drawn sampled(const struct fixture *f, const paritas_sample_options *options)
{
    return sampled_of(f->context, f->model, NULL, options);
}

#endif
