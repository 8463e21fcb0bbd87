/* histfactory_parameters.c: the parameter sets of a model: which there are, in pyhf's order, with which constraint,
 * start, bounds and auxiliary data, and what a measurement changes in them.
 *
 * Order: by type of modifier in the order of hf_type; within a type by first appearance in the walk over
 * channels, samples and modifiers, each sorted; sets of staterror by name. A set that an earlier type has
 * made keeps its place. */
#include "histfactory/workspace_read.h"
#include "histfactory/histfactory_widths.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODIFIER "channels[%lu].samples[%lu].modifiers[%lu]"
#define CONFIG "measurements[%lu].config.parameters[%lu]"

/* One staterror or shapesys in a sample of the ordered model. */
struct spread {
    struct hf_modifier *modifier;
    const struct hf_sample *sample;
    uint32_t n_bins;
    struct hf_use use; /* file order, for messages */
};

/* A sample that carries a staterror, kept for the first channel that the set touches: all later channels must
 * have the same ones. */
struct carrier {
    struct carrier *next;
    uint32_t sample; /* name */
    struct hf_use use;
};

struct set_build {
    uint32_t name;
    hf_type type;
    uint32_t last_channel;           /* ordered index + 1 of the newest channel that the set touches */
    uint32_t first_channel;          /* same, of the first */
    uint32_t offset;                 /* STATERROR: element of bin 0 of `last_channel` */
    struct carrier *carriers, **end; /* STATERROR: of the first channel */
    const struct carrier *cursor;    /* next that the newest channel must have */
    /* STATERROR: sums over samples of rates; of squared relative uncertainties */
    double *total, *relative;
};

struct build {
    struct hf_raw *raw;
    struct hf_spec *spec;
    struct set_build *sets;
    struct spread *spreads;
    uint32_t n_spreads;
    uint32_t measurement;
};

static unsigned long ul(uint32_t value)
{
    return value;
}

/* ---- which sets there are ---- */

static void make_set(struct build *build, uint32_t name, hf_type type)
{
    uint32_t index = build->spec->n_sets++;
    build->raw->names.items[name].set = index;
    struct set_build *set = &build->sets[index];
    set->name = name;
    set->type = type;
    set->end = &set->carriers;
}

/* Finds the names of each type in the order in which the sorted walk meets them, then makes the sets. */
static paritas_status find_sets(struct build *build)
{
    struct hf_raw *raw = build->raw;
    uint32_t *lists[HF_TYPE_COUNT], counts[HF_TYPE_COUNT] = {0}, met = 0;
    for (int type = 0; type < HF_TYPE_COUNT; type++) {
        lists[type] = arena_array(raw->scratch, raw->names.count, sizeof *lists[type]);
        if (lists[type] == NULL) return paritas_fail_memory(raw->context);
    }
    /* read_model has filled `types`; clearing a bit here says that the name is listed */
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_raw_channel *channel = &raw->channels[raw->order[c]];
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            const struct hf_raw_sample *sample = &channel->samples[channel->order[s]];
            for (uint32_t m = 0; m < sample->n_modifiers; m++) {
                const struct hf_raw_modifier *modifier = &sample->modifiers[sample->order[m]];
                struct hf_name *name = &raw->names.items[modifier->name];
                if ((name->types & 1U << modifier->type) == 0) continue;
                name->types &= ~(1U << modifier->type);
                lists[modifier->type][counts[modifier->type]++] = modifier->name;
                met++;
            }
        }
    }
    uint32_t n_errors = counts[HF_STATERROR];
    if (n_errors > 1) {
        uint64_t *keys = arena_array(raw->scratch, n_errors, 2 * sizeof *keys);
        if (keys == NULL) return paritas_fail_memory(raw->context);
        for (uint32_t i = 0; i < n_errors; i++)
            keys[i] = (uint64_t)raw->names.items[lists[HF_STATERROR][i]].rank << 32 | lists[HF_STATERROR][i];
        hf_sort(keys, keys + n_errors, n_errors);
        for (uint32_t i = 0; i < n_errors; i++) lists[HF_STATERROR][i] = (uint32_t)keys[i];
    }
    build->sets = arena_array(raw->scratch, met != 0 ? met : 1, sizeof *build->sets);
    build->spec->sets = arena_array(raw->keep, met != 0 ? met : 1, sizeof *build->spec->sets);
    if (build->sets == NULL || build->spec->sets == NULL) return paritas_fail_memory(raw->context);
    for (int type = 0; type < HF_TYPE_COUNT; type++)
        for (uint32_t i = 0; i < counts[type]; i++)
            if (raw->names.items[lists[type][i]].set == HF_NONE)
                make_set(build, lists[type][i], (hf_type)type);
    return PARITAS_OK;
}

