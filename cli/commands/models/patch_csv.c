/* patch_csv.c: a patch's line from the keys of its JSON. */
#include "commands/models/patch_csv.h"
#include "days/day_tables.h"

#include <stdlib.h>
#include <string.h>

struct csv_key {
    char name[48];
    size_t n; /* 0: no array */
};

/* The next key of `columns`; false: there is none. */
static bool next_key(const char **columns, struct csv_key *key)
{
    const size_t span = strcspn(*columns, "|"), name = strcspn(*columns, "|*");
    if (span == 0 || name >= sizeof key->name) return false;
    memcpy(key->name, *columns, name);
    key->name[name] = '\0';
    key->n = name < span ? strtoul(*columns + name + 1, NULL, 10) : 0;
    *columns += span + ((*columns)[span] == '|');
    return true;
}

void patch_csv_header(const struct patches *patches, const char *columns, struct text *out)
{
    struct csv_key key;
    const struct json *metadata = json_get(patches->patchset->root, "metadata"),
                      *label = json_get(metadata, "labels")->first;
    text_format(out, "patch");
    for (; label; label = label->next) {
        text_append(out, ",", 1);
        csv_text(out, label->text);
    }
    while (next_key(&columns, &key)) {
        for (size_t k = 0; k < key.n; k++) text_format(out, ",%s_%zu", key.name, k);
        if (key.n == 0) text_format(out, ",%s", key.name);
    }
    text_append(out, "\n", 1);
}

static void write_value(const struct json *value, struct text *out)
{
    if (json_is(value, JSON_NUMBER))
        text_append(out, value->text, value->length);
    else if (json_is(value, JSON_STRING))
        csv_text(out, value->text);
    else if (json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE))
        text_format(out, json_is(value, JSON_TRUE) ? "true" : "false");
}

static void write_patch(const struct patch *patch, struct text *out)
{
    struct json_walk walk;
    csv_text(out, patch->name);
    const struct json *value = json_walk_first(&walk, patch->values);
    for (; value; value = json_walk_next(&walk)) {
        text_append(out, ",", 1);
        write_value(value, out);
    }
}

static void write_key(const struct json *value, const struct csv_key *key, struct text *out)
{
    struct json_walk walk;
    const struct json *item = key->n > 0 ? json_walk_first(&walk, value) : value;
    for (size_t k = 0; k < (key->n > 0 ? key->n : 1); k++) {
        text_append(out, ",", 1);
        if (item) write_value(item, out);
        item = key->n > 0 && item ? json_walk_next(&walk) : NULL;
    }
}

paritas_status patch_csv_line(paritas_context *context, const struct patch *patch, const char *columns,
                              const struct text *answer, struct text *out)
{
    struct csv_key key;
    paritas_workspace *document;
    if (answer->failed) return paritas_fail_memory(context);
    TRY(json_read(context, answer->bytes, answer->length, patch->name, &document));
    write_patch(patch, out);
    while (next_key(&columns, &key)) write_key(json_get(document->root, key.name), &key, out);
    text_append(out, "\n", 1);
    paritas_workspace_free(document);
    return out->failed ? paritas_fail_memory(context) : PARITAS_OK;
}

void patch_csv_failure(const struct patch *patch, const char *columns, const char *message, struct text *out)
{
    struct csv_key key;
    write_patch(patch, out);
    while (next_key(&columns, &key)) {
        for (size_t k = 0; k < (key.n > 0 ? key.n : 1); k++) text_append(out, ",", 1);
        if (strcmp(key.name, "status") == 0) text_format(out, "failed");
        if (strcmp(key.name, "error") == 0) csv_text(out, message);
    }
    text_append(out, "\n", 1);
}
