# What others wrote: SQLite for stores, zlib for compressed files and kernels. With PARITAS_SOURCES both are compiled into our libraries,
# and nothing else is needed to link them. Else they are the system's. The program starts 0.3 ms sooner with SQLite inside than with one
# that the loader has to find and bind (a cold likelihood takes 1 ms), so what is linked here takes static libraries; our own libraries
# leave the choice to who links them.
#
# Sets SQLite3_INCLUDE_DIRS, ZLIB_INCLUDE_DIRS and
#   libraries_objects, libraries_shared, libraries_here    what to link: compiled here, for our libraries, for programs of this build
#   libraries_dependencies, libraries_requirements         the same for find_package and pkg-config
set(PARITAS_SOURCES "" CACHE PATH "folder of the sources of SQLite and zlib, to be compiled into our libraries (tools/fetch_sources gets them); empty: the system's")
option(PARITAS_STATIC "programs of this build link the static SQLite and zlib that lie beside the shared ones" ON)
foreach(list objects shared here dependencies requirements missing)
  set(libraries_${list} "")
endforeach()

# Where a header is missing, sources that tools/fetch_sources left are taken; nothing is fetched here.
set(fetched "${PROJECT_SOURCE_DIR}/build/sources")
if(NOT PARITAS_SOURCES AND EXISTS "${fetched}/sqlite" AND EXISTS "${fetched}/zlib")
  find_package(ZLIB QUIET)
  find_package(SQLite3 QUIET)
  if(NOT ZLIB_FOUND OR NOT SQLite3_FOUND)
    set(PARITAS_SOURCES "${fetched}")
  endif()
endif()

# paritas_library(PACKAGE FOLDER TARGET ARCHIVE REQUIREMENT SETTING...): the package of CMake's find_package and its target; or the
# folder of PARITAS_SOURCES, compiled with these settings
macro(paritas_library package folder target archive requirement)
  if(PARITAS_SOURCES)
    file(GLOB sources "${PARITAS_SOURCES}/${folder}/*.c")
    if(NOT sources)
      message(FATAL_ERROR "PARITAS_SOURCES: ${PARITAS_SOURCES} has no ${folder}; tools/fetch_sources gets it")
    endif()
    add_library(paritas_${folder} OBJECT ${sources})
    target_compile_definitions(paritas_${folder} PRIVATE ${ARGN})
    target_compile_options(paritas_${folder} PRIVATE -w) # warnings are for code that we can change
    set_target_properties(paritas_${folder} PROPERTIES C_EXTENSIONS ON)
    set(${package}_INCLUDE_DIRS "${PARITAS_SOURCES}/${folder}")
    list(APPEND libraries_objects $<TARGET_OBJECTS:paritas_${folder}>)
  else()
    find_package(${package})
    if(NOT ${package}_FOUND)
      list(APPEND libraries_missing ${package})
    endif()
    list(APPEND libraries_shared ${target})
    string(REGEX REPLACE "[^/]+$" "${archive}" static "${${package}_LIBRARIES}")
    if(NOT PARITAS_STATIC OR NOT EXISTS "${static}")
      set(static ${target})
    endif()
    list(APPEND libraries_here "${static}")
    string(APPEND libraries_dependencies "find_dependency(${package})\n")
    string(APPEND libraries_requirements "${requirement} ")
  endif()
endmacro()

# Z_SOLO: all memory is ours
paritas_library(ZLIB zlib ZLIB::ZLIB libz.a zlib Z_SOLO)
if(NOT PARITAS_WASM)
  # THREADSAFE 1: contexts of several threads
  paritas_library(SQLite3 sqlite SQLite::SQLite3 libsqlite3.a sqlite3 SQLITE_THREADSAFE=1 SQLITE_OMIT_LOAD_EXTENSION SQLITE_DQS=0
                  SQLITE_OMIT_DEPRECATED)
endif()

# Names all that is missing at once, with the packages of some systems.
function(paritas_refuse_missing)
  set(names_ZLIB "zlib's header" zlib1g-dev zlib-devel)
  set(names_SQLite3 "SQLite's header" libsqlite3-dev sqlite-devel)
  set(names_Python "Python's headers" python3-dev python3-devel)
  foreach(package IN LISTS libraries_missing)
    list(GET names_${package} 0 name)
    list(GET names_${package} 1 apt)
    list(GET names_${package} 2 dnf)
    list(APPEND names "${name}")
    list(APPEND apts ${apt})
    list(APPEND dnfs ${dnf})
  endforeach()
  string(JOIN ", " names ${names})
  string(JOIN " " apts ${apts})
  string(JOIN " " dnfs ${dnfs})
  set(message "Missing: ${names}.\n  Debian, Ubuntu: apt-get install ${apts}\n  Fedora: dnf install ${dnfs}")
  if(names MATCHES "SQLite|zlib")
    string(APPEND message "\nWithout an administrator: python3 tools/fetch_sources gets SQLite and zlib, which the next run compiles in.")
  endif()
  message(FATAL_ERROR "${message}")
endfunction()

if(PARITAS_PYTHON AND NOT PARITAS_MODULES_FOR)
  find_package(Python QUIET COMPONENTS Interpreter Development.Module)
  # by the file: pip names a folder of headers, there or not, and one that is not there hides the interpreter, too
  find_file(PARITAS_PYTHON_H Python.h PATHS ${Python_INCLUDE_DIRS} ${Python_INCLUDE_DIR} NO_DEFAULT_PATH)
  if(NOT PARITAS_PYTHON_H)
    list(APPEND libraries_missing Python)
  endif()
  unset(PARITAS_PYTHON_H CACHE) # another Python may build next in this folder
endif()
if(libraries_missing)
  paritas_refuse_missing()
endif()
