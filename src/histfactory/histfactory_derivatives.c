/* histfactory_derivatives.c: derivatives by data rows, with templates.
 *
 * Per cell, kernels answer the part of its base that arrives in its bin (G) and its change along the
 * direction (G', histfactory_tangent.h). base = nominal + sum of S s(a) + A t(a), S = (hi - lo) / 2, A =
 * (hi + lo - 2 nominal) / 16. G has the factors v of normsys: G goes as exp(sum of ln v). sigma goes as
 * sqrt(sum of squared uncertainties) / (sum of rates), tau as (rate / uncertainty)^2.
 *
 * ' is along parameters, in the kernels' answer, and along numbers of the row ("moves"), added here. */
#include "base/math/host_math.h"
#include "entry/entry_rows.h"
#include "histfactory/histfactory_arrays.h"
#include "histfactory/histfactory_correlated.h"
#include "histfactory/histfactory_model.h"
#include "histfactory/histfactory_templates.h"
#include "histfactory/modifiers/modifier_numbers.h"

#include <string.h>

/* The tangent entry's answer for a row; point and direction, by slot. */
struct tangent {
    const double *lambda, *lambda1, *g, *g1, *s, *t, *t1, *point, *direction;
    const double *moves;            /* of templates; NULL: 0 */
    const uint32_t *slots, *places; /* of histosys entries: in direction; in s, t, t1 */
};

/* Returns NULL if all histosys have one code. */
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

static struct tangent tangent_of(const struct hf_model *model, const double *point, const double *answer,
                                 const double *moves)
{
    const size_t bins = model->n_bins, cells = model->n_cells, shifts = shift_count(model);
    const double *s = answer + HF_TANGENT_S(bins, cells);
    const uint32_t *mi = model->frozen.tables.ints, *slots = mi + mi[HF_I_HISTOSYS_SLOT];
    const hf_shift_codes_record *codes = shift_codes(model);
    return (struct tangent){answer,
                            answer + HF_TANGENT_LAMBDA1(bins),
                            answer + HF_TANGENT_G(bins),
                            answer + HF_TANGENT_G1(bins, cells),
                            s,
                            s + shifts,
                            s + 2 * shifts,
                            point,
                            point + model->frozen.n_slots,
                            moves,
                            slots,
                            codes ? mi + codes->place : slots};
}

/* Move of the template with this mark; 0: none. */
static double move_of(const double *moves, uint32_t mark, uint32_t bin)
{
    return moves && mark ? moves[mark - 1 + bin] : 0.0;
}

/* A unit's base in a bin, and its derivatives along the direction and along the moves. */
static double base_of(const struct hf_varied_unit *unit, const struct tangent *at, const double *numbers,
                      uint32_t bin, double turn[2])
{
    const double nominal = hf_rates(unit->sample, numbers)[bin],
                 nominal1 = move_of(at->moves, unit->sample->data_template, bin);
    double base = nominal;
    turn[0] = 0.0;
    turn[1] = nominal1;
    for (uint32_t e = 0; e < unit->n_entries; e++) {
        const uint32_t place = at->places[unit->first_entry + e];
        const double direction = at->direction[at->slots[unit->first_entry + e]];
        const struct hf_modifier *m = unit->entries[e];
        double pair[16], pair1[16];
        hf_put_shift(nominal, hf_high(m, numbers)[bin], hf_low(m, numbers)[bin], pair);
        hf_put_shift(nominal1, move_of(at->moves, m->hi_template, bin),
                     move_of(at->moves, m->lo_template, bin), pair1);
        base += pair[0] * at->s[place] + pair[8] * at->t[place];
        turn[0] += (pair[0] + pair[8] * at->t1[place]) * direction;
        turn[1] += pair1[0] * at->s[place] + pair1[8] * at->t[place];
    }
    return base;
}

/* Adds, per template of a rate or shift, p d(lambda) + q d(lambda') of a bin: `whole` p d(lambda)/d(base) and
 * the same of lambda', `turn` q d(lambda')/d(base'). */
