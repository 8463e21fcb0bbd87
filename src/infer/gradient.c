/* gradient.c: paritas_differentiate: arguments, rows in chunks, and outputs from q and q_A with their
 * derivatives. */
#include "infer/gradient.h"
#include "base/sized.h"
#include "fit/fit_rows.h"
#include "infer/asymptotic.h"
#include "infer/limit.h"
#include "infer/probability.h"

#include <math.h>
#include <string.h>

#define CHUNK_ELEMENTS ((size_t)4 << 20) /* of the largest arrays of the rows in hand */
#define Q_OF_ROUNDING 1e-11              /* below, the slope of a root is noise */
/* relative: CLs at a limit, found anew; limits are good to some 1e-7, another minimum is far off */
#define SAME_LEVEL 1e-4

static const unsigned outputs_of[] = {
#define ONE(name, value, word, doc) [value] = 1,
#define BAND(name, value, word, doc) [value] = PARITAS_QUANTITY_OUTPUTS,
    PARITAS_SINGLE_QUANTITY_LIST(ONE) PARITAS_BAND_QUANTITY_LIST(BAND)
#undef ONE
#undef BAND
};
#define QUANTITY_COUNT (sizeof outputs_of / sizeof outputs_of[0])

static bool is_likelihood(paritas_quantity quantity)
{
    return quantity == PARITAS_QUANTITY_NLL || quantity == PARITAS_QUANTITY_TWICE_NLL;
}

/* ---- outputs from q and q_A ---- */

struct output {
    double value, by_q, by_q_asimov;
};

/* Derivative of sqrt(q). */
static double root_slope(double q)
{
    return q > Q_OF_ROUNDING ? 0.5 / sqrt(q) : q >= 0.0 ? 0.0 : (double)NAN;
}

/* CLs of a curve, see asymptotic.h. With u = sqrt(q) and a = sqrt(q_A) it is Phi(-(t + a)) / Phi(-t), t a
 * function of both where observed. */
static struct output cls_output(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const double u = sqrt(q), a = sqrt(q_asimov);
    const bool tilde = statistic == PARITAS_STATISTIC_QTILDE && u > a;
    const double t = curve != ASYMPTOTIC_OBSERVED ? 2.0 - curve : tilde ? (q - q_asimov) / (2.0 * a) : u - a;
    const double t_by_u = curve != ASYMPTOTIC_OBSERVED ? 0.0 : tilde ? u / a : 1.0;
    const double t_by_a = curve != ASYMPTOTIC_OBSERVED ? 0.0 : tilde ? -0.5 * (q / q_asimov + 1.0) : -1.0;
    const double clsb_by_t = -normal_density(t + a), clsb = normal_cdf(-(t + a)),
                 clb = statistic == PARITAS_STATISTIC_Q0 ? 1.0 : normal_cdf(-t);
    const double by_t = (clsb_by_t +
                         (statistic == PARITAS_STATISTIC_Q0 ? 0.0 : clsb / clb * normal_density(t))) /
                        clb,
                 by_a = clsb_by_t / clb;
    struct output output = {.value = asymptotic_cls(statistic, curve, q, q_asimov)};
    if (t_by_u != 0.0) output.by_q = by_t * t_by_u * root_slope(q);
    output.by_q_asimov = (by_t * t_by_a + by_a) * root_slope(q_asimov);
    return output;
}

/* Curve of an output of cls and limit. */
static int curve_of(unsigned output)
{
    return output == 0 ? ASYMPTOTIC_OBSERVED : (int)output - 1;
}

static struct output output_of(const struct gradient *g, const struct gradient_point *point, unsigned output)
{
    switch (g->options.quantity) {
    case PARITAS_QUANTITY_Q:
        return (struct output){point->q, 1.0, 0.0};
    case PARITAS_QUANTITY_Z:
        return (struct output){sqrt(point->q), root_slope(point->q), 0.0};
    case PARITAS_QUANTITY_Q_ASIMOV:
        return (struct output){point->q_asimov, 0.0, 1.0};
    case PARITAS_QUANTITY_Z_ASIMOV:
        return (struct output){sqrt(point->q_asimov), 0.0, root_slope(point->q_asimov)};
    default:
        return cls_output(g->options.statistic, curve_of(output), point->q, point->q_asimov);
    }
}

