/* histfactory_rates.h: expected rates, NLL in deviance form, gradient.
 *
 *   x ─► factors (normsys) ─► units (products) ─► cells (base) ─► panels (lambda, deviance) ─► gradient
 *
 * At HF_S_X; the slab keeps what derivatives need. HistFactory (CERN-OPEN-2012-016) as pyhf evaluates it.
 * Deviance form: n ln(n/lambda) + lambda - n is 0 at lambda = n; the rest depends on data alone. */
#pragma once

#include "minimise/value_request.h"
#include "numeric/deviance.h"
#include "histfactory/histfactory_correlations.h"
#include "histfactory/histfactory_edge.h"
#include "histfactory/histfactory_functions.h"
#include "histfactory/histfactory_histosys.h"
#include "histfactory/histfactory_locals.h"
#include "histfactory/histfactory_mcstat.h"
#include "histfactory/histfactory_normsys.h"
#include "histfactory/histfactory_shape.h"

/* No division: a signal strength may be 0. */
FN_LARGE void hf_units(HF_PARAMETERS, hf_part_key key, u32 derivatives)
{
    const hf_part part = hf_part_of(mi, key);
    GLOBAL const real *x = HF_S(X);
    GLOBAL real *exponents = HF_S(PHI); /* until Phi is made */
    if (mi[HF_NORMSYS_CODE] != 4 || mi[HF_SWITCHES] & HF_VARIED_FACTORS)
        hf_other_products(HF, key, exponents, derivatives);
    else if (derivatives)
        hf_polynomial_slopes(HF, key, exponents);
    else
        hf_polynomial_products(HF, key, exponents);
    TEAM_BARRIER();
    TEAM_FOR(k, (part.units + PACK - 1) / PACK) {
        const u32 unit = part.first_unit + k * PACK, end = part.first_unit + part.units;
        const pack e = LOADP(exponents, unit), zero = PK(0.0);
        if (PANY(OR(e<zero, e> zero))) { /* beyond the part may be other numbers */
            const pack f = pflush(LOADP(HF_S(F), unit) * m_exp(e));
            for (u32 j = 0; j < PACK && unit + j < end; j++) s[mi[HF_S_F] + unit + j] = ELEMENT(f, j);
        }
    }
    TEAM_BARRIER();
    TEAM_FOR(k, part.units) {
        const u32 unit = part.first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        CONSTANT u32 *slot = HF_I(SCALAR_SLOT) + un->scalars;
        const u32 count = un->scalar_count;
        real phi = R(1.0);
        for (u32 k = 0; k < count; k++) phi = flush(phi * x[slot[k]]);
        s[mi[HF_S_PHI] + unit] = phi;
        for (u32 k = 0; k < count; k++) {
            real others = R(1.0);
            for (u32 j = 0; j < count; j++)
                if (j != k) others = flush(others * x[slot[j]]);
            s[mi[HF_S_PHI_OTHERS] + un->scalars + k] = others;
        }
    }
}

/* XE, XS, XG, COMMON. Returns lambda before its clip, from `empty` (1 in padding bins). A common Gamma
 * multiplies the sum. */
