/* histfactory_records.h: access to the tables of histfactory_arrays.h. */
#pragma once

#include "histfactory/histfactory_arrays.h"

#define HF_PARAMETERS CONSTANT u32 *RESTRICT mi, CONSTANT elem *RESTRICT mr UNUSED, GLOBAL real *s
#define HF mi, mr, s
#define HF_I(name) (mi + mi[HF_I_##name])
#define HF_R(name) (mr + mi[HF_R_##name])
#define HF_S(name) (s + mi[HF_S_##name])
#if F64
#define HF_HUGE R(1e300) /* outside the domain: above any likelihood */
#else
#define HF_HUGE R(1e30)
#endif

typedef CONSTANT hf_channel_record *hf_channel;
typedef CONSTANT hf_panel_record *hf_panel;
typedef CONSTANT hf_cell_record *hf_cell;
typedef CONSTANT hf_unit_record *hf_unit;
typedef CONSTANT hf_set_record *hf_set;
typedef CONSTANT hf_pair_record *hf_pair;
typedef CONSTANT hf_shift_codes_record *hf_shift_codes;

FN hf_channel hf_channel_of(CONSTANT u32 *mi, u32 c)
{
    return (hf_channel)(HF_I(CHANNELS)) + c;
}
#define HF_FOR_CHANNELS(ch) \
    for (hf_channel ch = hf_channel_of(mi, 0); ch < hf_channel_of(mi, mi[HF_CHANNELS]); ch++)
FN hf_panel hf_panel_of(CONSTANT u32 *mi, u32 panel)
{
    return (hf_panel)(HF_I(PANELS)) + panel;
}
FN hf_unit hf_unit_of(CONSTANT u32 *mi, u32 unit)
{
    return (hf_unit)(HF_I(UNITS)) + unit;
}
FN hf_set hf_set_of(CONSTANT u32 *mi, hf_channel ch, u32 set)
{
    return (hf_set)(HF_I(SETS)) + (ch->first_set + set);
}

/* ---- codes of histosys entries ---- */

FN u32 hf_has_shift_codes(CONSTANT u32 *mi)
{
    return mi[HF_HISTOSYS_CODE] > HF_SHIFT_POLYNOMIAL;
}
FN hf_shift_codes hf_shift_codes_of(CONSTANT u32 *mi)
{
    return (hf_shift_codes)(mi + mi[HF_HISTOSYS_CODE]);
}
/* Elements of HS, HT, HT1, HT2. */
FN u32 hf_shift_count(CONSTANT u32 *mi)
{
    return mi[HF_DENSE] * (hf_has_shift_codes(mi) ? hf_shift_codes_of(mi)->count : 1);
}
/* Each histosys entry's element there. */
FN CONSTANT u32 *hf_shift_places(CONSTANT u32 *mi)
{
    return hf_has_shift_codes(mi) ? (CONSTANT u32 *)(mi + hf_shift_codes_of(mi)->place) : HF_I(HISTOSYS_SLOT);
}

/* ---- places; `panel` counts within the channel ---- */

FN u32 hf_bins(hf_channel ch, u32 panel)
{
    return panel + 1 < ch->panels ? 8 : ch->last_bins;
}
FN u32 hf_channel_bins(hf_channel ch)
{
    return 8 * (ch->panels - 1) + ch->last_bins;
}
/* Counts padding. */
FN u32 hf_first_bin(hf_channel ch, u32 panel)
{
    return (ch->first_panel + panel) * 8;
}
/* First element of unit u's cell. */
FN u32 hf_cell_at(hf_channel ch, u32 panel, u32 u)
{
    return (ch->first_cell + panel * ch->units + u) * 8;
}
FN u32 hf_local_slot(CONSTANT u32 *mi, hf_channel ch, u32 set, u32 panel)
{
    return hf_set_of(mi, ch, set)->slot + 8 * panel;
}
/* Dense slot i of the channel's blocks. */
FN u32 hf_dense_slot(CONSTANT u32 *mi, hf_channel ch, u32 i)
{
    return mi[ch->block_list + i / 8] * 8 + i % 8;
}
/* Local sets with kept rows. */
FN u32 hf_coupled(hf_channel ch)
{
    return ch->common ? 0 : ch->sets;
}
/* Rows of a bin: its own, one a coupled set, R' of mcstat. */
FN u32 hf_rows_of_bin(hf_channel ch)
{
    return 1 + hf_coupled(ch) + (ch->mcstat > 0);
}
/* In the channel's first block; the next is row_stride further. */
FN u32 hf_panel_rows(hf_channel ch, u32 panel)
{
    return ch->rows + panel * hf_rows_of_bin(ch) * 64;
}
/* Where rows of `set` to dense slots begin. */
FN u32 hf_coupling_rows(hf_channel ch, u32 bins, u32 set)
{
    return ch->common ? 0 : (set + 1) * bins * 8;
}
/* L (L - 1) / 2 panel arrays for L sets; those of l > m begin at hf_below(l, m). */
FN GLOBAL real *hf_local_factors(hf_channel ch, GLOBAL real *s, u32 panel)
{
    return s + ch->local_l + panel * 4 * ch->sets * (ch->sets - 1);
}
FN u32 hf_below(u32 l, u32 m)
{
    return 8 * (l * (l - 1) / 2 + m);
}
/* Pivots by slot. */
FN GLOBAL real *hf_local_pivots(HF_PARAMETERS)
{
    return HF_S(LOCAL_D) - mi[HF_DENSE];
}
FN GLOBAL real *hf_local_couplings(HF_PARAMETERS)
{
    return HF_S(LOCAL_C) - mi[HF_DENSE];
}

