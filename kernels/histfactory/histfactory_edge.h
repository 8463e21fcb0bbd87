/* histfactory_edge.h: the likelihood beyond its domain, and minima on the domain's edge.
 *
 * A bin's rate must be positive if the bin has entries, and not negative if it is empty. While MODEL_REACH is
 * above 0, a bin's term goes on as a parabola below a knee, so that a fit may start or step outside:
 *
 *   n > 0   knee = REACH n; value, slope and curvature are the term's own at the knee
 *   n = 0   knee = least + e, or 0 if e = 0; value lambda + rho (lambda - knee)^2 / 2: augmented Lagrangian
 *           of lambda >= least, multiplier rho e (Nocedal, Wright, Numerical Optimization, 2nd ed., 17.4)
 *
 * An empty bin keeps -e in MAIN. Its scale is the sum of its nominal rates: least = HF_EDGE scale, a rate of
 * 0 that rounding cannot make negative; rho = STIFFNESS (1 / scale^2 + 1 / scale). */
#pragma once

#include "numeric/deviance.h"
#include "histfactory/histfactory_records.h"

#if F64
#define HF_EDGE PK(1e-13)
#else
#define HF_EDGE PK(4e-6)
#endif
#define HF_SCALE_LEAST PK(1e-12) /* less: no rates, no boundary */

#define HF_REACH (s[mi[HF_S_SCALARS_OF_FIT] + HF_FIT_REACH])
#define HF_STIFFNESS (s[mi[HF_S_SCALARS_OF_FIT] + HF_FIT_STIFFNESS])

FN pack hf_bin_scale(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b)
{
    pack sum = PK(0.0);
    for (u32 u = 0; u < ch->units; u++) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + u);
        const u32 varies = un->varied != HF_NOT_VARIED;
        GLOBAL const real *row =
            s + (varies ? mi[HF_S_VARIED] + un->varied + panel * HF_VARIED_PANEL(un->histosys_count) : 0);
        pack rate = hf_number(hf_numbers_of(HF_R(NOMINAL) + hf_cell_at(ch, panel, u), row, varies), b);
        if (hf_is_logarithmic(mr, un)) rate = m_exp(rate);
        sum = sum + PSELECT(rate < PK(0.0), -rate, rate);
        if (ch->mcstat > 0) sum = sum + hf_mcstat_error(mi, mr, ch, panel, u, b);
    }
    return sum;
}

/* Bins of a channel with mcstat that have an edge: empty ones, with a rate of 0 or more without the error.
 * Others keep their clip, the best that gamma can do there. */
FN pmask hf_mcstat_has_edge(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, pack n)
{
    const u32 bin = hf_first_bin(ch, panel) + b;
    const pack error = pflush(hf_mcstat_gamma(HF, ch, panel, b) * LOADP(HF_S(MCSTAT_R), bin));
    return hf_mcstat_rises(mi, mr, ch, pflush(LOADP(HF_S(MCSTAT_RATE), bin) - error), n);
}

/* A bin's term where REACH is above 0; `here`: bins whose own term it replaces. */
typedef struct {
    pmask here;
    pack value, slope, curvature;
} hf_continued;

FN hf_continued hf_continue(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, pack lambda, pack n)
{
    hf_continued c;
    const pack zero = PK(0.0), one = PK(1.0), reach = PACK_OF(HF_REACH);
    const pack own_scale = hf_bin_scale(HF, ch, panel, b);
    const pmask limited = own_scale > HF_SCALE_LEAST;
    const pack scale = PSELECT(limited, own_scale, one), inverse = PDIVIDE(one, scale),
               rho = pflush(PACK_OF(HF_STIFFNESS) * pflush(PFMA(inverse, inverse, inverse)));
    const pmask counted = n > zero;
    const pack edge = PSELECT(n < zero, pflush(PFMA(HF_EDGE, scale, -n)), zero),
               knee = PSELECT(counted, pflush(reach * n), edge);
    const pmask below = lambda < knee;
    const pack safe = PSELECT(AND(counted, knee > zero), knee, one), own_slope = poisson_slope(safe, n);
    const pack slope = PSELECT(counted, own_slope, one),
               curvature = PSELECT(counted, pflush(PDIVIDE(pflush(PDIVIDE(n, safe)), safe)), rho),
               value = PSELECT(counted, poisson_term(safe - n, safe, n, own_slope, PACK_OF(HF_HUGE)), lambda),
               beyond = PSELECT(below, pflush(lambda - knee), zero);
    c.here = AND(reach > zero, OR(AND(counted, below), AND(limited, n <= zero)));
    if (ch->mcstat > 0) c.here = AND(c.here, hf_mcstat_has_edge(HF, ch, panel, b, n));
    c.curvature = PSELECT(below, curvature, zero);
    c.slope = pflush(PFMA(curvature, beyond, slope));
    const pack linear = PSELECT(counted, pflush(own_slope * beyond), zero);
    c.value = pflush(value + PFMA(pflush(PK(0.5) * curvature * beyond), beyond, linear));
    return c;
}

