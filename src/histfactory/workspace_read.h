/* workspace_read.h: what the reader's parts share. Internal to src/histfactory.
 *
 *   JSON tree ──► hf_raw_read ──► struct hf_raw ──► hf_sets_build ──► struct hf_spec
 *                                 file order                          pyhf's order
 *
 * The first step checks the shape: pyhf's schema, no name given twice. Operations on workspaces need no more.
 * One walk over the large tree checks and copies. Names become small integers, so that nothing later compares
 * texts. The second step checks what the model means. */
#ifndef PARITAS_WORKSPACE_READ_H
#define PARITAS_WORKSPACE_READ_H

#include "histfactory/schema_check.h"
#include "histfactory/workspace_spec.h"

/* Where a modifier stands, in file order; modifier HF_NONE: the sample. */
struct hf_use {
    uint32_t channel, sample, modifier;
};

/* A modifier whose set has widths that follow from rates, in the ordered model. */
struct hf_spread {
    const struct hf_modifier *modifier;
    const struct hf_sample *sample;
    uint32_t n_bins;
    struct hf_use use;
    const struct hf_spread *next; /* of the set, by channel and sample */
};

/* Everything known of one name of channels, samples, modifiers, observations or measurements: stamps say
 * where it was met last. */
struct hf_name {
    const char *text; /* borrowed from the document */
    uint32_t length;
    uint32_t hash;
    uint32_t rank;                 /* in the order of the texts; set by hf_names_rank */
    uint32_t channel;              /* file index + 1 of the channel of this name; 0: none */
    uint32_t observation;          /* same */
    uint32_t measurement;          /* same */
    uint32_t sample_in, sample_at; /* channel (index + 1) that has this sample, and where */
    /* measurement (index + 1) that configures this parameter, and where */
    uint32_t config_in, config_at;
    uint32_t modifier_in[HF_TYPE_COUNT]; /* serial number of the sample that has this (name, type) */
    uint32_t modifier_at[HF_TYPE_COUNT];
    uint32_t types;          /* as hf_name_types, while meaning is checked */
    uint32_t set;            /* index into the spec's sets; HF_NONE: not met */
    struct hf_use first_use; /* where `types` was first filled, in file order */
};

/* The types of the modifiers of a name: HF_BIT of each. */
static inline uint32_t hf_name_types(const struct hf_name *name)
{
    uint32_t types = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (name->modifier_in[type] != 0) types |= HF_BIT(type);
    return types;
}

struct hf_names {
    struct hf_name *items;
    uint32_t *table; /* open addressing: id + 1; 0 is empty */
    uint32_t count, capacity, table_size;
};

/* Numbers of an array; absent: at NULL, n 0. */
struct hf_list {
    const double *at;
    uint32_t n;
};

struct hf_raw_modifier {
    uint32_t name;
    hf_type type;
    double hi, lo;              /* HF_DATA_HI_LO */
    struct hf_list values;      /* HF_DATA_BINS */
    struct hf_list highs, lows; /* HF_DATA_HI_LO_BINS */
};

struct hf_raw_sample {
    uint32_t name;
    uint32_t n_modifiers;
    struct hf_list data;
    struct hf_raw_modifier *modifiers;
    uint32_t *order; /* of the modifiers by (name, type); filled by hf_raw_order */
};

struct hf_raw_channel {
    uint32_t name;
    uint32_t n_samples;
    struct hf_raw_sample *samples;
    uint32_t *order; /* of the samples by name; filled by hf_raw_order */
};

struct hf_raw_observation {
    uint32_t name;
    struct hf_list data;
};

/* A parameter's configuration. */
enum hf_setting {
    HF_GIVEN_INITS,
    HF_GIVEN_BOUNDS,
    HF_GIVEN_AUXDATA,
    HF_GIVEN_FACTORS,
    HF_GIVEN_SIGMAS,
    HF_SETTINGS
};
struct hf_raw_config {
    uint32_t name;
    struct hf_list settings[HF_SETTINGS]; /* bounds: pairs lower, upper */
    int fixed;                            /* -1: absent */
};
extern const char *const hf_setting_names[HF_SETTINGS];

struct hf_raw_measurement {
    uint32_t name;
    uint32_t n_configs;
    struct hf_raw_config *configs;
    const char *poi;
};

/* A document of the right shape, in file order. */
struct hf_raw {
    struct hf_source source;
    struct arena *scratch; /* tables of the reader; gone when it is done */
    struct arena *keep;    /* numbers */
    struct hf_names names;
    struct hf_raw_channel *channels;
    struct hf_raw_observation *observations;
    struct hf_raw_measurement *measurements;
    uint32_t n_channels, n_observations, n_measurements;
    uint32_t n_samples; /* read so far: serial numbers for hf_name.modifier_in */
    uint32_t *order;    /* of the channels by name; filled by hf_raw_order */
};

/* ---- workspace_read_raw.c ---- */

/* Checks the document's shape; copies numbers into `keep`, tables into `scratch`; borrows names.
 * INVALID_INPUT with file, path and reason; OUT_OF_MEMORY. */
paritas_status hf_raw_read(paritas_context *context, const paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw);
/* The check alone, for the operations on workspaces. */
paritas_status hf_workspace_check(paritas_context *context, const paritas_workspace *workspace);

/* Refuses a sample or modifier; `member` "": as a whole, element HF_NONE: the member as a whole. */
paritas_status hf_refuse_use(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                             uint32_t element, const char *format, ...) PRINTF_LIKE(5, 6);
/* Refuses a bin's uncertainty, because of which `what` is out of range. */
paritas_status hf_refuse_spread(const struct hf_raw *raw, const struct hf_spread *spread, uint32_t bin,
                                const char *what);
/* Name of a modifier. */
const char *hf_use_name(const struct hf_raw *raw, const struct hf_use *use);

/* ---- workspace_read_names.c ---- */

/* Id of a text, entered if it is new; HF_NONE when memory runs out. */
uint32_t hf_names_enter(struct hf_names *names, struct arena *arena, const char *text, uint32_t length);
/* Id of a text; HF_NONE if it was never entered. */
uint32_t hf_names_find(const struct hf_names *names, const char *text);
/* Fills `rank`. Returns the names in that order; NULL when memory runs out. */
struct hf_name **hf_names_rank(struct hf_names *names, struct arena *arena);
/* Sorts n keys ascending; `scratch` has n places. */
void hf_sort(uint64_t *keys, uint64_t *scratch, size_t n);
/* Fills `rank` and the `order` arrays of a document. False when memory runs out. */
bool hf_raw_order(struct hf_raw *raw);

/* ---- histfactory_parameters.c ---- */

/* Fills spec->sets in pyhf's order with defaults, then with the configuration of measurements[measurement];
 * and `set` and `first` of all modifiers of spec->channels, which stand in the order of `raw`. */
paritas_status hf_sets_build(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);

#endif
