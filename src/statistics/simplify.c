/* simplify.c: moments of the background's yields.
 *
 *   workspace ─► channels that are kept ─► fit of the others at 0 ─► point, covariance = F F^T
 *       ─► moments of rates at point + F z, z normal: by derivatives or draws ─► document
 *
 * By derivatives, to leading order: a rate has the slope v = F^T J by z. The covariance is v_i v_j. The
 * third moment is 3 v^T G v for second derivatives G. v^T G v is taken as v^T v times the second difference
 * of rates at steps of length 1 along v: interpolation is steeper at its nominal than over an error. */
#include "base/math/counter_random.h"
#include "base/math/probability.h"
#include "base/pattern.h"
#include "base/sized.h"
#include "fit/cholesky.h"
#include "fit/fit.h"
#include "minima/infer.h"
#include "paritas_simplified.h"
#include "statistics/simplified.h"

#include <math.h>
#include <string.h>

#define DRAWN_AT_ONCE ((size_t)256)
#define FACTOR_LEAST 1e-13 /* a pivot below is rounding */

struct simplify {
    struct infer infer; /* of all channels */
    paritas_context *context;
    const paritas_simplify_options *options;
    const paritas_workspace *workspace;
    const paritas_model_options *model_options;
    size_t n_bins;
    size_t *bins;  /* kept main data */
    bool *kept;    /* a flag a channel */
    bool controls; /* a channel is not kept, nor masked */
    double *point;
    size_t rank;
    double *factor; /* n_parameters rows of n_parameters, `rank` columns used */
    struct simplified_moments moments;
};

/* ---- channels ---- */

static bool is_control(const struct simplify *s, const char *channel)
{
    for (size_t k = 0; k < s->options->n_control; k++)
        if (pattern_matches(s->options->control[k], channel)) return true;
    return false;
}

static paritas_status check_patterns(const struct simplify *s)
{
    const paritas_model *model = s->infer.model;
    for (size_t k = 0; k < s->options->n_control; k++) {
        bool any = false;
        if (!s->options->control || !s->options->control[k])
            return paritas_refuse(s->context, "`control`: pattern %zu is NULL", k);
        for (size_t c = 0; c < paritas_model_channel_count(model); c++)
            any = any || pattern_matches(s->options->control[k], paritas_model_channel_name(model, c));
        if (!any)
            return paritas_refuse(s->context,
                                  "`control`: no channel matches \"%.200s\"; `inspect` lists them",
                                  s->options->control[k]);
    }
    return PARITAS_OK;
}

static paritas_status find_channels(struct simplify *s)
{
    const paritas_model *model = s->infer.model;
    const struct frozen *frozen = paritas_model_frozen(model);
    const size_t n = paritas_model_channel_count(model);
    s->kept = infer_array(&s->infer, n, sizeof *s->kept);
    s->bins = infer_array(&s->infer, paritas_model_main_count(model), sizeof *s->bins);
    TRY(infer_memory(&s->infer));
    TRY(check_patterns(s));
    for (size_t c = 0, bin = 0; c < n; c++) {
        const size_t end = bin + paritas_model_channel_bins(model, c);
        const bool masked = frozen_is_masked(frozen, bin);
        const bool control = is_control(s, paritas_model_channel_name(model, c));
        s->kept[c] = !masked && !control;
        s->controls = s->controls || (!masked && control);
        for (; bin < end; bin++)
            if (s->kept[c]) s->bins[s->n_bins++] = bin;
    }
    return s->n_bins > 0 ? PARITAS_OK : paritas_refuse(s->context, "`control` leaves no channel: name fewer");
}

/* ---- what is known of the parameters ---- */

static bool is_poi(const struct infer *infer, size_t parameter)
{
    for (size_t k = 0; k < infer->n_pois; k++)
        if (infer->pois[k] == parameter) return true;
    return false;
}

static paritas_status refuse_free(const struct simplify *s, size_t parameter)
{
    return paritas_refuse(s->context,
                          "parameter '%.200s': nothing constrains it; name `control` channels that measure "
                          "it, or ask for `postfit`",
                          paritas_model_parameter_name(s->infer.model, parameter));
}

