/* histfactory_arrays.h: the frozen HistFactory model, shared by host and kernels: two flat tables, no
 * pointers.
 *
 * Parameters in internal order ("slots"):
 *   dense slots 0 .. D-1   act on several bins (alphas, normalisations, luminosity). D is a multiple of 8;
 *                          parameters that act together stand together.
 *   local slots D .. N-1   act on one bin (gammas): for each channel, for each local set of it, one slot a
 *                          bin, padded to panels of 8.
 * Padding slots are never free.
 *
 * Bins stand in panels of 8; padding bins have n = lambda = 1 and contribute nothing. A unit is a (channel,
 * sample), a cell a (panel, unit): 8 rates. An array with a number a bin is a panel array: 8 elements a
 * panel.
 *
 *   rate of unit u in bin b = (nominal + sum over histosys of S*s(a) + A*t(a))    base
 *                             * product over normsys of v(a)                       F
 *                             * product over scalar factors                        Phi
 *                             * product over local parameters                      Gamma
 *
 * Some of these numbers may be the job's own ("varied"). They follow the auxiliary data in its data row, and
 * AUX in the slab. There a varied unit has all nominal rates and shifts, panel by panel: 8 rates, then shifts
 * as in the table. Where such rates decide a width, the row has all precisions and all tau.
 *
 * u32 table: a header (enum hf_header), then records and lists. elem table: nominal rates, coefficients. The
 * slab is one fit's working memory, in `real`; the host lays it out. A new table, array or vector is one line
 * in a list below: its name and its number of elements (members of struct hf_counts,
 * src/histfactory/freeze.h). A new field of a record is one line in its struct. */
#ifndef PARITAS_HISTFACTORY_ARRAYS_H
#define PARITAS_HISTFACTORY_ARRAYS_H

/* Tables in the u32 table, behind the header; HF_I_name is where one begins. */
#define HF_INT_TABLES(TABLE_OF)                                                                               \
    TABLE_OF(CHANNELS, n->channels *HF_WORDS(hf_channel_record))                                              \
    TABLE_OF(PANELS, n->panels *HF_WORDS(hf_panel_record))                                                    \
    TABLE_OF(CELLS, n->cells *HF_WORDS(hf_cell_record))                                                       \
    TABLE_OF(UNITS, n->units *HF_WORDS(hf_unit_record))                                                       \
    TABLE_OF(SETS, n->sets *HF_WORDS(hf_set_record))                                                          \
    /* of each entry: its dense slot; its place in the unit's row; its spot among the slots of the channel */ \
    TABLE_OF(NORMSYS_SLOT, n->normsys)                                                                        \
    TABLE_OF(NORMSYS_PLACE, n->normsys)                                                                       \
    TABLE_OF(NORMSYS_SPOT, n->normsys)                                                                        \
    TABLE_OF(HISTOSYS_SLOT, n->histosys + 8)                                                                  \
    TABLE_OF(HISTOSYS_PLACE, n->histosys)                                                                     \
    TABLE_OF(HISTOSYS_SPOT, n->histosys)                                                                      \
    TABLE_OF(SCALAR_SLOT, n->scalars)                                                                         \
    TABLE_OF(SCALAR_PLACE, n->scalars)                                                                        \
    TABLE_OF(SCALAR_SPOT, n->scalars)

/* Arrays in the elem table; HF_R_name is where one begins. */
#define HF_REAL_ARRAYS(ARRAY)                                            \
    ARRAY(NOMINAL, 8 * n->cells)                                         \
    ARRAY(LAMBDA0, 8 * n->panels)  /* 0, or 1 in padding bins */         \
    ARRAY(NORMSYS, 8 * n->normsys) /* 8 arrays: c1..c6, ln hi, ln lo */  \
    ARRAY(PRECISION, n->slots)     /* 1/sigma^2, 0 where not Gaussian */ \
    ARRAY(TAU, n->slots)           /* 0 where not Poisson */             \
    ARRAY(CLIPS, 8)                /* least rate of a sample, of a bin */

/* Vectors in the slab; HF_S_name is where one begins. freeze.c places the groups in another order. Neither
 * order may change: stored toys are known by a hash of the tables. */
