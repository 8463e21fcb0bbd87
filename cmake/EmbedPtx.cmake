# Kernels as PTX in the library, compressed, for machines that have NVIDIA's driver but no NVRTC. Where this build finds NVRTC (a toolkit has it
# beside nvcc). AUTO leaves it out of builds for debugging, with sanitizers, or without all variants.
#
# Loss cones on medium and wide grids stay text, which NVRTC compiles: their PTX has 13 MB, and few instruments have such grids.
#
# PARITAS_VARIANTS_LEFT_OUT leaves out some, too: it is matched with MODULE_fPRECISION_ptx.
#
# paritas_embed_ptx(MODULE...) appends to PARITAS_GENERATED_SOURCES. The global property PARITAS_PTX_LEFT_OUT has
# MODULE_fPRECISION of those that the option left out.
set(PARITAS_EMBED_PTX AUTO CACHE STRING "embed CUDA kernels as PTX: AUTO (releases, where NVRTC is found), ON, OFF")
set_property(CACHE PARITAS_EMBED_PTX PROPERTY STRINGS AUTO ON OFF)

function(paritas_embed_ptx)
  if(PARITAS_EMBED_PTX STREQUAL "OFF")
    return()
  endif()
  set(possible OFF)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
    find_library(PARITAS_NVRTC NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so.11.2 HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
                 PATH_SUFFIXES lib64 targets/x86_64-linux/lib targets/sbsa-linux/lib)
    if(PARITAS_NVRTC)
      set(possible ON)
    endif()
  endif()
  if(PARITAS_EMBED_PTX STREQUAL "AUTO")
    if(NOT possible OR PARITAS_SANITIZE OR NOT PARITAS_VARIANTS STREQUAL "all" OR PARITAS_FUZZ OR NOT CMAKE_BUILD_TYPE MATCHES "^Rel")
      return()
    endif()
  elseif(NOT possible)
    message(FATAL_ERROR "PARITAS_EMBED_PTX is ON, but there is no NVRTC here (or this is no Linux, or a build for another system)")
  endif()

  list(FILTER ARGN EXCLUDE REGEX "^losscone_(medium|wide)$")
  set(folder "${PARITAS_GENERATED_DIR}/ptx")
  set(texts "${PARITAS_GENERATED_DIR}/dialect_cuda.c")
  set(list "")
  file(MAKE_DIRECTORY "${folder}")
  foreach(module IN LISTS ARGN)
    list(APPEND texts "${CMAKE_CURRENT_BINARY_DIR}/modules/${module}_text.c")
    string(APPEND list "X(${module})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/modules.inc" @ONLY CONTENT "@list@")
  add_executable(paritas_embed_ptx_step "${PROJECT_SOURCE_DIR}/tools/embed_ptx.c"
                 "${PROJECT_SOURCE_DIR}/src/device/kernel_source.c" "${PROJECT_SOURCE_DIR}/src/base/platform_posix.c" ${texts})
  target_compile_definitions(paritas_embed_ptx_step PRIVATE "PARITAS_NVRTC=\"${PARITAS_NVRTC}\"")
  target_include_directories(paritas_embed_ptx_step PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PARITAS_GENERATED_DIR}")
  find_package(ZLIB REQUIRED) # also where the library brings its own
  target_link_libraries(paritas_embed_ptx_step PRIVATE paritas_settings ZLIB::ZLIB ${CMAKE_DL_LIBS})
  set_target_properties(paritas_embed_ptx_step PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${folder}")

  set(all "")
  set(tables "")
  foreach(module IN LISTS ARGN)
    file(STRINGS "${PARITAS_KERNELS_DIR}/modules/${module}_entries.h" lines REGEX "X\\([a-z]")
    string(REGEX MATCHALL "X\\([a-z_0-9]+\\)" entries "${lines}")
    string(REGEX REPLACE "X\\(|\\)" "" entries "${entries}")
    foreach(precision 64 32)
      if(PARITAS_VARIANTS_LEFT_OUT AND "${module}_f${precision}_ptx" MATCHES "${PARITAS_VARIANTS_LEFT_OUT}")
        set_property(GLOBAL APPEND PROPERTY PARITAS_PTX_LEFT_OUT "${module}_f${precision}")
        continue()
      endif()
      set(made "${folder}/${module}_${precision}.c" "${folder}/${module}_${precision}.inc")
      add_custom_command(OUTPUT ${made} COMMAND paritas_embed_ptx_step "${folder}" ${precision} ${module} ${entries}
        DEPENDS paritas_embed_ptx_step # which has the texts: made anew when they change
        COMMENT "PTX of ${module} in f${precision}" VERBATIM)
      list(APPEND all ${made})
      string(APPEND tables "#include \"ptx/${module}_${precision}.inc\"\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${PARITAS_GENERATED_DIR}/embedded_ptx.inc" @ONLY CONTENT "@tables@")
  set_source_files_properties(src/device/kernel_embedded.c PROPERTIES COMPILE_DEFINITIONS PARITAS_EMBEDDED)
  list(APPEND PARITAS_GENERATED_SOURCES ${all})
  set(PARITAS_GENERATED_SOURCES "${PARITAS_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()
