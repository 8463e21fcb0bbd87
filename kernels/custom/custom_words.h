/* custom_words.h: a user's model for minimise/newton.h, entry/entry_jobs.h, entry/entry_draw.h. */
#ifndef PARITAS_CUSTOM_WORDS_H
#define PARITAS_CUSTOM_WORDS_H

#include "custom/custom_likelihood.h"

#define MODEL_PARAMETERS CUSTOM_ARGUMENTS
#define MODEL CUSTOM
#define MODEL_SLOTS CUSTOM_SLOTS
#define MODEL_DENSE CUSTOM_SLOTS
#define MODEL_X (CUSTOM_S(X))
#define MODEL_GRADIENT (CUSTOM_S(GRADIENT))
#define MODEL_ACTIVE (CUSTOM_S(ACTIVE))
#define MODEL_TILES (CUSTOM_S(TILES))
#define MODEL_WORK (CUSTOM_S(MINIMISER))
#define MODEL_MEMORY (CUSTOM_S(MEMORY))
#define MODEL_HUGE CUSTOM_HUGE
#define MODEL_LEAST (mi[CUSTOM_TERMS] ? -CUSTOM_HUGE : R(0.0)) /* else a deviance */
#define MODEL_FLAT (s[mi[CUSTOM_S_SCALARS] + 3])
#define MODEL_REACH (s[mi[CUSTOM_S_SCALARS] + 4])
#define MODEL_STIFFNESS (s[mi[CUSTOM_S_SCALARS] + 5])
#define MODEL_DIAGONAL(i) LOADP(CUSTOM_S(DIAGONAL), i)
#define MODEL_DATA mi[CUSTOM_DATA]
#define MODEL_MAIN (CUSTOM_S(MAIN))
#define MODEL_WEIGHT(i) LOADM(mr + mi[CUSTOM_R_PRECISION], i)
#define MODEL_SCALE(i) s[mi[CUSTOM_S_SCALE] + (i)]

FN void model_prepare(MODEL_PARAMETERS) /* padding comes with the data */
{
    ONE_WORKER
    {
        MODEL_REACH = MODEL_STIFFNESS = R(0.0);
    }
}
FN real model_value(MODEL_PARAMETERS, u32 derivatives)
{
    return custom_value(CUSTOM, derivatives);
}
FN mask model_curvature(MODEL_PARAMETERS, real kap, real damping, real doubt, real flat)
{
    custom_curvature(CUSTOM, kap, damping);
    return custom_factor(CUSTOM, doubt, flat);
}
FN void model_matrix(MODEL_PARAMETERS, real kap)
{
    custom_curvature(CUSTOM, kap, R(0.0));
}
FN void model_solve(MODEL_PARAMETERS, GLOBAL real *v)
{
    custom_solve(CUSTOM, v);
}
FN real model_negative_direction(MODEL_PARAMETERS, GLOBAL real *v)
{
    return custom_negative_direction(CUSTOM, v);
}

/* A user's function does not tell where its domain ends: fits stay inside. */
FN mask model_is_near_edge(MODEL_PARAMETERS UNUSED, real part)
{
    return part < R(0.0);
}
FN real model_settle(MODEL_PARAMETERS UNUSED, mask lanes UNUSED)
{
    return R(0.0);
}
FN void model_stiffen(MODEL_PARAMETERS UNUSED, real factor UNUSED) {}
FN void model_keep_domain(MODEL_PARAMETERS)
{
    TEAM_BARRIER();
    ONE_WORKER
    {
        MODEL_REACH = R(0.0);
    }
    TEAM_BARRIER();
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

#endif
