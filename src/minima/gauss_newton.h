/* gauss_newton.h: the first iterations of many fits, at a small part of their price.
 *
 * A step by Newton's method takes second derivatives of the likelihood. Fisher's matrix stands in for them
 * here, and the step is a system with an equation a bin or a parameter, whichever are fewer. Values and
 * gradients are exact, so these fits end at minima, in some three iterations where rates are nearly linear.
 * Newton's method finishes them. */
#pragma once

#include "minima/infer.h"

#define GAUSS_KNOWN_MOST 8

/* A fit of one data set. */
struct gauss_fit {
    const unsigned char *fixed; /* n_parameters */
    const double *inside;       /* a start outside the domain is drawn toward this point */
    double *point;              /* the start, within bounds; then the end */
    size_t n_known;             /* minima of the same fit, at most GAUSS_KNOWN_MOST */
    const double *known[GAUSS_KNOWN_MOST];
    double known_nll[GAUSS_KNOWN_MOST]; /* twice */
    double twice_nll;                   /* answers: at the end */
    ptrdiff_t goes_to;                  /* the known minimum in which the next step would end; -1: none */
};

/* Are all main data counts, and few enough? */
bool gauss_newton_serves(const struct infer *infer);

/* Runs n fits side by side, on the host in f64. */
paritas_status gauss_newton_run(struct infer *infer, const double *data, size_t n, struct gauss_fit *fits);
