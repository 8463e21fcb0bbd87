/* histfactory_templates.c: data rows with templates: checks them, and puts what follows from them. */
#include "histfactory/histfactory_templates.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/modifiers/modifier_numbers.h"

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

bool hf_is_alive(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    bool alive;
    width_from_rates(w, numbers, bin, &alive);
    return alive;
}

bool hf_follows_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    return !w->set->width_given && hf_is_alive(w, numbers, bin);
}

static double width_in_spec(const struct hf_set *set, uint32_t i)
{
    return set->tau ? set->tau[i] : set->sigma[i];
}

/* The set's tau or sigma. */
static double width_by_rates(const struct hf_varied_width *w, const double *numbers, uint32_t bin)
{
    bool alive;
    const double number = width_from_rates(w, numbers, bin, &alive);
    const bool is_tau = decides_tau(w->set);
    if (w->set->tau) return is_tau ? number : alive ? 1.0 / number : 1.0;
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
            if (w->set->tau)
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
        for (uint32_t b = 0; w->set->tau && !w->set->aux_given && b < w->n_bins; b++)
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
            widths[w->set->first + w->first + b] = w->set->tau ? 1.0 / host_sqrt(width) : width;
        }
    }
}
