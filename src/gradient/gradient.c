/* gradient.c: paritas_differentiate: arguments, chunks of rows, outputs and their derivatives. */
#include "gradient/gradient.h"
#include "base/sized.h"
#include "fit/fit_rows.h"
#include "statistics/asymptotic.h"
#include "statistics/limit.h"
#include "base/math/probability.h"

#include <math.h>
#include <string.h>

#define CHUNK_ELEMENTS ((size_t)4 << 20) /* in a chunk's largest arrays */
#define Q_OF_ROUNDING 1e-11              /* below, the slope of sqrt(q) is noise */
/* relative, of CLs refitted at a limit: limits are good to 1e-7, another minimum is far off */
#define SAME_LEVEL 1e-4

static const unsigned outputs_of[] = {
#define ONE(name, value, word, doc) [value] = 1,
#define BAND(name, value, word, doc) [value] = PARITAS_QUANTITY_OUTPUTS,
    PARITAS_SINGLE_QUANTITY_LIST(ONE) PARITAS_BAND_QUANTITY_LIST(BAND)
#undef ONE
#undef BAND
};

static bool is_likelihood(paritas_quantity quantity)
{
    return quantity == PARITAS_QUANTITY_NLL || quantity == PARITAS_QUANTITY_TWICE_NLL;
}

struct output {
    double value, by_q, by_q_asimov;
};

static double root_slope(double q)
{
    return q > Q_OF_ROUNDING ? 0.5 / sqrt(q) : q >= 0.0 ? 0.0 : (double)NAN;
}

/* CLs = Phi(-(t + a)) / Phi(-t), a = sqrt(q_A). */
static struct output cls_output(paritas_test_statistic statistic, int curve, double q, double q_asimov)
{
    const bool discovery = statistic_formula(statistic)->discovery;
    const struct statistic_shift s = asymptotic_shift(statistic, curve, q, q_asimov);
    const double t = s.t, a = sqrt(q_asimov), clsb_by_t = -normal_density(t + a), clsb = normal_cdf(-(t + a)),
                 clb = discovery ? 1.0 : normal_cdf(-t);
    const double by_t = (clsb_by_t + (discovery ? 0.0 : clsb / clb * normal_density(t))) / clb,
                 by_a = clsb_by_t / clb;
    struct output output = {.value = asymptotic_cls(statistic, curve, q, q_asimov)};
    if (s.by_u != 0.0) output.by_q = by_t * s.by_u * root_slope(q);
    output.by_q_asimov = (by_t * s.by_a + by_a) * root_slope(q_asimov);
    return output;
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
        return cls_output(g->options.statistic, gradient_curve(output), point->q, point->q_asimov);
    }
}

/* A limit's value is known; its derivatives come from the curve with this root. */
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

static void give_up(const struct gradient *g, size_t index, paritas_fit_status status,
                    const paritas_gradient *to)
{
    const size_t k = g->n_outputs, n_at = is_likelihood(g->options.quantity) ? g->infer.n_parameters : k;
    for (size_t i = 0; i < k && to->values; i++) to->values[index * k + i] = (double)NAN;
    for (size_t i = 0; i < n_at && to->at; i++) to->at[index * n_at + i] = (double)NAN;
    for (size_t i = 0; i < k * g->n_row && to->data; i++) to->data[index * k * g->n_row + i] = (double)NAN;
    if (to->statuses) to->statuses[index] = status;
}

/* Counts must be >= 0, templates must suit the model. Unread auxiliary data may be anything. */
static bool is_sound(const struct gradient *g, const double *row)
{
    const struct frozen *model = paritas_model_frozen(g->infer.model);
    for (size_t i = 0; i < g->n_row; i++) {
        if (g->options.aux_follow && i >= model->n_main && i < g->n_data) continue;
        if (!isfinite(row[i]) || (i < model->n_main && frozen_counts(model, i) && row[i] < 0.0)) return false;
    }
    return rows_check_templates(g->infer.context, model, row, "data") == PARITAS_OK;
}

