/* histfactory_rates.h: expected rates, the negative log-likelihood in deviance form and its gradient.
 *
 *   x ─► factors (normsys) ─► units (products) ─► cells (base) ─► panels (lambda, deviance) ─► gradient
 *
 * The steps leave everything that the derivatives need in the slab, at the point HF_S_X. Reference for the
 * model: the HistFactory definition (CERN-OPEN-2012-016) as pyhf evaluates it; deviance form: a Poisson term
 * n ln(n/lambda) + lambda - n is zero at lambda = n, and what it lacks against the likelihood depends on the
 * data alone.
 */
#ifndef PARITAS_HISTFACTORY_RATES_H
#define PARITAS_HISTFACTORY_RATES_H

#define HF_PARAMETERS CONSTANT u32 *mi, CONSTANT elem *mr UNUSED, GLOBAL real *s
#define HF mi, mr, s
#if F64
#define HF_HUGE R(1e300) /* "outside the domain": larger than any likelihood */
#else
#define HF_HUGE R(1e30)
#endif

/* Histosys interpolation of each dense slot: the shift is S s(a) + A t(a), with t', t'' (s' = 1). */
FN void hf_interpolate(HF_PARAMETERS)
{
    const u32 code = mi[HF_HISTOSYS_CODE];
    GLOBAL real *x = s + mi[HF_S_X];
    TEAM_FOR_PACK(i, mi[HF_DENSE]) {
        const pack a = LOADP(x, i);
        const pack zero = PK(0.0), one = PK(1.0);
        const pmask negative = a<zero, above = a> one, below = a < -one;
        const pmask outside = OR(above, below);
        const pack size = PSELECT(negative, -a, a);
        pack value = a, bend, slope, curve;
        if (code == 4) { /* polynomial inside, linear outside, twice differentiable */
            const pack a2 = pflush(a * a);
            const pack inner = a2 * PFMA(a2, PFMA(PK(3.0), a2, PK(-10.0)), PK(15.0));
            const pack inner1 = a * PFMA(a2, PFMA(PK(18.0), a2, PK(-40.0)), PK(30.0));
            const pack inner2 = PFMA(a2, PFMA(PK(90.0), a2, PK(-120.0)), PK(30.0));
            bend = PSELECT(outside, PK(8.0) * size, inner);
            slope = PSELECT(outside, PSELECT(negative, PK(-8.0), PK(8.0)), inner1);
            curve = PSELECT(outside, zero, inner2);
            /* parabola inside, linear outside as pyhf 0.7 has it: S a + 16 A (a - 1) - S above 1, (S - 16 A)
             * a below -1 */
        } else if (code == 2) {
            const pack shifted = PSELECT(negative, a, a - one);
            value = PSELECT(outside, shifted, a);
            bend = PSELECT(outside, PSELECT(negative, PK(-16.0), PK(16.0)) * shifted, PK(8.0) * a * a);
            slope = PSELECT(outside, PSELECT(negative, PK(-16.0), PK(16.0)), PK(16.0) * a);
            curve = PSELECT(outside, zero, PK(16.0));
        } else { /* piecewise linear; the slope at 0 is the downward one */
            const pmask up = a > zero;
            bend = PK(8.0) * size;
            slope = PSELECT(up, PK(8.0), PK(-8.0));
            curve = zero;
        }
        STOREP(s + mi[HF_S_HS], i, value);
        STOREP(s + mi[HF_S_HT], i, pflush(bend));
        STOREP(s + mi[HF_S_HT1], i, pflush(slope));
        STOREP(s + mi[HF_S_HT2], i, pflush(curve));
    }
}

/* A normsys factor v and u = v'/v. Code 4: exponential outside |a| < 1, inside the polynomial of degree 6
 * that meets it with two derivatives; code 1: exponential everywhere. Where it is exponential, v is 1 here,
 * and its logarithm goes to `exponent`: a unit needs one exponential for the product of all. */
typedef struct {
    pack v, u, exponent;
} hf_factor_of_entry;
FN hf_factor_of_entry hf_normsys(CONSTANT u32 *mi, CONSTANT elem *mr, u32 code, pack a, u32 i,
                                 u32 derivatives)
{
    const u32 n = mi[HF_NORMSYS_ENTRIES];
    CONSTANT elem *c = mr + mi[HF_R_NORMSYS];
    hf_factor_of_entry f;
    f.v = f.u = PK(1.0);
    f.exponent = PK(0.0);
    pmask outer = PK(0.0) < PK(1.0);
    if (code == 4) {
        pack v = LOADM(c + 5 * n, i), d = v;
        outer = OR(a >= PK(1.0), a <= PK(-1.0));
        v = PFMA(v, a, LOADM(c + 4 * n, i));
        UNROLL for (u32 k = 0; k < 4; k++)
        {
            if (derivatives) d = PFMA(d, a, v);
            v = PFMA(v, a, LOADM(c + (3 - k) * n, i));
        }
        if (derivatives) d = PFMA(d, a, v);
        f.v = PFMA(v, a, PK(1.0));
        if (derivatives) f.u = pflush(PDIVIDE(d, f.v));
    }
    if (PANY(outer)) {
        const pack rate = PSELECT(a >= PK(0.0), LOADM(c + 6 * n, i), -LOADM(c + 7 * n, i));
        f.v = PSELECT(outer, PK(1.0), f.v);
        f.u = PSELECT(outer, rate, f.u);
        f.exponent = PSELECT(outer, pflush(a * rate), PK(0.0));
    }
    return f;
}

