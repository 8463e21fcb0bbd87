/* kappa_misfit.h: the misfit of a kappa distribution and its derivatives in (y, kappa, t) (kappa_arrays.h).
 *
 * With u = ln(folded model), a row's misfit D(u), and E >= 0 the expected D'':
 *   gradient = sum D' u_a,   Hessian = sum D'' u_a u_b + D' u_ab,   Fisher matrix = sum E u_a u_b
 *
 * By counts, mu = sensitivity x model, N = sensitivity x flux, s = systematic (0: Poisson):
 *   D = 2 [N ln(N / mu) - (N + 1/s^2) ln((1 + s^2 N) / (1 + s^2 mu))]    (negative binomial)
 *     = 2 [N log1p(a) - log1p(b) / s^2],   a = (N - mu) / (mu (1 + s^2 N)),   b = s^2 (N - mu) / (1 + s^2 mu)
 * A background b adds to the model: mu = sensitivity x (model + b). With part = model / (model + b), and the
 * derivatives by ln mu,
 *   D' = part D'_mu,   D'' = part (part D''_mu + (1 - part) D'_mu),   E = part^2 E_mu
 * Empty row: -2 ln(alive exp(-D/2) + dead). */
#pragma once

#include "kappa/kappa_arrays.h"
#include "kappa/kappa_distribution.h"
#include "kappa/kappa_response.h"
#include "numeric/sum.h"

#define FIT_PARAMETERS CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL real *s
#define FIT_ARGUMENTS mi, mr, s

#define MISFIT_FLOOR 1e-6
#define MISFIT_LEAST_MEAN 1e-20
#define MISFIT_ORIGINAL 0.0125 /* 0.05^2 + 0.1^2 */

#define SUM_VALUE 0
#define SUM_GRADIENT 1 /* y, kappa, t */
#define SUM_HESSIAN 4  /* yy, y kappa, y t, kappa kappa, kappa t, t t */
#define SUM_FISHER 10

/* Counts of a row without those of its background: information on the logarithm of its flux. */
FN pack load_counts_for(FIT_PARAMETERS, pack flux, pack background, pack expected)
{
    const pack counts_for = PDIVIDE(expected, PFMA(PACK_OF_ELEM(mr[KAPPA_SYSTEMATIC]), expected, PK(1.0)));
    const pmask covered = AND(background > PK(0.0), flux > PK(0.0));
    const pack part = PDIVIDE(flux - background, PSELECT(covered, flux, PK(1.0)));
    return PSELECT(covered, pflush(counts_for * pflush(part * part)), counts_for);
}

FN_LARGE void misfit_load(FIT_PARAMETERS, GLOBAL const elem *in, lane_rows rows)
{
    GLOBAL real *data = s + KAPPA_S_DATA;
    const u32 weights = mi[KAPPA_WEIGHTS];
    TEAM_FOR(i, SPECTRUM_SIZE) data[i] = LOAD_ROWS(in, rows, SPECTRUM_SIZE, i);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, SPECTRUM_SLOTS_OF(mi)) {
        const pack energy = LOADP(data, SPECTRUM_ENERGY + i), flux = LOADP(data, SPECTRUM_FLUX + i),
                   zero = PK(0.0), floor = PK(MISFIT_FLOOR);
        const pack background = LOADP(data, SPECTRUM_BACKGROUND + i);
        const pmask used = flux >= zero, some = flux > background;
        const pack f = PSELECT(used, flux, zero), given = LOADP(data, SPECTRUM_GAIN + i);
        pack gain = given, expected = pflush(given * f), counts_for;
        if (weights == 0) {
            counts_for = load_counts_for(FIT_ARGUMENTS, f, background, expected);
            STOREP(data, SPECTRUM_BACKGROUND + i, pflush(given * background));
        } else {
            if (weights == 1) {
                const pack sigma =
                    PDIVIDE(PSQRT(PFMA(PK(MISFIT_ORIGINAL) * given, given, given)), given + floor) * f;
                gain = PDIVIDE(PK(1.0), PDIVIDE(sigma, f + floor) + (floor + floor));
            } else
                gain = PK(1.0);
            expected = m_log(f + floor);
            counts_for = gain * gain;
        }
        gain = PSELECT(used, gain, zero);
        STOREP(data, SPECTRUM_GAIN + i, gain);
        STOREP(s + KAPPA_S_EXPECTED, i, expected);
        STOREP(s + KAPPA_S_LOG_ENERGY, i, m_log(PSELECT(energy > zero, energy, PK(1.0))));
        const pack channel = LOADP(data, SPECTRUM_CHANNEL + i);
        STOREP(s + KAPPA_S_LOG_CHANNEL, i, m_log(PSELECT(channel > zero, channel, PK(1.0))));
        STOREP(
            s + KAPPA_S_GAINED, i,
            PSELECT(energy > zero, pflush(PDIVIDE(channel, PSELECT(energy > zero, energy, PK(1.0)))), zero));
        /* with a held density empty rows count in starts if they have a logarithm */
        const pmask speaks = mi[KAPPA_DENSITY_HELD] && weights != 0 ? used : some;
        STOREP(s + KAPPA_S_LOG_FLUX, i, m_log(PSELECT(some, f - background, PK(1.0))));
        STOREP(s + KAPPA_S_COUNTS_FOR, i, PSELECT(speaks, counts_for, zero));
    }
    TEAM_IF(mi[KAPPA_FOLDED]) {
        response_prepare(mi, s + KAPPA_S_RESPONSE, data + SPECTRUM_CHANNEL, s + KAPPA_S_LOG_CHANNEL,
                         s + KAPPA_S_GAINED, LOADM1(mr, KAPPA_SHARPNESS));
    }
    TEAM_BARRIER();
}

