/* counting.h: floating-point operations of the parts of a Newton iteration, from a model's tables (fma: 2),
 * padding left out. Stands behind a dialect. */
#ifndef PARITAS_BENCH_COUNTING_H
#define PARITAS_BENCH_COUNTING_H

#include "histfactory/histfactory_rates.h"

#include <stdlib.h>

struct count {
    double nll, gradient, hessian, factor, solve;
};

/* How many dense slots a channel's units depend on. */
static inline double count_slots(const u32 *mi, hf_channel ch)
{
    const u32 size = 8 * ch->blocks, *kinds[3] = {mi + mi[HF_I_NORMSYS_SPOT], mi + mi[HF_I_HISTOSYS_SPOT],
                                                  mi + mi[HF_I_SCALAR_SPOT]};
    unsigned char *seen = calloc(size + 1, 1);
    double n = 0.0;
    for (u32 k = 0; seen && k < ch->units; k++) {
        hf_unit un = hf_unit_of(mi, ch->first_unit + k);
        const u32 first[3] = {un->normsys, un->histosys, un->scalars},
                  count[3] = {un->normsys_count, un->histosys_count, un->scalar_count};
        for (int kind = 0; kind < 3; kind++)
            for (u32 e = first[kind]; e < first[kind] + count[kind]; e++) seen[kinds[kind][e]] = 1;
    }
    for (u32 k = 0; seen && k < size; k++) n += seen[k];
    free(seen);
    return n;
}

static inline struct count count_operations(const u32 *mi)
{
    struct count n = {0};
    const double dense = mi[HF_DENSE], entries = mi[HF_NORMSYS_CODE] == 4 ? 12.0 : 20.0;
    for (u32 c = 0; c < mi[HF_CHANNELS]; c++) {
        hf_channel ch = hf_channel_of(mi, c);
        const double bins = 8.0 * (ch->panels - 1) + ch->last_bins, coupled = hf_coupled(ch);
        const double row = 8.0 * ch->blocks, slots = count_slots(mi, ch);
        for (u32 k = 0; k < ch->units; k++) {
            hf_unit un = hf_unit_of(mi, ch->first_unit + k);
            const double normsys = un->normsys_count, histosys = un->histosys_count,
                         scalars = un->scalar_count;
            n.nll += entries * normsys + normsys + bins * (4.0 * histosys + 6.0);
            n.gradient += entries * normsys + bins * (2.0 * normsys + 4.0 * histosys + 2.0 * scalars);
            const double all = normsys + histosys; /* u x^T + x u^T, and s r^T + r s^T */
            n.hessian += 10.0 * normsys + 2.0 * normsys * all + 2.0 * scalars * all +
                         bins * (4.0 * histosys + 4.0) +
                         (1.0 + coupled) * bins * (2.0 * normsys + 4.0 * histosys + 2.0 * scalars);
        }
        n.nll += 40.0 * bins; /* the logarithm and two quotients */
        n.gradient += 2.0 * bins * row;
        n.hessian +=
            (1.0 + coupled) * bins * (3.0 * row + slots * (slots + 1.0)) + coupled * coupled * bins * row;
        n.solve += 4.0 * ch->sets * bins * row;
    }
    n.gradient += n.nll;
    n.factor = dense * dense * dense / 3.0;
    n.solve += 2.0 * dense * dense;
    return n;
}

#endif
