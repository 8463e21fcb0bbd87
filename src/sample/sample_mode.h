/* sample_mode.h: the posterior on the host, where chains start and how their space is stretched.
 *
 *   priors, bounds ─► mode in t, by Newton's method ─► its exact Hessian ─► the kernels' shared numbers */
#pragma once

#include "fit/fit_rows.h"
#include "minima/infer.h"
#include "paritas_sample.h"
#include "sample/sample_sizes.h"

struct sample_space {
    size_t n_free;
    size_t *free;    /* their parameters */
    uint32_t *slots; /* of these, padded to 8 */
    double *shared;  /* SAMPLE_SHARED numbers */
    bool has_priors;
};

/* Arrays are in the arena of `infer`, and so are messages' numbers. Answers depend on no device: the host
 * computes them in f64. */
paritas_status sample_space_open(struct infer *infer, const paritas_sample_options *options,
                                 struct sample_space *space);
