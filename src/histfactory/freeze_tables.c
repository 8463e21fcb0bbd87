/* freeze_tables.c: the records and coefficients of kernels/histfactory/histfactory_arrays.h. Entries that
 * change nothing are left out. */
#include "histfactory/freeze.h"
#include "histfactory/modifier_numbers.h"

#include <string.h>

/* The entries of a unit by what they do: where their slots, places and spots stand. */
enum { NORMSYS, HISTOSYS, SCALARS, ENTRY_KINDS };
static const struct {
    enum hf_header slot, place, spot;
} entry_tables[ENTRY_KINDS] = {[NORMSYS] = {HF_I_NORMSYS_SLOT, HF_I_NORMSYS_PLACE, HF_I_NORMSYS_SPOT},
                               [HISTOSYS] = {HF_I_HISTOSYS_SLOT, HF_I_HISTOSYS_PLACE, HF_I_HISTOSYS_SPOT},
                               [SCALARS] = {HF_I_SCALAR_SLOT, HF_I_SCALAR_PLACE, HF_I_SCALAR_SPOT}};

static int entry_kind(const struct hf_modifier *m)
{
    const enum hf_action action = hf_kind(m->type)->action;
    return action == HF_INTERPOLATED_FACTOR ? NORMSYS : action == HF_INTERPOLATED_SHIFT ? HISTOSYS : SCALARS;
}

/* ---- sizes ---- */

/* Counts the units' entries and numbers them; gives units their places in UNIT_ROWS, HSUM and VARIED. */
static void number_entries(struct freezer *f)
{
    for (size_t c = 0; c < f->n.channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t u = ch->record.first_unit; u < ch->record.first_unit + ch->record.units; u++) {
            struct unit *unit = &f->units[u];
            hf_unit_record *un = &unit->record;
            bool varied = unit->sample->data_template != 0;
            uint32_t counts[ENTRY_KINDS] = {0};
            for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
                const struct hf_modifier *m = &unit->sample->modifiers[k];
                varied = varied || m->hi_template || m->lo_template;
                if (freeze_is_entry(f, unit, m, ch->source->n_bins)) counts[entry_kind(m)]++;
            }
            un->normsys = (uint32_t)f->n.normsys;
            un->histosys = (uint32_t)f->n.histosys;
            un->scalars = (uint32_t)f->n.scalars;
            un->normsys_count = counts[NORMSYS];
            un->normsys_padded = ROUND8(counts[NORMSYS]);
            un->histosys_count = counts[HISTOSYS];
            un->scalar_count = counts[SCALARS];
            un->sums = (uint32_t)f->n.histosys_sums;
            un->varied = varied ? (uint32_t)f->n.varied : HF_NOT_VARIED;
            f->n.normsys += un->normsys_padded;
            f->n.histosys += un->histosys_count;
            f->n.scalars += un->scalar_count;
            f->n.histosys_sums += ROUND8(un->histosys_count);
            if (varied) f->n.varied += ch->record.panels * HF_VARIED_PANEL(un->histosys_count);
        }
    }
}

/* Slots of the local sets behind the dense ones. */
static void number_slots(struct freezer *f)
{
    f->n.slots = f->n.dense;
    for (size_t l = 0; l < f->n.sets; l++) {
        const hf_constraint constraint = f->spec->sets[f->sets[l].set].constraint;
        f->sets[l].record.slot = (uint32_t)f->n.slots;
        f->sets[l].record.constraint = constraint == HF_GAUSSIAN  ? HF_NORMAL_CONSTRAINT
                                       : constraint == HF_POISSON ? HF_POISSON_CONSTRAINT
                                                                  : HF_NO_CONSTRAINT;
        f->n.slots += 8 * f->channels[f->sets[l].channel].record.panels;
    }
    f->n.blocks = f->n.dense / 8;
    f->n.locals = f->n.slots - f->n.dense;
    if (f->model->templates.n_widths) f->n.widths = 2 * f->n.slots;
}