FN pack hf_bin_rates(HF_PARAMETERS, hf_part part, hf_channel ch, u32 panel, u32 b, pack empty)
{
    const u32 clips = mi[HF_SWITCHES] & HF_CLIP_SAMPLES, shapes = hf_has_shapes(mi), common = ch->common,
              units = ch->units;
    const pack zero = PK(0.0), one = PK(1.0);
    const pmask real_bin = empty <= zero;
    pack gamma = one, sum = zero, lambda = empty;
    if (common) gamma = hf_gamma(HF, ch, hf_unit_of(mi, ch->first_unit), panel, b);
    for (u32 u = 0; u < units; u++) {
        const u32 unit = ch->first_unit + u, cell = hf_cell_at(ch, panel, u) + b - part.cell_shift;
        hf_unit un = hf_unit_of(mi, unit);
        const pack phi = PACK_OF(s[mi[HF_S_PHI] + unit]);
        pack xg = PACK_OF(s[mi[HF_S_F] + unit]);
        if (!common && un->set_count > 0) xg = pflush(xg * hf_gamma(HF, ch, un, panel, b));
        pack xs = pflush(LOADP(HF_S(BASE), cell) * xg);
        pack xe = pflush(xs * phi);
        xg = pflush(xg * phi);
        if (shapes) xg = hf_by_shifts(mr, un, LOADP(HF_S(BASE), cell), xg);
        if (clips) { /* a clipped rate is constant */
            const pack clip = hf_sample_clip(mi, mr), rate = pflush(xe * gamma);
            const pmask low = AND(rate < clip, real_bin);
            lambda = lambda + PSELECT(low, clip, rate);
            xe = PSELECT(low, zero, xe);
            xs = PSELECT(low, zero, xs);
            xg = PSELECT(low, zero, xg);
        }
        sum = sum + xe;
        STOREP(HF_S(XS), cell, xs);
        if (part.kept) STOREP(HF_S(XE), cell, xe);
        if (part.kept || clips) STOREP(HF_S(XG), cell, xg);
    }
    sum = pflush(sum);
    STOREP(HF_S(COMMON), hf_first_bin(ch, panel) + b, sum);
    if (!clips) lambda = PFMA(gamma, sum, lambda);
    return pflush(lambda);
}

FN_LARGE void hf_panels(HF_PARAMETERS, hf_part_key key)
{
    const hf_part part = hf_part_of(mi, key);
    const pack zero = PK(0.0), one = PK(1.0);
    const u32 beyond = ANY(HF_REACH > R(0.0));
    TEAM_FOR(p, part.panels) {
        const u32 panel = part.first_panel + p;
        hf_panel pn = hf_panel_of(mi, panel);
        hf_channel ch = hf_channel_of(mi, pn->channel);
        for (u32 b = 0; b < pn->bins; b += PACK) {
            const u32 bin = panel * 8 + b;
            const pack empty = LOADM(HF_R(LAMBDA0), bin);
            pack lambda = hf_bin_rates(HF, part, ch, pn->index, b, empty);
            pmask clipped = zero > one;
            if (ch->mcstat > 0) lambda = hf_mcstat_lambda(HF, ch, pn->index, b, lambda);
            const pack n = LOADP(HF_S(MAIN), bin), own = lambda;
            if (hf_clips_bins(mi, ch)) {
                const pack clip = hf_bin_clip(mi, mr, ch);
                clipped = AND(lambda < clip, empty <= zero);
                lambda = PSELECT(clipped, clip, lambda);
                if (ch->mcstat > 0) clipped = AND(clipped, PNOT(hf_mcstat_rises(mi, mr, ch, own, n)));
            }
            const pack w = poisson_slope(lambda, n);
            pack slope = PSELECT(clipped, zero, w),
                 term = poisson_term(lambda - n, lambda, n, w, PACK_OF(HF_HUGE));
            if (beyond) {
                const hf_continued c = hf_continue(HF, ch, pn->index, b, ch->mcstat > 0 ? own : lambda, n);
                slope = PSELECT(c.here, c.slope, slope);
                term = PSELECT(c.here, c.value, term);
                if (ch->mcstat > 0) lambda = PSELECT(c.here, own, lambda);
            }
            STOREP(HF_S(LAMBDA), bin, lambda);
            STOREP(HF_S(W), bin, slope);
            STOREP(HF_S(DEVIANCE), bin, term);
        }
    }
}

