/* histfactory_modifiers.h: the seven modifiers: what each has in a document, its parameters and what it does
 * to rates. Reader, parameters, freezing and operations go by these descriptions.
 *
 * To add a modifier:
 *   include/paritas_model.h       a line of PARITAS_MODIFIER_LIST
 *   histfactory_modifiers.h       a line of HF_MODIFIERS, in the place that pyhf gives the type
 *   modifier_NAME.c               its description hf_modifier_NAME, and how its numbers are made
 * Only if it acts on rates as none before it:
 *   histfactory_modifiers.h       a line of enum hf_action
 *   kernels/histfactory/histfactory_arrays.h   its fields of a unit
 *   freeze_tables.c               what writes its entries
 *   kernels/histfactory/histfactory_NAME.h     what it does, called in histfactory_rates.h, _curvature.h and
 *                                              _tangent.h
 */
#ifndef PARITAS_HISTFACTORY_MODIFIERS_H
#define PARITAS_HISTFACTORY_MODIFIERS_H

#include "base/context.h"

/* In the order in which pyhf walks the types to number parameters, which is that of their names. */
#define HF_MODIFIERS(MODIFIER)         \
    MODIFIER(HISTOSYS, histosys)       \
    MODIFIER(LUMI, lumi)               \
    MODIFIER(NORMFACTOR, normfactor)   \
    MODIFIER(NORMSYS, normsys)         \
    MODIFIER(SHAPEFACTOR, shapefactor) \
    MODIFIER(SHAPESYS, shapesys)       \
    MODIFIER(STATERROR, staterror)

#define HF_MODIFIER_TYPE(NAME, name) HF_##NAME,
typedef enum hf_type { HF_MODIFIERS(HF_MODIFIER_TYPE) HF_TYPE_COUNT } hf_type;
typedef enum hf_constraint { HF_UNCONSTRAINED, HF_GAUSSIAN, HF_POISSON } hf_constraint;

/* What "data" holds. */
enum hf_data {
    HF_DATA_NONE,      /* null */
    HF_DATA_HI_LO,     /* an object of two positive numbers: hi, lo */
    HF_DATA_BINS,      /* an array: uncertainties, one a bin */
    HF_DATA_HI_LO_BINS /* an object of two such arrays: hi_data, lo_data */
};
/* What it does to the rates of its sample in a channel. */
enum hf_action {
    HF_FACTOR,              /* the parameter is a factor: scalars of the kernels */
    HF_INTERPOLATED_FACTOR, /* a factor, interpolated: normsys of the kernels */
    HF_INTERPOLATED_SHIFT,  /* a shift a bin, interpolated: histosys of the kernels */
    HF_FACTORS              /* the parameters are factors, one a bin: local sets of the kernels */
};
/* The parameters of one name. */
enum hf_extent {
    HF_ONE,             /* one */
    HF_EACH_BIN,        /* one a bin, the same in all channels */
    HF_EACH_BIN_OF_EACH /* one a bin of each channel */
};

struct hf_modifier;
struct hf_raw;
struct hf_sample;
struct hf_set;
struct hf_spread;

struct hf_modifier_kind {
    const char *name; /* as in documents */
    enum hf_data data;
    enum hf_action action;
    enum hf_extent extent;
    hf_constraint constraint;
    unsigned shares;       /* bit per hf_type: modifiers that may have the same name */
    const char *only_name; /* the name that it must have; NULL: any */
    bool sigma_given;      /* the measurement may give widths; else they are 1 */
    bool all_given;        /* the measurement must give inits, bounds, auxdata and sigmas */
    /* otherwise these hold */
    double init, lower, upper, aux;
    /* Does this modifier change anything? NULL: always. */
    bool (*acts)(const struct hf_modifier *modifier, const struct hf_sample *sample, uint32_t n_bins);
    /* Fills sigma or tau, aux and fixed of a set from `spreads`, all its modifiers. NULL: they do not follow
     * from rates. */
    paritas_status (*fill)(const struct hf_raw *raw, struct hf_set *set, const struct hf_spread *spreads);
};

#define HF_MODIFIER_KIND(NAME, name) extern const struct hf_modifier_kind hf_modifier_##name;
HF_MODIFIERS(HF_MODIFIER_KIND)

const struct hf_modifier_kind *hf_kind(hf_type type);
/* The type of that name; HF_TYPE_COUNT: there is none. */
hf_type hf_type_of(const char *text);

#define HF_BIT(type) (1u << (type))

#endif
