/* fit_reference.h: twice the HistFactory likelihood straight from a specification, with exact derivatives:
 * slow, plain, and written without a look at the kernels.
 *
 * A number is a jet: its value, its derivative by one parameter i, by REFERENCE_WIDTH parameters j, j+1, ...,
 * and the mixed second derivatives. Every operation carries them by the rules of differentiation, so nothing
 * is approximated. */
#ifndef PARITAS_FIT_REFERENCE_H
#define PARITAS_FIT_REFERENCE_H

#include "histfactory/workspace/workspace_spec.h"

#define REFERENCE_WIDTH 8

struct jet {
    double v, a, b[REFERENCE_WIDTH], ab[REFERENCE_WIDTH];
};

/* What the likelihood needs beside the specification; zeros are no clips. */
struct reference {
    const struct hf_spec *spec;
    int normsys_code;  /* PARITAS_NORMSYS_..., of modifiers without their own */
    int histosys_code; /* PARITAS_HISTOSYS_... */
    bool clip_sample, clip_bin;
    double clip_sample_at, clip_bin_at;
    double (*polynomials)[6]; /* of all normsys, in the order of channels, samples and modifiers */
};

/* Computes the polynomials of code 4. false: no memory. */
bool reference_open(struct reference *reference);
void reference_close(struct reference *reference);
/* Expected rates of all bins, as jets in parameter i and j .. j + REFERENCE_WIDTH - 1. */
void reference_rates(const struct reference *reference, const double *point, size_t i, size_t j,
                     struct jet *rates);
/* Twice the NLL, constants included; NaN outside the domain. `data`: main, then auxiliary. `rates` is scratch
 * of n_main. */
struct jet reference_twice_nll(const struct reference *reference, const double *point, const double *data,
                               size_t i, size_t j, struct jet *rates);

#endif
