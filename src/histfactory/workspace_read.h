/* workspace_read.h: what the reader's parts share. Internal to src/histfactory.
 *
 *   JSON tree ──► hf_raw_read ──► struct hf_raw ──► hf_sets_build ──► struct hf_spec
 *                 (read_raw.c)    file order         (parameters.c, read.c)   pyhf's order
 *
 * The first step checks the shape of the document (pyhf's schema and names given twice) and is all that the
 * workspace operations need; the second checks what the model means. One walk over the tree does both the
 * check and the copy of the numbers: the tree is large and is touched once. Names become small integers at
 * once, so that nothing after it compares texts.
 */
#ifndef PARITAS_WORKSPACE_READ_H
#define PARITAS_WORKSPACE_READ_H

#include "base/json.h"
#include "histfactory/workspace_spec.h"

#define HF_NONE UINT32_MAX

/* A place in the document: a list from the leaf up to the root, on the stack of the walk. */
struct hf_place {
    const struct hf_place *up; /* NULL: the root */
    const char *key;           /* "" for an element of `up` */
    uint32_t index;            /* HF_NONE: not an element */
};

/* Where a modifier stands, in file order. */
struct hf_use {
    uint32_t channel, sample, modifier;
};

/* Everything known of one name. Channels, samples, modifiers, observations and measurements share the table:
 * the stamps below say in which of them the name was met last. */
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
    uint32_t types;          /* bit per hf_type in use */
    uint32_t set;            /* index into the spec's sets; HF_NONE: not met */
    struct hf_use first_use; /* where `types` was first filled, in file order */
};

struct hf_names {
    struct hf_name *items;
    uint32_t *table; /* open addressing: id + 1; 0 is empty */
    uint32_t count, capacity, table_size;
};

struct hf_raw_modifier {
    uint32_t name;
    hf_type type;
    double hi, lo;                    /* NORMSYS */
    const double *values, *lo_values; /* HISTOSYS: hi_data, lo_data; SHAPESYS, STATERROR: uncertainties */
    uint32_t n_values, n_lo_values;
};

struct hf_raw_sample {
    uint32_t name;
    uint32_t n_bins, n_modifiers;
    const double *data;
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
    uint32_t n_bins;
    const double *data;
};

/* A parameter's configuration; absent arrays are NULL. */
struct hf_raw_config {
    uint32_t name;
    uint32_t n_inits, n_bounds, n_auxdata, n_factors, n_sigmas;
    const double *inits, *auxdata, *factors, *sigmas;
    const double *bounds; /* pairs: lower, upper */
    int fixed;            /* -1: absent */
};

struct hf_raw_measurement {
    uint32_t name;
    uint32_t n_configs;
    struct hf_raw_config *configs;
    const char *poi;
};

/* A document of the right shape, in file order. */
struct hf_raw {
    paritas_context *context;
    const char *label;
    struct arena *scratch; /* tables of the reader; gone when it is done */
    struct arena *keep;    /* numbers */
    struct hf_names names;
    struct hf_raw_channel *channels;
    struct hf_raw_observation *observations;
    struct hf_raw_measurement *measurements;
    uint32_t n_channels, n_observations, n_measurements;
    uint32_t *order; /* of the channels by name; filled by hf_raw_order */
};

/* strcmp(a, b) == 0 for keys: they are short, differ early and are compared by the ten thousand. */
static inline bool hf_same(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}

/* read_raw.c: checks the document's shape and copies its numbers into `keep`, tables into `scratch`. Names
 * are borrowed from the document. INVALID_INPUT with file, path and reason; OUT_OF_MEMORY. */
paritas_status hf_raw_read(paritas_context *context, const struct paritas_workspace *workspace,
                           struct arena *scratch, struct arena *keep, struct hf_raw *raw);

/* read_raw.c: the check alone, for the operations of paritas.h. */
paritas_status hf_workspace_check(paritas_context *context, const struct paritas_workspace *workspace);

/* "LABEL: PATH: reason" as INVALID_INPUT. The root's path is left out. */
paritas_status hf_refuse(paritas_context *context, const char *label, const struct hf_place *place,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Members that an object may have, for hf_fields. */
struct hf_field {
    const char *key;
    bool required;
    const struct json *node; /* filled; NULL: absent */
};
/* Sorts the members of `object` into fields[0..n). Refuses another type, an unknown key, a missing one. */
paritas_status hf_fields(paritas_context *context, const char *label, const struct hf_place *place,
                         const struct json *object, struct hf_field *fields, size_t n);
/* Refuses what is not of `type`, an empty array included where `nonempty`. */
paritas_status hf_expect(paritas_context *context, const char *label, const struct hf_place *place,
                         const struct json *node, json_type type, bool nonempty);
/* What a node is, for messages: "0.5", "\"text\"", "an object". */
const char *hf_describe(const struct json *node, char out[64]);
/* A number as text, for messages. */
const char *hf_number(double value, char out[32]);

/* read_names.c */
/* Id of a text, entered if it is new; HF_NONE when memory runs out. */
uint32_t hf_names_enter(struct hf_names *names, struct arena *arena, const char *text, uint32_t length);
/* Id of a text; HF_NONE if it was never entered. */
uint32_t hf_names_find(const struct hf_names *names, const char *text);
/* Fills `rank`. False when memory runs out. */
bool hf_names_rank(struct hf_names *names, struct arena *arena);
/* Sorts n keys ascending; `scratch` has n places. */
void hf_sort(uint64_t *keys, uint64_t *scratch, size_t n);
/* Fills `rank` and the `order` arrays of a document. False when memory runs out. */
bool hf_raw_order(struct hf_raw *raw);

/* Name of a type as in documents: "normsys". */
const char *hf_type_name(hf_type type);
/* The type of that name; HF_TYPE_COUNT: there is none. */
hf_type hf_type_of(const char *text);

/* parameters.c: numbers the parameter sets of an ordered document in pyhf's order and fills them with
 * defaults, then with the configuration of measurements[measurement]. Fills spec->sets and the `set` and
 * `first` of all modifiers of spec->channels, which must stand in the order of `raw`. */
paritas_status hf_sets_build(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec);

#endif
