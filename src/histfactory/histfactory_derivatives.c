/* histfactory_derivatives.c: derivatives by data rows, with templates.
 *
 * Per cell, kernels answer the part of its base that arrives in its bin (G) and its change along the
 * direction (G', histfactory_tangent.h). base = nominal + sum of S s(a) + A t(a), S = (hi - lo) / 2, A =
 * (hi + lo - 2 nominal) / 16. sigma goes as 1 / (sum of rates), tau as rate squared. */
#include "histfactory/modifier_numbers.h"
#include "entry/entry_rows.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_model.h"

#include <string.h>

/* The tangent entry's answer for a row; the direction, by slot. */
struct tangent {
    const double *lambda, *lambda1, *g, *g1, *s, *t, *t1, *direction;
};

/* NULL: all histosys have one code. */
static const hf_shift_codes_record *shift_codes(const struct hf_model *model)
{
    const uint32_t *mi = model->frozen.tables.ints;
    return mi[HF_HISTOSYS_CODE] > HF_SHIFT_POLYNOMIAL ? (const void *)(mi + mi[HF_HISTOSYS_CODE]) : NULL;
}
static size_t shift_count(const struct hf_model *model)
{
    const hf_shift_codes_record *codes = shift_codes(model);
    return (size_t)model->frozen.tables.ints[HF_DENSE] * (codes ? codes->count : 1);
}

static struct tangent tangent_of(const struct hf_model *model, const double *point, const double *answer)
{
    const size_t bins = model->n_bins, cells = model->n_cells, shifts = shift_count(model);
    const double *s = answer + HF_TANGENT_S(bins, cells);
    return (struct tangent){answer,
                            answer + HF_TANGENT_LAMBDA1(bins),
                            answer + HF_TANGENT_G(bins),
                            answer + HF_TANGENT_G1(bins, cells),
                            s,
                            s + shifts,
                            s + 2 * shifts,
                            point + model->frozen.n_slots};
}

/* Adds, per template, the sum over bins of p d(lambda) + q d(lambda'). p, q: a main datum each; q NULL:
 * zeros. */
static void pull_rates(const struct hf_model *model, const struct tangent *at, const double *p,
                       const double *q, double *templates)
{
    const uint32_t *mi = model->frozen.tables.ints, *slots = mi + mi[HF_I_HISTOSYS_SLOT];
    const hf_shift_codes_record *codes = shift_codes(model);
    const uint32_t *places = codes ? mi + codes->place : slots;
    for (uint32_t i = 0; i < model->templates.n_units; i++) {
        const struct hf_varied_unit *unit = &model->templates.units[i];
        for (uint32_t b = 0; b < unit->n_bins; b++) {
            const size_t cell = 8 * (size_t)(unit->first_cell + b / 8 * unit->cell_step) + b % 8;
            const uint32_t bin = unit->first_bin + b, datum = unit->first_datum + b;
            const double turn = q ? q[datum] * at->g[cell] : 0.0,
                         whole = p[datum] * at->g[cell] + (q ? q[datum] * at->g1[cell] : 0.0);
            double nominal = whole;
            for (uint32_t e = 0; e < unit->n_entries; e++) {
                const struct hf_modifier *m = unit->entries[e];
                const uint32_t slot = slots[unit->first_entry + e], place = places[unit->first_entry + e];
                const double by_s = whole * at->s[place] + turn * at->direction[slot],
                             by_a = whole * at->t[place] + turn * at->t1[place] * at->direction[slot];
                if (m->hi_template) templates[m->hi_template - 1 + bin] += by_a / 16.0 + 0.5 * by_s;
                if (m->lo_template) templates[m->lo_template - 1 + bin] += by_a / 16.0 - 0.5 * by_s;
                nominal -= by_a / 8.0;
            }
            if (unit->sample->data_template) templates[unit->sample->data_template - 1 + bin] += nominal;
        }
    }
}

/* Chain rule from ln(width), element i of a set, to its rates. */
static void pull_width(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i, double by_logarithm, double *templates)
{
    const uint32_t index = model->templates.width_of ? model->templates.width_of[set->first + i] : 0;
    if (index == 0) return;
    const struct hf_varied_width *w = &model->templates.widths[index - 1];
    const uint32_t bin = i - w->first;
    if (!hf_follows_rates(w, numbers, bin)) return;
    const double factor = (set->constraint == HF_POISSON ? 2.0 : -1.0) / hf_carried_rate(w, numbers, bin);
    for (uint32_t k = 0; k < w->n_carriers; k++)
        if (w->carriers[k].sample->data_template)
            templates[w->carriers[k].sample->data_template - 1 + bin] += factor * by_logarithm;
}