/* Takes what the constraints say. */
static paritas_status know_constraints(struct simplify *s)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters;
    double *centres = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    TRY(infer_constraint_centres(infer, centres));
    for (size_t p = 0; p < n; p++) {
        if (infer->base.fixed[p] || is_poi(infer, p)) continue;
        if (isnan(infer->widths[p])) return refuse_free(s, p);
        s->point[p] = infer_bounded(infer, p, centres[p]);
        s->factor[p * n + s->rank++] = infer->widths[p];
    }
    return PARITAS_OK;
}

static paritas_status control_model(struct simplify *s, paritas_model **model)
{
    const paritas_model *all = s->infer.model;
    const size_t n = paritas_model_channel_count(all);
    const char **names = infer_array(&s->infer, n, sizeof *names);
    paritas_names masked = {names, 0};
    TRY(infer_memory(&s->infer));
    for (size_t c = 0; c < n && !s->options->postfit; c++)
        if (s->kept[c]) names[masked.count++] = paritas_model_channel_name(all, c);
    paritas_workspace *workspace;
    TRY(paritas_workspace_mask(s->context, s->workspace, &masked, &workspace));
    const paritas_status status = paritas_model_create(s->context, workspace, s->model_options, model);
    paritas_workspace_free(workspace);
    return status;
}

static paritas_status fit_control(struct simplify *s, const paritas_model *model)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters;
    unsigned char *fixed = infer_array(infer, n, 1);
    double *covariance = infer_reals(infer, n, n), *errors = infer_reals(infer, n, 1);
    paritas_parameter_state *states = infer_array(infer, n, sizeof *states);
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    paritas_job job = PARITAS_JOB_DEFAULT;
    TRY(infer_memory(infer));
    for (size_t p = 0; p < n; p++) fixed[p] = infer->base.fixed[p] || is_poi(infer, p);
    job.start = s->point;
    job.fixed = fixed;
    answers.results = &result;
    answers.parameters = s->point;
    answers.errors = errors;
    answers.covariance = covariance;
    answers.states = states;
    TRY(fit_run(s->context, model, NULL, 1, &job, &answers));
    if (result.status != PARITAS_FIT_CONVERGED)
        return paritas_fail(s->context, PARITAS_NOT_CONVERGED, "the fit of the background: %s",
                            paritas_fit_status_name(result.status));
    for (size_t p = 0; p < n; p++)
        if (isnan(errors[p]) && states[p] == PARITAS_PARAMETER_FREE) return refuse_free(s, p);
    for (size_t i = 0; i < n * n; i++)
        if (isnan(covariance[i])) covariance[i] = 0.0;
    s->rank = cholesky_with_pivots(n, covariance, FACTOR_LEAST, s->factor);
    return PARITAS_OK;
}

static paritas_status know_parameters(struct simplify *s)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters;
    s->point = infer_reals(infer, n, 1);
    s->factor = infer_reals(infer, n, n);
    TRY(infer_memory(infer));
    memcpy(s->point, infer->base.start, n * sizeof *s->point);
    for (size_t k = 0; k < infer->n_pois; k++) s->point[infer->pois[k]] = 0.0;
    if (!s->controls && !s->options->postfit) return know_constraints(s);
    paritas_model *model = NULL;
    paritas_status status = control_model(s, &model);
    if (status == PARITAS_OK) status = fit_control(s, model);
    paritas_model_free(model);
    return status;
}

/* ---- by derivatives ---- */

/* One standard deviation of a bin's rate up, and down, by the parameters that it depends on. v: n z. */
static paritas_status bend_of(struct simplify *s, size_t bin, const double *v, double *points, double *rates,
                              double *bend)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters;
    double size = 0.0;
    for (size_t k = 0; k < s->rank; k++) size += v[k] * v[k];
    *bend = 0.0;
    if (!(size > 0.0)) return PARITAS_OK;
    for (size_t p = 0; p < n; p++) {
        double step = 0.0;
        for (size_t k = 0; k < s->rank; k++) step += s->factor[p * n + k] * v[k];
        step /= sqrt(size);
        points[p] = step == 0.0 ? s->point[p] : infer_bounded(infer, p, s->point[p] + step);
        points[n + p] = step == 0.0 ? s->point[p] : infer_bounded(infer, p, s->point[p] - step);
    }
    TRY(infer_expected(infer, points, rates));
    *bend = rates[bin];
    TRY(infer_expected(infer, points + n, rates));
    *bend += rates[bin];
    return PARITAS_OK;
}

