/* patchset.c: pyhf's patch sets: JSON Patches for one workspace, identified by digests. */
#include "histfactory/patchset.h"
#include "histfactory/workspace_read.h"

#include <string.h>

#define VERSION "1.0.0"

struct walk {
    struct hf_source source;
    struct arena arena;
    struct hf_names keys; /* names and values so far */
    uint32_t n_labels;
};

static bool all_in(const char *text, size_t length, const char *allowed)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || !strchr(allowed, text[i])) return false;
    return true;
}

#define DIGITS "0123456789"
#define WORD DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define HEX DIGITS "abcdefABCDEF"

/* Requires a string of one or more [a-zA-Z0-9_]. */
static paritas_status check_word(void *unused, const struct hf_place *place, const struct json *node)
{
    (void)unused;
    char found[64];
    TRY(hf_expect(place, node, HF_STRING));
    if (node->length != 0 && all_in(node->text, node->length, WORD)) return PARITAS_OK;
    return hf_refuse(place, "must be letters, digits and underscores, found %s", hf_describe(node, found));
}

static paritas_status check_references(const struct hf_place *place, const struct json *node)
{
    struct hf_field fields[] = {{.key = "hepdata", .shape = HF_STRING}};
    TRY(hf_fields(place, node, fields, 1, false));
    const struct json *id = fields[0].node;
    const struct hf_place at = hf_member(place, "hepdata");
    char found[64];
    if (id->length == 10 && memcmp(id->text, "ins", 3) == 0 && all_in(id->text + 3, 7, DIGITS))
        return PARITAS_OK;
    return hf_refuse(&at, "must be \"ins\" and seven digits, found %s", hf_describe(id, found));
}

static paritas_status check_digests(const struct hf_place *place, const struct json *node)
{
    struct hf_field fields[] = {{.key = "md5", .shape = HF_STRING, .optional = true},
                                {.key = "sha256", .shape = HF_STRING, .optional = true}};
    const uint32_t lengths[] = {32, 64};
    TRY(hf_fields(place, node, fields, 2, false));
    if (node->count == 0) return hf_refuse(place, "must name md5 or sha256");
    for (size_t i = 0; i < 2; i++) {
        const struct hf_place at = hf_member(place, fields[i].key);
        const struct json *digest = fields[i].node;
        if (digest && (digest->length != lengths[i] || !all_in(digest->text, digest->length, HEX)))
            return hf_refuse(&at, "must be %u hexadecimal digits", lengths[i]);
    }
    return PARITAS_OK;
}

static paritas_status check_set_metadata(struct walk *walk, const struct hf_place *place,
                                         const struct json *node)
{
    struct hf_field fields[] = {{.key = "description", .shape = HF_STRING},
                                {.key = "references"},
                                {.key = "digests"},
                                {.key = "labels", .shape = HF_FILLED_ARRAY}};
    const struct hf_place references = hf_member(place, "references"), digests = hf_member(place, "digests");
    TRY(hf_fields(place, node, fields, 4, true));
    TRY(check_references(&references, fields[1].node));
    TRY(check_digests(&digests, fields[2].node));
    walk->n_labels = fields[3].node->count;
    return hf_each(place, "labels", fields[3].node, check_word, NULL);
}

static paritas_status check_operation(void *unused, const struct hf_place *place, const struct json *node)
{
    (void)unused;
    static const struct {
        const char *name;
        struct hf_field needs;
    } operations[] = {{"add", {.key = "value"}},     {"remove", {.key = "path"}},
                      {"replace", {.key = "value"}}, {"move", {.key = "from", .shape = HF_STRING}},
                      {"test", {.key = "value"}},    {"copy", {.key = "from", .shape = HF_STRING}}};
    struct hf_field fields[] = {{.key = "op", .shape = HF_STRING}, {.key = "path", .shape = HF_STRING}};
    TRY(hf_fields(place, node, fields, 2, true));
    const struct json *op = fields[0].node;
    size_t i = 0, n = COUNT_OF(operations);
    while (i < n && !json_text_is(op, operations[i].name)) i++;
    if (i == n) {
        char found[64];
        const struct hf_place at = hf_member(place, "op");
        return hf_refuse(&at, "unknown operation %s", hf_describe(op, found));
    }
    struct hf_field needed = operations[i].needs;
    return hf_fields(place, node, &needed, 1, true);
}