/* Keeps the chunk's *m sound rows and gives up the others. */
static paritas_status take_rows(struct gradient *g, size_t first, size_t n, const double *data,
                                const paritas_gradient *to, struct gradient_row **rows, size_t *m)
{
    struct infer *infer = &g->infer;
    const size_t n_main = paritas_model_main_count(infer->model);
    *m = 0;
    for (size_t i = 0; i < n; i++) {
        const double *given = data ? data + (first + i) * g->n_row : infer->base.data;
        if (!is_sound(g, given)) {
            give_up(g, first + i, PARITAS_FIT_NON_FINITE, to);
            if (g->along) give_up(g, first + i, PARITAS_FIT_NON_FINITE, g->along);
            continue;
        }
        struct gradient_row *row = infer_array(infer, 1, sizeof *row);
        double *filled = g->options.aux_follow ? infer_reals(infer, g->n_row, 1) : NULL;
        TRY(infer_memory(infer));
        if (filled)
            TRY(paritas_model_fill_row(infer->context, infer->model, n_main ? given : NULL,
                                       g->n_templates ? given + g->n_data : NULL, filled));
        row->data = filled ? filled : given;
        row->index = first + i;
        rows[(*m)++] = row;
    }
    return PARITAS_OK;
}

/* Derivatives of output i % k of row i / k. */
static double *slope_of(const struct gradient *g, struct gradient_row **rows, size_t i, double *slopes)
{
    const size_t k = g->n_outputs;
    return slopes + (rows[i / k]->index * k + i % k) * g->n_row;
}

/* Adds what templates do through the auxiliary data that follow them. */
static paritas_status follow(struct gradient *g, size_t n, struct gradient_row **rows, double *slopes)
{
    struct infer *infer = &g->infer;
    const size_t k = g->n_outputs, r = g->n_row, p = infer->n_parameters;
    if (!g->follows || n == 0) return PARITAS_OK;
    double *points = infer_reals(infer, n * k, p), *data = infer_reals(infer, n * k, r),
           *weights = infer_reals(infer, n * k, r), *by_templates = infer_reals(infer, n * k, g->n_templates);
    TRY(infer_memory(infer));
    /* at parameters of 1, expected and suggested auxiliary data agree */
    for (size_t i = 0; i < n * k; i++) {
        const double *slope = slope_of(g, rows, i, slopes);
        for (size_t a = 0; a < p; a++) points[i * p + a] = 1.0;
        memcpy(data + i * r, rows[i / k]->data, r * sizeof *data);
        for (size_t a = 0; a < r; a++) weights[i * r + a] = g->follows[a] != 0.0 ? slope[a] : 0.0;
    }
    const size_t most = gradient_piece(g);
    for (size_t i = 0; i < n * k; i += most)
        TRY(paritas_expected_pullback(infer->context, infer->model, n * k - i < most ? n * k - i : most,
                                      points + i * p, data + i * r, weights + i * r, NULL,
                                      by_templates + i * g->n_templates));
    for (size_t i = 0; i < n * k; i++)
        for (size_t a = 0; a < g->n_templates; a++)
            slope_of(g, rows, i, slopes)[g->n_data + a] += by_templates[i * g->n_templates + a];
    return PARITAS_OK;
}

static void forget_aux(const struct gradient *g, size_t n, struct gradient_row **rows, double *slopes)
{
    const size_t k = g->n_outputs, n_main = paritas_model_main_count(g->infer.model);
    for (size_t i = 0; i < n * k && g->options.aux_follow; i++)
        for (size_t a = n_main; a < g->n_data; a++) {
            double *slope = slope_of(g, rows, i, slopes) + a;
            if (!isnan(*slope)) *slope = 0.0;
        }
}

