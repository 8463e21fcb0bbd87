/* fit_answer.h: scalars of a finished fit, as in the slab and behind the point in answers. Host and
 * kernels. */
#pragma once

enum fit_answer {
    FIT_STATUS, /* paritas_fit_status */
    FIT_VALUE,  /* NLL in deviance form */
    FIT_EDM,
    FIT_ITERATIONS,
    FIT_PULL, /* largest |slope of twice the NLL| x error */
    FIT_EVALUATIONS,
    FIT_FLAT, /* 1 where a direction had no curvature */
    FIT_EDGE, /* 1 on the domain's edge: a bin's rate is 0 */
    FIT_SCALARS = 8
};
#define FIT_ANSWER_SIZE(slots) ((slots) + FIT_SCALARS)
