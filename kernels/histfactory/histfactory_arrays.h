/* histfactory_arrays.h: the frozen HistFactory model, two flat tables shared by host and kernels.
 *
 * Parameters ("slots"), in internal order; padding slots are never free:
 *   dense 0 .. D-1   for several bins (alphas, normalisations, luminosity). D is a multiple of 8; parameters
 *                    that act together are neighbours
 *   local D .. N-1   for one bin (gammas): a slot a bin, in panels of 8, for each channel and local set
 *
 * Bins stand in panels of 8; padding bins have n = lambda = 1. A unit is a (channel, sample), a cell a
 * (panel, unit): 8 rates. A panel array has one number a bin.
 *
 *   rate of unit u in bin b = (nominal + sum over histosys of S*s(a) + A*t(a))    base
 *                             * product over normsys of v(a)                       F
 *                             * product over scalar factors                        Phi
 *                             * product over local parameters                      Gamma
 *
 * Of a unit with a logarithmic shape the base is exp(nominal + sum over histosys).
 *
 * A channel with mcstat adds gamma R to a bin: R^2 = sum over units of (F Phi e)^2, gamma a local parameter.
 *
 * A job's own ("varied") numbers follow the auxiliary data in its row, and AUX in the slab: rates and shifts
 * of a varied unit, by panel; if they decide a width, all precisions and tau; if they decide a factor, also
 * all coefficients of normsys.
 *
 * u32 table: header, records, lists. elem table: rates, coefficients. Slab: a fit's working memory. A new
 * table, array or vector is one line below; its size uses struct hf_counts (src/histfactory/freeze.h). */
#pragma once

#include "histfactory/histfactory_constraints.h"

/* Tables after the header, at HF_I_name. */
#define HF_INT_TABLES(TABLE_OF)                                                       \
    TABLE_OF(CHANNELS, n->channels *HF_WORDS(hf_channel_record))                      \
    TABLE_OF(PANELS, n->panels *HF_WORDS(hf_panel_record))                            \
    TABLE_OF(CELLS, n->cells *HF_WORDS(hf_cell_record))                               \
    TABLE_OF(UNITS, n->units *HF_WORDS(hf_unit_record))                               \
    TABLE_OF(SETS, n->sets *HF_WORDS(hf_set_record))                                  \
    /* per entry: dense slot, place in the unit's row, spot in the channel's slots */ \
    TABLE_OF(NORMSYS_SLOT, n->normsys)                                                \
    TABLE_OF(NORMSYS_PLACE, n->normsys)                                               \
    TABLE_OF(NORMSYS_SPOT, n->normsys)                                                \
    TABLE_OF(HISTOSYS_SLOT, n->histosys + 8)                                          \
    TABLE_OF(HISTOSYS_PLACE, n->histosys)                                             \
    TABLE_OF(HISTOSYS_SPOT, n->histosys)                                              \
    TABLE_OF(SCALAR_SLOT, n->scalars)                                                 \
    TABLE_OF(SCALAR_PLACE, n->scalars)                                                \
    TABLE_OF(SCALAR_SPOT, n->scalars)

/* Arrays at HF_R_name. */
#define HF_REAL_ARRAYS(ARRAY)                                                                       \
    ARRAY(NOMINAL, 8 * n->cells)                                                                    \
    ARRAY(LAMBDA0, 8 * n->panels)                   /* 1 in padding bins, else 0 */                 \
    ARRAY(NORMSYS, n->normsys_numbers * n->normsys) /* hf_normsys_number */                         \
    ARRAY(PRECISION, n->slots)                      /* 1/sigma^2; 0: not Gaussian */                \
    ARRAY(TAU, n->slots)                            /* 0: not Poisson */                            \
    ARRAY(CLIPS, 8)                   /* least rates of a sample, of a bin, of a bin with mcstat */ \
    ARRAY(MCSTAT, n->mcstat_cells)    /* e, as NOMINAL; empty without mcstat */                     \
    ARRAY(SHAPE_LIFT, n->shape_cells) /* added to a base that is not held; empty without shapes */  \
    ARRAY(AFFINE, n->affine)          /* hf_affine_row, each by slot; empty without laws of y */

