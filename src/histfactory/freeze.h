/* freeze.h: the model under construction.
 *
 *   hf_spec ──► freeze_layout ──► channels, units, local sets; an order of the parameters
 *                 ──► freeze_tables ──► the two tables of kernels/histfactory/histfactory_arrays.h
 *                       ──► hf_freeze ──► slab layout, maps between the user's order and the kernels' */
#pragma once

#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_frozen.h"

/* `failed` is sticky: check once at the end. */
struct ints { /* grows */
    uint32_t *at;
    size_t n, capacity;
    bool failed;
};
struct reals { /* made once, aligned: each pack of coefficients lies within a cache line */
    double *at;
    size_t n, capacity;
    bool failed;
};

/* A modifier's action on a unit through a dense parameter; kinds as in the kernels' tables. */
enum entry_kind { ENTRY_NORMSYS, ENTRY_HISTOSYS, ENTRY_SCALAR, ENTRY_KINDS };
struct entry {
    const struct hf_modifier *modifier;
    enum entry_kind kind;
    paritas_normsys_code code; /* of a normsys: its modifier's, or that of a histosys as factor */
    uint32_t parameter;
    uint32_t number; /* within this kind */
};

/* One sample of one (possibly cut) channel. */
struct unit {
    const struct hf_sample *sample;
    uint32_t first_bin;    /* of the sample's data; not 0 in a cut channel */
    struct entry *entries; /* without ineffective ones */
    uint32_t n_entries;
    uint32_t sets;        /* place in `lists`: local sets, by number in the channel */
    const double *errors; /* of mcstat, by bin of the sample; NULL: none */
    /* per dense block: place in the unit's row, in its scalars' row; NONE */
    uint32_t *place, *scalar_place;
    bool *has_normsys; /* per dense block */
    hf_unit_record record;
};

struct local_set {
    uint32_t set; /* in the specification */
    uint32_t first;
    uint32_t channel;
    hf_set_record record;
};

struct channel {
    const struct hf_channel *source;
    uint32_t source_index, first_bin, n_bins;
    hf_channel_record record;
};

/* Counts, as in histfactory_arrays.h. */
struct hf_counts {
    size_t channels, panels, cells, units, sets;
    size_t normsys, histosys, scalars;   /* entries; normsys padded to 8 a unit */
    size_t dense, blocks, slots, locals; /* slots = dense + locals, all padded; blocks = dense / 8 */
    size_t normsys_numbers, shifts;      /* a normsys entry; of HS .. HT2 */
    size_t varied, widths; /* behind the auxiliary data of a data row; widths: with coefficients */
    size_t affine;         /* rows of AFFINE times slots; 0: no such constraint */
    size_t mcstat_cells, mcstat_bins, mcstat_units; /* elements; all 0 without mcstat */
    size_t histosys_sums;                           /* histosys entries, padded to 8 a unit */
    size_t shape_cells;                             /* elements of SHAPE_LIFT */
    size_t shapes, shape_sums; /* units, histosys sums, of a model with a shape; else 0 */
    size_t exponents;          /* bases of a model with a logarithmic shape; else 0 */
    size_t histosys_blocks;    /* numbers that the elem table has for the second time */
    size_t unit_rows, rows;    /* elements of second-order rows, of kept rows */
    size_t jacobian, cell_temp, local_l, minimiser;
    size_t function_stack; /* most elements that a function needs */
};

/* How a histosys is interpolated. */
struct shift_code {
    uint32_t code; /* hf_shift_code */
    double scale;
};