/* Values as text, to find equal ones. Numbers by value: 1 is 1.0. */
static void write_values(struct text *text, const struct json *values)
{
    text_append(text, "=", 1); /* no name begins so */
    for (const struct json *value = values->first; value; value = value->next) {
        if (value->type == JSON_NUMBER)
            text_number(text, value->number + 0.0); /* -0 is 0 */
        else
            text_quoted(text, value->text, value->length);
        text_append(text, ",", 1);
    }
}

/* Refuses a repeated key. `index`: of the patch. */
static paritas_status enter_key(struct walk *walk, const struct hf_place *place, const char *key,
                                size_t length, uint32_t index)
{
    const char *copy = arena_text(&walk->arena, key, length);
    uint32_t id = copy ? hf_names_enter(&walk->keys, &walk->arena, copy, (uint32_t)length) : HF_NONE;
    if (id == HF_NONE) return paritas_fail_memory(walk->source.context);
    uint32_t *first = &walk->keys.items[id].channel;
    if (*first != 0) return hf_refuse(place, "the same as those of patches[%u]", *first - 1);
    *first = index + 1;
    return PARITAS_OK;
}

static paritas_status check_value(void *unused, const struct hf_place *place, const struct json *node)
{
    char found[64];
    (void)unused;
    if (node->type == JSON_NUMBER || node->type == JSON_STRING) return PARITAS_OK;
    return hf_refuse(place, "must be a number or a string, found %s", hf_describe(node, found));
}

static paritas_status check_values(struct walk *walk, const struct hf_place *place, const struct json *node,
                                   uint32_t patch)
{
    TRY(hf_expect(place, node, HF_ARRAY));
    if (node->count != walk->n_labels)
        return hf_refuse(place, "must have %u values, one a label, found %u", walk->n_labels, node->count);
    TRY(hf_each(place, "", node, check_value, NULL));
    struct text key;
    text_open(&key, &walk->source.context->allocator);
    write_values(&key, node);
    paritas_status status = key.failed ? paritas_fail_memory(walk->source.context)
                                       : enter_key(walk, place, key.bytes, key.length, patch);
    text_free(&key);
    return status;
}

static paritas_status check_patch(void *user, const struct hf_place *place, const struct json *node)
{
    struct walk *walk = user;
    struct hf_field fields[] = {{.key = "metadata"}, {.key = "patch", .shape = HF_ARRAY}},
                    inner[] = {{.key = "name"}, {.key = "values"}};
    const struct hf_place metadata = hf_member(place, "metadata"), name_place = hf_member(&metadata, "name"),
                          values_place = hf_member(&metadata, "values");
    TRY(hf_fields(place, node, fields, 2, false));
    TRY(hf_fields(&metadata, fields[0].node, inner, 2, true));
    const struct json *name = inner[0].node;
    TRY(check_word(NULL, &name_place, name));
    TRY(enter_key(walk, &name_place, name->text, name->length, place->index));
    TRY(check_values(walk, &values_place, inner[1].node, place->index));
    return hf_each(place, "patch", fields[1].node, check_operation, NULL);
}

static paritas_status check_all(struct walk *walk, const struct json *document)
{
    struct hf_field fields[] = {
        {.key = "patches", .shape = HF_FILLED_ARRAY}, {.key = "metadata"}, {.key = "version"}};
    const struct hf_place root = hf_root(&walk->source), metadata = hf_member(&root, "metadata"),
                          version = hf_member(&root, "version");
    char found[64];
    TRY(hf_fields(&root, document, fields, 3, false));
    if (!json_text_is(fields[2].node, VERSION))
        return hf_refuse(&version, "must be \"" VERSION "\", found %s", hf_describe(fields[2].node, found));
    TRY(check_set_metadata(walk, &metadata, fields[1].node));
    return hf_each(&root, "patches", fields[0].node, check_patch, walk);
}

