/* losscone_profile.c: profiles, confidence sets, bootstrap of thresholds (entry/entry_losscone_profile.h). */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/losscone/losscone_counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most potentials of a launch: a job is a sweep with all of them. */
#define POTENTIALS_MOST 1024
#define GRID_MOST 65536 /* steps of a set's grid */
/* Default, V. Plateaus are 10 V wide, folded 0.5 V. Folded sets at 4 s^2 held the truth in 86 % of
 * synthetic sweeps at 1 V, 94 % at 0.2 V, 95 % at 0.1 V. */
#define STEP_HARD 1.0
#define STEP_FOLDED 0.05
/* Of the noise's mean square. Channels have noise of their own: in a hot plasma at -20 V their sets held the
 * truth in 88 % of synthetic sweeps at 4, in 90 % at 5. */
#define THRESHOLD 4.0
#define THRESHOLD_CHANNEL 6.0
#define DRAWS_MOST 65536
/* Factors of bootstrap thresholds, measured. Draws know their channels, and all lie at the plateau's centre:
 * without the factors, sets of levels 0.68 and 0.95 held the truth in 67 and 91 %, or with channels in 65 and
 * 90 %. */
#define LARGER 1.2
#define LARGER_CHANNEL 1.45
/* Kernels return it if they found nothing. */
#define NOTHING_FOUND 1e29

static paritas_status check_inside(paritas_context *context, const paritas_losscone_options *options,
                                   const char *what, size_t index, double potential)
{
    if (potential >= options->potential_lower && potential <= options->potential_upper) return PARITAS_OK;
    return paritas_refuse(context, "%s[%zu]: %g V lies outside the bounds %g to %g", what, index, potential,
                          options->potential_lower, options->potential_upper);
}

struct profiles {
    const struct losscone_call *call;
    size_t n_potentials, first, count; /* of all, and of this launch */
    unsigned least;
    double *misfit, *ratio, *amplitude;
};

static void take_profiles(const void *user, size_t sweep, const double *answer)
{
    const struct profiles *p = user;
    const unsigned cells = (unsigned)answer[PROFILED_SIZE * p->count];
    for (size_t i = 0; i < p->count; i++, answer += PROFILED_SIZE) {
        const size_t to = sweep * p->n_potentials + p->first + i;
        const bool found = cells >= p->least && answer[PROFILED_MISFIT] < NOTHING_FOUND;
        p->misfit[to] = found ? answer[PROFILED_MISFIT] : NAN;
        if (p->ratio) p->ratio[to] = found ? answer[PROFILED_R] : NAN;
        if (p->amplitude) p->amplitude[to] = found ? answer[PROFILED_A] : NAN;
    }
}

static paritas_status profile_counts(paritas_context *context, const struct losscone_call *call,
                                     size_t n_potentials, const double *potentials, double *misfit,
                                     double *ratio, double *amplitude)
{
    const size_t n = call->sweeps.n;
    double (*found)[2] = paritas_allocate(context, n, sizeof *found);
    paritas_status status = found ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t i = 0; i < n_potentials && status == PARITAS_OK; i++) {
        status = losscone_counted_profile(context, call, potentials[i], found);
        for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
            const size_t to = k * n_potentials + i;
            misfit[to] = found[k][0];
            if (ratio) ratio[to] = found[k][1];
            if (amplitude) amplitude[to] = isnan(found[k][0]) ? NAN : 0.0;
        }
    }
    paritas_release(&context->allocator, found);
    return status;
}

paritas_status paritas_losscone_profile(paritas_context *context, const paritas_sweeps *given_sweeps,
                                        const paritas_losscone_options *given_options, size_t n_potentials,
                                        const double *potentials, double *misfit, double *ratio,
                                        double *amplitude)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(losscone_open(context, given_sweeps, given_options, true, &call));
    if (n_potentials > 0 && !potentials) return paritas_refuse(context, "potentials: none given");
    for (size_t i = 0; i < n_potentials; i++)
        TRY(check_inside(context, &call.options, "potentials", i, potentials[i]));
    if (n_potentials == 0 || call.sweeps.n == 0) return PARITAS_OK;
    paritas_status status = PARITAS_OK;
    if (!misfit) return paritas_refuse(context, "misfit: no place given for it");
    TRY(losscone_counted_check(context, &call));
    if (losscone_is_counted(&call))
        return profile_counts(context, &call, n_potentials, potentials, misfit, ratio, amplitude);
    struct profiles p = {.call = &call,
                         .n_potentials = n_potentials,
                         .least = losscone_least_cells(&call.options),
                         .misfit = misfit,
                         .ratio = ratio,
                         .amplitude = amplitude};
    for (; p.first < n_potentials && status == PARITAS_OK; p.first += p.count) {
        p.count = n_potentials - p.first < POTENTIALS_MOST ? n_potentials - p.first : POTENTIALS_MOST;
        status = losscone_run(context, &call,
                              (struct batch){.entry = ENTRY_losscone_profile,
                                             .n_out = PROFILES_OUT(p.count),
                                             .n_shared = p.count,
                                             .shared = potentials + p.first,
                                             .slab = call.grid->profile_slab,
                                             .args = {[LOSSCONE_ARG_COUNT] = (uint32_t)p.count},
                                             .pass = p.first / POTENTIALS_MOST,
                                             .passes = (n_potentials + POTENTIALS_MOST - 1) / POTENTIALS_MOST,
                                             .take = take_profiles,
                                             .user = &p});
    }
    return status;
}