#define HF_SLAB_MAIN(VECTOR)                                                                                \
    VECTOR(X, n->slots)      /* the point that the functions evaluate */                                    \
    VECTOR(ACTIVE, n->slots) /* 1 where free and not held at a bound, else 0 */                             \
    VECTOR(MAIN, 8 * n->panels)                                                                             \
    VECTOR(AUX, n->slots)     /* directly behind MAIN */                                                    \
    VECTOR(VARIED, n->varied) /* directly behind AUX */                                                     \
    VECTOR(WIDTHS, n->widths) /* directly behind VARIED: precision, tau; 0: they are in the elem table */   \
    VECTOR(GRADIENT, n->slots)                                                                              \
    VECTOR(HS, n->dense) /* s(a), t(a), t'(a), t''(a) of the histosys interpolation */                      \
    VECTOR(HT, n->dense)                                                                                    \
    VECTOR(HT1, n->dense)                                                                                   \
    VECTOR(HT2, n->dense)                                                                                   \
    VECTOR(NU, n->normsys) /* of each factor v: v'/v */                                                     \
    VECTOR(NQ, n->normsys) /* v''/v - (v'/v)^2 */                                                           \
    VECTOR(F, n->units)                                                                                     \
    VECTOR(PHI, n->units)                                                                                   \
    VECTOR(PHI_OTHERS, n->scalars) /* product of the unit's other scalars */                                \
    VECTOR(BASE, 8 * n->cells)                                                                              \
    VECTOR(XE, 8 * n->cells) /* rate; without Gamma in channels with a common local set */                  \
    VECTOR(XS, 8 * n->cells) /* rate without Phi (and without Gamma, likewise) */                           \
    VECTOR(XG, 8 * n->cells) /* derivative of the rate by the base */                                       \
    VECTOR(LAMBDA, 8 * n->panels)                                                                           \
    VECTOR(W, 8 * n->panels) /* 1 - n/lambda */                                                             \
    VECTOR(DEVIANCE, 8 * n->panels)                                                                         \
    VECTOR(PENALTY, n->slots)                                                                               \
    VECTOR(COMMON, 8 * n->panels)     /* sum of XE in channels with a common local set */                   \
    VECTOR(CELL_WEIGHT, 8 * n->cells) /* W times the local parameters of the rate, 0 where it is clipped */ \
    VECTOR(T, n->units)               /* sum over bins of W times the rate without Phi */                   \
    VECTOR(HSUM, n->histosys_sums)    /* of a histosys: sum over bins of W times the rate's derivative */   \
    /* a value and a gradient need what stands above */                                                     \
    VECTOR(TILES, 4 * n->dense * (n->blocks + 1))                                                           \
    VECTOR(RDIAG, n->dense) /* 1 / diagonal of the factor */                                                \
    VECTOR(DIAGONAL, n->dense)                                                                              \
    VECTOR(SCALE, n->dense)        /* sums of squares behind the diagonal */                                \
    VECTOR(BENT, n->histosys_sums) /* as HSUM, of W times A instead */
#define HF_SLAB_ROWS(VECTOR)                                                                          \
    VECTOR(UNIT_ROWS, n->unit_rows) /* second-order rows of all units; behind them SCALED and ROWS */ \
    VECTOR(SCALED, n->rows)         /* ROWS times their weights */                                    \
    VECTOR(ROWS, n->rows)           /* kept rows of all channels */
#define HF_SLAB_PANEL(VECTOR)                                                          \
    VECTOR(JACOBIAN, n->jacobian) /* of one panel: (1 + sets) * channel blocks * 64 */ \
    VECTOR(CELL_TEMP, n->cell_temp)
#define HF_SLAB_LOCALS(VECTOR)                                                      \
    VECTOR(LOCAL_D, n->locals) /* (index by slot - D) pivots of the local blocks */ \
    VECTOR(LOCAL_C, n->locals) /* (likewise) factor from kept row to coupling row */
#define HF_SLAB_FACTORS(VECTOR) VECTOR(LOCAL_L, n->local_l) /* a channel L(L-1)/2 panel arrays, L sets */
#define HF_SLAB_MINIMISER(VECTOR)                                          \
    VECTOR(MINIMISER, n->minimiser) /* working vectors of the minimiser */ \
    VECTOR(SCALARS_OF_FIT, 8)       /* enum hf_scalar_of_fit */

#define HF_SLAB_VECTORS(VECTOR) \
    HF_SLAB_MAIN(VECTOR)        \
    HF_SLAB_ROWS(VECTOR)        \
    HF_SLAB_PANEL(VECTOR) HF_SLAB_LOCALS(VECTOR) HF_SLAB_FACTORS(VECTOR) HF_SLAB_MINIMISER(VECTOR)