static void pull_base(const struct hf_varied_unit *unit, const struct tangent *at, double whole, double turn,
                      uint32_t bin, double *templates)
{
    double nominal = whole;
    for (uint32_t e = 0; e < unit->n_entries; e++) {
        const struct hf_modifier *m = unit->entries[e];
        const uint32_t place = at->places[unit->first_entry + e];
        const double direction = at->direction[at->slots[unit->first_entry + e]];
        const double by_s = whole * at->s[place] + turn * direction,
                     by_a = whole * at->t[place] + turn * at->t1[place] * direction;
        if (m->hi_template) templates[m->hi_template - 1 + bin] += by_a / 16.0 + 0.5 * by_s;
        if (m->lo_template) templates[m->lo_template - 1 + bin] += by_a / 16.0 - 0.5 * by_s;
        nominal -= by_a / 8.0;
    }
    if (unit->sample->data_template) templates[unit->sample->data_template - 1 + bin] += nominal;
}

/* A varied factor: derivatives of its logarithm, and by the parameter and the moves of hi and lo. */
struct factor {
    double by_hi, by_lo, by_hi1, by_lo1, moved;
};

static struct factor factor_of(const struct hf_model *model, const struct hf_varied_factor *varied,
                               const struct tangent *at, const double *numbers)
{
    const uint32_t *ints = model->frozen.tables.ints;
    const struct hf_modifier *m = varied->modifier;
    const uint32_t slot = ints[ints[HF_I_NORMSYS_SLOT] + varied->entry];
    const struct hf_factor_slopes by = hf_normsys_slopes((paritas_normsys_code)m->code, hf_hi(m, numbers),
                                                         hf_lo(m, numbers), at->point[slot]);
    const double turn = at->direction[slot], hi1 = move_of(at->moves, m->hi_template, 0),
                 lo1 = move_of(at->moves, m->lo_template, 0);
    return (struct factor){.by_hi = by.by_hi,
                           .by_lo = by.by_lo,
                           .by_hi1 = by.by_hi_turn * turn + by.by_hi_hi * hi1 + by.by_hi_lo * lo1,
                           .by_lo1 = by.by_lo_turn * turn + by.by_hi_lo * hi1 + by.by_lo_lo * lo1,
                           .moved = by.by_hi * hi1 + by.by_lo * lo1};
}

/* ln of the unit's factors along the moves. */
static double moved_factors(const struct hf_model *model, const struct hf_varied_unit *unit,
                            const struct tangent *at, const double *numbers)
{
    double moved = 0.0;
    for (uint32_t k = 0; at->moves && k < unit->n_factors; k++)
        moved += factor_of(model, &unit->factors[k], at, numbers).moved;
    return moved;
}

/* Pulls as pull_base does, for each template of a factor. `whole`, `turn`: sums over bins, times base and
 * base'; times base. */
static void pull_factors(const struct hf_model *model, const struct hf_varied_unit *unit,
                         const struct tangent *at, const double *numbers, double whole, double turn,
                         double *templates)
{
    for (uint32_t k = 0; k < unit->n_factors; k++) {
        const struct hf_modifier *m = unit->factors[k].modifier;
        const struct factor f = factor_of(model, &unit->factors[k], at, numbers);
        if (m->hi_template) templates[m->hi_template - 1] += f.by_hi * whole + f.by_hi1 * turn;
        if (m->lo_template) templates[m->lo_template - 1] += f.by_lo * whole + f.by_lo1 * turn;
    }
}

static size_t cell_of(const struct hf_varied_unit *unit, uint32_t b)
{
    return 8 * (size_t)(unit->first_cell + b / 8 * unit->cell_step) + b % 8;
}

/* Adds, per template, the sum over bins of p d(lambda) + q d(lambda'). p, q: a main datum each; q NULL:
 * zeros. */
static void pull_rates(const struct hf_model *model, const struct tangent *at, const double *numbers,
                       const double *p, const double *q, double *templates)
{
    for (uint32_t i = 0; i < model->templates.n_units; i++) {
        const struct hf_varied_unit *unit = &model->templates.units[i];
        const double moved = q ? moved_factors(model, unit, at, numbers) : 0.0;
        double factors = 0.0, factors_turn = 0.0, base1[2];
        for (uint32_t b = 0; b < unit->n_bins; b++) {
            const size_t cell = cell_of(unit, b);
            const uint32_t bin = unit->first_bin + b, datum = unit->first_datum + b;
            const double g = at->g[cell], turn = q ? q[datum] * g : 0.0,
                         whole = p[datum] * g + (q ? q[datum] * (at->g1[cell] + g * moved) : 0.0);
            if (unit->place) pull_base(unit, at, whole, turn, bin, templates);
            if (unit->n_factors == 0) continue;
            const double base = base_of(unit, at, numbers, bin, base1);
            factors += whole * base + turn * (base1[0] + base1[1]);
            factors_turn += turn * base;
        }
        pull_factors(model, unit, at, numbers, factors, factors_turn, templates);
    }
}

