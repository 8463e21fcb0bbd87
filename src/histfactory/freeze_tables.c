/* freeze_tables.c: records and coefficients of kernels/histfactory/histfactory_arrays.h. */
#include "histfactory/freeze.h"

#include "base/bytes.h"
#include "histfactory/modifiers/modifier_numbers.h"

#include <math.h>
#include <string.h>

static const struct {
    enum hf_header slot, place, spot;
} entry_tables[ENTRY_KINDS] = {
    [ENTRY_NORMSYS] = {HF_I_NORMSYS_SLOT, HF_I_NORMSYS_PLACE, HF_I_NORMSYS_SPOT},
    [ENTRY_HISTOSYS] = {HF_I_HISTOSYS_SLOT, HF_I_HISTOSYS_PLACE, HF_I_HISTOSYS_SPOT},
    [ENTRY_SCALAR] = {HF_I_SCALAR_SLOT, HF_I_SCALAR_PLACE, HF_I_SCALAR_SPOT}};

/* The number of the entry's code among the model's; new ones are added. */
static uint32_t shift_code(struct freezer *f, const struct entry *entry)
{
    const struct shift_code wanted = {(uint32_t)(entry->modifier->code - PARITAS_HISTOSYS_CODE_0),
                                      entry->modifier->scale};
    for (uint32_t k = f->n_shift_codes; k-- > 0;)
        if (f->shift_codes[k].code == wanted.code && f->shift_codes[k].scale == wanted.scale) return k;
    f->shift_codes[f->n_shift_codes++] = wanted;
    return f->n_shift_codes - 1;
}

/* Room for as many codes as there can be. */
static bool make_shift_codes(struct freezer *f)
{
    f->shift_codes = arena_array(&f->arena, f->n.histosys + 1, sizeof *f->shift_codes);
    return f->shift_codes != NULL;
}

void freeze_number_slots(struct freezer *f)
{
    f->n.slots = f->n.dense;
    for (size_t l = 0; l < f->n.sets; l++) {
        const struct hf_set *set = &f->spec->sets[f->sets[l].set];
        f->sets[l].record.slot = (uint32_t)f->n.slots;
        f->sets[l].record.constraint = set->constraint;
        f->n.slots += 8 * f->channels[f->sets[l].channel].record.panels;
    }
    f->n.blocks = f->n.dense / 8;
    f->n.locals = f->n.slots - f->n.dense;
    for (uint32_t k = 0; k < f->spec->n_sets; k++)
        if (hf_law(&f->spec->sets[k])->row) f->n.affine = HF_AFFINE_ROWS * f->n.slots;
}

/* A factor at 1 and -1. */
struct edges {
    double hi, lo;
};

static struct edges edges_of(const struct unit *unit, const struct entry *entry)
{
    const struct hf_modifier *m = entry->modifier;
    if (m->type == HF_NORMSYS) return (struct edges){m->hi, m->lo};
    const uint32_t bin = unit->first_bin; /* a histosys as factor: the only one */
    const double nominal = unit->sample->data[bin];
    if (!(nominal > 0.0)) return (struct edges){1.0, 1.0};
    return (struct edges){m->hi_data[bin] / nominal, m->lo_data[bin] / nominal};
}

/* Code 4 alone continues its polynomial's value at an edge. That is rounded like the largest coefficient: too
 * much for a far smaller factor, which needs the exponential itself. */
static bool is_steep(struct edges edges)
{
    const double most = fmax(fmax(edges.hi, edges.lo), 1.0), least = fmin(fmin(edges.hi, edges.lo), 1.0);
    return most > 1000.0 * least;
}

/* One code for all normsys entries, or each its own; the codes of histosys entries. */
static void choose_codes(struct freezer *f)
{
    f->normsys_code = f->options->normsys_code ? f->options->normsys_code : PARITAS_NORMSYS_CODE_4;
    bool first = true, steep = false;
    for (size_t u = 0; u < f->n.units; u++)
        for (uint32_t k = 0; k < f->units[u].n_entries; k++) {
            const struct entry *entry = &f->units[u].entries[k];
            if (entry->kind == ENTRY_NORMSYS) {
                f->normsys_code = first || f->normsys_code == entry->code ? entry->code : HF_OWN_CODES;
                first = false;
                steep = steep || is_steep(edges_of(&f->units[u], entry));
            }
            if (entry->kind == ENTRY_HISTOSYS) shift_code(f, entry);
        }
    if (f->normsys_code != PARITAS_NORMSYS_CODE_1 && (f->normsys_code != PARITAS_NORMSYS_CODE_4 || steep))
        f->normsys_code = HF_OWN_CODES;
    f->n.normsys_numbers = hf_factor_count(f->normsys_code);
    if (f->n_shift_codes == 0) { /* no entry reads it */
        const int code = f->options->histosys_code;
        const bool shifts = code && hf_factor_code(code) == PARITAS_NORMSYS_CODE_DEFAULT;
        f->shift_codes[f->n_shift_codes++] = (struct shift_code){
            shifts ? (uint32_t)(code - PARITAS_HISTOSYS_CODE_0) : HF_SHIFT_POLYNOMIAL, 1.0};
    }
    f->n.shifts = f->n.dense * f->n_shift_codes;
}