/* The header's numbers. */
static void write_header(struct freezer *f)
{
    const struct hf_counts *n = &f->n;
    const paritas_model_options *options = f->options;
    const int histosys_code = options->histosys_code ? options->histosys_code : PARITAS_HISTOSYS_CODE_4P;
    HEADER(f, HF_DENSE) = (uint32_t)n->dense;
    HEADER(f, HF_BLOCKS) = (uint32_t)n->blocks;
    HEADER(f, HF_SLOTS) = (uint32_t)n->slots;
    HEADER(f, HF_CHANNELS) = (uint32_t)n->channels;
    HEADER(f, HF_PANELS) = (uint32_t)n->panels;
    HEADER(f, HF_CELLS) = (uint32_t)n->cells;
    HEADER(f, HF_UNITS) = (uint32_t)n->units;
    HEADER(f, HF_NORMSYS_ENTRIES) = (uint32_t)n->normsys;
    HEADER(f, HF_SCALARS) = (uint32_t)n->scalars;
    HEADER(f, HF_NORMSYS_CODE) = options->normsys_code ? options->normsys_code : PARITAS_NORMSYS_CODE_4;
    HEADER(f, HF_HISTOSYS_CODE) = (uint32_t)(histosys_code - PARITAS_HISTOSYS_CODE_0);
    HEADER(f, HF_CLIPS) =
        (options->clip_sample ? HF_CLIP_SAMPLES : 0) | (options->clip_bin ? HF_CLIP_BINS : 0);
    HEADER(f, HF_DATA) = (uint32_t)(8 * n->panels + n->slots + n->varied + n->widths);
    for (size_t l = 0; l < n->sets; l++)
        if (f->sets[l].record.constraint == HF_POISSON_CONSTRAINT) HEADER(f, HF_HAS_POISSON) = 1;
}

/* Makes room for the header, all tables and arrays. */
static bool make_tables(struct freezer *f)
{
    const struct hf_counts *n = &f->n;
    const struct {
        enum hf_header header;
        size_t count;
    }
#define COUNT_TABLE(name, count) {HF_I_##name, count},
#define COUNT_ARRAY(name, count) {HF_R_##name, count},
    tables[] = {HF_INT_TABLES(COUNT_TABLE)},
    arrays[] = {HF_REAL_ARRAYS(COUNT_ARRAY)};
    freeze_extend(f, &f->ints, HF_HEADER);
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        const size_t at = freeze_extend(f, &f->ints, tables[k].count);
        if (f->ints.failed) return false;
        HEADER(f, tables[k].header) = (uint32_t)at;
    }
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        const size_t at = freeze_extend_reals(f, arrays[k].count);
        if (f->reals.failed) return false;
        HEADER(f, arrays[k].header) = (uint32_t)at;
    }
    return true;
}

/* ---- units ---- */

/* The dense blocks of a unit's rows, as sorted lists in f->lists: pairs (block, has a normsys?), then those
 * of its scalars. `any`, `scalar`: scratch, an element a block. */
static void list_blocks(struct freezer *f, const struct channel *ch, struct unit *unit, unsigned char *any,
                        unsigned char *scalar)
{
    memset(any, 0, f->n.blocks);
    memset(scalar, 0, f->n.blocks);
    for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
        const struct hf_modifier *m = &unit->sample->modifiers[k];
        if (!freeze_is_entry(f, unit, m, ch->source->n_bins)) continue;
        const uint32_t block = f->dense_of[freeze_parameter(f, unit, m)] / 8;
        const int kind = entry_kind(m);
        if (kind == SCALARS)
            scalar[block] = 1;
        else
            any[block] |= kind == NORMSYS ? 2 : 1;
    }
    unit->blocks = (uint32_t)f->lists.n;
    for (uint32_t b = 0; b < f->n.blocks; b++)
        if (any[b]) {
            freeze_push(f, &f->lists, b);
            freeze_push(f, &f->lists, any[b] & 2);
            unit->record.row_size += 8;
        }
    unit->scalar_blocks = (uint32_t)f->lists.n;
    for (uint32_t b = 0; b < f->n.blocks; b++)
        if (scalar[b]) {
            freeze_push(f, &f->lists, b);
            unit->record.scalar_row_size += 8;
        }
}

