/* losscone_grid.c: which grid holds given sweeps. */
#include "moon/losscone/losscone_grid.h"

paritas_status losscone_grid_find(paritas_context *context, const char *what, size_t *rows, size_t *cells,
                                  const struct losscone_grid **grid)
{
    if (*rows == 0) *rows = PARITAS_SWEEP_ROWS;
    if (*cells == 0) *cells = PARITAS_SWEEP_CELLS;
    if (*rows > PARITAS_SWEEP_ROWS_MOST)
        return paritas_refuse(context, "%s.rows: %zu energies; at most %d", what, *rows,
                              PARITAS_SWEEP_ROWS_MOST);
    if (*cells > PARITAS_SWEEP_CELLS_MOST)
        return paritas_refuse(context, "%s.cells: %zu directions; at most %d", what, *cells,
                              PARITAS_SWEEP_CELLS_MOST);
    const bool prospector = *rows == PARITAS_SWEEP_ROWS && *cells == PARITAS_SWEEP_CELLS,
               medium = *rows <= losscone_grid_medium.rows && *cells <= losscone_grid_medium.cells;
    *grid = prospector ? &losscone_grid_prospector : medium ? &losscone_grid_medium : &losscone_grid_wide;
    return PARITAS_OK;
}

paritas_status losscone_grid_given(paritas_context *context, const paritas_sweep_grid *given, size_t *rows,
                                   size_t *cells, const struct losscone_grid **grid)
{
    *rows = given ? given->rows : 0;
    *cells = given ? given->cells : 0;
    return losscone_grid_find(context, "grid", rows, cells, grid);
}