/* ---- parts: what a stage of an evaluation works on ---- */

/* Channels in a row, with their units, cells and panels. The shifts move NU, the cells' arrays and HSUM: one
 * part after the other may use the same place, if nothing of it is read later. */
typedef struct {
    u32 first_channel, channels, first_unit, units, first_cell, cells, first_panel, panels;
    u32 normsys_shift, cell_shift, sums_shift;
    u32 kept; /* 1: second derivatives follow */
} hf_part;

/* Names a part, in a register. A call with the part itself would read its words again as wider ones, and wait
 * for them. */
typedef struct {
    u32 number; /* or HF_WHOLE */
    u32 kept;
} hf_part_key;
#define HF_WHOLE 0xffffffffu

FN hf_part_key hf_part_key_of(u32 number, u32 kept)
{
    hf_part_key key;
    key.number = number;
    key.kept = kept;
    return key;
}

FN hf_part hf_whole(CONSTANT u32 *mi)
{
    hf_part p;
    p.first_channel = p.first_unit = p.first_cell = p.first_panel = 0;
    p.channels = mi[HF_CHANNELS];
    p.units = mi[HF_UNITS];
    p.cells = mi[HF_CELLS];
    p.panels = mi[HF_PANELS];
    p.normsys_shift = p.cell_shift = p.sums_shift = 0;
    p.kept = 1;
    return p;
}

/* Many workers share the whole model. One alone goes channel by channel, while a channel is in its cache;
 * small models are there as a whole. */
#define HF_CELLS_AT_ONCE 16
FN u32 hf_goes_by_channel(CONSTANT u32 *mi)
{
    return TEAM_IS_ONE && mi[HF_CELLS] > HF_CELLS_AT_ONCE;
}

FN hf_part hf_part_of(CONSTANT u32 *mi, hf_part_key key)
{
    hf_part p = hf_whole(mi);
    p.kept = key.kept;
    if (key.number == HF_WHOLE) return p;
    hf_channel ch = hf_channel_of(mi, key.number);
    p.first_channel = key.number;
    p.channels = 1;
    p.first_unit = ch->first_unit;
    p.units = ch->units;
    p.first_cell = ch->first_cell;
    p.cells = ch->panels * ch->units;
    p.first_panel = ch->first_panel;
    p.panels = ch->panels;
    if (key.kept || ch->units == 0) return p;
    p.normsys_shift = hf_unit_of(mi, ch->first_unit)->normsys;
    p.cell_shift = 8 * ch->first_cell;
    p.sums_shift = hf_unit_of(mi, ch->first_unit)->sums;
    return p;
}

/* ---- numbers of the model, or a job's own (varied) ---- */

typedef struct {
    CONSTANT elem *table;
    GLOBAL const real *row; /* the job's own; read only if `varied` */
    u32 varied;             /* a constant in hot code */
} hf_numbers;