/* Constraint terms of the gradient and its derivative along the direction (may be NULL). False: outside
 * the domain. */
static bool add_constraints(const struct hf_model *model, const double *point, const double *direction,
                            const double *data, double *gradient, double *along)
{
    const struct hf_spec *spec = model->spec;
    const size_t first_template = model->frozen.n_data - model->frozen.n_templates;
    const double *numbers = data + first_template;
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++) {
            const size_t place = spec->n_main + set->first_aux + i;
            const double x = point[set->first + i], move = along ? direction[set->first + i] : 0.0,
                         width = hf_width_in_row(model, numbers, set, i);
            double by_datum, by_width, by_datum1, by_width1;
            if (set->constraint == HF_POISSON) {
                const double n = data[place], rate = hf_expected_aux(set, width, x);
                if (!(rate > 0.0 || (rate >= 0.0 && n <= 0.0))) return false;
                by_datum = 2.0 * (host_digamma(n + 1.0) - host_log(rate));
                by_width = 2.0 * (rate - n);
                by_datum1 = -2.0 * (set->slope * move) / (set->offset + set->slope * x);
                by_width1 = 2.0 * width * (set->slope * move);
            } else {
                if (set->constraint == HF_LOGNORMAL && !(set->offset + set->slope * x > 0.0)) return false;
                const double precision = 1.0 / (width * width),
                             offset = hf_expected_aux(set, width, x) - data[place],
                             turn = hf_expected_aux_slope(set, width, x) * move;
                by_datum = -2.0 * precision * offset;
                by_width = 2.0 - 2.0 * precision * offset * offset;
                by_datum1 = -2.0 * precision * turn;
                by_width1 = -4.0 * precision * offset * turn;
            }
            gradient[place] = by_datum;
            pull_width(model, numbers, set, i, by_width, gradient + first_template);
            if (!along) continue;
            along[place] = by_datum1;
            pull_width(model, numbers, set, i, by_width1, along + first_template);
        }
    }
    return true;
}

/* Gradient of a row and its derivative along the direction (may be NULL). `p`, `q`: scratch, a main datum
 * each. False: outside the domain. */
static bool derive(const struct hf_model *model, const struct tangent *at, const double *point,
                   const double *direction, const double *data, double *p, double *q, double *gradient,
                   double *along)
{
    const struct frozen *frozen = &model->frozen;
    const size_t first_template = frozen->n_data - frozen->n_templates;
    memset(gradient, 0, frozen->n_data * sizeof *gradient);
    if (along) memset(along, 0, frozen->n_data * sizeof *along);
    if (!add_constraints(model, point, direction, data, gradient, along)) return false;
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double lambda = at->lambda[frozen->place_of[i]], n = data[i];
        if (!(lambda > 0.0 || (lambda >= 0.0 && n <= 0.0))) return false;
        gradient[i] = 2.0 * (host_digamma(n + 1.0) - host_log(lambda));
        p[i] = n > 0.0 ? 2.0 * (1.0 - n / lambda) : 2.0;
    }
    pull_rates(model, at, p, NULL, gradient + first_template);
    if (!along) return true;
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double lambda = at->lambda[frozen->place_of[i]], lambda1 = at->lambda1[frozen->place_of[i]],
                     n = data[i];
        q[i] = p[i];
        along[i] = -2.0 * lambda1 / lambda;
        p[i] = n > 0.0 ? 2.0 * n * lambda1 / (lambda * lambda) : 0.0;
    }
    pull_rates(model, at, p, q, along + first_template);
    return true;
}

static void take_derivatives(void *user, size_t k, const double *point, const double *answer)
{
    const struct hf_points *d = user;
    const struct frozen *frozen = &d->model->frozen;
    const size_t p = frozen->n_parameters, row = frozen->n_data;
    const struct tangent at = tangent_of(d->model, point, answer);
    double *to = d->to ? d->to + k * row : d->room + 2 * frozen->n_main,
           *along = d->along ? d->along + k * row : NULL;
    const bool inside = derive(d->model, &at, d->points + k * p, along ? d->directions + k * p : NULL,
                               d->data + k * row, d->room, d->room + frozen->n_main, to, along);
    for (size_t i = 0; !inside && i < row; i++) {
        to[i] = __builtin_nan("");
        if (along) along[i] = __builtin_nan("");
    }
}