/* Output k of a row: value, by row, by mu. Of a limit the value is known, and the rest is that of the curve
 * which it is the root of. */
static void write_output(const struct gradient *g, const struct gradient_row *row, size_t k,
                         const paritas_gradient *to)
{
    const bool limit = g->options.quantity == PARITAS_QUANTITY_LIMIT;
    const size_t at = row->index * g->n_outputs + k;
    const struct gradient_point *point = limit ? NULL : &row->points[0];
    for (size_t i = 0; i < row->n_points && limit; i++)
        if (row->points[i].output == g->outputs[k]) point = &row->points[i];
    const struct output output =
        point ? output_of(g, point, g->outputs[k]) : (struct output){(double)NAN, (double)NAN, (double)NAN};
    const double value = limit ? row->values[k] : output.value;
    const bool known = row->status == PARITAS_FIT_CONVERGED && !isnan(value);
    double by_mu = 0.0;
    if (point && output.by_q != 0.0) by_mu += output.by_q * point->by_mu;
    if (point && output.by_q_asimov != 0.0) by_mu += output.by_q_asimov * point->by_mu_asimov;
    const double scale = limit ? -1.0 / by_mu : 1.0;
    if (to->values) to->values[at] = known ? value : (double)NAN;
    if (to->at) to->at[at] = !known ? (double)NAN : limit ? 0.0 : by_mu;
    for (size_t i = 0; i < g->n_row && to->data; i++) {
        double sum = 0.0;
        if (point && point->by_row && output.by_q != 0.0) sum += output.by_q * point->by_row[i];
        if (point && point->by_row_asimov && output.by_q_asimov != 0.0)
            sum += output.by_q_asimov * point->by_row_asimov[i];
        to->data[at * g->n_row + i] = known ? scale * sum : (double)NAN;
    }
}

/* ---- rows ---- */

static void give_up(const struct gradient *g, size_t index, paritas_fit_status status,
                    const paritas_gradient *to)
{
    const size_t k = g->n_outputs, n_at = is_likelihood(g->options.quantity) ? g->infer.n_parameters : k;
    for (size_t i = 0; i < k && to->values; i++) to->values[index * k + i] = (double)NAN;
    for (size_t i = 0; i < n_at && to->at; i++) to->at[index * n_at + i] = (double)NAN;
    for (size_t i = 0; i < k * g->n_row && to->data; i++) to->data[index * k * g->n_row + i] = (double)NAN;
    if (to->statuses) to->statuses[index] = status;
}

/* Numbers, counts that are not negative, and templates that the model can take. Auxiliary data that are not
 * read may be anything. */
static bool is_sound(const struct gradient *g, const double *row)
{
    const struct frozen *model = paritas_model_frozen(g->infer.model);
    for (size_t i = 0; i < g->n_row; i++) {
        if (g->options.aux_follow && i >= model->n_main && i < g->n_data) continue;
        if (!isfinite(row[i]) || (i < model->n_main && frozen_counts(model, i) && row[i] < 0.0)) return false;
    }
    return rows_check_templates(g->infer.context, model, row, "data") == PARITAS_OK;
}

/* The chunk's sound rows as they are fitted; others are given up. *m: how many there are. */
static paritas_status take_rows(struct gradient *g, size_t first, size_t n, const double *data,
                                const paritas_gradient *to, struct gradient_row **rows, size_t *m)
{
    struct infer *infer = &g->infer;
    const size_t n_main = paritas_model_main_count(infer->model);
    paritas_status status = PARITAS_OK;
    *m = 0;
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        const double *given = data ? data + (first + i) * g->n_row : infer->base.data;
        if (!is_sound(g, given)) {
            give_up(g, first + i, PARITAS_FIT_NON_FINITE, to);
            continue;
        }
        struct gradient_row *row = arena_array(&infer->arena, 1, sizeof *row);
        double *filled = g->options.aux_follow ? arena_array(&infer->arena, g->n_row, sizeof *filled) : NULL;
        if (!row || (g->options.aux_follow && !filled)) return paritas_fail_memory(infer->context);
        if (filled)
            status = paritas_model_fill_row(infer->context, infer->model, n_main ? given : NULL,
                                            g->n_templates ? given + g->n_data : NULL, filled);
        row->data = filled ? filled : given;
        row->index = first + i;
        rows[(*m)++] = row;
    }
    return status;
}

