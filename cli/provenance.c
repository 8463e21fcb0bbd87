/* provenance.c: see provenance.h. */
#include "provenance.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

paritas_status file_digest(paritas_context *context, const char *path, char hex[65])
{
    struct text text;
    char piece[1 << 14];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return paritas_fail(context, PARITAS_UNREADABLE, "%s: cannot be read: %s", path, strerror(errno));
    text_open(&text, &context->allocator);
    size_t length;
    while (!text.failed && (length = fread(piece, 1, sizeof piece, file)) > 0) text_append(&text, piece, length);
    const bool broken = ferror(file) != 0;
    fclose(file);
    if (!text.failed && !broken) sha256_of_bytes(text.bytes != NULL ? text.bytes : "", text.length, hex);
    const bool failed = text.failed;
    text_free(&text);
    if (failed) return paritas_fail_memory(context);
    return broken ? paritas_fail(context, PARITAS_UNREADABLE, "%s: cannot be read", path) : PARITAS_OK;
}

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void write_path(struct writer *writer, const char *key, const char *path)
{
    char clean[512];
    size_t n = 0;
    for (size_t left = strlen(path); left > 0 && n + 5 < sizeof clean;) {
        const size_t length = utf8_sequence((const unsigned char *)path, left), step = length > 0 ? length : 1;
        if (length > 0) memcpy(clean + n, path, length);
        else clean[n] = '?';
        n += step;
        path += step;
        left -= step;
    }
    clean[n] = '\0';
    write_string(writer, key, clean);
}

/* A value in few words, for a message. */
static void value_text(const struct json *node, char *out, size_t room, paritas_context *context)
{
    struct text text;
    if (node == NULL) {
        snprintf(out, room, "nothing");
        return;
    }
    text_open(&text, &context->allocator);
    json_write(&text, node, 0, false);
    text_append(&text, "", 1);
    if (text.failed) snprintf(out, room, "another value");
    else if (strlen(text.bytes) >= room) snprintf(out, room, "%.*s...", (int)room - 4, text.bytes);
    else snprintf(out, room, "%s", text.bytes);
    text_free(&text);
}

static void tell(paritas_context *context, const char *name, const struct json *found, const struct json *wanted, char *difference, size_t room)
{
    char there[80], here[80];
    value_text(found, there, sizeof there, context);
    value_text(wanted, here, sizeof here, context);
    snprintf(difference, room, "%s is %s there, %s here", name, there, here);
}

/* The first member that two objects do not share. */
static bool objects_differ(paritas_context *context, const struct json *found, const struct json *wanted, char *difference, size_t room)
{
    for (const struct json *one = json_is(wanted, JSON_OBJECT) ? wanted->first : NULL; one != NULL; one = one->next) {
        const struct json *there = json_get(found, one->key);
        if (there != NULL && json_equal(there, one)) continue;
        tell(context, one->key, there, one, difference, room);
        return true;
    }
    for (const struct json *one = json_is(found, JSON_OBJECT) ? found->first : NULL; one != NULL; one = one->next) {
        if (json_get(wanted, one->key) != NULL) continue;
        tell(context, one->key, one, NULL, difference, room);
        return true;
    }
    return false;
}

bool provenance_differs(paritas_context *context, const struct json *found, const struct json *wanted, char *difference, size_t room)
{
    static const char *const single[] = {"paritas", "command"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        const struct json *there = json_get(found, single[i]), *here = json_get(wanted, single[i]);
        if (there != NULL && json_equal(there, here)) continue;
        tell(context, i == 0 ? "the version of paritas" : single[i], there, here, difference, room);
        return true;
    }
    if (!json_is(json_get(found, "options"), JSON_OBJECT)) {
        snprintf(difference, room, "no options are there");
        return true;
    }
    if (objects_differ(context, json_get(found, "options"), json_get(wanted, "options"), difference, room)) return true;
    const struct json *there = json_get(found, "inputs"), *here = json_get(wanted, "inputs");
    if (here == NULL || (there != NULL && json_equal(there, here))) return false;
    for (const struct json *a = json_at(there, 0), *b = json_at(here, 0); a != NULL && b != NULL; a = a->next, b = b->next) {
        if (json_equal(a, b)) continue;
        const struct json *name = json_get(b, "file");
        snprintf(difference, room, "the input %s is another", json_is(name, JSON_STRING) ? name->text : "");
        return true;
    }
    snprintf(difference, room, "the number of inputs is another");
    return true;
}
