/* cpu_kernels.c: one module's kernels for the CPU, compiled once per variant (cmake/ParitasModule.cmake).
 * Exports the table of entries. The build sets PARITAS_MODULE_FILE, PARITAS_MODULE_ENTRIES_FILE and
 * PARITAS_MODULE. */
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
