# Cross-compiles by `zig cc`: one compiler with headers and libraries of every system.
#
#   cmake --toolchain cmake/zig.cmake -DPARITAS_ZIG=build/zig_venv/.../zig -DPARITAS_TARGET=x86_64-windows-gnu ...
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
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_INSTALL_NAME_TOOL "${CMAKE_COMMAND};-E;true") # names are whole when linked
else()
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_RC_COMPILER "${PARITAS_ZIG}") # CMake asks for one; nothing is compiled with it
endif()
set(CMAKE_C_COMPILER "${PARITAS_ZIG};cc;-target;${PARITAS_TARGET}")
set(CMAKE_AR "${PARITAS_ZIG}")
set(CMAKE_RANLIB "${PARITAS_ZIG}")
set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> ar qcs <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> ar qs <TARGET> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "")
foreach(kind PROGRAM LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} NEVER)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
