/* histfactory_tangent.h: rates along a direction ('), and each base's weight in its bin: for derivatives by
 * nominal rates and shifts.
 *
 *   rate = base * G,  G = F Phi Gamma;   rate' = base' G + base G',   G' = G u + F Gamma Phi' + F Phi Gamma',
 *   u = F'/F; with mcstat lambda' also has (gamma R)' */
#pragma once

#include "histfactory/histfactory_rates.h"

/* u and Phi' */
FN void hf_tangent_units(HF_PARAMETERS, hf_channel ch, GLOBAL const real *direction, GLOBAL real *relative,
                         GLOBAL real *scalars)
{
    TEAM_FOR(k, ch->units) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + k);
        CONSTANT u32 *slot = HF_I(NORMSYS_SLOT) + un->normsys;
        const u32 n_normsys = un->normsys_count, n_scalars = un->scalar_count;
        real u = R(0.0), phi = R(0.0);
        for (u32 e = 0; e < n_normsys; e++) u = FMA(s[mi[HF_S_NU] + un->normsys + e], direction[slot[e]], u);
        slot = HF_I(SCALAR_SLOT) + un->scalars;
        for (u32 e = 0; e < n_scalars; e++)
            phi = FMA(s[mi[HF_S_PHI_OTHERS] + un->scalars + e], direction[slot[e]], phi);
        if (hf_has_shapes(mi) && !hf_is_logarithmic(mr, un)) u = u + hf_shape_turn(HF, un, direction);
        relative[k] = flush(u);
        scalars[k] = flush(phi);
    }
}

/* Gamma' */
FN pack hf_tangent_gamma(HF_PARAMETERS, hf_channel ch, hf_unit un, u32 panel, u32 b,
                         GLOBAL const real *direction)
{
    CONSTANT u32 *sets = mi + un->sets;
    pack turn = PK(0.0);
    for (u32 l = 0; l < un->set_count; l++)
        turn = PFMA(hf_gamma_without(HF, ch, un, panel, b, sets[l], HF_NO_SET),
                    LOADP(direction, hf_local_slot(mi, ch, sets[l], panel) + b), turn);
    return pflush(turn);
}

/* G, G' into XE, XS; 0 if a clip holds the rate (`clipped`: the bin's). Adds rate' to `sum`. */
FN pack hf_tangent_cell(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b, u32 k, pmask clipped, pack relative,
                        pack scalars, GLOBAL const real *direction, pack sum)
{
    const pack zero = PK(0.0);
    const u32 unit = ch->first_unit + k, cell = hf_cell_at(ch, panel, k) + b;
    hf_unit un = hf_unit_of(mi, unit);
    const pack f = PACK_OF(s[mi[HF_S_F] + unit]), phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
    const pack gamma = hf_gamma(HF, ch, un, panel, b), whole = pflush(pflush(f * phi) * gamma);
    pmask low = clipped;
    if (mi[HF_SWITCHES] & HF_CLIP_SAMPLES) {
        /* XG is 0 if clipped or if the product is 0 */
        const pmask still = OR(whole < zero, OR(whole > zero, zero < hf_sample_clip(mi, mr)));
        low = OR(low, AND(LOADP(HF_S(XG), cell) == zero, still));
    }
    const pack turn = hf_tangent_gamma(HF, ch, un, panel, b, direction),
               others = pflush(pflush(f * gamma) * scalars);
    const pack moved = pflush(PFMA(whole, relative, PFMA(pflush(f * phi), turn, others)));
    const pack g = PSELECT(low, zero, whole), g1 = PSELECT(low, zero, moved);
    pack base1 = un->varied == HF_NOT_VARIED ? hf_tangent_base(HF, un, panel, b, direction, 0)
                                             : hf_tangent_base(HF, un, panel, b, direction, 1);
    if (hf_is_logarithmic(mr, un)) base1 = base1 + PACK_OF(hf_shape_turn(HF, un, direction));
    base1 = hf_by_shifts(mr, un, LOADP(HF_S(BASE), cell), base1);
    STOREP(HF_S(XE), cell, g);
    STOREP(HF_S(XS), cell, g1);
    return PFMA(base1, g, PFMA(LOADP(HF_S(BASE), cell), g1, sum));
}

/* Puts G into XE, G' into XS (0: clipped), lambda' into COMMON. Keeps HF_S_X, lambda and interpolation. Slots
 * that are functions get their value and direction. */
FN_LARGE void hf_tangent(HF_PARAMETERS, GLOBAL real *direction)
{
    const pack zero = PK(0.0);
    TEAM_IF(hf_has_functions(mi)) {
        hf_evaluate_functions(HF, 1);
        hf_fold_direction(HF, direction);
    }
    hf_normsys_regions(HF);
    hf_interpolate(HF, 0);
    const hf_part_key whole = hf_part_key_of(HF_WHOLE, 1);
    hf_units(HF, whole, 1);
    hf_cells(HF, whole);
    TEAM_BARRIER();
    TEAM_IF(hf_has_shapes(mi)) hf_shapes(HF, whole);
    hf_panels(HF, whole);
    TEAM_BARRIER();
    HF_FOR_CHANNELS(ch) {
        TEAM_IF(hf_has_shapes(mi)) hf_shape_sums(HF, whole, ch);
        GLOBAL real *relative = HF_S(CELL_TEMP), *scalars = relative + ch->units;
        hf_tangent_units(HF, ch, direction, relative, scalars);
        TEAM_BARRIER();
        TEAM_FOR(panel, ch->panels) {
            const u32 bins = hf_bins(ch, panel);
            for (u32 b = 0; b < bins; b += PACK) {
                const u32 bin = hf_first_bin(ch, panel) + b;
                pmask clipped = zero > zero;
                if (hf_clips_bins(mi, ch)) clipped = LOADP(HF_S(LAMBDA), bin) <= hf_bin_clip(mi, mr, ch);
                pack sum = zero;
                if (ch->mcstat > 0)
                    sum = PSELECT(clipped, zero,
                                  hf_mcstat_tangent(HF, ch, panel, b, relative, scalars, direction));
                for (u32 k = 0; k < ch->units; k++)
                    sum = hf_tangent_cell(HF, ch, panel, b, k, clipped, PACK_OF(relative[k]),
                                          PACK_OF(scalars[k]), direction, sum);
                STOREP(HF_S(COMMON), bin, pflush(sum));
            }
        }
        TEAM_BARRIER();
    }
}
