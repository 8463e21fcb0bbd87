/* losscone.h: between the user's sweeps and options and the rows and tables of the loss-cone kernels (kernels/losscone/arrays.h). */
#ifndef PARITAS_LOSSCONE_LOSSCONE_H
#define PARITAS_LOSSCONE_LOSSCONE_H

#include "device/device.h"
#include "losscone/arrays.h"
#include "paritas_losscone.h"

/* Entries of the module, as numbers. */
enum losscone_entry {
#define X(name) ENTRY_##name,
#include "entry/losscone_entries.h"
    MODULE_ENTRIES(X)
#undef X
};
#undef MODULE_ENTRIES

extern const struct kernel_module paritas_module_losscone;

/* Options of a run, as the model's tables. */
struct losscone_tables {
    uint32_t ints[LOSSCONE_INTS];
    double reals[LOSSCONE_REALS];
};

/* Copies the options given, NULL for the defaults, and refuses what makes no sense. */
paritas_status losscone_options(paritas_context *context, const paritas_losscone_options *given, paritas_losscone_options *options);
/* The tables of options that were checked. A folded model has no beam: its amplitude is bounded by 0. */
void losscone_tables(const paritas_losscone_options *options, struct losscone_tables *tables);
static inline struct device_tables losscone_device_tables(const struct losscone_tables *tables)
{
    return (struct device_tables){.ints = tables->ints, .reals = tables->reals, .n_ints = LOSSCONE_INTS, .n_reals = LOSSCONE_REALS};
}

/* Refuses sweeps that lack an array; `flux`: whether that of fluxes is needed. */
paritas_status losscone_sweeps_check(paritas_context *context, const paritas_sweeps *sweeps, int flux);

/* Numbers beyond count as these: an f32 kernel squares and sums them. */
#define LOSSCONE_MOST_ENERGY 1e15
#define LOSSCONE_MOST_FLUX 1e17
/* Largest magnitude that options and points may have, for the same reason. */
#define LOSSCONE_BOUND 1e9

/* How many cells a misfit of these options needs. */
static inline unsigned losscone_least_cells(const paritas_losscone_options *options) { return options->method == PARITAS_LILLIS ? 5 : 1; }

/* Are energy and potential of this row numbers, so that there is a model? And is it used in misfits? */
int losscone_row_is_known(const paritas_sweeps *sweeps, size_t sweep, size_t i);
int losscone_row_is_used(const paritas_sweeps *sweeps, size_t sweep, size_t i);
/* Energy and potential of a row at their places in `row`; 1 and 0 where they are unknown. */
void losscone_put_energies(const paritas_sweeps *sweeps, size_t sweep, size_t i, double *row);
/* Within -1 .. 1; 0 where it is no number. */
double losscone_cosine(double cosine);
/* The row of numbers of a sweep; masked cells, and all of masked rows, have the flux 0 and the cosine 0. Answers how many cells are left. */
unsigned losscone_put_sweep(const paritas_sweeps *sweeps, size_t sweep, double *row);

#endif
