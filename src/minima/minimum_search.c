/* minimum_search.c: further starts for the fits of a statistic.
 *
 *   signs of several minima? ─► rounds of starts for all fits of a data set ─► two rounds find nothing lower
 *
 * Signs: a fit that took long or failed. Where rates are nonlinear in parameters, a fit that ends elsewhere
 * if it starts with those moved, a lower fit far from the tested values, or a bad free fit. Starts: random
 * ones, points with one nonlinear parameter moved, and different ends of all fits: a minimum that one finds
 * is tried by the others. A parameter whose slope falls at its kink at 0 is also tried on the other side. */
#include "minima/minimum_search.h"
#include "fit/family.h"
#include "fit/fit.h"
#include "fit/fit_evaluate.h"
#include "minima/conditional_fits.h"
#include "minima/many_starts.h"

#include <math.h>
#include <string.h>

#define LONG_FIT 12            /* iterations: published analyses take 4 to 9 */
#define NONLINEAR_LEAST 0.4    /* in errors of the counts; tHu's largest is 0.13, ttZ's 0.29 */
#define NONLINEAR_STRONGLY 4.0 /* several minima are likely; sbottom's largest is 1.7, staus' 1.1 */
#define NONLINEAR_MOST 16
#define PEAKS_MOST 16
#define PEAK_LEAST 1e-3 /* jump of the slope of twice the NLL */
#define PEAK_STEP 1e-9
#define PEAK_ROUNDS 8
#define BAD_FIT 5.0      /* errors of the counts, root mean square */
#define PROBES_APART 0.6 /* of the tested value */
#define FAR_ABOVE 25.0 /* twice the NLL of a test above the free fit: rates may be far from linear between */
#define CONTINUATION_STEPS 4 /* to a tested value */
#define AUXILIARY_MOST 3
#define POOL_MOST 32
#define FIRST_ROUND 8    /* random starts; each round has twice as many as the last, up to */
#define LARGEST_ROUND 64 /* (staus: one start in 60 leads to the lowest minimum of a conditional fit) */
#define ROUNDS_MOST 8    /* a round of the largest size without anything lower is the last */
#define MINIMA_MOST 16
#define LOWER 1e-6 /* in twice the NLL: another minimum */

/* What searches have learnt of a model and all of its data. */
struct minimum_search {
    size_t *nonlinear, n_nonlinear; /* parameters in which rates are nonlinear, the most nonlinear first */
    double nonlinear_at;            /* largest size of the parameter of interest then */
    bool strongly_nonlinear;
    bool suspicious;               /* signs of several minima, for any data */
    const double *pool[POOL_MOST]; /* different minima: starts of later searches */
    size_t n_pool;
};

static paritas_status learn(struct infer *infer)
{
    if (!infer->search) infer->search = infer_array(infer, 1, sizeof *infer->search);
    return infer_memory(infer);
}

/* A fit whose lowest minimum is searched for: the free one, or a point's. */
struct target {
    struct infer_point *point; /* NULL: the free fit */
    unsigned char *fixed;
    paritas_fit_status status;
    double twice_nll;
    const double *parameters, *mirrored; /* one nonlinear parameter each of these */
    /* the lowest end of a fit that did not converge */
    struct {
        paritas_fit_status status;
        double twice_nll;
        const double *parameters; /* NULL: none */
    } unconverged;
    bool lower;                 /* than at the beginning */
    double minima[MINIMA_MOST]; /* twice the NLL of converged fits, ascending */
    size_t n_minima;
};

struct search {
    struct infer *infer;
    struct infer_profile *profile;
    struct target *targets; /* the free fit, the points, and auxiliary points */
    size_t n, n_asked;      /* with auxiliary points; without */
    struct infer_point
        auxiliary[AUXILIARY_MOST]; /* other values of the parameter of interest: the far one first */
    double same;                   /* in twice the NLL */
};

static bool is_auxiliary(const struct search *search, const struct target *s)
{
    return s >= search->targets + search->n_asked;
}

static bool has_auxiliary(const struct search *search)
{
    return search->n > search->n_asked;
}

