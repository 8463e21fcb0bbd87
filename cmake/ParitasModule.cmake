# Kernel modules: the kernels of one model family, compiled for the CPU once per variant, and as text for devices that
# compile it at run time.
#
#   paritas_kernel_module(NAME FILE ENTRIES_FILE [ONE_LANE])
#
# FILE holds the kernels in the kernel language (docs/models.md), ENTRIES_FILE a macro MODULE_ENTRIES(X) with an X(name) for
# each of its entries. Both may include each other's neighbours and what lies in the kernels folder. It sets in the caller:
# ONE_LANE: the module branches on its numbers, so a team works on one job and no variant has lanes.
#   NAME_OBJECTS   compiled kernels, for the caller's target
#   NAME_SOURCES   C files to compile into it, which define `const struct kernel_module paritas_module_NAME`
#
#   paritas_add_model(TARGET NAME FILE)
#
# compiles a model that a user wrote (docs/models.md) into TARGET, whose sources declare it as `extern const paritas_kernels paritas_model_NAME;`.
#
# A variant is (precision, instruction set, lanes W, pack P); its functions end in a suffix such as f64_avx512_w8p1. The
# processor picks among the variants when the library is opened. PARITAS_VARIANTS says which are built: `all` (or empty); `native`, those of this
# machine's instruction set and the portable ones; or those whose suffix it matches, as a regular expression.
# PARITAS_VARIANTS_LEFT_OUT takes some of one module back: it is matched with NAME_SUFFIX. What a module lacks, the next plainer instruction set
# does, with the same bits.

set(PARITAS_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# The variants of this processor's family, each "F64 ISA LANES PACK FLAG..."
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(v1 "-march=x86-64")
  set(v3 "-march=x86-64-v3")
  set(v4 "-march=x86-64-v4 -mprefer-vector-width=512")
  if(PARITAS_ZIG) # its names of processors
    set(v1 "-march=x86_64")
    set(v3 "-march=x86_64_v3")
    set(v4 "-march=x86_64_v4 -mprefer-vector-width=512")
  endif()
  set(PARITAS_ALL_VARIANTS
    "1 portable 1 1 ${v1}" "1 scalar 1 1 ${v3}" "1 avx2 1 4 ${v3}" "1 avx2 2 1 ${v3}" "1 avx2 4 1 ${v3}"
    "1 avx512 1 8 ${v4}" "1 avx512 4 1 ${v4}" "1 avx512 8 1 ${v4}"
    "0 portable 1 1 ${v1}" "0 scalar 1 1 ${v3}" "0 avx2 1 8 ${v3}" "0 avx2 8 1 ${v3}"
    "0 avx512 1 8 ${v4}" "0 avx512 16 1 ${v4}")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(PARITAS_ALL_VARIANTS "1 portable 1 1" "1 scalar 1 1" "1 neon 1 2" "1 neon 2 1" "0 portable 1 1" "0 scalar 1 1" "0 neon 1 4" "0 neon 4 1")
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  set(relaxed "-msimd128 -mrelaxed-simd")
  set(PARITAS_ALL_VARIANTS "1 portable 1 2 -msimd128" "1 portable 2 1 -msimd128" "1 relaxed_simd 1 2 ${relaxed}" "1 relaxed_simd 2 1 ${relaxed}" "0 portable 1 1 -msimd128")
else()
  set(PARITAS_ALL_VARIANTS "1 portable 1 1" "0 portable 1 1")
endif()

# What the kernels ask of the compiler. CMake keeps a folder's compiler for ever, so a refused one is forgotten: the next run may have a newer one.
function(paritas_check_compiler)
  if(PARITAS_COMPILER_CAN STREQUAL CMAKE_C_COMPILER)
    return()
  endif()
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(can "${CMAKE_BINARY_DIR}/CMakeFiles/compiler_probe" SOURCES "${PARITAS_CMAKE_DIR}/compiler_probe.c")
  if(NOT can)
    set(compiler "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} (${CMAKE_C_COMPILER})")
    unset(CMAKE_C_COMPILER CACHE)
    file(REMOVE_RECURSE "${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION}")
    message(FATAL_ERROR "The C compiler is too old for the kernels: ${compiler}. gcc and clang can compile them from version 12 on, "
                        "Apple's clang from 13 on.\n  Debian, Ubuntu: apt-get install clang    (then pip needs CC=clang)")
  endif()
  set(PARITAS_COMPILER_CAN "${CMAKE_C_COMPILER}" CACHE INTERNAL "the compiler that can compile the kernels")
endfunction()

# paritas_native_isa(RESULT): the best instruction set of this machine, by the compiler's knowledge of it
function(paritas_native_isa result)
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "PARITAS_VARIANTS is `native`, but this is a build for another machine: give `all` or a regular expression")
  endif()
  set(isa portable)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(isa neon)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    separate_arguments(arguments NATIVE_COMMAND "${CMAKE_C_COMPILER_ARG1}")
    set(empty_file /dev/null)
    if(CMAKE_HOST_WIN32)
      set(empty_file NUL)
    endif()
    execute_process(COMMAND "${CMAKE_C_COMPILER}" ${arguments} -march=native -dM -E -x c "${empty_file}"
                    OUTPUT_VARIABLE has COMMAND_ERROR_IS_FATAL ANY)
    set(isa avx512)
    foreach(feature AVX512F AVX512DQ AVX512BW AVX512CD AVX512VL)
      if(NOT has MATCHES "__${feature}__")
        set(isa avx2)
      endif()
    endforeach()
    if(NOT has MATCHES "__AVX2__" OR NOT has MATCHES "__FMA__" OR NOT has MATCHES "__BMI2__")
      set(isa portable)
    endif()
  endif()
  set(${result} ${isa} PARENT_SCOPE)
