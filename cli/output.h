/* output.h: where answers go. */
#ifndef PARITAS_CLI_OUTPUT_H
#define PARITAS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Can `path` be written? If not, says why on stderr. Ask before long work. */
bool output_check(const char *path);
/* Writes to `path`, or to standard output if it is NULL or "-". A regular file is replaced whole, by a
 * rename, or left as it was. A pipe or device is written in place. Does not wait for the disk. On failure
 * says why on stderr. */
bool output_write(const char *path, const char *bytes, size_t length);

/* A file written in pieces. It gets its name when it is whole. Failures set errno. */
struct output_file {
    char *target, *beside;
    mode_t mode;
    int file;
};
bool output_open(struct output_file *output, const char *path); /* on failure nothing is to be closed */
bool output_append(struct output_file *output, const void *bytes, size_t length);
/* keep: waits for the disk, then gives the file its name. Else, or on failure, removes it. */
bool output_close(struct output_file *output, bool keep);

#endif