struct sets {
    const struct losscone_call *call;
    const paritas_losscone_result *results;
    const double *thresholds, *size; /* without thresholds: mean square of the noise */
    double step;
    paritas_confidence *sets;
};

static bool has_channels(const struct losscone_call *call)
{
    return call->sweeps.channel && call->options.response == PARITAS_LOSSCONE_RESPONSE_FOLDED;
}

/* Threshold of a sweep; NaN: no fit. */
static double threshold_of(const struct sets *s, size_t k)
{
    const paritas_losscone_result *r = &s->results[k];
    if (!losscone_has_fit(r)) return NAN;
    if (s->thresholds) return s->thresholds[k];
    if (losscone_is_counted(s->call)) return losscone_counted_threshold(r);
    return (has_channels(s->call) ? THRESHOLD_CHANNEL : THRESHOLD) * s->size[k] /
           losscone_misfit_divisor(&s->call->options, r);
}

static void fill_set(const void *user, size_t sweep, double *row)
{
    const struct sets *s = user;
    const paritas_losscone_result *r = &s->results[sweep];
    const double threshold = threshold_of(s, sweep);
    double *tail = row + s->call->grid->sweep;
    losscone_sweep_row(s->call, sweep, row);
    memset(tail, 0, CONFIDENCE_TAIL * sizeof *tail);
    /* below every misfit */
    tail[CONFIDENCE_LIMIT] =
        threshold >= 0.0 ? (r->misfit + threshold) * losscone_misfit_divisor(&s->call->options, r) : -1.0;
    tail[CONFIDENCE_LOWER] = threshold >= 0.0 ? r->potential_lower : 1.0;
    tail[CONFIDENCE_UPPER] = threshold >= 0.0 ? r->potential_upper : 0.0;
}

/* Of numbers, or of pairs by the first. */
static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Joins what is nearer than a step, and beyond CONFIDENCE_SETS what the narrowest gap parts. */
static void add_interval(paritas_confidence *set, double lower, double upper, double step)
{
    double all[CONFIDENCE_SETS + 1][2];
    unsigned n = 0;
    for (unsigned i = 0; i < set->intervals; i++) {
        if (set->upper[i] + step >= lower && set->lower[i] - step <= upper) {
            lower = set->lower[i] < lower ? set->lower[i] : lower;
            upper = set->upper[i] > upper ? set->upper[i] : upper;
            continue;
        }
        all[n][0] = set->lower[i];
        all[n++][1] = set->upper[i];
    }
    all[n][0] = lower;
    all[n++][1] = upper;
    qsort(all, n, sizeof *all, ascending);
    if (n > CONFIDENCE_SETS) {
        unsigned narrowest = 1;
        for (unsigned i = 2; i < n; i++)
            if (all[i][0] - all[i - 1][1] < all[narrowest][0] - all[narrowest - 1][1]) narrowest = i;
        all[narrowest - 1][1] = all[narrowest][1];
        n--;
        memmove(all + narrowest, all + narrowest + 1, (n - narrowest) * sizeof *all);
    }
    set->intervals = n;
    for (unsigned i = 0; i < n; i++) {
        set->lower[i] = all[i][0];
        set->upper[i] = all[i][1];
    }
}

