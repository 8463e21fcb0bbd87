/* freeze_tables.c: the records and coefficients of kernels/histfactory/histfactory_arrays.h. Entries that change nothing
 * are left out. */
#include "histfactory/freeze.h"
#include "base/host_math.h"
#include "histfactory/histfactory_widths.h"

#include <string.h>

/* Coefficients 1..6 of the code 4 polynomial: it meets hi^a at a = 1 and lo^-a at a = -1 in value and two
 * derivatives. */
static void code4_coefficients(double hi, double lo, double log_hi, double log_lo, double c[6])
{
    const double up1 = hi * log_hi, down1 = -lo * log_lo, up2 = up1 * log_hi, down2 = lo * log_lo * log_lo;
    const double even = 0.5 * (hi + lo) - 1.0, odd = 0.5 * (hi - lo);
    const double even1 = 0.5 * (up1 - down1), odd1 = 0.5 * (up1 + down1), even2 = 0.5 * (up2 + down2),
                 odd2 = 0.5 * (up2 - down2);
    c[4] = (odd2 - 3.0 * (odd1 - odd)) / 8.0;
    c[2] = 0.5 * (odd1 - odd) - 2.0 * c[4];
    c[0] = odd - c[2] - c[4];
    c[5] = (even2 - 5.0 * even1 + 8.0 * even) / 8.0;
    c[3] = 0.5 * (even1 - 2.0 * even) - 2.0 * c[5];
    c[1] = even - c[3] - c[5];
}

/* One entry of a unit while its tables are written. */
static uint32_t dense_slot(const struct freezer *f, const struct hf_modifier *m, const struct unit *unit)
{
    return f->dense_of[f->spec->sets[m->set].first + (m->type == HF_SHAPEFACTOR ? unit->first_bin : 0)];
}

/* Counts a unit's entries and numbers them. */
static void number_entries(struct freezer *f, uint32_t *normsys, uint32_t *histosys, uint32_t *scalars)
{
    *normsys = *histosys = *scalars = 0;
    for (uint32_t c = 0; c < f->n_channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t u = ch->first_unit; u < ch->first_unit + ch->source->n_samples; u++) {
            struct unit *unit = &f->units[u];
            unit->normsys = *normsys;
            unit->histosys = *histosys;
            unit->scalars = *scalars;
            for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
                const struct hf_modifier *m = &unit->sample->modifiers[k];
                if (freeze_is_local(f, m) || !freeze_acts(m, unit->sample, ch->source->n_bins)) continue;
                if (m->type == HF_NORMSYS)
                    unit->normsys_count++;
                else if (m->type == HF_HISTOSYS)
                    unit->histosys_count++;
                else
                    unit->scalar_count++;
            }
            unit->normsys_padded = ROUND8(unit->normsys_count);
            *normsys += unit->normsys_padded;
            *histosys += unit->histosys_count;
            *scalars += unit->scalar_count;
        }
    }
}

/* The blocks of each unit's rows, as sorted lists in f->lists. */
static void unit_blocks(struct freezer *f, const struct channel *ch, struct unit *unit, unsigned char *any,
                        unsigned char *scalar)
{
    const uint32_t blocks = f->dense / 8;
    memset(any, 0, blocks);
    memset(scalar, 0, blocks);
    for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
        const struct hf_modifier *m = &unit->sample->modifiers[k];
        if (freeze_is_local(f, m) || !freeze_acts(m, unit->sample, ch->source->n_bins)) continue;
        const uint32_t block = dense_slot(f, m, unit) / 8;
        if (m->type == HF_NORMSYS)
            any[block] |= 2;
        else if (m->type == HF_HISTOSYS)
            any[block] |= 1;
        else
            scalar[block] = 1;
    }
    unit->blocks = (uint32_t)f->lists.n;
    unit->row_size = unit->scalar_row_size = 0;
    for (uint32_t b = 0; b < blocks; b++)
        if (any[b]) {
            freeze_push(&f->lists, b);
            freeze_push(&f->lists, any[b] & 2);
            unit->row_size += 8;
        }
    unit->scalar_blocks = (uint32_t)f->lists.n;
    for (uint32_t b = 0; b < blocks; b++)
        if (scalar[b]) {
            freeze_push(&f->lists, b);
            unit->scalar_row_size += 8;
        }
}

