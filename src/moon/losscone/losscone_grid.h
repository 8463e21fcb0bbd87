/* losscone_grid.h: grids of sweeps that kernels are compiled for, and their layouts.
 *
 *   sweeps of 15 x 88              losscone        kernels/losscone/sweep_grid.h
 *   others, up to 32 x 128         losscone_medium kernels/losscone/sweep_grid_medium.h
 *   up to 32 x 512                 losscone_wide   kernels/losscone/sweep_grid_wide.h */
#pragma once

#include "base/context.h"
#include "device/kernel_modules.h"
#include "paritas_sweep.h"

/* Places in rows of numbers; a sweep's row i has its cells from i * cells on. */
struct losscone_grid {
    const struct kernel_module *module;
    size_t rows, cells;                                     /* most */
    size_t energy, potential, channel, cosine, flux, sweep; /* sweep_row; its size */
    size_t model_in, model_cell, model_edge, model_out;     /* model_row, model_answer */
    size_t field, sign, azimuth, cosines_in;                /* cosines_row */
    size_t confidence_in, bootstrap_in;
    size_t counted_potential, counted_centre, counted_narrow, counted_base, counted_cosine, counted_count,
        counted_scale, counted_tail, counted_in; /* counted_sweep */
    size_t misfit_slab, cosines_slab, search_slab, profile_slab, bootstrap_slab;
    size_t confidence_slab; /* and one number a potential */
    size_t counted_slab;
    size_t evolve_slab; /* and evolve_columns numbers a member */
    size_t evolve_columns;
};

extern const struct losscone_grid losscone_grid_prospector, losscone_grid_medium, losscone_grid_wide;

/* Finds the grid; 0 rows or cells: 15, 88. `what`: name of the argument in messages. */
paritas_status losscone_grid_find(paritas_context *context, const char *what, size_t *rows, size_t *cells,
                                  const struct losscone_grid **grid);
/* Finds the given grid; NULL: 15 x 88. */
paritas_status losscone_grid_given(paritas_context *context, const paritas_sweep_grid *given, size_t *rows,
                                   size_t *cells, const struct losscone_grid **grid);