/* Per unit: F, product of its normsys factors (8 interleaved products, then a tree), without those that are
 * exponential, whose logarithms are summed into `exponents` (units). */
FN void hf_normsys_products(HF_PARAMETERS, GLOBAL real *exponents, u32 derivatives)
{
    const u32 code = mi[HF_NORMSYS_CODE];
    CONSTANT u32 *slot = mi + mi[HF_I_NORMSYS_SLOT];
    GLOBAL const real *x = s + mi[HF_S_X];
    GLOBAL real *nu = s + mi[HF_S_NU];
    TEAM_FOR(unit, mi[HF_UNITS]) {
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        const u32 first = un[HF_UN_NORMSYS], n = un[HF_UN_NORMSYS_PADDED],
                  end = first + un[HF_UN_NORMSYS_COUNT];
        pack product[8 / PACK];
        acc8 exponent = acc8_zero();
        UNROLL for (u32 j = 0; j < 8; j += PACK) product[j / PACK] = PK(1.0);
        for (u32 i = first; i < first + n; i += 8) UNROLL for (u32 j = 0; j < 8; j += PACK)
            {
                if (i + j >= end) { /* padding: factors of 1 */
                    if (derivatives) STOREP(nu, i + j, PK(0.0));
                    continue;
                }
                const hf_factor_of_entry f =
                    hf_normsys(mi, mr, code, GATHERP(x, slot, i + j), i + j, derivatives);
                product[j / PACK] = pflush(product[j / PACK] * f.v);
                exponent.part[j / PACK] = exponent.part[j / PACK] + f.exponent;
                if (derivatives) STOREP(nu, i + j, f.u);
            }
        real p[8];
        UNROLL for (u32 j = 0; j < 8; j++) p[j] = ELEMENT(product[j / PACK], j % PACK);
        s[mi[HF_S_F] + unit] = flush(flush(flush(p[0] * p[4]) * flush(p[2] * p[6])) *
                                     flush(flush(p[1] * p[5]) * flush(p[3] * p[7])));
        exponents[unit] = acc8_total(exponent);
    }
}

/* F, Phi, product of its scalars, and for each scalar the product of the others (without division: a signal
 * strength may be 0). */
FN_LARGE void hf_units(HF_PARAMETERS, u32 derivatives)
{
    GLOBAL const real *x = s + mi[HF_S_X];
    GLOBAL real *exponents = s + mi[HF_S_PHI]; /* until Phi is made */
    if (derivatives)
        hf_normsys_products(HF, exponents, 1);
    else
        hf_normsys_products(HF, exponents, 0);
    TEAM_BARRIER();
    TEAM_FOR_PACK(unit, mi[HF_UNITS]) {
        const pack e = LOADP(exponents, unit), zero = PK(0.0);
        if (PANY(OR(e<zero, e> zero)))
            STOREP(s + mi[HF_S_F], unit, pflush(LOADP(s + mi[HF_S_F], unit) * m_exp(e)));
    }
    TEAM_BARRIER();
    TEAM_FOR(unit, mi[HF_UNITS]) {
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        CONSTANT u32 *slot = mi + mi[HF_I_SCALAR_SLOT] + un[HF_UN_SCALARS];
        const u32 count = un[HF_UN_SCALAR_COUNT];
        real phi = R(1.0);
        for (u32 k = 0; k < count; k++) phi = flush(phi * x[slot[k]]);
        s[mi[HF_S_PHI] + unit] = phi;
        for (u32 k = 0; k < count; k++) {
            real others = R(1.0);
            for (u32 j = 0; j < count; j++)
                if (j != k) others = flush(others * x[slot[j]]);
            s[mi[HF_S_PHI_OTHERS] + un[HF_UN_SCALARS] + k] = others;
        }
    }
}

/* A number of a unit: the model's, or of a varied unit the job's. */
FN pack hf_number(CONSTANT elem *table, GLOBAL const real *row, u32 i, u32 varied)
{
    return varied ? LOADP(row, i) : LOADM(table, i);
}