static void note_minimum(struct target *s, double twice_nll, double same)
{
    size_t at = 0;
    while (at < s->n_minima && s->minima[at] < twice_nll - same) at++;
    if (at < s->n_minima && s->minima[at] <= twice_nll + same) return;
    if (at == MINIMA_MOST) return;
    if (s->n_minima < MINIMA_MOST) s->n_minima++;
    memmove(&s->minima[at + 1], &s->minima[at], (s->n_minima - 1 - at) * sizeof s->minima[0]);
    s->minima[at] = twice_nll;
}

static bool is_same_point(const struct search *search, const double *a, const double *b)
{
    double apart = 0.0;
    for (size_t i = 0; i < search->infer->n_parameters; i++)
        apart = fmax(apart, fabs(a[i] - b[i]) / fmax(1.0, fabs(b[i])));
    return apart < 1e-3;
}

static bool is_known(const struct search *search, const double *parameters)
{
    for (size_t k = 0; k < search->infer->search->n_pool; k++)
        if (is_same_point(search, search->infer->search->pool[k], parameters)) return true;
    return false;
}

static void put_in_pool(struct search *search, const double *parameters)
{
    double *row = infer_reals(search->infer, search->infer->n_parameters, 1);
    if (!row || search->infer->search->n_pool == POOL_MOST || is_known(search, parameters)) return;
    memcpy(row, parameters, search->infer->n_parameters * sizeof *row);
    search->infer->search->pool[search->infer->search->n_pool++] = row;
}

/* ---- fits ---- */

static bool is_better(const struct target *s, const paritas_fit_result *found, double same)
{
    const bool converged = found->status == PARITAS_FIT_CONVERGED;
    if (converged != (s->status == PARITAS_FIT_CONVERGED)) return converged;
    return !(found->twice_nll >= s->twice_nll - same);
}

/* A fit from a further start. */
struct attempt {
    struct target *targets;
    const double *start; /* the values of a point are its own */
};

static void put_job(const struct search *search, const struct attempt *attempt, double *start,
                    paritas_job *job)
{
    const struct target *s = attempt->targets;
    memcpy(start, attempt->start, search->infer->n_parameters * sizeof *start);
    *job = search->infer->base;
    job->data = search->profile->data;
    job->fixed = s->fixed;
    job->start = start;
    for (size_t i = 0; i < search->infer->n_parameters; i++) {
        if (search->infer->base.fixed[i]) start[i] = search->infer->base.start[i];
        start[i] = infer_bounded(search->infer, i, start[i]);
    }
    for (size_t j = 0; s->point && j < s->point->k; j++) start[s->point->parameter[j]] = s->point->value[j];
}

/* A minimum beside the answer, or none any more if the fit lowers the answer. */
static void note_elsewhere(const struct search *search, const struct target *s,
                           const paritas_fit_result *found, const double *parameters)
{
    if (!s->point || found->status != PARITAS_FIT_CONVERGED) return;
    if (is_better(s, found, search->same))
        s->point->elsewhere = NULL;
    else if (found->twice_nll <= s->twice_nll + search->same &&
             !is_same_point(search, s->parameters, parameters))
        s->point->elsewhere = parameters;
}

static void note_unconverged(struct target *s, const paritas_fit_result *found, const double *parameters)
{
    if (found->status == PARITAS_FIT_CONVERGED || !isfinite(found->twice_nll)) return;
    if (s->unconverged.parameters && !(found->twice_nll < s->unconverged.twice_nll)) return;
    s->unconverged.status = found->status;
    s->unconverged.twice_nll = found->twice_nll;
    s->unconverged.parameters = parameters;
}

/* *lower: an answer became lower. */
static paritas_status run_attempts(struct search *search, size_t n, const struct attempt *attempts,
                                   bool *lower)
{
    struct infer *infer = search->infer;
    const size_t p = infer->n_parameters;
    if (n == 0) return PARITAS_OK;
    paritas_job *jobs = infer_array(infer, n, sizeof *jobs);
    paritas_fit_result *results = infer_array(infer, n, sizeof *results);
    double *rows = infer_reals(infer, n, p), *fitted = infer_reals(infer, n, p);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) put_job(search, &attempts[i], rows + i * p, &jobs[i]);
    TRY(fit_run(infer->context, infer->model, NULL, n, jobs,
                &(paritas_fit_answers){.results = results, .parameters = fitted}));
    for (size_t i = 0; i < n; i++) {
        struct target *s = attempts[i].targets;
        if (results[i].status == PARITAS_FIT_CONVERGED) {
            note_minimum(s, results[i].twice_nll, search->same);
            if (fabs(results[i].twice_nll - s->twice_nll) > search->same) put_in_pool(search, fitted + i * p);
        }
        note_elsewhere(search, s, &results[i], fitted + i * p);
        note_unconverged(s, &results[i], fitted + i * p);
        if (!is_better(s, &results[i], search->same)) continue;
        s->status = results[i].status;
        s->twice_nll = results[i].twice_nll;
        s->parameters = fitted + i * p;
        s->lower = *lower = true;
    }
    return PARITAS_OK;
}