/* Adds to lambda' of main data what the moves do. */
static void push_rates(const struct hf_model *model, const struct tangent *at, const double *numbers,
                       double *lambda1)
{
    for (uint32_t i = 0; at->moves && i < model->templates.n_units; i++) {
        const struct hf_varied_unit *unit = &model->templates.units[i];
        const double moved = moved_factors(model, unit, at, numbers);
        for (uint32_t b = 0; b < unit->n_bins; b++) {
            double base1[2];
            const double base = base_of(unit, at, numbers, unit->first_bin + b, base1);
            lambda1[unit->first_datum + b] += at->g[cell_of(unit, b)] * (base1[1] + base * moved);
        }
    }
}

/* A width in a row: the numbers that decide its logarithm, and what they do along the moves. */
struct width {
    const struct hf_varied_width *varied; /* NULL: they do not */
    uint32_t bin;
    bool poisson;
    double total, squares, total1, squares1; /* rates; squared uncertainties */
};

static struct width width_of(const struct hf_model *model, const double *numbers, const double *moves,
                             const struct hf_set *set, uint32_t i)
{
    struct width width = {.poisson = set->tau};
    const uint32_t index = model->templates.width_of ? model->templates.width_of[set->first + i] : 0;
    const struct hf_varied_width *w = index ? &model->templates.widths[index - 1] : NULL;
    if (!w || !hf_follows_rates(w, numbers, i - w->first)) return width;
    width.varied = w;
    width.bin = i - w->first;
    for (uint32_t k = 0; k < w->n_carriers; k++) {
        const struct hf_carrier *c = &w->carriers[k];
        const double u = hf_uncertainty(c->modifier, numbers)[width.bin];
        width.total += hf_rates(c->sample, numbers)[width.bin];
        width.squares += u * u;
        width.total1 += move_of(moves, c->sample->data_template, width.bin);
        width.squares1 += 2.0 * u * move_of(moves, c->modifier->uncertainty_template, width.bin);
    }
    return width;
}

/* ln(sigma) = ln(squares) / 2 - ln(total); ln(tau) = 2 ln(total) - ln(squares). */
static double width_moved(const struct width *w)
{
    const double relative = w->varied ? w->total1 / w->total - 0.5 * w->squares1 / w->squares : 0.0;
    return w->poisson ? 2.0 * relative : -relative;
}

/* Chain rule from ln(width) to its rates and uncertainties: adds by_logarithm times its derivatives, and
 * `moved` times those along the moves. */
static void pull_width(const struct width *w, const double *numbers, const double *moves, double by_logarithm,
                       double moved, double *templates)
{
    if (!w->varied) return;
    const double scale = w->poisson ? 2.0 : -1.0, s = -scale / w->squares, t = scale / w->total;
    const double by_rate = t * by_logarithm - t * w->total1 / w->total * moved,
                 by_uncertainty = s * by_logarithm - s * w->squares1 / w->squares * moved;
    for (uint32_t k = 0; k < w->varied->n_carriers; k++) {
        const struct hf_carrier *c = &w->varied->carriers[k];
        const uint32_t rate = c->sample->data_template, mark = c->modifier->uncertainty_template;
        if (rate) templates[rate - 1 + w->bin] += by_rate;
        if (mark)
            templates[mark - 1 + w->bin] += by_uncertainty * hf_uncertainty(c->modifier, numbers)[w->bin] +
                                            s * move_of(moves, mark, w->bin) * moved;
    }
}

/* Derivatives of a constraint term by its datum and by ln(width); these along y', datum', ln(width)'. */
struct term {
    double by_datum, by_width, by_datum1, by_width1;
};