static void count_mcstat(struct freezer *f)
{
    struct hf_counts *n = &f->n;
    for (size_t c = 0; c < n->channels; c++) {
        if (f->channels[c].record.mcstat == 0) continue;
        n->mcstat_cells = 8 * n->cells;
        n->mcstat_bins = 8 * n->panels;
        n->mcstat_units = n->units;
    }
}

static void count_shapes(struct freezer *f)
{
    bool any = false, exponents = false;
    for (size_t u = 0; u < f->n.units; u++) {
        any = any || f->units[u].sample->shape.given;
        exponents = exponents || f->units[u].sample->shape.logarithmic;
    }
    f->n.exponents = exponents ? 8 * f->n.cells : 0;
    f->n.shapes = any ? f->n.units : 0;
    f->n.shape_cells = any ? 8 * f->n.cells : 0;
    f->n.shape_sums = any ? f->n.histosys_sums : 0;
}

static void count_widths(struct freezer *f)
{
    const struct hf_templates *templates = &f->model->templates;
    if (templates->n_widths || templates->vary_factors)
        f->n.widths = 2 * f->n.slots + (templates->vary_factors ? f->n.normsys_numbers * f->n.normsys : 0);
}

static void write_header(struct freezer *f)
{
    const struct hf_counts *n = &f->n;
    const paritas_model_options *options = f->options;
    HEADER(f, HF_DENSE) = (uint32_t)n->dense;
    HEADER(f, HF_BLOCKS) = (uint32_t)n->blocks;
    HEADER(f, HF_SLOTS) = (uint32_t)n->slots;
    HEADER(f, HF_CHANNELS) = (uint32_t)n->channels;
    HEADER(f, HF_PANELS) = (uint32_t)n->panels;
    HEADER(f, HF_CELLS) = (uint32_t)n->cells;
    HEADER(f, HF_UNITS) = (uint32_t)n->units;
    HEADER(f, HF_NORMSYS_ENTRIES) = (uint32_t)n->normsys;
    HEADER(f, HF_SCALARS) = (uint32_t)n->scalars;
    HEADER(f, HF_NORMSYS_CODE) = f->normsys_code;
    HEADER(f, HF_HISTOSYS_CODE) = f->shift_codes[0].code;
    HEADER(f, HF_SWITCHES) =
        (options->clip_sample ? HF_CLIP_SAMPLES : 0) | (options->clip_bin ? HF_CLIP_BINS : 0) |
        (f->model->templates.vary_factors ? HF_VARIED_FACTORS : 0) | (n->mcstat_units ? HF_HAS_MCSTAT : 0) |
        (f->spec->n_functions ? HF_FUNCTIONS : 0) | (f->spec->n_correlations ? HF_CORRELATED : 0) |
        (n->shapes > 0 ? HF_SHAPES : 0);
    HEADER(f, HF_DATA) = (uint32_t)(8 * n->panels + n->slots + n->varied + n->widths);
    for (size_t l = 0; l < n->sets; l++)
        if (f->sets[l].record.constraint == HF_POISSON) HEADER(f, HF_HAS_POISSON) = 1;
    HEADER(f, HF_HAS_AFFINE) = n->affine != 0;
}

/* Count of numbers of a unit's histosys entries, by entry and by blocks. */
static size_t shift_numbers(const hf_channel_record *ch, uint32_t entries)
{
    return (size_t)ch->panels * entries * 16;
}
static size_t block_numbers(const hf_channel_record *ch, uint32_t entries)
{
    return HF_SHIFT_PANEL((size_t)entries, ch->panels - 1) +
           HF_SHIFT_BLOCK(ROUND8((size_t)entries), ch->last_bins);
}