static paritas_status derive(struct simplify *s, const double *row, const double *jacobian)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters, bins = s->n_bins;
    double *v = infer_reals(infer, bins, n), *points = infer_reals(infer, 2, n),
           *rates = infer_reals(infer, infer->n_data, 1), bend;
    TRY(infer_memory(infer));
    for (size_t b = 0; b < bins; b++) {
        const double rate = row[s->bins[b]];
        double *along = v + b * n;
        for (size_t p = 0; p < n; p++)
            for (size_t k = 0; k < s->rank; k++)
                along[k] += jacobian[s->bins[b] * n + p] * s->factor[p * n + k];
        for (size_t a = 0; a <= b; a++) {
            double sum = 0.0;
            for (size_t k = 0; k < s->rank; k++) sum += v[a * n + k] * along[k];
            s->moments.covariance[a * bins + b] = s->moments.covariance[b * bins + a] = sum;
        }
        TRY(bend_of(s, s->bins[b], along, points, rates, &bend));
        s->moments.mean[b] = rate;
        if (bend > 0.0) s->moments.third[b] = 3.0 * s->moments.covariance[b * bins + b] * (bend - 2.0 * rate);
    }
    return PARITAS_OK;
}

/* ---- by draws ---- */

static double normal_draw(uint64_t seed, size_t draw, size_t column)
{
    const uint64_t bits = random_mixed(counter_bits(draw, column) ^ random_mixed(seed * RANDOM_STEP));
    return normal_quantile(random_part(bits));
}

static void draw_point(const struct simplify *s, size_t draw, double *z, double *point)
{
    const struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters;
    for (size_t k = 0; k < s->rank; k++) z[k] = normal_draw(s->options->seed, draw, k);
    for (size_t p = 0; p < n; p++) {
        double step = 0.0;
        for (size_t k = 0; k < s->rank; k++) step += s->factor[p * n + k] * z[k];
        point[p] = step == 0.0 ? s->point[p] : infer_bounded(infer, p, s->point[p] + step);
    }
}

/* Sums of powers of distances from the rates at the point. */
static void add_draw(struct simplify *s, const double *rates, const double *expected, double *distances)
{
    const size_t bins = s->n_bins;
    for (size_t b = 0; b < bins; b++) {
        const double d = distances[b] = expected[s->bins[b]] - rates[s->bins[b]];
        s->moments.mean[b] += d;
        s->moments.third[b] += d * d * d;
        for (size_t a = 0; a <= b; a++) s->moments.covariance[b * bins + a] += distances[a] * d;
    }
}

/* Sums become central moments. */
static void centre(struct simplify *s, const double *rates)
{
    const struct simplified_moments *m = &s->moments;
    const size_t bins = s->n_bins;
    const double n = (double)s->options->draws;
    for (size_t b = 0; b < bins; b++) m->mean[b] /= n;
    for (size_t b = 0; b < bins; b++) {
        const double mean = m->mean[b], square = m->covariance[b * bins + b] / n;
        m->third[b] = m->third[b] / n - 3.0 * mean * square + 2.0 * mean * mean * mean;
        for (size_t a = 0; a <= b; a++)
            m->covariance[a * bins + b] = m->covariance[b * bins + a] =
                (m->covariance[b * bins + a] - n * m->mean[a] * mean) / (n - 1.0);
    }
    for (size_t b = 0; b < bins; b++) m->mean[b] += rates[s->bins[b]];
}

static paritas_status draw(struct simplify *s, const double *rates)
{
    struct infer *infer = &s->infer;
    const size_t n = infer->n_parameters, draws = s->options->draws;
    double *points = infer_reals(infer, DRAWN_AT_ONCE, n),
           *expected = infer_reals(infer, DRAWN_AT_ONCE, infer->n_data),
           *distances = infer_reals(infer, s->n_bins, 1), *z = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    for (size_t first = 0; first < draws; first += DRAWN_AT_ONCE) {
        const size_t now = draws - first < DRAWN_AT_ONCE ? draws - first : DRAWN_AT_ONCE;
        for (size_t k = 0; k < now; k++) draw_point(s, first + k, z, points + k * n);
        TRY(paritas_expected_data(s->context, infer->model, now, points, expected));
        for (size_t k = 0; k < now; k++) add_draw(s, rates, expected + k * infer->n_data, distances);
    }
    centre(s, rates);
    return PARITAS_OK;
}

