# What others wrote: SQLite for stores, zlib for compressed files and kernels. With PARITAS_SOURCES both are compiled into our libraries,
# and nothing else is needed to link them. Else they are the system's. The program starts 0.3 ms sooner with SQLite inside than with one
# that the loader has to find and bind (a cold likelihood takes 1 ms), so what is linked here takes static libraries; our own libraries
# leave the choice to who links them.
#
# Sets SQLite3_INCLUDE_DIRS, ZLIB_INCLUDE_DIRS and
#   libraries_objects, libraries_shared, libraries_here    what to link: compiled here, for our libraries, for programs of this build
#   libraries_dependencies, libraries_requirements         the same for ParitasConfig.cmake and pkg-config
set(PARITAS_SOURCES "" CACHE PATH "folder of the sources of SQLite and zlib, to be compiled into our libraries (tools/fetch_sources gets them); empty: the system's")
option(PARITAS_STATIC "programs of this build link the static SQLite and zlib that lie beside the shared ones" ON)
foreach(list objects shared here dependencies requirements)
  set(libraries_${list} "")
endforeach()

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
    find_package(${package} REQUIRED)
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
