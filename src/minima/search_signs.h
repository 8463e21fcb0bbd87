/* search_signs.h: starts on the other side of parameters, where signs (fit/signs.h) ask for them. */
#pragma once

#include "minima/search_targets.h"

/* Parameters in which rates are nonlinear, the most nonlinear first. */
#define NONLINEAR_MOST 16
struct nonlinear {
    bool known;
    size_t n, parameters[NONLINEAR_MOST];
    double at; /* largest size of the parameter of interest then */
};

/* Finds them. Rates may be less linear at a larger parameter of interest: beyond twice `at` they are found
 * anew. */
paritas_status signs_find_nonlinear(struct infer *infer, double at, struct nonlinear *nonlinear);
/* Are rates with the templates of `data` nonlinear in a parameter, the one of interest being `at`? Then
 * fits may have several minima. */
paritas_status signs_is_nonlinear(struct infer *infer, const double *data, double at, bool *is);

/* A start with the parameters moved to at least `widths` from their suggested values: on the point's side of
 * them, or on the other one if negative. */
paritas_status signs_move(struct infer *infer, const double *parameters, size_t n, const size_t *which,
                          double widths, const double **start);

/* Flips parameters of all targets, one by one and then those that lowered together, while that lowers. */
paritas_status signs_flip(struct search *search);
