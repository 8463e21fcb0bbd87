/* modifiers.h: the modifiers: data, parameters, action. All parts use these descriptions.
 *
 * To add a modifier:
 *   include/paritas_model.h       a line of PARITAS_MODIFIER_LIST
 *   modifiers.h                   a line of HF_MODIFIERS, in pyhf's place for the type
 *   modifier_NAME.c               its description hf_modifier_NAME, and its numbers
 * Only for a new action on rates:
 *   modifiers.h                   a line of enum hf_action
 *   kernels/histfactory/histfactory_arrays.h   its fields of a unit
 *   freeze_tables.c               writes its entries
 *   kernels/histfactory/histfactory_NAME.h     the action, called in histfactory_rates.h, _curvature.h and
 *                                              _tangent.h */
#pragma once

#include "base/context.h"
#include "histfactory/modifiers/constraints.h"

/* By name: pyhf numbers parameters in this order. Others come last. */
#define HF_MODIFIERS(MODIFIER)         \
    MODIFIER(HISTOSYS, histosys)       \
    MODIFIER(LUMI, lumi)               \
    MODIFIER(NORMFACTOR, normfactor)   \
    MODIFIER(NORMSYS, normsys)         \
    MODIFIER(SHAPEFACTOR, shapefactor) \
    MODIFIER(SHAPESYS, shapesys)       \
    MODIFIER(STATERROR, staterror)     \
    MODIFIER(MCSTAT, mcstat)

#define HF_MODIFIER_TYPE(NAME, name) HF_##NAME,
typedef enum hf_type { HF_MODIFIERS(HF_MODIFIER_TYPE) HF_TYPE_COUNT } hf_type;

/* "data" of a modifier. */
enum hf_data {
    HF_DATA_NONE,      /* null */
    HF_DATA_HI_LO,     /* object of two positive numbers: hi, lo */
    HF_DATA_BINS,      /* array: uncertainties, one a bin */
    HF_DATA_HI_LO_BINS /* object of two such arrays: hi_data, lo_data */
};
/* Action on the sample's rates in a channel. */
enum hf_action {
    HF_FACTOR,              /* factor: scalars of the kernels */
    HF_INTERPOLATED_FACTOR, /* interpolated factor: normsys of the kernels */
    HF_INTERPOLATED_SHIFT,  /* interpolated shift a bin: histosys of the kernels */
    HF_FACTORS,             /* factors, one a bin: local sets of the kernels */
    HF_BIN_ERRORS           /* errors that add to the bins' rates: local sets of the kernels */
};
/* Parameters of one name. */
enum hf_extent {
    HF_ONE,             /* one */
    HF_EACH_BIN,        /* one a bin, shared by channels */
    HF_EACH_BIN_OF_EACH /* one a bin and channel */
};

struct hf_modifier;
struct hf_raw;
struct hf_use;
struct hf_sample;
struct hf_set;
struct hf_spread;

struct hf_modifier_kind {
    const char *name;
    enum hf_data data;
    enum hf_action action;
    enum hf_extent extent;
    hf_constraint constraint;
    unsigned shares;       /* bits of hf_type: may share the name */
    const char *only_name; /* required name; NULL: any */
    bool sigma_given;      /* the measurement may give widths (default 1) */
    bool all_given;        /* the measurement must give inits, bounds, auxdata, sigmas */
    /* else these */
    double init, lower, upper, aux;
    /* Does it change anything? NULL: always. */
    bool (*acts)(const struct hf_modifier *modifier, const struct hf_sample *sample, uint32_t n_bins);
    /* Fills sigma or tau, aux and fixed by the set's modifiers. NULL: not from rates. */
    paritas_status (*fill)(const struct hf_raw *raw, struct hf_set *set, const struct hf_spread *spreads);
    /* Fills `fixed`: parameters without effect. NULL: all have one, or `fill` knows. */
    void (*hold)(struct hf_set *set, const struct hf_spread *spreads);
    /* Refuses what the kind cannot serve, in file order. NULL: nothing. */
    paritas_status (*check)(const struct hf_raw *raw, const struct hf_use *use);
};

#define HF_MODIFIER_KIND(NAME, name) extern const struct hf_modifier_kind hf_modifier_##name;
HF_MODIFIERS(HF_MODIFIER_KIND)

extern const struct hf_modifier_kind *const hf_kinds[HF_TYPE_COUNT]; /* by hf_type */
static inline const struct hf_modifier_kind *hf_kind(hf_type type)
{
    return hf_kinds[type];
}
/* Returns HF_TYPE_COUNT if there is no such type. */
hf_type hf_type_of(const char *text);

#define HF_BIT(type) (1u << (type))