/* 1/sigma^2 of a slot's constraint, and tau; 0 where it is not of this kind. */
FN pack hf_precision(HF_PARAMETERS, u32 slot)
{
    return hf_number(mr + mi[HF_R_PRECISION], s + mi[HF_S_WIDTHS], slot, mi[HF_S_WIDTHS]);
}
FN pack hf_tau(HF_PARAMETERS, u32 slot)
{
    return hf_number(mr + mi[HF_R_TAU], s + mi[HF_S_WIDTHS] + mi[HF_SLOTS], slot, mi[HF_S_WIDTHS]);
}

/* Packs of a cell that go together: enough independent chains to cover the latency of fma. */
#define CELL_PACKS (PACK == 8 ? 1 : PACK == 4 ? 2 : 4)

/* base of a cell: nominal + S s + A t of its histosys, as two chains (one would wait for each fma). */
FN void hf_cell(HF_PARAMETERS, u32 cell, CONSTANT u32 *ce, u32 varied)
{
    GLOBAL const real *hs = s + mi[HF_S_HS], *ht = s + mi[HF_S_HT],
                      *row = s + (varied ? mi[HF_S_VARIED] + ce[HF_CE_VARIED] : 0);
    CONSTANT elem *nominal = mr + mi[HF_R_NOMINAL] + cell * 8;
    GLOBAL real *base = s + mi[HF_S_BASE];
    CONSTANT u32 *un = mi + mi[HF_I_UNITS] + ce[HF_CE_UNIT] * HF_UN_SIZE;
    CONSTANT u32 *slot = mi + mi[HF_I_HISTOSYS_SLOT] + un[HF_UN_HISTOSYS];
    CONSTANT elem *data = mr + ce[HF_CE_HISTOSYS_DATA];
    const u32 n = un[HF_UN_HISTOSYS_COUNT], bins = ce[HF_CE_BINS];
    for (u32 b = 0; b < bins; b += CELL_PACKS * PACK) {
        pack linear[CELL_PACKS], bent[CELL_PACKS];
        UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
        {
            linear[k] = hf_number(nominal, row, b + k * PACK, varied);
            bent[k] = PK(0.0);
        }
        for (u32 e = 0; e < n; e++) {
            const pack a = PACK_OF(hs[slot[e]]), t = PACK_OF(ht[slot[e]]);
            UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
            {
                linear[k] = PFMA(hf_number(data, row + 8, e * 16 + b + k * PACK, varied), a, linear[k]);
                bent[k] = PFMA(hf_number(data, row + 8, e * 16 + 8 + b + k * PACK, varied), t, bent[k]);
            }
        }
        UNROLL for (u32 k = 0; k < CELL_PACKS; k++)
            STOREP(base, cell * 8 + b + k * PACK, pflush(linear[k] + bent[k]));
    }
}
FN_LARGE void hf_cells(HF_PARAMETERS)
{
    TEAM_FOR(cell, mi[HF_CELLS]) {
        CONSTANT u32 *ce = mi + mi[HF_I_CELLS] + cell * HF_CE_SIZE;
        if (ce[HF_CE_VARIED] == HF_NOT_VARIED)
            hf_cell(HF, cell, ce, 0);
        else
            hf_cell(HF, cell, ce, 1);
    }
}

/* Product of a unit's local parameters in bins b.. of a panel, those of the channel's local sets `skip` and
 * `skip2` left out. */
FN pack hf_gamma(HF_PARAMETERS, CONSTANT u32 *ch, CONSTANT u32 *un, u32 panel, u32 b, u32 skip, u32 skip2)
{
    GLOBAL const real *x = s + mi[HF_S_X];
    CONSTANT u32 *sets = mi + un[HF_UN_SETS];
    pack product = PK(1.0);
    for (u32 k = 0; k < un[HF_UN_SET_COUNT]; k++) {
        CONSTANT u32 *se = mi + mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + sets[k]) * HF_SE_SIZE;
        if (sets[k] != skip && sets[k] != skip2)
            product = pflush(product * LOADP(x, se[HF_SE_SLOT] + 8 * panel + b));
    }
    return product;
}
#define HF_NO_SET 0xffffffffu

/* lambda, 1 - n/lambda and the deviance of every bin; XE, XS, XG of every cell. In a channel with a common
 * local set Gamma is left out of the cells and multiplies their sum. */
