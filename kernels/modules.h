/* modules.h: the kernel modules of the library, one a model family, as MODULE(name, lanes).
 *
 * A module has its text in entry/module_NAME.h and the names of its entries in entry/NAME_entries.h. `many`:
 * variants of the CPU run several fits side by side. `one`: the module branches on its numbers, so a team
 * works on one job alone.
 *
 * Read by cmake/kernels.cmake and by C. One line a module.
 */
#ifndef PARITAS_MODULES_H
#define PARITAS_MODULES_H

#define PARITAS_KERNEL_MODULES(MODULE) \
    MODULE(histfactory, many)          \
    MODULE(losscone, one)              \
    MODULE(kappa, many)                \
    MODULE(conformance, many)

#endif
