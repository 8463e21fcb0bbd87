/* workspace_spec.h: a workspace and one of its measurements, validated, in pyhf's order, before it is frozen.
 *
 *   JSON document ──► hf_spec_read ──► struct hf_spec ──► hf_freeze ──► flat arrays for the kernels
 *
 * Channels and samples are sorted by name; parameter sets stand in pyhf's order, which is not alphabetical.
 * Nothing later needs to check anything again. */
#ifndef PARITAS_WORKSPACE_SPEC_H
#define PARITAS_WORKSPACE_SPEC_H

#include "histfactory/histfactory_modifiers.h"

struct hf_modifier {
    hf_type type;
    uint32_t set;                    /* index into hf_spec.sets */
    uint32_t first;                  /* element of the set for bin 0 of this channel */
    double hi, lo;                   /* NORMSYS */
    const double *hi_data, *lo_data; /* HISTOSYS, one a bin */
    /* HISTOSYS: where they stand among the numbers of the templates, plus 1; 0: they are those above */
    uint32_t hi_template, lo_template;
    const double *uncertainty; /* SHAPESYS, STATERROR: absolute, one a bin */
};

struct hf_sample {
    const char *name;
    const double *data;            /* nominal rates, one a bin */
    struct hf_modifier *modifiers; /* sorted by (name, type) */
    uint32_t n_modifiers;
    uint32_t data_template; /* as hi_template */
};

struct hf_channel {
    const char *name;
    struct hf_sample *samples; /* sorted by name */
    const double *observed;
    uint32_t n_samples, n_bins;
    uint32_t first_bin; /* in main data */
};

struct hf_set {
    const char *name;
    const struct hf_modifier_kind *kind; /* of its modifiers: the first in pyhf's order */
    uint32_t size;                       /* parameters in the set */
    uint32_t first;                      /* index of its first parameter in pyhf's order */
    uint32_t first_aux; /* index of its first auxiliary datum; meaningful where constrained */
    bool scalar;        /* named x; else x[i], also where size is 1 */
    hf_constraint constraint;
    double *init, *lower, *upper; /* size each */
    unsigned char *fixed;
    bool fixed_given, aux_given, width_given; /* by the measurement: they do not follow from rates */
    double *aux;                              /* constrained: observed auxiliary data */
    double *sigma;                            /* GAUSSIAN: width */
    /* POISSON: rate per unit of the parameter; expected auxiliary data is tau * parameter */
    double *tau;
};

struct hf_spec {
    struct arena arena; /* everything below lives here */
    struct hf_channel *channels;
    struct hf_set *sets;
    uint32_t n_channels, n_sets;
    uint32_t n_parameters, n_main, n_aux;
    int32_t poi;            /* parameter index, -1: none */
    const char *poi_name;   /* of `poi`, else NULL */
    const char *unused_poi; /* a POI that the measurement names and the model lacks; NULL: none */
};

struct paritas_workspace;

/* Reads, checks and sorts. `measurement` NULL: the first. `poi` NULL: the measurement's, "": none. Messages
 * name file, JSON path (indices in file order, channels[2].samples[0].data[3]) and reason. */
paritas_status hf_spec_read(paritas_context *context, const paritas_workspace *workspace,
                            const char *measurement, const char *poi, struct hf_spec **spec);
void hf_spec_free(struct hf_spec *spec);

#endif
