/* spectrum_grid_table.h: the layout of the grid whose header was included before, as SPECTRUM_GRID. */
#include "kappa/kappa_arrays.h"
#include "moon/kappa/spectrum_grid.h"

#define MODULE_OF_(name) &paritas_module_##name
#define MODULE_OF(name) MODULE_OF_(name)

const struct spectrum_grid SPECTRUM_GRID = {
    .module = MODULE_OF(SPECTRUM_MODULE),
    .fit = SPECTRUM_FIT,
    .misfit = SPECTRUM_MISFIT,
    .rows = SPECTRUM_ROWS,
    .slots = SPECTRUM_SLOTS,
    .energy = SPECTRUM_ENERGY,
    .channel = SPECTRUM_CHANNEL,
    .flux = SPECTRUM_FLUX,
    .gain = SPECTRUM_GAIN,
    .background = SPECTRUM_BACKGROUND,
    .start = SPECTRUM_START,
    .spectrum = SPECTRUM_SIZE,
    .slab = KAPPA_SLAB(0),
};
