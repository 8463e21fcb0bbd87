/* losscone.h: what all functions on loss cones share: options as tables of the kernels, sweeps as rows. */
#ifndef PARITAS_LOSSCONE_LOSSCONE_H
#define PARITAS_LOSSCONE_LOSSCONE_H

#include "entry/losscone_entries.h"
#include "fit/batch.h"
#include "losscone/losscone_slab.h"
#include "paritas_losscone.h"

/* Numbers of the module's entries. */
enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

extern const struct kernel_module paritas_module_losscone;

_Static_assert(SWEEP_ROWS == PARITAS_SWEEP_ROWS && SWEEP_CELLS == PARITAS_SWEEP_CELLS,
               "kernels have the grid of everybody else");

/* What a caller gave, checked, with defaults for what it does not know; options also as the kernels read
 * them. */
struct losscone_call {
    paritas_sweeps sweeps;
    paritas_losscone_options options;
    uint32_t ints[LOSSCONE_INTS];
    double reals[LOSSCONE_REALS];
};

/* `given_options` may be NULL. Refuses what makes no sense; all arrays must be there, fluxes only where they
 * are needed. */
paritas_status losscone_open(paritas_context *context, const paritas_sweeps *given_sweeps,
                             const paritas_losscone_options *given_options, bool needs_flux,
                             struct losscone_call *call);
/* Runs a batch of a job a sweep. Where it has no `fill`, its rows are the sweeps' and no more; what `user`
 * points to begins with the const struct losscone_call *. */
paritas_status losscone_run(paritas_context *context, const struct losscone_call *call, struct batch batch);

paritas_status losscone_options_read(paritas_context *context, const paritas_losscone_options *given,
                                     paritas_losscone_options *options);
paritas_status losscone_sweeps_read(paritas_context *context, const paritas_sweeps *given, bool needs_flux,
                                    paritas_sweeps *sweeps);

/* Cells that a misfit of these options needs. */
unsigned losscone_least_cells(const paritas_losscone_options *options);
/* The result of so many cells before there are numbers: FITTED, or what the cells are too few for. */
paritas_losscone_result losscone_result(const paritas_losscone_options *options, unsigned cells);
/* What a fit of this misfit is; `settled`: its search ended within its limits. */
paritas_sweep_status losscone_status(const paritas_losscone_options *options, double misfit, bool settled);

/* The row of sweep k (sweep_row), masked; SWEEP_SIZE numbers. */
void losscone_sweep_row(const paritas_sweeps *sweeps, size_t k, double *row);

#endif