/* What templates do through auxiliary data that follow them. */
static paritas_status follow(struct gradient *g, size_t n, struct gradient_row **rows, double *slopes)
{
    struct infer *infer = &g->infer;
    const size_t k = g->n_outputs, r = g->n_row, p = infer->n_parameters;
    if (!g->follows || n == 0) return PARITAS_OK;
    double *points = arena_array(&infer->arena, n * k, p * sizeof *points),
           *data = arena_array(&infer->arena, n * k, r * sizeof *data);
    double *weights = arena_array(&infer->arena, n * k, r * sizeof *weights),
           *by_templates = arena_array(&infer->arena, n * k, g->n_templates * sizeof *by_templates);
    if (!points || !data || !weights || !by_templates) return paritas_fail_memory(infer->context);
    /* at parameters of 1 the auxiliary data expected are those suggested */
    for (size_t i = 0; i < n * k; i++) {
        const double *slope = slopes + (rows[i / k]->index * k + i % k) * r;
        for (size_t a = 0; a < p; a++) points[i * p + a] = 1.0;
        memcpy(data + i * r, rows[i / k]->data, r * sizeof *data);
        for (size_t a = 0; a < r; a++) weights[i * r + a] = g->follows[a] != 0.0 ? slope[a] : 0.0;
    }
    const paritas_status status = paritas_expected_pullback(infer->context, infer->model, n * k, points, data,
                                                            weights, NULL, by_templates);
    for (size_t i = 0; i < n * k && status == PARITAS_OK; i++) {
        double *slope = slopes + (rows[i / k]->index * k + i % k) * r;
        for (size_t a = 0; a < g->n_templates; a++)
            slope[g->n_data + a] += by_templates[i * g->n_templates + a];
    }
    return status;
}

/* Auxiliary data that are not read change nothing. */
static void forget_aux(const struct gradient *g, size_t n, struct gradient_row **rows, double *slopes)
{
    const size_t k = g->n_outputs, n_main = paritas_model_main_count(g->infer.model);
    for (size_t i = 0; i < n * k && g->options.aux_follow; i++)
        for (size_t a = n_main; a < g->n_data; a++) {
            double *slope = slopes + (rows[i / k]->index * k + i % k) * g->n_row + a;
            if (!isnan(*slope)) *slope = 0.0;
        }
}

/* ---- likelihoods ---- */

static paritas_status likelihoods(struct gradient *g, size_t n, struct gradient_row **rows, const double *at,
                                  const paritas_gradient *to)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    const double scale = g->options.quantity == PARITAS_QUANTITY_NLL ? 0.5 : 1.0;
    double *points = arena_array(&infer->arena, n + 1, p * sizeof *points),
           *data = arena_array(&infer->arena, n + 1, r * sizeof *data);
    double *slopes = arena_array(&infer->arena, n + 1, r * sizeof *slopes),
           *gradient = arena_array(&infer->arena, p + 1, sizeof *gradient);
    if (!points || !data || !slopes || !gradient) return paritas_fail_memory(infer->context);
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        const size_t index = rows[i]->index;
        double value;
        memcpy(points + i * p, at + index * p, p * sizeof *points);
        memcpy(data + i * r, rows[i]->data, r * sizeof *data);
        status = paritas_evaluate(infer->context, infer->model, 1, points + i * p, 1, rows[i]->data, &value,
                                  to->at ? gradient : NULL, NULL);
        rows[i]->status = isfinite(value) ? PARITAS_FIT_CONVERGED : PARITAS_FIT_NON_FINITE;
        if (to->values) to->values[index] = isfinite(value) ? scale * value : (double)NAN;
        if (to->statuses) to->statuses[index] = rows[i]->status;
        for (size_t a = 0; a < p && to->at; a++)
            to->at[index * p + a] = isfinite(value) ? scale * gradient[a] : (double)NAN;
    }
    if (status == PARITAS_OK && to->data && n > 0)
        status = paritas_data_derivatives(infer->context, infer->model, n, points, data, NULL, slopes, NULL);
    for (size_t i = 0; i < n && to->data && status == PARITAS_OK; i++)
        for (size_t a = 0; a < r; a++) {
            const double slope = isinf(slopes[i * r + a]) ? 0.0 : scale * slopes[i * r + a];
            to->data[rows[i]->index * r + a] = rows[i]->status == PARITAS_FIT_CONVERGED ? slope : (double)NAN;
        }
    return status;
}

