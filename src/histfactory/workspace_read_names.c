/* workspace_read_names.c: names as integers. Open addressing: a look-up takes a few ns. Distinct texts are
 * sorted once; all else sorts integers. */
#include "histfactory/workspace_read.h"

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

static uint32_t slot_of(const struct hf_names *names, const char *text, uint32_t length, uint32_t hash)
{
    uint32_t mask = names->table_size - 1, slot = hash & mask;
    while (names->table[slot] != 0) {
        const struct hf_name *name = &names->items[names->table[slot] - 1];
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Doubles at half load. Old arrays stay in the arena. */
static bool grow(struct hf_names *names, struct arena *arena)
{
    uint32_t capacity = names->capacity != 0 ? 2 * names->capacity : 256, size = 2 * capacity;
    struct hf_name *items = arena_array(arena, capacity, sizeof *items);
    uint32_t *table = arena_array(arena, size, sizeof *table);
    if (!items || !table) return false;
    if (names->count != 0) memcpy(items, names->items, names->count * sizeof *items);
    names->items = items;
    names->table = table;
    names->capacity = capacity;
    names->table_size = size;
    for (uint32_t i = 0; i < names->count; i++)
        table[slot_of(names, items[i].text, items[i].length, items[i].hash)] = i + 1;
    return true;
}

uint32_t hf_names_enter(struct hf_names *names, struct arena *arena, const char *text, uint32_t length)
{
    if (names->count == names->capacity && !grow(names, arena)) return HF_NONE;
    uint32_t hash = hash_text(text, length), slot = slot_of(names, text, length, hash);
    if (names->table[slot] == 0) {
        names->items[names->count] =
            (struct hf_name){.text = text, .length = length, .hash = hash, .set = HF_NONE};
        names->table[slot] = ++names->count;
    }
    return names->table[slot] - 1;
}

uint32_t hf_names_find(const struct hf_names *names, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    if (names->count == 0) return HF_NONE;
    uint32_t slot = slot_of(names, text, length, hash_text(text, length));
    return names->table[slot] != 0 ? names->table[slot] - 1 : HF_NONE;
}

/* UTF-8 bytes sort as code points, as Python's strings. */
static int by_text(const void *a, const void *b)
{
    return strcmp((*(struct hf_name *const *)a)->text, (*(struct hf_name *const *)b)->text);
}

struct hf_name **hf_names_rank(struct hf_names *names, struct arena *arena)
{
    struct hf_name **sorted = arena_array(arena, names->count, sizeof *sorted);
    if (!sorted) return NULL;
    for (size_t i = 0; i < names->count; i++) sorted[i] = &names->items[i];
    qsort(sorted, names->count, sizeof *sorted, by_text);
    for (size_t i = 0; i < names->count; i++) sorted[i]->rank = (uint32_t)i;
    return sorted;
}

void hf_sort(uint64_t *keys, uint64_t *scratch, size_t n)
{
    /* files are mostly sorted */
    size_t sorted = 1;
    while (sorted < n && keys[sorted - 1] <= keys[sorted]) sorted++;
    if (sorted >= n) return;
    if (n <= 24) {
        for (size_t i = 1; i < n; i++) {
            uint64_t key = keys[i];
            size_t k = i;
            for (; k > 0 && keys[k - 1] > key; k--) keys[k] = keys[k - 1];
            keys[k] = key;
        }
        return;
    }
    size_t half = n / 2, a = 0, b = half;
    hf_sort(keys, scratch, half);
    hf_sort(keys + half, scratch, n - half);
    memcpy(scratch, keys, n * sizeof *keys);
    for (size_t k = 0; k < n; k++)
        keys[k] = a == half || (b < n && scratch[b] < scratch[a]) ? scratch[b++] : scratch[a++];
}

static uint32_t *order_of(struct arena *arena, uint64_t *keys, uint64_t *scratch, uint32_t n)
{
    uint32_t *order = arena_allocate(arena, (n != 0 ? n : 1) * sizeof *order);
    if (!order) return NULL;
    hf_sort(keys, scratch, n);
    for (uint32_t i = 0; i < n; i++) order[i] = (uint32_t)keys[i];
    return order;
}

bool hf_raw_order(struct hf_raw *raw)
{
    const struct hf_name *names = raw->names.items;
    uint32_t most = raw->n_channels;
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        if (raw->channels[c].n_samples > most) most = raw->channels[c].n_samples;
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++)
            if (raw->channels[c].samples[s].n_modifiers > most)
                most = raw->channels[c].samples[s].n_modifiers;
    }
    uint64_t *keys = arena_array(raw->scratch, most, sizeof *keys),
             *scratch = arena_array(raw->scratch, most, sizeof *scratch);
    if (!keys || !scratch || !hf_names_rank(&raw->names, raw->scratch)) return false;
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        struct hf_raw_channel *channel = &raw->channels[c];
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            struct hf_raw_sample *sample = &channel->samples[s];
            for (uint32_t m = 0; m < sample->n_modifiers; m++) {
                const struct hf_raw_modifier *modifier = &sample->modifiers[m];
                keys[m] = ((uint64_t)names[modifier->name].rank * 8 + (uint64_t)modifier->type) << 32 | m;
            }
            sample->order = order_of(raw->scratch, keys, scratch, sample->n_modifiers);
            if (!sample->order) return false;
        }
        for (uint32_t s = 0; s < channel->n_samples; s++)
            keys[s] = (uint64_t)names[channel->samples[s].name].rank << 32 | s;
        channel->order = order_of(raw->scratch, keys, scratch, channel->n_samples);
        if (!channel->order) return false;
    }
    for (uint32_t c = 0; c < raw->n_channels; c++)
        keys[c] = (uint64_t)names[raw->channels[c].name].rank << 32 | c;
    raw->order = order_of(raw->scratch, keys, scratch, raw->n_channels);
    return raw->order;
}
