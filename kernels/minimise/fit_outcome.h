/* fit_outcome.h: what all minimisers share: where a fit's bounds stand in MODEL_WORK, how a fit may end, where
 * its answer lies. */
#ifndef PARITAS_FIT_OUTCOME_H
#define PARITAS_FIT_OUTCOME_H

#include "minimise/minimiser_sizes.h"
#include "minimise/fit_tolerances.h"

/* Given by the entry: bounds; 1 where the slot is a parameter of the fit, else 0. */
#define FIT_LOWER (MODEL_WORK)
#define FIT_UPPER (MODEL_WORK + MODEL_SLOTS)
#define FIT_FREE (MODEL_WORK + 2 * MODEL_SLOTS)
/* Scalars behind the vectors: status, value, edm, iterations, then scratch for reductions. */
#define FIT_STATUS(k) (MODEL_WORK + MINIMISER_VECTORS * MODEL_SLOTS)[k]

/* Stages of a lane: the public enum, and RUNNING. */
#define FIT_RUNNING R(-1.0)
#define FIT_CONVERGED R(0.0)
#define FIT_AT_LIMIT R(1.0)
#define FIT_NO_PROGRESS R(2.0)
#define FIT_NON_FINITE R(3.0)
#define FIT_NOT_A_MINIMUM R(4.0)

/* What rounding may do to a value, in units of 1 + |value|. */
#if F64
#define FIT_NOISE R(1e-14)
#else
#define FIT_NOISE R(1e-6)
#endif

/* Where the callers find how the fit ended; `pull`: the projected gradient in errors, squared, where the
 * method has it. */
FN void fit_end(MODEL_PARAMETERS, real status, real value, real edm, real iterations, real pull)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_STATUS(0) = status;
        FIT_STATUS(1) = value;
        FIT_STATUS(2) = edm;
        FIT_STATUS(3) = iterations;
        FIT_STATUS(4) = pull;
    }
    TEAM_BARRIER();
}

#endif
