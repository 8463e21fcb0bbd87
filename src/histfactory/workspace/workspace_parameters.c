/* workspace_parameters.c: parameter sets: constraint, start, bounds, auxiliary data, settings of the
 * measurement.
 *
 * pyhf's order: by type (hf_type), then first appearance in sorted channels, samples, modifiers; staterror
 * by name. A set made by an earlier type keeps its place. */
#include "histfactory/workspace/workspace_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct set_build {
    const struct hf_name *name;
    const struct hf_channel *last_channel; /* the newest that uses the set */
    uint32_t offset;                       /* its element for that channel's bin 0 */
    const struct hf_spread *spreads, **end;
    const struct hf_raw_config *config; /* of the measurement; NULL: none */
    uint32_t config_at;
};

struct build {
    struct hf_raw *raw;
    struct hf_spec *spec;
    struct set_build *sets;
    uint32_t measurement;
};

/* A new set, unless the name has one. */
static void make_set(struct build *build, struct hf_name *name, hf_type type)
{
    if (name->set != 0 || hf_is_function(name, build->measurement)) return;
    struct set_build *set = &build->sets[build->spec->n_sets];
    build->spec->sets[build->spec->n_sets].kind = hf_kind(type);
    set->name = name;
    set->end = &set->spreads;
    name->set = ++build->spec->n_sets;
}

static void make_sets(struct build *build, hf_type type)
{
    const struct hf_raw *raw = build->raw;
    for (uint32_t c = 0; c < raw->n_channels; c++)
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++) {
            const struct hf_sample *sample = &raw->channels[c].samples[s];
            for (uint32_t m = 0; m < sample->n_modifiers; m++)
                if (sample->modifiers[m].type == type) make_set(build, sample->modifiers[m].key, type);
        }
}

/* An argument of a function that acts nowhere else: a plain factor's parameter. */
static void add_argument(void *user, struct hf_name *name)
{
    struct build *build = user;
    make_set(build, name, HF_NORMFACTOR);
    build->spec->sets[name->set - 1].size = 1;
}

/* Sets of functions stand behind all others. */
static paritas_status find_functions(struct build *build)
{
    struct hf_spec *spec = build->spec;
    TRY(hf_functions_order(build->raw, build->measurement, spec, add_argument, build));
    for (uint32_t k = 0; k < spec->n_functions; k++) {
        struct hf_name *name = spec->functions[k].key;
        build->sets[spec->n_sets + k].name = name;
        name->set = spec->n_sets + k + 1;
    }
    return PARITAS_OK;
}

static paritas_status find_sets(struct build *build)
{
    struct hf_raw *raw = build->raw;
    build->sets = arena_array(raw->scratch, raw->names.count, sizeof *build->sets);
    build->spec->sets = arena_array(raw->keep, raw->names.count, sizeof *build->spec->sets);
    if (!build->sets || !build->spec->sets) return paritas_fail_memory(raw->source.context);
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        if (type != HF_STATERROR) make_sets(build, (hf_type)type);
    for (uint32_t i = 0; i < raw->names.count; i++)
        if (raw->ranked[i]->modifier_in[HF_STATERROR] != 0) make_set(build, raw->ranked[i], HF_STATERROR);
    return find_functions(build);
}

/* Grows the set if needed. */
static paritas_status place_modifier(struct build *build, const struct hf_use *use)
{
    struct hf_modifier *modifier = use->modifier;
    const struct hf_modifier_kind *kind = hf_kind(modifier->type);
    const uint32_t n_bins = use->channel->n_bins;
    struct hf_set *set = &build->spec->sets[modifier->set];
    struct set_build *from = &build->sets[modifier->set];
    if (kind->extent == HF_EACH_BIN_OF_EACH) {
        if (from->last_channel != use->channel) {
            from->last_channel = use->channel;
            from->offset = set->size;
            set->size += n_bins;
        }
        modifier->first = from->offset;
    } else if (set->size == 0) {
        set->size = kind->extent == HF_ONE ? 1 : n_bins;
    } else if (kind->extent == HF_EACH_BIN && n_bins > set->size) {
        return hf_refuse_use(build->raw, use, "", HF_NONE,
                             "the %s \"%.200s\" has %u parameters, from the first channel by name that uses "
                             "it, and cannot serve the %u bins of this one",
                             kind->name, from->name->text, set->size, n_bins);
    }
    return PARITAS_OK;
}

/* Notes a modifier that decides widths of its set, or what is fixed there. */
static paritas_status add_spread(struct build *build, const struct hf_use *use)
{
    struct set_build *set = &build->sets[use->modifier->set];
    struct hf_spread *spread = arena_array(build->raw->scratch, 1, sizeof *spread);
    if (!spread) return paritas_fail_memory(build->raw->source.context);
    spread->use = *use;
    *set->end = spread;
    set->end = &spread->next;
    return PARITAS_OK;
}

