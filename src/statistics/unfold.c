/* unfold.c: regularised unfolding at several strengths.
 *
 *   workspace ─► fit at tau = 0 ─► expected data, scan of tau ─► for each tau: model with penalty
 *       ─► fits of observed and expected data ─► covariance, bias, curvature of the L-curve ─► document */
#include "base/json/json.h"
#include "base/math/host_math.h"
#include "base/sized.h"
#include "fit/cholesky.h"
#include "fit/fit.h"
#include "paritas_fit.h"
#include "statistics/unfold.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define UNDAMPED 0.1 /* tau at both ends of a scan, by the variance that the penalty sees */
#define DAMPED 10.0
#define LN10 2.302585092994045684

struct unfold {
    paritas_context *context;
    const paritas_unfold_options *options;
    const paritas_model_options *model_options;
    const paritas_model *model; /* without the penalty */
    struct arena arena;
    paritas_workspace *document; /* with the penalty */
    struct json *strength;
    struct unfold_penalty penalty;
    size_t n, all; /* truth bins, parameters */
    double saturated;
    size_t n_taus;
    double *taus;
    double *truth, *expected; /* x, and a data row */
    /* two fits, of observed and expected data */
    paritas_fit_result results[2];
    double *points, *covariances; /* rows of all, of all^2 */
    paritas_parameter_state *states;
};

/* What is known at one tau. */
struct unfolded {
    double tau, chi2, penalty, curvature, degrees, correlation, correlation_most;
    double *estimates, *errors, *correlations, *bias; /* n */
    double *prior, *covariance;                       /* n^2: C, V */
    double *scratch;                                  /* n^2 + 3 n */
};

/* ---- fits ---- */

static paritas_status fit(struct unfold *u, const paritas_model *model, size_t n_jobs)
{
    paritas_job jobs[2] = {PARITAS_JOB_DEFAULT, PARITAS_JOB_DEFAULT};
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    jobs[1].data = u->expected;
    u->results[0] = u->results[1] = (paritas_fit_result)PARITAS_INIT(paritas_fit_result);
    answers.results = u->results;
    answers.parameters = u->points;
    answers.covariance = u->covariances;
    answers.states = u->states;
    return fit_run(u->context, model, NULL, n_jobs, jobs, &answers);
}

static paritas_status fit_at(struct unfold *u, double tau)
{
    paritas_model *model;
    if (!unfold_set_strength(u->document, u->strength, tau)) return paritas_fail_memory(u->context);
    TRY(paritas_model_create(u->context, u->document, u->model_options, &model));
    const paritas_status status = fit(u, model, 2);
    paritas_model_free(model);
    return status;
}

static bool is_free(const struct unfold *u, size_t i)
{
    const paritas_parameter_state state = u->states[u->penalty.parameters[i]];
    return state == PARITAS_PARAMETER_FREE || state == PARITAS_PARAMETER_AT_KINK;
}

/* Takes C between truth bins, from the fit of the observed data. */
static void take_covariance(const struct unfold *u, double *c)
{
    const size_t *at = u->penalty.parameters;
    for (size_t i = 0; i < u->n; i++)
        for (size_t j = 0; j < u->n; j++)
            c[i * u->n + j] = is_free(u, i) && is_free(u, j) ? u->covariances[at[i] * u->all + at[j]] : 0.0;
}

/* ---- what the data say alone ---- */

static paritas_status fit_alone(struct unfold *u, double *c)
{
    TRY(fit(u, u->model, 1));
    if (u->results[0].status != PARITAS_FIT_CONVERGED)
        return paritas_fail(u->context, PARITAS_NOT_CONVERGED, "the fit without regularisation: %s",
                            paritas_fit_status_name(u->results[0].status));
    take_covariance(u, c);
    const bool ranges = u->options->n_taus > 0 || (u->options->tau_min > 0.0 && u->options->tau_max > 0.0);
    for (size_t i = 0; i < u->n; i++)
        if (isnan(c[i * u->n + i]) && !(ranges && u->options->truth))
            return paritas_refuse(u->context,
                                  "the data alone do not fix '%.200s': give `truth`, and strengths or the "
                                  "`tau_min` and `tau_max`",
                                  paritas_model_parameter_name(u->model, u->penalty.parameters[i]));
    return PARITAS_OK;
}

