/* card_workspace.h: a card's tables become a workspace.
 *
 *   card_parameters_collect   what floats, from which value, in which range, by which law
 *   card_samples_add          a channel's samples: templates, factors, morphs
 *   card_measurement_add      the parameters' configuration
 *
 * A column is absent where its rate is 0. */
#pragma once

#include "datacard/card_shapes.h"
#include "base/json/json.h"

/* What a nuisance, a rateParam or the signal strength becomes. */
enum card_constraint { CARD_GAUSS, CARD_FREE, CARD_POISSON };
struct card_parameter {
    const char *name;
    enum card_law law; /* CARD_LAWS: a factor of the card or the signal strength */
    const struct card_nuisance *nuisance;
    const struct card_rate *rate;
    enum card_constraint constraint;
    double start, lower, upper;
    double count, scale; /* Poisson: auxdata and factors */
    bool frozen;
    bool used; /* a modifier of the workspace has it */
};

struct card_build {
    struct card *card;
    struct card_files *files;
    struct arena *arena; /* the card's */
    paritas_workspace *document;
    struct card_parameter *parameters;
    uint32_t n_parameters, n_samples;
    struct card_sample *samples; /* one a column */
    uint32_t n_widest;           /* bins of the widest channel with histograms */
    bool failed;                 /* out of memory */
};

/* A modifier of a sample, before it is written. */
struct card_effect {
    struct card_parameter *parameter;
    double high, low;        /* factors; 1 and 1: none */
    bool lognormal;          /* their interpolation; else linear */
    bool morphs;             /* without a norm of its own there is no normsys */
    bool factor;             /* a normfactor */
    const double *up, *down; /* a morph; NULL: none */
    double scale;            /* of the morph */
};

/* The error of one bin of a process, which shifts it; normal constraint. */
struct card_bin_shift {
    struct card_bin_shift *next;
    const char *name;
    uint32_t bin;
    double error;
};

/* A column's sample, before it is written. */
struct card_sample {
    uint32_t column, n_bins;
    double *data;
    double minimum; /* of a bin before the factors; NaN: none */
    double total;   /* to which bins are scaled after that; NaN: not */
    double padding;
    bool logarithmic; /* morphs are of logarithms */
    struct card_effect *effects;
    uint32_t n_effects;
    const double *errors;    /* of data; NULL: none */
    const char *errors_name; /* parameters of the channel's bins; NULL: none */
    double *bin_errors;      /* what they shift: errors, 0 in other bins */
    const char *counts_name; /* parameters of bins with few events; NULL: none */
    double *counts;          /* their counts; 0 in other bins */
    struct card_bin_shift *shifts;
};

/* Out of memory sets `failed`: check once. */
void card_put(struct card_build *build, struct json *object, const char *key, struct json *value);
void card_put_text(struct card_build *build, struct json *object, const char *key, const char *text);
void card_put_number(struct card_build *build, struct json *object, const char *key, double value);
struct json *card_put_array(struct card_build *build, struct json *object, const char *key);
struct json *card_put_object(struct card_build *build, struct json *object, const char *key);
struct json *card_append_object(struct card_build *build, struct json *array);
void card_put_numbers(struct card_build *build, struct json *object, const char *key, size_t n,
                      const double *values);

/* A pair of an array of bounds. */
void card_put_range(struct card_build *build, struct json *bounds, double lower, double upper);

paritas_status card_parameters_collect(struct card_build *build);
struct card_parameter *card_parameter_find(const struct card_build *build, const char *name);
paritas_status card_parameters_write(struct card_build *build, struct json *config);

/* Adds the effects on the normalisation; then finds the rate of a column whose histogram has that integral
 * (NaN: none). */
paritas_status card_factors_find(struct card_build *build, struct card_sample *sample);
paritas_status card_factor_add(struct card_build *build, struct card_sample *sample,
                               const struct card_nuisance *nuisance);
paritas_status card_rate_find(const struct card *card, const struct card_sample *sample, double integral,
                              double *rate);
/* The `gmN` of a column; NULL: none. */
const struct card_nuisance *card_control_count(const struct card *card, uint32_t column);
/* The effect of a parameter on a sample, new or not; NULL: out of memory. */
struct card_effect *card_effect_of(struct card_build *build, struct card_sample *sample,
                                   struct card_parameter *parameter);
/* A sample with histograms; without bins if it is absent. */
paritas_status card_template_sample(struct card_build *build, struct card_sample *sample);
/* Errors of templates by autoMCStats: which parameters the bins of a channel have. */
paritas_status card_bin_errors_find(struct card_build *build, uint32_t channel, struct card_sample *samples,
                                    uint32_t n);
/* What a sample's bins with few events need in the measurement. */
void card_counts_write(struct card_build *build, struct json *list, const struct card_sample *sample);
void card_sample_write(struct card_build *build, struct json *samples, const struct card_sample *sample);

/* The document. `files` stay open. */
paritas_status card_workspace_make(struct card *card, struct card_files *files,
                                   paritas_workspace **workspace);
