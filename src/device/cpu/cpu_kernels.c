/* cpu_kernels.c: the kernels of one module as this processor runs them. Compiled once per variant
 * (cmake/ParitasModule.cmake), each object exports the table of its entries. The build names the module:
 * PARITAS_MODULE_FILE, PARITAS_MODULE_ENTRIES_FILE, PARITAS_MODULE. */
#include "dialect/dialect_c.h"
#include PARITAS_MODULE_FILE
#include PARITAS_MODULE_ENTRIES_FILE
#include "device/kernel_module.h"

#define TABLE_NAME_(module, variant) paritas_##module##_##variant
#define TABLE_NAME(module, variant) TABLE_NAME_(module, variant)

extern const cpu_entry TABLE_NAME(PARITAS_MODULE, PARITAS_VARIANT)[];
const cpu_entry TABLE_NAME(PARITAS_MODULE, PARITAS_VARIANT)[] = {
#define X(name) KERNEL_NAME(name, PARITAS_VARIANT),
    MODULE_ENTRIES(X)
#undef X
};