/* ---- signs ---- */

static double largest_tested(const struct search *search)
{
    const size_t poi = search->infer->poi;
    double largest = fabs(search->infer->base.start[poi]);
    for (size_t i = 1; i < search->n; i++) {
        const struct infer_point *point = search->targets[i].point;
        if (point->parameter[0] == poi) largest = fmax(largest, fabs(point->value[0]));
    }
    return largest;
}

/* How nonlinear rates with the templates of `data` are in each parameter that may move, if that is much. */
static paritas_status measure_nonlinearity(struct infer *infer, const double *data, double at,
                                           double *nonlinearity)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t n = infer->n_parameters;
    double *point = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    memcpy(point, infer->base.start, n * sizeof *point);
    if (infer->poi < n) point[infer->poi] = at;
    if (model->family->bends)
        TRY(model->family->bends(infer->context, model, model->n_templates ? data : NULL, point, NULL,
                                 nonlinearity));
    for (size_t i = 0; i < n; i++)
        if (infer->base.fixed[i] || !(infer->widths[i] > 0.0) || !(nonlinearity[i] >= NONLINEAR_LEAST))
            nonlinearity[i] = 0.0;
    return PARITAS_OK;
}

/* The most nonlinear parameters first. Rates may be less linear at a larger parameter of interest. */
static paritas_status find_nonlinear(struct infer *infer, double at)
{
    const size_t n = infer->n_parameters;
    if (infer->search->nonlinear && at <= 2.0 * infer->search->nonlinear_at) return PARITAS_OK;
    double *nonlinearity = infer_reals(infer, n, 1);
    infer->search->nonlinear = infer_array(infer, NONLINEAR_MOST, sizeof *infer->search->nonlinear);
    TRY(infer_memory(infer));
    infer->search->nonlinear_at = at;
    TRY(measure_nonlinearity(infer, infer->base.data, at, nonlinearity));
    for (infer->search->n_nonlinear = 0; infer->search->n_nonlinear < NONLINEAR_MOST;
         infer->search->n_nonlinear++) {
        size_t most = n;
        for (size_t i = 0; i < n; i++)
            if (nonlinearity[i] > 0.0 && (most == n || nonlinearity[i] > nonlinearity[most])) most = i;
        if (most == n) break;
        infer->search->nonlinear[infer->search->n_nonlinear] = most;
        infer->search->strongly_nonlinear =
            infer->search->strongly_nonlinear || nonlinearity[most] >= NONLINEAR_STRONGLY;
        nonlinearity[most] = 0.0;
    }
    return PARITAS_OK;
}

paritas_status minimum_search_is_nonlinear(struct infer *infer, const double *data, double at, bool *is)
{
    double *nonlinearity = infer_reals(infer, infer->n_parameters, 1);
    *is = false;
    TRY(infer_memory(infer));
    TRY(measure_nonlinearity(infer, data, at, nonlinearity));
    for (size_t i = 0; i < infer->n_parameters; i++) *is = *is || nonlinearity[i] > 0.0;
    return PARITAS_OK;
}

/* Moves nonlinear parameters [first, end) of the fit's point to at least `widths` from their start: on the
 * fit's side of it, or on the other one if negative. */
static paritas_status move_nonlinear(struct infer *infer, const double *parameters, size_t first, size_t end,
                                     double widths, const double **start)
{
    double *point = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(point, parameters, infer->n_parameters * sizeof *point);
    for (size_t k = first; k < end; k++) {
        const size_t i = infer->search->nonlinear[k];
        const double centre = infer->base.start[i], away = parameters[i] - centre,
                     far = fmax(fabs(away), fabs(widths) * infer->widths[i]);
        point[i] = centre + copysign(far, widths < 0.0 ? -away : away);
    }
    for (size_t i = 0; i < infer->n_parameters; i++) /* a factor of 0 hides what others do */
        if (isnan(infer->widths[i]) &&
            (parameters[i] <= infer->base.lower[i] || parameters[i] >= infer->base.upper[i]))
            point[i] = infer->base.start[i];
    *start = point;
    return PARITAS_OK;
}

