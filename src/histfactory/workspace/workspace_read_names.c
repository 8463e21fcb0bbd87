/* workspace_read_names.c: names as pointers. Open addressing: a look-up takes a few ns. Distinct texts are
 * sorted once; all else compares ranks. */
#include "histfactory/workspace/workspace_read.h"

#include <stdlib.h>
#include <string.h>

/* Eight bytes a step: thousands of names a file. Byte order changes the value only. */
static uint32_t hash_text(const char *text, uint32_t length)
{
    uint64_t hash = length, word = 0;
    while (length >= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
        text += sizeof word;
        length -= (uint32_t)sizeof word;
    }
    word = 0;
    for (uint32_t i = 0; i < length; i++) word = word << 8 | (unsigned char)text[i];
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return (uint32_t)(hash >> 32);
}

static struct hf_name **slot_of(const struct hf_names *names, const char *text, uint32_t length,
                                uint32_t hash)
{
    const uint32_t mask = names->size - 1;
    uint32_t slot = hash & mask;
    for (const struct hf_name *name; (name = names->table[slot]) != NULL; slot = (slot + 1) & mask)
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0) break;
    return &names->table[slot];
}

/* Doubles at half load. The old table stays in the arena. */
static bool grow(struct hf_names *names)
{
    const struct hf_names old = *names;
    names->size = old.size != 0 ? 2 * old.size : 512;
    names->table = arena_array(names->scratch, names->size, sizeof *names->table);
    for (uint32_t i = 0; names->table && i < old.size; i++)
        if (old.table[i])
            *slot_of(names, old.table[i]->text, old.table[i]->length, old.table[i]->hash) = old.table[i];
    return names->table;
}

struct hf_name *hf_names_enter(struct hf_names *names, const char *text, uint32_t length)
{
    if (2 * names->count >= names->size && !grow(names)) return NULL;
    const uint32_t hash = hash_text(text, length);
    struct hf_name **slot = slot_of(names, text, length, hash);
    if (*slot) return *slot;
    struct hf_name *name = arena_array(names->keep, 1, sizeof *name);
    const char *copy = arena_text(names->keep, text, length);
    if (!name || !copy) return NULL;
    name->text = copy;
    name->length = length;
    name->hash = hash;
    names->count++;
    return *slot = name;
}

struct hf_name *hf_names_find(const struct hf_names *names, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    return names->count != 0 ? *slot_of(names, text, length, hash_text(text, length)) : NULL;
}

/* UTF-8 bytes sort as code points, as Python's strings. */
static int by_text(const void *a, const void *b)
{
    return strcmp((*(struct hf_name *const *)a)->text, (*(struct hf_name *const *)b)->text);
}

struct hf_name **hf_names_rank(const struct hf_names *names)
{
    struct hf_name **sorted = arena_array(names->scratch, names->count, sizeof *sorted);
    uint32_t n = 0;
    if (!sorted) return NULL;
    for (uint32_t i = 0; i < names->size; i++)
        if (names->table[i]) sorted[n++] = names->table[i];
    qsort(sorted, n, sizeof *sorted, by_text);
    for (uint32_t i = 0; i < n; i++) sorted[i]->rank = i;
    return sorted;
}

/* Of channels and samples: both begin with the name. */
static int by_rank(const void *a, const void *b)
{
    const uint32_t left = (*(struct hf_name *const *)a)->rank, right = (*(struct hf_name *const *)b)->rank;
    return (left > right) - (left < right);
}

/* Rank, type, place. Documents stay below 4 GiB, so there are fewer than 2^29 names. */
_Static_assert(HF_TYPE_COUNT <= 8, "a type has three bits");
static uint64_t key_of(const struct hf_modifier *modifier, uint32_t place)
{
    return (uint64_t)modifier->key->rank << 35 | (uint64_t)modifier->type << 32 | place;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Few are inserted one by one. */
static void sort_keys(uint64_t *keys, uint32_t n)
{
    if (n > 64) {
        qsort(keys, n, sizeof *keys, by_key);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Sorts by rank and type, and moves each once. `keys`, `copies`: scratch, an element a modifier. */
static void sort_modifiers(struct hf_sample *sample, uint64_t *keys, struct hf_modifier *copies)
{
    const uint32_t n = sample->n_modifiers;
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = key_of(&sample->modifiers[i], i);
        sorted = sorted && (i == 0 || keys[i - 1] < keys[i]);
    }
    if (sorted) return;
    sort_keys(keys, n);
    memcpy(copies, sample->modifiers, n * sizeof *copies);
    for (uint32_t i = 0; i < n; i++) sample->modifiers[i] = copies[(uint32_t)keys[i]];
}

/* Files are mostly sorted. */
static void sort(void *array, uint32_t n, size_t size, int (*compare)(const void *a, const void *b))
{
    const char *item = array;
    for (uint32_t i = 1; i < n; i++, item += size)
        if (compare(item, item + size) > 0) {
            qsort(array, n, size, compare);
            return;
        }
}

static bool sort_all_modifiers(struct hf_raw *raw)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < raw->n_channels; c++)
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++)
            if (raw->channels[c].samples[s].n_modifiers > most)
                most = raw->channels[c].samples[s].n_modifiers;
    uint64_t *keys = arena_allocate(raw->scratch, (size_t)most * sizeof *keys);
    struct hf_modifier *copies = arena_allocate(raw->scratch, (size_t)most * sizeof *copies);
    if (!keys || !copies) return false;
    for (uint32_t c = 0; c < raw->n_channels; c++)
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++)
            sort_modifiers(&raw->channels[c].samples[s], keys, copies);
    return true;
}

bool hf_raw_sort(struct hf_raw *raw)
{
    raw->ranked = hf_names_rank(&raw->names);
    if (!raw->ranked || !sort_all_modifiers(raw)) return false;
    for (struct hf_channel *channel = raw->channels; channel < raw->channels + raw->n_channels; channel++)
        sort(channel->samples, channel->n_samples, sizeof *channel->samples, by_rank);
    sort(raw->channels, raw->n_channels, sizeof *raw->channels, by_rank);
    return true;
}
