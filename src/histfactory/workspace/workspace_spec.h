/* workspace_spec.h: a validated workspace and one measurement, in pyhf's order.
 *
 *   JSON document ──► hf_spec_read ──► struct hf_spec ──► hf_freeze ──► flat arrays for the kernels
 *
 * Channels and samples are sorted by name; parameter sets have pyhf's order, which is not alphabetical.
 * Nothing is checked again later. */
#pragma once

#include "base/expression.h"
#include "histfactory/modifiers/modifiers.h"

struct hf_name; /* workspace_read.h */

/* Channels, samples and modifiers begin with what the reader knows: the name, and the place in the file. */
struct hf_modifier {
    struct hf_name *key;
    uint32_t index;
    hf_type type;
    uint32_t set;                    /* in hf_spec.sets */
    uint32_t first;                  /* element for bin 0 of this channel */
    int code;                        /* NORMSYS: paritas_normsys_code; HISTOSYS: paritas_histosys_code */
    double hi, lo;                   /* NORMSYS */
    const double *hi_data, *lo_data; /* HISTOSYS, one a bin */
    double scale;                    /* HISTOSYS: interpolates at scale * parameter */
    /* NORMSYS, HISTOSYS: place among template numbers + 1; 0: the numbers above */
    uint32_t hi_template, lo_template;
    const double *uncertainty; /* SHAPESYS, STATERROR, MCSTAT: absolute, one a bin */
    uint32_t uncertainty_template;
    uint32_t n_hi, n_lo; /* lengths as read; n_hi: also of `uncertainty` */
};

/* What is done to a sample's rates before its factors: max(rate, minimum), scaled to a total. Logarithmic:
 * histosys shift logarithms of rates, whose exponentials are scaled first. */
struct hf_sample_shape {
    bool given, logarithmic;
    double minimum, total, padding; /* total 0: not scaled */
    double
        edge; /* the nominal rate from which the minimum holds: 0 for a tiny one, which is for those below */
};

struct hf_sample {
    struct hf_name *key;
    uint32_t index;
    const char *name;
    const double *data;            /* nominal, one a bin */
    struct hf_modifier *modifiers; /* sorted by (name, type) */
    uint32_t n_bins, n_modifiers;
    uint32_t data_template; /* as hi_template */
    struct hf_sample_shape shape;
};

/* The first modifier of a type; NULL: none. */
static inline const struct hf_modifier *hf_find_type(const struct hf_sample *sample, hf_type type)
{
    for (uint32_t m = 0; m < sample->n_modifiers; m++)
        if (sample->modifiers[m].type == type) return &sample->modifiers[m];
    return NULL;
}

struct hf_channel {
    struct hf_name *key;
    uint32_t index;
    const char *name;
    struct hf_sample *samples; /* sorted by name */
    const double *observed;
    uint32_t n_samples, n_bins;
    uint32_t first_bin; /* in main data */
    bool masked;        /* left out of the likelihood */
};

struct hf_set {
    const char *name;
    const struct hf_modifier_kind *kind; /* its first modifier in pyhf's order */
    uint32_t size;
    uint32_t first;     /* first parameter in pyhf's order */
    uint32_t first_aux; /* first auxiliary datum, if constrained */
    bool scalar;        /* named x; else x[i], even for size 1 */
    hf_constraint constraint;
    double *init, *lower, *upper; /* size each */
    unsigned char *fixed;
    bool fixed_given, aux_given, width_given; /* by the measurement, not from rates */
    double *aux;                              /* observed auxiliary data, if constrained */
    double offset, slope;                     /* of laws of y; else 0 and 1 */
    double ratio;                             /* HF_AFFINE_RATIO */
    double *sigma;                            /* of measurements; else NULL */
    double *tau;                              /* of counts; else NULL */
};

static inline const struct hf_constraint_kind *hf_law(const struct hf_set *set)
{
    return &hf_constraint_kinds[set->constraint];
}

/* A factor whose value is an expression of parameters. It stands behind all parameters: function k is number
 * n_parameters + k, with the set n_sets + k. */
struct hf_function {
    struct hf_name *key;
    const struct expression *expression;
    uint32_t *arguments; /* their numbers; functions among them come before this one */
};

/* Parameters whose measurements have a joint normal law, with their own sigmas; or a penalty, which has
 * centres but neither data, sigmas nor draws. */
struct hf_correlation {
    uint32_t n, *parameters, *data; /* data: the auxiliary ones, in a data row */
    double *sigmas;
    double *ties;    /* n^2: precision matrix minus its part without correlation, the diagonal of 1/sigma^2 */
    double *draws;   /* n^2: independent deviations to correlated ones; a lower triangle */
    double *centres; /* n, of a penalty; NULL: a joint law */
};

struct hf_spec {
    struct arena arena; /* holds everything below */
    struct hf_channel *channels;
    struct hf_set *sets;
    struct hf_function *functions; /* those in use */
    struct hf_correlation *correlations;
    uint32_t n_functions, n_correlations;
    double correlation_constant; /* sum of ln(determinant of the correlation matrix) / 2 */
    uint32_t n_channels, n_sets;
    uint32_t n_parameters, n_main, n_aux;
    int32_t poi;            /* index; -1: none */
    uint32_t n_pois;        /* of the measurement, if it lists several; else 0 */
    size_t *pois;           /* their indices, `poi` first */
    const char *poi_name;   /* NULL: none */
    const char *unused_poi; /* POI of the measurement that the model lacks; NULL: none */
};

/* The set that has a parameter. */
static inline const struct hf_set *hf_set_of_parameter(const struct hf_spec *spec, uint32_t parameter)
{
    const struct hf_set *set = spec->sets;
    while (parameter - set->first >= set->size) set++;
    return set;
}

/* Is one of the set's parameters correlated or penalised? */
static inline bool hf_has_correlated(const struct hf_spec *spec, const struct hf_set *set)
{
    bool any = false;
    for (uint32_t c = 0; c < spec->n_correlations; c++)
        for (uint32_t i = 0; i < spec->correlations[c].n; i++)
            any = any || spec->correlations[c].parameters[i] - set->first < set->size;
    return any;
}

struct paritas_workspace;

/* `measurement` NULL: the first. `poi` NULL: the measurement's; "": none. Messages: file, JSON path in
 * file order (channels[2].samples[0].data[3]), reason. */
paritas_status hf_spec_read(paritas_context *context, const paritas_workspace *workspace,
                            const char *measurement, const char *poi, struct hf_spec **spec);
void hf_spec_free(struct hf_spec *spec);

/* Gives `normsys` and `histosys` to modifiers without a code of their own. INVALID_INPUT: a histosys that its
 * code cannot interpolate. */
paritas_status hf_codes_settle(paritas_context *context, const paritas_workspace *workspace,
                               struct hf_spec *spec, paritas_normsys_code normsys,
                               paritas_histosys_code histosys);

/* Refuses factors a bin beside an mcstat or a shape with a total. Comes behind hf_codes_settle. */
paritas_status hf_whole_channels_check(paritas_context *context, const paritas_workspace *workspace,
                                       const struct hf_spec *spec);