typedef struct {
    pack value, slope, curvature, expectation; /* D, D', D'', E */
} row_terms;

/* ln(1 + x); raised: 1 + x, more accurate near x = -1. */
FN pack log_raised(pack x, pack raised)
{
    const pmask low = x < PK(-0.5);
    pack l = m_log1p(PSELECT(low, PK(0.0), x));
    if (PANY(low)) l = PSELECT(low, m_log(PSELECT(raised > PK(0.0), raised, PK(MISFIT_LEAST_MEAN))), l);
    return l;
}

FN row_terms row_by_counts(FIT_PARAMETERS, pack n, pack mean)
{
    const pack one = PK(1.0), two = PK(2.0), systematic = PACK_OF_ELEM(mr[KAPPA_SYSTEMATIC]);
    const pmask poisson = systematic <= PK(0.0), empty = n <= PK(0.0);
    const pack floored = PSELECT(mean > PK(MISFIT_LEAST_MEAN), mean, PK(MISFIT_LEAST_MEAN));
    const pack d = n - mean, by_n = PFMA(systematic, n, one), by_mean = PFMA(systematic, mean, one);
    /* of a, and of terms that cancel for n near the mean */
    const pack ratio = pflush(PDIVIDE(d, floored));
    const pack a = PSELECT(empty, PK(0.0), pflush(PDIVIDE(ratio, by_n))),
               b = pflush(PDIVIDE(systematic * d, by_mean));
    const pack inverse = PDIVIDE(one, PSELECT(poisson, one, systematic));
    const pack far = PFMA(n, log_raised(a, pflush(PDIVIDE(n, floored)) * PDIVIDE(by_mean, by_n)),
                          -PSELECT(poisson, d, log_raised(b, PDIVIDE(by_n, by_mean)) * inverse));
    const pack close = PFMA(pflush(PDIVIDE(d, by_mean)), a,
                            PFMA(-n, m_deviance(a), PSELECT(poisson, PK(0.0), m_deviance(b) * inverse)));
    row_terms r;
    r.value = two * PSELECT(AND(PNOT(empty), m_abs(ratio) < PK(0.5)), close, far);
    const pack share = pflush(PDIVIDE(mean, by_mean));
    r.slope = PDIVIDE(PK(-2.0) * d, by_mean);
    r.expectation = two * share;
    r.curvature = r.expectation * PDIVIDE(by_n, by_mean);
    /* an empty row */
    const pack dead = PACK_OF_ELEM(mr[KAPPA_DEAD]);
    const pmask mixed = AND(empty, dead > PK(0.0));
    if (PANY(mixed)) {
        const pack alive = PACK_OF_ELEM(mr[KAPPA_ALIVE]) * m_exp(PK(-0.5) * r.value),
                   total = alive + PSELECT(mixed, dead, one), part = pflush(PDIVIDE(alive, total));
        const pack halved = PK(0.5) * r.slope; /* `half` is an OpenCL type */
        r.value = PSELECT(mixed, PK(-2.0) * m_log(total), r.value);
        r.curvature =
            PSELECT(mixed, part * (r.curvature - pflush((one - part) * halved) * r.slope), r.curvature);
        r.slope = PSELECT(mixed, part * r.slope, r.slope);
        r.expectation = PSELECT(mixed, part * r.expectation, r.expectation);
    }
    return r;
}