/* Place of a dense slot in a unit's row (stride 2 lists) or scalar row. */
static uint32_t place_in_row(const struct freezer *f, uint32_t list, uint32_t stride, uint32_t slot)
{
    uint32_t k = 0;
    while (f->lists.at[list + stride * k] != slot / 8) k++;
    return 8 * k + slot % 8;
}

/* The unit's rows, its histosys' numbers and its list of local sets get their places. */
static bool place_unit(struct freezer *f, const struct channel *ch, struct unit *unit)
{
    hf_unit_record *un = &unit->record;
    un->row = (uint32_t)f->n.unit_rows;
    f->n.unit_rows += 2 * un->row_size + (un->scalar_count ? un->row_size + un->scalar_row_size : 0);
    un->histosys_data = (uint32_t)freeze_extend_reals(f, (size_t)ch->record.panels * un->histosys_count * 16);
    un->sets = (uint32_t)freeze_extend(f, &f->ints, un->set_count);
    if (f->reals.failed || f->ints.failed) return false;
    for (uint32_t k = 0; k < un->set_count; k++) f->ints.at[un->sets + k] = f->lists.at[unit->sets + k];
    return true;
}

static void write_coefficients(struct freezer *f, const struct hf_modifier *m, uint32_t entry)
{
    double c[8], *table = f->reals.at + HEADER(f, HF_R_NORMSYS);
    hf_normsys_coefficients(m, c);
    for (uint32_t i = HEADER(f, HF_NORMSYS_CODE) == 4 ? 0 : 6; i < 8; i++)
        table[i * f->n.normsys + entry] = c[i];
}

/* Entry number e of the unit's histosys. */
static void write_shifts(struct freezer *f, const struct channel *ch, const struct unit *unit,
                         const struct hf_modifier *m, uint32_t e)
{
    double *data = f->reals.at + unit->record.histosys_data;
    for (uint32_t b = 0; b < ch->n_bins; b++) {
        const uint32_t from = ch->first_bin + b;
        hf_put_shift(unit->sample->data[from], m->hi_data[from], m->lo_data[from],
                     data + ((size_t)(b / 8) * unit->record.histosys_count + e) * 16 + b % 8);
    }
}

/* Slots, places and coefficients of the unit's entries. */
static void write_entries(struct freezer *f, const struct channel *ch, const struct unit *unit)
{
    const hf_unit_record *un = &unit->record;
    const uint32_t first[ENTRY_KINDS] = {un->normsys, un->histosys, un->scalars};
    uint32_t used[ENTRY_KINDS] = {0}, *ints = f->ints.at;
    for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
        const struct hf_modifier *m = &unit->sample->modifiers[k];
        if (!freeze_is_entry(f, unit, m, ch->source->n_bins)) continue;
        const int kind = entry_kind(m);
        const uint32_t slot = f->dense_of[freeze_parameter(f, unit, m)], entry = first[kind] + used[kind];
        ints[HEADER(f, entry_tables[kind].slot) + entry] = slot;
        ints[HEADER(f, entry_tables[kind].place) + entry] =
            kind == SCALARS ? place_in_row(f, unit->scalar_blocks, 1, slot)
                            : place_in_row(f, unit->blocks, 2, slot);
        if (kind == NORMSYS) write_coefficients(f, m, entry);
        if (kind == HISTOSYS) write_shifts(f, ch, unit, m, used[kind]);
        used[kind]++;
    }
    /* padding entries repeat a slot of the unit with nothing to say: v = 1, u = 0 */
    uint32_t *slots = ints + HEADER(f, HF_I_NORMSYS_SLOT) + un->normsys;
    for (uint32_t k = un->normsys_count; k < un->normsys_padded; k++) slots[k] = slots[0];
}

