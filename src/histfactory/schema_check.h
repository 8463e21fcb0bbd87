/* schema_check.h: checks the shape of JSON documents: workspaces and patch sets. A refusal is INVALID_INPUT
 * with "LABEL: PLACE: reason", PLACE as in channels[2].samples[0].data[3]. */
#ifndef PARITAS_HISTFACTORY_SCHEMA_CHECK_H
#define PARITAS_HISTFACTORY_SCHEMA_CHECK_H

#include "base/json.h"

#define HF_NONE UINT32_MAX

/* Whose places are named. */
struct hf_source {
    paritas_context *context;
    const char *label;
};

/* A place in a document: a list from the leaf up to the root, on the stack of the walk. Only a refusal turns
 * it into text. */
struct hf_place {
    const struct hf_source *source;
    const struct hf_place *up; /* NULL: the root */
    const char *key;           /* "" for the root and for an element of `up` */
    uint32_t index;            /* HF_NONE: not an element */
};
static inline struct hf_place hf_root(const struct hf_source *source)
{
    return (struct hf_place){source, NULL, "", HF_NONE};
}
static inline struct hf_place hf_member(const struct hf_place *up, const char *key)
{
    return (struct hf_place){up->source, up, key, HF_NONE};
}
/* Element `index` of the array `key` of `up`; HF_NONE: the array. */
static inline struct hf_place hf_member_at(const struct hf_place *up, const char *key, uint32_t index)
{
    return (struct hf_place){up->source, up, key, index};
}
static inline struct hf_place hf_element(const struct hf_place *up, uint32_t index)
{
    return hf_member_at(up, "", index);
}

/* Refuses what stands at `place`. The root's path is left out of the message. */
paritas_status hf_refuse(const struct hf_place *place, const char *format, ...) PRINTF_LIKE(2, 3);

/* What a node may be. */
enum hf_shape {
    HF_ANY,
    HF_NULL,
    HF_BOOLEAN,
    HF_NUMBER,
    HF_STRING,
    HF_ARRAY,
    HF_OBJECT,
    HF_FILLED_ARRAY /* one element or more */
};
/* Refuses what is not of this shape. */
paritas_status hf_expect(const struct hf_place *place, const struct json *node, enum hf_shape shape);

/* A member of an object. */
struct hf_field {
    const char *key;
    enum hf_shape shape;
    bool optional;
    const struct json *node; /* filled; NULL: absent */
};
/* Sorts the members of `object` into fields[0..n) and checks their shapes. Refuses a missing key, and unless
 * `open` an unknown one. */
paritas_status hf_fields(const struct hf_place *place, const struct json *object, struct hf_field *fields,
                         size_t n, bool open);

/* Calls `check` for every element of `array`, the member `key` of `up`; stops where one fails. */
typedef paritas_status hf_check(void *user, const struct hf_place *place, const struct json *node);
paritas_status hf_each(const struct hf_place *up, const char *key, const struct json *array, hf_check *check,
                       void *user);

/* What a node is, for messages: "0.5", "\"text\"", "an object". */
const char *hf_describe(const struct json *node, char out[64]);
/* A number as text, for messages. */
const char *hf_number(double value, char out[32]);

/* strcmp(a, b) == 0 for keys: they are short, differ early and are compared by the ten thousand. */
static inline bool hf_same(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}

#endif
