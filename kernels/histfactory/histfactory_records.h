/* histfactory_records.h: how kernels find their way in the tables of histfactory_arrays.h. */
#ifndef PARITAS_HISTFACTORY_RECORDS_H
#define PARITAS_HISTFACTORY_RECORDS_H

#include "histfactory/histfactory_arrays.h"

#define HF_PARAMETERS CONSTANT u32 *mi, CONSTANT elem *mr UNUSED, GLOBAL real *s
#define HF mi, mr, s
/* Where a table, an array or a vector of the slab begins. */
#define HF_I(name) (mi + mi[HF_I_##name])
#define HF_R(name) (mr + mi[HF_R_##name])
#define HF_S(name) (s + mi[HF_S_##name])
#if F64
#define HF_HUGE R(1e300) /* "outside the domain": larger than any likelihood */
#else
#define HF_HUGE R(1e30)
#endif

/* ---- records ---- */

typedef CONSTANT hf_channel_record *hf_channel;
typedef CONSTANT hf_panel_record *hf_panel;
typedef CONSTANT hf_cell_record *hf_cell;
typedef CONSTANT hf_unit_record *hf_unit;
typedef CONSTANT hf_set_record *hf_set;
typedef CONSTANT hf_pair_record *hf_pair;

FN hf_channel hf_channel_of(CONSTANT u32 *mi, u32 c)
{
    return (hf_channel)(HF_I(CHANNELS)) + c;
}
FN hf_panel hf_panel_of(CONSTANT u32 *mi, u32 panel)
{
    return (hf_panel)(HF_I(PANELS)) + panel;
}
FN hf_unit hf_unit_of(CONSTANT u32 *mi, u32 unit)
{
    return (hf_unit)(HF_I(UNITS)) + unit;
}
/* Local set `set` of a channel. */
FN hf_set hf_set_of(CONSTANT u32 *mi, hf_channel ch, u32 set)
{
    return (hf_set)(HF_I(SETS)) + (ch->first_set + set);
}

/* ---- places: `panel` counts within the channel ---- */

FN u32 hf_bins(hf_channel ch, u32 panel)
{
    return panel + 1 < ch->panels ? 8 : ch->last_bins;
}
/* First bin of a panel among all, padding included. */
FN u32 hf_first_bin(hf_channel ch, u32 panel)
{
    return (ch->first_panel + panel) * 8;
}
/* First element of the cell of unit `u` of the channel. */
FN u32 hf_cell_at(hf_channel ch, u32 panel, u32 u)
{
    return (ch->first_cell + panel * ch->units + u) * 8;
}
/* Slot of a local set's first bin in a panel. */
FN u32 hf_local_slot(CONSTANT u32 *mi, hf_channel ch, u32 set, u32 panel)
{
    return hf_set_of(mi, ch, set)->slot + 8 * panel;
}
/* Dense slot `i` of those of the channel's blocks. */
FN u32 hf_dense_slot(CONSTANT u32 *mi, hf_channel ch, u32 i)
{
    return mi[ch->block_list + i / 8] * 8 + i % 8;
}
/* Local sets that have kept rows of their own. */
FN u32 hf_coupled(hf_channel ch)
{
    return ch->common ? 0 : ch->sets;
}
/* The kept rows of a panel in the channel's first block; those of the next lie row_stride further. */
FN u32 hf_panel_rows(hf_channel ch, u32 panel)
{
    return ch->rows + panel * (1 + hf_coupled(ch)) * 64;
}
/* Among them, where the rows that tie a local set to the dense slots begin. */
FN u32 hf_coupling_rows(hf_channel ch, u32 bins, u32 set)
{
    return ch->common ? 0 : (set + 1) * bins * 8;
}
/* Factors of a panel's local blocks, below their diagonals. Those of sets l > m begin at hf_below(l, m). */
FN GLOBAL real *hf_local_factors(hf_channel ch, GLOBAL real *s, u32 panel)
{
    return s + ch->local_l + panel * 4 * ch->sets * (ch->sets - 1);
}
FN u32 hf_below(u32 l, u32 m)
{
    return 8 * (l * (l - 1) / 2 + m);
}
/* Pivots of the local blocks, and factors from kept rows to coupling rows: by slot. */
FN GLOBAL real *hf_local_pivots(HF_PARAMETERS)
{
    return HF_S(LOCAL_D) - mi[HF_DENSE];
}
FN GLOBAL real *hf_local_couplings(HF_PARAMETERS)
{
    return HF_S(LOCAL_C) - mi[HF_DENSE];
}

/* ---- numbers of a model, or of a job where they are varied ---- */

typedef struct {
    CONSTANT elem *table;
    GLOBAL const real *row; /* the job's own; looked at only where `varied` */
    u32 varied;             /* a constant, wherever speed counts */
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

/* 1/sigma^2 of the slots' constraints, and tau; 0 where a constraint is not of this kind. */
FN hf_numbers hf_precisions(HF_PARAMETERS, u32 varied)
{
    return hf_numbers_of(HF_R(PRECISION), HF_S(WIDTHS), varied);
}
FN hf_numbers hf_taus(HF_PARAMETERS, u32 varied)
{
    return hf_numbers_of(HF_R(TAU), HF_S(WIDTHS) + mi[HF_SLOTS], varied);
}
FN pack hf_precision(HF_PARAMETERS, u32 slot)
{
    return hf_number(hf_precisions(HF, mi[HF_S_WIDTHS]), slot);
}
FN pack hf_tau(HF_PARAMETERS, u32 slot)
{
    return hf_number(hf_taus(HF, mi[HF_S_WIDTHS]), slot);
}

/* Shifts of a unit's histosys in a panel. */
FN hf_numbers hf_shifts(HF_PARAMETERS, hf_unit un, u32 panel, u32 varied)
{
    const u32 n = un->histosys_count;
    return hf_numbers_of(mr + un->histosys_data + panel * n * 16,
                         s + (varied ? mi[HF_S_VARIED] + un->varied + panel * HF_VARIED_PANEL(n) + 8 : 0),
                         varied);
}

/* ---- clips ---- */

/* The least rate of a sample; and of a bin, at or below which the rate is held. */
FN pack hf_sample_clip(CONSTANT u32 *mi, CONSTANT elem *mr)
{
    return PACK_OF_ELEM(mr[mi[HF_R_CLIPS]]);
}
FN pack hf_bin_clip(CONSTANT u32 *mi, CONSTANT elem *mr)
{
    return PACK_OF_ELEM(mr[mi[HF_R_CLIPS] + 1]);
}

#endif