/* Numbers of histosys entries, behind the arrays. */
static size_t count_shifts(const struct freezer *f)
{
    size_t count = 0;
    for (size_t c = 0; c < f->n.channels; c++) {
        const hf_channel_record *record = &f->channels[c].record;
        for (uint32_t u = record->first_unit; u < record->first_unit + record->units; u++)
            count += shift_numbers(record, f->units[u].record.histosys_count) +
                     block_numbers(record, f->units[u].record.histosys_count);
    }
    return count;
}

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
    size_t n_ints = HF_HEADER, n_reals = 0;
    for (size_t k = 0; k < COUNT_OF(tables); k++) n_ints += tables[k].count;
    for (size_t k = 0; k < COUNT_OF(arrays); k++) n_reals += arrays[k].count;
    /* with the lists behind them the tables are two to three times as long */
    n_reals += count_shifts(f) + f->n_shift_codes + HF_SHAPE_NUMBERS * f->n.shapes +
               freeze_function_numbers(f) + freeze_correlation_numbers(f);
    if (!freeze_reserve(f, 3 * n_ints, n_reals)) return false;
    freeze_extend(f, &f->ints, HF_HEADER + freeze_function_words(f) + freeze_correlation_words(f));
    for (size_t k = 0; k < COUNT_OF(tables); k++) {
        const size_t at = freeze_extend(f, &f->ints, tables[k].count);
        if (f->ints.failed) return false;
        HEADER(f, tables[k].header) = (uint32_t)at;
    }
    for (size_t k = 0; k < COUNT_OF(arrays); k++) {
        const size_t at = freeze_extend_reals(f, arrays[k].count);
        if (f->reals.failed) return false;
        HEADER(f, arrays[k].header) = (uint32_t)at;
    }
    return true;
}

/* Places of the unit's dense blocks, ascending. */
static bool place_blocks(struct freezer *f, struct unit *unit)
{
    const size_t blocks = f->n.blocks;
    unit->place = arena_array(&f->arena, blocks, sizeof *unit->place);
    unit->scalar_place = arena_array(&f->arena, blocks, sizeof *unit->scalar_place);
    unit->has_normsys = arena_array(&f->arena, blocks, sizeof *unit->has_normsys);
    if (!unit->place || !unit->scalar_place || !unit->has_normsys) return false;
    for (uint32_t k = 0; k < unit->n_entries; k++) {
        const struct entry *entry = &unit->entries[k];
        const uint32_t block = f->dense_of[entry->parameter] / 8;
        (entry->kind == ENTRY_SCALAR ? unit->scalar_place : unit->place)[block] = 1;
        if (entry->kind == ENTRY_NORMSYS ||
            (entry->kind == ENTRY_HISTOSYS && unit->sample->shape.total > 0.0 &&
             !unit->sample->shape.logarithmic))
            unit->has_normsys[block] = true;
    }
    hf_unit_record *un = &unit->record;
    for (size_t b = 0; b < blocks; b++) {
        unit->place[b] = unit->place[b] ? 8 * un->row_size++ : NONE;
        unit->scalar_place[b] = unit->scalar_place[b] ? 8 * un->scalar_row_size++ : NONE;
    }
    un->row_size *= 8;
    un->scalar_row_size *= 8;
    return true;
}

/* Returns false without memory. */
static bool write_shape(struct freezer *f, const struct channel *ch, struct unit *unit)
{
    const struct hf_sample_shape *shape = &unit->sample->shape;
    hf_unit_record *un = &unit->record;
    un->shape = HF_NO_SHAPE;
    if (!shape->given || freeze_is_masked(f, ch)) return true;
    un->shape = (uint32_t)freeze_extend_reals(f, HF_SHAPE_NUMBERS);
    if (f->reals.failed) return false;
    double *numbers = f->reals.at + un->shape;
    numbers[HF_SHAPE_MINIMUM] = shape->minimum;
    numbers[HF_SHAPE_EDGE] = shape->edge;
    numbers[HF_SHAPE_TOTAL] = shape->total;
    numbers[HF_SHAPE_PADDING] = shape->padding;
    numbers[HF_SHAPE_LOGARITHMIC] = shape->logarithmic;
    return true;
}

static bool place_unit(struct freezer *f, const struct channel *ch, struct unit *unit)
{
    hf_unit_record *un = &unit->record;
    if (!place_blocks(f, unit) || !write_shape(f, ch, unit)) return false;
    un->row = (uint32_t)f->n.unit_rows;
    f->n.unit_rows += 2 * un->row_size + (un->scalar_count ? un->row_size + un->scalar_row_size : 0);
    const size_t numbers = block_numbers(&ch->record, un->histosys_count);
    un->histosys_blocks = (uint32_t)freeze_extend_reals(f, numbers);
    f->n.histosys_blocks += numbers;
    un->sets = (uint32_t)freeze_extend(f, &f->ints, un->set_count);
    if (f->reals.failed || f->ints.failed) return false;
    for (uint32_t k = 0; k < un->set_count; k++) f->ints.at[un->sets + k] = f->lists.at[unit->sets + k];
    return true;
}

static uint32_t bins_of(const struct channel *ch, uint32_t panel)
{
    return ch->n_bins - 8 * panel < 8 ? ch->n_bins - 8 * panel : 8;
}