/* Vectors at HF_S_name; freeze.c places groups in another order. Keep both orders: a hash of the tables
 * identifies stored toys. */
#define HF_SLAB_MAIN(VECTOR)                                                               \
    VECTOR(X, n->slots)      /* where functions evaluate */                                \
    VECTOR(ACTIVE, n->slots) /* 1: free and not at a bound */                              \
    VECTOR(MAIN, 8 * n->panels)                                                            \
    VECTOR(AUX, n->slots)     /* follows MAIN */                                           \
    VECTOR(VARIED, n->varied) /* follows AUX */                                            \
    VECTOR(WIDTHS, n->widths) /* follows VARIED: as above; 0: see elem table */            \
    VECTOR(GRADIENT, n->slots)                                                             \
    VECTOR(HS, n->shifts) /* s(a), t(a), t'(a), t''(a), for each code */                   \
    VECTOR(HT, n->shifts)                                                                  \
    VECTOR(HT1, n->shifts)                                                                 \
    VECTOR(HT2, n->shifts)                                                                 \
    VECTOR(INNER, n->dense) /* X = INNER + ABOVE - BELOW, the first in -1 .. 1 */          \
    VECTOR(ABOVE, n->dense)                                                                \
    VECTOR(BELOW, n->dense)                                                                \
    VECTOR(NU, n->normsys) /* v'/v */                                                      \
    VECTOR(NQ, n->normsys) /* v''/v - (v'/v)^2 */                                          \
    VECTOR(F, n->units)                                                                    \
    VECTOR(PHI, n->units)                                                                  \
    VECTOR(PHI_OTHERS, n->scalars) /* product of the other scalars */                      \
    VECTOR(BASE, 8 * n->cells)                                                             \
    VECTOR(XE, 8 * n->cells) /* rate; common Gamma left out */                             \
    VECTOR(XS, 8 * n->cells) /* rate without Phi; common Gamma left out */                 \
    VECTOR(XG, 8 * n->cells) /* derivative of the rate by the base */                      \
    VECTOR(LAMBDA, 8 * n->panels)                                                          \
    VECTOR(W, 8 * n->panels)                                                               \
    VECTOR(DEVIANCE, 8 * n->panels)                                                        \
    VECTOR(PENALTY, n->slots)                                                              \
    VECTOR(COMMON, 8 * n->panels)          /* sum of XE if Gamma is common */              \
    VECTOR(CELL_WEIGHT, 8 * n->cells)      /* F W Gamma; 0: clipped */                     \
    VECTOR(T, n->units)                    /* sum over bins of W times rate without Phi */ \
    VECTOR(MCSTAT_R, n->mcstat_bins)       /* R; these five are empty without mcstat */    \
    VECTOR(MCSTAT_RATE, n->mcstat_bins)    /* lambda before its clip */                    \
    VECTOR(MCSTAT_INVERSE, n->mcstat_bins) /* 1/R; 0 where R is 0 */                       \
    VECTOR(MCSTAT_LIMIT, n->mcstat_bins)   /* where R is 0: 1/R without factors of 0 */    \
    VECTOR(MCSTAT_SUM, n->mcstat_units)    /* sum over bins of W gamma (F e)^2 / R */      \
    VECTOR(HSUM, n->histosys_sums)         /* sum of W times rate derivative */            \
    /* value and gradient need those above */                                              \
    VECTOR(TILES, 4 * n->dense * (n->blocks + 1))                                          \
    VECTOR(RDIAG, n->dense) /* 1 / factor's diagonal */                                    \
    VECTOR(DIAGONAL, n->dense)                                                             \
    VECTOR(SCALE, n->dense)        /* sums of squares behind the diagonal */               \
    VECTOR(EVEN, n->histosys_sums) /* HSUM with W times A */                               \
    VECTOR(SHAPE_INVERSE, n->shapes)                                                       \
    VECTOR(SHAPE_U, n->shape_sums)                                                         \
    VECTOR(SHAPE_EVEN, n->shape_sums)                                                      \
    VECTOR(SHAPE_T, n->shapes)       /* T without held bins; of logarithmic units */       \
    VECTOR(SHAPE_PART, n->exponents) /* a bin's part of Z, of logarithmic units */
