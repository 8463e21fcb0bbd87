/* kappa_currents.h: currents between a spacecraft and its plasma, A/m^2 of a plane surface.
 *
 * Electrons have a kappa distribution. With s = E / E_0, E_0 = (kappa - 3/2) T, the part (1 + s)^-kappa (1 +
 * kappa s) lies above s; all is J = e n theta kappa^2 A(kappa) / (2 sqrt(pi) kappa (kappa - 1)). The
 * potential U shifts measured spectra: the plasma has E_0 + U, so T + U / (kappa - 3/2), which must be
 * positive.
 *   secondaries  electrons at E >= -U, arriving with y = E + U, times 11.1 z exp(-2 sqrt z), z = y / 500 eV
 *                (Sternglass, 1954); exp(-U / temperature) of them escape if U > 0 (Whipple, Rep. Prog.
 *                Phys. 44 (1981) 1197)
 *   ions         protons of temperature T: e n sqrt(e T / (2 pi m_p)), times sqrt(1 - U/T) or, repelled,
 *                exp(-U/T)
 * The secondaries' integral becomes smooth by y = E_S (exp(t^2) - 1), E_S = E_0 - U. CHARGING_NODES
 * Gauss-Legendre points err by 1e-11 for kappa below 10, 1e-9 up to 1000. */
#pragma once

#include "kappa/kappa_charging.h"
#include "kappa/kappa_distribution.h"
#include "numeric/sum.h"

#define CURRENT_UNIT 4.51965683953203e-20    /* e / (2 sqrt(pi)) */
#define CURRENT_OF_IONS 6.25571225141143e-16 /* e sqrt(e / (2 pi m_p)) */
#define CURRENT_ION_FLOOR 1e-6               /* eV added to ions */
#define CURRENT_YIELD 11.1
#define CURRENT_YIELD_UNIT 0.002 /* 1 / 500 eV */
#define CURRENT_PHOTO_COLD 1.07e-6
#define CURRENT_PHOTO_COLD_SLOPE -0.2 /* 1/V */
#define CURRENT_PHOTO_HOT 1.6e-8
#define CURRENT_PHOTO_HOT_SLOPE -0.016666666666666666
/* electron mass of the sums, 5.68563e-12 eV s^2/m^2, over kappa_distribution.h's */
#define CURRENT_SUMS_MASS 0.9999999817846534

TABLE(elem, current_nodes,
      CHARGING_NODES) = {ELEM(0.0024063900014893447), ELEM(0.012635722014345263), ELEM(0.030862723998633601),
                         ELEM(0.056792236497799464),  ELEM(0.089999007013048526), ELEM(0.12993790421072282),
                         ELEM(0.17595317403151223),   ELEM(0.22728926430558022),  ELEM(0.28310324618697746),
                         ELEM(0.3424786601519183),    ELEM(0.40444056626319186),  ELEM(0.46797155356869719),
                         ELEM(0.53202844643130276),   ELEM(0.5955594337368082),   ELEM(0.6575213398480817),
                         ELEM(0.71689675381302254),   ELEM(0.77271073569441984),  ELEM(0.82404682596848777),
                         ELEM(0.87006209578927718),   ELEM(0.91000099298695147),  ELEM(0.94320776350220048),
                         ELEM(0.96913727600136634),   ELEM(0.98736427798565474),  ELEM(0.99759360999851066)};
/* Weights of the first half; the others mirror them. */
TABLE(elem, current_weights, CHARGING_NODES / 2) = {
    ELEM(0.0061706148999943452), ELEM(0.01426569431446678),  ELEM(0.022138719408709706),
    ELEM(0.02964929245771818),   ELEM(0.036673240705540081), ELEM(0.043095080765976602),
    ELEM(0.048809326052056963),  ELEM(0.053722135057982782), ELEM(0.057752834026862758),
    ELEM(0.060835236463901647),  ELEM(0.062918728173414123), ELEM(0.06396909767337601)};

typedef struct {
    real density, kappa, theta;
} kappa_plasma;

/* Shifted by a potential. */
typedef struct {
    real density, kappa, temperature, scale; /* scale: E_0, eV */
    real flux;                               /* e n theta kappa^2 A / (2 sqrt(pi)) */
    mask there;                              /* else other members are placeholders */
} current_plasma;

