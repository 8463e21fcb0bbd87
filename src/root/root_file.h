/* root_file.h: histograms of one dimension from ROOT files.
 *
 * Files without compression or with zlib's are read. Others are refused with the command that rewrites
 * them. */
#pragma once

#include "base/context.h"

#include <stdbool.h>
#include <stdint.h>

struct root_file;

struct root_histogram {
    uint32_t n_bins;
    bool single;      /* TH1F: contents were 32-bit floats */
    double *contents; /* n_bins + 2: underflow, bins 1..n, overflow; any number, also NaN */
    double *squares;  /* n_bins + 2: sums of squared weights; NULL: the squared error is the content */
    double *edges;    /* n_bins + 1 */
};

paritas_status root_file_open(paritas_context *context, const char *path, struct root_file **file);
void root_file_close(struct root_file *file); /* NULL is a no-op */

/* `name`: path of an object in the file, "dir/sub/hist". NOT_FOUND: no such object. INVALID_INPUT: another
 * class, another compression, a damaged file. Arrays are from `arena` and live as long as it. */
paritas_status root_histogram_read(paritas_context *context, struct root_file *file, const char *name,
                                   struct arena *arena, struct root_histogram *histogram);
/* Whether there is such an object, of any class. Leaves no message. */
bool root_file_has(struct root_file *file, const char *name);
