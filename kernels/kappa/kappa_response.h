/* kappa_response.h: folds a model with Gaussians in ln E over the spectrum's energies. */
#ifndef PARITAS_KAPPA_RESPONSE_H
#define PARITAS_KAPPA_RESPONSE_H

#include "kappa/kappa_arrays.h"
#include "numeric/flush.h"
#include "numeric/math.h"

/* Unnormalised; sharpness = 1 / (2 sigma^2). */
FN pack response_weight(pack distance, real sharpness)
{
    return pflush(m_exp(PACK_OF(-sharpness) * (distance * distance)));
}

/* response[n j + i], n = SWEEP_SLOTS. Own barriers. */
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

FN pack response_fold(GLOBAL const real *response, GLOBAL const real *array, u32 i)
{
    pack sum = PK(0.0);
    for (u32 j = 0; j < SWEEP_ROWS; j++)
        sum = PFMA(LOADP(response, SWEEP_SLOTS * j + i), PACK_OF(array[j]), sum);
    return sum;
}

#endif
