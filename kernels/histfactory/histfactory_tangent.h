/* histfactory_tangent.h: how rates change along a direction in the space of the parameters, and how much of each cell's
 * base arrives in its bin: what derivatives by the numbers behind the base (nominal rates, shifts) are made
 * of.
 *
 *   rate = base * G,  G = F Phi Gamma;   rate' = base' G + base G',   G' = G u + F Gamma Phi' + F Phi Gamma'
 *
 * with ' along the direction and u = F'/F. Behind rates.h.
 */
#ifndef PARITAS_HISTFACTORY_TANGENT_H
#define PARITAS_HISTFACTORY_TANGENT_H

/* u and Phi' of a channel's units. */
FN void hf_tangent_units(HF_PARAMETERS, CONSTANT u32 *ch, GLOBAL const real *direction, GLOBAL real *relative,
                         GLOBAL real *scalars)
{
    TEAM_FOR(k, ch[HF_CH_UNITS]) {
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + (ch[HF_CH_FIRST_UNIT] + k) * HF_UN_SIZE;
        CONSTANT u32 *slot = mi + mi[HF_I_NORMSYS_SLOT] + un[HF_UN_NORMSYS];
        const u32 n_normsys = un[HF_UN_NORMSYS_COUNT], n_scalars = un[HF_UN_SCALAR_COUNT];
        real u = R(0.0), phi = R(0.0);
        for (u32 e = 0; e < n_normsys; e++)
            u = FMA(s[mi[HF_S_NU] + un[HF_UN_NORMSYS] + e], direction[slot[e]], u);
        slot = mi + mi[HF_I_SCALAR_SLOT] + un[HF_UN_SCALARS];
        for (u32 e = 0; e < n_scalars; e++)
            phi = FMA(s[mi[HF_S_PHI_OTHERS] + un[HF_UN_SCALARS] + e], direction[slot[e]], phi);
        relative[k] = flush(u);
        scalars[k] = flush(phi);
    }
}

/* base' of a unit in bins b.. of a panel. */
FN pack hf_tangent_base(HF_PARAMETERS, CONSTANT u32 *un, u32 panel, u32 b, GLOBAL const real *direction,
                        u32 varied)
{
    const u32 n = un[HF_UN_HISTOSYS_COUNT];
    GLOBAL const real *slope = s + mi[HF_S_HT1],
                      *row = s + (varied ? mi[HF_S_VARIED] + un[HF_UN_VARIED] + panel * HF_VARIED_PANEL(n) + 8
                                         : 0);
    CONSTANT elem *data = mr + un[HF_UN_HISTOSYS_DATA] + panel * n * 16;
    CONSTANT u32 *slot = mi + mi[HF_I_HISTOSYS_SLOT] + un[HF_UN_HISTOSYS];
    pack sum = PK(0.0);
    for (u32 e = 0; e < n; e++) {
        const pack shift = PFMA(hf_number(data, row, 16 * e + 8 + b, varied), PACK_OF(slope[slot[e]]),
                                hf_number(data, row, 16 * e + b, varied));
        sum = PFMA(shift, PACK_OF(direction[slot[e]]), sum);
    }
    return pflush(sum);
}

/* At HF_S_X, along `direction` (slots): G of every cell into HF_S_XE and G' into HF_S_XS, both 0 where a clip
 * holds the rate; lambda' into HF_S_COMMON. Leaves lambda and the interpolation in their places. */
FN_LARGE void hf_tangent(HF_PARAMETERS, GLOBAL const real *direction)
{
    const pack zero = PK(0.0);
    hf_interpolate(HF);
    hf_units(HF, 1);
    hf_cells(HF);
    TEAM_BARRIER();
    hf_panels(HF);
    TEAM_BARRIER();
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        const u32 units = ch[HF_CH_UNITS];
        GLOBAL real *relative = s + mi[HF_S_CELL_TEMP], *scalars = relative + units;
        hf_tangent_units(HF, ch, direction, relative, scalars);
        TEAM_BARRIER();
        TEAM_FOR(panel, ch[HF_CH_PANELS]) {
            const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            for (u32 b = 0; b < bins; b += PACK) {
                const u32 bin = (ch[HF_CH_FIRST_PANEL] + panel) * 8 + b;
                pmask held = zero > zero;
                if (mi[HF_CLIPS] & 2)
                    held = LOADP(s + mi[HF_S_LAMBDA], bin) <= PACK_OF_ELEM(mr[mi[HF_R_CLIPS] + 1]);
                pack sum = zero;
                for (u32 k = 0; k < units; k++) {
                    const u32 unit = ch[HF_CH_FIRST_UNIT] + k,
                              cell = (ch[HF_CH_FIRST_CELL] + panel * units + k) * 8 + b;
                    CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
                    CONSTANT u32 *sets = mi + un[HF_UN_SETS];
                    const pack f = PACK_OF(s[mi[HF_S_F] + unit]), phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
                    const pack gamma = hf_gamma(HF, ch, un, panel, b, HF_NO_SET, HF_NO_SET),
                               whole = pflush(pflush(f * phi) * gamma);
                    pack turn = zero; /* Gamma' */
                    for (u32 l = 0; l < un[HF_UN_SET_COUNT]; l++) {
                        CONSTANT u32 *se = mi + mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + sets[l]) * HF_SE_SIZE;
                        turn = PFMA(hf_gamma(HF, ch, un, panel, b, sets[l], HF_NO_SET),
                                    LOADP(direction, se[HF_SE_SLOT] + 8 * panel + b), turn);
                    }
                    pmask low = held;
                    /* XG is 0 where the clip holds the rate, and where the product is 0 */
                    if (mi[HF_CLIPS] & 1) {
                        const pmask still =
                            OR(whole < zero, OR(whole > zero, zero < PACK_OF_ELEM(mr[mi[HF_R_CLIPS]])));
                        low = OR(low, AND(LOADP(s + mi[HF_S_XG], cell) == zero, still));
                    }
                    const pack others = pflush(pflush(f * gamma) * PACK_OF(scalars[k]));
                    const pack moved = pflush(
                        PFMA(whole, PACK_OF(relative[k]), PFMA(pflush(f * phi), pflush(turn), others)));
                    const pack g = PSELECT(low, zero, whole), g1 = PSELECT(low, zero, moved);
                    const pack base1 = un[HF_UN_VARIED] == HF_NOT_VARIED
                                           ? hf_tangent_base(HF, un, panel, b, direction, 0)
                                           : hf_tangent_base(HF, un, panel, b, direction, 1);
                    sum = PFMA(base1, g, PFMA(LOADP(s + mi[HF_S_BASE], cell), g1, sum));
                    STOREP(s + mi[HF_S_XE], cell, g);
                    STOREP(s + mi[HF_S_XS], cell, g1);
                }
                STOREP(s + mi[HF_S_COMMON], bin, pflush(sum));
            }
        }
        TEAM_BARRIER();
    }
}

#endif
