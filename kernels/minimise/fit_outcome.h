/* fit_outcome.h: what minimisers share: bounds, scalars, endings. Comes behind a model's words (newton.h). */
#pragma once

#include "minimise/fit_answer.h"
#include "minimise/fit_tolerances.h"
#include "minimise/minimiser_sizes.h"
#include "numeric/sum.h"

/* What the entry gives: bounds; 1 where the slot is a parameter of the fit, else 0. */
#define FIT_LOWER (MODEL_WORK)
#define FIT_UPPER (MODEL_WORK + MODEL_SLOTS)
#define FIT_FREE (MODEL_WORK + 2 * MODEL_SLOTS)

/* The answer's scalars (fit_answer.h), then the method's own. */
#define FIT_SCALAR(k) (MODEL_WORK + MINIMISER_VECTORS * MODEL_SLOTS)[k]
#define FIT_SCRATCH FIT_SCALARS

#define FIT_RUNNING R(-1.0)
#define FIT_CONVERGED R(0.0)
#define FIT_AT_LIMIT R(1.0)
#define FIT_NO_PROGRESS R(2.0)
#define FIT_NON_FINITE R(3.0)
#define FIT_NOT_A_MINIMUM R(4.0)

/* Rounding of a value, in units of 1 + |value|. */
#if F64
#define FIT_NOISE R(1e-14)
#else
#define FIT_NOISE R(1e-6)
#endif

/* A fit that still runs is at its limit. */
FN void fit_end(MODEL_PARAMETERS, real status, real value, real edm, real iterations, real pull)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(FIT_STATUS) = SELECT(status == FIT_RUNNING, FIT_AT_LIMIT, status);
        FIT_SCALAR(FIT_VALUE) = value;
        FIT_SCALAR(FIT_EDM) = edm;
        FIT_SCALAR(FIT_ITERATIONS) = iterations;
        FIT_SCALAR(FIT_PULL) = pull;
    }
    TEAM_BARRIER();
}

/* Known to every worker. */
FN real fit_dot(MODEL_PARAMETERS, GLOBAL const real *a, GLOBAL const real *b)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(FIT_SCRATCH) = dot8(a, b, MODEL_SLOTS);
    }
    TEAM_BARRIER();
    return FIT_SCALAR(FIT_SCRATCH);
}

FN pmask fit_packs(mask lanes)
{
    return PACK_OF(SELECT(lanes, R(1.0), R(0.0))) > PK(0.0);
}

FN real fit_size(real x)
{
    return SELECT(x < R(0.0), -x, x);
}

FN real fit_noise(real value)
{
    return FIT_NOISE * (R(1.0) + fit_size(value));
}

/* Armijo's rule, or within rounding if only that is left. */
FN mask fit_enough(real found, real value, real slope)
{
    const real noise = fit_noise(value);
    return OR(found <= FMA(R(1e-4), slope, value), AND(found <= value + noise, -slope <= R(1e3) * noise));
}

/* Minimum of the parabola, within 0.1 .. 0.5. */
FN real fit_shorter(real found, real value, real slope)
{
    const real rise = found - value - slope;
    real part = SELECT(AND(found<MODEL_HUGE, rise> R(0.0)),
                       DIVIDE(R(-0.5) * slope, SELECT(rise > R(0.0), rise, R(1.0))), R(0.25));
    part = SELECT(part > R(0.1), part, R(0.1));
    return SELECT(part < R(0.5), part, R(0.5));
}

FN pack fit_within(pack x, pack lower, pack upper)
{
    return PSELECT(x < lower, lower, PSELECT(x > upper, upper, x));
}

/* The step within its cap; 0: no limit. */
FN pack fit_capped(pack step, pack cap)
{
    step = PSELECT(AND(cap > PK(0.0), step > cap), cap, step);
    return PSELECT(AND(cap > PK(0.0), step < -cap), -cap, step);
}

/* Does the slope hold a parameter at one of its bounds? */
FN pmask fit_is_at_bound(pack x, pack slope, pack lower, pack upper)
{
    return OR(AND(x <= lower, slope > PK(0.0)), AND(x >= upper, slope < PK(0.0)));
}