FN_LARGE void hf_panels(HF_PARAMETERS)
{
    const u32 clips = mi[HF_CLIPS];
    const pack zero = PK(0.0), one = PK(1.0);
    TEAM_FOR(panel, mi[HF_PANELS]) {
        CONSTANT u32 *pn = mi + mi[HF_I_PANELS] + panel * HF_PN_SIZE;
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + pn[HF_PN_CHANNEL] * HF_CH_SIZE;
        const u32 common = ch[HF_CH_COMMON], units = ch[HF_CH_UNITS];
        const u32 first_cell = ch[HF_CH_FIRST_CELL] + pn[HF_PN_INDEX] * units;
        for (u32 b = 0; b < pn[HF_PN_BINS]; b += PACK) {
            const u32 bin = panel * 8 + b;
            pack gamma = one, sum = zero, lambda = LOADM(mr + mi[HF_R_LAMBDA0], bin);
            const pmask real_bin = lambda <= zero;
            if (common)
                gamma = hf_gamma(HF, ch, mi + mi[HF_I_UNITS] + ch[HF_CH_FIRST_UNIT] * HF_UN_SIZE,
                                 pn[HF_PN_INDEX], b, HF_NO_SET, HF_NO_SET);
            for (u32 u = 0; u < units; u++) {
                const u32 unit = ch[HF_CH_FIRST_UNIT] + u, cell = first_cell + u;
                CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
                const pack phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
                pack xg = PACK_OF(s[mi[HF_S_F] + unit]);
                if (!common && un[HF_UN_SET_COUNT] > 0)
                    xg = pflush(xg * hf_gamma(HF, ch, un, pn[HF_PN_INDEX], b, HF_NO_SET, HF_NO_SET));
                pack xs = pflush(LOADP(s + mi[HF_S_BASE], cell * 8 + b) * xg);
                pack xe = pflush(xs * phi);
                xg = pflush(xg * phi);
                if (clips & 1) { /* where a rate is clipped it does not depend on anything */
                    const pack clip = PACK_OF_ELEM(mr[mi[HF_R_CLIPS]]);
                    const pack rate = pflush(xe * gamma);
                    const pmask low = AND(rate < clip, real_bin);
                    lambda = lambda + PSELECT(low, clip, rate);
                    xe = PSELECT(low, zero, xe);
                    xs = PSELECT(low, zero, xs);
                    xg = PSELECT(low, zero, xg);
                }
                sum = sum + xe;
                STOREP(s + mi[HF_S_XE], cell * 8 + b, xe);
                STOREP(s + mi[HF_S_XS], cell * 8 + b, xs);
                STOREP(s + mi[HF_S_XG], cell * 8 + b, xg);
            }
            sum = pflush(sum);
            STOREP(s + mi[HF_S_COMMON], bin, sum);
            if (!(clips & 1)) lambda = PFMA(gamma, sum, lambda);
            lambda = pflush(lambda);
            pmask clipped = zero > one;
            if (clips & 2) {
                const pack clip = PACK_OF_ELEM(mr[mi[HF_R_CLIPS] + 1]);
                clipped = AND(lambda < clip, real_bin);
                lambda = PSELECT(clipped, clip, lambda);
            }
            const pack n = LOADP(s + mi[HF_S_MAIN], bin);
            const pmask some = n > zero;
            const pack safe = PSELECT(lambda > zero, lambda, one);
            const pack w = one - PDIVIDE(n, safe);
            const pack deviance =
                PSELECT(some, pflush(poisson_deviance(pflush(lambda - n), lambda, n, w)), lambda);
            /* lambda > 0, or n = 0 and lambda > -1: see below */
            const pmask inside = PSELECT(some, lambda, lambda + one) > zero;
            const pmask positive = lambda >= zero;
            STOREP(s + mi[HF_S_LAMBDA], bin, lambda);
            STOREP(s + mi[HF_S_W], bin, PSELECT(clipped, zero, w));
            STOREP(s + mi[HF_S_DEVIANCE], bin, PSELECT(AND(inside, positive), deviance, PACK_OF(HF_HUGE)));
        }
    }
}

/* Constraint terms in deviance form: Gaussian precision (x - a)^2 / 2; Poisson as the bins. */
FN void hf_penalties_of(HF_PARAMETERS, u32 varied)
{
    GLOBAL const real *x = s + mi[HF_S_X], *aux = s + mi[HF_S_AUX], *widths = s + mi[HF_S_WIDTHS];
    TEAM_FOR_PACK(i, mi[HF_SLOTS]) {
        const pack offset = LOADP(x, i) - LOADP(aux, i);
        STOREP(s + mi[HF_S_PENALTY], i,
               pflush(pflush(PK(0.5) * hf_number(mr + mi[HF_R_PRECISION], widths, i, varied) * offset) *
                      offset));
    }
    if (mi[HF_HAS_POISSON]) {
        const pack zero = PK(0.0), one = PK(1.0);
        TEAM_FOR_PACK(i, mi[HF_SLOTS]) {
            const pack tau = hf_number(mr + mi[HF_R_TAU], widths + mi[HF_SLOTS], i, varied);
            const pmask poisson = tau > zero;
            if (PANY(poisson)) {
                const pack n = LOADP(aux, i), lambda = pflush(tau * LOADP(x, i));
                const pmask some = n > zero;
                const pack safe = PSELECT(lambda > zero, lambda, one);
                const pack deviance = PSELECT(some,
                                              pflush(poisson_deviance(pflush(PFMA(tau, LOADP(x, i), -n)),
                                                                      lambda, n, one - PDIVIDE(n, safe))),
                                              lambda);
                const pmask inside = OR(lambda > zero, AND(lambda >= zero, n <= zero));
                STOREP(s + mi[HF_S_PENALTY], i,
                       PSELECT(poisson, PSELECT(inside, deviance, PACK_OF(HF_HUGE)),
                               LOADP(s + mi[HF_S_PENALTY], i)));
            }
        }
    }
}
FN void hf_penalties(HF_PARAMETERS)
{
    if (mi[HF_S_WIDTHS])
        hf_penalties_of(HF, 1);
    else
        hf_penalties_of(HF, 0);
}

