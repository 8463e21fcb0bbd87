/* spectrum_grid_wide.c: spectra of other instruments. */
#include "kappa/spectrum_grid_wide.h"

#include "modules/kappa_wide_entries.h"
#include "paritas_kappa.h"

enum kappa_wide_entry {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

#define SPECTRUM_GRID spectrum_grid_wide
#define SPECTRUM_FIT ENTRY_kappa_wide_fit
#define SPECTRUM_MISFIT ENTRY_kappa_wide_misfit
#include "moon/kappa/spectrum_grid_table.h"

_Static_assert(SPECTRUM_SIZE <= SPECTRUM_MOST, "rows have room");
_Static_assert(SPECTRUM_ROWS == PARITAS_SPECTRUM_ROWS_MOST, "kernels have the energies of everybody else");
