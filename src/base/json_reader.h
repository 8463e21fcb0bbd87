/* json_reader.h: what the parts of the reader share. */
#ifndef PARITAS_BASE_JSON_READER_H
#define PARITAS_BASE_JSON_READER_H

#include "base/json.h"
#include "base/json_window.h"

#define JSON_KNOWN_WORDS 128 /* powers of two */
#define JSON_KNOWN_TEXTS 512

/* A container that is not closed yet. */
struct json_level {
    struct json *container;
    /* A bit for each key so far, by its hash. While no bit is met twice, no key is. */
    uint64_t keys;
    bool doubt; /* a bit was met twice */
};

/* Texts that were kept: workspaces repeat their keys and names. Below eight bytes a text is a word, with
 * zeros behind its end. */
struct json_known_word {
    uint64_t word;
    const char *text;
};
struct json_known_text {
    const char *text;
    size_t length;
};

struct json_reader {
    paritas_context *context;
    paritas_workspace *document;
    const char *at; /* in the window */
    struct json_window window;
    struct json *node, *last_node; /* room for nodes, from the arena */
    size_t node_room;
    char *room, *room_end; /* room for texts, from the arena */
    size_t text_room;
    /* numbers of an array, before they are packed */
    double *numbers;
    char *literals;
    size_t number_room, literal_room;
    bool packs;
    unsigned depth;
    struct json_level open[JSON_DEPTH_MAX]; /* outermost first */
    struct json_known_word words[JSON_KNOWN_WORDS];
    struct json_known_text texts[JSON_KNOWN_TEXTS];
};

/* A kept text: its copy in the arena, NUL-ended. */
struct json_kept {
    const char *text;
    uint32_t length;
    bool decoded;  /* it was written with escapes */
    uint64_t hash; /* the same for the same text */
};

paritas_status json_fail_at(struct json_reader *reader, const char *at, const char *format, ...)
    PRINTF_LIKE(3, 4);
paritas_status json_fail_at_place(struct json_reader *reader, uint32_t place, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* From a quote to behind the closing one. */
paritas_status json_read_string(struct json_reader *reader, struct json_kept *kept);
/* `length` bytes and JSON_SLACK of slack for writing in blocks; NULL: out of memory. */
#define JSON_SLACK 32
char *json_text_room(struct json_reader *reader, size_t length);

/* Reads on from `at` where the window runs low. Pointers into the window are lost. */
static inline paritas_status json_more(struct json_reader *reader)
{
    return json_window_more(&reader->window, &reader->at);
}

#endif