FN current_plasma current_plasma_at(kappa_plasma plasma, real potential)
{
    current_plasma p;
    const real kappa = plasma.kappa, above = kappa - R(1.5);
    const real temperature = kappa_temperature(kappa, plasma.theta) + DIVIDE(potential, above);
    p.there = temperature > R(0.0);
    p.density = plasma.density;
    p.kappa = kappa;
    p.temperature = SELECT(p.there, temperature, R(1.0));
    p.scale = above * p.temperature;
    p.flux = flush(flush(flush(R(CURRENT_UNIT) * p.density) * kappa_theta_of(kappa, p.temperature)) *
                   ((kappa * kappa) * kappa_normalise(kappa).value));
    return p;
}

/* Electrons above s E_0, in units of `flux`. */
FN real current_above(real kappa, real s)
{
    const real part = flush(kappa_exp(-kappa * kappa_log1p(s)));
    return flush(DIVIDE(flush(part * FMA(kappa, s, R(1.0))), kappa * (kappa - R(1.0))));
}

FN real current_electrons(current_plasma p, real lower, real upper)
{
    const real inverse = DIVIDE(R(1.0), p.scale);
    const real part = current_above(p.kappa, lower * inverse) - current_above(p.kappa, upper * inverse);
    return SELECT(lower < upper, flush(p.flux * part), R(0.0));
}

FN real current_yield(real energy)
{
    const real z = SELECT(energy > R(0.0), energy * R(CURRENT_YIELD_UNIT), R(0.0));
    return flush((R(CURRENT_YIELD) * z) * kappa_exp(R(-2.0) * SQRT(z)));
}

FN real current_photoelectrons(real potential)
{
    return FMA(R(CURRENT_PHOTO_COLD), kappa_exp(R(CURRENT_PHOTO_COLD_SLOPE) * potential),
               R(CURRENT_PHOTO_HOT) * kappa_exp(R(CURRENT_PHOTO_HOT_SLOPE) * potential));
}

/* Its derivative; *value: the current, rounded once more. */
FN real current_photo_slope(real potential, PRIVATE real *value)
{
    const real cold = R(CURRENT_PHOTO_COLD) * kappa_exp(R(CURRENT_PHOTO_COLD_SLOPE) * potential),
               hot = R(CURRENT_PHOTO_HOT) * kappa_exp(R(CURRENT_PHOTO_HOT_SLOPE) * potential);
    *value = cold + hot;
    return FMA(R(CURRENT_PHOTO_COLD_SLOPE), cold, R(CURRENT_PHOTO_HOT_SLOPE) * hot);
}

/* Secondary electrons that escape. */
FN real current_secondaries(GLOBAL real *s, current_plasma p, real potential, real lower, real upper,
                            real secondary_energy)
{
    const real zero = R(0.0), kappa = p.kappa, spectrum = p.scale - potential;
    const mask some = AND(lower < upper, lower + potential >= zero);
    const real inverse = DIVIDE(R(1.0), spectrum), to = DIVIDE(spectrum, p.scale);
    const real from2 = kappa_log1p(SELECT(some, lower + potential, zero) * inverse);
    const real end2 = kappa_log1p(SELECT(some, upper + potential, R(1.0)) * inverse);
    /* beyond, exp(-kappa t^2) leaves nothing of the integrand */
    const real most2 = from2 + DIVIDE(R(44.0), SELECT(kappa > R(2.5), kappa - R(1.9), R(0.6)));
    const real from = SQRT(from2), span = SQRT(SELECT(end2 < most2, end2, most2)) - from;
    const real shift = kappa_log(to);
    TEAM_BARRIER();
    TEAM_FOR(i, CHARGING_NODES) {
        const real t = FMA(span, REAL_OF(current_nodes[i]), from), t2 = t * t;
        const real y = spectrum * (kappa_exp(t2) - R(1.0));
        const real z = SELECT(y > zero, y * R(CURRENT_YIELD_UNIT), zero);
        const real part = kappa_exp(FMA(-kappa, t2 + shift, R(-2.0) * SQRT(z)));
        s[i] = flush(
            flush(flush((REAL_OF(current_weights[i < CHARGING_NODES / 2 ? i : CHARGING_NODES - 1 - i]) * t) *
                        z) *
                  (y - potential)) *
            part);
    }
    TEAM_BARRIER();
    const real sum = sum8(s, CHARGING_NODES);
    const real escape =
        kappa_exp(SELECT(potential > zero, flush(DIVIDE(-potential, secondary_energy)), zero));
    const real all =
        flush(flush((R(2.0) * R(CURRENT_YIELD)) * flush(DIVIDE(flush(span * sum), p.scale))) * p.flux);
    return SELECT(some, flush(all * escape), zero);
}