#define HF_SLAB_ROWS(VECTOR)                                                 \
    VECTOR(UNIT_ROWS, n->unit_rows) /* of second order; then SCALED, ROWS */ \
    VECTOR(SCALED, n->rows)         /* weighted ROWS */                      \
    VECTOR(ROWS, n->rows)
#define HF_SLAB_PANEL(VECTOR)                                                       \
    VECTOR(JACOBIAN, n->jacobian) /* a panel's: (1 + sets) * channel blocks * 64 */ \
    VECTOR(CELL_TEMP, n->cell_temp)
#define HF_SLAB_LOCALS(VECTOR)                           \
    VECTOR(LOCAL_D, n->locals) /* pivots, by slot - D */ \
    VECTOR(LOCAL_C, n->locals) /* kept row to coupling row, by slot - D */
#define HF_SLAB_FACTORS(VECTOR) VECTOR(LOCAL_L, n->local_l)
#define HF_SLAB_MINIMISER(VECTOR)   \
    VECTOR(MINIMISER, n->minimiser) \
    VECTOR(SCALARS_OF_FIT, 8)

#define HF_SLAB_VECTORS(VECTOR) \
    HF_SLAB_MAIN(VECTOR)        \
    HF_SLAB_ROWS(VECTOR)        \
    HF_SLAB_PANEL(VECTOR) HF_SLAB_LOCALS(VECTOR) HF_SLAB_FACTORS(VECTOR) HF_SLAB_MINIMISER(VECTOR)

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
    HF_NORMSYS_CODE,  /* 1, 4; HF_OWN_CODES */
    HF_HISTOSYS_CODE, /* hf_shift_code; more: offset of an hf_shift_codes record */
    HF_SWITCHES,      /* hf_switch */
    HF_HAS_POISSON,
    HF_HAS_AFFINE,
    HF_DATA,                                    /* of a data row: 8 * panels + slots + varied numbers */
    HF_INT_TABLES(HF_INT_TABLE) HF_I_TILE_WORK, /* per lower tile, for tile_add_pairs */
    HF_I_PAIRS,
    HF_PAIRS,
    HF_REAL_ARRAYS(HF_REAL_ARRAY) HF_SLAB_VECTORS(HF_SLAB_VECTOR) HF_SLAB, /* elements */
    HF_LOCAL_COLUMNS,   /* most panels * sets^2 of a channel */
    HF_S_AUGMENTED,     /* covariance: SLOTS * DENSE rows, 8 * LOCAL_COLUMNS, SLOTS (SLOTS + 8) / 2 tiles */
    HF_SLAB_COVARIANCE, /* with it */
    HF_IS_PATIENT,      /* minimise/newton.h */
    HF_HEADER
};

/* Normsys entries stand in blocks of 8: in a block 8 numbers of a kind follow one another. One code for all
 * entries needs the first eight kinds. HF_OWN_CODES: each entry's numbers say its code.
 * For |a| < BOUND a polynomial, 1 + c1 a + .. + c6 a^6; beyond, with r = UP or -DOWN by the sign of a,
 * exp(r a), or where it is LINEAR (enum hf_normsys_line) OFFSET + r a. */
enum hf_normsys_number {
    HF_NORMSYS_POLYNOMIAL,
    HF_NORMSYS_UP = 6,
    HF_NORMSYS_DOWN,
    HF_NORMSYS_NUMBERS,
    HF_NORMSYS_BOUND = HF_NORMSYS_NUMBERS,
    HF_NORMSYS_OFFSET,
    HF_NORMSYS_LINEAR,
    HF_NORMSYS_OWN_NUMBERS
};
/* A factor of 0 has no logarithm: an exponential beside it is the line 0. */
enum hf_normsys_line {
    HF_LINE_INNER = -1, /* nowhere; within BOUND exp(c1 a + .. + c6 a^6) */
    HF_LINE_NONE,
    HF_LINE_BOTH,
    HF_LINE_UP, /* above BOUND alone */
    HF_LINE_DOWN
};
#define HF_OWN_CODES 0
#define HF_NORMSYS_KINDS(code) ((code) == HF_OWN_CODES ? HF_NORMSYS_OWN_NUMBERS : HF_NORMSYS_NUMBERS)
#define HF_NORMSYS_AT(code, entry) ((entry) / 8 * 8 * HF_NORMSYS_KINDS(code) + (entry) % 8) /* the first */

