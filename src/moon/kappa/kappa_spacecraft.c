/* kappa_spacecraft.c: spacecraft potentials from spectra. */
#include "base/math/host_math.h"
#include "base/sized.h"
#include "moon/kappa/kappa.h"

#include <math.h>
#include <string.h>

#define MOST_SLOPE 0.98 /* d(potential) / d(shift); above it no error is given */
#define CLOSE 1e-3      /* V: a potential this near the shift is final */
/* V: shifts this near, one too small and one too large: the potential jumps */
#define NARROW 1e-5
#define NEAR 3.0 /* V */
/* V: beside a potential with a larger error other shifts are tried, so far apart. The lowest root was found:
 * others lie above. */
#define DOUBTED 1.4
#define TRY_STEP 4.0
#define TRIES_BELOW 2
#define TRIES_ABOVE 10
#define FURTHEST 1e9 /* V: no shift is too large yet */

/* Arguments, and what every round of refits changes. */
struct task {
    paritas_context *context;
    paritas_spectra spectra;
    const paritas_kappa_options *kappa;
    paritas_potential_options options;
    paritas_kappa_result *fits;
    paritas_potential *results;
    struct search *searches; /* of each spectrum */
};

/* Spectra in the plasma, outside the spacecraft's potential. Memory: an arena's. */
struct shifted {
    size_t *which; /* their numbers among all */
    double *shift;
    double *energy, *flux, *sensitivity, *counts, *channel, *background; /* n x rows */
    unsigned char *sunlit;
    paritas_kappa_result *fits;
    paritas_potential *results;
};

static paritas_status shifted_allocate(paritas_context *context, struct arena *arena, size_t n, size_t rows,
                                       struct shifted *shifted)
{
    double *numbers = arena_array(arena, n, (1 + 6 * rows) * sizeof *numbers);
    shifted->which = arena_array(arena, n, sizeof *shifted->which);
    shifted->sunlit = arena_array(arena, n, sizeof *shifted->sunlit);
    shifted->fits = arena_array(arena, n, sizeof *shifted->fits);
    shifted->results = arena_array(arena, n, sizeof *shifted->results);
    if (!numbers || !shifted->which || !shifted->sunlit || !shifted->fits || !shifted->results)
        return paritas_fail_memory(context);
    shifted->shift = numbers;
    shifted->energy = shifted->shift + n;
    shifted->flux = shifted->energy + n * rows;
    shifted->sensitivity = shifted->flux + n * rows;
    shifted->counts = shifted->sensitivity + n * rows;
    shifted->channel = shifted->counts + n * rows;
    shifted->background = shifted->channel + n * rows;
    memset(shifted->sunlit, 1, n);
    /* records have the size of the first */
    shifted->fits->size = sizeof *shifted->fits;
    shifted->results->size = sizeof *shifted->results;
    return PARITAS_OK;
}

static paritas_status fit_and_solve(const struct task *task, struct arena *arena,
                                    const paritas_spectra *spectra, const unsigned char *sunlit,
                                    paritas_kappa_result *fits, paritas_potential *results)
{
    paritas_kappa_plasma *plasma = arena_array(arena, spectra->n, sizeof *plasma);
    double *covariance = arena_array(arena, spectra->n, sizeof fits->covariance);
    if (!plasma || !covariance) return paritas_fail_memory(task->context);
    TRY(paritas_kappa_fit(task->context, spectra, task->kappa, fits));
    for (size_t k = 0; k < spectra->n; k++) {
        if (fits[k].status == PARITAS_SPECTRUM_FITTED)
            plasma[k] = (paritas_kappa_plasma){fits[k].density, fits[k].kappa, fits[k].theta};
        memcpy(covariance + 9 * k, fits[k].covariance, sizeof fits[k].covariance);
    }
    return paritas_spacecraft_potential(task->context, spectra->n, plasma, covariance, sunlit, &task->options,
                                        results);
}

