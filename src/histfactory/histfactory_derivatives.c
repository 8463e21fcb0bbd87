/* histfactory_derivatives.c: derivatives by data rows, with templates.
 *
 * Per cell, kernels answer the part of its base that arrives in its bin (G) and its change along the
 * direction (G', histfactory_tangent.h). base = nominal + sum of S s(a) + A t(a), S = (hi - lo) / 2, A =
 * (hi + lo - 2 nominal) / 16. G has the factors v of normsys: G goes as exp(sum of ln v). sigma goes as
 * sqrt(sum of squared uncertainties) / (sum of rates), tau as (rate / uncertainty)^2. */
#include "base/host_math.h"
#include "entry/entry_rows.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_model.h"
#include "histfactory/modifier_numbers.h"

#include <string.h>

/* The tangent entry's answer for a row; point and direction, by slot. */
struct tangent {
    const double *lambda, *lambda1, *g, *g1, *s, *t, *t1, *point, *direction;
};

static struct tangent tangent_of(const struct hf_model *model, const double *point, const double *answer)
{
    const size_t bins = model->n_bins, cells = model->n_cells, dense = model->frozen.tables.ints[HF_DENSE];
    const double *s = answer + HF_TANGENT_S(bins, cells);
    return (struct tangent){answer,
                            answer + HF_TANGENT_LAMBDA1(bins),
                            answer + HF_TANGENT_G(bins),
                            answer + HF_TANGENT_G1(bins, cells),
                            s,
                            s + dense,
                            s + 2 * dense,
                            point,
                            point + model->frozen.n_slots};
}

/* A unit's base in a bin, and its derivative along the direction. */
static double base_of(const struct hf_model *model, const struct hf_varied_unit *unit,
                      const struct tangent *at, const double *numbers, uint32_t bin, double *turn)
{
    const uint32_t *slots = model->frozen.tables.ints + model->frozen.tables.ints[HF_I_HISTOSYS_SLOT];
    const double nominal = hf_rates(unit->sample, numbers)[bin];
    double base = nominal;
    *turn = 0.0;
    for (uint32_t e = 0; e < unit->n_entries; e++) {
        const uint32_t slot = slots[unit->first_entry + e];
        double pair[16];
        hf_put_shift(nominal, hf_high(unit->entries[e], numbers)[bin], hf_low(unit->entries[e], numbers)[bin],
                     pair);
        base += pair[0] * at->s[slot] + pair[8] * at->t[slot];
        *turn += (pair[0] + pair[8] * at->t1[slot]) * at->direction[slot];
    }
    return base;
}

/* Adds, per template of a rate or shift, p d(lambda) + q d(lambda') of a bin: `whole` p d(lambda)/d(base) and
 * the same of lambda', `turn` q d(lambda')/d(base'). */
static void pull_base(const struct hf_model *model, const struct hf_varied_unit *unit,
                      const struct tangent *at, double whole, double turn, uint32_t bin, double *templates)
{
    const uint32_t *slots = model->frozen.tables.ints + model->frozen.tables.ints[HF_I_HISTOSYS_SLOT];
    double nominal = whole;
    for (uint32_t e = 0; e < unit->n_entries; e++) {
        const struct hf_modifier *m = unit->entries[e];
        const uint32_t slot = slots[unit->first_entry + e];
        const double by_s = whole * at->s[slot] + turn * at->direction[slot],
                     by_a = whole * at->t[slot] + turn * at->t1[slot] * at->direction[slot];
        if (m->hi_template) templates[m->hi_template - 1 + bin] += by_a / 16.0 + 0.5 * by_s;
        if (m->lo_template) templates[m->lo_template - 1 + bin] += by_a / 16.0 - 0.5 * by_s;
        nominal -= by_a / 8.0;
    }
    if (unit->sample->data_template) templates[unit->sample->data_template - 1 + bin] += nominal;
}

/* The same per template of a factor. `whole`, `turn`: sums over bins, times base and base'; times base. */
static void pull_factors(const struct hf_model *model, const struct hf_varied_unit *unit,
                         const struct tangent *at, const double *numbers, double whole, double turn,
                         double *templates)
{
    const uint32_t *ints = model->frozen.tables.ints, *slots = ints + ints[HF_I_NORMSYS_SLOT];
    for (uint32_t k = 0; k < unit->n_factors; k++) {
        const struct hf_modifier *m = unit->factors[k].modifier;
        const uint32_t slot = slots[unit->factors[k].entry];
        const struct hf_factor_slopes by =
            hf_normsys_slopes(ints[HF_NORMSYS_CODE], hf_hi(m, numbers), hf_lo(m, numbers), at->point[slot]);
        if (m->hi_template)
            templates[m->hi_template - 1] += by.by_hi * whole + by.by_hi_turn * at->direction[slot] * turn;
        if (m->lo_template)
            templates[m->lo_template - 1] += by.by_lo * whole + by.by_lo_turn * at->direction[slot] * turn;
    }
}

/* Adds, per template, the sum over bins of p d(lambda) + q d(lambda'). p, q: a main datum each; q NULL:
 * zeros. */
