/* spectrum_grid.h: numbers of energies that kernels are compiled for, and the layouts of their rows.
 *
 *   15 energies       kappa        kernels/kappa/spectrum_grid.h
 *   others, up to 64  kappa_wide   kernels/kappa/spectrum_grid_wide.h */
#pragma once

#include "base/context.h"
#include "device/kernel_modules.h"

#define SPECTRUM_MOST 328 /* numbers of the largest row */

struct spectrum_grid {
    const struct kernel_module *module;
    unsigned fit, misfit; /* entries */
    size_t rows, slots;
    size_t energy, channel, flux, gain, background, start, spectrum; /* spectrum_row; its size */
    size_t slab;                                                     /* and two numbers a start */
};

extern const struct spectrum_grid spectrum_grid_prospector, spectrum_grid_wide;

/* Finds the grid of spectra with *rows energies; 0: becomes 15. */
paritas_status spectrum_grid_find(paritas_context *context, size_t *rows, const struct spectrum_grid **grid);