/* Place of a dense slot in a unit's row (stride 2 lists) or scalar row. */
static uint32_t place_in_row(const struct freezer *f, uint32_t list, uint32_t stride, uint32_t slot)
{
    uint32_t k = 0;
    while (f->lists.at[list + stride * k] != slot / 8) k++;
    return 8 * k + slot % 8;
}

/* Are some of the unit's numbers the job's? */
static bool unit_varies(const struct unit *unit)
{
    bool varies = unit->sample->data_template != 0;
    for (uint32_t k = 0; k < unit->sample->n_modifiers; k++)
        varies = varies || unit->sample->modifiers[k].hi_template || unit->sample->modifiers[k].lo_template;
    return varies;
}

/* Writes the entries of all units: coefficients, slots, places; cells; nominal rates. Lists in the u32 table
 * are laid out first. */
static bool write_units(struct freezer *f, uint32_t normsys)
{
    const bool code4 = HEADER(f, HF_NORMSYS_CODE) == 4;
    unsigned char *any = arena_array(&f->arena, f->dense, 1), *scalar = arena_array(&f->arena, f->dense, 1);
    if (!any || !scalar) return false;
    for (uint32_t c = 0; c < f->n_channels; c++) {
        struct channel *ch = &f->channels[c];
        const uint32_t samples = ch->source->n_samples;
        for (uint32_t s = 0; s < samples; s++) {
            const uint32_t u = ch->first_unit + s;
            struct unit *unit = &f->units[u];
            unit_blocks(f, ch, unit, any, scalar);
            if (f->lists.failed) return false;
            unit->row = f->unit_rows;
            unit->sums = f->histosys_sums;
            f->histosys_sums += ROUND8(unit->histosys_count);
            f->unit_rows +=
                2 * unit->row_size + (unit->scalar_count ? unit->row_size + unit->scalar_row_size : 0);
            const size_t data =
                freeze_extend_reals(&f->reals, (size_t)ch->panels * unit->histosys_count * 16);
            const size_t sets = freeze_extend(&f->ints, unit->set_count);
            if (f->reals.failed || f->ints.failed) return false;
            for (uint32_t k = 0; k < unit->set_count; k++) f->ints.at[sets + k] = f->lists.at[unit->sets + k];
            uint32_t *un = f->ints.at + HEADER(f, HF_I_UNITS) + u * HF_UN_SIZE;
            un[HF_UN_NORMSYS] = unit->normsys;
            un[HF_UN_NORMSYS_PADDED] = unit->normsys_padded;
            un[HF_UN_NORMSYS_COUNT] = unit->normsys_count;
            un[HF_UN_HISTOSYS] = unit->histosys;
            un[HF_UN_HISTOSYS_COUNT] = unit->histosys_count;
            un[HF_UN_HISTOSYS_DATA] = (uint32_t)data;
            un[HF_UN_SCALARS] = unit->scalars;
            un[HF_UN_SCALAR_COUNT] = unit->scalar_count;
            un[HF_UN_SETS] = (uint32_t)sets;
            un[HF_UN_SET_COUNT] = unit->set_count;
            un[HF_UN_ROW] = unit->row;
            un[HF_UN_ROW_SIZE] = unit->row_size;
            un[HF_UN_SCALAR_ROW_SIZE] = unit->scalar_row_size;
            un[HF_UN_SUMS] = unit->sums;
            un[HF_UN_VARIED] = HF_NOT_VARIED;
            if (unit_varies(unit)) {
                un[HF_UN_VARIED] = f->varied;
                f->varied += ch->panels * HF_VARIED_PANEL(unit->histosys_count);
            }
            uint32_t n = unit->normsys, h = 0, sc = unit->scalars;
            double *table = f->reals.at + HEADER(f, HF_R_NORMSYS);
            for (uint32_t k = 0; k < unit->sample->n_modifiers; k++) {
                const struct hf_modifier *m = &unit->sample->modifiers[k];
                if (freeze_is_local(f, m) || !freeze_acts(m, unit->sample, ch->source->n_bins)) continue;
                const uint32_t slot = dense_slot(f, m, unit);
                if (m->type == HF_NORMSYS) {
                    const double log_hi = host_log(m->hi), log_lo = host_log(m->lo);
                    double coefficients[6];
                    code4_coefficients(m->hi, m->lo, log_hi, log_lo, coefficients);
                    for (uint32_t i = 0; code4 && i < 6; i++) table[i * normsys + n] = coefficients[i];
                    table[6 * normsys + n] = log_hi;
                    table[7 * normsys + n] = log_lo;
                    f->ints.at[HEADER(f, HF_I_NORMSYS_SLOT) + n] = slot;
                    f->ints.at[HEADER(f, HF_I_NORMSYS_PLACE) + n] = place_in_row(f, unit->blocks, 2, slot);
                    n++;
                } else if (m->type == HF_HISTOSYS) {
                    for (uint32_t b = 0; b < ch->n_bins; b++) {
                        const uint32_t from = ch->first_bin + b;
                        hf_put_shift(unit->sample->data[from], m->hi_data[from], m->lo_data[from],
                                     f->reals.at + data + ((size_t)(b / 8) * unit->histosys_count + h) * 16 +
                                         b % 8);
                    }
                    f->ints.at[HEADER(f, HF_I_HISTOSYS_SLOT) + unit->histosys + h] = slot;
                    f->ints.at[HEADER(f, HF_I_HISTOSYS_PLACE) + unit->histosys + h] =
                        place_in_row(f, unit->blocks, 2, slot);
                    h++;
                } else {
                    f->ints.at[HEADER(f, HF_I_SCALAR_SLOT) + sc] = slot;
                    f->ints.at[HEADER(f, HF_I_SCALAR_PLACE) + sc] =
                        place_in_row(f, unit->scalar_blocks, 1, slot);
                    sc++;
                }
            }
            /* padding entries repeat a slot of the unit with nothing to say: v = 1, u = 0 */
            for (; n < unit->normsys + unit->normsys_padded; n++)
                f->ints.at[HEADER(f, HF_I_NORMSYS_SLOT) + n] =
                    f->ints.at[HEADER(f, HF_I_NORMSYS_SLOT) + unit->normsys];
            for (uint32_t panel = 0; panel < ch->panels; panel++) {
                const uint32_t cell = ch->first_cell + panel * samples + s;
                uint32_t *ce = f->ints.at + HEADER(f, HF_I_CELLS) + cell * HF_CE_SIZE;
                ce[HF_CE_UNIT] = u;
                ce[HF_CE_HISTOSYS_DATA] = (uint32_t)data + panel * unit->histosys_count * 16;
                ce[HF_CE_VARIED] = un[HF_UN_VARIED] == HF_NOT_VARIED
                                       ? HF_NOT_VARIED
                                       : un[HF_UN_VARIED] + panel * HF_VARIED_PANEL(unit->histosys_count);
                ce[HF_CE_BINS] = ch->n_bins - 8 * panel < 8 ? ch->n_bins - 8 * panel : 8;
                for (uint32_t b = 0; b < ce[HF_CE_BINS]; b++)
                    f->reals.at[HEADER(f, HF_R_NOMINAL) + 8 * cell + b] =
                        unit->sample->data[ch->first_bin + 8 * panel + b];
            }
            if (unit->scalar_count > 1)
                for (uint32_t i = 0; i < unit->scalar_count; i++)
                    for (uint32_t j = 0; j < i; j++) {
                        uint32_t p = f->ints.at[HEADER(f, HF_I_SCALAR_SLOT) + unit->scalars + i],
                                 q = f->ints.at[HEADER(f, HF_I_SCALAR_SLOT) + unit->scalars + j];
                        if (p < q) {
                            const uint32_t swap = p;
                            p = q;
                            q = swap;
                        }
                        freeze_push(&f->pairs, u);
                        freeze_push(&f->pairs, i);
                        freeze_push(&f->pairs, j);
                        freeze_push(&f->pairs,
                                    64 * ((p / 8) * (p / 8 + 1) / 2 + q / 8) + 8 * (q % 8) + p % 8);
                        /* inside a diagonal tile the upper half is kept equal */
                        if (p / 8 == q / 8) {
                            freeze_push(&f->pairs, u);
                            freeze_push(&f->pairs, i);
                            freeze_push(&f->pairs, j);
                            freeze_push(&f->pairs,
                                        64 * ((p / 8) * (p / 8 + 1) / 2 + q / 8) + 8 * (p % 8) + q % 8);
                        }
                    }
        }
    }
    return !f->pairs.failed;
}

