/* workspace_read.h: the reader.
 *
 *   JSON tree ──► hf_raw_read ──► struct hf_raw ──► hf_sets_build ──► struct hf_spec
 *                                 file order                          pyhf's order
 *
 * Step one checks the shape (pyhf's schema, unique names); workspace operations need no more. Names become
 * integers: no text is compared later. Step two checks the meaning. */
#pragma once

#include "histfactory/workspace/schema_check.h"
#include "histfactory/workspace/workspace_spec.h"

/* A modifier where it is used; modifier NULL: the sample. */
struct hf_use {
    const struct hf_channel *channel;
    const struct hf_sample *sample;
    struct hf_modifier *modifier;
};

/* A modifier that decides widths of its set, or what is fixed there. */
struct hf_spread {
    struct hf_use use;
    const struct hf_spread *next; /* in the set, by channel and sample */
};

/* A name of channels, samples, modifiers, observations or measurements. Stamps tell where it was last met. */
struct hf_name {
    const char *text;
    uint32_t length;
    uint32_t hash;
    uint32_t rank;                 /* order of texts, by hf_names_rank */
    uint32_t channel;              /* its channel's file index + 1; 0: none */
    uint32_t observation;          /* same */
    uint32_t measurement;          /* same */
    uint32_t sample_in, sample_at; /* channel (index + 1) with this sample, and place */
    /* measurement (index + 1) that configures this parameter, and place */
    uint32_t config_in, config_at;
    uint32_t function_in, function_at;   /* same: defines this function */
    bool is_argument;                    /* of a function of any measurement */
    uint32_t modifier_in[HF_TYPE_COUNT]; /* serial number of the sample with this (name, type) */
    uint32_t modifier_at[HF_TYPE_COUNT];
    uint32_t types;          /* hf_name_types, while meaning is checked */
    uint32_t set;            /* index of the set + 1; 0: none */
    struct hf_use first_use; /* first in file order that filled `types` */
};

/* HF_BIT of each type. */
static inline uint32_t hf_name_types(const struct hf_name *name)
{
    uint32_t types = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (name->modifier_in[type] != 0) types |= HF_BIT(type);
    return types;
}

struct hf_names {
    struct arena *scratch, *keep; /* of the table; of names */
    struct hf_name **table;       /* open addressing; NULL: empty */
    uint32_t count, size;
};

/* Absent: NULL, n 0. */
struct hf_list {
    const double *at;
    uint32_t n;
};

struct hf_raw_observation {
    struct hf_name *name;
    struct hf_list data;
};

enum hf_setting {
    HF_GIVEN_INITS,
    HF_GIVEN_BOUNDS,
    HF_GIVEN_AUXDATA,
    HF_GIVEN_FACTORS,
    HF_GIVEN_SIGMAS,
    HF_SETTINGS
};
/* A configured constraint: the auxiliary datum measures offset + slope * parameter. */
struct hf_configured_law {
    bool given;
    bool is_affine; /* offset or slope given */
    hf_constraint constraint;
    double offset, slope, ratio;
};
struct hf_raw_config {
    struct hf_name *name;
    struct hf_configured_law law;
    struct hf_list settings[HF_SETTINGS]; /* bounds: pairs lower, upper */
    int fixed;                            /* -1: absent */
};
extern const char *const hf_setting_names[HF_SETTINGS];

/* A parameter that is an expression of others, beyond pyhf's schema. */
struct hf_raw_function {
    struct hf_name *name;
    const char *text; /* of the document */
    struct expression expression;
    struct hf_name **arguments; /* the expression's names */
    bool open, done;            /* while functions are put in order */
};

/* Correlated parameters, beyond pyhf's schema. */
struct hf_raw_correlation {
    const char *name, **parameters; /* of the document */
    uint32_t n;
    bool is_covariance;
    double *matrix; /* n^2 */
};

/* A quadratic term of parameters, beyond pyhf's schema. */
struct hf_raw_penalty {
    const char *name, **parameters; /* of the document */
    uint32_t n, n_rows;
    double *rows, *centres, strength; /* n_rows * n, n */
};

struct hf_raw_measurement {
    struct hf_name *name;
    uint32_t n_configs, n_functions, n_correlations, n_penalties;
    struct hf_raw_config *configs;
    struct hf_raw_correlation *correlations;
    struct hf_raw_penalty *penalties;
    struct hf_raw_function *functions;
    const char *poi;
    uint32_t n_pois; /* of member `pois`; 0: absent */
    const char **pois;
};

/* Samples of a document that were read, for documents that share them: found by their first members. */
struct hf_reading {
    struct hf_lent_sample {
        const struct json *first; /* NULL: free */
        const struct hf_sample *sample;
    } *samples;             /* open addressing */
    uint32_t size, n_names; /* their `rank` is below */
};