static void write_factor(struct freezer *f, const struct unit *unit, const struct entry *entry)
{
    const struct edges edges = edges_of(unit, entry);
    hf_put_factor(f->normsys_code, entry->code, edges.hi, edges.lo, f->reals.at + HEADER(f, HF_R_NORMSYS),
                  entry->number);
}

static void write_shifts(struct freezer *f, const struct channel *ch, const struct unit *unit,
                         const struct entry *entry)
{
    const struct hf_modifier *m = entry->modifier;
    const hf_unit_record *un = &unit->record;
    const uint32_t k = entry->number - un->histosys, n = un->histosys_count;
    for (uint32_t b = 0; b < ch->n_bins; b++) {
        const uint32_t from = ch->first_bin + b, panel = b / 8, bins = bins_of(ch, panel);
        double *shift = f->reals.at + un->histosys_data + (size_t)(panel * n + k) * 16 + b % 8,
               *block = f->reals.at + un->histosys_blocks + HF_SHIFT_PANEL((size_t)n, panel) +
                        HF_SHIFT_BLOCK(k, bins) + 16 * (b % 8) + k % 8;
        const double nominal = unit->sample->data[from], hi = m->hi_data[from], lo = m->lo_data[from];
        if (unit->sample->shape.logarithmic)
            hf_put_shift(0.0, hf_log_ratio(hi, nominal), hf_log_ratio(lo, nominal), shift);
        else
            hf_put_shift(nominal, hi, lo, shift);
        shift[0] *= m->scale;
        block[0] = shift[0];
        block[8] = shift[8];
    }
}

static void write_entries(struct freezer *f, const struct channel *ch, const struct unit *unit)
{
    uint32_t *ints = f->ints.at;
    for (uint32_t k = 0; k < unit->n_entries; k++) {
        const struct entry *entry = &unit->entries[k];
        const uint32_t slot = f->dense_of[entry->parameter],
                       *places = entry->kind == ENTRY_SCALAR ? unit->scalar_place : unit->place;
        ints[HEADER(f, entry_tables[entry->kind].slot) + entry->number] = slot;
        ints[HEADER(f, entry_tables[entry->kind].place) + entry->number] = places[slot / 8] + slot % 8;
        if (entry->kind == ENTRY_NORMSYS) write_factor(f, unit, entry);
        if (entry->kind == ENTRY_HISTOSYS && !freeze_is_masked(f, ch)) write_shifts(f, ch, unit, entry);
    }
    /* padding repeats a slot of the unit, without effect: v = 1, u = 0 */
    uint32_t *slots = ints + HEADER(f, HF_I_NORMSYS_SLOT) + unit->record.normsys;
    for (uint32_t k = unit->record.normsys_count; k < unit->record.normsys_padded; k++) slots[k] = slots[0];
}

static void write_cells(struct freezer *f, const struct channel *ch, uint32_t u)
{
    const struct unit *unit = &f->units[u];
    const hf_unit_record *un = &unit->record;
    for (uint32_t panel = 0; panel < ch->record.panels; panel++) {
        const uint32_t cell = ch->record.first_cell + panel * ch->record.units + u - ch->record.first_unit,
                       first = 8 * panel, bins = bins_of(ch, panel);
        hf_cell_record *ce = RECORDS(f, cell, CELLS) + cell;
        *ce = (hf_cell_record){
            .unit = u,
            .bins = bins,
            .histosys_data = un->histosys_data + panel * un->histosys_count * 16,
            .histosys_blocks = un->histosys_blocks + HF_SHIFT_PANEL(un->histosys_count, panel),
            .varied = un->varied == HF_NOT_VARIED ? HF_NOT_VARIED
                                                  : un->varied + panel * HF_VARIED_PANEL(un->histosys_count)};
        for (uint32_t b = 0; b < bins && !freeze_is_masked(f, ch); b++) {
            const uint32_t bin = ch->first_bin + first + b;
            const double rate = unit->sample->data[bin];
            const bool lifted = hf_is_lifted(&unit->sample->shape, rate);
            f->reals.at[HEADER(f, HF_R_NOMINAL) + 8 * cell + b] = unit->sample->shape.logarithmic
                                                                      ? hf_log_of_rate(rate)
                                                                  : lifted ? 0.0
                                                                           : rate;
            if (lifted) f->reals.at[HEADER(f, HF_R_SHAPE_LIFT) + 8 * cell + b] = rate;
            if (unit->errors) f->reals.at[HEADER(f, HF_R_MCSTAT) + 8 * cell + b] = unit->errors[bin];
        }
    }
}