/* `mean`: expected datum. */
static struct term gauss_term(double mean, double datum, double width, double mean1, double datum1,
                              double width1)
{
    const double precision = 1.0 / (width * width), offset = mean - datum, offset1 = mean1 - datum1;
    return (struct term){.by_datum = -2.0 * precision * offset,
                         .by_width = 2.0 - 2.0 * precision * offset * offset,
                         .by_datum1 = -2.0 * precision * (offset1 - 2.0 * offset * width1),
                         .by_width1 = -4.0 * precision * offset * (offset1 - offset * width1)};
}

/* Of mean tau y. */
static struct term poisson_term(double y, double n, double tau, double y1, double n1, double width1)
{
    const double rate = tau * y;
    return (struct term){.by_datum = 2.0 * (host_digamma(n + 1.0) - host_log(rate)),
                         .by_width = 2.0 * (rate - n),
                         .by_datum1 =
                             2.0 * ((n1 != 0.0 ? host_trigamma(n + 1.0) * n1 : 0.0) - y1 / y - width1),
                         .by_width1 = 2.0 * (tau * y1 + rate * width1 - n1)};
}

/* The datum is tau: by_datum joins by_width. */
static struct term following_term(double y, double tau, double y1, double width1)
{
    const struct term term = poisson_term(y, tau, tau, y1, tau * width1, width1);
    return (struct term){.by_width = term.by_width + tau * term.by_datum,
                         .by_width1 = term.by_width1 + tau * (term.by_datum1 + term.by_datum * width1)};
}

/* A row of `derive`: what is differentiated, along what (NULL: not), where the answers go. */
struct derivation {
    const double *point, *data, *direction, *moves;
    bool follow;
    double *gradient, *along;
};

/* Constraint terms of the gradient and its derivative. False: outside the domain. */
static bool add_constraints(const struct hf_model *model, const struct derivation *d)
{
    const struct hf_spec *spec = model->spec;
    const size_t first_template = model->frozen.n_data - model->frozen.n_templates;
    const double *numbers = d->data + first_template, *moves = d->moves ? d->moves + first_template : NULL;
    for (uint32_t k = 0; k < spec->n_sets; k++) {
        const struct hf_set *set = &spec->sets[k];
        for (uint32_t i = 0; set->constraint != HF_UNCONSTRAINED && i < set->size; i++) {
            const size_t place = spec->n_main + set->first_aux + i;
            const double x = d->point[set->first + i], width = hf_width_in_row(model, numbers, set, i),
                         x1 = d->direction ? d->direction[set->first + i] : 0.0,
                         y = set->offset + set->slope * x, y1 = set->slope * x1,
                         datum1 = d->moves ? d->moves[place] : 0.0;
            const struct width w = width_of(model, numbers, moves, set, i);
            const double width1 = width_moved(&w);
            struct term term;
            if (set->tau) {
                if (!(width * y > 0.0 || (width * y >= 0.0 && d->data[place] <= 0.0))) return false;
                term = d->follow && w.varied && !set->aux_given
                           ? following_term(y, width, y1, width1)
                           : poisson_term(y, d->data[place], width, y1, datum1, width1);
            } else {
                if (hf_law(set)->domain == HF_POSITIVE && !(y > 0.0)) return false;
                const double mean = hf_expected_aux(set, width, x);
                term = gauss_term(mean, d->data[place], hf_sigma_at(set, width, mean - d->data[place]),
                                  hf_expected_aux_slope(set, width, x) * x1, datum1, width1);
            }
            d->gradient[place] = term.by_datum;
            pull_width(&w, numbers, moves, term.by_width, 0.0, d->gradient + first_template);
            if (!d->along) continue;
            d->along[place] = term.by_datum1;
            pull_width(&w, numbers, moves, term.by_width1, term.by_width, d->along + first_template);
        }
    }
    hf_pull_ties(spec, -2.0, d->point, d->data, d->gradient);
    if (d->along) hf_pull_ties(spec, -2.0, d->direction, d->moves, d->along);
    return true;
}

