/* freeze_templates.c: finds templates and the widths that they decide, and lists them in the model. */
#include "histfactory/freeze.h"
#include "histfactory/histfactory_templates.h"
#include "histfactory/modifiers/modifier_numbers.h"

#include <string.h>

static const struct hf_channel *find_channel(const struct hf_spec *spec, const char *name)
{
    for (uint32_t c = 0; c < spec->n_channels; c++)
        if (!strcmp(spec->channels[c].name, name)) return &spec->channels[c];
    return NULL;
}
static struct hf_sample *find_sample(const struct hf_channel *channel, const char *name)
{
    for (uint32_t s = 0; s < channel->n_samples; s++)
        if (!strcmp(channel->samples[s].name, name)) return &channel->samples[s];
    return NULL;
}
static struct hf_modifier *find_modifier(const struct hf_spec *spec, const struct hf_sample *sample,
                                         hf_type type, const char *name)
{
    for (uint32_t k = 0; k < sample->n_modifiers; k++)
        if (sample->modifiers[k].type == type && !strcmp(spec->sets[sample->modifiers[k].set].name, name))
            return &sample->modifiers[k];
    return NULL;
}

static const hf_type modifier_of[] = {
    [PARITAS_TEMPLATE_HISTOSYS_UP] = HF_HISTOSYS, [PARITAS_TEMPLATE_HISTOSYS_DOWN] = HF_HISTOSYS,
    [PARITAS_TEMPLATE_NORMSYS_UP] = HF_NORMSYS,   [PARITAS_TEMPLATE_NORMSYS_DOWN] = HF_NORMSYS,
    [PARITAS_TEMPLATE_STATERROR] = HF_STATERROR,  [PARITAS_TEMPLATE_SHAPESYS] = HF_SHAPESYS};

/* The numbers of a sample, or of its modifier. Returns the mark there. */
static uint32_t *take_numbers(struct hf_listed_template *found, paritas_template_kind kind,
                              struct hf_sample *sample, struct hf_modifier *modifier)
{
    found->sample = sample;
    found->n = found->channel->n_bins;
    switch (kind) {
    case PARITAS_TEMPLATE_NOMINAL:
        found->numbers = sample->data;
        return &sample->data_template;
    case PARITAS_TEMPLATE_HISTOSYS_UP:
        found->numbers = modifier->hi_data;
        return &modifier->hi_template;
    case PARITAS_TEMPLATE_HISTOSYS_DOWN:
        found->numbers = modifier->lo_data;
        return &modifier->lo_template;
    case PARITAS_TEMPLATE_NORMSYS_UP:
    case PARITAS_TEMPLATE_NORMSYS_DOWN:
        found->n = 1;
        found->positive = true;
        found->numbers = kind == PARITAS_TEMPLATE_NORMSYS_UP ? &modifier->hi : &modifier->lo;
        return kind == PARITAS_TEMPLATE_NORMSYS_UP ? &modifier->hi_template : &modifier->lo_template;
    case PARITAS_TEMPLATE_STATERROR:
    case PARITAS_TEMPLATE_SHAPESYS:
        found->numbers = modifier->uncertainty;
        break;
    }
    return &modifier->uncertainty_template;
}