/* ---- over all bins, with the rates of HF_S_X ---- */

/* Largest of DEVIANCE, scratch between two evaluations. */
FN real hf_largest_of_bins(HF_PARAMETERS)
{
    GLOBAL real *found = HF_S(SCALARS_OF_FIT) + HF_FIT_VALUE;
    GLOBAL const real *bins = HF_S(DEVIANCE);
    TEAM_BARRIER();
    ONE_WORKER
    {
        real largest = R(0.0);
        for (u32 i = 0; i < 8 * mi[HF_PANELS]; i++) largest = SELECT(bins[i] > largest, bins[i], largest);
        found[0] = largest;
    }
    TEAM_BARRIER();
    return found[0];
}

/* Lanes with a rate below `part` of an empty bin's scale, or of the entries. */
FN_LARGE mask hf_is_near_edge(HF_PARAMETERS, real part)
{
    TEAM_FOR(panel, mi[HF_PANELS]) {
        hf_panel pn = hf_panel_of(mi, panel);
        hf_channel ch = hf_channel_of(mi, pn->channel);
        for (u32 b = 0; b < pn->bins; b += PACK) {
            const u32 bin = panel * 8 + b;
            const pack n = LOADP(HF_S(MAIN), bin), scale = hf_bin_scale(HF, ch, pn->index, b);
            const pack lambda = hf_own_lambda(HF, ch, pn->index, b),
                       least = pflush(PACK_OF(part) * PSELECT(n > PK(0.0), n, scale));
            pmask near = lambda < least;
            if (ch->mcstat > 0)
                near = AND(near, AND(lambda > -least, hf_mcstat_has_edge(HF, ch, pn->index, b, n)));
            STOREP(HF_S(DEVIANCE), bin, PSELECT(near, PK(1.0), PK(0.0)));
        }
    }
    return hf_largest_of_bins(HF) > R(0.0);
}

/* New multipliers in `lanes`, from a minimum with the old ones. Returns the worst bin's distance from its
 * conditions in units of `least`; HF_HUGE if a bin with entries is below its knee. */
FN_LARGE real hf_settle(HF_PARAMETERS, mask lanes)
{
    const pack zero = PK(0.0);
    const pmask own = PACK_OF(SELECT(lanes, R(1.0), R(0.0))) > zero;
    TEAM_FOR(panel, mi[HF_PANELS]) {
        hf_panel pn = hf_panel_of(mi, panel);
        hf_channel ch = hf_channel_of(mi, pn->channel);
        for (u32 b = 0; b < pn->bins; b += PACK) {
            const u32 bin = panel * 8 + b;
            const pack n = LOADP(HF_S(MAIN), bin), lambda = LOADP(HF_S(LAMBDA), bin),
                       scale = hf_bin_scale(HF, ch, pn->index, b), least = pflush(HF_EDGE * scale);
            pmask counted = n > zero, limited = AND(n <= zero, scale > HF_SCALE_LEAST);
            if (ch->mcstat > 0) {
                counted = zero > zero;
                limited = AND(limited, hf_mcstat_has_edge(HF, ch, pn->index, b, n));
            }
            const pmask open = AND(n >= zero, lambda >= zero);
            const pack room = pflush(lambda - least), e = -n, next = PSELECT(open, zero, pflush(e - room)),
                       off = PSELECT(open, zero, PSELECT(room < e, room, e)),
                       far = PSELECT(lambda < PACK_OF(HF_REACH) * n, PACK_OF(HF_HUGE), zero);
            const pack distance = PDIVIDE(PSELECT(off < zero, -off, off), PSELECT(limited, least, PK(1.0)));
            STOREP(HF_S(DEVIANCE), bin, PSELECT(counted, far, PSELECT(limited, pflush(distance), zero)));
            STOREP(HF_S(MAIN), bin, PSELECT(AND(own, limited), PSELECT(next > zero, -next, zero), n));
        }
    }
    return hf_largest_of_bins(HF);
}

/* Back to the domain alone: no multipliers. */
FN void hf_keep_domain(HF_PARAMETERS)
{
    GLOBAL real *n = HF_S(MAIN);
    TEAM_FOR_PACK(i, 8 * mi[HF_PANELS]) STOREP(n, i, PSELECT(LOADP(n, i) > PK(0.0), LOADP(n, i), PK(0.0)));
    ONE_WORKER
    {
        HF_REACH = R(0.0);
    }
    TEAM_BARRIER();
}

/* Multipliers stay: e rho is theirs. */
FN void hf_stiffen(HF_PARAMETERS, real factor)
{
    GLOBAL real *n = HF_S(MAIN);
    const pack part = PDIVIDE(PK(1.0), PACK_OF(factor));
    TEAM_FOR_PACK(i, 8 * mi[HF_PANELS])
        STOREP(n, i, PSELECT(LOADP(n, i) < PK(0.0), pflush(LOADP(n, i) * part), LOADP(n, i)));
    ONE_WORKER
    {
        HF_STIFFNESS = HF_STIFFNESS * factor;
    }
    TEAM_BARRIER();
}
