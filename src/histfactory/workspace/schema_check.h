/* schema_check.h: checks shapes of workspaces and patch sets. A refusal is INVALID_INPUT "LABEL: PLACE:
 * reason", PLACE as channels[2].samples[0].data[3]. */
#pragma once

#include "base/json/json.h"

#define HF_NONE UINT32_MAX

struct hf_source {
    paritas_context *context;
    const char *label;
};

/* A place in a document: leaf to root, on the walk's stack. Becomes text only in a refusal. */
struct hf_place {
    const struct hf_source *source;
    const struct hf_place *up; /* NULL: the root */
    const char *key;           /* "": the root, or an element of `up` */
    uint32_t index;            /* HF_NONE: no element */
};
/* Pointers to places that live as long as the block around them. */
#define HF_ROOT(source) (&(const struct hf_place){source, NULL, "", HF_NONE})
#define HF_MEMBER(up, key) HF_MEMBER_AT(up, key, HF_NONE)
/* Element `index` of array `key` of `up`; HF_NONE: the array. */
#define HF_MEMBER_AT(up, key, index) (&(const struct hf_place){(up)->source, up, key, index})

/* The root's path is left out. */
paritas_status hf_refuse(const struct hf_place *place, const char *format, ...) PRINTF_LIKE(2, 3);

/* Refuses a document of another kind by its members: a patch set for a workspace, ... `wanted`: "channels" of
 * a workspace, "patches" of a patch set. */
paritas_status hf_expect_kind(const struct hf_place *root, const struct json *document, const char *wanted);

enum hf_shape {
    HF_ANY,
    HF_NULL,
    HF_BOOLEAN,
    HF_NUMBER,
    HF_STRING,
    HF_ARRAY,
    HF_OBJECT,
    HF_FILLED_ARRAY, /* not empty */
    HF_OPTIONAL = 16 /* added: may be absent */
};
paritas_status hf_expect(const struct hf_place *place, const struct json *node, int shape);

/* A member of an object; *node becomes NULL if it is absent. */
struct hf_field {
    const char *key;
    int shape;
    const struct json **node;
};
/* Finds members, checks shapes. Refuses missing keys, and unknown ones unless `open`:
 * HF_FIELDS(place, object, false, {"name", HF_STRING, &name}, ...) */
#define HF_FIELDS(place, object, open, ...)                                \
    hf_fields(place, object, open, (const struct hf_field[]){__VA_ARGS__}, \
              COUNT_OF(((const struct hf_field[]){__VA_ARGS__})))
paritas_status hf_fields(const struct hf_place *place, const struct json *object, bool open,
                         const struct hf_field *fields, size_t n);
/* Refuses a version other than 1.0.0, of pyhf's schemas. */
paritas_status hf_check_version(const struct hf_place *root, const struct json *version);

/* Checks every element of array `key` of `up`, and stops at a failure. */
typedef paritas_status hf_check(void *user, const struct hf_place *place, const struct json *node);
paritas_status hf_each(const struct hf_place *up, const char *key, const struct json *array, hf_check *check,
                       void *user);

/* Describes a node for messages: "0.5", "\"text\"", "an object". */
const char *hf_describe(const struct json *node, char out[64]);
const char *hf_number(double value, char out[32]);

/* strcmp(a, b) == 0 for short keys that differ early: tens of thousands are compared. */
static inline bool hf_same(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}