endfunction()

# paritas_chosen_variants(RESULT): PARITAS_VARIANTS as a regular expression of suffixes; empty: all
function(paritas_chosen_variants result)
  set(chosen "${PARITAS_VARIANTS}")
  if(chosen STREQUAL "all")
    set(chosen "")
  elseif(chosen STREQUAL "native")
    if(NOT PARITAS_NATIVE_ISA)
      paritas_native_isa(isa)
      set(PARITAS_NATIVE_ISA ${isa} CACHE INTERNAL "the best instruction set of this machine")
    endif()
    set(chosen "_(portable|${PARITAS_NATIVE_ISA})_")
  endif()
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()

# paritas_embed(SYMBOL FILE OUTPUT): FILE joined with all that it includes, as `const unsigned char SYMBOL[]` and `const size_t SYMBOL_size`.
function(paritas_embed symbol file output)
  if(PARITAS_WASM) # no device compiles text
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"#include <stddef.h>
extern const unsigned char @symbol@[];
extern const size_t @symbol@_size;
const unsigned char @symbol@[] = {0};
const size_t @symbol@_size = 0;
")
    return()
  endif()
  get_filename_component(folder "${file}" DIRECTORY)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PARITAS_KERNELS_DIR}/*.h" "${folder}/*.h")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PARITAS_KERNELS_DIR}" "-DFILE=${file}" "-DSYMBOL=${symbol}" "-DOUTPUT=${output}" -P "${PARITAS_CMAKE_DIR}/embed.cmake"
    DEPENDS ${sources} "${file}" "${PARITAS_CMAKE_DIR}/embed.cmake" VERBATIM)
endfunction()

function(paritas_kernel_module name file entries_file)
  paritas_check_compiler()
  cmake_parse_arguments(PARSE_ARGV 3 module "ONE_LANE" "" "")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/modules")
  get_filename_component(folder "${file}" DIRECTORY)
  set(optimisation "${PARITAS_KERNEL_OPTIMISATION}")
  if(NOT optimisation AND CMAKE_BUILD_TYPE MATCHES "^Rel")
    set(optimisation -O3)
  endif()
  set(objects "")
  set(tables "")
  set(rows "")
  paritas_chosen_variants(chosen)
  foreach(variant IN LISTS PARITAS_ALL_VARIANTS)
    string(REPLACE " " ";" variant "${variant}")
    list(POP_FRONT variant f64 isa lanes pack)
    if(f64)
      set(suffix f64_${isa}_w${lanes}p${pack})
      set(precision 64)
    else()
      set(suffix f32_${isa}_w${lanes}p${pack})
      set(precision 32)
    endif()
    if((chosen AND NOT suffix MATCHES "${chosen}") OR
       (PARITAS_VARIANTS_LEFT_OUT AND "${name}_${suffix}" MATCHES "${PARITAS_VARIANTS_LEFT_OUT}"))
      continue()
    endif()
    if(module_ONE_LANE AND lanes GREATER 1)
      continue()
    endif()
    set(optimisation_here "${optimisation}")
    if(isa STREQUAL "portable" AND PARITAS_VARIANTS STREQUAL "native" AND NOT PARITAS_NATIVE_ISA STREQUAL "portable" AND NOT PARITAS_KERNEL_OPTIMISATION)
      set(optimisation_here -O1) # here they only check the others; -O3 takes twice the compiler's time for the same bits
    endif()
    set(target paritas_${name}_${suffix})
    add_library(${target} OBJECT "${PARITAS_KERNELS_SOURCE}")
    target_compile_definitions(${target} PRIVATE PARITAS_F64=${f64} PARITAS_LANES=${lanes} PARITAS_PACK=${pack} PARITAS_VARIANT=${suffix}
      PARITAS_MODULE=${name} "PARITAS_MODULE_FILE=\"${file}\"" "PARITAS_MODULE_ENTRIES_FILE=\"${entries_file}\"")
    target_compile_options(${target} PRIVATE ${variant} ${optimisation_here})
    target_include_directories(${target} PRIVATE ${PARITAS_KERNEL_INCLUDES} "${folder}")
    target_link_libraries(${target} PRIVATE ${PARITAS_KERNEL_SETTINGS})
    set_target_properties(${target} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
    string(APPEND tables "extern const cpu_entry paritas_${name}_${suffix}[];\n")
    string(APPEND rows "    {\"${isa}\", ${precision}, ${lanes}, ${pack}, paritas_${name}_${suffix}},\n")
  endforeach()
  paritas_embed(paritas_text_${name} "${file}" "${generated}/${name}_text.c")
  file(CONFIGURE OUTPUT "${generated}/${name}_module.c" @ONLY CONTENT
"/* ${name}_module.c: the table of a kernel module. Made by cmake/ParitasModule.cmake. */
#include \"${PARITAS_CMAKE_MODULE_HEADER}\"
#include \"${entries_file}\"

