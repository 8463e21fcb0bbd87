/* schema_check.c: checks shapes and writes refusals. */
#include "histfactory/workspace/schema_check.h"
#include "base/json/number.h"

#include <stdio.h>

/* Returns the length. Keys come from the schema, so it stays short. */
static size_t write_path(const struct hf_place *place, char *out, size_t size)
{
    size_t used = place->up ? write_path(place->up, out, size) : 0;
    int more = 0;
    if (place->key[0] != '\0')
        more = snprintf(out + used, size - used, "%s%s", used != 0 ? "." : "", place->key);
    used += more > 0 ? (size_t)more : 0;
    if (used >= size) return size - 1;
    more = place->index != HF_NONE ? snprintf(out + used, size - used, "[%u]", place->index) : 0;
    used += more > 0 ? (size_t)more : 0;
    return used < size ? used : size - 1;
}

paritas_status hf_refuse(const struct hf_place *place, const char *format, ...)
{
    char path[256] = "", reason[1024];
    write_path(place, path, sizeof path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return paritas_fail(place->source->context, PARITAS_INVALID_INPUT, "%s: %s%s%s", place->source->label,
                        path, path[0] != '\0' ? ": " : "", reason);
}

const char *hf_describe(const struct json *node, char out[64])
{
    const char *quote = json_is(node, JSON_STRING) ? "\"" : "";
    if (json_is(node, JSON_NUMBER) || json_is(node, JSON_STRING))
        snprintf(out, 64, "%s%.*s%s%s", quote, node->length < 40 ? (int)node->length : 40, node->text,
                 node->length > 40 ? "..." : "", quote);
    else
        snprintf(out, 64, "%s", json_type_name(node));
    return out;
}

const char *hf_number(double value, char out[32])
{
    if (value - value == 0.0)
        number_write(value, out);
    else
        snprintf(out, 32, "a number out of range");
    return out;
}

/* by hf_shape */
static const struct {
    const char *phrase;
    json_type type;
} shapes[] = {[HF_NULL] = {"null", JSON_NULL},
              [HF_BOOLEAN] = {"true or false", JSON_TRUE},
              [HF_NUMBER] = {"a number", JSON_NUMBER},
              [HF_STRING] = {"a string", JSON_STRING},
              [HF_ARRAY] = {"an array", JSON_ARRAY},
              [HF_OBJECT] = {"an object", JSON_OBJECT},
              [HF_FILLED_ARRAY] = {"an array", JSON_ARRAY}};

paritas_status hf_expect_kind(const struct hf_place *root, const struct json *document, const char *wanted)
{
    const struct json *first = json_is(document, JSON_ARRAY) ? document->first : NULL;
    if (first && json_is(first, JSON_OBJECT) && json_get(first, "op"))
        return hf_refuse(root, "is a JSON Patch: give it beside its workspace");
    if (!json_is(document, JSON_OBJECT) || json_get(document, wanted)) return PARITAS_OK;
    if (json_get(document, "patches"))
        return hf_refuse(root,
                         "is a patch set: give it beside its workspace; `paritas patchset inspect %s` "
                         "lists its patches",
                         root->source->label);
    return json_get(document, "channels") ? hf_refuse(root, "is a workspace and no patch set") : PARITAS_OK;
}

static inline bool has_shape(const struct json *node, int shape)
{
    if (shape == HF_ANY || (shape == HF_BOOLEAN && node->type == JSON_FALSE)) return true;
    return node->type == shapes[shape].type && (shape != HF_FILLED_ARRAY || node->count != 0);
}

paritas_status hf_expect(const struct hf_place *place, const struct json *node, int shape)
{
    if (has_shape(node, shape)) return PARITAS_OK;
    char found[64];
    if (node->type != shapes[shape].type)
        return hf_refuse(place, "must be %s, found %s", shapes[shape].phrase, hf_describe(node, found));
    return hf_refuse(place, "must not be empty");
}

paritas_status hf_fields(const struct hf_place *place, const struct json *object, bool open,
                         const struct hf_field *fields, size_t n)
{
    TRY(hf_expect(place, object, HF_OBJECT));
    for (size_t i = 0; i < n; i++) *fields[i].node = NULL;
    for (const struct json *member = object->first; member; member = member->next) {
        size_t i = 0;
        while (i < n && !hf_same(member->key, fields[i].key)) i++;
        if (i < n)
            *fields[i].node = member;
        else if (!open)
            return hf_refuse(place, "unknown key \"%.200s\"", member->key);
    }
    for (size_t i = 0; i < n; i++)
        if (!*fields[i].node && !(fields[i].shape & HF_OPTIONAL))
            return hf_refuse(HF_MEMBER(place, fields[i].key), "is missing");
    for (size_t i = 0; i < n; i++) {
        const struct json *node = *fields[i].node;
        const int shape = fields[i].shape & ~HF_OPTIONAL;
        if (node && !has_shape(node, shape)) return hf_expect(HF_MEMBER(place, fields[i].key), node, shape);
    }
    return PARITAS_OK;
}

paritas_status hf_check_version(const struct hf_place *root, const struct json *version)
{
    char found[64];
    if (json_text_is(version, "1.0.0")) return PARITAS_OK;
    return hf_refuse(HF_MEMBER(root, "version"), "must be \"1.0.0\", found %s", hf_describe(version, found));
}

paritas_status hf_each(const struct hf_place *up, const char *key, const struct json *array, hf_check *check,
                       void *user)
{
    struct hf_place at = {up->source, up, key, 0};
    struct json_walk walk;
    for (const struct json *item = json_walk_first(&walk, array); item;
         item = json_walk_next(&walk), at.index++)
        TRY(check(user, &at, item));
    return PARITAS_OK;
}