/* ---- modifiers and sizes ---- */

static paritas_status refuse_carrier(struct build *build, const struct set_build *set,
                                     const struct hf_use *use, uint32_t lacking_channel)
{
    const struct hf_raw *raw = build->raw;
    const struct hf_raw_channel *lacking = &raw->channels[raw->order[lacking_channel - 1]];
    return paritas_fail(raw->context, PARITAS_INVALID_INPUT,
                        "%s: " MODIFIER ": the staterror \"%.200s\" is carried by this sample here but not "
                        "in channels[%lu] (\"%.200s\"), where it is used too",
                        raw->label, ul(use->channel), ul(use->sample), ul(use->modifier),
                        raw->names.items[set->name].text, ul(raw->order[lacking_channel - 1]),
                        raw->names.items[lacking->name].text);
}

/* After the last sample of the newest channel: all carriers of the first channel must have come. */
static paritas_status close_channel(struct build *build, const struct set_build *set)
{
    if (set->last_channel == set->first_channel || set->cursor == NULL) return PARITAS_OK;
    return refuse_carrier(build, set, &set->cursor->use, set->last_channel);
}

static paritas_status place_staterror(struct build *build, uint32_t channel, uint32_t sample_name,
                                      const struct hf_use *use, uint32_t n_bins, struct hf_modifier *modifier)
{
    struct hf_raw *raw = build->raw;
    struct set_build *set = &build->sets[modifier->set];
    struct hf_set *spec_set = &build->spec->sets[modifier->set];
    if (set->last_channel != channel + 1) {
        paritas_status status = set->last_channel != 0 ? close_channel(build, set) : PARITAS_OK;
        if (status != PARITAS_OK) return status;
        if (set->first_channel == 0) set->first_channel = channel + 1;
        set->last_channel = channel + 1;
        set->offset = spec_set->size;
        spec_set->size += n_bins;
        set->cursor = set->carriers;
    }
    modifier->first = set->offset;
    if (set->first_channel == channel + 1) {
        struct carrier *carrier = arena_allocate(raw->scratch, sizeof *carrier);
        if (carrier == NULL) return paritas_fail_memory(raw->context);
        *carrier = (struct carrier){NULL, sample_name, *use};
        *set->end = carrier;
        set->end = &carrier->next;
        return PARITAS_OK;
    }
    if (set->cursor == NULL ||
        raw->names.items[set->cursor->sample].rank > raw->names.items[sample_name].rank)
        return refuse_carrier(build, set, use, set->first_channel);
    if (set->cursor->sample != sample_name) return refuse_carrier(build, set, &set->cursor->use, channel + 1);
    set->cursor = set->cursor->next;
    return PARITAS_OK;
}

