/* edges.h: bins that hold a fit at the edge of its domain: nothing was observed, and the rate is 0. Beyond,
 * it would be negative. */
#pragma once

#include "fit/family.h"

struct edges {
    size_t n, *bins;      /* main data */
    unsigned char *moves; /* n_parameters: 1 where the parameter moves the rate of one; NULL: no bins */
    double *jacobian;     /* of expected data: a row of n_parameters for each datum; NULL: no bins */
};

/* Can a bin hold a fit to this row? Nothing was observed in one. */
bool edges_may_hold(const struct frozen *model, const double *data);

/* Finds these bins at `point`. data: a data row; NULL: the model's. A bin whose rate no parameter moves is
 * none of them. The arrays are in the arena. */
paritas_status edges_find(paritas_context *context, const paritas_model *model, const double *point,
                          const double *data, struct arena *arena, struct edges *edges);

/* Rates of 0 stay 0 as held values move, and then slopes of free parameters are not 0. Takes away what the
 * `gradient` has along these rates' derivatives by free parameters, with its share by the held ones.
 * `multipliers`: of each of these bins, the rate's part of what was taken away; NULL: not needed. */
paritas_status edges_follow(paritas_context *context, size_t n, const struct edges *edges,
                            const unsigned char *held, struct arena *arena, double *gradient,
                            double *multipliers);

/* Makes rates of 0 exact in what is expected at `point`, where a fit to the row `data` ended, so that they
 * can be Asimov data. Rounding leaves counts of 1e-13, to which fits take hundreds of iterations.
 * *n: how many bins these are. */
paritas_status edges_clear(paritas_context *context, const paritas_model *model, const double *point,
                           const double *data, double *expected, size_t *n);