static void pair_scalars(struct freezer *f, uint32_t u)
{
    const hf_unit_record *un = &f->units[u].record;
    const uint32_t *slots = f->ints.at + HEADER(f, HF_I_SCALAR_SLOT) + un->scalars;
    for (uint32_t i = 0; i < un->scalar_count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint32_t p = slots[i] > slots[j] ? slots[i] : slots[j], q = slots[i] + slots[j] - p,
                           tile = 64 * (p / 8 * (p / 8 + 1) / 2 + q / 8);
            /* a diagonal tile is kept symmetric */
            for (int half = 0; half < (p / 8 == q / 8 ? 2 : 1); half++) {
                const uint32_t element = tile + (half ? 8 * (p % 8) + q % 8 : 8 * (q % 8) + p % 8);
                const size_t at = freeze_extend(f, &f->pairs, HF_WORDS(hf_pair_record));
                if (f->pairs.failed) return;
                *(hf_pair_record *)(f->pairs.at + at) =
                    (hf_pair_record){.unit = u, .first = i, .second = j, .element = element};
            }
        }
}

static bool write_units(struct freezer *f)
{
    for (size_t c = 0; c < f->n.channels; c++) { /* one kind after the other: kernels read one kind */
        const hf_channel_record *ch = &f->channels[c].record;
        for (uint32_t u = ch->first_unit; u < ch->first_unit + ch->units; u++) {
            hf_unit_record *un = &f->units[u].record;
            un->histosys_data = (uint32_t)freeze_extend_reals(f, shift_numbers(ch, un->histosys_count));
        }
    }
    for (size_t c = 0; c < f->n.channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t u = ch->record.first_unit; u < ch->record.first_unit + ch->record.units; u++) {
            if (!place_unit(f, ch, &f->units[u])) return false;
            write_entries(f, ch, &f->units[u]);
            write_cells(f, ch, u);
            if (!f->defers) pair_scalars(f, u);
        }
    }
    hf_unit_record *records = RECORDS(f, unit, UNITS);
    for (size_t u = 0; u < f->n.units; u++) records[u] = f->units[u].record;
    return !f->pairs.failed;
}

static bool has_one_plain_code(const struct freezer *f)
{
    return f->n_shift_codes == 1 && f->shift_codes[0].scale == 1.0;
}

static bool write_shift_codes(struct freezer *f)
{
    if (has_one_plain_code(f)) return true;
    const size_t words = HF_WORDS(hf_shift_codes_record),
                 record = freeze_extend(f, &f->ints, words + f->n_shift_codes),
                 place = freeze_extend(f, &f->ints, f->n.histosys + 8),
                 scales = freeze_extend_reals(f, f->n_shift_codes);
    if (f->ints.failed || f->reals.failed) return false;
    HEADER(f, HF_HISTOSYS_CODE) = (uint32_t)record;
    *(hf_shift_codes_record *)(f->ints.at + record) =
        (hf_shift_codes_record){f->n_shift_codes, (uint32_t)place, (uint32_t)scales};
    for (uint32_t k = 0; k < f->n_shift_codes; k++) {
        f->ints.at[record + words + k] = f->shift_codes[k].code;
        f->reals.at[scales + k] = f->shift_codes[k].scale;
    }
    for (size_t u = 0; u < f->n.units; u++)
        for (uint32_t k = 0; k < f->units[u].n_entries; k++) {
            const struct entry *entry = &f->units[u].entries[k];
            if (entry->kind != ENTRY_HISTOSYS) continue;
            const uint32_t code = shift_code(f, entry);
            f->ints.at[place + entry->number] = (uint32_t)f->n.dense * code + f->dense_of[entry->parameter];
        }
    return true;
}

/* A channel's addition to a tile. */
struct work {
    uint32_t tile;
    uint32_t left, right; /* first row in each block */
    uint32_t rows;
    uint32_t pairs, count; /* second-order row pairs: first in f->lists, number */
};

/* Neighbouring channels that use much the same blocks add their rows together, in place: a run. Each block
 * that any uses has rows of all, some of them zero. Runs with fewer rows list them one by one, with others.
 * (Loops by channel take twice the time: ends of short loops are mispredicted, tiles are loaded again.) */
#define RUN_LEAST 16
#define RUN_MOST 128 /* what the cache holds */
#define RUN_ZEROS 1.25

struct run {
    uint32_t first, end, rows; /* channels; rows of all */
    bool passes;               /* rows go to the tiles at once, and nobody reads them again */
    unsigned char *uses;       /* blocks */
};

static uint32_t rows_of(const struct channel *ch)
{
    const uint32_t coupled = ch->record.common ? 0 : ch->record.sets;
    return ch->n_bins * (1 + coupled + (ch->record.mcstat ? 1 : 0));
}