/* What a unit's histosys add to its panel's derivatives: `un`, its record; `xg`, its cell; `varied`: the row
 * of this panel. */
FN void hf_histosys_jacobian(HF_PARAMETERS, CONSTANT u32 *un, u32 panel, u32 bins, GLOBAL const real *xg,
                             CONSTANT u32 *slot, CONSTANT u32 *spot, GLOBAL real *jacobian, u32 varied)
{
    const u32 n = un[HF_UN_HISTOSYS_COUNT];
    GLOBAL const real *bend = s + mi[HF_S_HT1],
                      *row = s + (varied ? mi[HF_S_VARIED] + un[HF_UN_VARIED] + panel * HF_VARIED_PANEL(n) + 8
                                         : 0);
    CONSTANT elem *data = mr + un[HF_UN_HISTOSYS_DATA] + panel * n * 16;
    for (u32 b = 0; b < bins; b += PACK) {
        const pack rate = LOADP(xg, b);
        TEAM_FOR(e, n) {
            GLOBAL real *j = jacobian + 8 * spot[e];
            const pack shift = PFMA(hf_number(data, row, 16 * e + 8 + b, varied), PACK_OF(bend[slot[e]]),
                                    hf_number(data, row, 16 * e + b, varied));
            STOREP(j, b, PFMA(shift, rate, LOADP(j, b)));
        }
    }
}

/* Derivatives of one panel's lambda by all dense slots of the channel's blocks: [spot][8 bins], from cell
 * arrays xe, xs, xg of the panel's first unit (the panel's own, or variants of them). Unit by unit: the
 * entries of a unit lie together and write different spots, and their loops are long (by slot, each with its
 * short list of units, it took four times as long: the processor mispredicts the end of short loops). */
FN_LARGE void hf_panel_jacobian(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, GLOBAL const real *xe,
                                GLOBAL const real *xs, GLOBAL const real *xg, GLOBAL real *jacobian)
{
    /* what the loops need is read first: the compiler must suppose that a store changes the tables */
    const u32 bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS], units = ch[HF_CH_UNITS];
    CONSTANT u32 *records = mi + mi[HF_I_UNITS] + ch[HF_CH_FIRST_UNIT] * HF_UN_SIZE;
    CONSTANT u32 *normsys_spot = mi + mi[HF_I_NORMSYS_SPOT], *histosys_spot = mi + mi[HF_I_HISTOSYS_SPOT],
                 *histosys_slot = mi + mi[HF_I_HISTOSYS_SLOT];
    CONSTANT u32 *scalar_spot = mi + mi[HF_I_SCALAR_SPOT];
    GLOBAL const real *all_nu = s + mi[HF_S_NU], *all_others = s + mi[HF_S_PHI_OTHERS];
    TEAM_FOR_PACK(i, 64 * ch[HF_CH_BLOCKS]) STOREP(jacobian, i, PK(0.0));
    TEAM_BARRIER();
    for (u32 k = 0; k < units; k++) {
        CONSTANT u32 *un = records + k * HF_UN_SIZE;
        GLOBAL const real *nu = all_nu + un[HF_UN_NORMSYS], *others = all_others + un[HF_UN_SCALARS];
        CONSTANT u32 *spot = normsys_spot + un[HF_UN_NORMSYS];
        const u32 n_normsys = un[HF_UN_NORMSYS_COUNT], n_scalars = un[HF_UN_SCALAR_COUNT],
                  varied = un[HF_UN_VARIED] != HF_NOT_VARIED;
        for (u32 b = 0; b < bins; b += PACK) {
            const pack rate = LOADP(xe, 8 * k + b);
            TEAM_FOR(e, n_normsys) {
                GLOBAL real *j = jacobian + 8 * spot[e];
                STOREP(j, b, PFMA(PACK_OF(nu[e]), rate, LOADP(j, b)));
            }
        }
        TEAM_BARRIER();
        CONSTANT u32 *slot = histosys_slot + un[HF_UN_HISTOSYS];
        spot = histosys_spot + un[HF_UN_HISTOSYS];
        if (varied)
            hf_histosys_jacobian(HF, un, panel, bins, xg + 8 * k, slot, spot, jacobian, 1);
        else
            hf_histosys_jacobian(HF, un, panel, bins, xg + 8 * k, slot, spot, jacobian, 0);
        TEAM_BARRIER();
        spot = scalar_spot + un[HF_UN_SCALARS];
        for (u32 b = 0; b < bins; b += PACK) {
            const pack rate = LOADP(xs, 8 * k + b);
            TEAM_FOR(e, n_scalars) {
                GLOBAL real *j = jacobian + 8 * spot[e];
                STOREP(j, b, PFMA(PACK_OF(others[e]), rate, LOADP(j, b)));
            }
        }
        TEAM_BARRIER();
    }
    flush_array(jacobian, 64 * ch[HF_CH_BLOCKS]);
}

