/* kernel_modules.h: the library's own modules, paritas_module_NAME. */
#pragma once

#include "device/kernel_module.h"
#include "modules.h"

#define PARITAS_DECLARE_MODULE(name, lanes) extern const struct kernel_module paritas_module_##name;
PARITAS_KERNEL_MODULES(PARITAS_DECLARE_MODULE)
