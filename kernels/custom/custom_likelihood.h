/* custom_likelihood.h: likelihood of a user's model, gradient, Hessian, factor; the words for
 * minimise/newton.h, entry/entry_jobs.h and entry/entry_draw.h.
 *
 *   counts        n D(lambda / n - 1)                 D(x) = x - ln(1 + x)
 *   measurements  (mu - d)^2 / 2 sigma^2, also constraints
 *   terms         the user's function
 *
 * For t(y) the Hessian sums t'' y_j y_k + t' y_jk over data, in fixed order. Fisher matrix: expected t'', no
 * y_jk; for user terms g_j g_k (Berndt, Hall, Hall, Hausman, Ann. Econ. Soc. Meas. 3 (1974) 653). */
#pragma once

#define CUSTOM_HUGE R(1e30)
#define CUSTOM_IS_PRESENT PK(-1.5) /* kinds above: no padding */
#define CUSTOM_IS_TERM PK(-0.5)    /* kinds below: terms, padding */
#define CUSTOM_BLOCKS (MODEL_SLOTS / 8)
#define CUSTOM_PAIRS ((u32)CUSTOM_PAIRS_OF(PARAMETERS))
#if F64
#define CUSTOM_PIVOT_LEAST R(1e-13)
#else
#define CUSTOM_PIVOT_LEAST R(1e-5)
#endif

#define CUSTOM_S(name) (s + mi[CUSTOM_S_##name])

#define MODEL_PARAMETERS CONSTANT u32 *mi, CONSTANT elem *mr, GLOBAL real *s
#define MODEL mi, mr, s
#define MODEL_SLOTS ((u32)CUSTOM_SLOTS_OF(PARAMETERS))
#define MODEL_DENSE MODEL_SLOTS
#define MODEL_X (CUSTOM_S(X))
#define MODEL_GRADIENT (CUSTOM_S(GRADIENT))
#define MODEL_ACTIVE (CUSTOM_S(ACTIVE))
#define MODEL_TILES (CUSTOM_S(TILES))
#define MODEL_WORK (CUSTOM_S(MINIMISER))
#define MODEL_MEMORY (CUSTOM_S(MEMORY))
#define MODEL_HUGE CUSTOM_HUGE
#define MODEL_LEAST (mi[CUSTOM_TERMS] ? -CUSTOM_HUGE : R(0.0)) /* else a deviance */
#define MODEL_CLIPS 0
#define MODEL_PATIENT 0 /* nothing is known of its costs */
#define MODEL_FLAT (s[mi[CUSTOM_S_SCALARS] + 3])
#define MODEL_REACH (s[mi[CUSTOM_S_SCALARS] + 4])
#define MODEL_STIFFNESS (s[mi[CUSTOM_S_SCALARS] + 5])
#define MODEL_DIAGONAL(i) LOADP(CUSTOM_S(DIAGONAL), i)
#define MODEL_DATA mi[CUSTOM_DATA]
#define MODEL_BIFURCATES 0
#define MODEL_RATIO(i) PK(1.0)
#define MODEL_CORRELATE(expected, fixed)
#define MODEL_MAIN (CUSTOM_S(MAIN))
#define MODEL_WEIGHT(i) LOADM(mr + mi[CUSTOM_R_PRECISION], i)
#define MODEL_SCALE(i) s[mi[CUSTOM_S_SCALE] + (i)]

FN expectation custom_expect(MODEL_PARAMETERS, u32 i)
{
    return custom_expectation(i, mi[CUSTOM_MAIN], CUSTOM_S(X), CUSTOM_S(MAIN), mi + CUSTOM_HEADER,
                              mr + mi[CUSTOM_R_OWN]);
}

