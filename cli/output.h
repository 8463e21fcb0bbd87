/* output.h: where answers go. */
#ifndef PARITAS_CLI_OUTPUT_H
#define PARITAS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Can `path` be written? If not, says why on stderr. Asked before the work, so that hours are not lost. */
bool output_check(const char *path);
/* Writes `length` bytes to `path`, or to standard output if it is NULL or "-". A regular file is replaced
 * whole, by a rename from a file beside it, or left as it was; a pipe or device is written in place. Does not
 * wait for the disk. On failure says why on stderr. */
bool output_write(const char *path, const char *bytes, size_t length);

/* A file that is written piece by piece and takes its name when it is whole. What fails says why in errno. */
struct output_file {
    char *target, *beside;
    mode_t mode;
    int file;
};
bool output_open(struct output_file *output, const char *path); /* on failure nothing is to be closed */
bool output_append(struct output_file *output, const void *bytes, size_t length);
/* keep: the bytes are brought to the disk, then the file gets its name; else, or when that fails, nothing is
 * left of it. */
bool output_close(struct output_file *output, bool keep);

#endif