/* The same with a mean of which the plasma brings `own`, the rest a background. */
FN row_terms row_above_background(FIT_PARAMETERS, pack n, pack own, pack background)
{
    const pmask covered = background > PK(0.0);
    row_terms r = row_by_counts(FIT_ARGUMENTS, n, own + background);
    if (PANY(covered)) {
        const pack part = PDIVIDE(own, PSELECT(covered, own + background, PK(1.0)));
        const pack rest = pflush((PK(1.0) - part) * r.slope);
        r.curvature = PSELECT(covered, part * PFMA(part, r.curvature, rest), r.curvature);
        r.slope = PSELECT(covered, part * r.slope, r.slope);
        r.expectation = PSELECT(covered, pflush(part * part) * r.expectation, r.expectation);
    }
    return r;
}

FN row_terms row_by_logarithm(pack expected, pack weight, pack model)
{
    const pack raised = model + PK(MISFIT_FLOOR), part = PDIVIDE(model, raised);
    const pack rest = weight * (m_log(raised) - expected), wide = weight * part;
    row_terms r;
    r.value = rest * rest;
    r.slope = (rest + rest) * wide;
    r.expectation = (wide + wide) * wide;
    r.curvature = PFMA(r.slope, PK(1.0) - part, r.expectation);
    return r;
}

/* Six arrays: flux; derivatives of ln(flux), or of the flux for folding, by kappa, t, both. */
FN void misfit_model(FIT_PARAMETERS, real y, real kappa, real t)
{
    GLOBAL real *model = s + KAPPA_S_MODEL;
    const u32 folded = mi[KAPPA_FOLDED];
    const real density = R(KAPPA_UNIT_DENSITY) * kappa_exp(y), theta = R(KAPPA_UNIT_THETA) * kappa_exp(t);
    const kappa_normalisation a = kappa_normalise(kappa);
    const kappa_shape shape = kappa_shape_with(density, kappa, theta, a.value);
    const pack one = PK(1.0), k = PACK_OF(kappa), more = PACK_OF(kappa + R(1.0)),
               inverse = shape.inverse_kappa, inverse2 = inverse * inverse;
    TEAM_FOR_PACK(i, SPECTRUM_SLOTS_OF(mi)) {
        const pack q = LOADP(s, KAPPA_S_DATA + SPECTRUM_ENERGY + i) * shape.unit, l = m_log1p(q * inverse);
        const pack flux = pflush(pflush(shape.scale * q) * m_exp(-more * l));
        const pack r = PDIVIDE(one, k + q), c = q * r, cr = c * r; /* powers of q / kappa */
        const pack by_kappa = PACK_OF(a.slope) - PFMA(-more * c, inverse, l),
                   by_t = PFMA(PK(2.0) * more, c, PK(-3.0));
        pack kappa_kappa = PFMA(cr * inverse2, PFMA(k - one, q, PK(-2.0) * k), PACK_OF(a.curvature));
        pack kappa_t = PK(2.0) * (q - one) * cr, t_t = PK(-4.0) * (k * more) * cr;
        kappa_kappa = PSELECT(q > PK(0.0), kappa_kappa, PK(0.0));
        const pack weight = folded ? flux : one;
        if (folded) {
            kappa_kappa = PFMA(by_kappa, by_kappa, kappa_kappa);
            kappa_t = PFMA(by_kappa, by_t, kappa_t);
            t_t = PFMA(by_t, by_t, t_t);
        }
        const pack d[KAPPA_MODELS - 1] = {by_kappa, by_t, kappa_kappa, kappa_t, t_t};
        STOREP(model, i, flux);
        UNROLL for (u32 k = 1; k < KAPPA_MODELS; k++)
            STOREP(model, k * SPECTRUM_SLOTS + i, pflush(weight * d[k - 1]));
    }
    TEAM_BARRIER();
}