/* The unit's cells and their nominal rates. */
static void write_cells(struct freezer *f, const struct channel *ch, uint32_t u)
{
    const struct unit *unit = &f->units[u];
    const hf_unit_record *un = &unit->record;
    for (uint32_t panel = 0; panel < ch->record.panels; panel++) {
        const uint32_t cell = ch->record.first_cell + panel * ch->record.units + u - ch->record.first_unit,
                       first = 8 * panel, bins = ch->n_bins - first < 8 ? ch->n_bins - first : 8;
        hf_cell_record *ce = (hf_cell_record *)(f->ints.at + HEADER(f, HF_I_CELLS)) + cell;
        *ce = (hf_cell_record){.unit = u,
                               .histosys_data = un->histosys_data + panel * un->histosys_count * 16,
                               .bins = bins,
                               .varied = un->varied == HF_NOT_VARIED
                                             ? HF_NOT_VARIED
                                             : un->varied + panel * HF_VARIED_PANEL(un->histosys_count)};
        for (uint32_t b = 0; b < bins; b++)
            f->reals.at[HEADER(f, HF_R_NOMINAL) + 8 * cell + b] =
                unit->sample->data[ch->first_bin + first + b];
    }
}

/* Lists the pairs of the unit's scalars. */
static void pair_scalars(struct freezer *f, uint32_t u)
{
    const hf_unit_record *un = &f->units[u].record;
    const uint32_t *slots = f->ints.at + HEADER(f, HF_I_SCALAR_SLOT) + un->scalars;
    for (uint32_t i = 0; i < un->scalar_count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint32_t p = slots[i] > slots[j] ? slots[i] : slots[j], q = slots[i] + slots[j] - p,
                           tile = 64 * (p / 8 * (p / 8 + 1) / 2 + q / 8);
            /* inside a diagonal tile the upper half is kept equal */
            for (int half = 0; half < (p / 8 == q / 8 ? 2 : 1); half++) {
                const uint32_t element = tile + (half ? 8 * (p % 8) + q % 8 : 8 * (q % 8) + p % 8);
                const size_t at = freeze_extend(f, &f->pairs, HF_WORDS(hf_pair_record));
                if (f->pairs.failed) return;
                *(hf_pair_record *)(f->pairs.at + at) =
                    (hf_pair_record){.unit = u, .first = i, .second = j, .element = element};
            }
        }
}

/* Entries, cells and pairs of scalars of all units, then their records. */
static bool write_units(struct freezer *f)
{
    unsigned char *any = arena_array(&f->arena, f->n.blocks, 1),
                  *scalar = arena_array(&f->arena, f->n.blocks, 1);
    if (!any || !scalar) return false;
    for (size_t c = 0; c < f->n.channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t u = ch->record.first_unit; u < ch->record.first_unit + ch->record.units; u++) {
            list_blocks(f, ch, &f->units[u], any, scalar);
            if (f->lists.failed || !place_unit(f, ch, &f->units[u])) return false;
            write_entries(f, ch, &f->units[u]);
            write_cells(f, ch, u);
            pair_scalars(f, u);
        }
    }
    hf_unit_record *records = (hf_unit_record *)(f->ints.at + HEADER(f, HF_I_UNITS));
    for (size_t u = 0; u < f->n.units; u++) records[u] = f->units[u].record;
    return !f->pairs.failed;
}

/* ---- channels ---- */

/* What a channel adds to a tile. */
struct work {
    uint32_t tile;
    uint32_t left, right;  /* where its rows begin in the two blocks */
    uint32_t rows;         /* how many */
    uint32_t pairs, count; /* second-order row pairs: where they begin in f->lists, how many */
};

