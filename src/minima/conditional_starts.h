/* conditional_starts.h: starts of conditional fits, predicted from known fits. */
#pragma once

#include "minima/infer.h"

/* The profile's free fit, moved by its first-order response. `response`: scratch; both n_parameters. */
paritas_status infer_predict_start(struct infer *infer, const struct infer_point *point, double *start,
                                   double *response);

/* The other parameters, from the polynomial through fitted neighbours. Needs three places, else `start`
 * stays. */
void infer_interpolate_start(const struct infer *infer, const struct infer_point *point, double *start);

/* Lagrange's weights of n different places for a value. */
void infer_weigh(double value, size_t n, const double *places, double *weights);
/* The weighted sum of n points, within bounds; fixed parameters are the first point's. `start` may be one. */
void infer_mix_points(const struct infer *infer, size_t n, const double *const *points, const double *weights,
                      double *start);

/* Takes the variance from the covariance, or on a bound from the curvature. NaN: neither. */
paritas_status infer_variance(struct infer *infer, struct infer_profile *profile, size_t parameter,
                              double *variance);

/* A row of n_parameters for each point. `room`: as many elements as infer_starts_room says. */
paritas_status infer_choose_starts(struct infer *infer, size_t n, const struct infer_point *const *points,
                                   double *room, double *starts);
size_t infer_starts_room(const struct infer *infer, size_t n);
