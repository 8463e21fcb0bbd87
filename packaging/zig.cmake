# Compiles for a Linux with glibc by zig, which brings clang, linker and glibc's interface of any version.
#   cmake -DCMAKE_TOOLCHAIN_FILE=packaging/zig.cmake -DPARITAS_ZIG=.../zig -DPARITAS_TARGET=x86_64-linux-gnu.2.17
set(PARITAS_ZIG "zig" CACHE STRING "the program zig")
set(PARITAS_TARGET "x86_64-linux-gnu.2.17" CACHE STRING "processor, system, C library and its version")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PARITAS_ZIG PARITAS_TARGET)
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${PARITAS_TARGET}")
set(CMAKE_C_COMPILER "${PARITAS_ZIG}" cc -target ${PARITAS_TARGET})
set(CMAKE_C_COMPILER_WORKS ON) # each link of CMake's checks would take seconds
set(CMAKE_AR "${PARITAS_ZIG}")
set(CMAKE_RANLIB "${PARITAS_ZIG}")
set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> ranlib <TARGET>")
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
