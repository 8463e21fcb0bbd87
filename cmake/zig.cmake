# Cross-compiles by `zig cc`: one compiler with headers and libraries of every system.
#
#   cmake --toolchain cmake/zig.cmake -DPARITAS_ZIG=.../zig -DPARITAS_TARGET=x86_64-windows-gnu ...
#
# tools/make_release passes both, and lists the targets.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PARITAS_ZIG PARITAS_TARGET)
if(NOT PARITAS_TARGET MATCHES "^(x86_64|aarch64)-(linux|macos|windows)")
  message(FATAL_ERROR "cmake/zig.cmake: PARITAS_TARGET is '${PARITAS_TARGET}', not for example x86_64-windows-gnu")
endif()
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
if(CMAKE_MATCH_2 STREQUAL "linux")
  set(CMAKE_SYSTEM_NAME Linux)
elseif(CMAKE_MATCH_2 STREQUAL "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  # as CMake has it on a Mac
  set(CMAKE_INSTALL_NAME_DIR "@rpath")
  set(CMAKE_BUILD_WITH_INSTALL_NAME_DIR ON)
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_INSTALL_NAME_TOOL "${CMAKE_COMMAND};-E;true") # names are whole when linked
else()
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_RC_COMPILER "${PARITAS_ZIG}") # CMake asks for one; nothing is compiled with it
endif()
set(CMAKE_C_COMPILER "${PARITAS_ZIG};cc;-target;${PARITAS_TARGET}")
# CMake takes a path here, not a command
foreach(tool ar ranlib)
  string(TOUPPER ${tool} variable)
  set(CMAKE_${variable} "${CMAKE_BINARY_DIR}/zig_${tool}")
  file(CONFIGURE OUTPUT "${CMAKE_${variable}}" CONTENT "#!/bin/sh\nexec '${PARITAS_ZIG}' ${tool} \"$@\"\n")
  file(CHMOD "${CMAKE_${variable}}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_FLAGS_INIT -g0) # zig writes debugging information if not told: three quarters of a static library
if(CMAKE_SYSTEM_NAME STREQUAL "Windows")
  string(APPEND CMAKE_C_FLAGS_INIT " -Xclang -object-file-name=paritas.obj") # else its path on this machine
endif()
# without symbols: this machine's strip knows its own system only
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE) # nothing of this machine
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