static paritas_status likelihoods(struct gradient *g, size_t n, struct gradient_row **rows, const double *at,
                                  const paritas_gradient *to)
{
    struct infer *infer = &g->infer;
    const size_t p = infer->n_parameters, r = g->n_row;
    const double scale = g->options.quantity == PARITAS_QUANTITY_NLL ? 0.5 : 1.0;
    double *points = infer_reals(infer, n, p), *data = infer_reals(infer, n, r),
           *slopes = infer_reals(infer, n, r), *gradient = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        const size_t index = rows[i]->index;
        double value;
        memcpy(points + i * p, at + index * p, p * sizeof *points);
        memcpy(data + i * r, rows[i]->data, r * sizeof *data);
        TRY(infer_evaluate(infer, 1, points + i * p, rows[i]->data, &value, to->at ? gradient : NULL, NULL));
        rows[i]->status = isfinite(value) ? PARITAS_FIT_CONVERGED : PARITAS_FIT_NON_FINITE;
        if (to->values) to->values[index] = isfinite(value) ? scale * value : (double)NAN;
        if (to->statuses) to->statuses[index] = rows[i]->status;
        for (size_t a = 0; a < p && to->at; a++)
            to->at[index * p + a] = isfinite(value) ? scale * gradient[a] : (double)NAN;
    }
    if (!to->data || n == 0) return PARITAS_OK;
    TRY(paritas_data_derivatives(infer->context, infer->model, n, points, data, NULL, slopes, NULL));
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < r; a++) {
            const double slope = isinf(slopes[i * r + a]) ? 0.0 : scale * slopes[i * r + a];
            to->data[rows[i]->index * r + a] = rows[i]->status == PARITAS_FIT_CONVERGED ? slope : (double)NAN;
        }
    return PARITAS_OK;
}

/* A fit in another minimum does not have the limit's slopes. */
static void check_limits(const struct gradient *g, struct gradient_row *row)
{
    for (size_t k = 0; k < row->n_points; k++) {
        const double cls = output_of(g, &row->points[k], row->points[k].output).value;
        if (!(fabs(cls - g->options.level) <= SAME_LEVEL * g->options.level))
            row->status = infer_worse(row->status, PARITAS_FIT_NO_PROGRESS);
    }
}

static paritas_status open_rows(struct gradient *g, size_t n, struct gradient_row **rows, const double *at)
{
    const paritas_quantity quantity = g->options.quantity;
    const bool wants_data = quantity == PARITAS_QUANTITY_Q || quantity == PARITAS_QUANTITY_Z ||
                            (quantity == PARITAS_QUANTITY_CLS && g->outputs[0] == 0);
    if (quantity == PARITAS_QUANTITY_LIMIT) return gradient_limits(g, n, rows);
    for (size_t i = 0; i < n; i++) {
        rows[i]->n_points = 1;
        rows[i]->points[0] = (struct gradient_point){
            .mu = statistic_tested(g->options.statistic, at ? at[rows[i]->index] : 1.0),
            .wants_data = wants_data,
            .wants_asimov = g->needs_asimov};
        gradient_open_fits(g, rows[i], g->infer.base.upper);
    }
    return PARITAS_OK;
}

static paritas_status statistics(struct gradient *g, size_t n, struct gradient_row **rows, const double *at,
                                 const paritas_gradient *to)
{
    const bool limit = g->options.quantity == PARITAS_QUANTITY_LIMIT;
    struct gradient_row **sound = infer_array(&g->infer, n, sizeof *sound);
    TRY(infer_memory(&g->infer));
    TRY(open_rows(g, n, rows, at));
    size_t m = 0;
    for (size_t i = 0; i < n; i++) /* limits need fits only for derivatives */
        if (!limit || (g->wants_rows && rows[i]->n_points > 0 && !rows[i]->fitted)) sound[m++] = rows[i];
    TRY(gradient_fits(g, m, sound));
    for (size_t i = 0; i < n && limit && g->wants_rows; i++) check_limits(g, rows[i]);
    m = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i]->n_points > 0 && rows[i]->status == PARITAS_FIT_CONVERGED) sound[m++] = rows[i];
    if (g->wants_rows || g->wants_mu) TRY(gradient_slopes(g, m, sound));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < g->n_outputs; k++) write_output(g, rows[i], k, to);
        if (to->statuses) to->statuses[rows[i]->index] = rows[i]->status;
    }
    return PARITAS_OK;
}