FN void misfit_rows(FIT_PARAMETERS, u32 i)
{
    GLOBAL const real *model = s + KAPPA_S_MODEL, *response = s + KAPPA_S_RESPONSE;
    GLOBAL real *terms = s + KAPPA_S_TERMS;
    const u32 folded = mi[KAPPA_FOLDED];
    pack m[KAPPA_MODELS];
    UNROLL for (u32 k = 0; k < KAPPA_MODELS; k++)
    {
        m[k] = LOADP(model, k * SPECTRUM_SLOTS + i);
        if (folded) m[k] = response_fold(mi, response, model + k * SPECTRUM_SLOTS, i);
    }
    pack flux = m[0], by_kappa = m[1], by_t = m[2], kappa_kappa = m[3], kappa_t = m[4], t_t = m[5];
    if (folded) {
        const pack inverse = PDIVIDE(PK(1.0), PSELECT(flux > PK(MISFIT_LEAST_MEAN), flux, PK(1.0)));
        by_kappa = pflush(by_kappa * inverse);
        by_t = pflush(by_t * inverse);
        kappa_kappa = PFMA(kappa_kappa, inverse, -by_kappa * by_kappa);
        kappa_t = PFMA(kappa_t, inverse, -by_kappa * by_t);
        t_t = PFMA(t_t, inverse, -by_t * by_t);
    }
    const pack gain = LOADP(s, KAPPA_S_DATA + SPECTRUM_GAIN + i), expected = LOADP(s, KAPPA_S_EXPECTED + i),
               zero = PK(0.0);
    row_terms r;
    if (mi[KAPPA_WEIGHTS] == 0)
        r = row_above_background(FIT_ARGUMENTS, expected, pflush(gain * flux),
                                 LOADP(s, KAPPA_S_DATA + SPECTRUM_BACKGROUND + i));
    else
        r = row_by_logarithm(expected, gain, flux);
    const pmask used = gain > zero;
    const pack slope = pflush(PSELECT(used, r.slope, zero)),
               curvature = pflush(PSELECT(used, r.curvature, zero)),
               expectation = pflush(PSELECT(used, r.expectation, zero));
    const pack h_kappa = pflush(curvature * by_kappa), h_t = pflush(curvature * by_t),
               e_kappa = pflush(expectation * by_kappa), e_t = pflush(expectation * by_t);
#define TERM(k, v) STOREP(terms, SPECTRUM_SLOTS *(k) + i, v)
    TERM(SUM_VALUE, PSELECT(used, r.value, zero));
    TERM(SUM_GRADIENT, slope);
    TERM(SUM_GRADIENT + 1, pflush(slope * by_kappa));
    TERM(SUM_GRADIENT + 2, pflush(slope * by_t));
    TERM(SUM_HESSIAN, curvature);
    TERM(SUM_HESSIAN + 1, h_kappa);
    TERM(SUM_HESSIAN + 2, h_t);
    TERM(SUM_HESSIAN + 3, pflush(PFMA(h_kappa, by_kappa, slope * kappa_kappa)));
    TERM(SUM_HESSIAN + 4, pflush(PFMA(h_kappa, by_t, slope * kappa_t)));
    TERM(SUM_HESSIAN + 5, pflush(PFMA(h_t, by_t, slope * t_t)));
    TERM(SUM_FISHER, expectation);
    TERM(SUM_FISHER + 1, e_kappa);
    TERM(SUM_FISHER + 2, e_t);
    TERM(SUM_FISHER + 3, pflush(e_kappa * by_kappa));
    TERM(SUM_FISHER + 4, pflush(e_kappa * by_t));
    TERM(SUM_FISHER + 5, pflush(e_t * by_t));
#undef TERM
}

/* KAPPA_S_SUMS is ready for all workers. */
FN_LARGE void misfit_evaluate(FIT_PARAMETERS, real y, real kappa, real t)
{
    misfit_model(FIT_ARGUMENTS, y, kappa, t);
    TEAM_FOR_PACK(i, SPECTRUM_SLOTS_OF(mi)) misfit_rows(FIT_ARGUMENTS, i);
    TEAM_BARRIER();
    TEAM_FOR(k, KAPPA_SUMS)
        s[KAPPA_S_SUMS + k] = sum8(s + KAPPA_S_TERMS + SPECTRUM_SLOTS * k, SPECTRUM_SLOTS_OF(mi));
    TEAM_BARRIER();
}
