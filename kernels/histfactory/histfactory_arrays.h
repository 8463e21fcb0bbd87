/* histfactory_arrays.h: the frozen HistFactory model, shared by host and kernels: two flat tables, no pointers.
 *
 * Parameters in internal order ("slots"):
 *   dense slots 0 .. D-1       parameters that act on several bins (alphas, normalisations, luminosity),
 *                              D a multiple of 8, in an order that clusters those which act together;
 *   local slots D .. N-1       parameters that act on one bin (gammas): for each channel, for each local
 *                              set of it, one slot a bin, padded to panels of 8.
 * Padding slots are never free, so they stay inert.
 *
 * Bins stand in panels of 8 (a channel's last one padded with bins of n = lambda = 1, which contribute
 * nothing). A unit is a (channel, sample); a cell is a (panel, unit): 8 rates. Every per-bin array below is a
 * panel array: 8 elements a panel, so a pack of neighbours is a pack of bins.
 *
 *   rate of unit u in bin b = (nominal + sum over histosys of S*s(a) + A*t(a))    base
 *                             * product over normsys of v(a)                       F
 *                             * product over scalar factors                        Phi
 *                             * product over local parameters                      Gamma
 *
 * Some of these numbers may be the job's own ("varied"): they stand in its data row, behind the auxiliary
 * data, and in the slab behind AUX. Of a varied unit all nominal rates and shifts do, panel by panel (8
 * rates, then as in the table); where a constraint's width follows from such rates, all precisions and tau
 * do.
 *
 * `u32` table: a header of HF_HEADER entries (enum below), then records. `elem` table: nominal rates,
 * coefficients. The slab is one fit's working memory, in `real`; its offsets are in the header, so that the
 * host decides them.
 */
#ifndef PARITAS_HISTFACTORY_ARRAYS_H
#define PARITAS_HISTFACTORY_ARRAYS_H

/* Header of the u32 table. I_: offset into the u32 table; R_: into the elem table; S_: into the slab. */
enum hf_header {
    HF_DENSE,  /* D */
    HF_BLOCKS, /* D / 8 */
    HF_SLOTS,  /* N */
    HF_CHANNELS,
    HF_PANELS,
    HF_CELLS,
    HF_UNITS,
    HF_NORMSYS_ENTRIES, /* entries, padded to 8 a unit */
    HF_SCALARS,
    HF_NORMSYS_CODE,    /* 1, 4 */
    HF_HISTOSYS_CODE,   /* 0, 2, 4 (4p) */
    HF_CLIPS,           /* bit 0: samples, bit 1: bins */
    HF_HAS_POISSON,     /* any Poisson constraint */
    HF_DATA,            /* elements of a data row: 8 * panels + slots + varied numbers */
    HF_I_CHANNELS,      /* records of HF_CH_SIZE */
    HF_I_PANELS,        /* records of HF_PN_SIZE */
    HF_I_CELLS,         /* records of HF_CE_SIZE */
    HF_I_UNITS,         /* records of HF_UN_SIZE */
    HF_I_SETS,          /* records of HF_SE_SIZE, local sets */
    HF_I_NORMSYS_SLOT,  /* dense slot of each normsys entry */
    HF_I_NORMSYS_PLACE, /* where its u goes in the unit's row */
    HF_I_NORMSYS_SPOT,  /* where its slot stands among those of the channel's blocks */
    HF_I_HISTOSYS_SLOT,
    HF_I_HISTOSYS_PLACE,
    HF_I_HISTOSYS_SPOT,
    HF_I_SCALAR_SLOT,
    HF_I_SCALAR_PLACE,
    HF_I_SCALAR_SPOT,
    /* per tile of the lower triangle, by rows: offset of its list of row pairs, see tile_add_pairs */
    HF_I_TILE_WORK,
    HF_I_PAIRS, /* (unit, scalar a, scalar b, H element), pairs of scalars of one unit */
    HF_PAIRS,
    HF_R_NOMINAL,   /* cells * 8 */
    HF_R_LAMBDA0,   /* panels * 8: 0, or 1 in padding bins */
    HF_R_NORMSYS,   /* 8 arrays of HF_NORMSYS_ENTRIES: c1..c6, ln hi, ln lo */
    HF_R_PRECISION, /* slots: 1/sigma^2, 0 where not Gaussian */
    HF_R_TAU,       /* slots: 0 where not Poisson */
    HF_R_CLIPS,     /* 2 */
    HF_S_X,         /* slots: the point that the functions below evaluate */
    HF_S_ACTIVE,    /* slots: 1 where free and not held at a bound, else 0 */
    HF_S_MAIN,      /* panels * 8 */
    HF_S_AUX,       /* slots; directly behind MAIN */
    HF_S_VARIED,    /* varied numbers; directly behind AUX */
    HF_S_WIDTHS,    /* among them: precision, tau (slots each); 0: these stand in the elem table */
    HF_S_GRADIENT,  /* slots */
    HF_S_HS,        /* dense: s(a), t(a), t'(a), t''(a) of the histosys interpolation */
    HF_S_HT,
    HF_S_HT1,
    HF_S_HT2,
    HF_S_NU, /* normsys entries: v'/v of the factor v, v''/v - (v'/v)^2 */
    HF_S_NQ,
    HF_S_F,          /* units */
    HF_S_PHI,        /* units */
    HF_S_PHI_OTHERS, /* scalars: product of the unit's other scalars */
    HF_S_BASE,       /* cells * 8 */
    HF_S_XE,         /* cells * 8: rate; without Gamma in channels with a common local set */
    HF_S_XS,         /* cells * 8: rate without Phi (and without Gamma, likewise) */
    HF_S_XG,         /* cells * 8: derivative of the rate by the base */
    HF_S_LAMBDA,     /* panels * 8 */
    HF_S_W,          /* panels * 8: 1 - n/lambda */
    HF_S_DEVIANCE,   /* panels * 8 */
    HF_S_PENALTY,    /* slots */
    HF_S_COMMON,     /* panels * 8: sum of XE in channels with a common local set */
    /* cells * 8: W times the local parameters that multiply the rate, 0 where it is clipped */
    HF_S_CELL_WEIGHT,
    HF_S_T, /* units: sum over bins of W times rate without Phi */
    /* histosys entries, a unit's padded to 8: sum over bins of W times the rate's derivative without Phi */
    HF_S_HSUM,
    HF_S_TILES,     /* 64 * BLOCKS (BLOCKS + 1) / 2 */
    HF_S_RDIAG,     /* dense: 1 / diagonal of the factor */
    HF_S_DIAGONAL,  /* dense */
    HF_S_SCALE,     /* dense: sums of squares behind the diagonal */
    HF_S_BENT,      /* as HSUM: of W times A instead */
    HF_S_UNIT_ROWS, /* second-order rows of all units; directly behind them SCALED and ROWS */
    HF_S_SCALED,    /* ROWS times their weights */
    HF_S_ROWS,      /* kept rows of all channels */
    HF_S_JACOBIAN,  /* (1 + sets) * channel blocks * 64 of one panel */
    HF_S_CELL_TEMP, /* 3 * units of a channel * 8 */
    HF_S_LOCAL_D,   /* local slots (index by slot - D): pivots of the local blocks */
    HF_S_LOCAL_C,   /* local slots: factor from kept row to coupling row */
    HF_S_LOCAL_L,   /* per channel with several sets: L(L-1)/2 panel arrays */
    HF_S_MINIMISER, /* working vectors of the minimiser */
    HF_S_SCALARS_OF_FIT,
    HF_SLAB,          /* size without the rows of a covariance */
    HF_LOCAL_COLUMNS, /* largest panels * sets^2 of a channel */
    /* for the covariance: SLOTS * DENSE rows, 8 * LOCAL_COLUMNS, SLOTS (SLOTS + 8) / 2 tiles */
    HF_S_AUGMENTED,
    HF_SLAB_COVARIANCE, /* size with them */
    HF_HEADER
};