/* Template t: what it replaces, and the mark there. */
static paritas_status find_template(const struct freezer *f, size_t t, struct hf_listed_template *found,
                                    uint32_t **mark)
{
    const paritas_template *wanted = &f->options->templates[t];
    const bool whole = wanted->kind == PARITAS_TEMPLATE_NOMINAL;
    if ((size_t)wanted->kind >= sizeof modifier_of / sizeof modifier_of[0])
        return paritas_refuse(f->context, "templates[%zu]: kind %d: there is none of this number", t,
                              (int)wanted->kind);
    found->kind = paritas_template_kind_name(wanted->kind);
    if (!wanted->channel || !wanted->sample || !wanted->modifier != whole)
        return paritas_refuse(f->context, "templates[%zu]: a %s takes a channel, a sample and %s", t,
                              found->kind, whole ? "no modifier" : "a modifier");
    found->channel = find_channel(f->spec, wanted->channel);
    if (!found->channel)
        return paritas_fail(f->context, PARITAS_NOT_FOUND,
                            "templates[%zu]: the model has no channel '%.200s'", t, wanted->channel);
    if (found->channel->masked)
        return paritas_refuse(f->context, "templates[%zu]: the channel '%.200s' is masked", t,
                              wanted->channel);
    struct hf_sample *sample = find_sample(found->channel, wanted->sample);
    if (!sample)
        return paritas_fail(f->context, PARITAS_NOT_FOUND,
                            "templates[%zu]: the channel '%.200s' has no sample '%.200s'", t, wanted->channel,
                            wanted->sample);
    const hf_type type = modifier_of[wanted->kind];
    struct hf_modifier *modifier = whole ? NULL : find_modifier(f->spec, sample, type, wanted->modifier);
    if (!whole && !modifier)
        return paritas_fail(f->context, PARITAS_NOT_FOUND,
                            "templates[%zu]: the sample '%.200s' has no %s '%.200s' in the channel '%.200s'",
                            t, wanted->sample, hf_kind(type)->name, wanted->modifier, wanted->channel);
    for (uint32_t k = 0; k < sample->n_modifiers; k++)
        if (hf_multiplies_bins(&sample->modifiers[k]) && (whole || modifier == &sample->modifiers[k]))
            return paritas_refuse(f->context,
                                  "templates[%zu]: the histosys '%.200s' of sample '%.200s' in channel "
                                  "'%.200s' is a factor of each bin (code 1, 5 or 6), which is frozen with "
                                  "the model",
                                  t, f->spec->sets[sample->modifiers[k].set].name, wanted->sample,
                                  wanted->channel);
    if (!whole && type == HF_NORMSYS && hf_find_type(sample, HF_MCSTAT))
        return paritas_refuse(f->context,
                              "templates[%zu]: the sample '%.200s' has an mcstat in channel '%.200s', whose "
                              "factors are frozen with the model",
                              t, wanted->sample, wanted->channel);
    if (sample->shape.given)
        return paritas_refuse(f->context,
                              "templates[%zu]: the sample '%.200s' in channel '%.200s' has a shape, which is "
                              "frozen with the model",
                              t, wanted->sample, wanted->channel);
    if (modifier && type == HF_HISTOSYS && modifier->scale != 1.0)
        return paritas_refuse(f->context,
                              "templates[%zu]: the histosys '%.200s' of sample '%.200s' in channel '%.200s' "
                              "has a scale, which is frozen with the model",
                              t, wanted->modifier, wanted->sample, wanted->channel);
    for (uint32_t k = 0; k < sample->n_modifiers; k++) {
        const struct hf_modifier *m = &sample->modifiers[k];
        if ((whole || modifier == m) && hf_kind(m->type)->fill &&
            hf_has_correlated(f->spec, &f->spec->sets[m->set]))
            return paritas_refuse(
                f->context,
                "templates[%zu]: it decides widths of '%.200s', whose correlation is frozen "
                "with the model",
                t, f->spec->sets[m->set].name);
    }
    *mark = take_numbers(found, wanted->kind, sample, modifier);
    if (**mark) return paritas_refuse(f->context, "templates[%zu]: this %s is given twice", t, found->kind);
    return PARITAS_OK;
}

paritas_status freeze_find_templates(struct freezer *f)
{
    struct hf_templates *made = &f->model->templates;
    size_t n = 0;
    if (f->options->n_templates > 0 && !f->options->templates)
        return paritas_refuse(f->context, "options: templates must not be NULL");
    made->list = arena_array(&f->model->arena, f->options->n_templates, sizeof *made->list);
    if (!made->list) return paritas_fail_memory(f->context);
    for (; made->n_list < f->options->n_templates; made->n_list++) {
        struct hf_listed_template *found = &made->list[made->n_list];
        uint32_t *mark = NULL;
        TRY(find_template(f, made->n_list, found, &mark));
        found->first = (uint32_t)n;
        *mark = (uint32_t)n + 1;
        n += found->n;
        made->vary_factors = made->vary_factors || found->positive;
        if (n >= UINT32_MAX) return paritas_fail_memory(f->context);
    }
    f->n_templates = (uint32_t)n;
    return PARITAS_OK;
}

/* Returns NULL if there is none from `begin` on. */
static struct hf_varied_width *find_width(struct hf_templates *made, uint32_t begin, const struct hf_set *set)
{
    for (uint32_t i = begin; i < made->n_widths; i++)
        if (made->widths[i].set == set) return &made->widths[i];
    return NULL;
}

/* Does the width that this modifier decides vary? */
static bool varies_width(const struct hf_sample *sample, const struct hf_modifier *m)
{
    return hf_kind(m->type)->fill && (sample->data_template || m->uncertainty_template);
}

/* Widths of a channel: sets whose rates or uncertainties vary, then their carriers. */
static bool list_channel_widths(struct freezer *f, const struct hf_channel *channel)
{
    struct hf_templates *made = &f->model->templates;
    struct arena *arena = &f->model->arena;
    const uint32_t begin = made->n_widths;
    for (uint32_t s = 0; s < channel->n_samples; s++)
        for (uint32_t k = 0; k < channel->samples[s].n_modifiers; k++) {
            const struct hf_modifier *m = &channel->samples[s].modifiers[k];
            const struct hf_set *set = &f->spec->sets[m->set];
            if (!varies_width(&channel->samples[s], m) || find_width(made, begin, set) ||
                set->constraint == HF_UNCONSTRAINED)
                continue;
            struct hf_varied_width *w = &made->widths[made->n_widths++];
            *w = (struct hf_varied_width){
                .channel = channel, .set = set, .first = m->first, .n_bins = channel->n_bins};
            w->carriers = arena_array(arena, channel->n_samples, sizeof *w->carriers);
            w->alive = arena_array(arena, w->n_bins, sizeof *w->alive);
            if (!w->carriers || !w->alive) return false;
        }
    for (uint32_t s = 0; s < channel->n_samples; s++)
        for (uint32_t k = 0; k < channel->samples[s].n_modifiers; k++) {
            const struct hf_modifier *m = &channel->samples[s].modifiers[k];
            struct hf_varied_width *w = find_width(made, begin, &f->spec->sets[m->set]);
            if (w) w->carriers[w->n_carriers++] = (struct hf_carrier){&channel->samples[s], m};
        }
    return true;
}

