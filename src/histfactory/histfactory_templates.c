/* histfactory_templates.c: finds templates, checks and stores data rows. */
#include "histfactory/freeze.h"
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
    *mark = take_numbers(found, wanted->kind, sample, modifier);
    if (**mark) return paritas_refuse(f->context, "templates[%zu]: this %s is given twice", t, found->kind);
    return PARITAS_OK;
}

paritas_status hf_templates_find(struct freezer *f)
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

bool hf_templates_list_widths(struct freezer *f)
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

/* Which of both follows from rates and uncertainties, whatever the law. */
static bool decides_tau(const struct hf_set *set)
{
    return set->kind->constraint == HF_POISSON;
}

/* shapesys: tau; staterror: sigma squared (0: no constraint). `alive`: constrained? */
static double width_from_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin,
                               bool *alive)
{
    if (decides_tau(w->set)) {
        const double rate = hf_rates(w->carriers[0].sample, numbers)[bin],
                     uncertainty = hf_uncertainty(w->carriers[0].modifier, numbers)[bin];
        *alive = hf_tau_is_alive(rate, uncertainty);
        return hf_tau_of(rate, uncertainty);
    }
    double total = 0.0, sum = 0.0;
    for (uint32_t k = 0; k < w->n_carriers; k++) total += hf_rates(w->carriers[k].sample, numbers)[bin];
    for (uint32_t k = 0; k < w->n_carriers; k++)
        sum += hf_square_of_relative(hf_uncertainty(w->carriers[k].modifier, numbers)[bin], total);
    *alive = sum > 0.0;
    return sum;
}

bool hf_follows_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    bool alive;
    width_from_rates(w, numbers, bin, &alive);
    return alive && !w->set->width_given;
}

static double width_in_spec(const struct hf_set *set, uint32_t i)
{
    return set->constraint == HF_POISSON ? set->tau[i] : set->sigma[i];
}

/* The set's tau or sigma. */
static double width_by_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    bool alive;
    const double number = width_from_rates(w, numbers, bin, &alive);
    const bool is_tau = decides_tau(w->set);
    if (w->set->constraint == HF_POISSON) return is_tau ? number : alive ? 1.0 / number : 1.0;
    return hf_sigma_of(is_tau ? (alive ? 1.0 / number : 0.0) : number);
}

static double width_in_row(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    return w->set->width_given ? width_in_spec(w->set, w->first + bin) : width_by_rates(w, numbers, bin);
}

double hf_width_in_row(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i)
{
    const struct hf_templates *templates = &model->templates;
    const uint32_t index = templates->width_of ? templates->width_of[set->first + i] : 0;
    return index
               ? width_in_row(&templates->widths[index - 1], numbers, i - templates->widths[index - 1].first)
               : width_in_spec(set, i);
}

double hf_gauss_constant(const struct hf_model *model, const double *numbers)
{
    const struct hf_spec *spec = model->spec;
    double sum = 0.0;
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t i = 0; set->sigma && i < set->size; i++)
            sum += model->templates.width_of[set->first + i]
                       ? host_gauss_constant(hf_width_in_row(model, numbers, set, i))
                       : model->templates.gauss_terms[set->first + i];
    }
    return sum;
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

bool hf_templates_freeze(struct freezer *f)
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
            made->gauss_terms[spec->sets[k].first + i] = host_gauss_constant(spec->sets[k].sigma[i]);
    for (uint32_t i = 0; i < made->n_widths; i++) {
        struct hf_varied_width *w = &made->widths[i];
        for (uint32_t b = 0; b < w->n_bins; b++) {
            made->width_of[w->set->first + w->first + b] = i + 1;
            width_from_rates(w, made->observed, b, &w->alive[b]);
        }
    }
    if (HEADER(f, HF_S_WIDTHS)) {
        made->precision = HEADER(f, HF_S_WIDTHS) - HEADER(f, HF_S_MAIN);
        made->tau = made->precision + f->n.slots;
        made->coefficients = made->tau + f->n.slots;
    }
    return true;
}