/* Widens a set by the error of the spacecraft's potential. */
static void widen(const struct sets *s, size_t sweep, paritas_confidence *set)
{
    const paritas_losscone_options *options = &s->call->options;
    const double *errors = s->call->sweeps.potential_error,
                 error = errors ? options->potential_errors * errors[sweep] : 0.0;
    const paritas_confidence narrow = *set;
    if (!(error > 0.0 && isfinite(error))) return;
    const double moved = error * losscone_slope(&s->call->sweeps, sweep, &s->results[sweep]);
    set->intervals = 0;
    for (unsigned i = 0; i < narrow.intervals; i++) {
        const double middle = 0.5 * (narrow.lower[i] + narrow.upper[i]),
                     half = 0.5 * (narrow.upper[i] - narrow.lower[i]),
                     wide = host_sqrt(half * half + moved * moved), lower = middle - wide,
                     upper = middle + wide;
        add_interval(set, lower > options->potential_lower ? lower : options->potential_lower,
                     upper < options->potential_upper ? upper : options->potential_upper, s->step);
    }
    for (unsigned i = set->intervals; i < PARITAS_CONFIDENCE_INTERVALS; i++)
        set->lower[i] = set->upper[i] = 0.0;
}

static void take_set(const void *user, size_t sweep, const double *answer)
{
    const struct sets *s = user;
    const paritas_losscone_result *r = &s->results[sweep];
    const double threshold = threshold_of(s, sweep);
    paritas_confidence *set = &s->sets[sweep];
    *set = (paritas_confidence){.size = sizeof *set, .threshold = threshold >= 0.0 ? threshold : NAN};
    if (!(threshold >= 0.0)) return;
    set->intervals = (unsigned)answer[CONFIDENCE_INTERVALS];
    for (unsigned i = 0; i < set->intervals; i++) {
        set->lower[i] = answer[CONFIDENCE_END + 2 * i];
        set->upper[i] = answer[CONFIDENCE_END + 2 * i + 1];
    }
    add_interval(set, r->potential_lower, r->potential_upper, s->step);
    widen(s, sweep, set);
    set->at_lower_bound = set->lower[0] <= s->call->options.potential_lower;
    set->at_upper_bound = set->upper[set->intervals - 1] >= s->call->options.potential_upper;
}

/* Each sweep's size of the noise (count 1), or that of its cells (count losscone_cells). Free `found`. */
static paritas_status find_noise(paritas_context *context, const struct losscone_call *call,
                                 const paritas_losscone_result *results, size_t count, double **found)
{
    paritas_status status = PARITAS_OK;
    const size_t n = call->sweeps.n;
    *found = paritas_allocate(context, n * count, sizeof **found);
    if (!*found) return paritas_fail_memory(context);
    for (size_t k = 0; k < n && count == 1; k++) (*found)[k] = losscone_scatter(&call->options, &results[k]);
    for (size_t k = 0; k < n && call->sweeps.counts && status == PARITAS_OK; k += LOSSCONE_MODELS_AT_ONCE) {
        const size_t some = n - k < LOSSCONE_MODELS_AT_ONCE ? n - k : LOSSCONE_MODELS_AT_ONCE;
        status = losscone_noise(context, call, results, k, some, count > 1 ? *found + k * count : NULL,
                                count == 1 ? *found + k : NULL);
    }
    return status;
}

/* f32 rounds bounds: a result may lie this far outside. */
static paritas_status check_result(paritas_context *context, size_t k, const char *name, double value,
                                   double lower, double upper)
{
    const double hair = 1e-6;
    if (value >= lower - hair * (1.0 + (lower < 0.0 ? -lower : lower)) &&
        value <= upper + hair * (1.0 + (upper < 0.0 ? -upper : upper)))
        return PARITAS_OK;
    return paritas_refuse(context, "results[%zu]: the %s %g lies outside the bounds %g to %g", k, name, value,
                          lower, upper);
}

