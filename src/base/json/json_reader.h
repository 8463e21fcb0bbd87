/* json_reader.h: what the parts of the reader share. */
#pragma once

#include "base/bytes.h"
#include "base/json/json.h"
#include "base/json/json_window.h"

#define JSON_FIRST_NODES ((size_t)16)
#define JSON_MOST_NODES ((size_t)1024)
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
    struct json_known_word words[JSON_KNOWN_WORDS];
    struct json_known_text texts[JSON_KNOWN_TEXTS];
    struct json_level open[JSON_DEPTH_MAX]; /* outermost first; not cleared */
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

/* Reads from a quote to behind the closing one. */
paritas_status json_read_string(struct json_reader *reader, struct json_kept *kept);
/* `length` bytes and JSON_SLACK of slack for writing in blocks; NULL: out of memory. */
#define JSON_SLACK 32
char *json_text_room(struct json_reader *reader, size_t length);

/* A number, the next value of the document. */
paritas_status json_read_number(struct json_reader *reader, struct json *node);
/* An array that begins with a number: as far as numbers go. Ends behind a number. */
paritas_status json_read_numbers(struct json_reader *reader, struct json *array);

/* Reads on from `at` where the window runs low. Pointers into the window are lost. */
static inline paritas_status json_more(struct json_reader *reader)
{
    return json_window_more(&reader->window, &reader->at);
}

static inline const char *json_skip_blanks(const char *at)
{
    while ((unsigned char)*at <= ' ') {
        if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t') break;
        at = skip_spaces(at + 1); /* long runs: indentation */
    }
    return at;
}

/* Moves to the next byte that is no blank, with what follows it in the window. */
static inline paritas_status json_pass_blanks(struct json_reader *reader)
{
    reader->at = json_skip_blanks(reader->at);
    while (reader->at > reader->window.low) {
        TRY(json_more(reader));
        reader->at = json_skip_blanks(reader->at);
    }
    return PARITAS_OK;
}

static inline bool json_begins_number(char byte)
{
    return byte == '-' || (byte >= '0' && byte <= '9');
}

/* Cleared; NULL: out of memory. */
static inline struct json *json_next_node(struct json_reader *reader)
{
    if (reader->node == reader->last_node) {
        if (reader->node_room < JSON_MOST_NODES)
            reader->node_room = reader->node_room ? 2 * reader->node_room : JSON_FIRST_NODES;
        reader->node = arena_allocate(&reader->document->arena, reader->node_room * sizeof *reader->node);
        reader->last_node = reader->node ? reader->node + reader->node_room : NULL;
        if (!reader->node) return NULL;
    }
    *reader->node = (struct json){0};
    return reader->node++;
}

/* Adds a child to a container that is being read. */
static inline void json_add(struct json *container, struct json *child)
{
    *(container->last ? &container->last->next : &container->first) = child;
    container->last = child;
    container->count++;
}
