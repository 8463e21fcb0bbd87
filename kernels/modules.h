/* modules.h: the library's kernel modules, one line per model family: MODULE(name, lanes). Text:
 * modules/module_NAME.h; names: modules/NAME_entries.h. `many`: CPU variants run fits side by side. `one`:
 * the module branches on its numbers, so a team runs one job. cmake/kernels.cmake reads this, too. */
#pragma once

#define PARITAS_KERNEL_MODULES(MODULE) \
    MODULE(histfactory, many)          \
    MODULE(losscone, one)              \
    MODULE(losscone_medium, one)       \
    MODULE(losscone_wide, one)         \
    MODULE(kappa, many)                \
    MODULE(kappa_wide, many)           \
    MODULE(conformance, many)