/* Values of constraints: Gaussian of all slots, then the other laws in their own. */
FN void hf_penalties_of(HF_PARAMETERS, u32 varied)
{
    GLOBAL real *penalty = HF_S(PENALTY);
    const hf_numbers precisions = hf_precisions(HF, varied), taus = hf_taus(HF, varied);
    TEAM_FOR_PACK(i, mi[HF_SLOTS])
        STOREP(penalty, i, hf_gaussian_value(hf_term_of_x(HF, hf_number(precisions, i), i)));
    if (mi[HF_HAS_POISSON])
        TEAM_FOR_PACK(i, mi[HF_SLOTS]) {
            const pack tau = hf_number(taus, i);
            const pmask own = tau > PK(0.0);
            if (PANY(own))
                STOREP(penalty, i,
                       PSELECT(own, hf_poisson_value(hf_term_of_x(HF, tau, i)), LOADP(penalty, i)));
        }
    if (mi[HF_HAS_AFFINE])
        TEAM_FOR_PACK(i, mi[HF_SLOTS]) STOREP(penalty, i, hf_value_of_y(HF, i, LOADP(penalty, i)));
}
FN void hf_penalties(HF_PARAMETERS)
{
    if (mi[HF_S_WIDTHS])
        hf_penalties_of(HF, 1);
    else
        hf_penalties_of(HF, 0);
}

FN void hf_add_entries(GLOBAL real *jacobian, CONSTANT u32 *spot, u32 n, GLOBAL const real *factor,
                       GLOBAL const real *rates, u32 bins)
{
    for (u32 b = 0; b < bins; b += PACK) {
        const pack rate = LOADP(rates, b);
        TEAM_FOR(e, n) {
            GLOBAL real *j = jacobian + 8 * spot[e];
            STOREP(j, b, PFMA(PACK_OF(factor[e]), rate, LOADP(j, b)));
        }
    }
}

/* d lambda / d dense slots of the channel: [spot][8 bins]. `xe`, `xs`, `xg`: first unit's cells. By unit:
 * loops are long and write different spots (by slot: four times slower, mispredicted short loops). */
FN_LARGE void hf_panel_jacobian(HF_PARAMETERS, hf_channel ch, u32 panel, GLOBAL const real *xe,
                                GLOBAL const real *xs, GLOBAL const real *xg, GLOBAL real *jacobian)
{
    /* read first: to the compiler a store may change tables */
    const u32 bins = hf_bins(ch, panel), units = ch->units, shapes = hf_has_shapes(mi);
    hf_unit records = hf_unit_of(mi, ch->first_unit);
    CONSTANT u32 *normsys_spot = HF_I(NORMSYS_SPOT), *histosys_spot = HF_I(HISTOSYS_SPOT),
                 *histosys_place = hf_shift_places(mi), *scalar_spot = HF_I(SCALAR_SPOT);
    GLOBAL const real *nu = HF_S(NU), *others = HF_S(PHI_OTHERS);
    TEAM_FOR_PACK(i, 64 * ch->blocks) STOREP(jacobian, i, PK(0.0));
    TEAM_BARRIER();
    for (u32 k = 0; k < units; k++) {
        hf_unit un = records + k;
        const u32 n_scalars = un->scalar_count, scalars = un->scalars;
        hf_add_entries(jacobian, normsys_spot + un->normsys, un->normsys_count, nu + un->normsys, xe + 8 * k,
                       bins);
        TEAM_BARRIER();
        CONSTANT u32 *place = histosys_place + un->histosys, *spot = histosys_spot + un->histosys;
        TEAM_IF(shapes) {
            hf_add_entries(jacobian, spot, hf_turn_count(mr, un), HF_S(SHAPE_U) + un->sums,
                           (hf_is_logarithmic(mr, un) ? xg : xe) + 8 * k, bins);
            TEAM_BARRIER();
        }
        if (un->varied != HF_NOT_VARIED)
            hf_histosys_jacobian(HF, un, panel, bins, xg + 8 * k, place, spot, jacobian, 1);
        else
            hf_histosys_jacobian(HF, un, panel, bins, xg + 8 * k, place, spot, jacobian, 0);
        TEAM_BARRIER();
        hf_add_entries(jacobian, scalar_spot + scalars, n_scalars, others + scalars, xs + 8 * k, bins);
        TEAM_BARRIER();
    }
    TEAM_IF(hf_has_functions(mi)) hf_fold_jacobian(HF, ch, jacobian);
    flush_array(jacobian, 64 * ch->blocks);
}