static paritas_status place_modifiers(struct build *build)
{
    for (uint32_t c = 0; c < build->spec->n_channels; c++) {
        const struct hf_channel *channel = &build->spec->channels[c];
        for (uint32_t s = 0; s < channel->n_samples; s++)
            for (uint32_t m = 0; m < channel->samples[s].n_modifiers; m++) {
                const struct hf_use use = {channel, &channel->samples[s], &channel->samples[s].modifiers[m]};
                use.modifier->set = use.modifier->key->set - 1;
                TRY(place_modifier(build, &use));
                const struct hf_modifier_kind *kind = hf_kind(use.modifier->type);
                if (kind->fill || kind->hold) TRY(add_spread(build, &use));
            }
    }
    return PARITAS_OK;
}

/* The measurement's configuration of a parameter; HF_NONE: all of them. */
#define CONFIG_PLACE(build, config)                                                                  \
    HF_MEMBER_AT(HF_MEMBER_AT(HF_ROOT(&(build)->raw->source), "measurements", (build)->measurement), \
                 "config.parameters", config)

/* Element HF_NONE: the whole member. */
static paritas_status refuse_config(const struct build *build, uint32_t config, const char *member,
                                    uint32_t element, const char *reason, const char *found)
{
    return hf_refuse(HF_MEMBER_AT(CONFIG_PLACE(build, config), member, element), "%s%s", reason, found);
}

/* The law that the measurement or the kind asks for. */
static struct hf_configured_law law_of(const struct hf_set *set, const struct set_build *from)
{
    struct hf_configured_law law = {
        .constraint = set->kind->constraint, .offset = 0.0, .slope = 1.0, .ratio = 1.0};
    if (from->config && from->config->law.given) law = from->config->law;
    if (!set->kind->fill) law.constraint = hf_constraint_given(law.constraint);
    return law;
}

static bool has_offset(hf_constraint constraint)
{
    return hf_constraint_kinds[hf_constraint_given(constraint)].row != 0;
}
static bool is_of_parameter(hf_constraint constraint)
{
    return hf_constraint_kinds[constraint].row == 0;
}

/* A configured law must fit the kind, and have its numbers. */
static paritas_status check_law(const struct build *build, const struct hf_set *set,
                                const struct set_build *from, const struct hf_configured_law *law)
{
    const struct hf_modifier_kind *kind = set->kind;
    const struct hf_constraint_kind *wanted = &hf_constraint_kinds[law->constraint];
    char words[96], reason[192];
    if (!law->given) return PARITAS_OK;
    if (law->is_affine && !has_offset(law->constraint)) {
        snprintf(reason, sizeof reason, "only %s have an offset and a slope",
                 hf_constraint_words(has_offset, " and ", words));
        return refuse_config(build, from->config_at, "constraint", HF_NONE, reason, "");
    }
    if (kind->fill && (law->is_affine || wanted->row)) {
        snprintf(reason, sizeof reason, "its widths come from rates, so it is %s, without offset and slope",
                 hf_constraint_words(is_of_parameter, " or ", words));
        return refuse_config(build, from->config_at, "constraint", HF_NONE, reason, "");
    }
    const bool own = kind->fill || wanted->datum == HF_NO_DATUM || law->constraint == kind->constraint;
    const enum hf_setting needed[] = {HF_GIVEN_AUXDATA,
                                      wanted->datum == HF_COUNT ? HF_GIVEN_FACTORS : HF_GIVEN_SIGMAS};
    for (size_t k = 0; !own && k < COUNT_OF(needed); k++)
        if (!from->config->settings[needed[k]].at)
            return refuse_config(build, from->config_at, "constraint", HF_NONE,
                                 "such a constraint has no defaults: missing are its ",
                                 hf_setting_names[needed[k]]);
    return PARITAS_OK;
}

/* Must offset + slope * parameter be positive? Where widths come from rates, the kind's bounds see to it. */
static bool needs_positive(const struct hf_set *set)
{
    return hf_law(set)->domain == HF_POSITIVE && !set->kind->fill;
}