/* From so many rows on, a channel's rows are added to the tiles as they stand; fewer are listed one by one,
 * with those of other channels (the processor mispredicts the end of short loops: measured, one flat list
 * takes half the time of loops by channel). */
#define RUN_LEAST 16

/* The channel's blocks, ascending, into its list, and for each block its `position` there, or NONE. */
static bool list_channel_blocks(struct freezer *f, struct channel *ch, uint32_t *position)
{
    hf_channel_record *record = &ch->record;
    memset(position, 0, f->n.blocks * sizeof *position);
    for (uint32_t u = record->first_unit; u < record->first_unit + record->units; u++) {
        const struct unit *unit = &f->units[u];
        for (uint32_t k = 0; k < unit->record.row_size / 8; k++)
            position[f->lists.at[unit->blocks + 2 * k]] = 1;
        for (uint32_t k = 0; k < unit->record.scalar_row_size / 8; k++)
            position[f->lists.at[unit->scalar_blocks + k]] = 1;
    }
    record->block_list = (uint32_t)f->ints.n;
    for (uint32_t b = 0; b < f->n.blocks; b++) {
        if (position[b]) freeze_push(f, &f->ints, b);
        position[b] = position[b] ? record->blocks++ : NONE;
    }
    return !f->ints.failed;
}

/* Where the entries of the channel's units stand among the slots of its blocks. */
static void write_spots(struct freezer *f, const struct channel *ch, const uint32_t *position)
{
    for (uint32_t u = ch->record.first_unit; u < ch->record.first_unit + ch->record.units; u++) {
        const hf_unit_record *un = &f->units[u].record;
        const uint32_t first[ENTRY_KINDS] = {un->normsys, un->histosys, un->scalars},
                       count[ENTRY_KINDS] = {un->normsys_count, un->histosys_count, un->scalar_count};
        for (int kind = 0; kind < ENTRY_KINDS; kind++)
            for (uint32_t k = first[kind]; k < first[kind] + count[kind]; k++) {
                const uint32_t slot = f->ints.at[HEADER(f, entry_tables[kind].slot) + k];
                f->ints.at[HEADER(f, entry_tables[kind].spot) + k] = 8 * position[slot / 8] + slot % 8;
            }
    }
}

static void push_pair(struct freezer *f, uint32_t left, uint32_t right)
{
    if (left == NONE || right == NONE) return;
    freeze_push(f, &f->lists, left);
    freeze_push(f, &f->lists, right);
}

/* A unit's rows in block number `block` of the channel: u (and whether a normsys is in it) and s; NONE. */
struct block_rows {
    uint32_t u, s;
    bool normsys;
};
static struct block_rows rows_in_block(const struct freezer *f, const struct unit *unit,
                                       const uint32_t *position, uint32_t block)
{
    const hf_unit_record *un = &unit->record;
    struct block_rows rows = {NONE, NONE, false};
    for (uint32_t k = 0; k < un->row_size / 8; k++)
        if (position[f->lists.at[unit->blocks + 2 * k]] == block) {
            rows.u = un->row + 8 * k;
            rows.normsys = f->lists.at[unit->blocks + 2 * k + 1] != 0;
        }
    for (uint32_t k = 0; k < un->scalar_row_size / 8; k++)
        if (position[f->lists.at[unit->scalar_blocks + k]] == block)
            rows.s = un->row + 3 * un->row_size + 8 * k;
    return rows;
}

/* The unit's second-order row pairs of a tile: u x^T, x u^T, s r^T, r s^T. */
static void list_pairs(struct freezer *f, const struct unit *unit, const uint32_t *position, uint32_t I,
                       uint32_t J)
{
    const uint32_t x = unit->record.row_size, r = 2 * x;
    const struct block_rows left = rows_in_block(f, unit, position, I),
                            right = rows_in_block(f, unit, position, J);
    if (left.u != NONE && right.u != NONE) {
        if (left.normsys) push_pair(f, left.u, right.u + x);
        if (right.normsys) push_pair(f, left.u + x, right.u);
    }
    if (right.u != NONE) push_pair(f, left.s, right.u + r);
    if (left.u != NONE) push_pair(f, left.u + r, right.s);
}