/* What a channel adds to a tile: where its rows begin in the two blocks, how many; where its second-order row
 * pairs begin in f->lists, how many. */
enum { WORK_TILE, WORK_I, WORK_J, WORK_ROWS, WORK_PAIRS, WORK_COUNT, WORK_SIZE };

/* From so many rows on, a channel's rows are added to the tiles as they stand; fewer are listed one by one,
 * with those of other channels (the processor mispredicts the end of short loops: measured, one flat list
 * takes half the time of loops by channel). */
#define RUN_LEAST 16

/* The channel's blocks, where its entries stand among them, and its work on tiles. */
static bool write_channel(struct freezer *f, uint32_t c)
{
    struct channel *ch = &f->channels[c];
    const uint32_t samples = ch->source->n_samples, all_blocks = f->dense / 8;
    uint32_t *position = arena_array(&f->arena, all_blocks, sizeof *position);
    if (!position) return false;
    for (uint32_t u = ch->first_unit; u < ch->first_unit + samples; u++) {
        const struct unit *unit = &f->units[u];
        for (uint32_t k = 0; k < unit->row_size / 8; k++) position[f->lists.at[unit->blocks + 2 * k]] = 1;
        for (uint32_t k = 0; k < unit->scalar_row_size / 8; k++)
            position[f->lists.at[unit->scalar_blocks + k]] = 1;
    }
    const size_t block_list = f->ints.n;
    uint32_t blocks = 0;
    for (uint32_t b = 0; b < all_blocks; b++)
        if (position[b]) {
            freeze_push(&f->ints, b);
            position[b] = blocks++;
        } else
            position[b] = NONE;
    if (f->ints.failed) return false;
    for (uint32_t u = ch->first_unit; u < ch->first_unit + samples; u++) {
        const struct unit *unit = &f->units[u];
        const struct {
            uint32_t slot, spot, first, count;
        } kinds[3] = {
            {HEADER(f, HF_I_NORMSYS_SLOT), HEADER(f, HF_I_NORMSYS_SPOT), unit->normsys, unit->normsys_count},
            {HEADER(f, HF_I_HISTOSYS_SLOT), HEADER(f, HF_I_HISTOSYS_SPOT), unit->histosys,
             unit->histosys_count},
            {HEADER(f, HF_I_SCALAR_SLOT), HEADER(f, HF_I_SCALAR_SPOT), unit->scalars, unit->scalar_count}};
        for (int kind = 0; kind < 3; kind++)
            for (uint32_t k = kinds[kind].first; k < kinds[kind].first + kinds[kind].count; k++) {
                const uint32_t slot = f->ints.at[kinds[kind].slot + k];
                f->ints.at[kinds[kind].spot + k] = 8 * position[slot / 8] + slot % 8;
            }
    }
    const uint32_t n_rows = ch->n_bins * (1 + (ch->common ? 0 : ch->n_sets)), first_row = f->rows;
    if ((size_t)f->rows + (size_t)8 * n_rows * blocks > 0xffffffffu) return false;
    f->rows += 8 * n_rows * blocks;
    for (uint32_t I = 0; I < blocks; I++)
        for (uint32_t J = 0; J <= I; J++) {
            const size_t first = f->lists.n;
            for (uint32_t u = ch->first_unit; u < ch->first_unit + samples; u++) {
                const struct unit *unit = &f->units[u];
                uint32_t row[2] = {NONE, NONE}, normsys[2] = {0, 0}, scalar[2] = {NONE, NONE};
                for (uint32_t k = 0; k < unit->row_size / 8; k++)
                    for (int side = 0; side < 2; side++)
                        if (position[f->lists.at[unit->blocks + 2 * k]] == (side ? J : I)) {
                            row[side] = unit->row + 8 * k;
                            normsys[side] = f->lists.at[unit->blocks + 2 * k + 1];
                        }
                const uint32_t x = unit->row_size, r = 2 * unit->row_size, s = unit->row + 3 * unit->row_size;
                if (row[0] != NONE && row[1] != NONE) {
                    if (normsys[0]) {
                        freeze_push(&f->lists, row[0]);
                        freeze_push(&f->lists, row[1] + x);
                    }
                    if (normsys[1]) {
                        freeze_push(&f->lists, row[0] + x);
                        freeze_push(&f->lists, row[1]);
                    }
                }
                if (unit->scalar_count == 0) continue;
                for (uint32_t k = 0; k < unit->scalar_row_size / 8; k++)
                    for (int side = 0; side < 2; side++)
                        if (position[f->lists.at[unit->scalar_blocks + k]] == (side ? J : I))
                            scalar[side] = s + 8 * k;
                if (scalar[0] != NONE && row[1] != NONE) {
                    freeze_push(&f->lists, scalar[0]);
                    freeze_push(&f->lists, row[1] + r);
                }
                if (row[0] != NONE && scalar[1] != NONE) {
                    freeze_push(&f->lists, row[0] + r);
                    freeze_push(&f->lists, scalar[1]);
                }
            }
            if (f->lists.failed) return false;
            const uint32_t high = f->ints.at[block_list + I], low = f->ints.at[block_list + J];
            const size_t work[WORK_SIZE] = {high * (high + 1) / 2 + low,
                                            first_row + 8 * n_rows * I,
                                            first_row + 8 * n_rows * J,
                                            n_rows,
                                            first,
                                            (f->lists.n - first) / 2};
            for (size_t k = 0; k < WORK_SIZE; k++) freeze_push(&f->works, work[k]);
        }
    uint32_t *record = f->ints.at + HEADER(f, HF_I_CHANNELS) + c * HF_CH_SIZE;
    record[HF_CH_PANELS] = ch->panels;
    record[HF_CH_FIRST_PANEL] = ch->first_panel;
    record[HF_CH_LAST_BINS] = ch->n_bins - 8 * (ch->panels - 1);
    record[HF_CH_UNITS] = samples;
    record[HF_CH_FIRST_UNIT] = ch->first_unit;
    record[HF_CH_FIRST_CELL] = ch->first_cell;
    record[HF_CH_SETS] = ch->n_sets;
    record[HF_CH_FIRST_SET] = ch->first_set;
    record[HF_CH_COMMON] = ch->common;
    record[HF_CH_BLOCKS] = blocks;
    record[HF_CH_BLOCK_LIST] = (uint32_t)block_list;
    record[HF_CH_ROWS] = first_row;
    record[HF_CH_ROW_STRIDE] = 8 * n_rows;
    record[HF_CH_RUN] = n_rows >= RUN_LEAST;
    for (uint32_t panel = 0; panel < ch->panels; panel++) {
        uint32_t *pn = f->ints.at + HEADER(f, HF_I_PANELS) + (ch->first_panel + panel) * HF_PN_SIZE;
        pn[HF_PN_CHANNEL] = c;
        pn[HF_PN_INDEX] = panel;
        pn[HF_PN_BINS] = panel + 1 < ch->panels ? 8 : record[HF_CH_LAST_BINS];
        for (uint32_t b = pn[HF_PN_BINS]; b < 8; b++)
            f->reals.at[HEADER(f, HF_R_LAMBDA0) + 8 * (ch->first_panel + panel) + b] = 1.0;
    }
    return true;
}

