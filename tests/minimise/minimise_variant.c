/* minimise_variant.c: the table of one variant. Compiled many times, with PARITAS_LANES, PARITAS_PACK and the
 * name of the table, MINIMISE_VARIANT. Its model shows that a minimiser needs no more than the words that its
 * header lists. */
#include "minimise_variant.h"

#include "dialect/dialect_c.h"
#include "numeric/math.h"
#include "numeric/sum.h"

/* slab: x, gradient, slopes and weights of the function, work, memory */
#define MODEL_PARAMETERS const u32 *mi, real *s
#define MODEL mi, s
#define MODEL_SLOTS 16
#define MODEL_X (s)
#define MODEL_GRADIENT (s + MODEL_SLOTS)
#define SLOPES (s + 2 * MODEL_SLOTS)
#define WEIGHTS (s + 3 * MODEL_SLOTS)
#define MODEL_WORK (s + 4 * MODEL_SLOTS)
#define MODEL_MEMORY (MODEL_WORK + MINIMISER_VECTORS * MODEL_SLOTS + MINIMISER_SCALARS)
#define MODEL_HUGE R(1e300)
#define SLAB \
    (4 * MODEL_SLOTS + MINIMISER_VECTORS * MODEL_SLOTS + MINIMISER_SCALARS + LBFGSB_MEMORY(MODEL_SLOTS))

/* cos 2 pi x: the whole part goes, then the series. */
FN real cosine(real x)
{
    const real shift = R(6755399441055744.0), rest = x - ((x + shift) - shift),
               z = R(-39.478417604357432) * rest * rest;
    real sum = R(1.0);
    for (u32 k = 14; k > 0; k--) sum = FMA(sum * z, R(1.0) / REAL_OF((double)(2 * k * (2 * k - 1))), R(1.0));
    return sum;
}

FN real exponential(real x)
{
    real e[PACK];
    STOREP(e, 0, m_exp(PACK_OF(x)));
    return e[0];
}

/* Table of the function: which one, of how many variables. */
FN real model_value(MODEL_PARAMETERS, u32 derivatives)
{
    real *x = MODEL_X, *g = MODEL_GRADIENT, value = R(0.0);
    const u32 n = mi[1];
    (void)derivatives;
    for (u32 i = 0; i < MODEL_SLOTS; i++) g[i] = R(0.0);
    if (mi[0] == ROSENBROCK)
        for (u32 i = 0; i + 1 < n; i++) {
            const real across = x[i + 1] - x[i] * x[i], along = R(1.0) - x[i];
            value = value + R(100.0) * across * across + along * along;
            g[i] = g[i] - R(400.0) * across * x[i] - R(2.0) * along;
            g[i + 1] = g[i + 1] + R(200.0) * across;
        }
    if (mi[0] == BEALE) {
        const real a = x[0], b = x[1], r0 = R(1.5) - a + a * b, r1 = R(2.25) - a + a * b * b,
                   r2 = R(2.625) - a + a * b * b * b;
        value = r0 * r0 + r1 * r1 + r2 * r2;
        g[0] = R(2.0) * (r0 * (b - R(1.0)) + r1 * (b * b - R(1.0)) + r2 * (b * b * b - R(1.0)));
        g[1] = R(2.0) * a * (r0 + R(2.0) * r1 * b + R(3.0) * r2 * b * b);
    }
    if (mi[0] == QUADRATIC)
        for (u32 i = 0; i < n; i++) {
            const real before = i > 0 ? x[i - 1] : R(0.0), behind = i + 1 < n ? x[i + 1] : R(0.0);
            value = value + x[i] * (R(0.5) * WEIGHTS[i] * x[i] - R(0.25) * behind - SLOPES[i]);
            g[i] = WEIGHTS[i] * x[i] - R(0.25) * (before + behind) - SLOPES[i];
        }
    if (mi[0] == BARRIER) {
        mask outside = R(0.0) > R(1.0);
        for (u32 i = 0; i < n; i++) {
            const mask good = x[i] > R(0.0);
            const real y = SELECT(good, x[i], R(1.0));
            real logarithms[PACK];
            outside = OR(outside, NOT(good));
            STOREP(logarithms, 0, m_log(PACK_OF(y)));
            value = value + y - SLOPES[i] * logarithms[0];
            g[i] = R(1.0) - SLOPES[i] / y;
        }
        value = SELECT(outside, MODEL_HUGE, value);
    }
    if (mi[0] == RASTRIGIN || mi[0] == ACKLEY) { /* of these no gradient: who fits them asks for none */
        real squares = R(0.0), cosines = R(0.0);
        const real count = REAL_OF((double)n);
        for (u32 i = 0; i < n; i++) {
            squares = FMA(x[i], x[i], squares);
            cosines = cosines + cosine(x[i]);
        }
        value = R(10.0) * (count - cosines) + squares;
        if (mi[0] == ACKLEY)
            value = R(20.0) * (R(1.0) - exponential(R(-0.2) * SQRT(squares / count))) +
                    (exponential(R(1.0)) - exponential(cosines / count));
    }
    return value;
}