/* Evaluates at S_X. Leaves what custom_curvature needs. */
FN_LARGE real model_value(MODEL_PARAMETERS, u32 derivatives)
{
    const u32 places = mi[CUSTOM_PLACES];
    const pack zero = PK(0.0), one = PK(1.0);
    TEAM_FOR_PACK(i, places) {
        const expectation y = custom_expect(MODEL, i);
        const pack kind = LOADM(mr, i), n = LOADP(CUSTOM_S(MAIN), i);
        const pmask present = kind > CUSTOM_IS_PRESENT, term = kind<CUSTOM_IS_TERM, measured = kind> zero;
        const pack value = PSELECT(present, pflush(y.value), zero);
        const pack distance = pflush(value - n), w = poisson_slope(value, n), pull = pflush(kind * distance);
        const pack count = poisson_term(distance, value, n, w, PACK_OF(CUSTOM_HUGE));
        const pack t = PSELECT(measured, pflush(PK(0.5) * pull * distance), PSELECT(term, value, count));
        STOREP(CUSTOM_S(VALUE), i, value);
        STOREP(CUSTOM_S(TERM), i, t);
        if (derivatives) {
            STOREP(CUSTOM_S(SLOPE), i, PSELECT(measured, pull, PSELECT(term, one, w)));
            for (u32 j = 0; j < PARAMETERS; j++)
                STOREP(CUSTOM_S(FIRST) + j * places, i, PSELECT(present, pflush(y.first[j]), zero));
        }
    }
    GLOBAL const real *x = CUSTOM_S(X), *aux = CUSTOM_S(AUX);
    TEAM_FOR_PACK(j, MODEL_SLOTS) {
        const pack distance = pflush(LOADP(x, j) - LOADP(aux, j));
        STOREP(CUSTOM_S(PENALTY), j,
               pflush(pflush(PK(0.5) * LOADM(mr + mi[CUSTOM_R_PRECISION], j) * distance) * distance));
    }
    TEAM_BARRIER();
    ONE_WORKER
    {
        const real sum = sum8(CUSTOM_S(TERM), places) + sum8(CUSTOM_S(PENALTY), MODEL_SLOTS);
        s[mi[CUSTOM_S_SCALARS]] = SELECT(sum < CUSTOM_HUGE, sum, CUSTOM_HUGE);
    }
    if (derivatives)
        TEAM_FOR(j, MODEL_SLOTS) {
            real g = R(0.0);
            if (j < PARAMETERS) g = dot8(CUSTOM_S(SLOPE), CUSTOM_S(FIRST) + j * places, places);
            s[mi[CUSTOM_S_GRADIENT] + j] =
                flush(g + flush(LOADM1(mr + mi[CUSTOM_R_PRECISION], j) * flush(x[j] - aux[j])));
        }
    TEAM_BARRIER();
    return s[mi[CUSTOM_S_SCALARS]];
}

/* `exact`: also second derivatives, times kap. */
FN void custom_weights(MODEL_PARAMETERS, real kap, u32 exact)
{
    const u32 places = mi[CUSTOM_PLACES];
    const pack zero = PK(0.0), one = PK(1.0);
    TEAM_FOR_PACK(i, places) {
        const pack kind = LOADM(mr, i), n = LOADP(CUSTOM_S(MAIN), i), value = LOADP(CUSTOM_S(VALUE), i);
        const pmask present = kind > CUSTOM_IS_PRESENT, term = kind<CUSTOM_IS_TERM, measured = kind> zero;
        const pack part = PACK_OF(kap);
        const pmask mine = AND(part > zero, present);
        const pack safe = PSELECT(value > zero, value, one);
        const pack fisher = PSELECT(measured, kind, PSELECT(term, one, pflush(PDIVIDE(one, safe))));
        const pack own =
            PSELECT(measured, kind, PSELECT(term, zero, pflush(PDIVIDE(pflush(PDIVIDE(n, safe)), safe))));
        STOREP(CUSTOM_S(FISHER), i, fisher);
        const pack mixed = PSELECT(part < one, pflush(PFMA(part, own - fisher, fisher)), own);
        STOREP(CUSTOM_S(WEIGHT), i, PSELECT(part > zero, mixed, fisher));
        if (exact) {
            const expectation y = custom_expect(MODEL, i);
            const pack slope = LOADP(CUSTOM_S(SLOPE), i);
            for (u32 k = 0; k < CUSTOM_PAIRS; k++)
                STOREP(CUSTOM_S(SECOND) + k * places, i,
                       PSELECT(mine, pflush(part * pflush(slope * pflush(y.second[k]))), zero));
        }
    }
}

/* Adds second derivatives if `exact`; zeros in other lanes, whose bits must not depend on neighbours. */
FN real custom_element(MODEL_PARAMETERS, GLOBAL const real *weight, u32 j, u32 k, u32 exact)
{
    const u32 places = mi[CUSTOM_PLACES];
    GLOBAL const real *a = CUSTOM_S(FIRST) + j * places, *b = CUSTOM_S(FIRST) + k * places,
                      *second = CUSTOM_S(SECOND) + PAIR(j, k) * places;
    acc8 sum = acc8_zero();
    for (u32 i = 0; i < places; i += 8)
        for (u32 c = 0; c < 8; c += PACK) {
            pack more = PK(0.0);
            if (exact) more = LOADP(second, i + c);
            sum.part[c / PACK] =
                PFMA(pflush(LOADP(weight, i + c) * LOADP(a, i + c)), LOADP(b, i + c), sum.part[c / PACK]) +
                more;
        }
    return acc8_total(sum);
}

