/* histfactory_correlations.h: groups of parameters whose measurements have a joint normal law, and penalties.
 *
 * A group's term is d^T P d / 2 with d = x - datum. Its slots' own laws have the part of D, the diagonal of
 * 1/sigma^2. Here is what the ties, P - D, add: to the value, the gradient and the second derivatives. Ties
 * are 0 where nothing is correlated. Rows of ties have ROUND8(n) numbers, so that packs of rows go together:
 * the matrix is symmetric.
 *
 * A penalty is a group with centres in the model in place of data. It has no law of its own: its ties are all
 * of P, and nothing is drawn. */
#pragma once

#include "numeric/flush.h"
#include "numeric/tiles.h"
#include "histfactory/histfactory_functions.h"

typedef CONSTANT hf_correlations_record *hf_correlations;
typedef CONSTANT hf_correlation_record *hf_correlation;

FN u32 hf_is_correlated(CONSTANT u32 *mi)
{
    return mi[HF_SWITCHES] & HF_CORRELATED;
}
FN hf_correlations hf_correlations_of(CONSTANT u32 *mi)
{
    return (hf_correlations)(mi + HF_HEADER + (hf_has_functions(mi) ? HF_WORDS(hf_functions_record) : 0));
}
FN hf_correlation hf_correlation_of(CONSTANT u32 *mi, u32 k)
{
    return (hf_correlation)(mi + hf_correlations_of(mi)->groups) + k;
}
#define HF_FOR_CORRELATIONS(g)                        \
    for (hf_correlation g = hf_correlation_of(mi, 0); \
         g < hf_correlation_of(mi, hf_correlations_of(mi)->count); g++)

/* d of member j. */
FN real hf_offset_of(HF_PARAMETERS, hf_correlation g, u32 j)
{
    const u32 slot = (mi + g->slots)[j];
    real centre = s[mi[HF_S_AUX] + slot];
    if (g->centres) centre = LOADM1(mr, g->centres + j);
    return flush(s[mi[HF_S_X] + slot] - centre);
}

/* Ties times d, rows i.. */
FN pack hf_ties(HF_PARAMETERS, hf_correlation g, u32 i)
{
    const u32 n = g->n, stride = HF_ROUND8(n);
    CONSTANT elem *ties = mr + g->ties;
    pack sum = PK(0.0);
    for (u32 j = 0; j < n; j++) sum = PFMA(LOADM(ties, j * stride + i), PACK_OF(hf_offset_of(HF, g, j)), sum);
    return pflush(sum);
}

/* Adds to slots of `to`: their slopes, or with `values` each slot's part of the value. */
FN_LARGE void hf_add_tied(HF_PARAMETERS, GLOBAL real *to, u32 values)
{
    TEAM_BARRIER();
    HF_FOR_CORRELATIONS(g)
    {
        CONSTANT u32 *slots = mi + g->slots;
        const u32 n = g->n;
        TEAM_FOR_PACK(i, n) {
            const pack tied = hf_ties(HF, g, i);
            for (u32 j = 0; j < PACK && i + j < n; j++) {
                const u32 slot = slots[i + j];
                const real weight = values ? flush(R(0.5) * hf_offset_of(HF, g, i + j)) : R(1.0);
                to[slot] = flush(FMA(weight, ELEMENT(tied, j), to[slot]));
            }
        }
    }
}

/* Adds the ties' diagonal to DIAGONAL and SCALE. */
FN void hf_begin_ties(HF_PARAMETERS)
{
    TEAM_BARRIER();
    HF_FOR_CORRELATIONS(g)
    {
        CONSTANT u32 *slots = mi + g->slots;
        TEAM_FOR(i, g->n) {
            const real tie = LOADM1(mr, g->ties + i * HF_ROUND8(g->n) + i);
            s[mi[HF_S_DIAGONAL] + slots[i]] = s[mi[HF_S_DIAGONAL] + slots[i]] + tie;
            s[mi[HF_S_SCALE] + slots[i]] = s[mi[HF_S_SCALE] + slots[i]] + tie;
        }
    }
}

/* Adds the others to TILES. */
FN_LARGE void hf_add_ties(HF_PARAMETERS)
{
    HF_FOR_CORRELATIONS(g)
    {
        CONSTANT u32 *slots = mi + g->slots;
        TEAM_FOR(i, g->n) {
            for (u32 j = 0; j < i; j++)
                tiles_add_element(HF_S(TILES), slots[i], slots[j],
                                  LOADM1(mr, g->ties + i * HF_ROUND8(g->n) + j));
        }
    }
    TEAM_BARRIER();
}

/* Auxiliary data that were drawn alone, around `expected`: the group's deviations get its correlation.
 * PENALTY is scratch. */
FN_LARGE void hf_correlate_draws(HF_PARAMETERS, GLOBAL const elem *expected)
{
    GLOBAL real *aux = HF_S(AUX), *deviations = HF_S(PENALTY);
    const u32 first = 8 * mi[HF_PANELS];
    HF_FOR_CORRELATIONS(g)
    {
        CONSTANT u32 *slots = mi + g->slots;
        const u32 n = g->centres ? 0 : g->n;
        TEAM_BARRIER();
        TEAM_FOR(i, n) {
            real sum = R(0.0);
            for (u32 j = 0; j <= i; j++)
                sum = FMA(LOADM1(mr, g->draws + i * n + j),
                          aux[slots[j]] - LOADM1(expected, first + slots[j]), sum);
            deviations[slots[i]] = sum;
        }
        TEAM_BARRIER();
        TEAM_FOR(i, n) aux[slots[i]] = LOADM1(expected, first + slots[i]) + deviations[slots[i]];
    }
    TEAM_BARRIER();
}
