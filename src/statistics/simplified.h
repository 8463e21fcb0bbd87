/* simplified.h: moments of a background and their document. */
#pragma once

#include "base/json/json.h"

/* Arrays are borrowed. */
struct simplified_moments {
    size_t n; /* bins */
    size_t n_channels;
    const char *const *names;
    const size_t *sizes; /* bins of the channels */
    const char *poi;
    double *observed, *mean, *signal; /* n */
    double *third;                    /* n; NULL: not known */
    double *covariance;               /* n rows of n */
};

/* Rates a + b theta + c theta^2, theta normal of variance 1. */
struct simplified_expansion {
    double *a, *b, *c;   /* n */
    double *correlation; /* n rows of n */
    size_t cut;          /* third moments that are beyond what the expansion reaches */
};

/* Without third moments c is 0. Returns false without memory. */
bool simplified_expand(struct arena *arena, const struct simplified_moments *moments,
                       struct simplified_expansion *expansion);
/* Makes a document of moments and expansion. */
paritas_status simplified_write(paritas_context *context, const struct simplified_moments *moments,
                                paritas_workspace **document);
/* Reads one, with arrays in `arena`. */
paritas_status simplified_read(paritas_context *context, const paritas_workspace *document,
                               struct arena *arena, struct simplified_moments *moments);