/* CELL_WEIGHT, T. What a channel's units share is read first: to the compiler a store may change it. */
FN void hf_unit_weights(HF_PARAMETERS, hf_part part, hf_channel ch)
{
    const u32 common = ch->common, panels = ch->panels, units = ch->units, first_unit = ch->first_unit,
              shapes = hf_has_shapes(mi), clips = mi[HF_SWITCHES] & HF_CLIP_SAMPLES,
              first_cell = 8 * ch->first_cell - part.cell_shift;
    GLOBAL const real *x = HF_S(X), *slope = HF_S(W) + hf_first_bin(ch, 0), *xs = HF_S(XS), *xg = HF_S(XG);
    GLOBAL real *weight = HF_S(CELL_WEIGHT), *sums = HF_S(T);
    if (common) x += hf_local_slot(mi, ch, 0, 0);
    TEAM_FOR(u, units) {
        hf_unit un = hf_unit_of(mi, first_unit + u);
        const u32 own = !common && un->set_count > 0;
        const pack factor = PACK_OF(s[mi[HF_S_F] + first_unit + u]);
        acc8 t = acc8_zero();
        for (u32 panel = 0; panel < panels; panel++) {
            const u32 cell = first_cell + 8 * (panel * units + u), bins = hf_bins(ch, panel);
            UNROLL for (u32 b = 0; b < 8; b += PACK) if (b < bins)
            {
                pack w = LOADP(slope, 8 * panel + b);
                if (common) w = pflush(w * LOADP(x, 8 * panel + b));
                t.part[b / PACK] = PFMA(w, LOADP(xs, cell + b), t.part[b / PACK]);
                if (own) w = pflush(w * hf_gamma(HF, ch, un, panel, b));
                if (clips) w = PSELECT(LOADP(xg, cell + b) == PK(0.0), PK(0.0), w);
                if (shapes) w = hf_by_shifts(mr, un, LOADP(HF_S(BASE), cell + b), w);
                STOREP(weight, cell + b, pflush(w * factor));
            }
        }
        sums[first_unit + u] = acc8_total(t);
        if (mi[HF_SWITCHES] & HF_HAS_MCSTAT) {
            s[mi[HF_S_MCSTAT_SUM] + first_unit + u] = R(0.0);
            if (ch->mcstat > 0)
                sums[first_unit + u] = flush(sums[first_unit + u] + hf_mcstat_sums(HF, ch, u));
        }
    }
}

FN_LARGE void hf_unit_sums(HF_PARAMETERS, hf_part_key key, hf_channel ch)
{
    const hf_part part = hf_part_of(mi, key);
    TEAM_IF(hf_has_shapes(mi)) hf_shape_sums(HF, key, ch);
    hf_unit_weights(HF, part, ch);
    TEAM_BARRIER();
    TEAM_IF(hf_has_shapes(mi)) hf_shape_totals(HF, part, ch);
    TEAM_IF(!hf_has_no_sums(part, ch)) {
        hf_histosys_sums(HF, part, ch, HF_S(HSUM), 0);
        TEAM_BARRIER();
    }
}

