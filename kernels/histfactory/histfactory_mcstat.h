/* histfactory_mcstat.h: the error of a bin's templates as one additive parameter (Barlow-Beeston).
 *
 *   lambda += gamma R,  R = sqrt(sum over units of (G e)^2),  G = F Phi
 *   R'  = sum of q G',  q = G e^2 / R
 *   R'' = sum of q G'' + sum of e^2 / R G' G'^T - R' R'^T / R
 *
 * So R' is that of units with rates q G, and q G'' joins what T makes of them. MCSTAT_SUM has the weight of
 * G' G'^T over F^2. R is 0 where a signal strength is 0: derivatives are those from above, q the limit from
 * there, and R'' has q G'' alone.
 *
 * lambda is clipped from below, and does not change there. But an empty bin of rate 0 counts as rising: a
 * signal strength at its bound of 0 sees it. Where gamma would take an empty bin below 0, the minimum is at
 * lambda = 0: histfactory_edge.h finds it, with lambda before its clip. */
#pragma once

#include "numeric/sum.h"
#include "histfactory/histfactory_records.h"

/* G of the channel's unit u; `limit`: without scalars that are 0. */
FN real hf_mcstat_factor(HF_PARAMETERS, hf_channel ch, u32 u, u32 limit)
{
    const u32 unit = ch->first_unit + u;
    hf_unit un = hf_unit_of(mi, unit);
    CONSTANT u32 *slot = HF_I(SCALAR_SLOT) + un->scalars;
    real phi = s[mi[HF_S_PHI] + unit];
    if (limit) {
        phi = R(1.0);
        for (u32 k = 0; k < un->scalar_count; k++) {
            const real x = s[mi[HF_S_X] + slot[k]];
            phi = flush(phi * SELECT(x == R(0.0), R(1.0), x));
        }
    }
    return flush(s[mi[HF_S_F] + unit] * phi);
}

FN pack hf_mcstat_root(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, u32 limit)
{
    pack squares = PK(0.0);
    for (u32 u = 0; u < ch->units; u++) {
        const pack error =
            pflush(PACK_OF(hf_mcstat_factor(HF, ch, u, limit)) * hf_mcstat_error(mi, mr, ch, panel, u, b));
        squares = PFMA(error, error, squares);
    }
    return PSQRT(pflush(squares));
}

FN pack hf_mcstat_invert(pack r)
{
    const pmask some = r > PK(0.0);
    return PSELECT(some, PDIVIDE(PK(1.0), PSELECT(some, r, PK(1.0))), PK(0.0));
}

/* Puts R, its inverses and lambda; returns it, from the samples' rates. */
FN pack hf_mcstat_lambda(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, pack rates)
{
    const u32 bin = hf_first_bin(ch, panel) + b;
    const pack zero = PK(0.0), r = hf_mcstat_root(HF, ch, panel, b, 0);
    const pmask some = r > zero;
    pack limit = zero;
    if (PANY(PNOT(some))) limit = PSELECT(some, zero, hf_mcstat_invert(hf_mcstat_root(HF, ch, panel, b, 1)));
    STOREP(HF_S(MCSTAT_R), bin, r);
    STOREP(HF_S(MCSTAT_INVERSE), bin, hf_mcstat_invert(r));
    STOREP(HF_S(MCSTAT_LIMIT), bin, limit);
    const pack lambda = pflush(PFMA(hf_mcstat_gamma(HF, ch, panel, b), r, rates));
    STOREP(HF_S(MCSTAT_RATE), bin, lambda);
    return lambda;
}

/* q of the channel's unit u. */
FN pack hf_mcstat_weight(HF_PARAMETERS, hf_channel ch, u32 panel, u32 u, u32 b)
{
    const u32 bin = hf_first_bin(ch, panel) + b;
    const pack error = hf_mcstat_error(mi, mr, ch, panel, u, b), limit = LOADP(HF_S(MCSTAT_LIMIT), bin);
    const pmask at_zero = limit > PK(0.0);
    pack part = pflush(PACK_OF(hf_mcstat_factor(HF, ch, u, 0)) * error) * LOADP(HF_S(MCSTAT_INVERSE), bin);
    if (PANY(at_zero))
        part = PSELECT(at_zero, pflush(PACK_OF(hf_mcstat_factor(HF, ch, u, 1)) * error) * limit, part);
    return pflush(pflush(part) * error);
}

/* Puts MCSTAT_SUM of the channel's unit u; returns what gamma R adds to its T. */
FN real hf_mcstat_sums(HF_PARAMETERS, hf_channel ch, u32 u)
{
    const u32 unit = ch->first_unit + u;
    const real f = s[mi[HF_S_F] + unit];
    acc8 squares = acc8_zero(), rates = acc8_zero();
    for (u32 panel = 0; panel < ch->panels; panel++)
        for (u32 b = 0; b < hf_bins(ch, panel); b += PACK) {
            const u32 bin = hf_first_bin(ch, panel) + b;
            const pack error = hf_mcstat_error(mi, mr, ch, panel, u, b),
                       w = pflush(LOADP(HF_S(W), bin) * hf_mcstat_gamma(HF, ch, panel, b)),
                       part = pflush(pflush(w * LOADP(HF_S(MCSTAT_INVERSE), bin)) * error);
            squares.part[b / PACK] = PFMA(part, error, squares.part[b / PACK]);
            rates.part[b / PACK] = PFMA(w, hf_mcstat_weight(HF, ch, panel, u, b), rates.part[b / PACK]);
        }
    s[mi[HF_S_MCSTAT_SUM] + unit] = flush(flush(acc8_total(squares) * f) * f);
    return flush(acc8_total(rates) * f);
}

/* The derivative of gamma R along a direction. `relative`, `scalars`: F'/F and Phi' by unit. */
FN pack hf_mcstat_tangent(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, GLOBAL const real *relative,
                          GLOBAL const real *scalars, GLOBAL const real *direction)
{
    pack slope = PK(0.0);
    for (u32 u = 0; u < ch->units; u++) {
        const u32 unit = ch->first_unit + u;
        const real turn = FMA(s[mi[HF_S_PHI] + unit], relative[u], scalars[u]);
        slope =
            PFMA(hf_mcstat_weight(HF, ch, panel, u, b), PACK_OF(flush(s[mi[HF_S_F] + unit] * turn)), slope);
    }
    const pack turned = LOADP(direction, hf_local_slot(mi, ch, ch->mcstat - 1, panel) + b);
    return pflush(PFMA(turned, LOADP(HF_S(MCSTAT_R), hf_first_bin(ch, panel) + b),
                       hf_mcstat_gamma(HF, ch, panel, b) * slope));
}
