/* card_json.c: puts values into the document, and remembers a failure. */
#include "datacard/card_workspace.h"

void card_put(struct card_build *build, struct json *object, const char *key, struct json *value)
{
    if (!object || !value || !json_set(build->document, object, key, value)) build->failed = true;
}

void card_put_text(struct card_build *build, struct json *object, const char *key, const char *text)
{
    card_put(build, object, key, json_new_text(build->document, text));
}

void card_put_number(struct card_build *build, struct json *object, const char *key, double value)
{
    card_put(build, object, key, json_new_number(build->document, value));
}

struct json *card_put_array(struct card_build *build, struct json *object, const char *key)
{
    struct json *array = json_new(build->document, JSON_ARRAY);
    card_put(build, object, key, array);
    return array;
}

struct json *card_put_object(struct card_build *build, struct json *object, const char *key)
{
    struct json *made = json_new(build->document, JSON_OBJECT);
    card_put(build, object, key, made);
    return made;
}

struct json *card_append_object(struct card_build *build, struct json *array)
{
    struct json *made = json_new(build->document, JSON_OBJECT);
    if (!array || !made || !json_append(array, made)) build->failed = true;
    return made;
}

void card_put_numbers(struct card_build *build, struct json *object, const char *key, size_t n,
                      const double *values)
{
    struct json *array = card_put_array(build, object, key);
    for (size_t i = 0; array && i < n; i++)
        if (!json_append(array, json_new_number(build->document, values[i]))) build->failed = true;
}

void card_put_range(struct card_build *build, struct json *bounds, double lower, double upper)
{
    struct json *pair = json_new(build->document, JSON_ARRAY);
    if (!pair || !json_append(pair, json_new_number(build->document, lower)) ||
        !json_append(pair, json_new_number(build->document, upper)) || !json_append(bounds, pair))
        build->failed = true;
}
