/* spectrum_grid.h: how many energies a module's spectra have. By default those of include/paritas_sweep.h,
 * and all spectra fill them. A module with others includes its header before (spectrum_grid_wide.h). */
#pragma once

#if !defined(SPECTRUM_ROWS)
#define SPECTRUM_MODULE kappa
#define KAPPA_KERNEL(name) KERNEL(kappa_##name)
#define SPECTRUM_ROWS 15
#define SPECTRUM_SLOTS 16 /* of padded arrays, a multiple of 8 */
#define SPECTRUM_FILLED 1
#endif