static paritas_status open_results(paritas_context *context, const paritas_sweeps *given_sweeps,
                                   const paritas_losscone_options *given_options,
                                   const paritas_losscone_result *results, struct losscone_call *call)
{
    const paritas_losscone_options *options = &call->options;
    TRY(losscone_open(context, given_sweeps, given_options, true, call));
    TRY(SIZED_CHECK(context, paritas_losscone_result, "results", call->sweeps.n, results));
    TRY(losscone_counted_check(context, call));
    for (size_t k = 0; k < call->sweeps.n; k++) {
        if (!losscone_has_fit(&results[k])) continue;
        const paritas_losscone_result *r = &results[k];
        if (!(r->misfit >= 0.0 && r->misfit < NOTHING_FOUND))
            return paritas_refuse(context, "results[%zu]: a fit with the misfit %g", k, r->misfit);
        const bool beam = options->beam_width > 0.0 && options->response == PARITAS_LOSSCONE_RESPONSE_HARD;
        const double u0 = options->potential_lower, u1 = options->potential_upper, r0 = options->ratio_lower,
                     r1 = options->ratio_upper;
        const struct {
            const char *name;
            double value, lower, upper;
        } numbers[] = {{"potential", r->potential, u0, u1},
                       {"potential_centre", r->potential_centre, u0, u1},
                       {"potential_lower", r->potential_lower, u0, u1},
                       {"potential_upper", r->potential_upper, r->potential_lower, u1},
                       {"ratio", r->ratio, r0, r1},
                       {"ratio_centre", r->ratio_centre, r0, r1},
                       {"amplitude", r->amplitude, beam ? options->amplitude_lower : 0.0,
                        beam ? options->amplitude_upper : 0.0}};
        for (size_t i = 0; i < COUNT_OF(numbers); i++)
            TRY(check_result(context, k, numbers[i].name, numbers[i].value, numbers[i].lower,
                             numbers[i].upper));
    }
    return PARITAS_OK;
}

/* Sets of counts. Their ends are found one by one: there is no grid. */
static paritas_status sets_of_counts(paritas_context *context, const struct losscone_call *call,
                                     const paritas_losscone_result *results, const double *thresholds,
                                     paritas_confidence *sets)
{
    const size_t n = call->sweeps.n;
    struct sets s = {.call = call, .results = results, .thresholds = thresholds, .sets = sets};
    double *limits = paritas_allocate(context, n, sizeof *limits),
           (*ends)[2] = paritas_allocate(context, n, sizeof *ends);
    paritas_status status = limits && ends ? PARITAS_OK : paritas_fail_memory(context);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++)
        limits[k] = results[k].misfit + threshold_of(&s, k);
    if (status == PARITAS_OK) status = losscone_counted_sets(context, call, results, limits, ends);
    for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
        const double answer[CONFIDENCE_OUT] = {1.0, ends[k][0], ends[k][1]};
        take_set(&s, k, answer);
    }
    paritas_release(&context->allocator, limits);
    paritas_release(&context->allocator, ends);
    return status;
}

/* Step in units of 1 / scale, and scale: the least power of ten that makes bound and step whole; else 1. */
static void find_units(double lower, double step, double units[2])
{
    units[0] = step;
    units[1] = 1.0;
    for (double scale = 1.0; scale <= 1e6; scale *= 10.0) {
        const double whole_lower = rint(lower * scale), whole_step = rint(step * scale);
        if (whole_lower / scale != lower || whole_step / scale != step) continue;
        units[0] = whole_step;
        units[1] = scale;
        return;
    }
}

paritas_status paritas_losscone_confidence(paritas_context *context, const paritas_sweeps *given_sweeps,
                                           const paritas_losscone_options *given_options,
                                           const paritas_losscone_result *results, const double *thresholds,
                                           double step, paritas_confidence *sets)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    const paritas_losscone_options *options = &call.options;
    TRY(open_results(context, given_sweeps, given_options, results, &call));
    TRY(SIZED_CHECK(context, paritas_confidence, "sets", call.sweeps.n, sets));
    if (call.sweeps.n == 0) return PARITAS_OK;
    if (!(step >= 0.0)) return paritas_refuse(context, "step %g V: must not be negative", step);
    if (losscone_is_counted(&call)) return sets_of_counts(context, &call, results, thresholds, sets);
    const double side = options->potential_upper - options->potential_lower;
    if (!(step > 0.0)) {
        step = options->response == PARITAS_LOSSCONE_RESPONSE_FOLDED ? STEP_FOLDED : STEP_HARD;
        if (side / step > GRID_MOST) step = side / GRID_MOST;
    }
    if (!(side / step <= GRID_MOST))
        return paritas_refuse(context, "step %g V: more than %d of them lie between the bounds", step,
                              GRID_MOST);
    uint32_t count = (uint32_t)(side / step);
    if (options->potential_lower + count * step < options->potential_upper) count++;
    double units[2], *size = NULL;
    find_units(options->potential_lower, step, units);
    if (!thresholds) TRY(find_noise(context, &call, results, 1, &size));
    struct sets s = {&call, results, thresholds, size, step, sets};
    const paritas_status status = losscone_run(context, &call,
                                               (struct batch){.entry = ENTRY_losscone_confidence,
                                                              .n_in = call.grid->confidence_in,
                                                              .n_out = CONFIDENCE_OUT,
                                                              .n_shared = 2,
                                                              .shared = units,
                                                              .slab = call.grid->confidence_slab + count + 1,
                                                              .args = {[LOSSCONE_ARG_COUNT] = count + 1},
                                                              .fill = fill_set,
                                                              .take = take_set,
                                                              .user = &s});
    paritas_release(&context->allocator, size);
    return status;
}