/* A fit at another value of the parameter of interest. Its ends are starts for the others. */
static paritas_status add_auxiliary(struct search *search, double value)
{
    struct infer *infer = search->infer;
    struct infer_point *point = &search->auxiliary[search->n - search->n_asked];
    struct target *s = &search->targets[search->n++];
    *point = infer_point_at(infer, search->profile, infer_bounded(infer, infer->poi, value));
    *s = (struct target){.point = point, .status = PARITAS_FIT_NO_PROGRESS, .twice_nll = (double)NAN};
    s->fixed = infer_fixed_flags(infer, point);
    return infer_memory(infer);
}

/* Far from what is tested the profile may fall again: twice the largest value, or three times its size. */
static paritas_status add_far(struct search *search)
{
    const struct infer *infer = search->infer;
    const size_t poi = infer->poi;
    if (poi == infer->n_parameters || search->profile->probed || infer->search->n_nonlinear == 0)
        return PARITAS_OK;
    return add_auxiliary(search, fmax(infer->base.start[poi] + 3.0 * fmax(fabs(infer->base.start[poi]), 1.0),
                                      2.0 * largest_tested(search)));
}

/* A test that stands alone gets neighbours on both sides. */
static paritas_status add_neighbours(struct search *search)
{
    const struct infer_point *point = search->targets[search->n_asked - 1].point;
    if (search->n_asked != 2 || point->parameter[0] != search->infer->poi) return PARITAS_OK;
    const double at = point->value[0];
    if (at == 0.0) return PARITAS_OK;
    TRY(add_auxiliary(search, 0.5 * at));
    return add_auxiliary(search, 1.5 * at);
}

/* Bins are BAD_FIT errors from the data: where rates are so nonlinear, a better fit is likely elsewhere. */
static paritas_status fits_badly(const struct search *search, bool *badly)
{
    struct infer *infer = search->infer;
    const size_t n = paritas_model_main_count(infer->model);
    double *expected = infer_reals(infer, infer->n_data, 1), sum = 0.0;
    TRY(infer_memory(infer));
    if (paritas_model_frozen(infer->model)->no_expectation) return PARITAS_OK;
    TRY(infer_expected(infer, search->profile->parameters, expected));
    for (size_t i = 0; i < n; i++) {
        const double away = expected[i] - search->profile->data[i];
        sum += away * away / fmax(expected[i], 1.0);
    }
    *badly = sum > BAD_FIT * BAD_FIT * (double)n;
    return PARITAS_OK;
}

/* A conditional fit far from those that were probed. Those of rankings stay near the free fit. */
static bool needs_probe(const struct infer *infer, const struct infer_point *point,
                        struct infer_profile *profile)
{
    if (infer->poi < infer->n_parameters && point->parameter[0] != infer->poi) return false;
    const double value = point->value[0];
    for (size_t i = 0; i < profile->n_probed_at; i++) {
        const double other = profile->probed_at[i];
        if (fabs(value - other) <= PROBES_APART * fmax(fabs(value), fabs(other))) return false;
    }
    if (profile->n_probed_at == INFER_PROBED_MOST) return false;
    profile->probed_at[profile->n_probed_at++] = value;
    return true;
}

/* Parameters whose slope falls at the kink, others as in the fit: each side may have a minimum. The largest
 * jump of the slope first. */
