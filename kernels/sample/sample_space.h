/* sample_space.h: the space in which chains move, and the density there.
 *
 *   z ─► t = mode + table z ─► x within its bounds ─► model_value + priors - ln|dx/dt|
 *
 * x = lower + width / (1 + e^-t) between two bounds, lower + e^t or upper - e^t at one, else t. With the
 * table a root of the inverse Hessian in t, z is about unit normal. */
#pragma once

#include "entry/entry_rows.h"
#include "minimise/fit_outcome.h"
#include "minimise/quasi_newton.h"
#include "minimise/value_request.h"
#include "sample/sample_sizes.h"

#define SAMPLE_VECTOR(k) (MODEL_MEMORY + (k) * MODEL_SLOTS)
#define SAMPLE_OWN(k) (MODEL_MEMORY + SAMPLE_WORK(MODEL_SLOTS, k))
#define SAMPLE_GIVEN(call, k) ((call)->shared + (k) * MODEL_SLOTS)

/* Shared by lanes: arguments, parts of `in`. */
typedef struct {
    u32 free, row, warmup, depth, has_priors, key0, key1;
    real end; /* transitions */
    real first_step, target, spread;
    CONSTANT u32 *slots;
    GLOBAL const elem *shared, *table, *transposed;
} sample_call;

/* x, dx/dt and -ln|dx/dt| with its slope, of t. */
typedef struct {
    pack x, slope, term, term_slope;
} sample_place;

FN sample_place sample_place_of(pack t, pack lower, pack upper, pack kind)
{
    const pack one = PK(1.0), zero = PK(0.0);
    const pmask both = kind == PACK_OF(REAL_OF(SAMPLE_HAS_LOWER + SAMPLE_HAS_UPPER)),
                above = kind == PACK_OF(REAL_OF(SAMPLE_HAS_LOWER)),
                below = kind == PACK_OF(REAL_OF(SAMPLE_HAS_UPPER)), positive = t >= zero;
    const pack e = m_exp(PSELECT(both, -m_abs(t), PSELECT(OR(above, below), t, zero))), width = upper - lower,
               s = PDIVIDE(one, one + e), part = (width * e) * s, odd = (one - e) * s;
    sample_place p;
    p.x = PSELECT(both, PSELECT(positive, upper - part, lower + part),
                  PSELECT(above, lower + e, PSELECT(below, upper - e, t)));
    p.slope = PSELECT(both, part * s, PSELECT(above, e, PSELECT(below, -e, one)));
    p.term = PSELECT(both, PFMA(PK(2.0), m_log1p(e), m_abs(t)), PSELECT(OR(above, below), -t, zero));
    p.term_slope = PSELECT(both, PSELECT(positive, odd, -odd), PSELECT(OR(above, below), -one, zero));
    return p;
}

/* Adds parameter i's prior. */
FN sample_place sample_prior(MODEL_PARAMETERS, PRIVATE const sample_call *c, u32 i, sample_place p)
{
    const pack weight = LOADM(SAMPLE_GIVEN(c, SAMPLE_WEIGHT), i),
               log_weight = LOADM(SAMPLE_GIVEN(c, SAMPLE_LOG_WEIGHT), i),
               power = LOADM(SAMPLE_GIVEN(c, SAMPLE_POWER), i), rate = LOADM(SAMPLE_GIVEN(c, SAMPLE_RATE), i),
               zero = PK(0.0);
    const pmask logs = OR(log_weight > zero, PNOT(power == zero));
    const pack x = PSELECT(logs, p.x, PK(1.0)), log_x = m_log(x),
               away = p.x - LOADM(SAMPLE_GIVEN(c, SAMPLE_MEAN), i),
               log_away = log_x - LOADM(SAMPLE_GIVEN(c, SAMPLE_LOG_MEAN), i);
    const pack pull = weight * away, log_pull = log_weight * log_away, one_half = PK(0.5);
    const pack value =
        PFMA(one_half * pull, away, PFMA(one_half * log_pull, log_away, PFMA(power, log_x, rate * p.x)));
    const pack slope = (pull + rate) + PDIVIDE(log_pull + power, x);
    p.term = p.term + value;
    p.term_slope = PFMA(slope, p.slope, p.term_slope);
    return p;
}

/* Known to every worker. */
FN real sample_sum(MODEL_PARAMETERS, GLOBAL const real *a, u32 n)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        FIT_SCALAR(FIT_SCRATCH) = sum8(a, n);
    }
    TEAM_BARRIER();
    return FIT_SCALAR(FIT_SCRATCH);
}

/* -log density of t at STATE_Z, its gradient by z into WORK_GRADIENT, x into MODEL_X. Returns the
 * likelihood's part in *nll. */
FN real sample_density(MODEL_PARAMETERS, PRIVATE const sample_call *c, PRIVATE real *nll)
{
    GLOBAL real *t = SAMPLE_OWN(WORK_T), *x = SAMPLE_OWN(WORK_X), *slope = SAMPLE_OWN(WORK_SLOPE),
                *term = SAMPLE_OWN(WORK_TERM);
    qn_products(c->table, c->row, c->free, SAMPLE_VECTOR(STATE_Z), 0, c->table, t, t);
    TEAM_FOR_PACK(i, c->row) {
        sample_place p = sample_place_of(
            LOADP(t, i) + LOADM(SAMPLE_GIVEN(c, SAMPLE_MODE), i), LOADM(SAMPLE_GIVEN(c, SAMPLE_LOWER), i),
            LOADM(SAMPLE_GIVEN(c, SAMPLE_UPPER), i), LOADM(SAMPLE_GIVEN(c, SAMPLE_KIND), i));
        if (c->has_priors) p = sample_prior(MODEL, c, i, p);
        STOREP(x, i, p.x);
        STOREP(slope, i, p.slope);
        STOREP(term, i, p.term);
        STOREP(t, i, p.term_slope);
    }
    TEAM_BARRIER();
    TEAM_FOR(k, c->free) (MODEL_X)[c->slots[k]] = x[k];
    TEAM_BARRIER();
    *nll = model_value(MODEL, MODEL_SLOPE);
    TEAM_BARRIER();
    TEAM_FOR(k, c->free) t[k] = FMA((MODEL_GRADIENT)[c->slots[k]], slope[k], t[k]);
    TEAM_BARRIER();
    qn_products(c->transposed, c->row, c->free, t, 0, c->table, t, SAMPLE_OWN(WORK_GRADIENT));
    return *nll + sample_sum(MODEL, term, c->row);
}
