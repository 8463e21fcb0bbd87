/* probability.h: probabilities from the kernels' functions, free of libm. NaN gives NaN. */
#pragma once

/* Phi(x), accurate in both tails. */
double normal_cdf(double x);
double normal_density(double x);
/* Holds also where Phi(x) underflows. */
double normal_log_cdf(double x);
/* -inf at 0, +inf at 1, NaN outside. */
double normal_quantile(double p);
/* 1 for x <= 0, NaN for ndof <= 0. */
double chi2_survival(double x, double ndof);
