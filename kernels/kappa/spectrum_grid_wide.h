/* spectrum_grid_wide.h: room for spectra of other instruments, which fill a part of it. */
#pragma once

#define SPECTRUM_MODULE kappa_wide
#define KAPPA_KERNEL(name) KERNEL(kappa_wide_##name)
#define SPECTRUM_ROWS 64
#define SPECTRUM_SLOTS 64
#define SPECTRUM_FILLED 0
