/* widths.h: which numbers of lanes give kernels of their own in this build. */
#ifndef PARITAS_TESTS_WIDTHS_H
#define PARITAS_TESTS_WIDTHS_H

#include "variants.h"
#include <stdbool.h>
#include <string.h>

/* Whether a context with these options runs kernels that no other number of lanes runs. A width that is
 * missing falls back to 1 lane, and an instruction set of one width has nothing to choose, so that 0 (the
 * launch's choice) stands for 1 there. f32 counts f64's widths too, which polish it. tests/kernels holds each
 * fallback to the same bits. */
static inline bool width_is_apart(const char *isa, unsigned lanes, unsigned precision)
{
    static const struct {
        const char *isa;
        unsigned precision, lanes;
    } built[] = {
#define X(suffix, isa, f64, lanes, pack) {#isa, f64 ? 64 : 32, lanes},
        PARITAS_KERNEL_VARIANTS(X)
#undef X
    };
    bool found = lanes == 0, choice = lanes == 0;
    for (size_t v = 0; v < sizeof built / sizeof *built; v++) {
        if (built[v].precision < precision || strcmp(built[v].isa, isa) != 0) continue;
        found = found || built[v].lanes == lanes;
        choice = choice || built[v].lanes > 1;
    }
    return found && choice;
}

#endif