/* `uses`, of blocks: also those of the channel. Returns how many are in use. */
static uint32_t join_blocks(const struct freezer *f, const struct channel *ch, unsigned char *uses)
{
    const struct unit *units = &f->units[ch->record.first_unit];
    uint32_t count = 0;
    freeze_use_arguments(f, ch, uses);
    for (uint32_t b = 0; b < f->n.blocks; b++) {
        for (uint32_t u = 0; u < ch->record.units && !uses[b]; u++)
            uses[b] = units[u].place[b] != NONE || units[u].scalar_place[b] != NONE;
        count += uses[b];
    }
    return count;
}

static double tiles_of(uint32_t blocks)
{
    return 0.5 * blocks * (blocks + 1.0);
}

/* The run that begins with channel `first`; a single channel if it has few rows. `other`: scratch, an element
 * a block. */
static void find_run(const struct freezer *f, uint32_t first, struct run *run, unsigned char *other)
{
    const size_t blocks = f->n.blocks;
    memset(run->uses, 0, blocks);
    run->first = first;
    run->end = first + 1;
    run->rows = rows_of(&f->channels[first]);
    double work = run->rows * tiles_of(join_blocks(f, &f->channels[first], run->uses));
    for (; run->end < f->n.channels; run->end++) {
        const struct channel *next = &f->channels[run->end];
        const uint32_t rows = run->rows + rows_of(next);
        memset(other, 0, blocks);
        const double alone = rows_of(next) * tiles_of(join_blocks(f, next, other));
        memcpy(other, run->uses, blocks);
        const double joined = rows * tiles_of(join_blocks(f, next, other));
        if (rows > RUN_MOST || joined > RUN_ZEROS * (work + alone)) break;
        memcpy(run->uses, other, blocks);
        run->rows = rows;
        work += alone;
    }
    if (run->rows < RUN_LEAST) {
        memset(run->uses, 0, blocks);
        join_blocks(f, &f->channels[first], run->uses);
        run->end = first + 1;
        run->rows = rows_of(&f->channels[first]);
    }
    run->passes = run->rows >= RUN_LEAST;
    for (uint32_t c = first; c < run->end; c++) run->passes = run->passes && f->channels[c].record.sets == 0;
}

/* Elements of a run's rows. */
static size_t run_size(const struct freezer *f, const struct run *run)
{
    size_t used = 0;
    for (uint32_t b = 0; b < f->n.blocks; b++) used += run->uses[b];
    return 8 * used * run->rows;
}

/* The channel's blocks, ascending. `position`: scratch, an element a block. */
static bool list_channel_blocks(struct freezer *f, struct channel *ch, const struct run *run,
                                uint32_t *position)
{
    hf_channel_record *record = &ch->record;
    const struct unit *units = &f->units[record->first_unit];
    record->block_list = (uint32_t)f->ints.n;
    for (uint32_t b = 0; b < f->n.blocks; b++)
        if (run->uses[b]) {
            freeze_push(f, &f->ints, b);
            position[b] = record->blocks++;
        }
    if (f->ints.failed) return false;
    for (uint32_t u = 0; u < record->units; u++)
        for (uint32_t k = 0; k < units[u].n_entries; k++) {
            const struct entry *entry = &units[u].entries[k];
            const uint32_t slot = f->dense_of[entry->parameter];
            f->ints.at[HEADER(f, entry_tables[entry->kind].spot) + entry->number] =
                8 * position[slot / 8] + slot % 8;
        }
    return freeze_function_spots(f, ch, position);
}

static void push_pair(struct freezer *f, uint32_t left, uint32_t right)
{
    freeze_push(f, &f->lists, left);
    freeze_push(f, &f->lists, right);
}

/* Second-order row pairs in a tile: u x^T, x u^T, s r^T, r s^T. */
static void list_pairs(struct freezer *f, const struct unit *unit, uint32_t I, uint32_t J)
{
    const uint32_t size = unit->record.row_size, u = unit->record.row, x = u + size, r = x + size,
                   s = r + size, *place = unit->place, *scalar_place = unit->scalar_place;
    if (place[I] != NONE && place[J] != NONE) {
        if (unit->has_normsys[I]) push_pair(f, u + place[I], x + place[J]);
        if (unit->has_normsys[J]) push_pair(f, x + place[I], u + place[J]);
    }
    if (scalar_place[I] != NONE && place[J] != NONE) push_pair(f, s + scalar_place[I], r + place[J]);
    if (place[I] != NONE && scalar_place[J] != NONE) push_pair(f, r + place[I], s + scalar_place[J]);
}

/* What a channel's units have in a block, a byte each: rows of which pairs are made. A tile's units are found
 * eight at a time, since most units have no pair in it. */
enum { HAS_ROW = 1, HAS_NORMSYS = 2, HAS_SCALARS = 4 };
struct marks {
    unsigned char *own, *partners; /* by place of the block in the channel, then unit, padded to 8 units */
};