/* ---- statistics ---- */

static void open_fits(const struct gradient *g, struct gradient_row *row, const double *upper)
{
    row->free = (struct gradient_fit){.data = row->data, .upper = upper};
    row->origin =
        (struct gradient_fit){.data = row->data, .upper = upper, .conditional = true, .mu = g->asimov_mu};
    for (size_t k = 0; k < row->n_points; k++) {
        struct gradient_point *point = &row->points[k];
        point->data = point->asimov = row->origin;
        point->data.mu = point->asimov.mu = point->mu;
    }
}

/* Copies of the fits in the memory of the rows in hand. */
static paritas_status keep_fits(struct gradient *g, struct limit_fits *fits)
{
    const double **lists[2] = {fits->data, fits->asimov};
    const size_t p = g->infer.n_parameters;
    for (int l = 0; l < 2; l++)
        for (int curve = 0; curve < ASYMPTOTIC_CURVES; curve++) {
            if (!lists[l][curve]) continue;
            double *copy = arena_array(&g->infer.arena, p, sizeof *copy);
            if (!copy) return paritas_fail_memory(g->infer.context);
            memcpy(copy, lists[l][curve], p * sizeof *copy);
            lists[l][curve] = copy;
        }
    return PARITAS_OK;
}

/* Limits of a row, each a point where it exists, whose fits start from those that it was found with: a model
 * may have several minima. */
static paritas_status find_limits(struct gradient *g, struct gradient_row *row, paritas_limit_result *result)
{
    struct infer own;
    paritas_job job = g->infer.base;
    job.data = row->data;
    paritas_status status = infer_open(&own, g->infer.context, g->infer.model, &job, true);
    struct limit_fits fits;
    if (status == PARITAS_OK)
        status = limit_asymptotic(
            &own, &(paritas_limit_request){.statistic = g->options.statistic, .level = g->options.level},
            result, &fits);
    if (status == PARITAS_OK) status = keep_fits(g, &fits);
    infer_close(&own);
    if (status != PARITAS_OK) return status;
    double *upper = arena_array(&g->infer.arena, g->infer.n_parameters, sizeof *upper);
    if (!upper) return paritas_fail_memory(g->infer.context);
    memcpy(upper, g->infer.base.upper, g->infer.n_parameters * sizeof *upper);
    upper[g->infer.poi] = result->upper_bound;
    row->status = result->status;
    for (size_t k = 0; k < g->n_outputs; k++) {
        const unsigned output = g->outputs[k];
        row->values[k] = output == 0 ? result->limit_obs : result->limit_exp[output - 1];
        if (isnan(row->values[k]) || row->status != PARITAS_FIT_CONVERGED) continue;
        row->points[row->n_points++] = (struct gradient_point){
            .mu = row->values[k], .output = output, .wants_data = output == 0, .wants_asimov = true};
    }
    open_fits(g, row, upper);
    for (size_t k = 0; k < row->n_points; k++) {
        const int curve = row->points[k].output == 0 ? ASYMPTOTIC_OBSERVED : (int)row->points[k].output - 1;
        row->points[k].data.start = fits.data[curve];
        row->points[k].asimov.start = fits.asimov[curve];
    }
    return PARITAS_OK;
}

/* A model with several minima: where the fits at a limit end in others than those that it was found with,
 * their slopes are not the limit's. */
static void check_limits(const struct gradient *g, struct gradient_row *row)
{
    for (size_t k = 0; k < row->n_points; k++) {
        const double cls = output_of(g, &row->points[k], row->points[k].output).value;
        if (!(fabs(cls - g->options.level) <= SAME_LEVEL * g->options.level))
            row->status = infer_worse(row->status, PARITAS_FIT_NO_PROGRESS);
    }
}

