/* least.h: f32 numbers below this are zero (flush.h), on host and kernels. */
#pragma once

#define FLUSH_BELOW 1.0842021724855044e-19 /* 2^-63 */
