/* day_provenance.c: digests and comparison of provenances. */
#include "days/day_provenance.h"
#include "base/platform.h"
#include "base/utf8.h"
#include "commands/workspaces/sorting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Sorted, without subfolders; in the arena. */
static paritas_status names_in(struct session *session, const char *folder, size_t *n, const char ***names)
{
    struct platform_folder *entries = platform_folder_open(folder);
    if (!entries)
        return paritas_fail(session->context, PARITAS_UNREADABLE, "%s: cannot be read: %s", folder,
                            strerror(errno));
    for (const char *name; (name = platform_folder_next(entries));) {
        if (name[0] == '.') continue;
        *names = arena_grown(session, *names, *n, sizeof **names);
        if (*names) (*names)[(*n)++] = arena_copied(session, name, strlen(name));
    }
    platform_folder_close(entries);
    TRY(allocated(session));
    sort_texts(*n, *names);
    return PARITAS_OK;
}

paritas_status folder_digest(struct session *session, const char *folder, char hex[65])
{
    struct sha256 digest;
    size_t n = 0;
    const char **names = NULL;
    char one[65];
    TRY(names_in(session, folder, &n, &names));
    sha256_open(&digest);
    for (size_t i = 0; i < n; i++) {
        struct platform_info info;
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= (int)sizeof path ||
            !platform_info(path, &info) || info.kind != PLATFORM_FILE)
            continue;
        TRY(sha256_file(session->context, path, one));
        sha256_append(&digest, names[i], strlen(names[i]) + 1);
        sha256_append(&digest, one, sizeof one);
    }
    sha256_close(&digest, hex);
    return PARITAS_OK;
}

void write_path(struct writer *writer, const char *key, const char *path)
{
    char clean[512];
    size_t n = 0;
    for (size_t left = strlen(path); left > 0 && n + 5 < sizeof clean;) {
        const size_t length = utf8_sequence((const unsigned char *)path, left),
                     step = length > 0 ? length : 1;
        if (length > 0)
            memcpy(clean + n, path, length);
        else
            clean[n] = '?';
        n += step;
        path += step;
        left -= step;
    }
    clean[n] = '\0';
    write_string(writer, key, clean);
}

#define VALUE_MOST 79 /* characters of a shown value */

static void append_value(struct text *out, const struct json *node)
{
    const size_t start = out->length;
    if (node)
        json_write(out, node, 0, false);
    else
        text_format(out, "nothing");
    if (out->failed || out->length - start <= VALUE_MOST) return;
    out->length = start + VALUE_MOST - 3;
    text_format(out, "...");
}

/* Returns true. */
static bool tell_difference(struct text *difference, const char *name, const struct json *found,
                            const struct json *wanted)
{
    text_format(difference, "%s is ", name);
    append_value(difference, found);
    text_format(difference, " there, ");
    append_value(difference, wanted);
    text_format(difference, " here");
    return true;
}

/* The first member of `one` with another value in `two`; `absent`: the first that `two` lacks. */
static const struct json *first_other(const struct json *one, const struct json *two, bool absent)
{
    for (const struct json *member = json_is(one, JSON_OBJECT) ? one->first : NULL; member;
         member = member->next) {
        const struct json *there = json_get(two, member->key);
        if (absent ? !there : there && !json_equal(there, member)) return member;
    }
    return NULL;
}

/* Compares common options first: the others follow from them. */
static bool options_differ(const struct json *found, const struct json *wanted, struct text *difference)
{
    const struct json *other = first_other(wanted, found, false);
    if (!other) other = first_other(wanted, found, true);
    if (other) return tell_difference(difference, other->key, json_get(found, other->key), other);
    other = first_other(found, wanted, true);
    return other && tell_difference(difference, other->key, other, NULL);
}

static bool inputs_differ(const struct json *there, const struct json *here, struct text *difference)
{
    if (!here || (there && json_equal(there, here))) return false;
    for (const struct json *a = json_at(there, 0), *b = json_at(here, 0); a && b; a = a->next, b = b->next) {
        if (json_equal(a, b)) continue;
        const struct json *name = json_get(b, "file");
        text_format(difference, "the input %s is another", json_is(name, JSON_STRING) ? name->text : "");
        return true;
    }
    text_format(difference, "the number of inputs is another");
    return true;
}

bool provenance_differs(const struct json *found, const struct json *wanted, struct text *difference)
{
    static const struct {
        const char *key, *name;
    } single[] = {{"paritas", "the version of paritas"}, {"command", "command"}};
    for (size_t i = 0; i < COUNT_OF(single); i++) {
        const struct json *there = json_get(found, single[i].key), *here = json_get(wanted, single[i].key);
        if (!there || !json_equal(there, here))
            return tell_difference(difference, single[i].name, there, here);
    }
    const struct json *options = json_get(found, "options");
    if (!json_is(options, JSON_OBJECT)) {
        text_format(difference, "no options are there");
        return true;
    }
    return options_differ(options, json_get(wanted, "options"), difference) ||
           inputs_differ(json_get(found, "inputs"), json_get(wanted, "inputs"), difference);
}
