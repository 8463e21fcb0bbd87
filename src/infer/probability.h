/* probability.h: probabilities from the kernels' own functions: p-values do not depend on a system's libm.
 * All are pure; NaN in gives NaN out. */
#ifndef PARITAS_INFER_PROBABILITY_H
#define PARITAS_INFER_PROBABILITY_H

/* Phi(x), accurate in both tails. */
double normal_cdf(double x);
/* Its derivative. */
double normal_density(double x);
/* The logarithm of Phi(x), also where Phi(x) is 0. */
double normal_log_cdf(double x);
/* Phi^-1(p); -inf at 0, +inf at 1, NaN outside [0, 1]. */
double normal_quantile(double p);
/* Probability that chi-squared with `ndof` degrees of freedom exceeds x: 1 for x <= 0. NaN for ndof <= 0. */
double chi2_survival(double x, double ndof);

#endif
