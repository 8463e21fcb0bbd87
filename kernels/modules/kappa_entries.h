/* kappa_entries.h: the entries of the kappa module. */
#pragma once

#define MODULE_ENTRIES(X) X(kappa_flux) X(kappa_fit) X(kappa_misfit) X(kappa_potential) X(kappa_currents)
