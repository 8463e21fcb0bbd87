/* kappa_response.h: what channels of finite width in energy make of a model: Gaussians in ln E, summed over
 * the spectrum's own energies, each row's weights to 1. */
#ifndef PARITAS_KAPPA_RESPONSE_H
#define PARITAS_KAPPA_RESPONSE_H

#include "kappa/kappa_arrays.h"
#include "numeric/flush.h"
#include "numeric/math.h"

/* Weight at a distance in ln E, before the row's sum is made 1; sharpness = 1 / (2 sigma^2). */
FN pack response_weight(pack distance, real sharpness)
{
    return pflush(m_exp(PACK_OF(-sharpness) * (distance * distance)));
}

/* response[n j + i], n = SWEEP_SLOTS, from the logarithms of energies; where energy is 0 there is no
 * weight. Between barriers of its own. */
FN void response_prepare(GLOBAL real *response, GLOBAL const real *energy, GLOBAL const real *log_energy,
                         real sharpness)
{
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, SWEEP_SLOTS) {
        pack sum = PK(0.0);
        for (u32 j = 0; j < SWEEP_ROWS; j++) {
            const pack w =
                PSELECT(PACK_OF(energy[j]) > PK(0.0),
                        response_weight(LOADP(log_energy, i) - PACK_OF(log_energy[j]), sharpness), PK(0.0));
            STOREP(response, SWEEP_SLOTS * j + i, w);
            sum = sum + w;
        }
        const pack inverse = PDIVIDE(PK(1.0), PSELECT(sum > PK(0.0), sum, PK(1.0)));
        for (u32 j = 0; j < SWEEP_ROWS; j++)
            STOREP(response, SWEEP_SLOTS * j + i, pflush(LOADP(response, SWEEP_SLOTS * j + i) * inverse));
    }
    TEAM_BARRIER();
}

/* The rows from i on of the response times an array. */
FN pack response_fold(GLOBAL const real *response, GLOBAL const real *array, u32 i)
{
    pack sum = PK(0.0);
    for (u32 j = 0; j < SWEEP_ROWS; j++)
        sum = PFMA(LOADP(response, SWEEP_SLOTS * j + i), PACK_OF(array[j]), sum);
    return sum;
}

#endif