/* Fits of expected data could not come back to a truth beyond a bound. */
static paritas_status check_truth(const struct unfold *u)
{
    const double *truth = u->options->truth, *lower = paritas_model_lower_bounds(u->model),
                 *upper = paritas_model_upper_bounds(u->model);
    TRY(unfold_check_numbers(u->context, "truth", u->options->n_truth, u->n, truth));
    for (size_t i = 0; i < u->n && truth; i++) {
        const size_t at = u->penalty.parameters[i];
        if (truth[i] < lower[at] || truth[i] > upper[at])
            return paritas_refuse(u->context, "`truth`: '%.200s' is %g, outside its bounds %g and %g",
                                  paritas_model_parameter_name(u->model, at), truth[i], lower[at], upper[at]);
    }
    return PARITAS_OK;
}

static paritas_status expect(struct unfold *u)
{
    const size_t *at = u->penalty.parameters;
    const size_t n_main = paritas_model_main_count(u->model);
    for (size_t i = 0; i < u->n; i++) {
        u->truth[i] = u->options->truth ? u->options->truth[i] : u->points[at[i]];
        u->points[at[i]] = u->truth[i];
    }
    TRY(paritas_expected_data(u->context, u->model, 1, u->points, u->expected));
    for (size_t k = 0; k < n_main && u->options->truth; k++)
        if (!(u->expected[k] >= 0.0))
            return paritas_refuse(u->context, "`truth`: expected data have %g events in bin %zu",
                                  u->expected[k], k);
    return PARITAS_OK;
}

/* ---- strengths ---- */

static void times(size_t n, const double *matrix, const double *v, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] = dot_product(n, matrix + i * n, v);
}

/* The variance of L W x, m rows of m. `row`: scratch of n. */
static void seen_variance(const struct unfold_penalty *p, const double *c, double *row, double *to)
{
    for (size_t r = 0; r < p->n_rows; r++) {
        times(p->n, c, p->rows + r * p->n, row);
        for (size_t t = 0; t < p->n_rows; t++)
            to[r * p->n_rows + t] = dot_product(p->n, row, p->rows + t * p->n);
    }
}

static double trace(size_t n, const double *a)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i * n + i];
    return sum;
}

/* A mode of variance v is halved at tau = 1 / v. */
static paritas_status find_range(struct unfold *u, const double *c, double *from, double *to)
{
    const size_t m = u->penalty.n_rows;
    double *seen = arena_array(&u->arena, m * m, sizeof *seen),
           *row = arena_array(&u->arena, u->n, sizeof *row);
    if (!seen || !row) return paritas_fail_memory(u->context);
    *from = u->options->tau_min;
    *to = u->options->tau_max;
    if (*from == 0.0 || *to == 0.0) {
        seen_variance(&u->penalty, c, row, seen);
        const double variance = trace(m, seen);
        if (!invert_positive(m, seen))
            return paritas_refuse(u->context,
                                  "the data alone do not fix all truth bins, or some are at bounds "
                                  "or fixed: give `tau_min` and `tau_max`");
        if (*from == 0.0) *from = UNDAMPED / variance;
        if (*to == 0.0) *to = DAMPED * trace(m, seen);
    }
    if (!(*from < *to) || !isfinite(*to))
        return paritas_refuse(u->context, "a scan goes up: `tau_min` is %g and `tau_max` %g", *from, *to);
    return PARITAS_OK;
}

/* Finds the strength beyond which F + P rounds to P. A fit then ends wherever the penalty is least, and sees
 * no reason to go on. Directions that the penalty does not see mix bins by about 1 / P_ii. */
static paritas_status find_strongest(struct unfold *u, double *strongest)
{
    const struct unfold_penalty *p = &u->penalty;
    double sum = 0.0;
    *strongest = HUGE_VAL;
    if (p->n_rows == p->n) return PARITAS_OK; /* it sees all directions: the answer is c */
    double *hessian = arena_array(&u->arena, u->all * u->all, sizeof *hessian);
    paritas_evaluate_answers answers = PARITAS_EVALUATE_ANSWERS_DEFAULT;
    if (!hessian) return paritas_fail_memory(u->context);
    answers.hessian = hessian;
    TRY(paritas_evaluate(u->context, u->model, 1, u->points, 1, NULL, &answers));
    for (size_t i = 0; i < p->n; i++) {
        const double information = 0.5 * hessian[p->parameters[i] * (u->all + 1)],
                     tie = p->ties[i * (p->n + 1)];
        if (tie > 0.0) sum += information / tie;
    }
    if (sum > 0.0) *strongest = sum / (double)p->n / DBL_EPSILON;
    return PARITAS_OK;
}

