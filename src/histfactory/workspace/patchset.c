/* patchset.c: pyhf's patch sets: JSON Patches for one workspace, identified by digests. */
#include "histfactory/workspace/patchset.h"
#include "histfactory/workspace/workspace_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    const struct json *id;
    TRY(HF_FIELDS(place, node, false, {"hepdata", HF_STRING, &id}));
    char found[64];
    if (id->length == 10 && memcmp(id->text, "ins", 3) == 0 && all_in(id->text + 3, 7, DIGITS))
        return PARITAS_OK;
    return hf_refuse(HF_MEMBER(place, "hepdata"), "must be \"ins\" and seven digits, found %s",
                     hf_describe(id, found));
}

static paritas_status check_digests(const struct hf_place *place, const struct json *node)
{
    const struct json *md5, *sha256;
    TRY(HF_FIELDS(place, node, false, {"md5", HF_STRING | HF_OPTIONAL, &md5},
                  {"sha256", HF_STRING | HF_OPTIONAL, &sha256}));
    if (node->count == 0) return hf_refuse(place, "must name md5 or sha256");
    for (int i = 0; i < 2; i++) {
        const struct json *digest = i == 0 ? md5 : sha256;
        const uint32_t length = i == 0 ? 32 : 64;
        if (digest && (digest->length != length || !all_in(digest->text, length, HEX)))
            return hf_refuse(HF_MEMBER(place, i == 0 ? "md5" : "sha256"), "must be %u hexadecimal digits",
                             length);
    }
    return PARITAS_OK;
}

static paritas_status check_set_metadata(struct walk *walk, const struct hf_place *place,
                                         const struct json *node)
{
    const struct json *description, *references, *digests, *labels;
    TRY(HF_FIELDS(place, node, true, {"description", HF_STRING, &description},
                  {"references", HF_ANY, &references}, {"digests", HF_ANY, &digests},
                  {"labels", HF_FILLED_ARRAY, &labels}));
    TRY(check_references(HF_MEMBER(place, "references"), references));
    TRY(check_digests(HF_MEMBER(place, "digests"), digests));
    walk->n_labels = labels->count;
    return hf_each(place, "labels", labels, check_word, NULL);
}

static paritas_status check_operation(void *unused, const struct hf_place *place, const struct json *node)
{
    (void)unused;
    static const struct {
        const char *name, *needs;
        int shape;
    } operations[] = {{"add", "value", HF_ANY},    {"remove", "path", HF_ANY}, {"replace", "value", HF_ANY},
                      {"move", "from", HF_STRING}, {"test", "value", HF_ANY},  {"copy", "from", HF_STRING}};
    const struct json *op, *path, *needed;
    TRY(HF_FIELDS(place, node, true, {"op", HF_STRING, &op}, {"path", HF_STRING, &path}));
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        if (json_text_is(op, operations[i].name))
            return HF_FIELDS(place, node, true, {operations[i].needs, operations[i].shape, &needed});
    char found[64];
    return hf_refuse(HF_MEMBER(place, "op"), "unknown operation %s", hf_describe(op, found));
}

/* Values as text, to find equal ones. Numbers by value: 1 is 1.0. */
static void write_values(struct text *text, const struct json *values)
{
    struct json_walk walk;
    text_append(text, "=", 1); /* no name begins so */
    for (const struct json *value = json_walk_first(&walk, values); value; value = json_walk_next(&walk)) {
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
    struct hf_name *name = hf_names_enter(&walk->keys, key, (uint32_t)length);
    if (!name) return paritas_fail_memory(walk->source.context);
    if (name->channel != 0) return hf_refuse(place, "the same as those of patches[%u]", name->channel - 1);
    name->channel = index + 1;
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
    const struct json *metadata, *patch, *name, *values;
    const struct hf_place *at = HF_MEMBER(place, "metadata"), *at_name = HF_MEMBER(at, "name");
    TRY(HF_FIELDS(place, node, false, {"metadata", HF_ANY, &metadata}, {"patch", HF_ARRAY, &patch}));
    TRY(HF_FIELDS(at, metadata, true, {"name", HF_ANY, &name}, {"values", HF_ANY, &values}));
    TRY(check_word(NULL, at_name, name));
    TRY(enter_key(walk, at_name, name->text, name->length, place->index));
    TRY(check_values(walk, HF_MEMBER(at, "values"), values, place->index));
    return hf_each(place, "patch", patch, check_operation, NULL);
}

static paritas_status check_document(struct walk *walk, const struct json *document)
{
    const struct json *patches, *metadata, *version;
    const struct hf_place *root = HF_ROOT(&walk->source);
    TRY(hf_expect_kind(root, document, "patches"));
    TRY(HF_FIELDS(root, document, false, {"patches", HF_FILLED_ARRAY, &patches},
                  {"metadata", HF_ANY, &metadata}, {"version", HF_ANY, &version}));
    TRY(hf_check_version(root, version));
    TRY(check_set_metadata(walk, HF_MEMBER(root, "metadata"), metadata));
    return hf_each(root, "patches", patches, check_patch, walk);
}

/* Once a document: calls for each patch of a large set would take quadratic time. */
static paritas_status check(paritas_context *context, const paritas_workspace *patchset)
{
    atomic_bool *checked = (atomic_bool *)(uintptr_t)&patchset->is_patchset;
    if (atomic_load(checked)) return PARITAS_OK;
    struct walk walk = {.source = {context, patchset->label},
                        .keys = {.scratch = &walk.arena, .keep = &walk.arena}};
    arena_open(&walk.arena, &context->allocator);
    paritas_status status = check_document(&walk, patchset->root);
    arena_free(&walk.arena);
    if (status == PARITAS_OK) atomic_store(checked, true);
    return status;
}

static const struct json *patches_of(const paritas_workspace *patchset)
{
    return json_get(patchset->root, "patches");
}

static const char *name_of(const struct json *entry)
{
    return json_get(json_get(entry, "metadata"), "name")->text;
}

static bool same_hex(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char x = a[i] >= 'A' && a[i] <= 'F' ? (char)(a[i] + ('a' - 'A')) : a[i];
        if (x != b[i]) return false;
    }
    return true;
}

