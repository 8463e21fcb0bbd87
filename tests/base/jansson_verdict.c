/* jansson_verdict.c: what jansson makes of a text. */
#include "jansson_verdict.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void verdict_print(char *out, size_t size, size_t *used, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out + *used, size - *used, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < size - *used) *used += (size_t)length;
}

static void print_tree(json_t *node, char *out, size_t size, size_t *used)
{
    size_t index;
    const char *key;
    json_t *child;
    switch (json_typeof(node)) {
    case JSON_NULL:
        verdict_print(out, size, used, "n");
        break;
    case JSON_TRUE:
        verdict_print(out, size, used, "t");
        break;
    case JSON_FALSE:
        verdict_print(out, size, used, "f");
        break;
    case JSON_INTEGER:
        verdict_print(out, size, used, "i%lld", (long long)json_integer_value(node));
        break;
    case JSON_REAL:
        verdict_print(out, size, used, "r%a", json_real_value(node));
        break;
    case JSON_STRING:
        verdict_print(out, size, used, "s%s", json_string_value(node));
        break;
    case JSON_ARRAY:
        verdict_print(out, size, used, "a%zu", json_array_size(node));
        json_array_foreach(node, index, child) print_tree(child, out, size, used);
        break;
    case JSON_OBJECT:
        verdict_print(out, size, used, "o%zu", json_object_size(node));
        json_object_foreach(node, key, child)
        {
            verdict_print(out, size, used, "k%s", key);
            print_tree(child, out, size, used);
        }
        break;
    }
}

enum verdict jansson_read(const char *text, size_t length, char *out, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root) {
        /* the code stands for reals too large as well, which both refuse */
        if (json_error_code(&error) == json_error_numeric_overflow && strncmp(error.text, "too big", 7) == 0)
            return VERDICT_BIG_INTEGER;
        return VERDICT_REFUSED;
    }
    size_t used = 0;
    print_tree(root, out, size, &used);
    json_decref(root);
    return VERDICT_TAKEN;
}