static paritas_status find_peaks(const struct search *search, const struct target *s, size_t *peaks,
                                 size_t *n_peaks)
{
    struct infer *infer = search->infer;
    const unsigned char *kinked = paritas_model_frozen(infer->model)->kinked;
    const size_t n = infer->n_parameters;
    size_t *which = infer_array(infer, n, sizeof *which), k = 0;
    *n_peaks = 0;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++)
        if (kinked[i] && !s->fixed[i] && infer->base.lower[i] < 0.0 && infer->base.upper[i] > 0.0)
            which[k++] = i;
    double *points = infer_reals(infer, 2 * k, n), *slopes = infer_reals(infer, 2 * k, n),
           *jumps = infer_reals(infer, k, 1);
    TRY(infer_memory(infer));
    for (size_t j = 0; j < 2 * k; j++) {
        memcpy(points + j * n, s->parameters, n * sizeof *points);
        points[j * n + which[j / 2]] = j % 2 ? PEAK_STEP : -PEAK_STEP;
    }
    if (k > 0)
        TRY(fit_evaluate(infer->context, infer->context->device, infer->model, 2 * k, points, 1,
                         search->profile->data, &(paritas_evaluate_answers){.gradient = slopes}));
    for (size_t j = 0; j < k; j++) {
        const double below = slopes[2 * j * n + which[j]], above = slopes[(2 * j + 1) * n + which[j]];
        jumps[j] = below - above > PEAK_LEAST ? below - above : 0.0;
    }
    for (; *n_peaks < PEAKS_MOST; ++*n_peaks) {
        size_t most = k;
        for (size_t j = 0; j < k; j++)
            if (jumps[j] > 0.0 && (most == k || jumps[j] > jumps[most])) most = j;
        if (most == k) break;
        peaks[*n_peaks] = which[most];
        jumps[most] = 0.0;
    }
    return PARITAS_OK;
}

/* Attempts at the fit from the other sides of such kinks, one by one: at least half a width away. */
static paritas_status cross_peaks(struct search *search, struct target *s, struct attempt *attempts,
                                  size_t *n)
{
    struct infer *infer = search->infer;
    size_t peaks[PEAKS_MOST], n_peaks;
    TRY(find_peaks(search, s, peaks, &n_peaks));
    for (size_t k = 0; k < n_peaks; k++) {
        double *start = infer_reals(infer, infer->n_parameters, 1);
        TRY(infer_memory(infer));
        memcpy(start, s->parameters, infer->n_parameters * sizeof *start);
        const double here = start[peaks[k]];
        start[peaks[k]] = -copysign(fmax(fabs(here), 0.5), here);
        attempts[(*n)++] = (struct attempt){s, start};
    }
    return PARITAS_OK;
}

/* Crosses kinks of all fits while that lowers an answer, which then is a start for all fits. It is no sign of
 * minima elsewhere: beyond kinks they are expected, and found from near. */
static paritas_status probe_peaks(struct search *search)
{
    if (!paritas_model_frozen(search->infer->model)->kinked) return PARITAS_OK;
    struct infer *infer = search->infer;
    struct attempt *attempts = infer_array(infer, (PEAKS_MOST + search->n) * search->n, sizeof *attempts);
    const double **before = infer_array(infer, search->n, sizeof *before);
    const size_t n_pool = infer->search->n_pool;
    bool lower = true;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < search->n; i++) before[i] = search->targets[i].parameters;
    for (int round = 0; round < PEAK_ROUNDS && lower; round++) {
        size_t n = 0;
        for (size_t i = 0; i < search->n; i++) {
            struct target *s = &search->targets[i];
            if (s->status == PARITAS_FIT_CONVERGED) TRY(cross_peaks(search, s, attempts, &n));
            for (size_t j = 0; j < search->n && s->parameters != before[i]; j++)
                if (j != i) attempts[n++] = (struct attempt){&search->targets[j], s->parameters};
            before[i] = s->parameters;
        }
        lower = false;
        TRY(run_attempts(search, n, attempts, &lower));
    }
    infer->search->n_pool = n_pool;
    return PARITAS_OK;
}

/* Probes fits that were not probed yet: the free one with all nonlinear parameters further out (staus:
 * elsewhere starts end in one minimum), conditional ones on the other side. */
static paritas_status probe(struct search *search)
{
    struct infer *infer = search->infer;
    struct attempt *attempts = infer_array(infer, search->n, sizeof *attempts);
    size_t n = 0;
    bool lower = false;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        if (is_auxiliary(search, s)) attempts[n++] = (struct attempt){s, search->profile->parameters};
        if (s->status != PARITAS_FIT_CONVERGED || (!s->point && search->profile->probed)) continue;
        if (s->point && !needs_probe(infer, s->point, search->profile)) continue;
        if (infer->search->n_nonlinear == 0) continue;
        attempts[n].targets = s;
        TRY(move_nonlinear(infer, s->parameters, 0, infer->search->n_nonlinear, s->point ? -1.0 : 1.0,
                           &attempts[n++].start));
    }
    TRY(run_attempts(search, n, attempts, &lower));
    if (has_auxiliary(search)) {
        const struct target *free = &search->targets[0], *far = &search->targets[search->n_asked];
        if (far->twice_nll < free->twice_nll - search->same) put_in_pool(search, far->parameters);
    }
    return probe_peaks(search);
}