/* The lists of row pairs of all tiles, each in the order of the channels. */
static bool write_works(struct freezer *f)
{
    const size_t tiles = (size_t)HEADER(f, HF_BLOCKS) * (HEADER(f, HF_BLOCKS) + 1) / 2,
                 n = f->works.n / WORK_SIZE;
    const size_t offsets = freeze_extend(&f->ints, tiles), scaled = f->unit_rows, kept = scaled + f->rows;
    uint32_t *first = arena_array(&f->arena, tiles + 1, sizeof *first),
             *order = arena_array(&f->arena, n + 1, sizeof *order);
    if (!first || !order || f->ints.failed || f->works.failed || kept + f->rows > 0xffffffffu) return false;
    HEADER(f, HF_I_TILE_WORK) = (uint32_t)offsets;
    /* by tile, channels in order: a counting sort */
    for (size_t k = 0; k < n; k++) first[f->works.at[k * WORK_SIZE + WORK_TILE] + 1]++;
    for (size_t t = 0; t < tiles; t++) first[t + 1] += first[t];
    for (size_t k = n; k-- > 0;) order[--first[f->works.at[k * WORK_SIZE + WORK_TILE] + 1]] = (uint32_t)k;
    for (size_t t = 0; t < tiles; t++) {
        const size_t begin = first[t + 1], end = t + 1 < tiles ? first[t + 2] : n, list = f->ints.n;
        size_t first_order = 0, second_order = 0;
        f->ints.at[offsets + t] = (uint32_t)list;
        freeze_extend(&f->ints, 2);
        for (size_t k = begin; k < end; k++) {
            const uint32_t *work = f->works.at + (size_t)order[k] * WORK_SIZE;
            for (uint32_t i = 0; i < (work[WORK_ROWS] < RUN_LEAST ? work[WORK_ROWS] : 0);
                 i++, first_order++) {
                freeze_push(&f->ints, scaled + work[WORK_I] + 8 * i);
                freeze_push(&f->ints, kept + work[WORK_J] + 8 * i);
            }
        }
        for (size_t k = begin; k < end; k++) {
            const uint32_t *work = f->works.at + (size_t)order[k] * WORK_SIZE;
            for (size_t i = 0; i < 2 * (size_t)work[WORK_COUNT]; i++)
                freeze_push(&f->ints, f->lists.at[work[WORK_PAIRS] + i]);
            second_order += work[WORK_COUNT];
        }
        if (f->ints.failed) return false;
        f->ints.at[list] = (uint32_t)first_order;
        f->ints.at[list + 1] = (uint32_t)(first_order + second_order);
    }
    return true;
}