/* A checked document, in file order until hf_raw_sort. */
struct hf_raw {
    struct hf_source source;
    const struct hf_reading *reading; /* of the document that lends; NULL: none */
    struct hf_name **twins;           /* of its names, by rank; NULL: not met yet */
    struct arena *scratch;            /* of the reader */
    struct arena *keep;               /* of what it reads */
    struct hf_names names;
    struct hf_channel *channels;
    struct hf_raw_observation *observations;
    struct hf_raw_measurement *measurements;
    uint32_t n_channels, n_observations, n_measurements;
    uint32_t n_samples;      /* so far; serial numbers of hf_name.modifier_in */
    struct hf_name **ranked; /* all names by text, by hf_raw_sort */
};

/* Checks the shape. All but tables goes to `keep`. INVALID_INPUT: file,
 * path, reason. */
paritas_status hf_raw_read(paritas_context *context, const paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw);
paritas_status hf_workspace_check(paritas_context *context, const paritas_workspace *workspace);
/* Returns NULL if it was not read before. */
const struct hf_sample *hf_reading_find(const struct hf_reading *reading, const struct json *node);

/* Member of a normsys' or histosys' data, beyond pyhf's schema: its own interpolation, as "code2c". Fills
 * `code` of the modifier; `node` NULL: the model's. */
#define HF_CODE_KEY "interpcode"
paritas_status hf_code_read(const struct hf_place *data, const struct json *node,
                            struct hf_modifier *modifier);

/* `member` "": the whole sample or modifier; element HF_NONE: the whole member. */
paritas_status hf_refuse_use(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                             uint32_t element, const char *format, ...) PRINTF_LIKE(5, 6);
/* A bin's uncertainty puts `what` out of range. */
paritas_status hf_refuse_spread(const struct hf_raw *raw, const struct hf_spread *spread, uint32_t bin,
                                const char *what);

/* The name of a text, new or not; NULL: out of memory. */
struct hf_name *hf_names_enter(struct hf_names *names, const char *text, uint32_t length);
/* Returns NULL for an unknown name. */
struct hf_name *hf_names_find(const struct hf_names *names, const char *text);
/* Fills `rank`; returns names in that order. NULL: out of memory. */
struct hf_name **hf_names_rank(const struct hf_names *names);
/* The name of this text, new or not. */
paritas_status hf_name_read(struct hf_raw *raw, const char *text, size_t length, struct hf_name **name);
/* Sorts channels and samples by name, modifiers by (name, type). False: out of memory. */
bool hf_raw_sort(struct hf_raw *raw);

/* Member `functions` of a measurement's configuration, each an object of name and expression. */
#define HF_FUNCTIONS_KEY "functions"
#define HF_MASKED_KEY "masked" /* of a channel, beyond pyhf's schema */
paritas_status hf_functions_read(struct hf_raw *raw, const struct hf_place *config, const struct json *list,
                                 struct hf_raw_measurement *measurement);
/* Names say what they are in this measurement, not in the last one that was read. */
void hf_measurement_choose(const struct hf_raw *raw, uint32_t measurement);
/* Is this name a function of the chosen measurement? */
static inline bool hf_is_function(const struct hf_name *name, uint32_t measurement)
{
    return name->function_in == measurement + 1;
}
/* Puts the functions that modifiers use into spec->functions, arguments first. Calls `add` for arguments
 * without a set that the measurement configures. Runs when modifiers have their sets. */
paritas_status hf_functions_order(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec,
                                  void (*add)(void *user, struct hf_name *name), void *user);
/* Fills their `arguments`. Runs when all sets have their places. */
paritas_status hf_functions_place(const struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);

/* Member `correlations` of a measurement's configuration: each an object of name, parameters, and correlation
 * or covariance. */
#define HF_CORRELATIONS_KEY "correlations"
paritas_status hf_correlations_read(struct hf_raw *raw, const struct hf_place *config,
                                    const struct json *list, struct hf_raw_measurement *measurement);
/* Fills spec->correlations, and leaves room for penalties. Runs when all sets are complete. */
paritas_status hf_correlations_place(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);

/* Member `parameters` of such an object; a row of n numbers, one for each of them; rows of these, which are
 * member `key` of the object at `place`. */
paritas_status hf_parameters_read(struct hf_raw *raw, const struct hf_place *place, const struct json *list,
                                  const char ***names);
paritas_status hf_row_read(const struct hf_place *place, const struct json *row, uint32_t n, double *numbers);
paritas_status hf_rows_read(struct hf_raw *raw, const struct hf_place *place, const char *key,
                            const struct json *rows, uint32_t n, double **matrix);

/* Member `penalties` of a measurement's configuration: each an object of name, parameters, rows, and perhaps
 * centre and strength. */
#define HF_PENALTIES_KEY "penalties"
paritas_status hf_penalties_read(struct hf_raw *raw, const struct hf_place *config, const struct json *list,
                                 struct hf_raw_measurement *measurement);
/* Adds them to spec->correlations. Runs behind hf_correlations_place. */
paritas_status hf_penalties_place(const struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);
/* The set with a parameter of this name, "x" or "x[2]", and which member of it; NULL: none. */
const struct hf_set *hf_set_named(const struct hf_raw *raw, const struct hf_spec *spec, const char *text,
                                  uint32_t *member);

/* Fills spec->sets: defaults, then measurements[measurement]. Also `set` and `first` of all modifiers of
 * spec->channels. `raw`: sorted. */
paritas_status hf_sets_build(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);
