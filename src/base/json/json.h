/* json.h: a strict JSON reader and writer.
 *
 *   text ──► json_read ──► struct json (linked tree in an arena) ──► json_write / json_patch / json_digest
 *
 * Strict: RFC 8259, valid UTF-8, unique keys, no NUL, finite numbers, at most JSON_DEPTH_MAX levels.
 * Numbers keep their literal: integers stay integers, digests equal Python's. Not jansson: it reads a 2.3
 * MB workspace in 34 ms, longer than a cold fit; this reader takes 1 ms. Tests compare both verdicts. */
#pragma once

#include "base/context.h"

#define JSON_DEPTH_MAX 512

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;

/* Children are a list, in document order. */
struct json {
    struct json *next;
    struct json *first; /* ARRAY, OBJECT; else NULL */
    const char *key;    /* decoded, NUL-ended; NULL: not in an object */
    union {
        struct json *last;                     /* ARRAY, OBJECT */
        const struct json_numbers *numbers_of; /* packed ARRAY: json_walk, json_numbers */
        /* STRING: decoded UTF-8, NUL-ended; NUMBER: literal, then NUL or ',' */
        const char *text;
    };
    double number; /* NUMBER: correctly rounded */
    union {
        uint32_t count;  /* ARRAY, OBJECT: children */
        uint32_t length; /* STRING, NUMBER: bytes of text */
    };
    uint32_t key_length;
    uint32_t key_place;   /* for the reader: of the quote before the key */
    uint8_t type;         /* json_type */
    bool key_decoded : 1; /* for the reader: the key was written with escapes */
    bool integer : 1;     /* NUMBER: literal without '.', 'e', 'E' */
    bool lent : 1;        /* ARRAY, OBJECT: the children are another document's */
    bool packed : 1;      /* ARRAY of numbers alone, without nodes: `first` is NULL, `count` right */
};

_Static_assert(sizeof(struct json) <= 56, "large documents have a million nodes");

/* The numbers of a packed array: an eighth of their nodes. */
struct json_numbers {
    const char *literals; /* each ended by ',' */
    double at[];
};

/* A document: tree and its arena. This is paritas_workspace. */
struct paritas_workspace {
    struct arena arena;
    struct json *root;
    const char *label;                    /* file name, for messages */
    const struct paritas_workspace *base; /* of json_share; NULL: all nodes are its own */
    const void *reading; /* what its reader keeps in the arena for documents that share it; NULL: nothing */
    atomic_bool is_patchset; /* a check found so: documents do not change */
};

/* Refuses the first bytes of XML, ROOT, gzip, tar and zip files, and says what to do. */
paritas_status json_check_format(paritas_context *context, const char *label, const char *text,
                                 size_t length);
/* A tar (from 512 bytes on) or zip archive? */
bool json_is_archive(const char *text, size_t length);

/* Copies the bytes. Failures: "LABEL: line L, column C: reason". */
paritas_status json_read(paritas_context *context, const char *text, size_t length, const char *label,
                         paritas_workspace **document);
/* "-": standard input */
paritas_status json_read_file(paritas_context *context, const char *path, paritas_workspace **document);
/* The same with arrays of numbers packed: for documents that are copied before they are changed, since copies
 * are not packed. */
paritas_status json_read_packed(paritas_context *context, const char *path, paritas_workspace **document);
/* Makes a document without a tree. Returns NULL without memory. */
paritas_workspace *json_open(paritas_context *context, const char *label);
paritas_status json_copy(paritas_context *context, const struct json *root, const char *label,
                         paritas_workspace **document);
/* Stores a document in *out, or frees it on failure. Returns `status`. */
paritas_status json_hand_out(paritas_status status, paritas_workspace *made, paritas_workspace **out);
/* Costs next to nothing: `base` lends all its nodes. Patches take copies of the containers on their paths
 * alone, and lend their values. Only json_patch may change such a document. `base` and the patches must not
 * change, and must live longer. */
paritas_status json_share(paritas_context *context, const paritas_workspace *base,
                          paritas_workspace **document);