struct bootstrap {
    const struct losscone_call *call;
    const paritas_losscone_result *results;
    unsigned draws, rank; /* rank of the threshold's draw, from 0 */
    const double *noise;  /* n x rows x cells; NULL: the residuals' size */
    double *sorted, *thresholds;
};

static void fill_bootstrap(const void *user, size_t sweep, double *row)
{
    const struct bootstrap *b = user;
    const paritas_losscone_result *r = &b->results[sweep];
    const struct losscone_grid *grid = b->call->grid;
    const size_t rows = b->call->sweeps.rows, cells = b->call->sweeps.cells;
    double *tail = row + grid->sweep;
    losscone_sweep_row(b->call, sweep, row);
    memset(tail, 0, BOOTSTRAP_NOISE * sizeof *tail);
    if (!losscone_has_fit(r)) return;
    /* the minimum may be in a corner of the plateau, without room for r */
    tail[BOOTSTRAP_U] = r->potential_centre;
    tail[BOOTSTRAP_R] = r->ratio_centre;
    tail[BOOTSTRAP_FITTED] = 1.0;
    const double size = host_sqrt(losscone_scatter(&b->call->options, r));
    for (size_t i = 0; i < rows; i++) {
        const double *given = b->noise ? b->noise + (sweep * rows + i) * cells : NULL;
        double *noise = tail + BOOTSTRAP_NOISE + i * grid->cells;
        for (size_t j = 0; j < cells; j++) noise[j] = given ? given[j] : size;
        for (size_t j = cells; j % 8 != 0; j++) noise[j] = 0.0;
    }
}

static void take_bootstrap(const void *user, size_t sweep, const double *answer)
{
    const struct bootstrap *b = user;
    b->thresholds[sweep] = NAN;
    if (!losscone_has_fit(&b->results[sweep])) return; /* nothing was drawn */
    memcpy(b->sorted, answer, b->draws * sizeof *b->sorted);
    qsort(b->sorted, b->draws, sizeof *b->sorted, ascending);
    b->thresholds[sweep] = (has_channels(b->call) ? LARGER_CHANNEL : LARGER) * b->sorted[b->rank];
}

paritas_status paritas_losscone_bootstrap(paritas_context *context, const paritas_sweeps *given_sweeps,
                                          const paritas_losscone_options *given_options,
                                          const paritas_losscone_result *results, unsigned draws,
                                          double level, double *thresholds)
{
    REQUIRE_AS(context, "sweeps", given_sweeps);
    struct losscone_call call;
    TRY(open_results(context, given_sweeps, given_options, results, &call));
    if (call.sweeps.n == 0) return PARITAS_OK;
    if (!thresholds) return paritas_refuse(context, "thresholds: no place given for them");
    if (losscone_is_counted(&call))
        return paritas_refuse(context, "the bootstrap knows no counts: choose the method halekas");
    if (draws < 1 || draws > DRAWS_MOST)
        return paritas_refuse(context, "draws %u: must be 1 to %d", draws, DRAWS_MOST);
    if (!(level > 0.0 && level < 1.0))
        return paritas_refuse(context, "level %g does not lie between 0 and 1", level);
    /* the k-th of n draws covers k / (n + 1) on average */
    const double place = level * (draws + 1.0);
    unsigned rank = place < draws ? (unsigned)place : draws - 1;
    if (rank > 0 && rank == place) rank--;
    double *sorted = paritas_allocate(context, draws, sizeof *sorted), *noise = NULL;
    paritas_status status = sorted ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK && call.sweeps.counts)
        status = find_noise(context, &call, results, losscone_cells(&call.sweeps), &noise);
    struct bootstrap b = {&call, results, draws, rank, noise, sorted, thresholds};
    if (status == PARITAS_OK)
        status = losscone_run(context, &call,
                              (struct batch){.entry = ENTRY_losscone_bootstrap,
                                             .n_in = call.grid->bootstrap_in,
                                             .n_out = draws,
                                             .slab = call.grid->bootstrap_slab,
                                             .args = {[LOSSCONE_ARG_COUNT] = draws},
                                             .fill = fill_bootstrap,
                                             .take = take_bootstrap,
                                             .user = &b});
    paritas_release(&context->allocator, sorted);
    paritas_release(&context->allocator, noise);
    return status;
}
