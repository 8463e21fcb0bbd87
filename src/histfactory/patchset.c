/* patchset.c: pyhf's patch sets: a list of JSON Patches for one workspace, which the set knows by its
 * digests. */
#include "histfactory/patchset.h"
#include "histfactory/workspace_read.h"

#include <stdio.h>
#include <string.h>

#define VERSION "1.0.0"

/* What a check carries along. */
struct walk {
    paritas_context *context;
    const char *label;
    struct arena arena;
    struct hf_names keys; /* names and values of the patches met so far */
    uint32_t n_labels;
};

/* ---- texts ---- */

static bool all_in(const char *text, size_t length, const char *allowed)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || strchr(allowed, text[i]) == NULL) return false;
    return true;
}

#define DIGITS "0123456789"
#define WORD DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define HEX DIGITS "abcdefABCDEF"

/* Refuses what is no string of one character or more out of [a-zA-Z0-9_]. */
static paritas_status check_word(struct walk *walk, const struct hf_place *place, const struct json *node)
{
    char found[64];
    paritas_status status = hf_expect(walk->context, walk->label, place, node, JSON_STRING, false);
    if (status != PARITAS_OK || (node->length != 0 && all_in(node->text, node->length, WORD))) return status;
    return hf_refuse(walk->context, walk->label, place, "must be letters, digits and underscores, found %s",
                     hf_describe(node, found));
}

/* ---- metadata of the set ---- */

static paritas_status check_references(struct walk *walk, const struct hf_place *place,
                                       const struct json *node)
{
    struct hf_field fields[] = {{"hepdata", true, NULL}};
    const struct hf_place hepdata = {place, "hepdata", HF_NONE};
    paritas_status status = hf_fields(walk->context, walk->label, place, node, fields, 1);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &hepdata, fields[0].node, JSON_STRING, false);
    if (status != PARITAS_OK) return status;
    const struct json *id = fields[0].node;
    char found[64];
    if (id->length == 10 && memcmp(id->text, "ins", 3) == 0 && all_in(id->text + 3, 7, DIGITS))
        return PARITAS_OK;
    return hf_refuse(walk->context, walk->label, &hepdata, "must be \"ins\" and seven digits, found %s",
                     hf_describe(id, found));
}

static paritas_status check_digests(struct walk *walk, const struct hf_place *place, const struct json *node)
{
    struct hf_field fields[] = {{"md5", false, NULL}, {"sha256", false, NULL}};
    const uint32_t lengths[] = {32, 64};
    paritas_status status = hf_fields(walk->context, walk->label, place, node, fields, 2);
    if (status == PARITAS_OK && node->count == 0)
        status = hf_refuse(walk->context, walk->label, place, "must name md5 or sha256");
    for (size_t i = 0; status == PARITAS_OK && i < 2; i++) {
        const struct hf_place at = {place, fields[i].key, HF_NONE};
        const struct json *digest = fields[i].node;
        if (digest == NULL) continue;
        status = hf_expect(walk->context, walk->label, &at, digest, JSON_STRING, false);
        if (status == PARITAS_OK &&
            (digest->length != lengths[i] || !all_in(digest->text, digest->length, HEX)))
            status = hf_refuse(walk->context, walk->label, &at, "must be %lu hexadecimal digits",
                               (unsigned long)lengths[i]);
    }
    return status;
}

/* A member that must be there, in an object that may have others too. */
static paritas_status require(struct walk *walk, const struct hf_place *place, const struct json *object,
                              const char *key, const struct json **node)
{
    const struct hf_place at = {place, key, HF_NONE};
    *node = json_get(object, key);
    return *node != NULL ? PARITAS_OK : hf_refuse(walk->context, walk->label, &at, "is missing");
}