static paritas_status fill_set(struct build *build, struct hf_set *set, const struct set_build *from)
{
    struct hf_raw *raw = build->raw;
    struct hf_spec *spec = build->spec;
    const struct hf_modifier_kind *kind = set->kind;
    const struct hf_configured_law law = law_of(set, from);
    const size_t n = set->size;
    set->name = from->name->text;
    TRY(check_law(build, set, from, &law));
    set->constraint = law.constraint;
    set->offset = law.offset;
    set->slope = law.slope;
    set->ratio = law.ratio;
    set->scalar = kind->extent == HF_ONE;
    set->first = spec->n_parameters;
    set->first_aux = spec->n_aux;
    spec->n_parameters += set->size;
    spec->n_aux += set->constraint != HF_UNCONSTRAINED ? set->size : 0;
    double *numbers = arena_array(raw->keep, n, 5 * sizeof *numbers);
    set->fixed = arena_array(raw->keep, n, sizeof *set->fixed);
    if (!numbers || !set->fixed) return paritas_fail_memory(raw->source.context);
    set->init = numbers;
    set->lower = numbers + n;
    set->upper = numbers + 2 * n;
    if (set->constraint != HF_UNCONSTRAINED) set->aux = numbers + 3 * n;
    if (hf_law(set)->datum == HF_MEASUREMENT) set->sigma = numbers + 4 * n;
    if (hf_law(set)->datum == HF_COUNT) set->tau = numbers + 4 * n;
    for (size_t k = 0; k < n; k++) {
        set->init[k] = kind->init;
        set->lower[k] = kind->lower;
        set->upper[k] = kind->upper;
        if (needs_positive(set) && set->lower[k] < -set->offset / set->slope)
            set->lower[k] = -set->offset / set->slope;
        if (set->aux) set->aux[k] = kind->aux;
        if (set->sigma) set->sigma[k] = kind->all_given ? NAN : 1.0;
    }
    if (kind->hold) kind->hold(set, from->spreads);
    return kind->fill ? kind->fill(raw, set, from->spreads) : PARITAS_OK;
}

/* A configured list replaces a default. */
struct replacement {
    enum hf_setting setting;
    double *target; /* NULL: the set has no such attribute */
    double least;   /* exclusive; inclusive with `reach` */
    bool reach;
};

static paritas_status check_count(const struct build *build, const struct hf_set *set, uint32_t index,
                                  enum hf_setting setting, uint32_t n)
{
    char reason[320];
    if (n == set->size) return PARITAS_OK;
    snprintf(reason, sizeof reason, "the parameter \"%.200s\" takes %u, found %u", set->name, set->size, n);
    return refuse_config(build, index, hf_setting_names[setting], HF_NONE, reason, "");
}

static paritas_status replace(const struct build *build, const struct hf_set *set, uint32_t index,
                              const struct hf_raw_config *config, const struct replacement *with)
{
    const struct hf_list *values = &config->settings[with->setting];
    const char *member = hf_setting_names[with->setting];
    if (!values->at) return PARITAS_OK;
    if (!with->target)
        return refuse_config(build, index, member, HF_NONE, "this kind of parameter has no such attribute",
                             "");
    TRY(check_count(build, set, index, with->setting, values->n));
    for (uint32_t k = 0; k < values->n; k++) {
        char found[32];
        const double value = values->at[k];
        if (!(value > with->least || (with->reach && value == with->least)))
            return refuse_config(build, index, member, k,
                                 with->reach ? "must not be negative, found "
                                             : "must be greater than 0, found ",
                                 hf_number(value, found));
        with->target[k] = value;
    }
    return PARITAS_OK;
}

static paritas_status replace_bounds(const struct build *build, const struct hf_set *set, uint32_t index,
                                     const struct hf_raw_config *config)
{
    const struct hf_list *bounds = &config->settings[HF_GIVEN_BOUNDS];
    if (!bounds->at) return PARITAS_OK;
    TRY(check_count(build, set, index, HF_GIVEN_BOUNDS, bounds->n));
    for (uint32_t k = 0; k < set->size; k++) {
        char found[32];
        set->lower[k] = bounds->at[2 * k];
        set->upper[k] = bounds->at[2 * k + 1];
        if (set->lower[k] > set->upper[k])
            return refuse_config(build, index, "bounds", k, "the lower bound lies above the upper one: ",
                                 hf_number(set->lower[k], found));
    }
    return PARITAS_OK;
}

static paritas_status check_inits(const struct build *build, const struct hf_set *set, uint32_t index,
                                  const struct hf_raw_config *config)
{
    for (uint32_t k = 0; k < set->size; k++) {
        char init[32], lower[32], upper[32], reason[128];
        if (needs_positive(set) && !(set->offset + set->slope * set->init[k] > 0.0)) {
            snprintf(reason, sizeof reason,
                     "offset + slope * parameter must be positive: the parameter lies above %s, but its "
                     "initial value is %s",
                     hf_number(0.0 - set->offset / set->slope, lower), hf_number(set->init[k], init));
            return refuse_config(build, index, "constraint", HF_NONE, reason, "");
        }
        if (set->init[k] >= set->lower[k] && set->init[k] <= set->upper[k]) continue;
        snprintf(reason, sizeof reason, "the initial value %s lies outside of the bounds [%s, %s]",
                 hf_number(set->init[k], init), hf_number(set->lower[k], lower),
                 hf_number(set->upper[k], upper));
        return refuse_config(build, index, config->settings[HF_GIVEN_INITS].at ? "inits" : "bounds", k,
                             reason, "");
    }
    return PARITAS_OK;
}

