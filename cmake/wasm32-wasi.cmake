# Cross-compiles for WebAssembly with WASI by zig, which brings clang, linker and C library (`tools/setup web` installs it, and fetches zlib):
#   cmake -S . -B build/wasm -DCMAKE_TOOLCHAIN_FILE=cmake/wasm32-wasi.cmake -DCMAKE_BUILD_TYPE=Release -DPARITAS_SOURCES=build/sources
set(CMAKE_SYSTEM_NAME Generic) # CMake knows no WASI
set(CMAKE_SYSTEM_PROCESSOR wasm32)
file(GLOB zig "${CMAKE_CURRENT_LIST_DIR}/../build/web_venv/lib/python*/site-packages/ziglang/zig")
if(NOT zig)
  set(zig zig)
endif()
set(PARITAS_ZIG "${zig}" CACHE STRING "the program zig")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PARITAS_ZIG)
set(CMAKE_C_COMPILER "${PARITAS_ZIG}" cc -target wasm32-wasi)
set(CMAKE_C_COMPILER_WORKS ON) # each link of CMake's checks would take seconds
set(CMAKE_AR "${PARITAS_ZIG}")
set(CMAKE_RANLIB "${PARITAS_ZIG}")
set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> ranlib <TARGET>")
set(CMAKE_EXECUTABLE_SUFFIX ".wasm")
set(CMAKE_EXECUTABLE_SUFFIX_C ".wasm")
