/* freeze.h: what the parts of freezing share: the model under construction.
 *
 *   hf_spec ──► freeze_layout ──► channels, units, local sets; an order of the parameters
 *                 ──► freeze_tables ──► the two tables of kernels/histfactory/histfactory_arrays.h
 *                       ──► hf_freeze ──► the slab's layout, maps between a user's order and the kernels'
 */
#ifndef PARITAS_HISTFACTORY_FREEZE_H
#define PARITAS_HISTFACTORY_FREEZE_H

#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_model.h"

/* Growing tables; `failed` is sticky, so that one check at the end suffices. */
struct ints {
    uint32_t *at;
    size_t n, capacity;
    bool failed;
};
struct reals {
    double *at;
    size_t n, capacity;
    bool failed;
};

/* What a modifier does to a unit through a dense parameter. Kinds as in the kernels' tables. */
enum entry_kind { ENTRY_NORMSYS, ENTRY_HISTOSYS, ENTRY_SCALAR, ENTRY_KINDS };
struct entry {
    const struct hf_modifier *modifier;
    enum entry_kind kind;
    uint32_t parameter;
    uint32_t number; /* among the entries of this kind */
};

/* A unit while freezing: one sample of one (possibly cut) channel. */
struct unit {
    const struct hf_sample *sample;
    uint32_t first_bin;    /* in the sample's data: not 0 where the channel was cut */
    struct entry *entries; /* those that change something */
    uint32_t n_entries;
    uint32_t sets; /* in `lists`: numbers of its local sets within the channel */
    /* per dense block: where its slots lie in the unit's row, in its scalars' row; NONE */
    uint32_t *place, *scalar_place;
    bool *has_normsys; /* per dense block */
    hf_unit_record record;
};

/* A local set of a channel. */
struct local_set {
    uint32_t set;   /* of the specification */
    uint32_t first; /* its element for bin 0 */
    uint32_t channel;
    hf_set_record record;
};

struct channel {
    const struct hf_channel *source;
    uint32_t source_index, first_bin, n_bins;
    hf_channel_record record;
};

/* How much there is of everything: what the lists of histfactory_arrays.h count by. */
struct hf_counts {
    size_t channels, panels, cells, units, sets;
    size_t normsys, histosys, scalars;   /* entries; those of normsys padded to 8 a unit */
    size_t dense, blocks, slots, locals; /* slots = dense + locals, all padded; blocks = dense / 8 */
    size_t varied, widths;               /* numbers of a data row behind the auxiliary data */
    size_t histosys_sums;                /* histosys entries, padded to 8 a unit */
    size_t unit_rows, rows;              /* elements of the units' second-order rows, of the kept rows */
    size_t jacobian, cell_temp, local_l, minimiser;
};

struct freezer {
    paritas_context *context;
    const struct hf_spec *spec;
    const paritas_model_options *options;
    struct hf_model *model;
    struct arena arena; /* scratch */
    struct hf_counts n;
    struct channel *channels;
    struct unit *units;
    struct local_set *sets;
    unsigned char *shared_shape; /* per set of the specification: several channels use the same factors */
    unsigned char *local;        /* per parameter: acts on one bin */
    uint32_t *dense_of;          /* per parameter: dense slot, or NONE */
    struct ints ints;            /* the u32 table */
    struct reals reals;          /* the elem table */
    struct ints lists;           /* scratch */
    struct ints pairs;           /* records of pairs of scalars */
    struct ints works;           /* what each channel adds to each tile, see freeze_tables.c */
    uint32_t n_templates;        /* numbers that a user's data row has for them */
};

#define NONE UINT32_MAX
#define HEADER(f, name) ((f)->ints.at[name])
#define ROUND8(n) (((n) + 7u) & ~7u)

void freeze_push(struct freezer *f, struct ints *table, size_t value);
/* Append zeros; return where they begin. */
size_t freeze_extend(struct freezer *f, struct ints *table, size_t count);
size_t freeze_extend_reals(struct freezer *f, size_t count);
/* freeze_layout.c: local parameters, channels, units, cells; the order of dense slots. False: out of
 * memory. */
bool freeze_layout(struct freezer *f);
/* freeze_tables.c: the two tables, but for the slab's layout. False: out of memory. */
bool freeze_tables(struct freezer *f);

#endif
