/* kappa_entries.h: the entries of the kappa module. */
#ifndef PARITAS_ENTRY_KAPPA_ENTRIES_H
#define PARITAS_ENTRY_KAPPA_ENTRIES_H

#define MODULE_ENTRIES(X) X(kappa_flux) X(kappa_fit) X(kappa_misfit) X(kappa_potential) X(kappa_currents)

#endif
