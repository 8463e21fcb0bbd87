/* kappa_response.h: folds a model with Gaussians in ln E over the spectrum's energies. */
#pragma once

#include "kappa/kappa_arrays.h"
#include "numeric/flush.h"
#include "numeric/math.h"

/* Unnormalised; sharpness = 1 / (2 sigma^2). */
FN pack response_weight(pack distance, real sharpness)
{
    return pflush(m_exp(PACK_OF(-sharpness) * (distance * distance)));
}

/* response[n j + i], n = SPECTRUM_SLOTS: weight of energy j in row i, both outside the spacecraft's
 * potential. The sensor folds electrons after their energies, and fluxes with them, grew by the factor
 * `gained`. Own barriers. */
FN void response_prepare(CONSTANT u32 *mi, GLOBAL real *response, GLOBAL const real *channel,
                         GLOBAL const real *log_channel, GLOBAL const real *gained, real sharpness)
{
    const u32 rows = SPECTRUM_ROWS_OF(mi);
    TEAM_BARRIER();
    TEAM_FOR_PACK(i, SPECTRUM_SLOTS_OF(mi)) {
        pack sum = PK(0.0);
        for (u32 j = 0; j < rows; j++) {
            const pack w =
                PSELECT(PACK_OF(channel[j]) > PK(0.0),
                        response_weight(LOADP(log_channel, i) - PACK_OF(log_channel[j]), sharpness), PK(0.0));
            STOREP(response, SPECTRUM_SLOTS * j + i, w);
            sum = sum + w;
        }
        const pack own = LOADP(gained, i), inverse = PDIVIDE(PK(1.0), PSELECT(sum > PK(0.0), sum, PK(1.0)));
        for (u32 j = 0; j < rows; j++) {
            const pack part = pflush(LOADP(response, SPECTRUM_SLOTS * j + i) * inverse),
                       gain = pflush(PDIVIDE(PACK_OF(gained[j]), PSELECT(own > PK(0.0), own, PK(1.0))));
            STOREP(response, SPECTRUM_SLOTS * j + i, pflush(part * gain));
        }
    }
    TEAM_BARRIER();
}

FN pack response_fold(CONSTANT u32 *mi, GLOBAL const real *response, GLOBAL const real *array, u32 i)
{
    const u32 rows = SPECTRUM_ROWS_OF(mi);
    pack sum = PK(0.0);
    for (u32 j = 0; j < rows; j++)
        sum = PFMA(LOADP(response, SPECTRUM_SLOTS * j + i), PACK_OF(array[j]), sum);
    return sum;
}