/* R' by dense slots of the channel: [spot][8 bins]; added to lambda's. CELL_TEMP is scratch. */
FN_LARGE void hf_mcstat_jacobian(HF_PARAMETERS, hf_channel ch, u32 panel, GLOBAL real *jacobian,
                                 GLOBAL real *slopes)
{
    const u32 bins = hf_bins(ch, panel), units = ch->units,
              slot = hf_local_slot(mi, ch, ch->mcstat - 1, panel);
    GLOBAL real *xe = HF_S(CELL_TEMP), *xs = xe + 8 * units;
    TEAM_FOR_PACK(i, 64 * ch->blocks) STOREP(slopes, i, PK(0.0));
    TEAM_FOR(u, units) {
        const u32 unit = ch->first_unit + u;
        for (u32 b = 0; b < 8; b += PACK) {
            const pack rate = pflush(hf_mcstat_weight(HF, ch, panel, u, b) * PACK_OF(s[mi[HF_S_F] + unit]));
            STOREP(xs, 8 * u + b, rate);
            STOREP(xe, 8 * u + b, pflush(rate * PACK_OF(s[mi[HF_S_PHI] + unit])));
        }
    }
    TEAM_BARRIER();
    for (u32 k = 0; k < units; k++) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + k);
        hf_add_entries(slopes, HF_I(NORMSYS_SPOT) + un->normsys, un->normsys_count, HF_S(NU) + un->normsys,
                       xe + 8 * k, bins);
        TEAM_BARRIER();
        hf_add_entries(slopes, HF_I(SCALAR_SPOT) + un->scalars, un->scalar_count,
                       HF_S(PHI_OTHERS) + un->scalars, xs + 8 * k, bins);
        TEAM_BARRIER();
    }
    TEAM_IF(hf_has_functions(mi)) hf_fold_jacobian(HF, ch, slopes);
    flush_array(slopes, 64 * ch->blocks);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, 64 * ch->blocks)
        STOREP(jacobian, i, pflush(PFMA(LOADP(HF_S(X), slot + i % 8), LOADP(slopes, i), LOADP(jacobian, i))));
    TEAM_BARRIER();
}

/* By unit: there entries of a kind have different slots. */
FN void hf_channel_gradient(HF_PARAMETERS, hf_part part, hf_channel ch, GLOBAL real *gradient)
{
    const u32 units = ch->units;
    for (u32 k = 0; k < units; k++) {
        const u32 unit = ch->first_unit + k;
        hf_unit un = hf_unit_of(mi, unit);
        CONSTANT u32 *slot = HF_I(NORMSYS_SLOT) + un->normsys;
        const real phi = s[mi[HF_S_PHI] + unit], t = s[mi[HF_S_T] + unit], all = flush(phi * t);
        GLOBAL const real *nu = HF_S(NU) + (un->normsys - part.normsys_shift),
                          *others = HF_S(PHI_OTHERS) + un->scalars;
        const u32 n_normsys = un->normsys_count, n_scalars = un->scalar_count;
        TEAM_FOR(e, n_normsys) gradient[slot[e]] = FMA(all, nu[e], gradient[slot[e]]);
        TEAM_BARRIER();
        hf_histosys_gradient(HF, part, ch, k, gradient);
        TEAM_BARRIER();
        TEAM_IF(hf_has_shapes(mi)) hf_shape_gradient(HF, unit, gradient);
        slot = HF_I(SCALAR_SLOT) + un->scalars;
        TEAM_FOR(e, n_scalars) gradient[slot[e]] = FMA(t, others[e], gradient[slot[e]]);
        TEAM_BARRIER();
    }
}

FN void hf_local_gradient(HF_PARAMETERS, hf_part part, GLOBAL real *gradient)
{
    TEAM_FOR(p, part.panels) {
        const u32 panel = part.first_panel + p;
        hf_panel pn = hf_panel_of(mi, panel);
        hf_channel ch = hf_channel_of(mi, pn->channel);
        for (u32 set = 0; set < ch->sets; set++) {
            hf_set se = hf_set_of(mi, ch, set);
            for (u32 b = 0; b < 8; b += PACK) {
                const u32 slot = se->slot + 8 * pn->index + b;
                pack g = PK(0.0);
                if (b < pn->bins)
                    g = hf_constraint_slope(
                        HF, se, slot,
                        LOADP(HF_S(W), panel * 8 + b) *
                            hf_local_derivative_of(HF, part, ch, pn->index, b, set, HF_NO_SET));
                STOREP(gradient, slot, pflush(g));
            }
        }
    }
}