bool freeze_list_widths(struct freezer *f)
{
    const struct hf_spec *spec = f->spec;
    struct hf_templates *made = &f->model->templates;
    size_t most = 0;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < spec->channels[c].n_samples; s++)
            for (uint32_t k = 0; k < spec->channels[c].samples[s].n_modifiers; k++)
                most +=
                    varies_width(&spec->channels[c].samples[s], &spec->channels[c].samples[s].modifiers[k]);
    made->widths = arena_array(&f->model->arena, most, sizeof *made->widths);
    if (!made->widths) return false;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        if (!list_channel_widths(f, &spec->channels[c])) return false;
    return true;
}

static bool is_varied_factor(const struct entry *entry)
{
    const struct hf_modifier *m = entry->modifier;
    return m->type == HF_NORMSYS && (m->hi_template || m->lo_template);
}

static bool is_varied(const struct unit *unit)
{
    bool varied = unit->record.varied != HF_NOT_VARIED;
    for (uint32_t k = 0; k < unit->n_entries; k++) varied = varied || is_varied_factor(&unit->entries[k]);
    return varied;
}

static bool list_unit(struct freezer *f, const struct channel *ch, uint32_t u)
{
    struct hf_templates *made = &f->model->templates;
    const hf_unit_record *un = &f->units[u].record;
    const struct hf_sample *sample = f->units[u].sample;
    struct hf_varied_unit *unit = &made->units[made->n_units++];
    *unit = (struct hf_varied_unit){
        .sample = sample,
        .first_bin = ch->first_bin,
        .n_bins = ch->n_bins,
        .place = un->varied == HF_NOT_VARIED ? 0 : (uint32_t)(8 * f->n.panels + f->n.slots) + un->varied,
        .first_datum = ch->source->first_bin + ch->first_bin,
        .first_cell = ch->record.first_cell + (u - ch->record.first_unit),
        .cell_step = ch->record.units,
        .first_entry = un->histosys,
        .entries = arena_array(&f->model->arena, un->histosys_count, sizeof *unit->entries),
        .factors = arena_array(&f->model->arena, un->normsys_count, sizeof *unit->factors)};
    if (!unit->entries || !unit->factors) return false;
    for (uint32_t k = 0; k < f->units[u].n_entries; k++) {
        const struct entry *entry = &f->units[u].entries[k];
        if (entry->kind == ENTRY_HISTOSYS) unit->entries[unit->n_entries++] = entry->modifier;
        if (is_varied_factor(entry))
            unit->factors[unit->n_factors++] = (struct hf_varied_factor){entry->modifier, entry->number};
    }
    return true;
}

static bool list_units(struct freezer *f)
{
    struct hf_templates *made = &f->model->templates;
    made->units = arena_array(&f->model->arena, f->n.units, sizeof *made->units);
    if (!made->units) return false;
    for (size_t c = 0; c < f->n.channels; c++) {
        const struct channel *ch = &f->channels[c];
        for (uint32_t u = ch->record.first_unit; u < ch->record.first_unit + ch->record.units; u++)
            if (is_varied(&f->units[u]) && !list_unit(f, ch, u)) return false;
    }
    return true;
}

bool freeze_templates(struct freezer *f)
{
    struct hf_templates *made = &f->model->templates;
    const struct hf_spec *spec = f->spec;
    double *observed = arena_array(&f->model->arena, f->n_templates, sizeof *observed);
    if (!list_units(f) || !observed) return false;
    made->observed = observed;
    for (uint32_t t = 0; t < made->n_list; t++)
        memcpy(observed + made->list[t].first, made->list[t].numbers, made->list[t].n * sizeof *observed);
    made->width_of = arena_array(&f->model->arena, spec->n_parameters, sizeof *made->width_of);
    made->gauss_terms = arena_array(&f->model->arena, spec->n_parameters, sizeof *made->gauss_terms);
    if (!made->width_of || !made->gauss_terms) return false;
    for (uint32_t k = 0; k < spec->n_sets; k++)
        for (uint32_t i = 0; spec->sets[k].sigma && i < spec->sets[k].size; i++)
            made->gauss_terms[spec->sets[k].first + i] =
                host_gauss_constant(hf_mean_sigma(&spec->sets[k], i));
    for (uint32_t i = 0; i < made->n_widths; i++) {
        struct hf_varied_width *w = &made->widths[i];
        for (uint32_t b = 0; b < w->n_bins; b++) {
            made->width_of[w->set->first + w->first + b] = i + 1;
            w->alive[b] = hf_is_alive(w, made->observed, b);
        }
    }
    if (HEADER(f, HF_S_WIDTHS)) {
        made->precision = HEADER(f, HF_S_WIDTHS) - HEADER(f, HF_S_MAIN);
        made->tau = made->precision + f->n.slots;
        made->coefficients = made->tau + f->n.slots;
    }
    return true;
}