/* What the channel adds to each tile. */
static bool list_works(struct freezer *f, const struct channel *ch, const uint32_t *position)
{
    const hf_channel_record *record = &ch->record;
    const uint32_t *blocks = f->ints.at + record->block_list, n_rows = record->row_stride / 8;
    for (uint32_t I = 0; I < record->blocks; I++)
        for (uint32_t J = 0; J <= I; J++) {
            const size_t first = f->lists.n, at = freeze_extend(f, &f->works, HF_WORDS(struct work));
            for (uint32_t u = record->first_unit; u < record->first_unit + record->units; u++)
                list_pairs(f, &f->units[u], position, I, J);
            if (f->lists.failed || f->works.failed) return false;
            *(struct work *)(f->works.at + at) =
                (struct work){.tile = blocks[I] * (blocks[I] + 1) / 2 + blocks[J],
                              .left = record->rows + record->row_stride * I,
                              .right = record->rows + record->row_stride * J,
                              .rows = n_rows,
                              .pairs = (uint32_t)first,
                              .count = (uint32_t)(f->lists.n - first) / 2};
        }
    return true;
}

/* The channel's panels, with the padding of the last. */
static void write_panels(struct freezer *f, uint32_t c)
{
    const hf_channel_record *record = &f->channels[c].record;
    hf_panel_record *panels = (hf_panel_record *)(f->ints.at + HEADER(f, HF_I_PANELS)) + record->first_panel;
    double *lambda = f->reals.at + HEADER(f, HF_R_LAMBDA0) + 8 * record->first_panel;
    for (uint32_t p = 0; p < record->panels; p++) {
        const uint32_t bins = p + 1 < record->panels ? 8 : record->last_bins;
        panels[p] = (hf_panel_record){.channel = c, .index = p, .bins = bins};
        for (uint32_t b = bins; b < 8; b++) lambda[8 * p + b] = 1.0;
    }
}

/* Blocks, spots, panels and works of all channels; their places in ROWS and LOCAL_L; what one of them needs
 * at most. */
static bool place_channels(struct freezer *f)
{
    struct hf_counts *n = &f->n;
    uint32_t *position = arena_array(&f->arena, n->blocks, sizeof *position);
    if (!position) return false;
    n->jacobian = 8;
    for (uint32_t c = 0; c < n->channels; c++) {
        struct channel *ch = &f->channels[c];
        hf_channel_record *record = &ch->record;
        if (!list_channel_blocks(f, ch, position)) return false;
        write_spots(f, ch, position);
        const uint32_t n_rows = ch->n_bins * (1 + (record->common ? 0 : record->sets));
        record->rows = (uint32_t)n->rows;
        record->row_stride = 8 * n_rows;
        record->run = n_rows >= RUN_LEAST;
        record->local_l = (uint32_t)n->local_l;
        n->rows += (size_t)record->row_stride * record->blocks;
        n->local_l += (size_t)record->panels * 4 * record->sets * (record->sets ? record->sets - 1 : 0);
        if (n->rows > UINT32_MAX || !list_works(f, ch, position)) return false;
        write_panels(f, c);
        const size_t jacobian = 64 * (size_t)record->blocks * (1 + record->sets),
                     cell_temp = 24 * (size_t)record->units + 16;
        if (jacobian > n->jacobian) n->jacobian = jacobian;
        if (cell_temp > n->cell_temp) n->cell_temp = cell_temp;
    }
    return true;
}

/* ---- row pairs by tile ---- */

/* Numbers of the works in the order of their tiles, within one in that of the channels: a counting sort.
 * `first`: two elements more than there are tiles, zeros; first[t] becomes where the works of tile t begin. */
