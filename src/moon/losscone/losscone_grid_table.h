/* losscone_grid_table.h: the layouts of the grid whose header was included before, as LOSSCONE_GRID. */
#include "moon/losscone/losscone_grid.h"
#include "losscone/losscone_slab.h"

#define MODULE_OF_(name) &paritas_module_##name
#define MODULE_OF(name) MODULE_OF_(name)

const struct losscone_grid LOSSCONE_GRID = {
    .module = MODULE_OF(SWEEP_MODULE),
    .rows = SWEEP_ROWS,
    .cells = SWEEP_CELLS,
    .energy = SWEEP_ENERGY,
    .potential = SWEEP_POTENTIAL,
    .channel = SWEEP_CHANNEL,
    .cosine = SWEEP_COSINE,
    .flux = SWEEP_FLUX,
    .sweep = SWEEP_SIZE,
    .model_in = MODEL_IN,
    .model_cell = MODEL_CELL,
    .model_edge = MODEL_EDGE,
    .model_out = MODEL_OUT,
    .field = COSINES_FIELD,
    .sign = COSINES_SIGN,
    .azimuth = COSINES_AZIMUTH,
    .cosines_in = COSINES_IN,
    .confidence_in = CONFIDENCE_IN,
    .bootstrap_in = BOOTSTRAP_IN,
    .counted_potential = COUNTED_POTENTIAL,
    .counted_centre = COUNTED_CENTRE,
    .counted_narrow = COUNTED_NARROW,
    .counted_base = COUNTED_BASE,
    .counted_cosine = COUNTED_COSINE,
    .counted_count = COUNTED_COUNT,
    .counted_scale = COUNTED_SCALE,
    .counted_tail = COUNTED_TAIL,
    .counted_in = COUNTED_IN,
    .counted_slab = COUNTED_SLAB,
    .misfit_slab = MISFIT_SLAB,
    .cosines_slab = 2 * SWEEP_CELLS,
    .search_slab = SEARCH_SLAB,
    .profile_slab = PROFILE_SLAB,
    .bootstrap_slab = BOOTSTRAP_SLAB,
    .confidence_slab = CONFIDENCE_SLAB(0),
    .evolve_slab = EVOLVE_SLAB(0),
    .evolve_columns = EVOLVE_COLUMNS,
};
