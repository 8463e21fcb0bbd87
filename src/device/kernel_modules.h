/* kernel_modules.h: the library's own modules, paritas_module_NAME. */
#ifndef PARITAS_DEVICE_KERNEL_MODULES_H
#define PARITAS_DEVICE_KERNEL_MODULES_H

#include "device/kernel_module.h"
#include "modules.h"

#define PARITAS_DECLARE_MODULE(name, lanes) extern const struct kernel_module paritas_module_##name;
PARITAS_KERNEL_MODULES(PARITAS_DECLARE_MODULE)

#endif