static void sort_works(const struct work *works, size_t n, size_t tiles, uint32_t *first, uint32_t *order)
{
    for (size_t k = 0; k < n; k++) first[works[k].tile + 2]++;
    for (size_t t = 0; t <= tiles; t++) first[t + 1] += first[t];
    for (size_t k = 0; k < n; k++) order[first[works[k].tile + 1]++] = (uint32_t)k;
}

/* The list of a tile: first-order pairs of channels with few rows, then second-order ones. */
static bool write_tile(struct freezer *f, const struct work *works, const uint32_t *order, size_t n)
{
    const size_t scaled = f->n.unit_rows, kept = scaled + f->n.rows, list = freeze_extend(f, &f->ints, 2);
    size_t first_order = 0, second_order = 0;
    for (size_t k = 0; k < n; k++) {
        const struct work *work = &works[order[k]];
        for (uint32_t i = 0; i < work->rows && work->rows < RUN_LEAST; i++, first_order++) {
            freeze_push(f, &f->ints, scaled + work->left + 8 * i);
            freeze_push(f, &f->ints, kept + work->right + 8 * i);
        }
    }
    for (size_t k = 0; k < n; k++) {
        const struct work *work = &works[order[k]];
        const size_t at = freeze_extend(f, &f->ints, 2 * (size_t)work->count);
        if (f->ints.failed) return false;
        memcpy(f->ints.at + at, f->lists.at + work->pairs, 2 * work->count * sizeof *f->ints.at);
        second_order += work->count;
    }
    if (f->ints.failed) return false;
    f->ints.at[list] = (uint32_t)first_order;
    f->ints.at[list + 1] = (uint32_t)(first_order + second_order);
    return true;
}

/* The lists of row pairs of all tiles. */
static bool write_works(struct freezer *f)
{
    const size_t tiles = f->n.blocks * (f->n.blocks + 1) / 2, n = f->works.n / HF_WORDS(struct work),
                 offsets = freeze_extend(f, &f->ints, tiles);
    const struct work *works = (const struct work *)f->works.at;
    uint32_t *first = arena_array(&f->arena, tiles + 2, sizeof *first),
             *order = arena_array(&f->arena, n, sizeof *order);
    if (!first || !order || f->ints.failed || f->n.unit_rows + 2 * f->n.rows > UINT32_MAX) return false;
    HEADER(f, HF_I_TILE_WORK) = (uint32_t)offsets;
    sort_works(works, n, tiles, first, order);
    for (size_t t = 0; t < tiles; t++) {
        f->ints.at[offsets + t] = (uint32_t)f->ints.n;
        if (!write_tile(f, works, order + first[t], first[t + 1] - first[t])) return false;
    }
    return true;
}

static bool write_pairs(struct freezer *f)
{
    HEADER(f, HF_PAIRS) = (uint32_t)(f->pairs.n / HF_WORDS(hf_pair_record));
    HEADER(f, HF_I_PAIRS) = (uint32_t)f->ints.n;
    const size_t at = freeze_extend(f, &f->ints, f->pairs.n);
    if (f->ints.failed) return false;
    if (f->pairs.n) memcpy(f->ints.at + at, f->pairs.at, f->pairs.n * sizeof *f->pairs.at);
    return true;
}

bool freeze_tables(struct freezer *f)
{
    number_entries(f);
    number_slots(f);
    if (!make_tables(f)) return false;
    write_header(f);
    f->reals.at[HEADER(f, HF_R_CLIPS)] = f->options->clip_sample_at;
    f->reals.at[HEADER(f, HF_R_CLIPS) + 1] = f->options->clip_bin_at;
    hf_set_record *sets = (hf_set_record *)(f->ints.at + HEADER(f, HF_I_SETS));
    for (size_t l = 0; l < f->n.sets; l++) sets[l] = f->sets[l].record;
    return write_units(f) && place_channels(f) && write_works(f) && write_pairs(f);
}