/* Damped curvature after model_value, 1 in inactive slots; kap 1: Hessian, 0: Fisher matrix, else between. */
FN_LARGE void custom_curvature(MODEL_PARAMETERS, real kap, real damping)
{
    const u32 exact = ANY(kap > R(0.0));
    GLOBAL real *tiles = CUSTOM_S(TILES);
    GLOBAL const real *active = CUSTOM_S(ACTIVE);
    TEAM_FOR_PACK(i, TILE_OFFSET(CUSTOM_BLOCKS, 0)) STOREP(tiles, i, PK(0.0));
    custom_weights(MODEL, kap, exact);
    TEAM_BARRIER();
    TEAM_FOR(e, MODEL_SLOTS * MODEL_SLOTS) {
        const u32 j = e / MODEL_SLOTS, k = e % MODEL_SLOTS;
        if (k > j || (k != j && j >= PARAMETERS)) continue;
        const mask both = AND(active[j] > R(0.0), active[k] > R(0.0));
        real h = R(0.0);
        if (j < PARAMETERS) h = custom_element(MODEL, CUSTOM_S(WEIGHT), j, k, exact);
        h = SELECT(both, h, R(0.0));
        if (j == k) {
            const real precision = LOADM1(mr + mi[CUSTOM_R_PRECISION], j);
            real scale = precision;
            if (j < PARAMETERS) scale = scale + custom_element(MODEL, CUSTOM_S(FISHER), j, j, 0);
            h = SELECT(both, (h + precision) * (R(1.0) + damping), R(1.0));
            s[mi[CUSTOM_S_SCALE] + j] = scale;
            s[mi[CUSTOM_S_DIAGONAL] + j] = h;
        }
        tiles[TILE_OFFSET(j / 8, k / 8) + 8 * (k % 8) + j % 8] = h;
    }
    TEAM_BARRIER();
}

/* `doubt`, `flat`: see tile_factor. Returns the lanes with a negative pivot. */
FN_LARGE mask custom_factor(MODEL_PARAMETERS, real doubt, real flat)
{
    GLOBAL real *found = CUSTOM_S(SCALARS) + 1;
    tiles_factor(CUSTOM_S(TILES), CUSTOM_S(RDIAG), CUSTOM_S(SCALE), CUSTOM_BLOCKS, CUSTOM_PIVOT_LEAST,
                 SELECT(doubt > CUSTOM_PIVOT_LEAST, doubt, CUSTOM_PIVOT_LEAST), flat, found);
    TEAM_BARRIER();
    const mask bad = found[0] > R(0.0);
    TEAM_BARRIER(); /* the next factor clears it */
    return bad;
}

FN_LARGE void model_solve(MODEL_PARAMETERS, GLOBAL real *v)
{
    TEAM_FOR_PACK(i, MODEL_SLOTS) STOREP(v, i, LOADP(v, i) * LOADP(CUSTOM_S(ACTIVE), i));
    TEAM_BARRIER();
    tiles_solve_lower(CUSTOM_S(TILES), CUSTOM_S(RDIAG), CUSTOM_BLOCKS, v);
    tiles_solve_upper(CUSTOM_S(TILES), CUSTOM_S(RDIAG), CUSTOM_BLOCKS, v);
}

/* Finds a direction as tiles_negative_direction does. Returns its curvature; 0: v is 0. */
FN_LARGE real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v)
{
    GLOBAL const real *found = CUSTOM_S(SCALARS) + 1;
    tiles_negative_direction(CUSTOM_S(TILES), CUSTOM_S(RDIAG), CUSTOM_BLOCKS, found, v, MODEL_SLOTS);
    return found[1];
}

FN void model_prepare(MODEL_PARAMETERS) /* padding comes with the data */
{
    ONE_WORKER
    {
        MODEL_REACH = MODEL_STIFFNESS = R(0.0);
    }
}
/* A user's function does not tell where its domain ends: fits stay inside. */
FN mask model_is_near_edge(MODEL_PARAMETERS, real part)
{
    return part < MODEL_REACH;
}
FN real model_settle(MODEL_PARAMETERS, mask lanes)
{
    return SELECT(lanes, MODEL_REACH, R(0.0));
}
FN void model_stiffen(MODEL_PARAMETERS, real factor)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        MODEL_STIFFNESS = MODEL_STIFFNESS * factor;
    }
    TEAM_BARRIER();
}
FN void model_keep_domain(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        MODEL_REACH = R(0.0);
    }
    TEAM_BARRIER();
}

FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt, real flat)
{
    custom_curvature(MODEL, kap, damping);
    return custom_factor(MODEL, doubt, flat);
}
FN void model_matrix(MODEL_PARAMETERS, real kap)
{
    custom_curvature(MODEL, kap, R(0.0));
}

FN void model_draws(MODEL_PARAMETERS, u32 i, u32 fixed, pmask drawn, PRIVATE pmask *counted,
                    PRIVATE pmask *measured, PRIVATE pack *precision)
{
    const u32 first_aux = mi[CUSTOM_PLACES];
    const pack zero = PK(0.0);
    if (i >= first_aux && fixed) drawn = zero > zero;
    *precision = i < first_aux ? LOADM(mr, i) : LOADM(mr + mi[CUSTOM_R_PRECISION], i - first_aux);
    *measured = AND(drawn, *precision > zero);
    /* kinds: custom/custom_arrays.h */
    *counted = AND(drawn, AND(*precision <= zero, *precision > CUSTOM_IS_TERM));
}