/* Gradient of the part's channels, added in dense slots. */
FN_LARGE void hf_gradient(HF_PARAMETERS, hf_part_key key)
{
    const hf_part part = hf_part_of(mi, key);
    GLOBAL real *gradient = HF_S(GRADIENT);
    for (u32 k = 0; k < part.channels; k++) {
        hf_channel ch = hf_channel_of(mi, part.first_channel + k);
        hf_unit_sums(HF, key, ch);
        hf_channel_gradient(HF, part, ch, gradient);
    }
    hf_local_gradient(HF, part, gradient);
}

FN void hf_constraint_gradient(HF_PARAMETERS)
{
    GLOBAL real *gradient = HF_S(GRADIENT);
    TEAM_FOR_PACK(i, mi[HF_DENSE])
        STOREP(gradient, i,
               pflush(hf_gaussian_slope(hf_term_of_x(HF, LOADM(HF_R(PRECISION), i), i), LOADP(gradient, i))));
    if (mi[HF_HAS_AFFINE])
        TEAM_FOR_PACK(i, mi[HF_DENSE]) STOREP(gradient, i, pflush(hf_slope_of_y(HF, i, LOADP(gradient, i))));
}

/* What stays to do where slots are functions of others. */
FN_LARGE void hf_end_functions(HF_PARAMETERS, GLOBAL real *value, u32 derivatives)
{
    TEAM_BARRIER();
    TEAM_IF(derivatives) hf_fold_gradient(HF);
    ONE_WORKER
    {
        value[0] = SELECT(s[hf_functions_of(mi)->outside] > R(0.0), HF_HUGE, value[0]);
    }
    hf_leave_functions(HF);
}

/* The value, for every worker; HF_HUGE outside the domain. `derivatives`: 0, 1 or MODEL_SLOPE. */
FN_LARGE real model_value(HF_PARAMETERS, u32 derivatives)
{
    TEAM_IF(hf_has_functions(mi)) hf_evaluate_functions(HF, derivatives ? 1 : 0);
    hf_normsys_regions(HF);
    hf_interpolate(HF, derivatives != MODEL_SLOPE);
    TEAM_IF(derivatives) {
        TEAM_FOR_PACK(i, mi[HF_DENSE]) STOREP(HF_S(GRADIENT), i, PK(0.0));
        TEAM_BARRIER();
    }
    const u32 by_channel = hf_goes_by_channel(mi), parts = by_channel ? mi[HF_CHANNELS] : 1;
    for (u32 k = 0; k < parts; k++) {
        const hf_part_key key = hf_part_key_of(by_channel ? k : HF_WHOLE, derivatives != MODEL_SLOPE);
        hf_units(HF, key, derivatives);
        hf_cells(HF, key);
        TEAM_BARRIER();
        TEAM_IF(hf_has_shapes(mi)) hf_shapes(HF, key);
        hf_panels(HF, key);
        TEAM_BARRIER();
        TEAM_IF(derivatives) hf_gradient(HF, key);
    }
    hf_penalties(HF);
    TEAM_IF(hf_is_correlated(mi)) hf_add_tied(HF, HF_S(PENALTY), 1);
    TEAM_BARRIER();
    GLOBAL real *value = HF_S(SCALARS_OF_FIT) + HF_FIT_VALUE;
    ONE_WORKER
    {
        const real sum = sum8(HF_S(DEVIANCE), 8 * mi[HF_PANELS]) + sum8(HF_S(PENALTY), mi[HF_SLOTS]);
        value[0] = SELECT(sum < HF_HUGE, sum, HF_HUGE);
    }
    TEAM_IF(derivatives) {
        hf_constraint_gradient(HF);
        TEAM_IF(hf_is_correlated(mi)) hf_add_tied(HF, HF_S(GRADIENT), 0);
    }
    TEAM_IF(hf_has_functions(mi)) hf_end_functions(HF, value, derivatives);
    TEAM_BARRIER();
    return value[0];
}