static paritas_status check_set_metadata(struct walk *walk, const struct hf_place *place,
                                         const struct json *node)
{
    const struct hf_place description = {place, "description", HF_NONE},
                          references = {place, "references", HF_NONE}, digests = {place, "digests", HF_NONE},
                          labels = {place, "labels", HF_NONE};
    const struct json *found;
    paritas_status status = hf_expect(walk->context, walk->label, place, node, JSON_OBJECT, false);
    if (status == PARITAS_OK) status = require(walk, place, node, "description", &found);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &description, found, JSON_STRING, false);
    if (status == PARITAS_OK) status = require(walk, place, node, "references", &found);
    if (status == PARITAS_OK) status = check_references(walk, &references, found);
    if (status == PARITAS_OK) status = require(walk, place, node, "digests", &found);
    if (status == PARITAS_OK) status = check_digests(walk, &digests, found);
    if (status == PARITAS_OK) status = require(walk, place, node, "labels", &found);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &labels, found, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    walk->n_labels = found->count;
    uint32_t index = 0;
    for (const struct json *item = found->first; status == PARITAS_OK && item != NULL; item = item->next) {
        const struct hf_place at = {place, "labels", index++};
        status = check_word(walk, &at, item);
    }
    return status;
}

/* ---- patches ---- */

static paritas_status check_operation(struct walk *walk, const struct hf_place *place,
                                      const struct json *node)
{
    static const struct {
        const char *name, *needs;
    } operations[] = {{"add", "value"}, {"remove", "path"}, {"replace", "value"},
                      {"move", "from"}, {"copy", "from"},   {"test", "value"}};
    const struct hf_place op_place = {place, "op", HF_NONE}, path_place = {place, "path", HF_NONE},
                          from_place = {place, "from", HF_NONE};
    const struct json *op, *path, *needed;
    char found[64];
    paritas_status status = hf_expect(walk->context, walk->label, place, node, JSON_OBJECT, false);
    if (status == PARITAS_OK) status = require(walk, place, node, "op", &op);
    if (status == PARITAS_OK) status = require(walk, place, node, "path", &path);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &op_place, op, JSON_STRING, false);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &path_place, path, JSON_STRING, false);
    if (status != PARITAS_OK) return status;
    size_t i = 0, n = sizeof operations / sizeof operations[0];
    while (i < n && !json_text_is(op, operations[i].name)) i++;
    if (i == n)
        return hf_refuse(walk->context, walk->label, &op_place, "unknown operation %s",
                         hf_describe(op, found));
    status = require(walk, place, node, operations[i].needs, &needed);
    if (status == PARITAS_OK && strcmp(operations[i].needs, "from") == 0)
        status = hf_expect(walk->context, walk->label, &from_place, needed, JSON_STRING, false);
    return status;
}

/* Values as one text, by which equal ones are found: numbers by value, so that 1 is 1.0. */
static void write_values(struct text *text, const struct json *values)
{
    text_append(text, "=", 1); /* no name begins so */
    for (const struct json *value = values->first; value != NULL; value = value->next) {
        if (value->type == JSON_NUMBER)
            text_number(text, value->number + 0.0); /* -0 is 0 */
        else
            text_quoted(text, value->text, value->length);
        text_append(text, ",", 1);
    }
}

/* Enters a key that no earlier patch may have. `index` is the patch's. */
static paritas_status enter_key(struct walk *walk, const struct hf_place *place, const char *key,
                                size_t length, uint32_t index)
{
    const char *copy = arena_text(&walk->arena, key, length);
    uint32_t id = copy != NULL ? hf_names_enter(&walk->keys, &walk->arena, copy, (uint32_t)length) : HF_NONE;
    if (id == HF_NONE) return paritas_fail_memory(walk->context);
    uint32_t *first = &walk->keys.items[id].channel;
    if (*first != 0)
        return hf_refuse(walk->context, walk->label, place, "the same as those of patches[%lu]",
                         (unsigned long)(*first - 1));
    *first = index + 1;
    return PARITAS_OK;
}

static paritas_status check_values(struct walk *walk, const struct hf_place *place, const struct json *node,
                                   uint32_t patch)
{
    char found[64];
    paritas_status status = hf_expect(walk->context, walk->label, place, node, JSON_ARRAY, false);
    if (status != PARITAS_OK) return status;
    if (node->count != walk->n_labels)
        return hf_refuse(walk->context, walk->label, place, "must have %lu values, one a label, found %lu",
                         (unsigned long)walk->n_labels, (unsigned long)node->count);
    uint32_t index = 0;
    for (const struct json *value = node->first; value != NULL; value = value->next) {
        const struct hf_place at = {place, "", index++};
        if (value->type != JSON_NUMBER && value->type != JSON_STRING)
            return hf_refuse(walk->context, walk->label, &at, "must be a number or a string, found %s",
                             hf_describe(value, found));
    }
    struct text key;
    text_open(&key, &walk->context->allocator);
    write_values(&key, node);
    status = key.failed ? paritas_fail_memory(walk->context)
                        : enter_key(walk, place, key.bytes, key.length, patch);
    text_free(&key);
    return status;
}