FN real current_ions(current_plasma p, real potential)
{
    const real temperature = p.temperature + R(CURRENT_ION_FLOOR),
               ratio = flush(DIVIDE(potential, temperature));
    const mask repelled = potential > R(0.0);
    const real attracted = SQRT(SELECT(repelled, R(1.0), R(1.0) - ratio));
    return flush(flush(R(CURRENT_OF_IONS) * p.density) * SQRT(temperature)) *
           SELECT(repelled, kappa_exp(SELECT(repelled, -ratio, R(0.0))), attracted);
}

/* Currents in shade. */
typedef struct {
    real electrons, secondaries, ions;
    real net;   /* positive: charges up */
    mask there; /* else currents are 0 and net is 1e12 */
} currents;

/* Trapezoids from |U| on: they jump where U passes an energy. */
FN void current_sums(CONSTANT elem *mr, GLOBAL real *s, current_plasma p, real potential,
                     PRIVATE real *electrons, PRIVATE real *secondaries)
{
    const real zero = R(0.0), size = SELECT(potential < zero, -potential, potential),
               inverse = DIVIDE(R(1.0), p.scale * R(CURRENT_SUMS_MASS));
    TEAM_BARRIER();
    TEAM_FOR(i, CHARGING_GRID_TERMS) {
        const real before = LOADM1(mr, CHARGING_GRID + (i ? i - 1 : 0)),
                   energy = LOADM1(mr, CHARGING_GRID + i), after = LOADM1(mr, CHARGING_GRID + i + 1);
        const real width = R(0.5) * ((after - energy) + SELECT(before >= size, energy - before, zero));
        const real x = energy * inverse;
        const real flux = flush((x * kappa_exp(-(p.kappa + R(1.0)) * kappa_log1p(x))) * inverse);
        const real term = SELECT(energy >= size, flush(flux * width), zero);
        s[i] = term;
        s[CHARGING_GRID_TERMS + i] = flush(term * current_yield(energy - size));
    }
    TEAM_BARRIER();
    *electrons = flush(p.flux * sum8(s, CHARGING_GRID_TERMS));
    *secondaries = flush(p.flux * sum8(s + CHARGING_GRID_TERMS, CHARGING_GRID_TERMS));
}

FN_LARGE currents currents_at(CONSTANT elem *mr, GLOBAL real *s, u32 rule, kappa_plasma plasma,
                              real potential)
{
    const real zero = R(0.0);
    const current_plasma p = current_plasma_at(plasma, potential);
    currents c;
    real electrons = zero, secondaries = zero;
    TEAM_IF(rule == CHARGING_SUMS) current_sums(mr, s, p, potential, &electrons, &secondaries);
    TEAM_IF(rule != CHARGING_SUMS) {
        const real least = LOADM1(mr, CHARGING_SHADE_LOWER), upper = LOADM1(mr, CHARGING_SHADE_UPPER);
        const real lower = SELECT(-potential > least, -potential, least);
        electrons = current_electrons(p, lower, upper);
        secondaries =
            current_secondaries(s, p, potential, lower, upper, LOADM1(mr, CHARGING_SECONDARY_ENERGY));
    }
    c.there = p.there;
    c.electrons = SELECT(p.there, electrons, zero);
    c.secondaries = SELECT(p.there, secondaries, zero);
    c.ions = SELECT(p.there, current_ions(p, SELECT(p.there, potential, zero)), zero);
    c.net = SELECT(p.there, (c.secondaries + c.ions) - c.electrons, R(1e12));
    return c;
}
