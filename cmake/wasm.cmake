# The build for WebAssembly (cmake/wasm32-wasi.cmake): one program, build/wasm/bin/paritas.wasm, which is the engine of the web page, too.
# WASI has one thread, no drivers and no locks of files, so accelerators and SQLite stay out; src/wasi stands in for them.
set(PARITAS_WASM ON)
set(every_device_but_cpu "^src/device/([^c][a-z]*|c[^p][a-z]*)/")
set(PARITAS_LEFT_OUT "${every_device_but_cpu}|^src/device/(accelerator|kernel_cache|kernel_source|verdict)\\.c$|^src/store/(database|store|store_merge|store_rows|store_tables)\\.c$")
set(CMAKE_C_COMPILE_OPTIONS_PIC "") # a program of one module needs none
set(CMAKE_C_COMPILE_OPTIONS_PIE "")
add_library(Threads::Threads INTERFACE IMPORTED) # the C library has functions that start no thread

function(paritas_wasm_program)
  # size first for what is not kernel
  target_compile_options(paritas_objects PRIVATE -Os)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/device/cpu/cpu.c" PROPERTIES COMPILE_OPTIONS "-msimd128;-mrelaxed-simd")
  file(GLOB_RECURSE program_sources CONFIGURE_DEPENDS cli/*.c web/engine/*.c)
  add_executable(paritas_program ${program_sources} $<TARGET_OBJECTS:paritas_objects> ${PARITAS_KERNEL_OBJECTS} ${libraries_objects})
  set_target_properties(paritas_program PROPERTIES OUTPUT_NAME paritas)
  target_include_directories(paritas_program PRIVATE cli src kernels include)
  target_include_directories(paritas_program SYSTEM PRIVATE ${ZLIB_INCLUDE_DIRS})
  target_compile_options(paritas_program PRIVATE -Os)
  # rows of options name the members that they need
  add_library(paritas_program_settings INTERFACE)
  target_compile_options(paritas_program_settings INTERFACE -Wno-missing-field-initializers)
  target_link_libraries(paritas_program PRIVATE paritas_settings paritas_program_settings wasi-emulated-process-clocks wasi-emulated-signal wasi-emulated-mman wasi-emulated-getpid)
  target_link_options(paritas_program PRIVATE -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=8388608)
  install(TARGETS paritas_program RUNTIME DESTINATION bin)
endfunction()

add_compile_definitions(_WASI_EMULATED_SIGNAL _WASI_EMULATED_PROCESS_CLOCKS _WASI_EMULATED_MMAN _WASI_EMULATED_GETPID)