static bool took_long(paritas_fit_status status, unsigned iterations)
{
    return status != PARITAS_FIT_CONVERGED || iterations >= LONG_FIT;
}

bool minimum_search_has_factor_at_bound(const struct infer *infer, const double *parameters)
{
    for (size_t i = 0; i < infer->n_parameters; i++) {
        if (infer->base.fixed[i] || i == infer->poi) continue;
        if (parameters[i] == 0.0 && infer->base.lower[i] == 0.0) return true;
        if (!isnan(infer->widths[i])) continue;
        if (parameters[i] <= infer->base.lower[i] || parameters[i] >= infer->base.upper[i]) return true;
    }
    return false;
}

static paritas_status look_for_signs(struct search *search, bool *signs)
{
    struct infer_profile *profile = search->profile;
    *signs = search->infer->starts > 1 || profile->suspicious;
    if (!*signs &&
        (search->infer->search->n_nonlinear > 0 || paritas_model_frozen(search->infer->model)->kinked)) {
        TRY(probe(search));
        if (!profile->probed && profile->result.status == PARITAS_FIT_CONVERGED)
            TRY(fits_badly(search, signs));
    }
    profile->probed = true;
    *signs = *signs || search->infer->search->n_pool > 0 || search->infer->search->strongly_nonlinear ||
             took_long(profile->result.status, profile->result.iterations) ||
             minimum_search_has_factor_at_bound(search->infer, profile->parameters);
    for (size_t i = 0; i < search->n; i++) {
        const struct infer_point *point = search->targets[i].point;
        if (!point || is_auxiliary(search, &search->targets[i])) continue;
        /* limits test far away, and no published one has other minima there */
        const bool far = search->infer->search->n_nonlinear > 0 &&
                         (point->value[0] == 0.0 || !search->infer->tests) &&
                         search->targets[i].twice_nll > search->targets[0].twice_nll + FAR_ABOVE;
        *signs = *signs || far || took_long(point->status, point->iterations);
    }
    profile->suspicious = *signs;
    search->infer->search->suspicious = search->infer->search->suspicious || *signs;
    return PARITAS_OK;
}

bool minimum_search_is_suspicious(const struct infer *infer)
{
    return infer->starts != 1 && infer->search && infer->search->suspicious;
}

bool minimum_search_suspects(const struct infer *infer)
{
    return infer->starts != 1 && infer->search &&
           (infer->search->suspicious || infer->search->n_nonlinear > 0);
}

bool minimum_search_has_starts(const struct infer *infer)
{
    return infer->search && infer->search->n_pool > 0;
}

/* ---- rounds ---- */

/* Adds random starts `first` ... to the list of n. */
static paritas_status add_random_starts(const struct search *search, uint64_t first, size_t n_random,
                                        const double **starts, size_t *n)
{
    struct infer *infer = search->infer;
    const size_t p = infer->n_parameters;
    double *wide = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < p; i++) wide[i] = 2.0 * infer->widths[i];
    for (size_t k = 0; k < n_random; k++) {
        double *start = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        memcpy(start, infer->base.start, p * sizeof *start);
        many_starts_draw(p, (first + k) % 2 ? infer->widths : wide, infer->base.lower, infer->base.upper,
                         infer->base.fixed, first + k, start);
        starts[(*n)++] = start;
    }
    return PARITAS_OK;
}

static bool met_several(const struct search *search)
{
    bool several = false;
    for (size_t i = 0; i < search->n; i++) several = several || search->targets[i].n_minima > 1;
    return several;
}