static void mark_units(const struct freezer *f, const struct channel *ch, const struct marks *marks)
{
    const hf_channel_record *record = &ch->record;
    const uint32_t *blocks = f->ints.at + record->block_list, stride = ROUND8(record->units);
    memset(marks->own, 0, (size_t)record->blocks * stride);
    memset(marks->partners, 0, (size_t)record->blocks * stride);
    for (uint32_t u = 0; u < record->units; u++) {
        const struct unit *unit = &f->units[record->first_unit + u];
        for (uint32_t i = 0; i < record->blocks; i++) {
            const uint32_t block = blocks[i];
            const int own = (unit->place[block] != NONE ? HAS_ROW : 0) |
                            (unit->has_normsys[block] ? HAS_NORMSYS : 0) |
                            (unit->scalar_place[block] != NONE ? HAS_SCALARS : 0);
            marks->own[(size_t)i * stride + u] = (unsigned char)own;
            marks->partners[(size_t)i * stride + u] =
                (unsigned char)((own & HAS_ROW ? HAS_NORMSYS | HAS_SCALARS : 0) |
                                (own & (HAS_NORMSYS | HAS_SCALARS) ? HAS_ROW : 0));
        }
    }
}

/* Lists the elements of the tile of the channel's blocks i and j. */
static void list_tile(struct freezer *f, const struct channel *ch, const struct marks *marks, uint32_t i,
                      uint32_t j)
{
    const hf_channel_record *record = &ch->record;
    const uint32_t *blocks = f->ints.at + record->block_list, stride = ROUND8(record->units);
    for (uint32_t u = 0; u < record->units; u += 8) {
        uint64_t pairs = load_bytes((const char *)marks->own + (size_t)j * stride + u) &
                         load_bytes((const char *)marks->partners + (size_t)i * stride + u);
        while (pairs != 0) {
            const int byte = __builtin_ctzll(pairs) / 8;
            pairs &= ~((uint64_t)255 << 8 * byte);
            list_pairs(f, &f->units[record->first_unit + u + (uint32_t)byte], blocks[i], blocks[j]);
        }
    }
}