/* A tested value may lie beyond the bound, as in a test. */
static paritas_status check_tested(struct infer *infer, double mu)
{
    TRY(infer_make_room(infer, infer->poi, mu));
    return infer_check_tested(infer, infer->poi, mu);
}

static paritas_status check(struct gradient *g, size_t n, const double *at)
{
    paritas_context *context = g->infer.context;
    const paritas_gradient_options *o = &g->options;
    if (o->quantity == PARITAS_QUANTITY_LIMIT) return statistic_check_limit(context, o->statistic);
    if (is_likelihood(o->quantity))
        return at ? PARITAS_OK
                  : paritas_refuse(context, "%s: takes parameters, none given",
                                   paritas_quantity_name(o->quantity));
    TRY(statistic_check(context, o->statistic));
    struct infer *infer = &g->infer;
    if (g->needs_asimov) TRY(infer_check_tested(infer, infer->poi, statistic_other(o->statistic)));
    if (!at || statistic_formula(o->statistic)->discovery)
        return check_tested(infer, statistic_tested(o->statistic, 1.0));
    for (size_t i = 0; i < n; i++) TRY(check_tested(infer, at[i]));
    return PARITAS_OK;
}

/* Auxiliary data that the templates suggest follow them. */
static paritas_status find_followers(struct gradient *g, struct arena *arena)
{
    struct infer *infer = &g->infer;
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t r = g->n_row, n_main = model->n_main;
    double *follows = arena_array(arena, r, sizeof *follows);
    if (!follows) return paritas_fail_memory(infer->context);
    for (size_t i = 0; i < r; i++) follows[i] = (double)NAN;
    model->family->suggest_aux(model, frozen_templates(model, model->data), follows + n_main);
    bool any = false;
    for (size_t i = 0; i < r; i++) {
        follows[i] = isnan(follows[i]) ? 0.0 : 1.0;
        any = any || follows[i] != 0.0;
    }
    g->follows = any ? follows : NULL;
    return PARITAS_OK;
}

static paritas_status open_call(struct gradient *g, struct arena *keep)
{
    struct infer *infer = &g->infer;
    const paritas_quantity quantity = g->options.quantity;
    unsigned char *fixed = arena_array(keep, infer->n_parameters, 1);
    if (!fixed) return paritas_fail_memory(infer->context);
    memcpy(fixed, infer->base.fixed, infer->n_parameters);
    if (!is_likelihood(quantity)) fixed[infer->poi] = 1;
    g->fixed = fixed;
    g->n_templates = paritas_model_template_count(infer->model);
    g->n_data = paritas_model_main_count(infer->model) + paritas_model_aux_count(infer->model);
    g->n_row = g->n_data + g->n_templates;

    g->shares = (quantity == PARITAS_QUANTITY_Q || quantity == PARITAS_QUANTITY_Z) && gradient_shares(g);
    g->needs_asimov = quantity >= PARITAS_QUANTITY_Q_ASIMOV;
    const unsigned all = outputs_of[quantity],
                   wished = all > 1 && g->options.outputs ? g->options.outputs : (1u << all) - 1;
    if (wished >> all)
        return paritas_refuse(infer->context, "outputs %u: %s has %u", wished,
                              paritas_quantity_name(quantity), all);
    for (unsigned k = 0; k < all; k++)
        if (wished >> k & 1u) g->outputs[g->n_outputs++] = k;
    return g->options.aux_follow && g->n_templates > 0 ? find_followers(g, keep) : PARITAS_OK;
}