/* Each start for all fits; and each new answer with one nonlinear parameter on the other side. */
static paritas_status run_round(struct search *search, size_t n, const double *const *starts, bool *lower)
{
    const size_t n_nonlinear = search->infer->search->n_nonlinear;
    struct attempt *attempts =
        infer_array(search->infer, (n + 4 * n_nonlinear) * search->n, sizeof *attempts);
    size_t m = 0;
    TRY(infer_memory(search->infer));
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        for (size_t k = 0; k < n; k++) attempts[m++] = (struct attempt){s, starts[k]};
        if (s->status != PARITAS_FIT_CONVERGED || s->mirrored == s->parameters) continue;
        s->mirrored = s->parameters;
        for (size_t k = 0; k < n_nonlinear; k++)
            for (double widths = -3.0; widths <= 3.0; widths += 2.0) {
                attempts[m].targets = s;
                TRY(move_nonlinear(search->infer, s->parameters, k, k + 1, widths, &attempts[m++].start));
            }
    }
    return run_attempts(search, m, attempts, lower);
}

/* A fit continued from another value of its parameter to the tested one. */
struct continuation {
    struct infer_point point;
    struct target at, *goal;
    double from;
};

static size_t add_path(struct continuation *paths, size_t n, struct target *goal, const struct target *origin)
{
    const struct infer_point *point = goal->point;
    if (!point || point->k > 1 || !origin->parameters) return n;
    paths[n] = (struct continuation){.goal = goal, .from = origin->parameters[point->parameter[0]]};
    paths[n].at = (struct target){.fixed = goal->fixed, .parameters = origin->parameters};
    return n + 1;
}

/* Each test is reached by steps of its parameter, from the free fit and from far away: some minima are found
 * from a neighbour's alone. */
static paritas_status follow_paths(struct search *search)
{
    struct infer *infer = search->infer;
    struct continuation *paths = infer_array(infer, 2 * search->n, sizeof *paths);
    struct attempt *attempts = infer_array(infer, 2 * search->n, sizeof *attempts);
    size_t n = 0;
    bool lower = false; /* noted by each fit, too */
    TRY(infer_memory(infer));
    for (size_t i = 0; i < search->n_asked; i++) {
        n = add_path(paths, n, &search->targets[i], &search->targets[0]);
        if (has_auxiliary(search))
            n = add_path(paths, n, &search->targets[i], &search->targets[search->n_asked]);
    }
    for (int step = 1; step <= CONTINUATION_STEPS; step++) {
        for (size_t i = 0; i < n; i++) {
            struct continuation *w = &paths[i];
            const double to = w->goal->point->value[0], part = (double)step / CONTINUATION_STEPS;
            attempts[i] = (struct attempt){step == CONTINUATION_STEPS ? w->goal : &w->at, w->at.parameters};
            w->point = *w->goal->point;
            w->point.value[0] = w->from + part * (to - w->from);
            w->at.point = &w->point;
            w->at.status = PARITAS_FIT_NO_PROGRESS;
            w->at.twice_nll = (double)NAN;
        }
        TRY(run_attempts(search, n, attempts, &lower));
    }
    return PARITAS_OK;
}

/* The usual fit was the first start. */
static paritas_status run_rounds(struct search *search)
{
    const size_t asked = search->infer->starts;
    size_t size = FIRST_ROUND, random = 0, tried = 0;
    TRY(follow_paths(search));
    for (size_t round = 0; asked ? 1 + random < asked : round < ROUNDS_MOST; round++) {
        const double *starts[LARGEST_ROUND + POOL_MOST + 1];
        size_t n = 0;
        bool lower = false;
        if (asked && size > asked - 1 - random) size = asked - 1 - random;
        if (round == 0) starts[n++] = search->infer->base.start;
        for (; tried < search->infer->search->n_pool; tried++)
            starts[n++] = search->infer->search->pool[tried];
        TRY(add_random_starts(search, 1 + random, size, starts, &n));
        TRY(run_round(search, n, starts, &lower));
        random += size;
        if (!asked && !lower && (size == LARGEST_ROUND || !met_several(search))) break;
        size = size < LARGEST_ROUND ? 2 * size : size;
    }
    return PARITAS_OK;
}

/* ---- answers ---- */

/* Continues from lower points where fits did not converge. If one stays, it is the answer, with
 * its status: no minimum above a known point is told as the lowest. */