/* s(a), t(a) of shifts. */
enum hf_shift_code {
    HF_SHIFT_LINEAR,        /* 0 */
    HF_SHIFT_JUMPING = 2,   /* pyhf's 2 */
    HF_SHIFT_PARABOLIC = 3, /* ROOT's 2 */
    HF_SHIFT_POLYNOMIAL = 4 /* 4p */
};

/* Bits. HF_FUNCTIONS: some dense slots are functions of others; hf_functions_record follows the header.
 * HF_CORRELATED: some have a joint law or a penalty; hf_correlations_record follows that. */
enum hf_switch {
    HF_CLIP_SAMPLES = 1,
    HF_CLIP_BINS = 2,
    HF_VARIED_FACTORS = 4,
    HF_SHAPES = 8,
    HF_HAS_MCSTAT = 16,
    HF_FUNCTIONS = 32,
    HF_CORRELATED = 64
};

#define HF_MCSTAT_LEAST 1e-9  /* rate of a bin with mcstat, as in Combine */
#define HF_MCSTAT_HIGHER 2e-9 /* from here on a least rate is the caller's */

/* Numbers of a unit with a shape. */
enum hf_shape_number {
    HF_SHAPE_MINIMUM,     /* of its base in a bin */
    HF_SHAPE_EDGE,        /* up to this base the minimum is constant; from there its slopes are the base's */
    HF_SHAPE_TOTAL,       /* that its base is scaled to; 0: it is not */
    HF_SHAPE_PADDING,     /* added to the sum over bins */
    HF_SHAPE_LOGARITHMIC, /* 1: NOMINAL and shifts are logarithms */
    HF_SHAPE_NUMBERS
};
enum hf_scalar_of_fit {
    HF_FIT_VALUE,
    HF_FIT_BAD_LOCAL, /* 1: bad local pivot */
    HF_FIT_BAD_DENSE, /* tiles_factor's `found` */
    HF_FIT_NEGATIVE,
    HF_FIT_FLAT,
    HF_FIT_REACH,    /* of the likelihood beyond its domain, as a part of a bin's entries; 0: none */
    HF_FIT_STIFFNESS /* of empty bins' edges */
};

/* ---- records of the u32 table ---- */

typedef struct {
    unsigned panels, first_panel;
    unsigned last_bins; /* of the last panel */
    unsigned units, first_unit, first_cell;
    unsigned sets, first_set; /* local */
    unsigned common;          /* 1: the one local set multiplies every unit */
    unsigned mcstat;          /* 1 + number of the local set that adds to bins; 0: none */
    unsigned blocks;          /* dense blocks in use */
    unsigned block_list;      /* offset of their numbers */
    unsigned rows;       /* offset in ROWS: [block][row][8 slots]; per panel the bins' rows, each set's, R' */
    unsigned row_stride; /* elements of a block's rows, with those of all channels of a run */
    unsigned run;        /* rows so far that go to the tiles behind this channel; 0: none yet, or by lists */
    unsigned run_rows;   /* offset of their first in ROWS */
    unsigned local_l;    /* slab offset */
} hf_channel_record;

typedef struct {
    unsigned channel, index, bins;
} hf_panel_record;

typedef struct {
    unsigned unit, bins;
    unsigned histosys_data, histosys_blocks, varied; /* as in the unit, for this panel */
} hf_cell_record;