static paritas_status check_patch(struct walk *walk, const struct hf_place *place, const struct json *node)
{
    struct hf_field fields[] = {{"metadata", true, NULL}, {"patch", true, NULL}};
    const struct hf_place metadata = {place, "metadata", HF_NONE}, name_place = {&metadata, "name", HF_NONE},
                          values_place = {&metadata, "values", HF_NONE}, patch = {place, "patch", HF_NONE};
    const struct json *name, *values;
    paritas_status status = hf_fields(walk->context, walk->label, place, node, fields, 2);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &metadata, fields[0].node, JSON_OBJECT, false);
    if (status == PARITAS_OK) status = require(walk, &metadata, fields[0].node, "name", &name);
    if (status == PARITAS_OK) status = check_word(walk, &name_place, name);
    if (status == PARITAS_OK) status = enter_key(walk, &name_place, name->text, name->length, place->index);
    if (status == PARITAS_OK) status = require(walk, &metadata, fields[0].node, "values", &values);
    if (status == PARITAS_OK) status = check_values(walk, &values_place, values, place->index);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &patch, fields[1].node, JSON_ARRAY, false);
    if (status != PARITAS_OK) return status;
    uint32_t index = 0;
    for (const struct json *item = fields[1].node->first; status == PARITAS_OK && item != NULL;
         item = item->next) {
        const struct hf_place at = {&patch, "", index++};
        status = check_operation(walk, &at, item);
    }
    return status;
}

static paritas_status check_all(struct walk *walk, const struct json *document)
{
    struct hf_field fields[] = {{"patches", true, NULL}, {"metadata", true, NULL}, {"version", true, NULL}};
    const struct hf_place root = {NULL, "", HF_NONE}, patches = {&root, "patches", HF_NONE},
                          metadata = {&root, "metadata", HF_NONE}, version = {&root, "version", HF_NONE};
    char found[64];
    paritas_status status = hf_fields(walk->context, walk->label, &root, document, fields, 3);
    if (status == PARITAS_OK && !json_text_is(fields[2].node, VERSION))
        status = hf_refuse(walk->context, walk->label, &version, "must be \"" VERSION "\", found %s",
                           hf_describe(fields[2].node, found));
    if (status == PARITAS_OK) status = check_set_metadata(walk, &metadata, fields[1].node);
    if (status == PARITAS_OK)
        status = hf_expect(walk->context, walk->label, &patches, fields[0].node, JSON_ARRAY, true);
    if (status != PARITAS_OK) return status;
    uint32_t index = 0;
    for (const struct json *item = fields[0].node->first; status == PARITAS_OK && item != NULL;
         item = item->next) {
        const struct hf_place at = {&patches, "", index++};
        status = check_patch(walk, &at, item);
    }
    return status;
}

paritas_status hf_patchset_check(paritas_context *context, const struct paritas_workspace *patchset)
{
    struct walk walk = {.context = context, .label = patchset->label};
    arena_open(&walk.arena, &context->allocator);
    paritas_status status = check_all(&walk, patchset->root);
    arena_free(&walk.arena);
    return status;
}

/* ---- parts ---- */

const struct json *hf_patchset_patches(const struct paritas_workspace *patchset)
{
    return json_get(patchset->root, "patches");
}

const struct json *hf_patchset_metadata(const struct paritas_workspace *patchset)
{
    return json_get(patchset->root, "metadata");
}

const char *hf_patchset_entry_name(const struct json *entry)
{
    return json_get(json_get(entry, "metadata"), "name")->text;
}

const struct json *hf_patchset_entry_values(const struct json *entry)
{
    return json_get(json_get(entry, "metadata"), "values");
}

const struct json *hf_patchset_entry_patch(const struct json *entry)
{
    return json_get(entry, "patch");
}

/* ---- verify and apply ---- */

static bool same_hex(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char x = a[i] >= 'A' && a[i] <= 'F' ? (char)(a[i] + ('a' - 'A')) : a[i];
        if (x != b[i]) return false;
    }
    return true;
}

