# The library's own kernels: its modules (ParitasModule.cmake) and the dialects' text for devices that compile at run time.
#
# Sets PARITAS_KERNEL_OBJECTS, PARITAS_GENERATED_SOURCES and PARITAS_GENERATED_DIR; writes there
#   variants.h   PARITAS_KERNEL_VARIANTS(X), a list of X(suffix, isa, f64, lanes, pack)

set(PARITAS_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(PARITAS_KERNELS_DIR "${PROJECT_SOURCE_DIR}/kernels")
set(PARITAS_KERNELS_SOURCE "${PROJECT_SOURCE_DIR}/src/device/cpu/cpu_kernels.c")
set(PARITAS_KERNEL_INCLUDES "${PROJECT_SOURCE_DIR}/src" "${PARITAS_KERNELS_DIR}")
set(PARITAS_CMAKE_MODULE_HEADER "${PROJECT_SOURCE_DIR}/src/device/kernel_module.h")
include(cmake/ParitasModule.cmake)

# a family hands all its functions the same list of parameters, used or not
add_library(paritas_kernel_settings INTERFACE)
target_compile_options(paritas_kernel_settings INTERFACE -Wno-unused-parameter)
if(PARITAS_SANITIZE MATCHES "undefined")
  # checks that take three quarters of the compiler's time; what they would find, the address sanitizer finds too
  target_compile_options(paritas_kernel_settings INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
endif()

set(PARITAS_KERNEL_SETTINGS paritas_settings paritas_kernel_settings) # in this order: the second takes warnings back
set(PARITAS_KERNEL_OBJECTS "")
set(PARITAS_GENERATED_SOURCES "")

# PARITAS_MODULES: the library's modules; kernels/modules.h lists them.
set(PARITAS_MODULES "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PARITAS_KERNELS_DIR}/modules.h"
             "${PROJECT_SOURCE_DIR}/include/paritas_context.h")
file(READ "${PARITAS_KERNELS_DIR}/modules.h" text)
string(REGEX MATCHALL "MODULE\\([a-z0-9_]+, (one|many)\\)" lines "${text}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "MODULE\\((.*), (.*)\\)" "\\1;\\2" line "${line}")
  list(GET line 0 module)
  list(GET line 1 lanes)
  set(one_lane "")
  if(lanes STREQUAL "one")
    set(one_lane ONE_LANE)
  endif()
  paritas_kernel_module(${module} "${PARITAS_KERNELS_DIR}/modules/module_${module}.h"
                        "${PARITAS_KERNELS_DIR}/modules/${module}_entries.h" ${one_lane})
  list(APPEND PARITAS_MODULES ${module})
  list(APPEND PARITAS_KERNEL_OBJECTS ${${module}_OBJECTS})
  list(APPEND PARITAS_GENERATED_SOURCES ${${module}_SOURCES})
endforeach()

# The dialects of the devices that compile text. PARITAS_DEVICE_KIND_LIST of the public header lists the kinds;
# one without a dialect of its own here, as the CPU, compiles none.
file(READ "${PROJECT_SOURCE_DIR}/include/paritas_context.h" text)
string(REGEX MATCHALL "ITEM\\(PARITAS_DEVICE_[A-Z0-9_]+, [0-9]+, \"[a-z0-9]+\"" lines "${text}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*\"(.*)\"" "\\1" kind "${line}")
  set(dialect "${PARITAS_KERNELS_DIR}/dialect/dialect_${kind}.h")
  if(EXISTS "${dialect}")
    paritas_embed(paritas_dialect_${kind} "${dialect}" "${PARITAS_GENERATED_DIR}/dialect_${kind}.c")
    list(APPEND PARITAS_GENERATED_SOURCES "${PARITAS_GENERATED_DIR}/dialect_${kind}.c")
  endif()
endforeach()

include(cmake/EmbedPtx.cmake)
paritas_embed_ptx(${PARITAS_MODULES})

paritas_chosen_variants(chosen)
set(variants_list "")
foreach(variant IN LISTS PARITAS_ALL_VARIANTS)
  string(REPLACE " " ";" variant "${variant}")
  list(POP_FRONT variant f64 isa lanes pack)
  set(suffix f32_${isa}_w${lanes}p${pack})
  if(f64)
    set(suffix f64_${isa}_w${lanes}p${pack})
  endif()
  if(NOT chosen OR suffix MATCHES "${chosen}")
    string(APPEND variants_list " \\\n    X(${suffix}, ${isa}, ${f64}, ${lanes}, ${pack})")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${PARITAS_GENERATED_DIR}/variants.h" @ONLY CONTENT
"/* variants.h: the kernel variants of this build, as X(suffix, isa, f64, lanes, pack). Made by cmake/kernels.cmake. */
#define PARITAS_KERNEL_VARIANTS(X)@variants_list@
")