/* Channel record. */
enum hf_channel_record {
    HF_CH_PANELS,
    HF_CH_FIRST_PANEL,
    HF_CH_LAST_BINS, /* bins of the last panel */
    HF_CH_UNITS,
    HF_CH_FIRST_UNIT,
    HF_CH_FIRST_CELL,
    HF_CH_SETS, /* local sets */
    HF_CH_FIRST_SET,
    HF_CH_COMMON,     /* 1: one local set that multiplies every unit, and only that one */
    HF_CH_BLOCKS,     /* dense blocks that the channel's parameters lie in */
    HF_CH_BLOCK_LIST, /* offset: their numbers, ascending */
    /* offset in ROWS of its kept rows: [block][row][8 slots]; a panel's rows are its bins' own, then each
     * set's */
    HF_CH_ROWS,
    HF_CH_ROW_STRIDE, /* elements of one block's rows */
    /* 1: many rows, added to the tiles as they stand; 0: few, which the tiles' lists name one by one */
    HF_CH_RUN,
    HF_CH_LOCAL_L, /* slab offset */
    HF_CH_SIZE
};

enum hf_panel_record { HF_PN_CHANNEL, HF_PN_INDEX, HF_PN_BINS, HF_PN_SIZE };
enum hf_cell_record {
    HF_CE_UNIT,
    HF_CE_HISTOSYS_DATA,
    HF_CE_BINS,
    HF_CE_VARIED /* as HF_UN_VARIED, of this panel */,
    HF_CE_SIZE
};

/* Unit record. */
enum hf_unit_record {
    HF_UN_NORMSYS,        /* first entry */
    HF_UN_NORMSYS_PADDED, /* count, a multiple of 8 */
    HF_UN_NORMSYS_COUNT,
    HF_UN_HISTOSYS, /* first entry */
    HF_UN_HISTOSYS_COUNT,
    HF_UN_HISTOSYS_DATA, /* elem offset: (panel * count + entry) * 16: S of 8 bins, A of 8 bins */
    HF_UN_SCALARS,
    HF_UN_SCALAR_COUNT,
    HF_UN_SETS, /* offset: numbers of its local sets within the channel */
    HF_UN_SET_COUNT,
    HF_UN_ROW,             /* offset in UNIT_ROWS: u, x (and r, s where it has scalars) */
    HF_UN_ROW_SIZE,        /* elements of u; x, r have the same */
    HF_UN_SCALAR_ROW_SIZE, /* elements of s */
    HF_UN_SUMS,            /* offset in HSUM and BENT, a multiple of 8 */
    HF_UN_VARIED,          /* offset in VARIED, panel by panel HF_VARIED_PANEL elements; HF_NOT_VARIED */
    HF_UN_SIZE
};
#define HF_NOT_VARIED 0xffffffffu
#define HF_VARIED_PANEL(entries) (8 + 16 * (entries)) /* nominal rates, then S and A of each entry */

/* Local set record: internal slot of its first bin (bins of following panels behind it), constraint
 * (0 none, 1 Gaussian, 2 Poisson), channel. */
enum hf_set_record { HF_SE_SLOT, HF_SE_CONSTRAINT, HF_SE_SIZE };

#endif