FN pack hf_number(hf_numbers numbers, u32 i)
{
    return numbers.varied ? LOADP(numbers.row, i) : LOADM(numbers.table, i);
}
FN hf_numbers hf_numbers_of(CONSTANT elem *table, GLOBAL const real *row, u32 varied)
{
    hf_numbers numbers;
    numbers.table = table;
    numbers.row = row;
    numbers.varied = varied;
    return numbers;
}

/* Precisions; 0: not of this kind. */
FN hf_numbers hf_precisions(HF_PARAMETERS, u32 varied)
{
    return hf_numbers_of(HF_R(PRECISION), HF_S(WIDTHS), varied);
}
FN hf_numbers hf_taus(HF_PARAMETERS, u32 varied)
{
    return hf_numbers_of(HF_R(TAU), HF_S(WIDTHS) + mi[HF_SLOTS], varied);
}
/* Coefficients of normsys entries. */
FN hf_numbers hf_coefficients(HF_PARAMETERS, u32 varied)
{
    return hf_numbers_of(HF_R(NORMSYS), HF_S(WIDTHS) + 2 * mi[HF_SLOTS], varied);
}
/* Entry i's block. */
FN hf_numbers hf_factor_block(hf_numbers all, u32 code, u32 i)
{
    const u32 at = HF_NORMSYS_AT(code, i - i % 8);
    return hf_numbers_of(all.table + at, all.row + at, all.varied);
}
FN pack hf_precision(HF_PARAMETERS, u32 slot)
{
    return hf_number(hf_precisions(HF, mi[HF_S_WIDTHS]), slot);
}
FN pack hf_tau(HF_PARAMETERS, u32 slot)
{
    return hf_number(hf_taus(HF, mi[HF_S_WIDTHS]), slot);
}

FN hf_numbers hf_shifts(HF_PARAMETERS, hf_unit un, u32 panel, u32 varied)
{
    const u32 n = un->histosys_count;
    return hf_numbers_of(mr + un->histosys_data + panel * n * 16,
                         s + (varied ? mi[HF_S_VARIED] + un->varied + panel * HF_VARIED_PANEL(n) + 8 : 0),
                         varied);
}

/* Nominal rates and shifts are logarithms (histfactory_shape.h). */
FN u32 hf_is_logarithmic(CONSTANT elem *mr, hf_unit un)
{
    return un->shape != HF_NO_SHAPE && mr[un->shape + HF_SHAPE_LOGARITHMIC] > 0;
}

/* Least rates of a sample, of a bin; at or below it a bin's rate is held. */
FN pack hf_sample_clip(CONSTANT u32 *mi, CONSTANT elem *mr)
{
    return PACK_OF_ELEM(mr[mi[HF_R_CLIPS]]);
}
FN u32 hf_clips_bins(CONSTANT u32 *mi, hf_channel ch)
{
    return (mi[HF_SWITCHES] & HF_CLIP_BINS) | ch->mcstat;
}
FN pack hf_bin_clip(CONSTANT u32 *mi, CONSTANT elem *mr, hf_channel ch)
{
    return PACK_OF_ELEM(mr[mi[HF_R_CLIPS] + (ch->mcstat > 0 ? 2 : 1)]);
}

/* ---- mcstat (histfactory_mcstat.h) ---- */

/* Errors e of the channel's unit u in bins b.. */
FN pack hf_mcstat_error(CONSTANT u32 *mi, CONSTANT elem *mr, hf_channel ch, u32 panel, u32 u, u32 b)
{
    return LOADM(HF_R(MCSTAT), hf_cell_at(ch, panel, u) + b);
}
FN pack hf_mcstat_gamma(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b)
{
    return LOADP(HF_S(X), hf_local_slot(mi, ch, ch->mcstat - 1, panel) + b);
}
/* Empty bins of a rate of 0 or more, if none is clipped but those of the model's least rate. */
FN pmask hf_mcstat_rises(CONSTANT u32 *mi, CONSTANT elem *mr, hf_channel ch, pack rate, pack n)
{
    return AND(AND(n <= PK(0.0), rate >= PK(0.0)), hf_bin_clip(mi, mr, ch) < PK(HF_MCSTAT_HIGHER));
}
/* lambda in bins b.., before a clip in channels with mcstat. */
FN pack hf_own_lambda(HF_PARAMETERS, hf_channel ch, u32 panel, u32 b)
{
    return LOADP(ch->mcstat > 0 ? HF_S(MCSTAT_RATE) : HF_S(LAMBDA), hf_first_bin(ch, panel) + b);
}
