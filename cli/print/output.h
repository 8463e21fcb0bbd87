/* output.h: where answers go. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Else prints why to stderr. For checks before long work. */
bool output_check(const char *path);
/* Writes to `path`, or to standard output for NULL and "-". A regular file is replaced whole, by a rename, or
 * left. Pipes and devices are written in place. No wait for the disk. Failures are told on stderr. */
bool output_write(const char *path, const char *bytes, size_t length);

/* A file in pieces, named when whole. Failures set errno. */
struct output_file {
    char *target, *beside;
    int file;
    bool sealed; /* it is there, as `beside` */
};
bool output_open(struct output_file *output, const char *path); /* on failure nothing is open */
bool output_append(struct output_file *output, const void *bytes, size_t length);
/* keep: waits for the disk, then names the file. Else removes it, as on failure. */
bool output_close(struct output_file *output, bool keep);
/* The same in two steps, for files that are named together: waits for the disk and closes; names or
 * removes. */
bool output_seal(struct output_file *output);
bool output_name(struct output_file *output, bool keep);
