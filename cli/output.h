/* output.h: where answers go. */
#ifndef PARITAS_CLI_OUTPUT_H
#define PARITAS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Can `path` be written? If not, says why on stderr. Asked before the work, so that hours are not lost. */
bool output_check(const char *path);
/* Writes `length` bytes to `path`, or to standard output if it is NULL or "-". A regular file is replaced whole, by a rename from a file
 * beside it, or left as it was; a pipe or device is written in place. On failure says why on stderr. */
bool output_write(const char *path, const char *bytes, size_t length);

#endif