static paritas_status find_taus(struct unfold *u, const double *c)
{
    const paritas_unfold_options *o = u->options;
    double from = 0.0, to = 0.0, strongest;
    TRY(find_strongest(u, &strongest));
    u->n_taus = o->n_taus > 0 ? o->n_taus : o->scan;
    u->taus = arena_array(&u->arena, u->n_taus, sizeof *u->taus);
    if (!u->taus) return paritas_fail_memory(u->context);
    if (o->n_taus == 0) TRY(find_range(u, c, &from, &to));
    for (size_t k = 0; k < u->n_taus; k++) {
        u->taus[k] = o->n_taus > 0
                         ? o->taus[k]
                         : from * host_exp((double)k / (double)(u->n_taus - 1) * host_log(to / from));
        if (!(u->taus[k] >= 0.0) || !isfinite(u->taus[k]))
            return paritas_refuse(u->context, "`taus`: number %zu must be at least 0, found %g", k,
                                  u->taus[k]);
        if (u->taus[k] > strongest)
            return paritas_refuse(u->context,
                                  "`%s`: from about %.1g on the data are lost in rounding, found %g",
                                  o->n_taus > 0 ? "taus" : "tau_max", strongest, u->taus[k]);
    }
    return PARITAS_OK;
}

/* ---- one strength ---- */