/* Gives each modifier its set and each set its size; collects the staterrors and shapesyses. */
static paritas_status place_modifiers(struct build *build)
{
    struct hf_raw *raw = build->raw;
    for (uint32_t c = 0; c < raw->n_channels; c++) {
        const struct hf_raw_channel *channel = &raw->channels[raw->order[c]];
        const struct hf_channel *placed = &build->spec->channels[c];
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            const struct hf_raw_sample *sample = &channel->samples[channel->order[s]];
            for (uint32_t m = 0; m < sample->n_modifiers; m++) {
                struct hf_modifier *modifier = &placed->samples[s].modifiers[m];
                const struct hf_use use = {raw->order[c], channel->order[s], sample->order[m]};
                const struct hf_raw_modifier *source = &sample->modifiers[use.modifier];
                modifier->set = raw->names.items[source->name].set;
                struct hf_set *set = &build->spec->sets[modifier->set];
                paritas_status status = PARITAS_OK;
                if (modifier->type == HF_STATERROR)
                    status = place_staterror(build, c, sample->name, &use, sample->n_bins, modifier);
                else if (modifier->type == HF_SHAPEFACTOR && set->size != 0 && sample->n_bins > set->size)
                    status =
                        paritas_fail(raw->context, PARITAS_INVALID_INPUT,
                                     "%s: " MODIFIER ": the shapefactor \"%.200s\" has %lu parameters, from "
                                     "the first channel by name that uses it, "
                                     "and cannot serve the %lu bins of this one",
                                     raw->label, ul(use.channel), ul(use.sample), ul(use.modifier),
                                     raw->names.items[source->name].text, ul(set->size), ul(sample->n_bins));
                else if (set->size == 0)
                    set->size = modifier->type == HF_SHAPEFACTOR || modifier->type == HF_SHAPESYS
                                    ? sample->n_bins
                                    : 1;
                if (status != PARITAS_OK) return status;
                if (modifier->type == HF_STATERROR || modifier->type == HF_SHAPESYS)
                    build->spreads[build->n_spreads++] =
                        (struct spread){modifier, &placed->samples[s], sample->n_bins, use};
            }
        }
    }
    for (uint32_t i = 0; i < build->spec->n_sets; i++) {
        paritas_status status =
            build->sets[i].type == HF_STATERROR ? close_channel(build, &build->sets[i]) : PARITAS_OK;
        if (status != PARITAS_OK) return status;
    }
    return PARITAS_OK;
}

/* ---- defaults ---- */

static const struct {
    hf_constraint constraint;
    bool scalar;
    double init, lower, upper, aux;
} defaults[HF_TYPE_COUNT] = {
    [HF_HISTOSYS] = {HF_GAUSSIAN, true, 0.0, -5.0, 5.0, 0.0},
    [HF_LUMI] = {HF_GAUSSIAN, true, NAN, NAN, NAN, NAN}, /* all from the measurement */
    [HF_NORMFACTOR] = {HF_UNCONSTRAINED, true, 1.0, 0.0, 10.0, 0.0},
    [HF_NORMSYS] = {HF_GAUSSIAN, true, 0.0, -5.0, 5.0, 0.0},
    [HF_SHAPEFACTOR] = {HF_UNCONSTRAINED, false, 1.0, 0.0, 10.0, 0.0},
    [HF_SHAPESYS] = {HF_POISSON, false, 1.0, 1e-10, 10.0, 1.0},
    [HF_STATERROR] = {HF_GAUSSIAN, false, 1.0, 1e-10, 10.0, 1.0},
};

static paritas_status fill_defaults(struct build *build)
{
    struct hf_raw *raw = build->raw;
    struct hf_spec *spec = build->spec;
    for (uint32_t i = 0; i < spec->n_sets; i++) {
        struct hf_set *set = &spec->sets[i];
        struct set_build *from = &build->sets[i];
        const struct hf_name *name = &raw->names.items[from->name];
        hf_type type = from->type;
        set->name = arena_text(raw->keep, name->text, name->length);
        set->constraint = defaults[type].constraint;
        set->scalar = defaults[type].scalar;
        set->first = spec->n_parameters;
        set->first_aux = spec->n_aux;
        spec->n_parameters += set->size;
        spec->n_aux += set->constraint != HF_UNCONSTRAINED ? set->size : 0;
        double *numbers = arena_array(raw->keep, set->size, 5 * sizeof *numbers);
        set->fixed = arena_array(raw->keep, set->size, sizeof *set->fixed);
        if (type == HF_STATERROR) from->total = arena_array(raw->scratch, set->size, 2 * sizeof *from->total);
        if (set->name == NULL || numbers == NULL || set->fixed == NULL ||
            (type == HF_STATERROR && from->total == NULL))
            return paritas_fail_memory(raw->context);
        from->relative = type == HF_STATERROR ? from->total + set->size : NULL;
        set->init = numbers;
        set->lower = numbers + set->size;
        set->upper = numbers + 2 * (size_t)set->size;
        if (set->constraint != HF_UNCONSTRAINED) set->aux = numbers + 3 * (size_t)set->size;
        if (set->constraint == HF_GAUSSIAN) set->sigma = numbers + 4 * (size_t)set->size;
        if (set->constraint == HF_POISSON) set->tau = numbers + 4 * (size_t)set->size;
        for (uint32_t k = 0; k < set->size; k++) {
            set->init[k] = defaults[type].init;
            set->lower[k] = defaults[type].lower;
            set->upper[k] = defaults[type].upper;
            if (set->aux != NULL) set->aux[k] = defaults[type].aux;
            if (set->sigma != NULL) set->sigma[k] = type == HF_LUMI ? NAN : 1.0;
        }
    }
    return PARITAS_OK;
}