paritas_status hf_patchset_check(paritas_context *context, const paritas_workspace *patchset)
{
    struct walk walk = {.source = {context, patchset->label}};
    arena_open(&walk.arena, &context->allocator);
    paritas_status status = check_all(&walk, patchset->root);
    arena_free(&walk.arena);
    return status;
}

const struct json *hf_patchset_patches(const paritas_workspace *patchset)
{
    return json_get(patchset->root, "patches");
}

const struct json *hf_patchset_metadata(const paritas_workspace *patchset)
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

static bool same_hex(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char x = a[i] >= 'A' && a[i] <= 'F' ? (char)(a[i] + ('a' - 'A')) : a[i];
        if (x != b[i]) return false;
    }
    return true;
}

paritas_status hf_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                  const paritas_workspace *patchset)
{
    for (const struct json *digest = json_get(hf_patchset_metadata(patchset), "digests")->first; digest;
         digest = digest->next) {
        char hex[65];
        TRY(json_digest(context, workspace->root, digest->key, hex));
        if (strlen(hex) != digest->length || !same_hex(digest->text, hex, digest->length))
            return paritas_fail(context, PARITAS_INVALID_INPUT,
                                "%s: metadata.digests.%s: the patch set is for a workspace with the %s "
                                "digest %s, but the digest of %s is %s",
                                patchset->label, digest->key, digest->key, digest->text, workspace->label,
                                hex);
    }
    return PARITAS_OK;
}

paritas_status hf_patchset_apply_entry(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset, const struct json *entry,
                                       size_t index, paritas_workspace **patched)
{
    paritas_workspace *made;
    struct text place;
    *patched = NULL;
    TRY(json_copy_as(context, workspace, &made, "patched by %s", hf_patchset_entry_name(entry)));
    text_open(&place, &context->allocator);
    text_format(&place, "%s: patches[%zu].patch", patchset->label, index);
    text_append(&place, "", 1);
    paritas_status status = place.failed
                                ? paritas_fail_memory(context)
                                : json_patch(context, made, hf_patchset_entry_patch(entry), place.bytes);
    text_free(&place);
    return json_hand_out(status, made, patched);
}

paritas_status paritas_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset)
{
    REQUIRE(context, workspace, patchset);
    TRY(hf_patchset_check(context, patchset));
    return hf_patchset_verify(context, workspace, patchset);
}

paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset,
                                      size_t *count)
{
    REQUIRE(context, patchset, count);
    *count = 0;
    TRY(hf_patchset_check(context, patchset));
    *count = hf_patchset_patches(patchset)->count;
    return PARITAS_OK;
}

paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset,
                                     size_t index, const char **name)
{
    REQUIRE(context, patchset, name);
    *name = NULL;
    TRY(hf_patchset_check(context, patchset));
    const struct json *entry = json_at(hf_patchset_patches(patchset), index);
    if (!entry)
        return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patches[%zu], only %u patches",
                            patchset->label, index, hf_patchset_patches(patchset)->count);
    *name = hf_patchset_entry_name(entry);
    return PARITAS_OK;
}

paritas_status paritas_patchset_apply(paritas_context *context, const paritas_workspace *workspace,
                                      const paritas_workspace *patchset, const char *name,
                                      paritas_workspace **patched)
{
    REQUIRE(context, patched);
    *patched = NULL;
    REQUIRE(context, workspace, patchset, name);
    TRY(paritas_patchset_verify(context, workspace, patchset));
    size_t index = 0;
    const struct json *entry = hf_patchset_patches(patchset)->first;
    for (; entry && strcmp(hf_patchset_entry_name(entry), name) != 0; entry = entry->next) index++;
    if (!entry)
        return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patch \"%.200s\"", patchset->label,
                            name);
    return hf_patchset_apply_entry(context, workspace, patchset, entry, index, patched);
}
