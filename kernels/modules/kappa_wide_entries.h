/* kappa_wide_entries.h: the entries of the module of kappa fits to spectra with other than 15 energies. */
#pragma once

#define MODULE_ENTRIES(X) X(kappa_wide_fit) X(kappa_wide_misfit)
