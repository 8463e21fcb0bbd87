/* histfactory_frozen.h: a frozen HistFactory model. Immutable, but for tables that it makes late.
 *
 *   options ──► freeze_find_templates ──► marks in the spec ──► freeze ──► freeze_templates
 *                                                           ──► struct hf_templates of the model
 *   data row ──► histfactory_templates.h ──► what kernels read */
#pragma once

#include "fit/family.h"
#include "histfactory/workspace/workspace_spec.h"

/* A unit with rates, shifts or factors from the data row. */
struct hf_varied_unit {
    const struct hf_sample *sample;
    const struct hf_modifier **entries; /* histosys */
    uint32_t n_entries, first_bin, n_bins;
    uint32_t place;                 /* of rates and shifts; 0: in the table */
    uint32_t first_datum;           /* main datum of its first bin */
    uint32_t first_cell, cell_step; /* panel by panel */
    uint32_t first_entry;           /* among all histosys entries */
    uint32_t n_factors;
    struct hf_varied_factor {
        const struct hf_modifier *modifier;
        uint32_t entry; /* among all normsys entries */
    } *factors;
};

/* Elements first .. first + n_bins - 1 of a set: widths from numbers that the job may bring. */
struct hf_varied_width {
    const struct hf_channel *channel;
    const struct hf_set *set;
    uint32_t first, n_bins, n_carriers;
    struct hf_carrier {
        const struct hf_sample *sample;
        const struct hf_modifier *modifier;
    } *carriers; /* samples that carry it, by name */
    bool *alive; /* n_bins: constrained by the workspace's numbers */
};

struct hf_listed_template {
    const char *kind;
    const struct hf_channel *channel;
    const struct hf_sample *sample;
    const double *numbers; /* the workspace's */
    uint32_t first, n;
    bool positive; /* must they be? */
};

struct hf_templates {
    const double *observed;
    struct hf_listed_template *list; /* in the given order */
    uint32_t n_list, n_units, n_widths;
    struct hf_varied_unit *units;
    struct hf_varied_width *widths;
    uint32_t *width_of; /* per parameter: index of its width + 1; 0: the spec's */
    /* per parameter, from the spec: part of the constants; 0: not Gaussian */
    double *gauss_terms;
    size_t precision, tau, coefficients; /* in the data row; 0: in the table */
    bool vary_factors;                   /* templates of a normsys */
};

struct hf_model {
    struct frozen frozen; /* first */
    paritas_allocator allocator;
    struct hf_spec *spec; /* owned: names, samples, observations */
    /* The same model without masks, owned: it knows the rates of masked channels, which here are padding.
     * NULL: no channel is masked. */
    struct hf_model *whole;
    /* Are the tables of second derivatives left out? A model of the same spec has them, owned: the first
     * thread that asks makes it. Both take their memory from malloc, which every thread may call. */
    bool defers;
    paritas_model_options options; /* for it: without names and templates */
    struct hf_model *_Atomic complete;
    struct arena arena; /* maps, names, templates */
    /* element of the cell array, by channel, sample, bin */
    uint32_t *cell_of;
    size_t n_rates;
    double gauss_constant;         /* sum over Gaussians of ln(sigma sqrt(2 pi)) */
    size_t n_bins, n_cells;        /* with padding: elements of an array by bin, by cell */
    struct hf_templates templates; /* if any */
};

/* The model that expects data. */
static inline const struct hf_model *hf_whole(const struct paritas_model *given)
{
    const struct hf_model *model = (const struct hf_model *)given;
    return model->whole ? model->whole : model;
}