static bool list_works(struct freezer *f, const struct channel *ch, const struct marks *marks)
{
    const hf_channel_record *record = &ch->record;
    const uint32_t *blocks = f->ints.at + record->block_list,
                   n_rows = record->row_stride / 8 < RUN_LEAST ? record->row_stride / 8 : 0;
    mark_units(f, ch, marks);
    for (uint32_t I = 0; I < record->blocks; I++)
        for (uint32_t J = 0; J <= I; J++) {
            const size_t first = f->lists.n, at = freeze_extend(f, &f->works, HF_WORDS(struct work));
            list_tile(f, ch, marks, I, J);
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

/* Pads the last panel, or all of a masked channel. */
static void write_panels(struct freezer *f, uint32_t c)
{
    const hf_channel_record *record = &f->channels[c].record;
    hf_panel_record *panels = RECORDS(f, panel, PANELS) + record->first_panel;
    double *lambda = f->reals.at + HEADER(f, HF_R_LAMBDA0) + 8 * record->first_panel;
    for (uint32_t p = 0; p < record->panels; p++) {
        const uint32_t bins = p + 1 < record->panels ? 8 : record->last_bins;
        panels[p] = (hf_panel_record){.channel = c, .index = p, .bins = bins};
        for (uint32_t b = freeze_is_masked(f, &f->channels[c]) ? 0 : bins; b < 8; b++)
            lambda[8 * p + b] = 1.0;
    }
}

/* Also places in ROWS, and the most that a channel needs. `rows`: the run's; `before`: how many of them are
 * earlier channels'. */
static bool place_channel(struct freezer *f, uint32_t c, const struct run *run, size_t rows, uint32_t before,
                          uint32_t *position, const struct marks *marks)
{
    struct hf_counts *n = &f->n;
    struct channel *ch = &f->channels[c];
    hf_channel_record *record = &ch->record;
    if (!list_channel_blocks(f, ch, run, position)) return false;
    record->run_rows = (uint32_t)rows;
    record->rows = (uint32_t)rows + 8 * before;
    record->row_stride = 8 * run->rows;
    record->run = run->rows >= RUN_LEAST && c + 1 == run->end ? run->rows : 0;
    record->local_l = (uint32_t)n->local_l;
    n->local_l += (size_t)record->panels * 4 * record->sets * (record->sets ? record->sets - 1 : 0);
    if (!f->defers && !list_works(f, ch, marks)) return false;
    write_panels(f, c);
    const size_t more = record->mcstat ? 1 : 0,
                 jacobian = 64 * (size_t)record->blocks * (1 + record->sets + more),
                 cell_temp = 24 * (size_t)record->units + 16 + 8 * more;
    if (jacobian > n->jacobian) n->jacobian = jacobian;
    if (cell_temp > n->cell_temp) n->cell_temp = cell_temp;
    return true;
}

static bool place_channels(struct freezer *f)
{
    struct hf_counts *n = &f->n;
    uint32_t *position = arena_array(&f->arena, n->blocks, sizeof *position);
    struct run run = {.uses = arena_array(&f->arena, n->blocks, 1)};
    unsigned char *other = arena_array(&f->arena, n->blocks, 1);
    size_t most = 0;
    for (uint32_t c = 0; c < n->channels; c++)
        if (f->channels[c].record.units > most) most = f->channels[c].record.units;
    const struct marks marks = {arena_array(&f->arena, n->blocks, ROUND8(most)),
                                arena_array(&f->arena, n->blocks, ROUND8(most))};
    if (!position || !run.uses || !other || !marks.own || !marks.partners) return false;
    /* runs that pass share the first place, which stays in the cache */
    for (uint32_t c = 0; c < n->channels; c = run.end) {
        find_run(f, c, &run, other);
        if (run.passes && run_size(f, &run) > n->rows) n->rows = run_size(f, &run);
    }
    n->jacobian = 8;
    for (uint32_t c = 0; c < n->channels; c = run.end) {
        find_run(f, c, &run, other);
        for (uint32_t k = c, before = 0; k < run.end; before += rows_of(&f->channels[k++]))
            if (!place_channel(f, k, &run, run.passes ? 0 : n->rows, before, position, &marks)) return false;
        if (!run.passes) n->rows += run_size(f, &run);
        if (n->rows > UINT32_MAX) return false;
    }
    return true;
}

/* Counting sort by tile, then channel. `first`: tiles + 2 zeros; first[t] becomes the first work of tile
 * t. */
static void sort_works(const struct work *works, size_t n, size_t tiles, uint32_t *first, uint32_t *order)
{
    for (size_t k = 0; k < n; k++) first[works[k].tile + 2]++;
    for (size_t t = 0; t <= tiles; t++) first[t + 1] += first[t];
    for (size_t k = 0; k < n; k++) order[first[works[k].tile + 1]++] = (uint32_t)k;
}

/* First-order pairs of channels with few rows, then second-order pairs. */
static bool write_tile(struct freezer *f, const struct work *works, const uint32_t *order, size_t n)
{
    const size_t scaled = f->n.unit_rows, kept = scaled + f->n.rows, list = freeze_extend(f, &f->ints, 2);
    size_t first_order = 0, second_order = 0;
    for (size_t k = 0; k < n; k++) {
        const struct work *work = &works[order[k]];
        const size_t at = freeze_extend(f, &f->ints, 2 * (size_t)work->rows);
        if (f->ints.failed) return false;
        for (uint32_t i = 0; i < work->rows; i++) {
            f->ints.at[at + 2 * i] = (uint32_t)(scaled + work->left + 8 * i);
            f->ints.at[at + 2 * i + 1] = (uint32_t)(kept + work->right + 8 * i);
        }
        first_order += work->rows;
    }
    for (size_t k = 0; k < n; k++) {
        const struct work *work = &works[order[k]];
        const size_t at = freeze_extend(f, &f->ints, 2 * (size_t)work->count);
        if (f->ints.failed) return false;
        if (work->count > 0)
            memcpy(f->ints.at + at, f->lists.at + work->pairs, 2 * work->count * sizeof *f->ints.at);
        second_order += work->count;
    }
    if (f->ints.failed) return false;
    f->ints.at[list] = (uint32_t)first_order;
    f->ints.at[list + 1] = (uint32_t)(first_order + second_order);
    return true;
}

static bool write_works(struct freezer *f)
{
    if (f->defers) return f->n.unit_rows + 2 * f->n.rows <= UINT32_MAX;
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
    if (!make_shift_codes(f)) return false;
    choose_codes(f);
    count_mcstat(f);
    count_shapes(f);
    count_widths(f);
    if (!make_tables(f)) return false;
    if (!freeze_find_functions(f)) return false;
    write_header(f);
    f->reals.at[HEADER(f, HF_R_CLIPS)] = f->options->clip_sample_at;
    f->reals.at[HEADER(f, HF_R_CLIPS) + 1] = f->options->clip_bin_at;
    if (f->n.mcstat_units)
        f->reals.at[HEADER(f, HF_R_CLIPS) + 2] =
            f->options->clip_bin ? fmax(f->options->clip_bin_at, HF_MCSTAT_LEAST) : HF_MCSTAT_LEAST;
    hf_set_record *sets = RECORDS(f, set, SETS);
    for (size_t l = 0; l < f->n.sets; l++) sets[l] = f->sets[l].record;
    return write_units(f) && write_shift_codes(f) && freeze_functions(f) && freeze_correlations(f) &&
           place_channels(f) && write_works(f) && write_pairs(f);
}