static paritas_status run_chunk(struct gradient *g, size_t first, size_t n, const double *at,
                                const double *data, const paritas_gradient *to)
{
    size_t m;
    struct gradient_row **rows = infer_array(&g->infer, n, sizeof *rows);
    TRY(infer_memory(&g->infer));
    TRY(take_rows(g, first, n, data, to, rows, &m));
    TRY(is_likelihood(g->options.quantity) ? likelihoods(g, m, rows, at, to)
                                           : statistics(g, m, rows, at, to));
    if (g->along) TRY(gradient_along(g, m, rows, at));
    if (!to->data) return PARITAS_OK;
    TRY(follow(g, m, rows, to->data));
    forget_aux(g, m, rows, to->data);
    return PARITAS_OK;
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
        arena_open(&infer->arena, &infer->context->allocator);
        status = run_chunk(g, first, first + step < n ? step : n - first, at, data, to);
        arena_free(&infer->arena);
    }
    return status;
}

/* Without `along` there are first derivatives only. */
static paritas_status differentiate(paritas_context *context, const paritas_model *model,
                                    const paritas_gradient_options *given, const paritas_job *job,
                                    const paritas_gradient_rows *rows, const paritas_gradient *given_gradient,
                                    const paritas_gradient *along)
{
    struct gradient g = {.options = PARITAS_GRADIENT_OPTIONS_DEFAULT,
                         .at_directions = rows->at_directions,
                         .directions = rows->directions,
                         .along = along};
    paritas_gradient gradient = PARITAS_GRADIENT_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_gradient_options, "options", given, &g.options));
    TRY(SIZED_CHECK(context, paritas_gradient, "gradient", 1, given_gradient));
    TRY(SIZED_TAKE(context, paritas_gradient, "gradient", given_gradient, &gradient));
    if (along && g.options.quantity >= PARITAS_QUANTITY_Q_ASIMOV)
        return paritas_refuse(context, "%s has first derivatives only",
                              paritas_quantity_name(g.options.quantity));
    const struct gradient_precision usual = gradient_begin(context);
    paritas_status status = infer_open(&g.infer, context, model, job, !is_likelihood(g.options.quantity));
    struct arena keep = g.infer.arena;
    g.wants_rows = gradient.data != NULL;
    g.wants_mu =
        gradient.at != NULL || along || (g.options.quantity == PARITAS_QUANTITY_LIMIT && g.wants_rows);
    if (status == PARITAS_OK) status = open_call(&g, &keep);
    if (status == PARITAS_OK) status = gradient_shared_check(&g);
    if (status == PARITAS_OK) status = check(&g, rows->n, rows->at);
    if (status == PARITAS_OK) status = run(&g, rows->n, rows->at, rows->data, &gradient);
    arena_free(&keep);
    gradient_end(context, usual);
    return status;
}

paritas_status paritas_differentiate(paritas_context *context, const paritas_model *model,
                                     const paritas_gradient_options *options, const paritas_job *job,
                                     size_t n, const double *at, const double *data,
                                     const paritas_gradient *gradient)
{
    REQUIRE(context, model);
    const paritas_gradient_rows rows = {.n = n, .at = at, .data = data};
    return differentiate(context, model, options, job, &rows, gradient, NULL);
}

paritas_status paritas_differentiate_along(paritas_context *context, const paritas_model *model,
                                           const paritas_gradient_options *options, const paritas_job *job,
                                           const paritas_gradient_rows *given,
                                           const paritas_gradient *gradient, const paritas_gradient *along)
{
    REQUIRE(context, model, gradient, along);
    paritas_gradient second = PARITAS_GRADIENT_DEFAULT;
    paritas_gradient_rows rows = PARITAS_GRADIENT_ROWS_DEFAULT;
    TRY(SIZED_CHECK(context, paritas_gradient_rows, "rows", 1, given));
    TRY(SIZED_TAKE(context, paritas_gradient_rows, "rows", given, &rows));
    TRY(SIZED_CHECK(context, paritas_gradient, "along", 1, along));
    TRY(SIZED_TAKE(context, paritas_gradient, "along", along, &second));
    return differentiate(context, model, options, job, &rows, gradient, &second);
}