/* lumi has no defaults: everything must be configured; without a constraint inits and bounds. */
static paritas_status check_all_given(const struct build *build, const struct hf_set *set,
                                      const struct hf_raw_config *config, uint32_t index)
{
    const enum hf_setting needed[] = {HF_GIVEN_INITS, HF_GIVEN_BOUNDS, HF_GIVEN_AUXDATA,
                                      set->tau ? HF_GIVEN_FACTORS : HF_GIVEN_SIGMAS};
    const struct hf_place *at = CONFIG_PLACE(build, index);
    const size_t count = config && set->constraint == HF_UNCONSTRAINED ? 2 : COUNT_OF(needed);
    if (!set->kind->all_given) return PARITAS_OK;
    if (!config)
        return hf_refuse(at,
                         "the model has a %s modifier, so \"%s\" must be configured with inits, bounds, "
                         "auxdata and sigmas",
                         set->kind->name, set->name);
    for (size_t k = 0; k < count; k++)
        if (config->settings[needed[k]].at == NULL)
            return hf_refuse(at, "\"%s\" has no defaults, and its %s are missing", set->name,
                             hf_setting_names[needed[k]]);
    return PARITAS_OK;
}

static paritas_status apply_config(const struct build *build, struct hf_set *set, uint32_t index,
                                   const struct hf_raw_config *config)
{
    double *sigma = set->kind->sigma_given || config->law.given ? set->sigma : NULL;
    const struct replacement inits = {HF_GIVEN_INITS, set->init, -INFINITY, false},
                             others[] = {{HF_GIVEN_AUXDATA, set->aux, set->tau ? 0.0 : -INFINITY, true},
                                         {HF_GIVEN_FACTORS, set->tau, 0.0, false},
                                         {HF_GIVEN_SIGMAS, sigma, 0.0, false}};
    TRY(check_all_given(build, set, config, index));
    TRY(replace(build, set, index, config, &inits));
    TRY(replace_bounds(build, set, index, config));
    for (size_t k = 0; k < COUNT_OF(others); k++) TRY(replace(build, set, index, config, &others[k]));
    if (config->fixed >= 0) memset(set->fixed, config->fixed, set->size);
    set->fixed_given = config->fixed >= 0;
    set->aux_given = config->settings[HF_GIVEN_AUXDATA].at;
    set->width_given = config->settings[HF_GIVEN_FACTORS].at || config->settings[HF_GIVEN_SIGMAS].at;
    return check_inits(build, set, index, config);
}

/* Each set's configuration. */
static void find_configs(struct build *build)
{
    const struct hf_raw_measurement *measurement = &build->raw->measurements[build->measurement];
    for (uint32_t i = 0; i < measurement->n_configs; i++) {
        const uint32_t set = measurement->configs[i].name->set;
        if (set == 0) continue; /* unknown name: pyhf accepts it */
        build->sets[set - 1].config = &measurement->configs[i];
        build->sets[set - 1].config_at = i;
    }
}

static paritas_status apply_measurement(struct build *build)
{
    const struct hf_raw_measurement *measurement = &build->raw->measurements[build->measurement];
    for (uint32_t i = 0; i < measurement->n_configs; i++) {
        const uint32_t set = measurement->configs[i].name->set;
        if (set != 0) TRY(apply_config(build, &build->spec->sets[set - 1], i, &measurement->configs[i]));
    }
    for (uint32_t i = 0; i < build->spec->n_sets; i++)
        if (!build->sets[i].config) TRY(check_all_given(build, &build->spec->sets[i], NULL, HF_NONE));
    return PARITAS_OK;
}

paritas_status hf_sets_build(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec)
{
    struct build build = {.raw = raw, .spec = spec, .measurement = measurement};
    hf_measurement_choose(raw, measurement);
    TRY(find_sets(&build));
    TRY(place_modifiers(&build));
    find_configs(&build);
    for (uint32_t i = 0; i < spec->n_sets; i++) TRY(fill_set(&build, &spec->sets[i], &build.sets[i]));
    TRY(hf_functions_place(raw, measurement, spec));
    return apply_measurement(&build);
}