/* Header of the u32 table. */
#define HF_INT_TABLE(name, count) HF_I_##name,
#define HF_REAL_ARRAY(name, count) HF_R_##name,
#define HF_SLAB_VECTOR(name, count) HF_S_##name,
enum hf_header {
    HF_DENSE,  /* D */
    HF_BLOCKS, /* D / 8 */
    HF_SLOTS,  /* N */
    HF_CHANNELS,
    HF_PANELS,
    HF_CELLS,
    HF_UNITS,
    HF_NORMSYS_ENTRIES, /* padded to 8 a unit */
    HF_SCALARS,
    HF_NORMSYS_CODE,  /* 1, 4 */
    HF_HISTOSYS_CODE, /* 0, 2, 4 (4p) */
    HF_CLIPS,         /* enum hf_clip */
    HF_HAS_POISSON,   /* any Poisson constraint */
    HF_DATA,          /* elements of a data row: 8 * panels + slots + varied numbers */
    HF_INT_TABLES(HF_INT_TABLE) HF_I_TILE_WORK, /* per tile of the lower triangle: offset of its list of row
                                                   pairs, see tile_add_pairs */
    HF_I_PAIRS,                                 /* hf_pair_record of each pair of scalars of one unit */
    HF_PAIRS,
    HF_REAL_ARRAYS(HF_REAL_ARRAY) HF_SLAB_VECTORS(HF_SLAB_VECTOR) HF_SLAB, /* elements of the slab */
    HF_LOCAL_COLUMNS,   /* largest panels * sets^2 of a channel */
    HF_S_AUGMENTED,     /* covariance: SLOTS * DENSE rows, 8 * LOCAL_COLUMNS, SLOTS (SLOTS + 8) / 2 tiles */
    HF_SLAB_COVARIANCE, /* elements with them */
    HF_HEADER
};

enum hf_clip { HF_CLIP_SAMPLES = 1, HF_CLIP_BINS = 2 };
enum hf_scalar_of_fit {
    HF_FIT_VALUE,
    HF_FIT_BAD_LOCAL, /* 1: a local pivot was bad */
    HF_FIT_BAD_DENSE, /* what tiles_factor found: number of the first bad pivot; its curvature; flat? */
    HF_FIT_NEGATIVE,
    HF_FIT_FLAT
};

/* ---- records of the u32 table ---- */

typedef struct {
    unsigned panels, first_panel;
    unsigned last_bins; /* of the last panel */
    unsigned units, first_unit, first_cell;
    unsigned sets, first_set; /* local sets */
    unsigned common;          /* 1: one local set that multiplies every unit, and only that one */
    unsigned blocks;          /* dense blocks that the channel's parameters lie in */
    unsigned block_list;      /* offset: their numbers, ascending */
    unsigned rows; /* offset in ROWS: [block][row][8 slots]; a panel's bins' own rows, then each set's */
    unsigned row_stride; /* elements of one block's rows */
    unsigned run;        /* 1: many rows, added to the tiles as they stand; 0: the tiles' lists name them */
    unsigned local_l;    /* slab offset */
} hf_channel_record;

typedef struct {
    unsigned channel, index, bins;
} hf_panel_record;

typedef struct {
    unsigned unit, histosys_data, bins;
    unsigned varied; /* as that of the unit, of this panel */
} hf_cell_record;

typedef struct {
    unsigned normsys;        /* first entry */
    unsigned normsys_padded; /* count, a multiple of 8 */
    unsigned normsys_count;
    unsigned histosys, histosys_count;
    unsigned histosys_data; /* elem offset: (panel * count + entry) * 16: S of 8 bins, A of 8 bins */
    unsigned scalars, scalar_count;
    unsigned sets, set_count; /* offset: numbers of its local sets within the channel */
    unsigned row;             /* offset in UNIT_ROWS: u, x (and r, s where it has scalars) */
    unsigned row_size;        /* elements of u; x, r have the same */
    unsigned scalar_row_size; /* elements of s */
    unsigned sums;            /* offset in HSUM and BENT, a multiple of 8 */
    unsigned varied;          /* offset in VARIED, a panel HF_VARIED_PANEL elements; HF_NOT_VARIED */
} hf_unit_record;
#define HF_NOT_VARIED 0xffffffffu
#define HF_VARIED_PANEL(entries) (8 + 16 * (entries)) /* nominal rates, then S and A of each entry */

/* A local set: the slot of its first bin (those of following panels behind it). */
typedef struct {
    unsigned slot;
    unsigned constraint; /* enum hf_constraint_kind */
} hf_set_record;
enum hf_constraint_kind { HF_NO_CONSTRAINT, HF_NORMAL_CONSTRAINT, HF_POISSON_CONSTRAINT };

/* Two scalars of one unit: their numbers in it, and the element of TILES that gets their derivative. */
typedef struct {
    unsigned unit, first, second, element;
} hf_pair_record;

#define HF_WORDS(record) (sizeof(record) / sizeof(unsigned))

#endif