static paritas_status statistics(struct gradient *g, size_t n, struct gradient_row **rows, const double *at,
                                 const paritas_gradient *to)
{
    struct infer *infer = &g->infer;
    const paritas_quantity quantity = g->options.quantity;
    const bool limit = quantity == PARITAS_QUANTITY_LIMIT;
    const bool wants_data = quantity == PARITAS_QUANTITY_Q || quantity == PARITAS_QUANTITY_Z ||
                            (quantity == PARITAS_QUANTITY_CLS && g->outputs[0] == 0);
    paritas_limit_result *result = limit ? arena_array(&infer->arena, 1, sizeof *result) : NULL;
    struct gradient_row **sound = arena_array(&infer->arena, n + 1, sizeof *sound);
    if ((limit && !result) || !sound) return paritas_fail_memory(infer->context);
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        if (limit) {
            status = find_limits(g, rows[i], result);
            continue;
        }
        rows[i]->n_points = 1;
        rows[i]->points[0] = (struct gradient_point){.mu = g->options.statistic == PARITAS_STATISTIC_Q0 ? 0.0
                                                           : at ? at[rows[i]->index]
                                                                : 1.0,
                                                     .wants_data = wants_data,
                                                     .wants_asimov = g->needs_asimov};
        open_fits(g, rows[i], infer->base.upper);
    }
    size_t m = 0;
    for (size_t i = 0; i < n; i++) /* of limits the fits serve derivatives alone */
        if (!limit || (g->wants_rows && rows[i]->n_points > 0)) sound[m++] = rows[i];
    if (status == PARITAS_OK) status = gradient_fits(g, m, sound);
    for (size_t i = 0; i < m && status == PARITAS_OK && limit; i++) check_limits(g, sound[i]);
    m = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i]->n_points > 0 && rows[i]->status == PARITAS_FIT_CONVERGED) sound[m++] = rows[i];
    if (status == PARITAS_OK && (g->wants_rows || g->wants_mu)) status = gradient_slopes(g, m, sound);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        for (size_t k = 0; k < g->n_outputs; k++) write_output(g, rows[i], k, to);
        if (to->statuses) to->statuses[rows[i]->index] = rows[i]->status;
    }
    return status;
}

/* ---- the call ---- */

static paritas_status check(const struct gradient *g, size_t n, const double *at)
{
    paritas_context *context = g->infer.context;
    const paritas_gradient_options *o = &g->options;
    if (o->quantity == PARITAS_QUANTITY_LIMIT) return limit_check(context, o->statistic, o->level);
    if (is_likelihood(o->quantity))
        return at ? PARITAS_OK
                  : paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s: takes parameters, none given",
                                 paritas_quantity_name(o->quantity));
    if (o->statistic != PARITAS_STATISTIC_QTILDE && o->statistic != PARITAS_STATISTIC_Q &&
        o->statistic != PARITAS_STATISTIC_Q0)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "unknown test statistic %d",
                            (int)o->statistic);
    paritas_status status =
        g->needs_asimov ? infer_check_value(&g->infer, g->infer.poi, g->asimov_mu) : PARITAS_OK;
    if (o->statistic == PARITAS_STATISTIC_Q0)
        return status == PARITAS_OK ? infer_check_value(&g->infer, g->infer.poi, 0.0) : status;
    if (!at && status == PARITAS_OK) return infer_check_value(&g->infer, g->infer.poi, 1.0);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++)
        status = infer_check_value(&g->infer, g->infer.poi, at[i]);
    return status;
}

/* Which auxiliary data follow the templates: those that are others where the templates are. */
static paritas_status find_followers(struct gradient *g, struct arena *arena)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t r = g->n_row, n_main = model->n_main;
    double *rows = arena_array(arena, 2 * r + 1, sizeof *rows),
           *scaled = arena_array(arena, g->n_templates + 1, sizeof *scaled);
    if (!rows || !scaled) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < g->n_templates; i++)
        scaled[i] = 1.5 * paritas_model_data(infer->model)[g->n_data + i];
    const paritas_status status = paritas_model_fill_row(infer->context, infer->model, NULL, NULL, rows);
    if (status != PARITAS_OK) return status;
    memcpy(rows + r, rows, r * sizeof *rows);
    /* not asking whether a row may have such templates */
    model->family->suggest_aux(model, scaled, rows + r + n_main);
    for (size_t i = 0; i < r; i++)
        rows[i] = i >= n_main && i < g->n_data && rows[i] != rows[r + i] ? 1.0 : 0.0;
    g->follows = rows;
    return PARITAS_OK;
}