static paritas_status run_tangent(paritas_context *context, struct hf_points *points)
{
    const struct hf_model *model = points->model;
    return hf_points_run(context, context->host, model->frozen.family->tangent,
                         HF_TANGENT_SIZE(model->n_bins, model->n_cells, shift_count(model)), points);
}

paritas_status hf_data_derivatives(paritas_context *context, const paritas_model *given, size_t n,
                                   const double *points, const double *data, const double *directions,
                                   double *gradient, double *along)
{
    const struct hf_model *model = (const struct hf_model *)given;
    double *room =
        paritas_allocate(context, 2 * model->frozen.n_main + model->frozen.n_data + 1, sizeof *room);
    if (!room) return paritas_fail_memory(context);
    /* two of main data, then a data row */
    struct hf_points d = {.model = model,
                          .n = n,
                          .points = points,
                          .data = data,
                          .directions = directions,
                          .to = gradient,
                          .along = along,
                          .room = room,
                          .take = take_derivatives};
    const paritas_status status = run_tangent(context, &d);
    paritas_release(&context->allocator, room);
    return status;
}

static void pull_templates(const struct hf_model *model, const struct tangent *at, const double *point,
                           const double *data, const double *weights, double *templates)
{
    const struct hf_spec *spec = model->spec;
    const double *numbers = frozen_templates(&model->frozen, data);
    memcpy(templates, frozen_templates(&model->frozen, weights),
           model->frozen.n_templates * sizeof *templates);
    pull_rates(model, at, weights, NULL, templates);
    for (uint32_t k = 0; k < spec->n_sets; k++)
        for (uint32_t i = 0; spec->sets[k].constraint == HF_POISSON && i < spec->sets[k].size; i++)
            pull_width(model, numbers, &spec->sets[k], i,
                       weights[spec->n_main + spec->sets[k].first_aux + i] *
                           hf_expected_aux(&spec->sets[k], hf_width_in_row(model, numbers, &spec->sets[k], i),
                                           point[spec->sets[k].first + i]),
                       templates);
}

/* `jacobian`: answer of the jacobian entry. */
static void pull_points(const struct hf_model *model, const double *jacobian, const double *point,
                        const double *data, const double *weights, double *parameters)
{
    const struct frozen *frozen = &model->frozen;
    const struct hf_spec *spec = model->spec;
    memset(parameters, 0, frozen->n_parameters * sizeof *parameters);
    for (size_t i = 0; i < frozen->n_main; i++)
        for (size_t p = 0; weights[i] != 0.0 && p < frozen->n_parameters; p++)
            parameters[p] +=
                weights[i] * jacobian[frozen->place_of[i] * frozen->n_slots + frozen->slot_of[p]];
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++)
            parameters[set->first + i] +=
                weights[spec->n_main + set->first_aux + i] *
                hf_expected_aux_slope(set, hf_width_in_row(model, frozen_templates(frozen, data), set, i),
                                      point[set->first + i]);
    }
}

static void take_templates(void *user, size_t k, const double *point, const double *answer)
{
    const struct hf_points *d = user;
    const struct frozen *frozen = &d->model->frozen;
    const struct tangent at = tangent_of(d->model, point, answer);
    pull_templates(d->model, &at, d->points + k * frozen->n_parameters, d->data + k * frozen->n_data,
                   d->weights + k * frozen->n_data, d->to + k * frozen->n_templates);
}

static void take_points(void *user, size_t k, const double *point, const double *answer)
{
    const struct hf_points *d = user;
    const struct frozen *frozen = &d->model->frozen;
    (void)point;
    pull_points(d->model, answer, d->points + k * frozen->n_parameters, d->data + k * frozen->n_data,
                d->weights + k * frozen->n_data, d->to + k * frozen->n_parameters);
}

paritas_status hf_expected_pullback(paritas_context *context, const paritas_model *given, size_t n,
                                    const double *points, const double *data, const double *weights,
                                    double *by_points, double *by_templates)
{
    struct hf_points d = {
        .model = (const struct hf_model *)given, .n = n, .points = points, .data = data, .weights = weights};
    if (by_templates) {
        d.to = by_templates;
        d.take = take_templates;
        TRY(run_tangent(context, &d));
    }
    d.to = by_points;
    d.take = take_points;
    return by_points ? hf_jacobian_run(context, context->host, &d) : PARITAS_OK;
}