static paritas_status leave_unconverged(struct search *search)
{
    struct attempt *attempts = infer_array(search->infer, search->n, sizeof *attempts);
    TRY(infer_memory(search->infer));
    bool lower = true;
    for (int again = 0; again < 3 && lower; again++) {
        size_t n = 0;
        for (size_t i = 0; i < search->n; i++) {
            struct target *s = &search->targets[i];
            if (s->status == PARITAS_FIT_CONVERGED && s->unconverged.parameters &&
                s->unconverged.twice_nll < s->twice_nll - search->same)
                attempts[n++] = (struct attempt){s, s->unconverged.parameters};
        }
        lower = false;
        TRY(run_attempts(search, n, attempts, &lower));
    }
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        if (!s->unconverged.parameters || !(s->unconverged.twice_nll < s->twice_nll - search->same)) continue;
        s->status = s->unconverged.status;
        s->twice_nll = s->unconverged.twice_nll;
        s->parameters = s->unconverged.parameters;
        s->lower = true;
    }
    return PARITAS_OK;
}

static void note_minima(struct search *search)
{
    for (size_t i = 0; i < search->n; i++) {
        const struct target *s = &search->targets[i];
        if (s->n_minima < 2 || is_auxiliary(search, s)) continue;
        infer_note_minima(&search->infer->minima, s->n_minima, s->minima[s->n_minima - 1] - s->minima[0]);
    }
}

static paritas_status give_answers(struct search *search)
{
    for (size_t i = 0; i < search->n; i++) {
        const struct target *s = &search->targets[i];
        if (!s->lower || is_auxiliary(search, s)) continue;
        if (!s->point) {
            struct infer_profile again = *search->profile;
            again.start = s->parameters;
            TRY(infer_free_fit(search->infer, &again));
            again.start = search->profile->start;
            if (again.result.twice_nll <= s->twice_nll + search->same ||
                search->profile->result.status != PARITAS_FIT_CONVERGED)
                *search->profile = again;
            continue;
        }
        s->point->status = s->status;
        s->point->twice_nll = s->twice_nll;
        s->point->parameters = s->parameters;
    }
    return PARITAS_OK;
}

/* In the arena: the free fit and n points. */
static paritas_status open_search(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points, struct search **opened)
{
    struct search *search = *opened = infer_array(infer, 1, sizeof *search);
    TRY(infer_memory(infer));
    TRY(learn(infer));
    search->infer = infer;
    search->profile = profile;
    search->n = search->n_asked = 1 + n;
    search->same = fmax(same_minimum(infer->context), LOWER);
    search->targets = infer_array(infer, search->n + AUXILIARY_MOST, sizeof *search->targets);
    TRY(infer_memory(infer));
    search->targets[0] = (struct target){.status = search->profile->result.status,
                                         .twice_nll = search->profile->result.twice_nll,
                                         .parameters = search->profile->parameters};
    for (size_t i = 0; i < n; i++)
        search->targets[1 + i] = (struct target){.point = points[i],
                                                 .status = points[i]->status,
                                                 .twice_nll = points[i]->twice_nll,
                                                 .parameters = points[i]->parameters};
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        s->fixed = infer_fixed_flags(infer, s->point);
        TRY(infer_memory(infer));
        if (s->status == PARITAS_FIT_CONVERGED) note_minimum(s, s->twice_nll, search->same);
    }
    return PARITAS_OK;
}

static paritas_status run_search(struct search *search)
{
    const bool tests = search->infer->poi < search->infer->n_parameters;
    TRY(find_nonlinear(search->infer, tests ? largest_tested(search) : 0.0));
    TRY(add_far(search));
    bool signs;
    TRY(look_for_signs(search, &signs));
    if (!signs) {
        note_minima(search);
        return give_answers(search);
    }
    TRY(add_neighbours(search));
    for (size_t i = 0; i < search->n; i++)
        if (search->targets[i].status == PARITAS_FIT_CONVERGED)
            put_in_pool(search, search->targets[i].parameters);
    TRY(run_rounds(search));
    TRY(leave_unconverged(search));
    TRY(probe_peaks(search));
    note_minima(search);
    return give_answers(search);
}

paritas_status minimum_search_run(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points)
{
    struct search *search;
    if (infer->starts == 1) return PARITAS_OK;
    TRY(open_search(infer, profile, n, points, &search));
    return run_search(search);
}

paritas_status minimum_search_across_kinks(struct infer *infer, struct infer_profile *profile, size_t n,
                                           struct infer_point *const *points)
{
    struct search *search;
    if (infer->starts == 1 || !paritas_model_frozen(infer->model)->kinked) return PARITAS_OK;
    TRY(open_search(infer, profile, n, points, &search));
    TRY(probe_peaks(search));
    note_minima(search);
    return give_answers(search);
}