/* ---- the document ---- */

static paritas_status find_signal(struct simplify *s, const double *row)
{
    struct infer *infer = &s->infer;
    double *point = infer_reals(infer, infer->n_parameters, 1), *with = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    s->moments.poi = "mu";
    if (infer->n_pois == 0) return PARITAS_OK;
    s->moments.poi = paritas_model_parameter_name(infer->model, infer->pois[0]);
    memcpy(point, s->point, infer->n_parameters * sizeof *point);
    point[infer->pois[0]] = 1.0;
    TRY(infer_expected(infer, point, with));
    for (size_t b = 0; b < s->n_bins; b++) s->moments.signal[b] = with[s->bins[b]] - row[s->bins[b]];
    return PARITAS_OK;
}

static paritas_status list_channels(struct simplify *s)
{
    const paritas_model *model = s->infer.model;
    const size_t n = paritas_model_channel_count(model);
    const char **names = infer_array(&s->infer, n, sizeof *names);
    size_t *sizes = infer_array(&s->infer, n, sizeof *sizes);
    TRY(infer_memory(&s->infer));
    s->moments.names = names;
    s->moments.sizes = sizes;
    for (size_t c = 0; c < n; c++) {
        if (!s->kept[c]) continue;
        names[s->moments.n_channels] = paritas_model_channel_name(model, c);
        sizes[s->moments.n_channels++] = paritas_model_channel_bins(model, c);
    }
    return PARITAS_OK;
}

static paritas_status find_moments(struct simplify *s)
{
    struct infer *infer = &s->infer;
    struct simplified_moments *m = &s->moments;
    TRY(find_channels(s));
    TRY(know_parameters(s));
    double *row = infer_reals(infer, infer->n_data, 1),
           *jacobian = infer_reals(infer, paritas_model_main_count(infer->model), infer->n_parameters);
    *m = (struct simplified_moments){.n = s->n_bins};
    m->mean = infer_reals(infer, m->n, 1);
    m->third = infer_reals(infer, m->n, 1);
    m->signal = infer_reals(infer, m->n, 1);
    m->observed = infer_reals(infer, m->n, 1);
    m->covariance = infer_reals(infer, m->n, m->n);
    TRY(infer_memory(infer));
    TRY(list_channels(s));
    TRY(infer_expected(infer, s->point, row));
    TRY(find_signal(s, row));
    for (size_t b = 0; b < m->n; b++) m->observed[b] = infer->base.data[s->bins[b]];
    if (s->options->by == PARITAS_MOMENTS_DRAWS) return draw(s, row);
    TRY(paritas_expected_jacobian(s->context, infer->model, s->point, jacobian));
    return derive(s, row, jacobian);
}

static paritas_status simplify(struct simplify *s, const paritas_model *model, paritas_workspace **moments)
{
    paritas_status status = infer_open(&s->infer, s->context, model, NULL, false);
    if (status == PARITAS_OK) status = find_moments(s);
    if (status == PARITAS_OK) status = simplified_write(s->context, &s->moments, moments);
    infer_close(&s->infer);
    return status;
}

paritas_status paritas_simplify(paritas_context *context, const paritas_workspace *workspace,
                                const paritas_model_options *model_options,
                                const paritas_simplify_options *given, paritas_workspace **moments)
{
    paritas_simplify_options options = PARITAS_SIMPLIFY_OPTIONS_DEFAULT;
    REQUIRE(context, moments);
    *moments = NULL;
    REQUIRE(context, workspace);
    TRY(OPTIONS_READ(context, paritas_simplify_options, "options", given, &options));
    struct simplify s = {
        .context = context, .options = &options, .workspace = workspace, .model_options = model_options};
    paritas_model *model;
    TRY(paritas_model_create(context, workspace, model_options, &model));
    const paritas_status status = simplify(&s, model, moments);
    paritas_model_free(model);
    return status;
}