static void shift(const struct task *task, size_t from, double potential, struct shifted *shifted, size_t to)
{
    const paritas_spectra *spectra = &task->spectra;
    shifted->which[to] = from;
    shifted->shift[to] = potential;
    const size_t rows = spectra->rows;
    for (size_t i = 0; i < rows; i++) {
        const size_t at = to * rows + i, of = from * rows + i;
        const double energy = spectra->energy[of] - potential;
        const double part = task->options.liouville && energy > 0.0 ? energy / spectra->energy[of] : 1.0;
        shifted->energy[at] = energy > 0.0 ? energy : NAN;
        shifted->channel[at] = (spectra->channel ? spectra->channel : spectra->energy)[of];
        shifted->flux[at] = spectra->flux[of] * part;
        if (spectra->sensitivity) shifted->sensitivity[at] = spectra->sensitivity[of] / part;
        if (spectra->counts) shifted->counts[at] = spectra->counts[of];
        if (spectra->background) shifted->background[at] = spectra->background[of] * part;
    }
}

/* Root of g(shift) = potential - shift, which falls through 0. */
struct search {
    /* the largest shift with g > 0 below all with g < 0; the least with g < 0 or no plasma */
    double below, above;
    /* the previous shift with a potential, and its g */
    double shift, off;
    bool stalls; /* g was not halved */
};

static bool is_open(const struct search *search, const paritas_potential *result)
{
    if (!result->sunlit || search->above - search->below < NARROW) return false;
    if (result->status == PARITAS_POTENTIAL_ABOVE_RANGE) return search->above < FURTHEST;
    if (result->status != PARITAS_POTENTIAL_FOUND) return result->shift > 0.0;
    const double off = result->potential - result->shift;
    return !(off <= CLOSE && off >= -CLOSE);
}

/* A change of 1 moves the shift, which moves the potential: the total effect. */
static double feedback(const struct search *search, const paritas_potential *result)
{
    const double slope =
        1.0 + (result->potential - result->shift - search->off) / (result->shift - search->shift);
    return slope > -1.0 && slope < MOST_SLOPE ? 1.0 / (1.0 - slope) : NAN;
}

/* Updates after a round the error, the bracket, and whether the search stalls. */
static void learn(struct search *search, paritas_potential *result)
{
    const bool found = result->status == PARITAS_POTENTIAL_FOUND,
               more = found ? result->potential > result->shift
                            : result->status == PARITAS_POTENTIAL_ABOVE_RANGE;
    const double ratio = (result->potential - result->shift) / search->off;
    result->error *= feedback(search, result);
    if (more && result->shift > search->below && result->shift < search->above) search->below = result->shift;
    if (!more && result->shift < search->above) search->above = result->shift;
    search->stalls = !(ratio <= 0.5 && ratio >= -0.5);
}

/* Secant. If it stalls or leaves the bracket: the middle, or the potential while no shift is too large. */
static double next_shift(const struct search *search, const paritas_potential *result)
{
    const bool bounded = search->above < FURTHEST;
    const double middle = 0.5 * (search->below + search->above);
    if (result->status != PARITAS_POTENTIAL_FOUND || (bounded && search->stalls)) return middle;
    const double off = result->potential - result->shift;
    const double next = result->shift - off * (result->shift - search->shift) / (off - search->off);
    if (bounded) return next > search->below && next < search->above ? next : middle;
    /* a root that g only touches may lie back */
    const double least = off < NEAR ? 0.0 : search->below;
    return next > least && next < 2.0 * result->potential ? next : result->potential;
}

static void refuse(paritas_potential_status status, paritas_potential *result)
{
    *result = potential_unknown(status, result->sunlit, result->shift);
}

/* A potential unequal to its shift means nothing, nor does a failure after a shift too far. */
static void refuse_unsettled(const struct search *search, paritas_potential *result)
{
    if (!result->sunlit || (result->status == PARITAS_POTENTIAL_ABOVE_RANGE && search->above >= FURTHEST))
        return;
    const double off = result->potential - result->shift;
    if (result->status == PARITAS_POTENTIAL_FOUND ? off <= CLOSE && off >= -CLOSE : result->shift == 0.0)
        return;
    refuse(PARITAS_POTENTIAL_NOT_SETTLED, result);
}

