/* root_buffer.h: entries that ROOT has not yet put into the bins of a histogram.
 *
 * A histogram that ROOT filled after SetBuffer, or whose range ROOT chooses, keeps its first entries in a
 * buffer. It may be written before these are put into bins. ROOT does so when somebody asks for a bin. */
#pragma once

#include "root/root_bytes.h"
#include "root/root_file.h"

struct root_axis {
    double low, high;
    bool grows; /* ROOT widens the bins until all entries are inside */
};

struct root_entries {
    uint32_t n;
    const unsigned char *at; /* weight and place of each */
};

/* The buffer in the bytes of TH1. Entries that the bins have already are none. A count that is no whole
 * number, or more than there is room for, sets `failed`. */
void root_entries_read(struct root_bytes *base, struct root_entries *entries);

/* Adds the entries to contents and squares. `whole`: 0 for floating contents, else the largest one.
 * `weighted`: other weights than 1 make squares. Returns PARITAS_OK, OUT_OF_MEMORY, or INVALID_INPUT with the
 * reason. */
paritas_status root_entries_fill(const struct root_entries *entries, const struct root_axis *axis,
                                 double whole, bool weighted, struct arena *arena,
                                 struct root_histogram *histogram, const char **reason);