/* Gradient of a row and its derivative. `p`, `q`: scratch, a main datum each. False: outside the domain. */
static bool derive(const struct hf_model *model, const struct tangent *at, const struct derivation *d,
                   double *p, double *q)
{
    const struct frozen *frozen = &model->frozen;
    const size_t first_template = frozen->n_data - frozen->n_templates;
    const double *numbers = d->data + first_template;
    double *gradient = d->gradient, *along = d->along;
    memset(gradient, 0, frozen->n_data * sizeof *gradient);
    if (along) memset(along, 0, frozen->n_data * sizeof *along);
    if (!add_constraints(model, d)) return false;
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double lambda = at->lambda[frozen->place_of[i]], n = d->data[i];
        p[i] = 0.0;
        if (frozen_is_masked(frozen, i)) continue;
        if (!(lambda > 0.0 || (lambda >= 0.0 && n <= 0.0))) return false;
        gradient[i] = 2.0 * (host_digamma(n + 1.0) - host_log(lambda));
        p[i] = n > 0.0 ? 2.0 * (1.0 - n / lambda) : 2.0;
        if (along) along[i] = at->lambda1[frozen->place_of[i]];
    }
    pull_rates(model, at, numbers, p, NULL, gradient + first_template);
    if (!along) return true;
    push_rates(model, at, numbers, along);
    for (size_t i = 0; i < frozen->n_main; i++) {
        const double lambda = at->lambda[frozen->place_of[i]], lambda1 = along[i], n = d->data[i],
                     n1 = d->moves ? d->moves[i] : 0.0;
        q[i] = p[i];
        if (frozen_is_masked(frozen, i)) continue;
        along[i] = -2.0 * lambda1 / lambda;
        p[i] = n > 0.0 ? 2.0 * n * lambda1 / (lambda * lambda) : 0.0;
        if (n1 == 0.0) continue;
        along[i] += 2.0 * host_trigamma(n + 1.0) * n1;
        p[i] -= 2.0 * n1 / lambda;
    }
    pull_rates(model, at, numbers, p, q, along + first_template);
    return true;
}

static void take_derivatives(void *user, size_t k, const double *point, const double *answer)
{
    const struct hf_points *d = user;
    const struct frozen *frozen = &d->model->frozen;
    const size_t p = frozen->n_parameters, row = frozen->n_data;
    const struct derivation one = {.point = d->points + k * p,
                                   .data = d->data + k * row,
                                   .direction = d->along && d->directions ? d->directions + k * p : NULL,
                                   .moves = d->along && d->moves ? d->moves + k * row : NULL,
                                   .follow = d->follow,
                                   .gradient = d->to ? d->to + k * row : d->room + 2 * frozen->n_main,
                                   .along = d->along ? d->along + k * row : NULL};
    const struct tangent at =
        tangent_of(d->model, point, answer, one.moves ? frozen_templates(frozen, one.moves) : NULL);
    const bool inside = derive(d->model, &at, &one, d->room, d->room + frozen->n_main);
    for (size_t i = 0; !inside && i < row; i++) {
        one.gradient[i] = __builtin_nan("");
        if (one.along) one.along[i] = __builtin_nan("");
    }
}

static paritas_status run_tangent(paritas_context *context, struct hf_points *points)
{
    const struct hf_model *model = points->model;
    return hf_points_run(context, context->host, model->frozen.family->tangent,
                         HF_TANGENT_SIZE(model->n_bins, model->n_cells, shift_count(model)), points);
}

paritas_status hf_data_derivatives(paritas_context *context, const paritas_model *given, size_t n,
                                   const double *points, const double *data, const struct row_motion *motion,
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
                          .directions = motion->parameters,
                          .moves = motion->rows,
                          .follow = motion->follow,
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
        for (uint32_t i = 0; spec->sets[k].tau && i < spec->sets[k].size; i++) {
            const struct width w = width_of(model, numbers, NULL, &spec->sets[k], i);
            pull_width(&w, numbers, NULL,
                       weights[spec->n_main + spec->sets[k].first_aux + i] *
                           hf_expected_aux(&spec->sets[k], hf_width_in_row(model, numbers, &spec->sets[k], i),
                                           point[spec->sets[k].first + i]),
                       0.0, templates);
        }
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
    const struct tangent at = tangent_of(d->model, point, answer, NULL);
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
        .model = hf_whole(given), .n = n, .points = points, .data = data, .weights = weights};
    if (by_templates) {
        d.to = by_templates;
        d.take = take_templates;
        TRY(run_tangent(context, &d));
    }
    d.to = by_points;
    d.take = take_points;
    return by_points ? hf_jacobian_run(context, context->host, &d) : PARITAS_OK;
}
