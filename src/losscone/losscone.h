/* losscone.h: what all functions on loss cones share: options as tables of the kernels, sweeps as rows. */
#ifndef PARITAS_LOSSCONE_LOSSCONE_H
#define PARITAS_LOSSCONE_LOSSCONE_H

#include "entry/losscone_entries.h"
#include "fit/batch.h"
#include "losscone/losscone_arrays.h"
#include "paritas_losscone.h"

/* Numbers of the module's entries. */
enum {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

extern const struct kernel_module paritas_module_losscone;

/* Options as the kernels read them. */
struct losscone_tables {
    uint32_t ints[LOSSCONE_INTS];
    double reals[LOSSCONE_REALS];
};

/* *options := what the caller gave, with the defaults for what it does not know; `given` may be NULL. Refuses
 * what makes no sense. */
paritas_status losscone_options_read(paritas_context *context, const paritas_losscone_options *given,
                                     paritas_losscone_options *options);
void losscone_options_tables(const paritas_losscone_options *options, struct losscone_tables *tables);

/* Cells that a misfit of these options needs. */
unsigned losscone_least_cells(const paritas_losscone_options *options);
/* The result of so many cells before there are numbers: FITTED, or what the cells are too few for. */
paritas_losscone_result losscone_result(const paritas_losscone_options *options, unsigned cells);
/* What a fit of this misfit is; `settled`: its search ended within its limits. */
paritas_sweep_status losscone_status(const paritas_losscone_options *options, double misfit, bool settled);

/* *sweeps := what the caller gave, which must have all arrays; fluxes only where they are needed. */
paritas_status losscone_sweeps_read(paritas_context *context, const paritas_sweeps *given, bool needs_flux,
                                    paritas_sweeps *sweeps);
/* The row of sweep k as arrays.h has it, masked; SWEEP_SIZE numbers. */
void losscone_sweep_row(const paritas_sweeps *sweeps, size_t k, double *row);
/* Fills a batch whose rows are those of sweeps and no more; what `user` points to begins with the const
 * paritas_sweeps *. */
paritas_status losscone_fill(paritas_context *context, void *user, size_t at, size_t n, double *in);

/* The tables as a launch takes them; borrowed. */
struct device_tables losscone_device_tables(const struct losscone_tables *tables);

#endif