/* V = C - C P C, and the trace of C F = 1 - C P. */
static void propagate(const struct unfold *u, struct unfolded *at)
{
    const size_t n = u->n;
    double *cp = at->scratch;
    at->degrees = 0.0;
    for (size_t i = 0; i < n; i++) {
        times(n, u->penalty.ties, at->prior + i * n, cp + i * n);
        for (size_t j = 0; j < n; j++) cp[i * n + j] *= at->tau;
        if (is_free(u, i)) at->degrees += 1.0 - cp[i * n + i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            at->covariance[i * n + j] = at->covariance[j * n + i] =
                at->prior[i * n + j] - dot_product(n, cp + i * n, at->prior + j * n);
    for (size_t i = 0; i < n; i++)
        at->errors[i] = is_free(u, i) ? sqrt(at->covariance[i * n + i]) : (double)NAN;
}

static void correlate(const struct unfold *u, struct unfolded *at)
{
    const size_t n = u->n;
    double *inverse = at->scratch, sum = 0.0, most = 0.0;
    size_t m = 0, row = 0;
    for (size_t i = 0; i < n; i++) m += is_free(u, i);
    for (size_t i = 0; i < n; i++) {
        size_t column = 0;
        for (size_t j = 0; is_free(u, i) && j < n; j++)
            if (is_free(u, j)) inverse[row * m + column++] = at->covariance[i * n + j];
        row += is_free(u, i);
    }
    const bool known = invert_positive(m, inverse);
    row = 0;
    for (size_t i = 0; i < n; i++) {
        at->correlations[i] = (double)NAN;
        if (!is_free(u, i)) continue;
        const double both = at->covariance[i * n + i] * inverse[row * m + row];
        if (known) at->correlations[i] = sqrt(fmax(0.0, 1.0 - 1.0 / both));
        sum += at->correlations[i];
        most = fmax(most, at->correlations[i]);
        row++;
    }
    at->correlation = sum / (double)m;
    at->correlation_most = known && m > 0 ? most : (double)NAN;
}

/* A, B and their derivatives by ln tau: the L-curve's curvature does not feel how it is parametrised. */
static void bend(const struct unfold *u, struct unfolded *at)
{
    const size_t n = u->n;
    const double tau = at->tau;
    double *slope = at->scratch, *pull = slope + n, *offset = pull + n;
    for (size_t i = 0; i < n; i++) offset[i] = at->estimates[i] - u->penalty.centres[i];
    times(n, u->penalty.ties, offset, pull);
    at->penalty = dot_product(n, offset, pull);
    at->chi2 = u->results[0].twice_nll - tau * at->penalty - u->saturated;
    times(n, at->prior, pull, slope);
    times(n, u->penalty.ties, slope, offset);
    const double first = -2.0 * dot_product(n, pull, slope), second = 6.0 * dot_product(n, slope, offset);
    const double b = tau * first / at->penalty, a = -tau * tau * first / at->chi2;
    const double bb = (tau * first + tau * tau * second) / at->penalty - b * b,
                 aa = (-2.0 * tau * tau * first - tau * tau * tau * second) / at->chi2 - a * a;
    const double length = a * a + b * b;
    at->curvature = LN10 * (a * bb - aa * b) / (length * sqrt(length));
}

static void describe_point(struct unfold *u, struct unfolded *at)
{
    for (size_t i = 0; i < u->n; i++) {
        at->estimates[i] = u->points[u->penalty.parameters[i]];
        at->bias[i] = u->results[1].status == PARITAS_FIT_CONVERGED
                          ? u->points[u->all + u->penalty.parameters[i]] - u->truth[i]
                          : (double)NAN;
    }
    take_covariance(u, at->prior);
    propagate(u, at);
    correlate(u, at);
    bend(u, at);
}

/* ---- the document ---- */

static struct json *matrix(paritas_workspace *document, size_t n, const double *values)
{
    struct json *array = json_new(document, JSON_ARRAY);
    for (size_t i = 0; i < n; i++)
        if (!json_append(array, json_new_numbers(document, n, values + i * n))) return NULL;
    return array;
}

static struct json *write_point(const struct unfold *u, paritas_workspace *d, const struct unfolded *at)
{
    struct json *o = json_new(d, JSON_OBJECT);
    const struct {
        const char *key;
        double value;
    } single[] = {{"tau", at->tau},
                  {"chi2", at->chi2},
                  {"penalty", at->penalty},
                  {"curvature", at->curvature},
                  {"degrees", at->degrees},
                  {"correlation", at->correlation},
                  {"correlation_most", at->correlation_most}};
    bool good = json_set(d, o, "status", json_new_text(d, paritas_fit_status_name(u->results[0].status)));
    for (size_t k = 0; k < COUNT_OF(single); k++)
        good = good && json_set(d, o, single[k].key, json_new_number(d, single[k].value));
    good = good && json_set(d, o, "estimates", json_new_numbers(d, u->n, at->estimates)) &&
           json_set(d, o, "errors", json_new_numbers(d, u->n, at->errors)) &&
           json_set(d, o, "bias", json_new_numbers(d, u->n, at->bias)) &&
           json_set(d, o, "correlations", json_new_numbers(d, u->n, at->correlations)) &&
           json_set(d, o, "covariance", matrix(d, u->n, at->covariance));
    return good ? o : NULL;
}

static struct json *names(const struct unfold *u, paritas_workspace *d)
{
    struct json *array = json_new(d, JSON_ARRAY);
    for (size_t i = 0; i < u->n; i++) {
        const char *name = paritas_model_parameter_name(u->model, u->penalty.parameters[i]);
        if (!json_append(array, json_new_text(d, name))) return NULL;
    }
    return array;
}

/* ---- all strengths ---- */

static void forget(const struct unfold *u, struct unfolded *at)
{
    double *arrays[] = {at->estimates, at->errors, at->correlations, at->bias};
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        for (size_t i = 0; i < u->n; i++) arrays[k][i] = (double)NAN;
    for (size_t i = 0; i < u->n * u->n; i++) at->covariance[i] = (double)NAN;
    at->chi2 = at->penalty = at->curvature = at->degrees = at->correlation = at->correlation_most =
        (double)NAN;
}

/* The lowest of values; `inside`: below both neighbours. n: there is none. */
static size_t lowest(size_t n, const double *values, bool inside)
{
    size_t best = n;
    for (size_t k = inside; k + inside < n; k++)
        if ((best == n ? !isnan(values[k]) : values[k] < values[best]) &&
            (!inside || (values[k] < values[k - 1] && values[k] < values[k + 1])))
            best = k;
    return best;
}

/* The curve may bend where it begins, too: before the data are damped chi2 hardly changes. A corner is a
 * maximum inside of the scan. */
static size_t choose(const struct unfold *u, const double *values)
{
    size_t best = lowest(u->n_taus, values, true);
    if (best == u->n_taus) best = lowest(u->n_taus, values, false);
    if (u->n_taus > 2 && (best == 0 || best + 1 == u->n_taus))
        paritas_note(u->context,
                     "no strength inside of the scan is better than its neighbours, so the %s one, %g, is "
                     "taken: scan further, or give the strength",
                     best == 0 ? "smallest" : "largest", u->taus[best]);
    return best;
}

/* What is lowest at the strength to be chosen. */
static double compared(const struct unfold *u, const struct unfolded *at)
{
    if (u->n_taus == 1) return 0.0;
    return u->options->choose == PARITAS_UNFOLD_CHOICE_CORRELATION ? at->correlation : -at->curvature;
}

/* Writes the points; *chosen: n_taus if there is none. */
static paritas_status scan(struct unfold *u, struct unfolded *at, paritas_workspace *d, struct json *points,
                           size_t *chosen)
{
    double *values = arena_array(&u->arena, u->n_taus, sizeof *values);
    size_t converged = 0;
    if (!values) return paritas_fail_memory(u->context);
    for (size_t k = 0; k < u->n_taus; k++) {
        at->tau = u->taus[k];
        TRY(fit_at(u, at->tau));
        const bool good = u->results[0].status == PARITAS_FIT_CONVERGED;
        if (good)
            describe_point(u, at);
        else
            forget(u, at);
        converged += good;
        values[k] = good ? compared(u, at) : (double)NAN;
        if (!json_append(points, write_point(u, d, at))) return paritas_fail_memory(u->context);
    }
    *chosen = choose(u, values);
    return converged > 0 ? PARITAS_OK
                         : paritas_fail(u->context, PARITAS_NOT_CONVERGED, "no fit converged, the last: %s",
                                        paritas_fit_status_name(u->results[0].status));
}

static paritas_status write_answer(struct unfold *u, struct unfolded *at, paritas_workspace *d)
{
    struct json *points = json_new(d, JSON_ARRAY);
    size_t chosen = 0;
    d->root = json_new(d, JSON_OBJECT);
    if (!d->root || !points) return paritas_fail_memory(u->context);
    TRY(scan(u, at, d, points, &chosen));
    struct json *parameters = names(u, d);
    const bool good = json_set(d, d->root, "parameters", parameters) &&
                      json_set(d, d->root, "truth", json_new_numbers(d, u->n, u->truth)) &&
                      json_set(d, d->root, "chosen",
                               chosen < u->n_taus ? json_new_count(d, chosen) : json_new(d, JSON_NULL)) &&
                      json_set(d, d->root, "points", points);
    return good ? PARITAS_OK : paritas_fail_memory(u->context);
}

static paritas_status make_room(struct unfold *u, struct unfolded *at)
{
    const size_t n = u->n, all = u->all;
    double **reals[] = {&at->estimates, &at->errors,     &at->correlations, &at->bias,
                        &at->prior,     &at->covariance, &at->scratch,      &u->truth,
                        &u->expected,   &u->points,      &u->covariances};
    const size_t sizes[] = {n,
                            n,
                            n,
                            n,
                            n * n,
                            n * n,
                            n * n + 3 * n,
                            n,
                            paritas_model_main_count(u->model) + paritas_model_aux_count(u->model),
                            2 * all,
                            2 * all * all};
    bool good = true;
    for (size_t k = 0; k < COUNT_OF(reals); k++)
        good = (*reals[k] = arena_array(&u->arena, sizes[k], sizeof(double))) && good;
    u->states = arena_array(&u->arena, 2 * all, sizeof *u->states);
    return good && u->states ? PARITAS_OK : paritas_fail_memory(u->context);
}

static paritas_status unfold(struct unfold *u, paritas_workspace *answer)
{
    const struct frozen *frozen = paritas_model_frozen(u->model);
    const char *measurement = u->model_options ? u->model_options->measurement : NULL;
    struct unfolded at;
    TRY(unfold_penalty_make(u->context, &u->arena, u->model, u->options, &u->penalty));
    TRY(unfold_penalty_add(u->context, u->document, measurement, &u->penalty, &u->strength));
    u->n = u->penalty.n;
    u->all = paritas_model_parameter_count(u->model);
    u->saturated = 2.0 * frozen->constant(frozen, frozen->data);
    TRY(check_truth(u));
    TRY(make_room(u, &at));
    TRY(fit_alone(u, at.prior));
    TRY(find_taus(u, at.prior));
    TRY(expect(u));
    return write_answer(u, &at, answer);
}

paritas_status paritas_unfold(paritas_context *context, const paritas_workspace *workspace,
                              const paritas_model_options *model_options, const paritas_unfold_options *given,
                              paritas_workspace **answer)
{
    paritas_unfold_options options = PARITAS_UNFOLD_OPTIONS_DEFAULT;
    paritas_model *model;
    REQUIRE(context, answer);
    *answer = NULL;
    REQUIRE(context, workspace);
    TRY(OPTIONS_READ(context, paritas_unfold_options, "options", given, &options));
    if (options.n_taus > 0) REQUIRE_AS(context, "taus", options.taus);
    TRY(paritas_model_create(context, workspace, model_options, &model));
    struct unfold u = {
        .context = context, .options = &options, .model_options = model_options, .model = model};
    paritas_workspace *made = json_open(context, "unfolded");
    arena_open(&u.arena, &context->allocator);
    paritas_status status = made ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) status = json_copy_as(context, workspace, &u.document, "penalised");
    if (status == PARITAS_OK) status = unfold(&u, made);
    paritas_workspace_free(u.document);
    arena_free(&u.arena);
    paritas_model_free(model);
    return json_hand_out(status, made, answer);
}
