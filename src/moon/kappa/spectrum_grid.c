/* spectrum_grid.c: which grid holds given spectra. */
#include "moon/kappa/spectrum_grid.h"

#include "paritas_kappa.h"

paritas_status spectrum_grid_find(paritas_context *context, size_t *rows, const struct spectrum_grid **grid)
{
    if (*rows == 0) *rows = PARITAS_SWEEP_ROWS;
    if (*rows > PARITAS_SPECTRUM_ROWS_MOST)
        return paritas_refuse(context, "spectra.rows: %zu energies; at most %d", *rows,
                              PARITAS_SPECTRUM_ROWS_MOST);
    *grid = *rows == PARITAS_SWEEP_ROWS ? &spectrum_grid_prospector : &spectrum_grid_wide;
    return PARITAS_OK;
}
