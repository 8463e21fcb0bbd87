# Joins a kernel file with all that it includes into one C array, for devices that compile the text at run time:
#   cmake -DROOT=kernels -DFILE=module.h -DSYMBOL=text -DOUTPUT=text.c -P embed.cmake
# `#include "x"` is replaced by the file's text, looked for beside the including file, then under ROOT; `#line`
# keeps a compiler's messages on the kernel's own file and line. `#pragma once` becomes a guard, and a file with one that was joined
# where no condition is open is not joined again. The array ends with a NUL; SYMBOL_size counts without it.
cmake_minimum_required(VERSION 3.20)

# Appends the text of `file` to the global property `joined`. conditional: whether a condition is open where it is included.
function(join file depth conditional)
  if(depth GREATER 32)
    message(FATAL_ERROR "${file}: included too deep; does it include itself?")
  endif()
  file(READ "${file}" rest)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  get_filename_component(folder "${file}" DIRECTORY)
  get_property(once GLOBAL PROPERTY once)
  if(file IN_LIST once)
    return()
  endif()
  set(open 0) # conditions
  set(end "")
  if(rest MATCHES "(^|\n)#pragma once\n")
    string(MAKE_C_IDENTIFIER "JOINED_${name}" guard)
    string(REPLACE "#pragma once\n" "\n" rest "${rest}")
    set_property(GLOBAL APPEND_STRING PROPERTY joined "#ifndef ${guard}\n#define ${guard}\n")
    set(end "#endif\n")
    if(NOT conditional)
      set_property(GLOBAL APPEND PROPERTY once "${file}")
    endif()
  endif()
  set(line 1)
  set_property(GLOBAL APPEND_STRING PROPERTY joined "#line 1 \"${name}\"\n")
  while(rest MATCHES "(^|\n)([ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"[^\n]*)")
    set(directive "${CMAKE_MATCH_2}")
    set(wanted "${CMAKE_MATCH_3}")
    string(FIND "${rest}" "${directive}" at)
    string(SUBSTRING "${rest}" 0 ${at} before)
    string(LENGTH "${directive}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(REGEX REPLACE "[^\n]" "" newlines "${before}")
    string(LENGTH "${newlines}" count)
    math(EXPR line "${line} + ${count}")
    set_property(GLOBAL APPEND_STRING PROPERTY joined "${before}")
    string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*if" opened "${before}")
    string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*endif" closed "${before}")
    list(LENGTH opened opened)
    list(LENGTH closed closed)
    math(EXPR open "${open} + ${opened} - ${closed}")
    if(EXISTS "${folder}/${wanted}")
      set(found "${folder}/${wanted}")
    elseif(EXISTS "${ROOT}/${wanted}")
      set(found "${ROOT}/${wanted}")
    else()
      message(FATAL_ERROR "${file}:${line}: \"${wanted}\" is not there")
    endif()
    get_filename_component(found "${found}" ABSOLUTE)
    math(EXPR deeper "${depth} + 1")
    set(inside ${conditional})
    if(open GREATER 0)
      set(inside TRUE)
    endif()
    join("${found}" ${deeper} ${inside})
    # `rest` begins with the newline that ended the directive, and now ends this one
    math(EXPR next "${line} + 1")
    set_property(GLOBAL APPEND_STRING PROPERTY joined "#line ${next} \"${name}\"")
  endwhile()
  set_property(GLOBAL APPEND_STRING PROPERTY joined "${rest}${end}")
endfunction()

set_property(GLOBAL PROPERTY joined "")
set_property(GLOBAL PROPERTY once "")
get_filename_component(FILE "${FILE}" ABSOLUTE)
join("${FILE}" 0 FALSE)
get_property(text GLOBAL PROPERTY joined)
file(WRITE "${OUTPUT}.txt" "${text}")
file(READ "${OUTPUT}.txt" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}"
"/* ${SYMBOL}: text in the kernel language. Made by cmake/embed.cmake. */
#include <stddef.h>
extern const unsigned char ${SYMBOL}[];
extern const size_t ${SYMBOL}_size;
const unsigned char ${SYMBOL}[] = {
${bytes}0x00};
const size_t ${SYMBOL}_size = sizeof ${SYMBOL} - 1;
")