static paritas_status refuse_spread(struct build *build, const struct spread *spread, uint32_t bin,
                                    const char *what)
{
    const struct hf_raw *raw = build->raw;
    char data[32], uncertainty[32];
    return paritas_fail(raw->context, PARITAS_INVALID_INPUT,
                        "%s: " MODIFIER
                        ".data[%lu]: %s is out of range for an uncertainty of %s on a rate of %s",
                        raw->label, ul(spread->use.channel), ul(spread->use.sample), ul(spread->use.modifier),
                        ul(bin), what, hf_number(spread->modifier->uncertainty[bin], uncertainty),
                        hf_number(spread->sample->data[bin], data));
}

/* tau = (rate / uncertainty)^2; a bin without a positive rate and uncertainty is a constant: tau 1, fixed. */
static paritas_status fill_shapesys(struct build *build, const struct spread *spread)
{
    struct hf_set *set = &build->spec->sets[spread->modifier->set];
    for (uint32_t k = 0; k < spread->n_bins; k++) {
        double rate = spread->sample->data[k], uncertainty = spread->modifier->uncertainty[k];
        double tau = hf_tau_of(rate, uncertainty);
        if (!hf_is_tau(tau)) return refuse_spread(build, spread, k, "tau = (rate / uncertainty)^2");
        set->tau[k] = set->aux[k] = tau;
        set->fixed[k] = !hf_tau_is_alive(rate, uncertainty);
    }
    return PARITAS_OK;
}

/* The relative uncertainty of a bin over all samples that carry the set; sums run over the samples by name,
 * as pyhf's do. */
static paritas_status fill_staterrors(struct build *build)
{
    for (uint32_t i = 0; i < build->n_spreads; i++) {
        const struct spread *spread = &build->spreads[i];
        if (spread->modifier->type != HF_STATERROR) continue;
        double *total = build->sets[spread->modifier->set].total + spread->modifier->first;
        for (uint32_t k = 0; k < spread->n_bins; k++) total[k] += spread->sample->data[k];
    }
    for (uint32_t i = 0; i < build->n_spreads; i++) {
        const struct spread *spread = &build->spreads[i];
        if (spread->modifier->type != HF_STATERROR) continue;
        struct set_build *from = &build->sets[spread->modifier->set];
        struct hf_set *set = &build->spec->sets[spread->modifier->set];
        for (uint32_t k = 0; k < spread->n_bins; k++) {
            uint32_t element = spread->modifier->first + k;
            double sum = from->relative[element] +
                         hf_square_of_relative(spread->modifier->uncertainty[k], from->total[element]);
            if (!hf_is_variance(sum)) return refuse_spread(build, spread, k, "the relative uncertainty");
            from->relative[element] = sum;
            set->fixed[element] = !(sum > 0.0);
            set->sigma[element] = hf_sigma_of(sum);
        }
    }
    return PARITAS_OK;
}

/* ---- what the measurement says ---- */

/* "LABEL: measurements[i].config.parameters[j]MEMBER" in front of a reason; element HF_NONE: the member as a
 * whole. */