/* Sum of the rates without the local set `set`, over the units that carry it (and `set2`, left out too,
 * unless HF_NO_SET): first (second) derivative of lambda by the set's parameter(s). */
FN pack hf_local_derivative(HF_PARAMETERS, CONSTANT u32 *ch, u32 panel, u32 b, u32 set, u32 set2)
{
    const u32 units = ch[HF_CH_UNITS];
    const u32 first_cell = ch[HF_CH_FIRST_CELL] + panel * units;
    if (ch[HF_CH_COMMON]) return LOADP(s + mi[HF_S_COMMON], (ch[HF_CH_FIRST_PANEL] + panel) * 8 + b);
    pack sum = PK(0.0);
    for (u32 u = 0; u < units; u++) {
        const u32 unit = ch[HF_CH_FIRST_UNIT] + u;
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        CONSTANT u32 *sets = mi + un[HF_UN_SETS];
        u32 carries = 0, carries2 = set2 == HF_NO_SET;
        for (u32 k = 0; k < un[HF_UN_SET_COUNT]; k++) {
            carries |= sets[k] == set;
            carries2 |= sets[k] == set2;
        }
        if (!carries || !carries2) continue;
        pack rate = pflush(pflush(PACK_OF(flush(s[mi[HF_S_F] + unit] * s[mi[HF_S_PHI] + unit])) *
                                  LOADP(s + mi[HF_S_BASE], (first_cell + u) * 8 + b)) *
                           hf_gamma(HF, ch, un, panel, b, set, set2));
        if (mi[HF_CLIPS] & 1)
            rate = PSELECT(LOADP(s + mi[HF_S_XS], (first_cell + u) * 8 + b) == PK(0.0), PK(0.0), rate);
        sum = sum + rate;
    }
    return pflush(sum);
}

/* Weights of a channel's cells and T of its units. */
FN void hf_unit_weights(HF_PARAMETERS, CONSTANT u32 *ch)
{
    const u32 units = ch[HF_CH_UNITS], common = ch[HF_CH_COMMON];
    GLOBAL const real *x = s + mi[HF_S_X];
    TEAM_FOR(u, units) {
        const u32 unit = ch[HF_CH_FIRST_UNIT] + u;
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
        acc8 t = acc8_zero();
        for (u32 panel = 0; panel < ch[HF_CH_PANELS]; panel++) {
            const u32 cell = (ch[HF_CH_FIRST_CELL] + panel * units + u) * 8,
                      bins = panel + 1 < ch[HF_CH_PANELS] ? 8 : ch[HF_CH_LAST_BINS];
            UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
            {
                pack w = LOADP(s + mi[HF_S_W], (ch[HF_CH_FIRST_PANEL] + panel) * 8 + b);
                if (common)
                    w = pflush(w *
                               LOADP(x, mi[mi[HF_I_SETS] + ch[HF_CH_FIRST_SET] * HF_SE_SIZE + HF_SE_SLOT] +
                                            8 * panel + b));
                t.part[b / PACK] = PFMA(w, LOADP(s + mi[HF_S_XS], cell + b), t.part[b / PACK]);
                if (!common && un[HF_UN_SET_COUNT] > 0)
                    w = pflush(w * hf_gamma(HF, ch, un, panel, b, HF_NO_SET, HF_NO_SET));
                if (mi[HF_CLIPS] & 1) w = PSELECT(LOADP(s + mi[HF_S_XG], cell + b) == PK(0.0), PK(0.0), w);
                STOREP(s + mi[HF_S_CELL_WEIGHT], cell + b, w);
            }
        }
        s[mi[HF_S_T] + unit] = acc8_total(t);
    }
}

/* Per histosys entry of a unit, F times the sum over bins of the cell's weight times (S + A t'), or times A
 * alone if `bent`: PACK entries at once, so that eight sums run side by side. */