#include "minimise/lbfgsb.h"
#include "minimise/differential_evolution.h"

static void load(real *to, const double *jobs, lane_rows rows, unsigned which)
{
    for (u32 i = 0; i < SLOTS; i++) to[i] = LOAD_ROWS(jobs, rows, ROWS * SLOTS, which * SLOTS + i);
}

static lane_rows load_jobs(real *s, const double *jobs, u32 team, u32 n)
{
    const lane_rows rows = rows_of_team(team, n);
    load(MODEL_X, jobs, rows, ROW_START);
    load(FIT_LOWER, jobs, rows, ROW_LOWER);
    load(FIT_UPPER, jobs, rows, ROW_UPPER);
    load(FIT_FREE, jobs, rows, ROW_FREE);
    load(LBFGSB_UNIT, jobs, rows, ROW_UNIT); /* where DE_UNIT stands too */
    load(SLOPES, jobs, rows, ROW_SLOPE);
    load(WEIGHTS, jobs, rows, ROW_WEIGHT);
    return rows;
}

static void store_answers(const real *s, double *answers, lane_rows rows)
{
    for (u32 i = 0; i < SLOTS; i++) STORE_ROWS(answers, rows, ANSWER, i, MODEL_X[i]);
    for (u32 k = 0; k < 4; k++) STORE_ROWS(answers, rows, ANSWER, SLOTS + k, FIT_SCALAR(k));
}

static void lbfgsb(enum function function, uint32_t dimensions, uint32_t n, const double *jobs,
                   double *answers, double tolerance, uint32_t limit, void *slab)
{
    real *s = slab;
    const u32 mi[2] = {(u32)function, dimensions};
    for (u32 team = 0; team * LANES < n; team++) {
        const lane_rows rows = load_jobs(s, jobs, team, n);
        lbfgsb_minimise(mi, s, REAL_OF(tolerance), limit);
        store_answers(s, answers, rows);
    }
}

static void de(enum function function, uint32_t dimensions, uint32_t n, const double *jobs, double *answers,
               double tolerance, uint32_t limit, void *slab, uint32_t members, uint64_t seed)
{
    real *s = slab;
    const u32 mi[2] = {(u32)function, dimensions};
    for (u32 team = 0; team * LANES < n; team++) {
        const lane_rows rows = load_jobs(s, jobs, team, n);
        de_minimise(mi, s, REAL_OF(tolerance), &limit, 0, members, R(4.0), (u32)seed, (u32)(seed >> 32));
        store_answers(s, answers, rows);
    }
}

static int step(uint32_t pairs, double (*from)[SLOTS], double (*y)[SLOTS], double theta, const double *slope,
                const double *lower, const double *upper, double *cauchy, double *to, void *slab)
{
    real *s = slab;
    const u32 mi[2] = {QUADRATIC, SLOTS};
    for (u32 i = 0; i < SLOTS; i++) {
        (LBFGSB_POINT)[i] = R(0.0);
        (LBFGSB_UNIT)[i] = (FIT_FREE)[i] = R(1.0);
        (LBFGSB_SLOPE)[i] = REAL_OF(slope[i]);
        (FIT_LOWER)[i] = REAL_OF(lower[i]);
        (FIT_UPPER)[i] = REAL_OF(upper[i]);
    }
    lbfgsb_forget(mi, s, R(1.0) > R(0.0));
    for (u32 k = 0; k < pairs; k++) {
        for (u32 i = 0; i < SLOTS; i++) {
            (LBFGSB_STEP)[i] = REAL_OF(from[k][i]);
            (LBFGSB_TEMP)[i] = REAL_OF(y[k][i]);
        }
        lbfgsb_remember(mi, s, R(1.0) > R(0.0));
    }
    mask bad = lbfgsb_middle_factor(mi, s, REAL_OF(theta));
    lbfgsb_cauchy(mi, s, REAL_OF(theta));
    bad = OR(bad, lbfgsb_subspace(mi, s, REAL_OF(theta)));
    lane_rows rows = rows_of_team(0, 1);
    for (u32 i = 0; i < SLOTS; i++) {
        STORE_ROWS(cauchy, rows, 0, i, (LBFGSB_CAUCHY)[i]);
        STORE_ROWS(to, rows, 0, i, (LBFGSB_STEP)[i]);
    }
    return ANY(bad);
}

static void words(const uint32_t *counter, const uint32_t *key, uint32_t *to)
{
    const philox_block b = philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
    memcpy(to, b.word, sizeof b.word);
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
extern const struct minimise_variant MINIMISE_VARIANT;
const struct minimise_variant MINIMISE_VARIANT = {TEXT(MINIMISE_VARIANT),
                                                  LANES,
                                                  PACK,
                                                  SLAB * sizeof(real),
                                                  DE_MEMORY(MODEL_SLOTS, 1) * sizeof(real),
                                                  lbfgsb,
                                                  de,
                                                  step,
                                                  words};
