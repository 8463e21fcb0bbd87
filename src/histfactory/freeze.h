/* freeze.h: what the parts of freezing share: the model under construction. */
#ifndef PARITAS_HISTFACTORY_FREEZE_H
#define PARITAS_HISTFACTORY_FREEZE_H

#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_model.h"

/* A growing table; `failed` is sticky, so that one check at the end suffices. */
struct ints {
    paritas_context *context;
    uint32_t *at;
    size_t n, capacity;
    bool failed;
};
struct reals {
    paritas_context *context;
    double *at;
    size_t n, capacity;
    bool failed;
};

/* A unit while freezing: one sample of one (possibly cut) channel. */
struct unit {
    const struct hf_sample *sample;
    uint32_t first_bin; /* in the sample's data: not 0 where the channel was cut */
    uint32_t normsys, normsys_count, normsys_padded;
    uint32_t histosys, histosys_count, scalars, scalar_count, sets, set_count;
    /* blocks: list of dense blocks (offset in lists) */
    uint32_t row, row_size, scalar_row_size, sums, blocks, scalar_blocks;
};

/* A local set of a channel: `set` of the specification, its element for bin 0. */
struct local_set {
    uint32_t set, first, channel, slot;
};

struct channel {
    const struct hf_channel *source;
    uint32_t source_index, first_bin, n_bins, panels, first_panel, first_unit, first_cell, first_set, n_sets,
        common;
};

struct freezer {
    paritas_context *context;
    const struct hf_spec *spec;
    const paritas_model_options *options;
    struct hf_model *model;
    struct arena arena; /* scratch */
    struct channel *channels;
    struct unit *units;
    struct local_set *sets;
    uint32_t n_channels, n_units, n_sets, n_panels, n_cells;
    unsigned char *shared_shape;    /* per set of the specification: a shapefactor in several channels */
    unsigned char *local;           /* per parameter */
    uint32_t *dense_of;             /* per parameter: dense slot, or ~0 */
    uint32_t n_dense, dense;        /* in use, padded */
    struct ints ints, lists, pairs; /* the u32 table; scratch lists; pairs of scalars */
    struct ints works;              /* what each channel adds to each tile, see freeze_tables.c */
    uint32_t unit_rows, rows;       /* elements so far of the units' second-order rows, of the kept rows */
    uint32_t histosys_sums;         /* and of the sums of histosys entries */
    uint32_t varied;                /* and of the numbers of varied units in a data row */
    uint32_t n_templates;           /* numbers that a user's data row has for them */
    struct reals reals;
};

#define NONE 0xffffffffu
#define HEADER(f, name) ((f)->ints.at[name])
#define ROUND8(n) (((n) + 7u) & ~7u)

/* Varied numbers of a kernel's data row. */
static inline uint32_t freeze_varied(const struct freezer *f)
{
    return f->varied + (f->model->templates.n_widths ? 2 * HEADER(f, HF_SLOTS) : 0);
}

void freeze_push(struct ints *table, size_t value);
size_t freeze_extend(struct ints *table, size_t count);        /* appends zeros; returns where they begin */
size_t freeze_extend_reals(struct reals *table, size_t count); /* likewise */
/* Does this modifier's parameter act on single bins? */
bool freeze_is_local(const struct freezer *f, const struct hf_modifier *m);
/* Does it change anything? */
bool freeze_acts(const struct hf_modifier *m, const struct hf_sample *sample, uint32_t n_bins);

/* freeze_layout.c: local parameters, channels, units, cells; the order of dense slots. False: out of
 * memory. */
bool freeze_layout(struct freezer *f);
/* freeze_tables.c: the records of units, cells, channels, panels and local sets. */
bool freeze_tables(struct freezer *f);

#endif