static bool is_at_bound(const paritas_kappa_result *fit)
{
    return fit->theta_state == PARITAS_PARAMETER_AT_LOWER_BOUND ||
           fit->theta_state == PARITAS_PARAMETER_AT_UPPER_BOUND;
}

/* At theta's bound the currents are not the plasma's. */
static void refuse_bound(const paritas_kappa_result *fit, paritas_potential *result)
{
    if ((result->status == PARITAS_POTENTIAL_FOUND || result->status == PARITAS_POTENTIAL_BELOW_ZERO) &&
        is_at_bound(fit))
        refuse(PARITAS_POTENTIAL_AT_BOUND, result);
}

static paritas_status fit_shifted(const struct task *task, struct arena *arena, size_t n,
                                  const struct shifted *shifted)
{
    const paritas_spectra *all = &task->spectra;
    const paritas_spectra spectra = {.size = sizeof spectra,
                                     .n = n,
                                     .energy = shifted->energy,
                                     .flux = shifted->flux,
                                     .sensitivity = all->sensitivity ? shifted->sensitivity : NULL,
                                     .counts = all->counts ? shifted->counts : NULL,
                                     .channel = task->options.liouville ? shifted->channel : NULL,
                                     .rows = all->rows,
                                     .background = all->background ? shifted->background : NULL};
    return fit_and_solve(task, arena, &spectra, shifted->sunlit, shifted->fits, shifted->results);
}

/* Shifts and fits every open spectrum once more. *open: how many there were. */
static paritas_status refit(const struct task *task, struct arena *arena, bool first, size_t *open)
{
    const paritas_spectra *all = &task->spectra;
    struct shifted shifted = {0};
    size_t n = 0;
    *open = 0;
    for (size_t k = 0; k < all->n; k++) *open += is_open(&task->searches[k], &task->results[k]);
    if (*open == 0) return PARITAS_OK;
    TRY(shifted_allocate(task->context, arena, *open, all->rows, &shifted));
    for (size_t k = 0; k < all->n; k++) {
        struct search *search = &task->searches[k];
        const paritas_potential *last = &task->results[k];
        if (!is_open(search, last)) continue;
        shift(task, k, first ? last->potential : next_shift(search, last), &shifted, n++);
        if (last->status != PARITAS_POTENTIAL_FOUND) continue;
        search->shift = last->shift;
        search->off = last->potential - last->shift;
    }
    TRY(fit_shifted(task, arena, n, &shifted));
    for (size_t k = 0; k < n; k++) {
        const size_t which = shifted.which[k];
        task->fits[which] = shifted.fits[k];
        task->results[which] = shifted.results[k];
        task->results[which].shift = shifted.shift[k];
        learn(&task->searches[which], &task->results[which]);
    }
    return PARITAS_OK;
}

static bool is_doubted(const paritas_potential *result)
{
    return result->sunlit && result->status == PARITAS_POTENTIAL_FOUND && result->error > DOUBTED;
}

/* exp of minus half a sum: (potential - shift)^2 / error^2, and the misfit above `least`. */
static double odds_of(const struct shifted *shifted, size_t which, double least)
{
    const paritas_potential *tried = &shifted->results[which];
    if (tried->status != PARITAS_POTENTIAL_FOUND || !(tried->error > 0.0)) return 0.0;
    if (is_at_bound(&shifted->fits[which])) return 0.0;
    const double pull = (tried->potential - shifted->shift[which]) / tried->error,
                 more = shifted->fits[which].misfit - least;
    return host_exp(-0.5 * (pull * pull + (more > 0.0 ? more : 0.0)));
}

/* In cold and tenuous plasma many shifts lead back to themselves within errors, and all of them fit the
 * spectrum. Each counts by its odds, from both. */