paritas_status hf_check_templates(paritas_context *context, const struct frozen *given, const double *numbers,
                                  const char *where)
{
    const struct hf_templates *templates = &((const struct hf_model *)given)->templates;
    for (uint32_t t = 0; t < templates->n_list; t++) {
        const struct hf_listed_template *list = &templates->list[t];
        for (uint32_t b = 0; b < list->n; b++) {
            const double number = numbers[list->first + b];
            if (!(number - number == 0.0))
                return paritas_refuse(context,
                                      "%s: the template %s of sample '%.200s' in channel '%.200s', bin %u: "
                                      "must be a finite number",
                                      where, list->kind, list->sample->name, list->channel->name, b);
            if (list->positive && !(number > 0.0))
                return paritas_refuse(context,
                                      "%s: the template %s of sample '%.200s' in channel '%.200s': must be "
                                      "greater than 0",
                                      where, list->kind, list->sample->name, list->channel->name);
        }
    }
    for (uint32_t i = 0; i < templates->n_widths; i++) {
        const struct hf_varied_width *w = &templates->widths[i];
        for (uint32_t b = 0; b < w->n_bins; b++) {
            bool alive;
            const double number = width_from_rates(w, numbers, b, &alive);
            if (alive != w->alive[b] && !w->set->fixed_given)
                return paritas_refuse(
                    context,
                    "%s: channel '%.200s', bin %u: these numbers would switch the constraint "
                    "of %.200s[%u] %s, which is decided with the model",
                    where, w->channel->name, b, w->set->name, w->first + b, alive ? "on" : "off");
            if (decides_tau(w->set) ? !hf_is_tau(number) : !hf_is_variance(number))
                return paritas_refuse(
                    context,
                    "%s: channel '%.200s', bin %u: the width of %.200s[%u] is out of range for these numbers",
                    where, w->channel->name, b, w->set->name, w->first + b);
        }
    }
    return PARITAS_OK;
}

void hf_put_templates(const struct frozen *given, const double *numbers, double *row)
{
    const struct hf_templates *templates = &((const struct hf_model *)given)->templates;
    const uint32_t *ints = given->tables.ints;
    for (uint32_t i = 0; i < templates->n_units; i++) {
        const struct hf_varied_unit *unit = &templates->units[i];
        const double *nominal = hf_rates(unit->sample, numbers);
        for (uint32_t k = 0; k < unit->n_factors; k++) {
            const struct hf_modifier *m = unit->factors[k].modifier;
            hf_put_factor(ints[HF_NORMSYS_CODE], (paritas_normsys_code)m->code, hf_hi(m, numbers),
                          hf_lo(m, numbers), row + templates->coefficients, unit->factors[k].entry);
        }
        for (uint32_t b = 0; unit->place && b < unit->n_bins; b++) {
            double *panel = row + unit->place + (size_t)(b / 8) * HF_VARIED_PANEL(unit->n_entries);
            const uint32_t from = unit->first_bin + b;
            panel[b % 8] = nominal[from];
            for (uint32_t e = 0; e < unit->n_entries; e++)
                hf_put_shift(nominal[from], hf_high(unit->entries[e], numbers)[from],
                             hf_low(unit->entries[e], numbers)[from], panel + 8 + 16 * e + b % 8);
        }
    }
    for (uint32_t i = 0; i < templates->n_widths; i++) {
        const struct hf_varied_width *w = &templates->widths[i];
        for (uint32_t b = 0; b < w->n_bins; b++) {
            const double width = width_in_row(w, numbers, b);
            const uint32_t slot = given->slot_of[w->set->first + w->first + b];
            if (w->set->constraint == HF_POISSON)
                row[templates->tau + slot] = width;
            else
                row[templates->precision + slot] = 1.0 / (width * width);
        }
    }
}

void hf_suggest_aux(const struct frozen *given, const double *numbers, double *aux)
{
    const struct hf_templates *templates = &((const struct hf_model *)given)->templates;
    for (uint32_t i = 0; i < templates->n_widths; i++) {
        const struct hf_varied_width *w = &templates->widths[i];
        for (uint32_t b = 0; w->set->constraint == HF_POISSON && !w->set->aux_given && b < w->n_bins; b++)
            aux[w->set->first_aux + w->first + b] = width_by_rates(w, numbers, b);
    }
}

void hf_constraint_widths(const struct frozen *given, const double *numbers, double *widths)
{
    const struct hf_templates *templates = &((const struct hf_model *)given)->templates;
    for (uint32_t i = 0; i < templates->n_widths; i++) {
        const struct hf_varied_width *w = &templates->widths[i];
        for (uint32_t b = 0; b < w->n_bins; b++) {
            const double width = width_in_row(w, numbers, b);
            widths[w->set->first + w->first + b] =
                w->set->constraint == HF_POISSON ? 1.0 / host_sqrt(width) : width;
        }
    }
}