static void pull_rates(const struct hf_model *model, const struct tangent *at, const double *numbers,
                       const double *p, const double *q, double *templates)
{
    for (uint32_t i = 0; i < model->templates.n_units; i++) {
        const struct hf_varied_unit *unit = &model->templates.units[i];
        double factors = 0.0, factors_turn = 0.0, base1;
        for (uint32_t b = 0; b < unit->n_bins; b++) {
            const size_t cell = 8 * (size_t)(unit->first_cell + b / 8 * unit->cell_step) + b % 8;
            const uint32_t bin = unit->first_bin + b, datum = unit->first_datum + b;
            const double turn = q ? q[datum] * at->g[cell] : 0.0,
                         whole = p[datum] * at->g[cell] + (q ? q[datum] * at->g1[cell] : 0.0);
            if (unit->place) pull_base(model, unit, at, whole, turn, bin, templates);
            if (unit->n_factors == 0) continue;
            const double base = base_of(model, unit, at, numbers, bin, &base1);
            factors += whole * base + turn * base1;
            factors_turn += turn * base;
        }
        pull_factors(model, unit, at, numbers, factors, factors_turn, templates);
    }
}

/* Chain rule from ln(width), element i of a set, to its rates and uncertainties. */
static void pull_width(const struct hf_model *model, const double *numbers, const struct hf_set *set,
                       uint32_t i, double by_logarithm, double *templates)
{
    const uint32_t index = model->templates.width_of ? model->templates.width_of[set->first + i] : 0;
    if (index == 0) return;
    const struct hf_varied_width *w = &model->templates.widths[index - 1];
    const uint32_t bin = i - w->first;
    if (!hf_follows_rates(w, numbers, bin)) return;
    const bool poisson = set->constraint == HF_POISSON;
    double squares = 0.0;
    for (uint32_t k = 0; k < w->n_carriers; k++) {
        const double u = hf_uncertainty(w->carriers[k].modifier, numbers)[bin];
        squares += u * u;
    }
    const double by_rate = poisson ? 2.0 / hf_rates(w->carriers[0].sample, numbers)[bin]
                                   : -1.0 / hf_carried_rate(w, numbers, bin),
                 by_half_square = (poisson ? -2.0 : 1.0) / squares;
    for (uint32_t k = 0; k < w->n_carriers; k++) {
        const struct hf_carrier *c = &w->carriers[k];
        if (c->sample->data_template) templates[c->sample->data_template - 1 + bin] += by_rate * by_logarithm;
        if (c->modifier->uncertainty_template)
            templates[c->modifier->uncertainty_template - 1 + bin] +=
                by_half_square * hf_uncertainty(c->modifier, numbers)[bin] * by_logarithm;
    }
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
                const double n = data[place], rate = width * x;
                if (!(rate > 0.0 || (rate >= 0.0 && n <= 0.0))) return false;
                by_datum = 2.0 * (host_digamma(n + 1.0) - host_log(rate));
                by_width = 2.0 * (rate - n);
                by_datum1 = -2.0 * move / x;
                by_width1 = 2.0 * width * move;
            } else {
                const double precision = 1.0 / (width * width), offset = x - data[place];
                by_datum = -2.0 * precision * offset;
                by_width = 2.0 - 2.0 * precision * offset * offset;
                by_datum1 = -2.0 * precision * move;
                by_width1 = -4.0 * precision * offset * move;
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
    pull_rates(model, at, data + first_template, p, NULL, gradient + first_template);
    if (!along) return true;
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double lambda = at->lambda[frozen->place_of[i]], lambda1 = at->lambda1[frozen->place_of[i]],
                     n = data[i];
        q[i] = p[i];
        along[i] = -2.0 * lambda1 / lambda;
        p[i] = n > 0.0 ? 2.0 * n * lambda1 / (lambda * lambda) : 0.0;
    }
    pull_rates(model, at, data + first_template, p, q, along + first_template);
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
    const size_t dense = model->frozen.tables.ints[HF_DENSE];
    return hf_points_run(context, context->host, model->frozen.family->tangent,
                         HF_TANGENT_SIZE(model->n_bins, model->n_cells, dense), points);
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
    pull_rates(model, at, numbers, weights, NULL, templates);
    for (uint32_t k = 0; k < spec->n_sets; k++)
        for (uint32_t i = 0; spec->sets[k].constraint == HF_POISSON && i < spec->sets[k].size; i++)
            pull_width(model, numbers, &spec->sets[k], i,
                       weights[spec->n_main + spec->sets[k].first_aux + i] *
                           hf_width_in_row(model, numbers, &spec->sets[k], i) *
                           point[spec->sets[k].first + i],
                       templates);
}

/* `jacobian`: answer of the jacobian entry. */
static void pull_points(const struct hf_model *model, const double *jacobian, const double *data,
                        const double *weights, double *parameters)
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
                (set->constraint == HF_POISSON
                     ? hf_width_in_row(model, frozen_templates(frozen, data), set, i)
                     : 1.0);
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
    pull_points(d->model, answer, d->data + k * frozen->n_data, d->weights + k * frozen->n_data,
                d->to + k * frozen->n_parameters);
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