@tables@extern const unsigned char paritas_text_${name}[];
extern const size_t paritas_text_${name}_size;

static const struct cpu_variant variants[] = {
@rows@};
static const char *const entries[] = {
#define X(name) #name,
    MODULE_ENTRIES(X)
#undef X
};
extern const struct kernel_module paritas_module_${name};
const struct kernel_module paritas_module_${name} = {
    \"${name}\", entries, sizeof entries / sizeof entries[0], paritas_text_${name}, &paritas_text_${name}_size, variants, sizeof variants / sizeof variants[0]};
")
  set(${name}_OBJECTS "${objects}" PARENT_SCOPE)
  set(${name}_SOURCES "${generated}/${name}_module.c" "${generated}/${name}_text.c" PARENT_SCOPE)
endfunction()

function(paritas_add_model target name file)
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "paritas_add_model: '${name}' is no name that C can have")
  endif()
  get_filename_component(file "${file}" ABSOLUTE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "paritas_add_model: ${file} is not there")
  endif()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/modules/${name}_kernels.c")
  if(NOT TARGET paritas_${name}_kernels)
    paritas_kernel_module(${name} "${file}" "${PARITAS_KERNELS_DIR}/modules/custom_entries.h")
    file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"/* ${name}_kernels.c: the kernels of a user's model, as the library takes them. Made by cmake/ParitasModule.cmake. */
#include \"${PARITAS_CMAKE_MODULE_HEADER}\"

extern const struct kernel_module paritas_module_${name};
extern const struct paritas_kernels paritas_model_${name};
const struct paritas_kernels paritas_model_${name} = {KERNEL_MODULE_API, &paritas_module_${name}};
")
    # one library of objects, which more than one program of a project may take
    add_library(paritas_${name}_kernels OBJECT ${${name}_SOURCES} "${generated}")
    set_target_properties(paritas_${name}_kernels PROPERTIES C_STANDARD 17 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    set_property(TARGET paritas_${name}_kernels PROPERTY PARITAS_OBJECTS "${${name}_OBJECTS}")
  endif()
  get_target_property(objects paritas_${name}_kernels PARITAS_OBJECTS)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:paritas_${name}_kernels> ${objects})
  target_link_libraries(${target} PRIVATE m) # the portable kernels call fma()
endfunction()