FN void hf_histosys_sums_of_unit(HF_PARAMETERS, CONSTANT u32 *ch, u32 u, CONSTANT u32 *un, GLOBAL real *sums,
                                 u32 bent, u32 varied)
{
    const u32 units = ch[HF_CH_UNITS], panels = ch[HF_CH_PANELS], n = un[HF_UN_HISTOSYS_COUNT];
    const u32 stride = varied ? HF_VARIED_PANEL(n) : 16 * n; /* from panel to panel */
    CONSTANT u32 *slot = mi + mi[HF_I_HISTOSYS_SLOT] + un[HF_UN_HISTOSYS];
    GLOBAL const real *slope = s + mi[HF_S_HT1],
                      *weight = s + mi[HF_S_CELL_WEIGHT] + (ch[HF_CH_FIRST_CELL] + u) * 8;
    GLOBAL const real *row = s + (varied ? mi[HF_S_VARIED] + un[HF_UN_VARIED] + 8 : 0);
    CONSTANT elem *data = mr + un[HF_UN_HISTOSYS_DATA];
    const pack factor = PACK_OF(s[mi[HF_S_F] + ch[HF_CH_FIRST_UNIT] + u]);
#if PACK == 1
    if (panels == 1 && ch[HF_CH_LAST_BINS] <= 4) { /* as below, without the partial sums that stay 0 */
        const u32 bins = ch[HF_CH_LAST_BINS];
        const pack w0 = weight[0], w1 = bins > 1 ? weight[1] : PK(0.0), w2 = bins > 2 ? weight[2] : PK(0.0),
                   w3 = bins > 3 ? weight[3] : PK(0.0);
        for (u32 e = 0; e < n; e++) { /* panels are padded with zeros */
            const pack bend = slope[slot[e]];
            pack v[4];
            UNROLL for (u32 b = 0; b < 4; b++) v[b] =
                bent ? hf_number(data, row, 16 * e + 8 + b, varied)
                     : PFMA(hf_number(data, row, 16 * e + 8 + b, varied), bend,
                            hf_number(data, row, 16 * e + b, varied));
            STOREP(sums, un[HF_UN_SUMS] + e,
                   pflush(factor * pflush((w0 * v[0] + w2 * v[2]) + (w1 * v[1] + w3 * v[3]))));
        }
        return;
    }
#endif
    for (u32 e = 0; e < n; e += PACK) {
        u32 first[PACK];
        pack bend[PACK], acc[PACK][8 / PACK];
        UNROLL for (u32 k = 0; k < PACK; k++)
        { /* behind the last entry that one again */
            const u32 entry = e + k < n ? e + k : n - 1;
            first[k] = 16 * entry;
            bend[k] = PACK_OF(slope[slot[entry]]);
            UNROLL for (u32 j = 0; j < 8 / PACK; j++) acc[k][j] = PK(0.0);
        }
        for (u32 panel = 0; panel < panels; panel++) {
            const u32 bins = panel + 1 < panels ? 8 : ch[HF_CH_LAST_BINS], at = stride * panel;
            UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
            {
                const pack w = LOADP(weight, 8 * units * panel + b);
                UNROLL for (u32 k = 0; k < PACK; k++)
                {
                    const pack a = hf_number(data, row, first[k] + at + 8 + b, varied);
                    acc[k][b / PACK] =
                        PFMA(w, bent ? a : PFMA(a, bend[k], hf_number(data, row, first[k] + at + b, varied)),
                             acc[k][b / PACK]);
                }
            }
        }
        STOREP(sums, un[HF_UN_SUMS] + e, pflush(factor * acc8_totals(acc)));
    }
}
FN void hf_histosys_sums(HF_PARAMETERS, CONSTANT u32 *ch, GLOBAL real *sums, u32 bent)
{
    TEAM_FOR(u, ch[HF_CH_UNITS]) {
        CONSTANT u32 *un = mi + mi[HF_I_UNITS] + (ch[HF_CH_FIRST_UNIT] + u) * HF_UN_SIZE;
        if (un[HF_UN_VARIED] == HF_NOT_VARIED)
            hf_histosys_sums_of_unit(HF, ch, u, un, sums, bent, 0);
        else
            hf_histosys_sums_of_unit(HF, ch, u, un, sums, bent, 1);
    }
}
FN_LARGE void hf_unit_sums(HF_PARAMETERS, CONSTANT u32 *ch)
{
    hf_unit_weights(HF, ch);
    TEAM_BARRIER();
    hf_histosys_sums(HF, ch, s + mi[HF_S_HSUM], 0);
    TEAM_BARRIER();
}

/* Gradient of the NLL into HF_S_GRADIENT. Dense slots unit by unit, from its sums over bins: the entries of a
 * kind have different slots. */
