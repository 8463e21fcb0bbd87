# The kernels for the CPU: src/device/cpu/kernels.c, compiled once per variant, and the kernels' text for devices
# that compile it at run time.
#
# A variant is (precision, instruction set, lanes W, pack P); its tables and functions end in a suffix such as
# f64_avx512_w8p1. The processor picks among the variants when the library is opened. An instruction set without its
# variant of one lane in a precision is not offered there. PARITAS_VARIANTS leaves out those whose suffix it does not match.
#
# Sets PARITAS_KERNEL_OBJECTS, PARITAS_GENERATED_SOURCES and PARITAS_GENERATED_DIR; writes variants.h there:
#   PARITAS_KERNEL_VARIANTS(X), a list of X(suffix, isa, f64, lanes, pack)

set(PARITAS_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(PARITAS_KERNEL_OBJECTS "")
set(PARITAS_GENERATED_SOURCES "")

set(kernel_optimisation "${PARITAS_KERNEL_OPTIMISATION}")
if(NOT kernel_optimisation AND CMAKE_BUILD_TYPE MATCHES "^Rel")
  set(kernel_optimisation -O3)
endif()

file(GLOB_RECURSE kernel_files CONFIGURE_DEPENDS kernels/*.h kernels/*.c kernels/*.cl)
set(variants_list "")

# a family hands all its functions the same list of parameters, used or not
add_library(paritas_kernel_settings INTERFACE)
target_compile_options(paritas_kernel_settings INTERFACE -Wno-unused-parameter)
if(PARITAS_SANITIZE MATCHES "undefined")
  # checks that take three quarters of the compiler's time; what they would find, the address sanitizer finds too
  target_compile_options(paritas_kernel_settings INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
endif()

# paritas_variants(F64 ISA "W,P;W,P;..." FLAG...)
function(paritas_variants f64 isa shapes)
  foreach(shape IN LISTS shapes)
    string(REPLACE "," ";" shape "${shape}")
    list(GET shape 0 lanes)
    list(GET shape 1 pack)
    if(f64)
      set(suffix f64_${isa}_w${lanes}p${pack})
    else()
      set(suffix f32_${isa}_w${lanes}p${pack})
    endif()
    if(PARITAS_VARIANTS AND NOT suffix MATCHES "${PARITAS_VARIANTS}")
      continue()
    endif()
    set(target paritas_kernels_${suffix})
    add_library(${target} OBJECT src/device/cpu/kernels.c)
    target_compile_definitions(${target} PRIVATE PARITAS_BUILDING PARITAS_F64=${f64} PARITAS_LANES=${lanes} PARITAS_PACK=${pack} PARITAS_VARIANT=${suffix})
    target_compile_options(${target} PRIVATE ${ARGN} ${kernel_optimisation})
    target_include_directories(${target} PRIVATE include src kernels "${PARITAS_GENERATED_DIR}")
    target_link_libraries(${target} PRIVATE paritas_settings paritas_kernel_settings)
    list(APPEND PARITAS_KERNEL_OBJECTS $<TARGET_OBJECTS:${target}>)
    string(APPEND variants_list " \\\n    X(${suffix}, ${isa}, ${f64}, ${lanes}, ${pack})")
  endforeach()
  set(PARITAS_KERNEL_OBJECTS "${PARITAS_KERNEL_OBJECTS}" PARENT_SCOPE)
  set(variants_list "${variants_list}" PARENT_SCOPE)
endfunction()

if(EXISTS "${PROJECT_SOURCE_DIR}/src/device/cpu/kernels.c")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(v3 -march=x86-64-v3)
  set(v4 -march=x86-64-v4 -mprefer-vector-width=512)
  paritas_variants(1 portable "1,1" -march=x86-64)
  paritas_variants(1 scalar "1,1" ${v3})
  paritas_variants(1 avx2 "1,4;2,1;4,1" ${v3})
  paritas_variants(1 avx512 "1,8;4,1;8,1" ${v4})
  paritas_variants(0 portable "1,1" -march=x86-64)
  paritas_variants(0 scalar "1,1" ${v3})
  paritas_variants(0 avx2 "1,8;8,1" ${v3})
  paritas_variants(0 avx512 "1,8;16,1" ${v4})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  paritas_variants(1 portable "1,1")
  paritas_variants(1 scalar "1,1")
  paritas_variants(1 neon "1,2;2,1")
  paritas_variants(0 portable "1,1")
  paritas_variants(0 scalar "1,1")
  paritas_variants(0 neon "1,4;4,1")
else()
  paritas_variants(1 portable "1,1")
  paritas_variants(0 portable "1,1")
endif()
endif()

file(CONFIGURE OUTPUT "${PARITAS_GENERATED_DIR}/variants.h" @ONLY CONTENT
"/* variants.h: the kernel variants of this build, as X(suffix, isa, f64, lanes, pack). Made by cmake/kernels.cmake. */
#define PARITAS_KERNEL_VARIANTS(X)@variants_list@
")

# The text for devices: kernels/entry/opencl.cl with all that it includes, as bytes.
set(kernel_text_entry "${PROJECT_SOURCE_DIR}/kernels/entry/opencl.cl")
if(EXISTS "${kernel_text_entry}")
  add_custom_command(OUTPUT "${PARITAS_GENERATED_DIR}/kernels_text.c"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}/kernels" "-DENTRIES=${kernel_text_entry}"
            "-DOUTPUT=${PARITAS_GENERATED_DIR}/kernels_text.c" -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${kernel_files} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake" VERBATIM)
  list(APPEND PARITAS_GENERATED_SOURCES "${PARITAS_GENERATED_DIR}/kernels_text.c")
endif()