static paritas_status open_call(struct gradient *g, struct arena *keep)
{
    struct infer *infer = &g->infer;
    const paritas_quantity quantity = g->options.quantity;
    unsigned char *held = arena_array(keep, infer->n_parameters + 1, 1);
    if (!held) return paritas_fail_memory(infer->context);
    memcpy(held, infer->base.fixed, infer->n_parameters);
    if (!is_likelihood(quantity)) held[infer->poi] = 1;
    g->held = held;
    g->n_templates = paritas_model_template_count(infer->model);
    g->n_data = paritas_model_main_count(infer->model) + paritas_model_aux_count(infer->model);
    g->n_row = g->n_data + g->n_templates;
    g->asimov_mu = g->options.statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0;
    g->shares = g->options.shared && (quantity == PARITAS_QUANTITY_Q || quantity == PARITAS_QUANTITY_Z);
    g->needs_asimov = quantity >= PARITAS_QUANTITY_Q_ASIMOV;
    const unsigned all = outputs_of[quantity],
                   wished = all > 1 && g->options.outputs ? g->options.outputs : (1u << all) - 1;
    if (wished >> all)
        return paritas_fail(infer->context, PARITAS_INVALID_ARGUMENT, "outputs %u: %s has %u", wished,
                            paritas_quantity_name(quantity), all);
    for (unsigned k = 0; k < all; k++)
        if (wished >> k & 1u) g->outputs[g->n_outputs++] = k;
    return g->options.aux_follow && g->n_templates > 0 ? find_followers(g, keep) : PARITAS_OK;
}

static paritas_status run(struct gradient *g, size_t n, const double *at, const double *data,
                          const paritas_gradient *to)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, each = (g->needs_asimov && g->wants_rows ? p * p : 0) + 8 * p +
                                                 (2 * g->n_outputs + 4) * g->n_row;
    const size_t step = CHUNK_ELEMENTS / each + 1;
    paritas_status status = PARITAS_OK;
    for (size_t first = 0; first < n && status == PARITAS_OK; first += step) {
        const size_t count = first + step < n ? step : n - first;
        size_t m = 0;
        arena_open(&infer->arena, &infer->context->allocator);
        struct gradient_row **rows = arena_array(&infer->arena, count, sizeof *rows);
        status = rows ? take_rows(g, first, count, data, to, rows, &m) : paritas_fail_memory(infer->context);
        if (status == PARITAS_OK)
            status = is_likelihood(g->options.quantity) ? likelihoods(g, m, rows, at, to)
                                                        : statistics(g, m, rows, at, to);
        if (status == PARITAS_OK && to->data) status = follow(g, m, rows, to->data);
        if (status == PARITAS_OK && to->data) forget_aux(g, m, rows, to->data);
        arena_free(&infer->arena);
    }
    return status;
}

paritas_status paritas_differentiate(paritas_context *context, const paritas_model *model,
                                     const paritas_gradient_options *given, const paritas_job *job, size_t n,
                                     const double *at, const double *data,
                                     const paritas_gradient *given_gradient)
{
    struct gradient g = {.options = PARITAS_GRADIENT_OPTIONS_DEFAULT};
    paritas_gradient gradient = PARITAS_GRADIENT_DEFAULT;
    paritas_status status = SIZED_TAKE(context, paritas_gradient_options, "options", given, &g.options);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_gradient, "gradient", 1, given_gradient);
    if (status == PARITAS_OK)
        status = SIZED_TAKE(context, paritas_gradient, "gradient", given_gradient, &gradient);
    if (status != PARITAS_OK) return status;
    if ((size_t)g.options.quantity >= QUANTITY_COUNT)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "quantity %d: there is none of this number",
                            (int)g.options.quantity);
    struct paritas_device *device = context->device;
    const unsigned precision = context->precision;
    if (precision == 32) { /* as the header says */
        context->device = context->host;
        context->precision = 64;
    }
    status = infer_open(&g.infer, context, model, job, !is_likelihood(g.options.quantity));
    struct arena keep = g.infer.arena;
    g.wants_rows = gradient.data != NULL;
    g.wants_mu = gradient.at != NULL || (g.options.quantity == PARITAS_QUANTITY_LIMIT && g.wants_rows);
    if (status == PARITAS_OK) status = open_call(&g, &keep);
    if (status == PARITAS_OK) status = check(&g, n, at);
    if (status == PARITAS_OK) status = run(&g, n, at, data, &gradient);
    arena_free(&keep);
    context->device = device;
    context->precision = precision;
    return status;
}