FN_LARGE void hf_gradient(HF_PARAMETERS)
{
    GLOBAL real *gradient = s + mi[HF_S_GRADIENT];
    GLOBAL const real *x = s + mi[HF_S_X], *aux = s + mi[HF_S_AUX];
    TEAM_FOR_PACK(i, mi[HF_DENSE]) STOREP(gradient, i, PK(0.0));
    TEAM_BARRIER();
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + c * HF_CH_SIZE;
        hf_unit_sums(HF, ch);
        const u32 units = ch[HF_CH_UNITS];
        for (u32 k = 0; k < units; k++) {
            const u32 unit = ch[HF_CH_FIRST_UNIT] + k;
            CONSTANT u32 *un = mi + mi[HF_I_UNITS] + unit * HF_UN_SIZE;
            CONSTANT u32 *slot = mi + mi[HF_I_NORMSYS_SLOT] + un[HF_UN_NORMSYS];
            const real phi = s[mi[HF_S_PHI] + unit], t = s[mi[HF_S_T] + unit], all = flush(phi * t);
            GLOBAL const real *nu = s + mi[HF_S_NU] + un[HF_UN_NORMSYS],
                              *h = s + mi[HF_S_HSUM] + un[HF_UN_SUMS];
            GLOBAL const real *others = s + mi[HF_S_PHI_OTHERS] + un[HF_UN_SCALARS];
            const u32 n_normsys = un[HF_UN_NORMSYS_COUNT], n_histosys = un[HF_UN_HISTOSYS_COUNT],
                      n_scalars = un[HF_UN_SCALAR_COUNT];
            TEAM_FOR(e, n_normsys) gradient[slot[e]] = FMA(all, nu[e], gradient[slot[e]]);
            TEAM_BARRIER();
            slot = mi + mi[HF_I_HISTOSYS_SLOT] + un[HF_UN_HISTOSYS];
            TEAM_FOR(e, n_histosys) gradient[slot[e]] = FMA(phi, h[e], gradient[slot[e]]);
            TEAM_BARRIER();
            slot = mi + mi[HF_I_SCALAR_SLOT] + un[HF_UN_SCALARS];
            TEAM_FOR(e, n_scalars) gradient[slot[e]] = FMA(t, others[e], gradient[slot[e]]);
            TEAM_BARRIER();
        }
    }
    TEAM_FOR_PACK(i, mi[HF_DENSE])
        STOREP(
            gradient, i,
            pflush(PFMA(LOADM(mr + mi[HF_R_PRECISION], i), LOADP(x, i) - LOADP(aux, i), LOADP(gradient, i))));
    TEAM_FOR(panel, mi[HF_PANELS]) {
        CONSTANT u32 *pn = mi + mi[HF_I_PANELS] + panel * HF_PN_SIZE;
        CONSTANT u32 *ch = mi + mi[HF_I_CHANNELS] + pn[HF_PN_CHANNEL] * HF_CH_SIZE;
        for (u32 set = 0; set < ch[HF_CH_SETS]; set++) {
            CONSTANT u32 *se = mi + mi[HF_I_SETS] + (ch[HF_CH_FIRST_SET] + set) * HF_SE_SIZE;
            for (u32 b = 0; b < 8; b += PACK) {
                const u32 slot = se[HF_SE_SLOT] + 8 * pn[HF_PN_INDEX] + b;
                pack g = PK(0.0);
                if (b < pn[HF_PN_BINS]) {
                    const pack point = LOADP(x, slot), observed = LOADP(aux, slot);
                    const pack tau = hf_tau(HF, slot);
                    g = LOADP(s + mi[HF_S_W], panel * 8 + b) *
                        hf_local_derivative(HF, ch, pn[HF_PN_INDEX], b, set, HF_NO_SET);
                    if (se[HF_SE_CONSTRAINT] == 1) g = PFMA(hf_precision(HF, slot), point - observed, g);
                    if (se[HF_SE_CONSTRAINT] == 2)
                        g = g + PSELECT(tau > PK(0.0), tau - PDIVIDE(observed, point), PK(0.0));
                }
                STOREP(gradient, slot, pflush(g));
            }
        }
    }
    TEAM_BARRIER();
}

/* The NLL in deviance form at HF_S_X, HF_HUGE outside the domain; with `derivatives` the gradient too. Every
 * worker returns the value. */
FN_LARGE real hf_value(HF_PARAMETERS, u32 derivatives)
{
    hf_interpolate(HF);
    hf_units(HF, derivatives);
    hf_cells(HF);
    TEAM_BARRIER();
    hf_panels(HF);
    hf_penalties(HF);
    TEAM_BARRIER();
    ONE_WORKER
    {
        const real sum =
            sum8(s + mi[HF_S_DEVIANCE], 8 * mi[HF_PANELS]) + sum8(s + mi[HF_S_PENALTY], mi[HF_SLOTS]);
        s[mi[HF_S_SCALARS_OF_FIT]] = SELECT(sum < HF_HUGE, sum, HF_HUGE);
    }
    TEAM_IF(derivatives) hf_gradient(HF);
    TEAM_BARRIER();
    return s[mi[HF_S_SCALARS_OF_FIT]];
}

#endif
