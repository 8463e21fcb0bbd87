/* freeze_correlations.c: parameters with a joint normal law or a penalty: records, slots, matrices. */
#include "histfactory/freeze.h"

#include <string.h>

static hf_correlations_record *record_of(const struct freezer *f)
{
    return (hf_correlations_record *)(f->ints.at + HF_HEADER + freeze_function_words(f));
}

size_t freeze_correlation_words(const struct freezer *f)
{
    return f->spec->n_correlations ? HF_WORDS(hf_correlations_record) : 0;
}

size_t freeze_correlation_numbers(const struct freezer *f)
{
    size_t count = 0;
    for (uint32_t k = 0; k < f->spec->n_correlations; k++) {
        const size_t n = f->spec->correlations[k].n;
        count += n * HF_ROUND8(n) + (f->spec->correlations[k].centres ? n : n * n);
    }
    return count;
}

static void write_correlation(struct freezer *f, uint32_t k)
{
    const struct hf_correlation *c = &f->spec->correlations[k];
    const size_t n = c->n, stride = HF_ROUND8(n);
    const size_t ties = freeze_extend_reals(f, n * stride);
    hf_correlation_record record = {.n = c->n, .slots = (uint32_t)f->ints.n, .ties = (uint32_t)ties};
    unsigned *further = c->centres ? &record.centres : &record.draws;
    *further = (uint32_t)freeze_extend_reals(f, c->centres ? n : n * n);
    for (size_t i = 0; i < n; i++) freeze_push(f, &f->ints, f->dense_of[c->parameters[i]]);
    if (f->ints.failed || f->reals.failed) return;
    for (size_t i = 0; i < n; i++)
        memcpy(f->reals.at + record.ties + i * stride, c->ties + i * n, n * sizeof *c->ties);
    if (c->centres)
        memcpy(f->reals.at + record.centres, c->centres, n * sizeof *c->centres);
    else
        memcpy(f->reals.at + record.draws, c->draws, n * n * sizeof *c->draws);
    ((hf_correlation_record *)(f->ints.at + record_of(f)->groups))[k] = record;
}

bool freeze_correlations(struct freezer *f)
{
    const uint32_t n = f->spec->n_correlations;
    if (n == 0) return true;
    const size_t groups = freeze_extend(f, &f->ints, n * HF_WORDS(hf_correlation_record));
    if (f->ints.failed) return false;
    *record_of(f) = (hf_correlations_record){.count = n, .groups = (uint32_t)groups};
    for (uint32_t k = 0; k < n; k++) write_correlation(f, k);
    return !f->ints.failed && !f->reals.failed;
}