static paritas_status refuse_config(struct build *build, uint32_t config, const char *member,
                                    uint32_t element, const char *reason, const char *found)
{
    const struct hf_raw *raw = build->raw;
    const struct hf_place root = {NULL, "", HF_NONE},
                          measurement = {&root, "measurements", build->measurement},
                          parameter = {&measurement, "config.parameters", config},
                          at = {&parameter, member, element};
    return hf_refuse(raw->context, raw->label, &at, "%s%s", reason, found);
}

static paritas_status check_count(struct build *build, const struct hf_set *set, uint32_t config,
                                  const char *member, uint32_t n)
{
    const struct hf_raw *raw = build->raw;
    if (n == set->size) return PARITAS_OK;
    return paritas_fail(raw->context, PARITAS_INVALID_INPUT,
                        "%s: " CONFIG ".%s: the parameter \"%.200s\" takes %lu, found %lu", raw->label,
                        ul(build->measurement), ul(config), member, set->name, ul(set->size), ul(n));
}

/* Copies a list of the configuration over a default. `target` NULL: this set has no such attribute. `least`:
 * what the values must exceed (or reach, where `reach`). */
static paritas_status override(struct build *build, const struct hf_set *set, uint32_t config,
                               const char *member, const double *values, uint32_t n, double *target,
                               double least, bool reach)
{
    if (values == NULL) return PARITAS_OK;
    if (target == NULL)
        return refuse_config(build, config, member, HF_NONE, "this kind of parameter has no such attribute",
                             "");
    paritas_status status = check_count(build, set, config, member, n);
    if (status != PARITAS_OK) return status;
    for (uint32_t k = 0; k < n; k++) {
        char found[32];
        if (!(values[k] > least || (reach && values[k] == least)))
            return refuse_config(build, config, member, k,
                                 reach ? "must not be negative, found " : "must be greater than 0, found ",
                                 hf_number(values[k], found));
        target[k] = values[k];
    }
    return PARITAS_OK;
}

static paritas_status override_bounds(struct build *build, struct hf_set *set, uint32_t index,
                                      const struct hf_raw_config *config)
{
    if (config->bounds == NULL) return PARITAS_OK;
    paritas_status status = check_count(build, set, index, "bounds", config->n_bounds);
    if (status != PARITAS_OK) return status;
    for (uint32_t k = 0; k < set->size; k++) {
        char found[32];
        set->lower[k] = config->bounds[2 * k];
        set->upper[k] = config->bounds[2 * k + 1];
        if (set->lower[k] > set->upper[k])
            return refuse_config(build, index, "bounds", k, "the lower bound lies above the upper one: ",
                                 hf_number(set->lower[k], found));
    }
    return PARITAS_OK;
}

static paritas_status apply_config(struct build *build, struct hf_set *set, hf_type type, uint32_t index,
                                   const struct hf_raw_config *config)
{
    /* an alpha's is 1 by definition */
    double *sigma = type == HF_LUMI || type == HF_STATERROR ? set->sigma : NULL;
    double least_aux = set->constraint == HF_POISSON ? 0.0 : -INFINITY;
    paritas_status status =
        override(build, set, index, "inits", config->inits, config->n_inits, set->init, -INFINITY, false);
    if (status == PARITAS_OK) status = override_bounds(build, set, index, config);
    if (status == PARITAS_OK)
        status = override(build, set, index, "auxdata", config->auxdata, config->n_auxdata, set->aux,
                          least_aux, true);
    if (status == PARITAS_OK)
        status =
            override(build, set, index, "factors", config->factors, config->n_factors, set->tau, 0.0, false);
    if (status == PARITAS_OK)
        status = override(build, set, index, "sigmas", config->sigmas, config->n_sigmas, sigma, 0.0, false);
    if (status != PARITAS_OK) return status;
    if (config->fixed >= 0) memset(set->fixed, config->fixed, set->size);
    set->fixed_given = config->fixed >= 0;
    set->aux_given = config->auxdata != NULL;
    set->width_given = config->factors != NULL || (config->sigmas != NULL && sigma != NULL);
    return PARITAS_OK;
}

