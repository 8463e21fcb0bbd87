/* histfactory_locals.h: local parameters (staterror, shapesys, shapefactor; mcstat): Gamma, derivatives,
 * constraints. */
#pragma once

#include "numeric/flush.h"
#include "histfactory/histfactory_laws.h"

#define HF_NO_SET 0xffffffffu

FN u32 hf_carries(CONSTANT u32 *mi, hf_unit un, u32 set)
{
    CONSTANT u32 *sets = mi + un->sets;
    u32 carries = 0;
    for (u32 k = 0; k < un->set_count; k++) carries |= sets[k] == set;
    return carries;
}

/* In bins b.., without sets `skip`, `skip2`. */
FN pack hf_gamma_without(HF_PARAMETERS, hf_channel ch, hf_unit un, u32 panel, u32 b, u32 skip, u32 skip2)
{
    GLOBAL const real *x = HF_S(X);
    CONSTANT u32 *sets = mi + un->sets;
    pack product = PK(1.0);
    for (u32 k = 0; k < un->set_count; k++)
        if (sets[k] != skip && sets[k] != skip2)
            product = pflush(product * LOADP(x, hf_local_slot(mi, ch, sets[k], panel) + b));
    return product;
}
FN pack hf_gamma(HF_PARAMETERS, hf_channel ch, hf_unit un, u32 panel, u32 b)
{
    return hf_gamma_without(HF, ch, un, panel, b, HF_NO_SET, HF_NO_SET);
}

/* First (with `set2` second) derivative of lambda: rates of units with the sets, without their factors; R of
 * mcstat. */
FN pack hf_local_derivative_of(HF_PARAMETERS, hf_part part, hf_channel ch, u32 panel, u32 b, u32 set,
                               u32 set2)
{
    if (ch->common) return LOADP(HF_S(COMMON), hf_first_bin(ch, panel) + b);
    pack sum = PK(0.0);
    if (ch->mcstat > 0 && (set + 1 == ch->mcstat || set2 + 1 == ch->mcstat)) {
        if (set2 == HF_NO_SET) sum = LOADP(HF_S(MCSTAT_R), hf_first_bin(ch, panel) + b);
        return sum;
    }
    for (u32 u = 0; u < ch->units; u++) {
        const u32 unit = ch->first_unit + u, cell = hf_cell_at(ch, panel, u) + b - part.cell_shift;
        hf_unit un = hf_unit_of(mi, unit);
        if (!hf_carries(mi, un, set) || (set2 != HF_NO_SET && !hf_carries(mi, un, set2))) continue;
        pack rate = pflush(
            pflush(PACK_OF(flush(s[mi[HF_S_F] + unit] * s[mi[HF_S_PHI] + unit])) * LOADP(HF_S(BASE), cell)) *
            hf_gamma_without(HF, ch, un, panel, b, set, set2));
        if (mi[HF_SWITCHES] & HF_CLIP_SAMPLES)
            rate = PSELECT(LOADP(HF_S(XS), cell) == PK(0.0), PK(0.0), rate);
        sum = sum + rate;
    }
    return pflush(sum);
}

FN pack hf_local_derivative(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, u32 set, u32 set2)
{
    return hf_local_derivative_of(HF, hf_whole(mi), ch, panel, b, set, set2);
}

/* g plus the slope of the constraint. */
FN pack hf_constraint_slope(HF_PARAMETERS, hf_set set, u32 slot, pack g)
{
    if (set->constraint == HF_GAUSSIAN)
        g = hf_gaussian_slope(hf_term_of_x(HF, hf_precision(HF, slot), slot), g);
    if (set->constraint == HF_POISSON) g = hf_poisson_slope(hf_term_of_x(HF, hf_tau(HF, slot), slot), g);
    if (set->constraint > HF_POISSON) g = hf_slope_of_y(HF, slot, g);
    return g;
}

/* Expected over data where kap is 0. */
FN pack hf_constraint_curvature(HF_PARAMETERS, hf_set set, u32 slot, real kap)
{
    pack c = PK(0.0);
    if (set->constraint == HF_GAUSSIAN)
        c = hf_gaussian_curvature(hf_term_of_x(HF, hf_precision(HF, slot), slot), kap);
    if (set->constraint == HF_POISSON)
        c = hf_poisson_curvature(hf_term_of_x(HF, hf_tau(HF, slot), slot), kap);
    if (set->constraint > HF_POISSON) c = hf_curvature_of_y(HF, slot, kap);
    return c;
}