paritas_status hf_patchset_verify(paritas_context *context, const struct paritas_workspace *workspace,
                                  const struct paritas_workspace *patchset)
{
    for (const struct json *digest = json_get(hf_patchset_metadata(patchset), "digests")->first;
         digest != NULL; digest = digest->next) {
        char hex[65];
        paritas_status status = json_digest(context, workspace->root, digest->key, hex);
        if (status != PARITAS_OK) return status;
        if (strlen(hex) != digest->length || !same_hex(digest->text, hex, digest->length))
            return paritas_fail(context, PARITAS_INVALID_INPUT,
                                "%s: metadata.digests.%s: the patch set is for a workspace with the %s "
                                "digest %s, but the digest of %s is %s",
                                patchset->label, digest->key, digest->key, digest->text, workspace->label,
                                hex);
    }
    return PARITAS_OK;
}

paritas_status hf_patchset_apply_entry(paritas_context *context, const struct paritas_workspace *workspace,
                                       const struct paritas_workspace *patchset, const struct json *entry,
                                       size_t index, struct paritas_workspace **patched)
{
    struct paritas_workspace *made = NULL;
    struct text label, place;
    *patched = NULL;
    text_open(&label, &context->allocator);
    text_open(&place, &context->allocator);
    text_format(&label, "%s (patched by %s)", workspace->label, hf_patchset_entry_name(entry));
    text_append(&label, "", 1);
    text_format(&place, "%s: patches[%lu].patch", patchset->label, (unsigned long)index);
    text_append(&place, "", 1);
    paritas_status status = label.failed || place.failed
                                ? paritas_fail_memory(context)
                                : json_copy(context, workspace->root, label.bytes, &made);
    if (status == PARITAS_OK) status = json_patch(context, made, hf_patchset_entry_patch(entry), place.bytes);
    text_free(&label);
    text_free(&place);
    if (status != PARITAS_OK) {
        paritas_workspace_free(made);
        return status;
    }
    *patched = made;
    return PARITAS_OK;
}

/* ---- the public functions ---- */

paritas_status paritas_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset)
{
    if (context == NULL) return PARITAS_INVALID_ARGUMENT;
    if (workspace == NULL || patchset == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "a workspace and a patch set are needed");
    paritas_status status = hf_patchset_check(context, patchset);
    return status == PARITAS_OK ? hf_patchset_verify(context, workspace, patchset) : status;
}

paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset,
                                      size_t *count)
{
    if (context == NULL) return PARITAS_INVALID_ARGUMENT;
    if (patchset == NULL || count == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "a patch set and a place for its count are needed");
    *count = 0;
    paritas_status status = hf_patchset_check(context, patchset);
    if (status == PARITAS_OK) *count = hf_patchset_patches(patchset)->count;
    return status;
}

paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset,
                                     size_t index, const char **name)
{
    if (context == NULL) return PARITAS_INVALID_ARGUMENT;
    if (patchset == NULL || name == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "a patch set and a place for a name are needed");
    *name = NULL;
    paritas_status status = hf_patchset_check(context, patchset);
    if (status != PARITAS_OK) return status;
    const struct json *entry = json_at(hf_patchset_patches(patchset), index);
    if (entry == NULL)
        return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patches[%lu], only %lu patches",
                            patchset->label, (unsigned long)index,
                            (unsigned long)hf_patchset_patches(patchset)->count);
    *name = hf_patchset_entry_name(entry);
    return PARITAS_OK;
}

paritas_status paritas_patchset_apply(paritas_context *context, const paritas_workspace *workspace,
                                      const paritas_workspace *patchset, const char *name,
                                      paritas_workspace **patched)
{
    if (context == NULL || patched == NULL) return PARITAS_INVALID_ARGUMENT;
    *patched = NULL;
    if (workspace == NULL || patchset == NULL || name == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "a workspace, a patch set and the name of a patch are needed");
    paritas_status status = paritas_patchset_verify(context, workspace, patchset);
    if (status != PARITAS_OK) return status;
    size_t index = 0;
    const struct json *entry = hf_patchset_patches(patchset)->first;
    for (; entry != NULL && strcmp(hf_patchset_entry_name(entry), name) != 0; entry = entry->next) index++;
    if (entry == NULL)
        return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patch \"%.200s\"", patchset->label,
                            name);
    return hf_patchset_apply_entry(context, workspace, patchset, entry, index, patched);
}
