/* histfactory_templates.h: numbers of a workspace that each job brings in its data row (paritas_template).
 *
 *   options ──► hf_templates_find ──► marks in the spec ──► freeze ──► hf_templates_freeze
 *                                                        ──► struct hf_templates of the model
 *   data row ──► hf_check_templates, hf_put_templates ──► what kernels read */
#ifndef PARITAS_HISTFACTORY_TEMPLATES_H
#define PARITAS_HISTFACTORY_TEMPLATES_H

#include "fit/family.h"
#include "histfactory/workspace_spec.h"

struct freezer;
struct hf_model;

/* A unit whose numbers are the job's: as in the kernels' tables, but in the data row from `place` on. */
struct hf_varied_unit {
    const struct hf_sample *sample;
    const struct hf_modifier **entries; /* its histosys */
    uint32_t n_entries, first_bin, n_bins, place;
    uint32_t first_datum;           /* main datum of its first bin */
    uint32_t first_cell, cell_step; /* its cells, panel by panel */
    uint32_t first_entry;           /* of all histosys entries */
};

/* The elements first .. first + n_bins - 1 of a set, whose widths follow from rates of which some are the
 * job's. */
struct hf_varied_width {
    const struct hf_channel *channel;
    const struct hf_set *set;
    uint32_t first, n_bins, n_carriers;
    struct hf_carrier {
        const struct hf_sample *sample;
        const double *uncertainty;
    } *carriers; /* all samples that carry it, by name */
    bool *alive; /* n_bins: constrained, by the workspace's rates */
};

/* Where a template stands among their numbers, and what it is called. */
struct hf_listed_template {
    const char *kind, *channel, *sample;
    uint32_t first, n_bins;
};

struct hf_templates {
    const double *observed;          /* the workspace's numbers */
    struct hf_listed_template *list; /* in the order given */
    uint32_t n_list, n_units, n_widths;
    struct hf_varied_unit *units;
    struct hf_varied_width *widths;
    uint32_t *width_of; /* per parameter: 1 + index of its width; 0: the spec's */
    /* per parameter, of the spec: what it adds to the constants; 0 where not Gaussian */
    double *gauss_terms;
    size_t precision, tau; /* where the data row has them; 0: in the table */
};

/* Finds the templates in the spec and marks what they replace. NOT_FOUND, INVALID_ARGUMENT with index and
 * reason. `count`: of all their numbers. */
paritas_status hf_templates_find(paritas_context *context, struct hf_spec *spec,
                                 const paritas_model_options *options, uint32_t *count);
/* Lists widths that follow from templates, before the tables are made; the rest, when the maps are. False:
 * out of memory. */
bool hf_templates_list_widths(struct freezer *f);
bool hf_templates_freeze(struct freezer *f);

/* ---- data rows; `numbers`: those of the templates ---- */

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

/* Sum over Gaussian constraints of what they add to the constants. */
double hf_gauss_constant(const struct hf_model *model, const double *numbers);
/* Sum of the rates that carry a staterror in a bin. */
double hf_carried_rate(const struct hf_varied_width *w, const double *numbers, uint32_t bin);
/* Do these rates decide the width of a bin's constraint (or the measurement, or nothing)? */
bool hf_follows_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin);
/* sigma or tau of element i of a set. */
double hf_width_in_row(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i);
/* The model's hooks, see fit/family.h. */
paritas_status hf_check_templates(paritas_context *context, const struct frozen *model, const double *numbers,
                                  const char *where);
void hf_put_templates(const struct frozen *model, const double *numbers, double *row);
void hf_suggest_aux(const struct frozen *model, const double *numbers, double *aux);
void hf_constraint_widths(const struct frozen *model, const double *numbers, double *widths);

#endif