bool freeze_tables(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    uint32_t slots = f->dense;
    for (uint32_t l = 0; l < f->n_sets; l++) {
        f->sets[l].slot = slots;
        slots += 8 * f->channels[f->sets[l].channel].panels;
    }
    uint32_t normsys, histosys, scalars;
    number_entries(f, &normsys, &histosys, &scalars);
    freeze_extend(&f->ints, HF_HEADER);
    if (f->ints.failed) return false;
    HEADER(f, HF_DENSE) = f->dense;
    HEADER(f, HF_BLOCKS) = f->dense / 8;
    HEADER(f, HF_SLOTS) = slots;
    HEADER(f, HF_CHANNELS) = f->n_channels;
    HEADER(f, HF_PANELS) = f->n_panels;
    HEADER(f, HF_CELLS) = f->n_cells;
    HEADER(f, HF_UNITS) = f->n_units;
    HEADER(f, HF_NORMSYS_ENTRIES) = normsys;
    HEADER(f, HF_SCALARS) = scalars;
    HEADER(f, HF_NORMSYS_CODE) = f->options->normsys_code == 1 ? 1 : 4;
    HEADER(f, HF_HISTOSYS_CODE) = f->options->histosys_code == PARITAS_HISTOSYS_CODE_0   ? 0
                                  : f->options->histosys_code == PARITAS_HISTOSYS_CODE_2 ? 2
                                                                                         : 4;
    HEADER(f, HF_CLIPS) = (f->options->clip_sample ? 1u : 0u) | (f->options->clip_bin ? 2u : 0u);
    const struct {
        uint32_t header;
        size_t count;
    } tables[] = {{HF_I_CHANNELS, (size_t)f->n_channels * HF_CH_SIZE},
                  {HF_I_PANELS, (size_t)f->n_panels * HF_PN_SIZE},
                  {HF_I_CELLS, (size_t)f->n_cells * HF_CE_SIZE},
                  {HF_I_UNITS, (size_t)f->n_units * HF_UN_SIZE},
                  {HF_I_SETS, (size_t)f->n_sets * HF_SE_SIZE},
                  {HF_I_NORMSYS_SLOT, normsys},
                  {HF_I_NORMSYS_PLACE, normsys},
                  {HF_I_NORMSYS_SPOT, normsys},
                  {HF_I_HISTOSYS_SLOT, histosys + 8u},
                  {HF_I_HISTOSYS_PLACE, histosys},
                  {HF_I_HISTOSYS_SPOT, histosys},
                  {HF_I_SCALAR_SLOT, scalars},
                  {HF_I_SCALAR_PLACE, scalars},
                  {HF_I_SCALAR_SPOT, scalars}};
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        const size_t at = freeze_extend(&f->ints, tables[k].count);
        if (f->ints.failed) return false;
        HEADER(f, tables[k].header) = (uint32_t)at;
    }
    const struct {
        uint32_t header;
        size_t count;
    } arrays[] = {{HF_R_NOMINAL, 8 * (size_t)f->n_cells},
                  {HF_R_LAMBDA0, 8 * (size_t)f->n_panels},
                  {HF_R_NORMSYS, 8 * (size_t)normsys},
                  {HF_R_PRECISION, slots},
                  {HF_R_TAU, slots},
                  {HF_R_CLIPS, 8}};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        const size_t at = freeze_extend_reals(&f->reals, arrays[k].count);
        if (f->reals.failed) return false;
        HEADER(f, arrays[k].header) = (uint32_t)at;
    }
    f->reals.at[HEADER(f, HF_R_CLIPS)] = f->options->clip_sample_at;
    f->reals.at[HEADER(f, HF_R_CLIPS) + 1] = f->options->clip_bin_at;
    for (uint32_t l = 0; l < f->n_sets; l++) {
        uint32_t *se = f->ints.at + HEADER(f, HF_I_SETS) + l * HF_SE_SIZE;
        const hf_constraint constraint = spec->sets[f->sets[l].set].constraint;
        se[HF_SE_SLOT] = f->sets[l].slot;
        se[HF_SE_CONSTRAINT] = constraint == HF_GAUSSIAN ? 1 : constraint == HF_POISSON ? 2 : 0;
        if (constraint == HF_POISSON) HEADER(f, HF_HAS_POISSON) = 1;
    }
    if (!write_units(f, normsys)) return false;
    HEADER(f, HF_DATA) = 8 * f->n_panels + slots + freeze_varied(f);
    for (uint32_t c = 0; c < f->n_channels; c++)
        if (!write_channel(f, c)) return false;
    if (!write_works(f)) return false;
    HEADER(f, HF_I_PAIRS) = (uint32_t)f->ints.n;
    HEADER(f, HF_PAIRS) = (uint32_t)f->pairs.n / 4;
    const size_t pairs = freeze_extend(&f->ints, f->pairs.n);
    if (f->ints.failed) return false;
    if (f->pairs.n) memcpy(f->ints.at + pairs, f->pairs.at, f->pairs.n * sizeof *f->pairs.at);
    return true;
}
