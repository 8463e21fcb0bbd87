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
set(PARITAS_ONE_LANE_losscone ONE_LANE) # a search with branches
foreach(module histfactory losscone kappa conformance)
  paritas_kernel_module(${module} "${PARITAS_KERNELS_DIR}/entry/module_${module}.h" "${PARITAS_KERNELS_DIR}/entry/${module}_entries.h" ${PARITAS_ONE_LANE_${module}})
  list(APPEND PARITAS_KERNEL_OBJECTS ${${module}_OBJECTS})
  list(APPEND PARITAS_GENERATED_SOURCES ${${module}_SOURCES})
endforeach()
foreach(dialect cuda metal opencl)
  paritas_embed(paritas_dialect_${dialect} "${PARITAS_KERNELS_DIR}/dialect/dialect_${dialect}.h" "${PARITAS_GENERATED_DIR}/dialect_${dialect}.c")
  list(APPEND PARITAS_GENERATED_SOURCES "${PARITAS_GENERATED_DIR}/dialect_${dialect}.c")
endforeach()

include(cmake/EmbedPtx.cmake)
paritas_embed_ptx(histfactory losscone kappa conformance)

set(variants_list "")
foreach(variant IN LISTS PARITAS_ALL_VARIANTS)
  string(REPLACE " " ";" variant "${variant}")
  list(POP_FRONT variant f64 isa lanes pack)
  set(suffix f32_${isa}_w${lanes}p${pack})
  if(f64)
    set(suffix f64_${isa}_w${lanes}p${pack})
  endif()
  if(NOT PARITAS_VARIANTS OR suffix MATCHES "${PARITAS_VARIANTS}")
    string(APPEND variants_list " \\\n    X(${suffix}, ${isa}, ${f64}, ${lanes}, ${pack})")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${PARITAS_GENERATED_DIR}/variants.h" @ONLY CONTENT
"/* variants.h: the kernel variants of this build, as X(suffix, isa, f64, lanes, pack). Made by cmake/kernels.cmake. */
#define PARITAS_KERNEL_VARIANTS(X)@variants_list@
")
