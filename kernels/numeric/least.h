/* least.h: f32 numbers below this are zero (flush.h), on host and kernels. */
#ifndef PARITAS_NUMERIC_LEAST_H
#define PARITAS_NUMERIC_LEAST_H

#define FLUSH_BELOW 1.0842021724855044e-19 /* 2^-63 */

#endif
