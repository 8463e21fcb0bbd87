/* kernels.c: the kernels as this processor runs them. Compiled once per variant (cmake/kernels.cmake), each
 * object exports one table of entries. */
#include "dialect/c.h"
#include "entry/histfactory.h"
#include "entry/profiles.h"
#include "entry/toys.h"
#include "entry/minimisers.h"
#include "device/cpu/kernel_table.h"

extern const struct cpu_kernels KERNEL_NAME(paritas_kernels, PARITAS_VARIANT);
const struct cpu_kernels KERNEL_NAME(paritas_kernels, PARITAS_VARIANT) = {{
#define X(name) KERNEL_NAME(name, PARITAS_VARIANT),
    PARITAS_KERNEL_ENTRIES(X)
#undef X
}};