/* A luminosity has no defaults. */
static paritas_status check_lumi(struct build *build, const struct hf_raw_config *config, uint32_t index)
{
    const struct hf_raw *raw = build->raw;
    const struct hf_place root = {NULL, "", HF_NONE},
                          measurement = {&root, "measurements", build->measurement},
                          parameters = {&measurement, "config.parameters", config != NULL ? index : HF_NONE};
    if (config == NULL)
        return hf_refuse(raw->context, raw->label, &parameters,
                         "the model has a lumi modifier, so \"lumi\" must be configured with inits, bounds, "
                         "auxdata and sigmas");
    const char *missing = config->inits == NULL     ? "inits"
                          : config->bounds == NULL  ? "bounds"
                          : config->auxdata == NULL ? "auxdata"
                          : config->sigmas == NULL  ? "sigmas"
                                                    : NULL;
    if (missing == NULL) return PARITAS_OK;
    return hf_refuse(raw->context, raw->label, &parameters,
                     "\"lumi\" has no defaults, and its %s are missing", missing);
}

static paritas_status check_inits(struct build *build, const struct hf_set *set, uint32_t index,
                                  const struct hf_raw_config *config)
{
    for (uint32_t k = 0; k < set->size; k++) {
        char init[32], lower[32], upper[32], reason[128];
        if (set->init[k] >= set->lower[k] && set->init[k] <= set->upper[k]) continue;
        snprintf(reason, sizeof reason, "the initial value %s lies outside of the bounds [%s, %s]",
                 hf_number(set->init[k], init), hf_number(set->lower[k], lower),
                 hf_number(set->upper[k], upper));
        return refuse_config(build, index, config->inits != NULL ? "inits" : "bounds", k, reason, "");
    }
    return PARITAS_OK;
}

static paritas_status apply_measurement(struct build *build)
{
    struct hf_raw *raw = build->raw;
    const struct hf_raw_measurement *measurement = &raw->measurements[build->measurement];
    uint32_t lumi = HF_NONE;
    for (uint32_t i = 0; i < measurement->n_configs; i++) {
        const struct hf_raw_config *config = &measurement->configs[i];
        uint32_t index = raw->names.items[config->name].set;
        if (index == HF_NONE) continue; /* a leftover: pyhf accepts it */
        struct hf_set *set = &build->spec->sets[index];
        hf_type type = build->sets[index].type;
        paritas_status status = type == HF_LUMI ? check_lumi(build, config, i) : PARITAS_OK;
        if (status == PARITAS_OK) status = apply_config(build, set, type, i, config);
        if (status == PARITAS_OK) status = check_inits(build, set, i, config);
        if (status != PARITAS_OK) return status;
        if (type == HF_LUMI) lumi = i;
    }
    for (uint32_t i = 0; i < build->spec->n_sets; i++)
        if (build->sets[i].type == HF_LUMI && lumi == HF_NONE) return check_lumi(build, NULL, 0);
    return PARITAS_OK;
}

paritas_status hf_sets_build(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec)
{
    struct build build = {.raw = raw, .spec = spec, .measurement = measurement};
    size_t n = 1;
    for (uint32_t c = 0; c < raw->n_channels; c++)
        for (uint32_t s = 0; s < raw->channels[c].n_samples; s++)
            n += raw->channels[c].samples[s].n_modifiers;
    build.spreads = arena_allocate(raw->scratch, n * sizeof *build.spreads);
    if (build.spreads == NULL) return paritas_fail_memory(raw->context);
    paritas_status status = find_sets(&build);
    if (status == PARITAS_OK) status = place_modifiers(&build);
    if (status == PARITAS_OK) status = fill_defaults(&build);
    for (uint32_t i = 0; status == PARITAS_OK && i < build.n_spreads; i++)
        if (build.spreads[i].modifier->type == HF_SHAPESYS) status = fill_shapesys(&build, &build.spreads[i]);
    if (status == PARITAS_OK) status = fill_staterrors(&build);
    if (status == PARITAS_OK) status = apply_measurement(&build);
    return status;
}
