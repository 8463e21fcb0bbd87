/* histfactory_words.h: HistFactory for minimise/newton.h, entry/entry_jobs.h, entry/entry_draw.h. */
#pragma once

#include "numeric/math.h"
#include "numeric/deviance.h"
#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_rates.h"
#include "histfactory/histfactory_curvature.h"

#define MODEL_PARAMETERS HF_PARAMETERS
#define MODEL HF
#define MODEL_SLOTS mi[HF_SLOTS]
#define MODEL_DENSE mi[HF_DENSE]
#define MODEL_X (HF_S(X))
#define MODEL_GRADIENT (HF_S(GRADIENT))
#define MODEL_ACTIVE (HF_S(ACTIVE))
#define MODEL_TILES (HF_S(TILES))
#define MODEL_WORK (HF_S(MINIMISER))
#define MODEL_MEMORY (HF_S(AUGMENTED)) /* shared with other entries */
#define MODEL_HUGE HF_HUGE
#define MODEL_LEAST R(0.0) /* a deviance */
#define MODEL_PATIENT mi[HF_IS_PATIENT]
#define MODEL_CLIPS (mi[HF_SWITCHES] & HF_HAS_MCSTAT)
#define MODEL_FLAT (s[mi[HF_S_SCALARS_OF_FIT] + HF_FIT_FLAT])
#define MODEL_REACH HF_REACH
#define MODEL_STIFFNESS HF_STIFFNESS
#define MODEL_DIAGONAL(i) \
    ((i) < mi[HF_DENSE] ? LOADP(HF_S(DIAGONAL), i) : LOADP(HF_S(LOCAL_D), (i) - mi[HF_DENSE]))
#define MODEL_DATA mi[HF_DATA]
#define MODEL_MAIN (HF_S(MAIN))
#define MODEL_WEIGHT(i) hf_weight(HF, i)
#define MODEL_SCALE(i) \
    ((i) < mi[HF_DENSE] ? s[mi[HF_S_SCALE] + (i)] : s[mi[HF_S_LOCAL_D] + (i) - mi[HF_DENSE]])

FN pack hf_weight(HF_PARAMETERS, u32 i)
{
    const pack precision = hf_precision(HF, i), tau = hf_tau(HF, i),
               weight = PSELECT(precision > PK(0.0), precision, tau);
    return mi[HF_HAS_AFFINE] ? weight + hf_affine_number(mi, mr, HF_AFFINE_WEIGHT, i) : weight;
}

FN void model_prepare(MODEL_PARAMETERS) /* padding bins; the domain alone */
{
    ONE_WORKER
    {
        HF_REACH = HF_STIFFNESS = R(0.0);
    }
    TEAM_FOR_PACK(i, 8 * mi[HF_PANELS]) STOREP(HF_S(DEVIANCE), i, PK(0.0));
}
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt, real flat)
{
    hf_curvature(HF, kap, damping, 1);
    return hf_factor(HF, doubt, flat);
}
FN void model_matrix(MODEL_PARAMETERS, real kap)
{
    hf_curvature(HF, kap, R(0.0), 0);
}

FN mask model_is_near_edge(MODEL_PARAMETERS, real part)
{
    return hf_is_near_edge(HF, part);
}
FN real model_settle(MODEL_PARAMETERS, mask lanes)
{
    return hf_settle(HF, lanes);
}
FN void model_keep_domain(MODEL_PARAMETERS)
{
    hf_keep_domain(HF);
}
FN void model_stiffen(MODEL_PARAMETERS, real factor)
{
    hf_stiffen(HF, factor);
}

#define MODEL_BIFURCATES mi[HF_HAS_AFFINE]
#define MODEL_RATIO(i) hf_ratio_of_place(HF, i)
/* The ratio of data from place i on; 1 unless they are of a bifurcated law. */
FN pack hf_ratio_of_place(HF_PARAMETERS, u32 i)
{
    const u32 first = 8 * mi[HF_PANELS];
    if (i < first || i >= first + mi[HF_SLOTS]) return PK(1.0);
    const pack ratio = hf_affine_number(mi, mr, HF_AFFINE_RATIO, i - first);
    return PSELECT(ratio > PK(0.0), ratio, PK(1.0));
}

#define MODEL_CORRELATE(expected, fixed) \
    TEAM_IF(!(fixed) && hf_is_correlated(mi)) hf_correlate_draws(HF, expected);

/* The strength of a law of y decides how its slots' data are drawn. */
#define HF_ADD_STRENGTH(NAME, name, word, inspected, datum, domain, scale) \
    if (datum == HF_COUNT)                                                 \
        tau = tau + hf_affine_number(mi, mr, HF_AFFINE_##NAME, slot);      \
    else                                                                   \
        *precision = *precision + hf_affine_number(mi, mr, HF_AFFINE_##NAME, slot);

FN void model_draws(MODEL_PARAMETERS, u32 i, u32 fixed, pmask drawn, PRIVATE pmask *counted,
                    PRIVATE pmask *measured, PRIVATE pack *precision)
{
    const u32 first_aux = 8 * mi[HF_PANELS];
    const pack zero = PK(0.0);
    *counted = drawn;
    *measured = zero > zero;
    if (i < first_aux) return;
    if (i >= first_aux + mi[HF_SLOTS]) { /* varied numbers are no data */
        *counted = zero > zero;
        return;
    }
    const u32 slot = i - first_aux;
    pack tau = LOADM(HF_R(TAU), slot);
    *precision = LOADM(HF_R(PRECISION), slot);
    if (mi[HF_HAS_AFFINE]) {
        HF_LAWS_OF_Y(HF_ADD_STRENGTH)
    }
    *counted = AND(drawn, tau > zero);
    *measured = AND(AND(drawn, PNOT(*counted)), *precision > zero);
    if (fixed) *counted = *measured = zero > zero;
}
