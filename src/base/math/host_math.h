/* host_math.h: the kernels' functions on the host, f64. libm differs between systems, and so would CLs and
 * Z. */
#pragma once

double host_exp(double x);
double host_log(double x);
double host_lgamma(double x);
double host_digamma(double x);  /* (ln Gamma)' for x > 0 to a few ulp, also near its zero; else NaN */
double host_trigamma(double x); /* (ln Gamma)'' for x > 0, relative error below 1e-14; else NaN */
double host_sqrt(double x);
double host_sin_degrees(double x); /* exact at multiples of 90; NaN beyond 1e14 */
double host_cos_degrees(double x);
double host_acos_degrees(double x); /* in degrees */
/* n - n ln n + ln Gamma(n + 1): what a Poisson term in deviance form lacks; 0 at n = 0. No cancellation at
 * large n. */
double host_poisson_constant(double n);
#define HOST_LN_SQRT_2PI 0.9189385332046727
/* ln(sigma sqrt(2 pi)): what a Gaussian term lacks. */
double host_gauss_constant(double sigma);
