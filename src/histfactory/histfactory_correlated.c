/* histfactory_correlated.c: correlations of constraints on the host. */
#include "histfactory/histfactory_correlated.h"
#include "fit/cholesky.h"

void hf_pull_ties(const struct hf_spec *spec, double factor, const double *x, const double *data, double *to)
{
    for (uint32_t k = 0; k < spec->n_correlations; k++) {
        const struct hf_correlation *c = &spec->correlations[k];
        for (uint32_t j = 0; !c->centres && j < c->n; j++) {
            const uint32_t p = c->parameters[j];
            const double offset = factor * ((x ? x[p] : 0.0) - (data ? data[c->data[j]] : 0.0));
            for (uint32_t i = 0; offset != 0.0 && i < c->n; i++)
                to[c->data[i]] += c->ties[j * c->n + i] * offset;
        }
    }
}

/* The precision matrix of free members, inverted; `members`: their numbers. */
static uint32_t invert_free(const struct hf_correlation *c, const unsigned char *fixed, uint32_t *members,
                            double *matrix)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (!fixed[c->parameters[i]]) members[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const double sigma = c->sigmas[members[i]];
            matrix[i * n + j] =
                c->ties[members[i] * c->n + members[j]] + (i == j ? 1.0 / (sigma * sigma) : 0.0);
        }
    invert_positive(n, matrix);
    return n;
}

paritas_status hf_correlated_variances(paritas_context *context, const struct hf_spec *spec,
                                       const unsigned char *fixed, double *covariance)
{
    const size_t all = spec->n_parameters;
    for (uint32_t k = 0; k < spec->n_correlations; k++) {
        const struct hf_correlation *c = &spec->correlations[k];
        if (c->centres) continue;
        double *matrix = paritas_allocate(context, (size_t)c->n * c->n, sizeof *matrix);
        uint32_t *members = paritas_allocate(context, c->n, sizeof *members);
        if (matrix && members) {
            const uint32_t n = invert_free(c, fixed, members, matrix);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                    covariance[c->parameters[members[i]] * all + c->parameters[members[j]]] =
                        matrix[i * n + j];
        }
        paritas_release(&context->allocator, matrix);
        paritas_release(&context->allocator, members);
        if (!matrix || !members) return paritas_fail_memory(context);
    }
    return PARITAS_OK;
}