/* Against digests of `workspace`. */
static paritas_status verify(paritas_context *context, const paritas_workspace *workspace,
                             const paritas_workspace *patchset)
{
    for (const struct json *digest = json_get(json_get(patchset->root, "metadata"), "digests")->first; digest;
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
    TRY(json_copy_as(context, workspace, &made, "patched by %s", name_of(entry)));
    text_open(&place, &context->allocator);
    text_format(&place, "%s: patches[%zu].patch", patchset->label, index);
    text_append(&place, "", 1);
    paritas_status status = place.failed ? paritas_fail_memory(context)
                                         : json_patch(context, made, json_get(entry, "patch"), place.bytes);
    text_free(&place);
    return json_hand_out(status, made, patched);
}

paritas_status paritas_patchset_verify(paritas_context *context, const paritas_workspace *workspace,
                                       const paritas_workspace *patchset)
{
    REQUIRE(context, workspace, patchset);
    TRY(check(context, patchset));
    return verify(context, workspace, patchset);
}

paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset,
                                      size_t *count)
{
    REQUIRE(context, patchset, count);
    *count = 0;
    TRY(check(context, patchset));
    *count = patches_of(patchset)->count;
    return PARITAS_OK;
}

paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset,
                                     size_t index, const char **name)
{
    REQUIRE(context, patchset, name);
    *name = NULL;
    TRY(check(context, patchset));
    const struct json *entry = json_at(patches_of(patchset), index);
    if (!entry)
        return paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patches[%zu], only %u patches",
                            patchset->label, index, patches_of(patchset)->count);
    *name = name_of(entry);
    return PARITAS_OK;
}

static paritas_status check_count(paritas_context *context, const paritas_workspace *patchset, size_t count)
{
    if (count == patches_of(patchset)->count) return PARITAS_OK;
    return paritas_refuse(context, "`count` is %zu, but %s has %u patches", count, patchset->label,
                          patches_of(patchset)->count);
}

paritas_status paritas_patchset_names(paritas_context *context, const paritas_workspace *patchset,
                                      size_t count, const char **names)
{
    REQUIRE(context, patchset, names);
    TRY(check(context, patchset));
    TRY(check_count(context, patchset, count));
    const struct json *entry = patches_of(patchset)->first;
    for (size_t i = 0; i < count; i++, entry = entry->next) names[i] = name_of(entry);
    return PARITAS_OK;
}

/* Its only value, if that is one and a number, else NaN. */
static double number_of(const struct json *entry)
{
    struct json_walk walk;
    const struct json *values = json_get(json_get(entry, "metadata"), "values");
    if (values->count != 1) return (double)NAN;
    const struct json *value = json_walk_first(&walk, values);
    return value->type == JSON_NUMBER ? value->number : (double)NAN;
}

struct numbered {
    double number;
    size_t index;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

paritas_status paritas_patchset_order(paritas_context *context, const paritas_workspace *patchset,
                                      size_t count, size_t *order, int *ordered)
{
    REQUIRE(context, patchset, order, ordered);
    TRY(check(context, patchset));
    TRY(check_count(context, patchset, count));
    struct numbered *patches = paritas_allocate(context, count, sizeof *patches);
    if (!patches) return paritas_fail_memory(context);
    *ordered = 1;
    size_t n = 0;
    for (const struct json *entry = patches_of(patchset)->first; entry; entry = entry->next, n++) {
        patches[n] = (struct numbered){number_of(entry), n};
        if (isnan(patches[n].number)) *ordered = 0;
    }
    if (*ordered) qsort(patches, count, sizeof *patches, by_number);
    for (size_t i = 0; i < count; i++) order[i] = patches[i].index;
    paritas_release(&context->allocator, patches);
    return PARITAS_OK;
}

static size_t same_start(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) n++;
    return n;
}

/* Names up to three patches, of those that begin most like the wanted one. */
static paritas_status refuse_name(paritas_context *context, const paritas_workspace *patchset,
                                  const char *wanted)
{
    size_t longest = 0, n = 0;
    struct text like;
    text_open(&like, &context->allocator);
    for (const struct json *entry = patches_of(patchset)->first; entry; entry = entry->next) {
        const size_t same = same_start(name_of(entry), wanted);
        if (same > longest) longest = same;
    }
    for (const struct json *entry = patches_of(patchset)->first; entry && n < 4; entry = entry->next)
        if (same_start(name_of(entry), wanted) == longest && n++ < 3)
            text_format(&like, "%s\"%.200s\"", n > 1 ? ", " : "", name_of(entry));
    if (n > 3) text_format(&like, ", ...");
    text_append(&like, "", 1);
    const paritas_status status =
        like.failed ? paritas_fail_memory(context)
                    : paritas_fail(context, PARITAS_NOT_FOUND, "%s: there is no patch \"%.200s\", but %s",
                                   patchset->label, wanted, like.bytes);
    text_free(&like);
    return status;
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
    const struct json *entry = patches_of(patchset)->first;
    for (; entry && strcmp(name_of(entry), name) != 0; entry = entry->next) index++;
    if (!entry) return refuse_name(context, patchset, name);
    return hf_patchset_apply_entry(context, workspace, patchset, entry, index, patched);
}