typedef struct {
    unsigned normsys;        /* first entry */
    unsigned normsys_padded; /* to a multiple of 8 */
    unsigned normsys_count;
    unsigned histosys, histosys_count;
    unsigned histosys_data;   /* elem offset: (panel * count + entry) * 16: S, then A of 8 bins */
    unsigned histosys_blocks; /* elem offset: the same by 8 entries, HF_SHIFT_BLOCK */
    unsigned scalars, scalar_count;
    unsigned sets, set_count; /* offset: its local sets */
    unsigned row;             /* offset in UNIT_ROWS: u, x (with scalars r, s) */
    unsigned row_size;        /* elements of u, x, r */
    unsigned scalar_row_size; /* of s */
    unsigned sums;            /* in HSUM, EVEN; a multiple of 8 */
    unsigned varied;          /* offset in VARIED, HF_VARIED_PANEL a panel; or HF_NOT_VARIED */
    unsigned shape;           /* elem offset of hf_shape_number; or HF_NO_SHAPE */
} hf_unit_record;
/* A block holds, by bin, S and then A of 8 entries. Where a panel's blocks, an entry's block begin. */
#define HF_SHIFT_PANEL(entries, panel) (((entries) + 7) / 8 * 128 * (panel))
#define HF_SHIFT_BLOCK(entry, bins) ((entry) / 8 * 16 * (bins))
#define HF_NOT_VARIED 0xffffffffu
#define HF_NO_SHAPE 0xffffffffu
#define HF_VARIED_PANEL(entries) (8 + 16 * (entries)) /* nominal rates, then S and A of entries */

/* slot: first bin of the first panel. */
typedef struct {
    unsigned slot;
    unsigned constraint; /* hf_constraint */
} hf_set_record;

/* If histosys entries differ in their codes or scales: HS .. HT2 have D elements a code. Codes follow. A code
 * with the scale k has s(a) = a, since S contains k, and t(k a). */
typedef struct {
    unsigned count;
    unsigned place;  /* offset: per histosys entry, element of HS .. HT2 */
    unsigned scales; /* elem offset: a number a code */
} hf_shift_codes_record;

/* element: in TILES, for their second derivative. */
typedef struct {
    unsigned unit, first, second, element;
} hf_pair_record;

/* A slot that is a function of others, its arguments. */
typedef struct {
    unsigned slot, arguments, n_arguments; /* offset of the arguments' slots */
    unsigned words, n_words;               /* numeric/expression_words.h; offset in pairs of elements */
    unsigned numbers;                      /* elem offset */
    unsigned derivatives;                  /* slab offset: HF_DERIVATIVES */
    unsigned linear;                       /* second derivatives are 0 */
} hf_function_record;
/* Derivatives: of the likelihood by the function, then its own of first and second order (a triangle). */
#define HF_DERIVATIVES(arguments) (1 + (arguments) + (arguments) * ((arguments) + 1) / 2)

typedef struct {
    unsigned count, functions; /* offset of records; a function stands behind its arguments */
    /* offset, by channel, of the offset of a list: count; then the number of each function that acts there,
     * the last first, with the spots of its own slot and its arguments */
    unsigned spots;
    unsigned stack; /* slab offset: frames as HF_DERIVATIVES, with a value in the place of the likelihood's */
    unsigned column;  /* slab offset: D elements */
    unsigned outside; /* slab offset: 1 where a function has no value */
} hf_functions_record;

/* Dense slots with a joint normal law (histfactory_correlations.h). Elem offsets: ties, n rows of
 * HF_ROUND8(n); draws, n rows of n, a lower triangle that makes independent deviations correlated; centres,
 * n numbers of a penalty, which has no draws. */
typedef struct {
    unsigned n, slots;             /* offset of their numbers */
    unsigned ties, draws, centres; /* 0: none */
} hf_correlation_record;
typedef struct {
    unsigned count, groups; /* offset of records */
} hf_correlations_record;
#define HF_ROUND8(n) (((n) + 7) / 8 * 8)

#define HF_WORDS(record) (sizeof(record) / sizeof(unsigned))

/* ---- answers of entry/entry_histfactory.h: 8 elements a panel or cell ---- */

/* Expected data: lambda by bin, rate by cell. */
#define HF_EXPECTED_RATES(bins) (bins)
#define HF_EXPECTED_SIZE(bins, cells) ((bins) + (cells))
/* Tangent (histfactory_tangent.h): lambda, lambda' by bin, G, G' by cell, s(a), t(a), t'(a) by dense slot. */
#define HF_TANGENT_LAMBDA1(bins) (bins)
#define HF_TANGENT_G(bins) (2 * (bins))
#define HF_TANGENT_G1(bins, cells) (HF_TANGENT_G(bins) + (cells))
#define HF_TANGENT_S(bins, cells) (HF_TANGENT_G(bins) + 2 * (cells))
#define HF_TANGENT_SIZE(bins, cells, shifts) (HF_TANGENT_S(bins, cells) + 3 * (shifts))