/* A copy labelled "LABEL (what)". */
paritas_status json_copy_as(paritas_context *context, const paritas_workspace *source,
                            paritas_workspace **copy, const char *what, ...) PRINTF_LIKE(4, 5);

/* Returns NULL if the key is absent, or `object` is NULL or of another type. */
const struct json *json_get(const struct json *object, const char *key);
const struct json *json_at(const struct json *array, size_t index); /* not of a packed one */
/* Numbers of a packed array; NULL for any other node. */
const double *json_numbers(const struct json *array);
/* Children one by one, packed or not; those of a packed array live until the next step. NULL: no more. */
struct json_walk {
    const struct json *array;
    const struct json *item;
    const char *literal;
    uint32_t index;
    struct json number;
};
const struct json *json_walk_first(struct json_walk *walk, const struct json *array);
const struct json *json_walk_next(struct json_walk *walk);
bool json_is(const struct json *node, json_type type);
bool json_text_is(const struct json *node, const char *text);
const char *json_type_name(const struct json *node); /* for messages: "a number", "an object", ... */
/* as RFC 6902 'test': numbers by value, members in any order */
bool json_equal(const struct json *a, const struct json *b);

/* Makes a node in the arena of `document`, with copies of keys and texts. Returns NULL without memory. */
struct json *json_new(paritas_workspace *document, json_type type);
struct json *json_new_text(paritas_workspace *document, const char *text);
struct json *json_new_number(paritas_workspace *document, double value);
struct json *json_new_count(paritas_workspace *document, size_t count); /* without a point */
struct json *json_new_numbers(paritas_workspace *document, size_t n, const double *values); /* NULL: zeros */
struct json *json_clone(paritas_workspace *document, const struct json *node);
/* A copy whose children are lent; it has no place yet. */
struct json *json_borrow(paritas_workspace *document, const struct json *node);
/* Takes copies of lent children, each of which is borrowed. false: out of memory */
bool json_own_children(paritas_workspace *document, struct json *container);
/* to an array, or an object without child->key; false: NULL argument */
bool json_append(struct json *container, struct json *child);
/* adds or replaces */
bool json_set(paritas_workspace *document, struct json *object, const char *key, struct json *child);
void json_remove(struct json *container, struct json *child);

/* RFC 6902, in place; `patch`: array of operations. A failure may leave `document` half patched: use a
 * copy. Messages: "PATCHLABEL: [i].path: /json/pointer: reason". */
paritas_status json_patch(paritas_context *context, paritas_workspace *document, const struct json *patch,
                          const char *patch_label);

/* A failed append sets `failed`; check once at the end. */
struct text {
    const paritas_allocator *allocator;
    char *bytes;
    size_t length, capacity;
    bool failed;
    bool for_people; /* text_format spells out hidden letters of its arguments (visible.h) */
};
void text_open(struct text *text, const paritas_allocator *allocator);
void text_append(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_format_list(struct text *text, const char *format, va_list arguments) PRINTF_LIKE(2, 0);
/* Hidden letters are spelt out, ends of lines too. */
void text_visible(struct text *text, const char *bytes, size_t length);
/* shortest that reads back, as Python's repr; NaN and infinities: null */
void text_number(struct text *text, double value);
/* a JSON string; non-ASCII is kept */
void text_quoted(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

/* Shortest round-trip decimal of a finite value, as Python's repr ("1.0", "1e-05", "0.1"); returns its
 * length. */
int number_write(double value, char out[32]);

/* Writes as Python's json.dumps(tree, ensure_ascii=False, indent=indent or None). sort_keys: by code point.
 * */
void json_write(struct text *text, const struct json *node, unsigned indent, bool sort_keys);
/* hex: 65 bytes */
void sha256_of_bytes(const char *bytes, size_t length, char hex[65]);
/* Digest of json.dumps(obj, sort_keys=True, ensure_ascii=False). algorithm: "sha256", "md5". hex: 65 bytes.
 * */
paritas_status json_digest(paritas_context *context, const struct json *node, const char *algorithm,
                           char hex[65]);
