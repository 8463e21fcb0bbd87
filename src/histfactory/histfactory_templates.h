/* histfactory_templates.h: numbers of a workspace that jobs bring in data rows (paritas_template).
 *
 *   options ──► hf_templates_find ──► marks in the spec ──► freeze ──► hf_templates_freeze
 *                                                        ──► struct hf_templates of the model
 *   data row ──► hf_check_templates, hf_put_templates ──► what kernels read */
#ifndef PARITAS_HISTFACTORY_TEMPLATES_H
#define PARITAS_HISTFACTORY_TEMPLATES_H

#include "fit/family.h"
#include "histfactory/workspace/workspace_spec.h"

struct freezer;
struct hf_model;

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

/* Marks in the spec what templates replace, lists and counts them. NOT_FOUND or INVALID_ARGUMENT, with index
 * and reason. */
paritas_status hf_templates_find(struct freezer *f);
/* Runs before the tables are made. False: out of memory. */
bool hf_templates_list_widths(struct freezer *f);
bool hf_templates_freeze(struct freezer *f);

/* ---- data rows; `numbers`: of the templates ---- */

static inline const double *hf_rates(const struct hf_sample *sample, const double *numbers)
{
    return sample->data_template ? numbers + sample->data_template - 1 : sample->data;
}
static inline const double *hf_high(const struct hf_modifier *m, const double *numbers)
{
    return m->hi_template ? numbers + m->hi_template - 1 : m->hi_data;
}
static inline const double *hf_low(const struct hf_modifier *m, const double *numbers)
{
    return m->lo_template ? numbers + m->lo_template - 1 : m->lo_data;
}

static inline double hf_hi(const struct hf_modifier *m, const double *numbers)
{
    return m->hi_template ? numbers[m->hi_template - 1] : m->hi;
}
static inline double hf_lo(const struct hf_modifier *m, const double *numbers)
{
    return m->lo_template ? numbers[m->lo_template - 1] : m->lo;
}
static inline const double *hf_uncertainty(const struct hf_modifier *m, const double *numbers)
{
    return m->uncertainty_template ? numbers + m->uncertainty_template - 1 : m->uncertainty;
}

/* What Gaussian constraints add to the constants. */
double hf_gauss_constant(const struct hf_model *model, const double *numbers);
/* Do these numbers decide the bin's width? Else the measurement does, or there is no constraint. */
bool hf_follows_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin);
double hf_width_in_row(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i);
/* Hooks of the model, see fit/family.h. */
paritas_status hf_check_templates(paritas_context *context, const struct frozen *model, const double *numbers,
                                  const char *where);
void hf_put_templates(const struct frozen *model, const double *numbers, double *row);
void hf_suggest_aux(const struct frozen *model, const double *numbers, double *aux);
void hf_constraint_widths(const struct frozen *model, const double *numbers, double *widths);

#endif