struct freezer {
    paritas_context *context;
    const struct hf_spec *spec;
    const paritas_model_options *options;
    struct hf_model *model;
    struct arena arena; /* scratch */
    bool defers;        /* leaves out what grows with the square of the parameters */
    struct hf_counts n;
    struct channel *channels;
    struct unit *units;
    struct local_set *sets;
    unsigned char *shared_shape;    /* per set: several channels share its factors */
    unsigned char *local;           /* per parameter and function: acts on one bin */
    uint32_t *dense_of;             /* per parameter and function: dense slot, or NONE */
    bool *acts;                     /* per channel and function: does it act there? NULL: no functions */
    struct ints ints;               /* the u32 table */
    struct reals reals;             /* the elem table */
    struct ints lists;              /* scratch */
    struct ints pairs;              /* pairs of scalars */
    struct ints works;              /* see freeze_tables.c */
    uint32_t n_templates;           /* in a data row */
    uint32_t normsys_code;          /* 1, 4, HF_OWN_CODES */
    struct shift_code *shift_codes; /* of histosys entries: a list without repetition */
    uint32_t n_shift_codes;
};

#define NONE UINT32_MAX
#define HEADER(f, name) ((f)->ints.at[name])
#define RECORDS(f, type, name) ((hf_##type##_record *)((f)->ints.at + HEADER(f, HF_I_##name)))
#define ROUND8(n) (((n) + 7u) & ~7u)

/* Are the channel's bins padding: rates of 1 that nothing changes? */
static inline bool freeze_is_masked(const struct freezer *f, const struct channel *ch)
{
    return f->model->whole && ch->source->masked;
}

void freeze_push(struct freezer *f, struct ints *table, size_t value);
/* Append zeros; return their beginning. */
size_t freeze_extend(struct freezer *f, struct ints *table, size_t count);
size_t freeze_extend_reals(struct freezer *f, size_t count);
/* Makes both tables: room for about `ints` and exactly `reals`. False: out of memory. */
bool freeze_reserve(struct freezer *f, size_t ints, size_t reals);
/* Returns false without memory. */
bool freeze_layout(struct freezer *f);
/* Numbers the slots of dense and of local parameters. */
void freeze_number_slots(struct freezer *f);
/* Writes all tables but the slab layout. Returns false without memory. */
bool freeze_tables(struct freezer *f);

/* Functions of parameters (freeze_functions.c). Their record's words follow the header; numbers of their
 * expressions stand behind the arrays. */
size_t freeze_function_words(const struct freezer *f);
size_t freeze_function_numbers(const struct freezer *f);
/* Finds where they act. False: out of memory. */
bool freeze_find_functions(struct freezer *f);
/* Marks blocks of arguments of functions that act in the channel. */
void freeze_use_arguments(const struct freezer *f, const struct channel *ch, unsigned char *uses);
/* Writes all but spots and the slab's offsets. False: out of memory. */
bool freeze_functions(struct freezer *f);
/* Lists those of the channel; `position`: of dense blocks in it. False: out of memory. */
bool freeze_function_spots(struct freezer *f, const struct channel *ch, const uint32_t *position);
/* Places them in the slab; returns its end. */
size_t freeze_place_functions(struct freezer *f, size_t at);

/* Correlations (freeze_correlations.c). Their record's words follow those of functions; their matrices stand
 * behind the numbers of functions. */
size_t freeze_correlation_words(const struct freezer *f);
size_t freeze_correlation_numbers(const struct freezer *f);
/* Writes them all. False: out of memory. */
bool freeze_correlations(struct freezer *f);

/* Marks in the spec what templates replace, lists and counts them. NOT_FOUND or INVALID_ARGUMENT, with index
 * and reason. */
paritas_status freeze_find_templates(struct freezer *f);
/* Runs before the tables are made. False: out of memory. */
bool freeze_list_widths(struct freezer *f);
/* Runs when the tables are made. False: out of memory. */
bool freeze_templates(struct freezer *f);

/* Fills `model`, which has its spec, options, allocator and an open arena. `may_defer`: a large one goes
 * without the tables of second derivatives, and is marked. */
paritas_status hf_freeze(paritas_context *context, const paritas_model_options *options, bool may_defer,
                         struct hf_model *model);