static paritas_status try_other_shifts(const struct task *task, struct arena *arena)
{
    struct shifted shifted = {0};
    size_t n = 0;
    for (size_t k = 0; k < task->spectra.n; k++)
        n += is_doubted(&task->results[k]) ? TRIES_BELOW + TRIES_ABOVE : 0;
    if (n == 0) return PARITAS_OK;
    TRY(shifted_allocate(task->context, arena, n, task->spectra.rows, &shifted));
    n = 0;
    for (size_t k = 0; k < task->spectra.n; k++)
        for (int i = -TRIES_BELOW; i <= TRIES_ABOVE && is_doubted(&task->results[k]); i++) {
            const double to = task->results[k].potential + TRY_STEP * i;
            if (i != 0 && to > 0.0) shift(task, k, to, &shifted, n++);
        }
    TRY(fit_shifted(task, arena, n, &shifted));
    for (size_t i = 0, next; i < n; i = next) {
        const size_t k = shifted.which[i];
        double odds = 1.0, spread = 0.0;
        for (next = i; next < n && shifted.which[next] == k; next++) {
            const double away = shifted.shift[next] - task->results[k].potential,
                         own = odds_of(&shifted, next, task->fits[k].misfit);
            odds += own;
            spread += own * away * away;
        }
        task->results[k].ambiguity = host_sqrt(spread / odds);
    }
    return PARITAS_OK;
}

/* Refits until every potential is that of its shift, or options.refits times. */
static paritas_status settle(struct task *task)
{
    paritas_context *context = task->context;
    const size_t n = task->spectra.n;
    paritas_status status = PARITAS_OK;
    size_t open = n;
    task->searches = paritas_allocate(context, n, sizeof *task->searches);
    if (!task->searches) return paritas_fail_memory(context);
    for (size_t k = 0; k < n; k++)
        task->searches[k] = (struct search){0.0, FURTHEST, 0.0, task->results[k].potential, 0};
    for (unsigned r = 0; r < task->options.refits && open && !status; r++) {
        struct arena arena;
        arena_open(&arena, &context->allocator);
        status = refit(task, &arena, r == 0, &open);
        arena_free(&arena);
    }
    for (size_t k = 0; task->options.refits > 1 && k < n && !status; k++)
        refuse_unsettled(&task->searches[k], &task->results[k]);
    if (task->options.refits > 1 && !status) {
        struct arena arena;
        arena_open(&arena, &context->allocator);
        status = try_other_shifts(task, &arena);
        arena_free(&arena);
    }
    paritas_release(&context->allocator, task->searches);
    return status;
}

paritas_status paritas_spacecraft_potential_of_spectra(paritas_context *context,
                                                       const paritas_spectra *given_spectra,
                                                       const unsigned char *sunlit,
                                                       const paritas_kappa_options *kappa,
                                                       const paritas_potential_options *given_options,
                                                       paritas_kappa_result *fits, paritas_potential *results)
{
    REQUIRE_AS(context, "spectra", given_spectra);
    struct task task = {.context = context,
                        .spectra = PARITAS_SPECTRA_DEFAULT,
                        .kappa = kappa,
                        .fits = fits,
                        .results = results};
    TRY(potential_options_read(context, given_options, &task.options));
    TRY(SIZED_TAKE(context, paritas_spectra, "spectra", given_spectra, &task.spectra));
    if (task.spectra.rows == 0) task.spectra.rows = PARITAS_SWEEP_ROWS;
    const size_t n = task.spectra.n;
    TRY(SIZED_CHECK(context, paritas_kappa_result, "fits", n, fits));
    TRY(SIZED_CHECK(context, paritas_potential, "results", n, results));
    /* checks the other arguments */
    if (n == 0) return paritas_kappa_fit(context, given_spectra, kappa, fits);
    if (!sunlit) return paritas_refuse(context, "sunlit: none given");
    struct arena arena;
    arena_open(&arena, &context->allocator);
    const paritas_status status = fit_and_solve(&task, &arena, &task.spectra, sunlit, fits, results);
    arena_free(&arena);
    TRY(status);
    if (task.options.refits > 0) TRY(settle(&task));
    for (size_t k = 0; k < n; k++) refuse_bound(&fits[k], &results[k]);
    return PARITAS_OK;
}
