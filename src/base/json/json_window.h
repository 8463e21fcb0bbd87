/* json_window.h: the part of a JSON text that the reader sees. Files go through one small buffer: its pages
 * stay warm, where a whole file would need fresh ones.
 *
 *   source:  ............[ kept from the reader's place | unread ......... ]................
 *                        ▲ bytes: `first` in the source        low ▲       ▲ end, then zeros
 */
#pragma once

#include "base/context.h"

#define JSON_PADDING 64 /* zeros behind the end: scanners load blocks without looking for it */

struct json_window {
    paritas_context *context;
    const char *label;
    int file;         /* -1: `text` in memory */
    const char *text; /* not owned */
    size_t length;    /* of `text` */
    char *bytes;
    size_t room;
    uint64_t first;
    const char *end; /* of what was read */
    /* A place beyond it has less than JSON_PADDING bytes ahead, and the source has more: json_window_more. */
    const char *low;
    bool more;
};

/* A text in memory, or `size` bytes or so of a file that can be read twice. */
paritas_status json_window_of_text(struct json_window *window, paritas_context *context, const char *label,
                                   const char *text, size_t length);
paritas_status json_window_of_file(struct json_window *window, paritas_context *context, const char *label,
                                   int file, uint64_t size);
void json_window_close(struct json_window *window);

/* Drops what stands before *keep, reads on, and moves *keep with the text. */
paritas_status json_window_more(struct json_window *window, const char **keep);
/* Place of a byte in the source. */
static inline uint32_t json_window_place(const struct json_window *window, const char *at)
{
    return (uint32_t)(window->first + (uint64_t)(at - window->bytes));
}
/* Line and column of a place, by reading the source again. Columns count characters from 1. */
void json_window_line(const struct json_window *window, uint32_t place, size_t *line, size_t *column);
