/* kappa_spacecraft.c: spacecraft potentials from spectra. */
#include "base/sized.h"
#include "kappa/kappa.h"

#include <string.h>

#define ROWS PARITAS_SWEEP_ROWS
#define MOST_SLOPE 0.98 /* d(potential) / d(shift); above it no error is given */
#define CLOSE 1e-3      /* V: a potential this near the shift is final */
/* V: shifts this near, one too small and one too large: the potential jumps */
#define NARROW 1e-5
#define NEAR 3.0     /* V */
#define FURTHEST 1e9 /* V: no shift is too large yet */

struct automatic_run {
    size_t n;
    size_t *which; /* their numbers among all */
    double *shift;
    double *energy, *flux, *sensitivity, *counts; /* n x 15; the last two if given */
    unsigned char *sunlit;
    paritas_kappa_result *fits;
    paritas_potential *results;
    paritas_kappa_plasma *plasma;
    double *covariance;
};

static void run_free(paritas_context *context, struct automatic_run *run)
{
    void *const owned[] = {run->which,  run->shift, run->energy,  run->flux,   run->sensitivity, run->counts,
                           run->sunlit, run->fits,  run->results, run->plasma, run->covariance};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        paritas_release(&context->allocator, owned[i]);
}

static paritas_status run_allocate(paritas_context *context, const paritas_spectra *spectra, size_t n,
                                   int shifted, struct automatic_run *run)
{
    *run = (struct automatic_run){.n = n};
    run->plasma = paritas_allocate(context, n, sizeof *run->plasma);
    run->covariance = paritas_allocate(context, n, 9 * sizeof *run->covariance);
    int there = run->plasma && run->covariance;
    if (shifted) {
        run->which = paritas_allocate(context, n, sizeof *run->which);
        run->shift = paritas_allocate(context, n, sizeof *run->shift);
        run->energy = paritas_allocate(context, n, ROWS * sizeof(double));
        run->flux = paritas_allocate(context, n, ROWS * sizeof(double));
        if (spectra->sensitivity) run->sensitivity = paritas_allocate(context, n, ROWS * sizeof(double));
        if (spectra->counts) run->counts = paritas_allocate(context, n, ROWS * sizeof(double));
        run->sunlit = paritas_allocate(context, n, sizeof *run->sunlit);
        run->fits = paritas_allocate_clear(context, n, sizeof *run->fits);
        run->results = paritas_allocate_clear(context, n, sizeof *run->results);
        there = there && run->which && run->shift && run->energy && run->flux && run->sunlit && run->fits &&
                run->results;
        there = there && (run->sensitivity || !spectra->sensitivity) && (run->counts || !spectra->counts);
    }
    if (there && shifted && n > 0) { /* records have the size of the first */
        run->fits->size = sizeof *run->fits;
        run->results->size = sizeof *run->results;
    }
    if (there) return PARITAS_OK;
    run_free(context, run);
    return paritas_fail_memory(context);
}

static paritas_status fit_and_solve(paritas_context *context, struct automatic_run *run,
                                    const paritas_spectra *spectra, const unsigned char *sunlit,
                                    const paritas_kappa_options *kappa,
                                    const paritas_potential_options *options, paritas_kappa_result *fits,
                                    paritas_potential *results)
{
    const paritas_status status = paritas_kappa_fit(context, spectra, kappa, fits);
    if (status != PARITAS_OK) return status;
    for (size_t k = 0; k < spectra->n; k++) {
        const int fitted = fits[k].status == PARITAS_SPECTRUM_FITTED;
        run->plasma[k] = (paritas_kappa_plasma){0.0, 0.0, 0.0};
        if (fitted) run->plasma[k] = (paritas_kappa_plasma){fits[k].density, fits[k].kappa, fits[k].theta};
        memcpy(run->covariance + 9 * k, fits[k].covariance, sizeof fits[k].covariance);
    }
    return paritas_spacecraft_potential(context, spectra->n, run->plasma, run->covariance, sunlit, options,
                                        results);
}

/* Spectrum `from` in the plasma, outside the spacecraft's potential. */
static void shift(const paritas_spectra *spectra, size_t from, double potential, int liouville,
                  struct automatic_run *run, size_t to)
{
    for (size_t i = 0; i < ROWS; i++) {
        const size_t at = to * ROWS + i, of = from * ROWS + i;
        const double energy = spectra->energy[of] - potential;
        const double part = liouville && energy > 0.0 ? energy / spectra->energy[of] : 1.0;
        run->energy[at] = energy > 0.0 ? energy : __builtin_nan("");
        run->flux[at] = spectra->flux[of] * part;
        if (spectra->sensitivity) run->sensitivity[at] = spectra->sensitivity[of] / part;
        if (spectra->counts) run->counts[at] = spectra->counts[of];
    }
}

/* Root of g(shift) = potential - shift, which falls through 0. */
struct search {
    /* the largest shift with g > 0 below all with g < 0; the least with g < 0 or no plasma */
    double below, above;
    /* the previous shift with a potential, and its g */
    double shift, off;
    int stalls; /* g was not halved */
};

static int is_open(const struct search *search, const paritas_potential *result)
{
    if (!result->sunlit || search->above - search->below < NARROW) return 0;
    if (result->status == PARITAS_POTENTIAL_ABOVE_RANGE) return search->above < FURTHEST;
    if (result->status != PARITAS_POTENTIAL_FOUND) return result->shift > 0.0;
    const double off = result->potential - result->shift;
    return !(off <= CLOSE && off >= -CLOSE);
}

static void learn(struct search *search, const paritas_potential *result)
{
    const int found = result->status == PARITAS_POTENTIAL_FOUND,
              more =
                  found ? result->potential > result->shift : result->status == PARITAS_POTENTIAL_ABOVE_RANGE;
    if (more && result->shift > search->below && result->shift < search->above) search->below = result->shift;
    if (!more && result->shift < search->above) search->above = result->shift;
}

/* A change of 1 moves the shift, which moves the potential: the total effect. */
static double feedback(const struct search *search, const paritas_potential *result)
{
    const double slope =
        1.0 + (result->potential - result->shift - search->off) / (result->shift - search->shift);
    return slope > -1.0 && slope < MOST_SLOPE ? 1.0 / (1.0 - slope) : __builtin_nan("");
}

/* Secant. If it stalls or leaves the bracket: the middle, or the potential while no shift is too large. */
static double next_shift(const struct search *search, const paritas_potential *result)
{
    const int bounded = search->above < FURTHEST;
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
    const double none = __builtin_nan("");
    *result = (paritas_potential){.size = sizeof *result,
                                  .status = status,
                                  .sunlit = result->sunlit,
                                  .potential = none,
                                  .error = none,
                                  .shift = result->shift,
                                  .second = none,
                                  .temperature = none,
                                  .electrons = none,
                                  .emitted = none,
                                  .ions = none};
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

/* At theta's bound the currents are not the plasma's. */
static void refuse_bound(const paritas_kappa_result *fit, paritas_potential *result)
{
    if (result->status != PARITAS_POTENTIAL_FOUND || (fit->theta_state != PARITAS_PARAMETER_AT_LOWER_BOUND &&
                                                      fit->theta_state != PARITAS_PARAMETER_AT_UPPER_BOUND))
        return;
    refuse(PARITAS_POTENTIAL_AT_BOUND, result);
}

paritas_status paritas_spacecraft_potential_of_spectra(paritas_context *context,
                                                       const paritas_spectra *given_spectra,
                                                       const unsigned char *sunlit,
                                                       const paritas_kappa_options *kappa,
                                                       const paritas_potential_options *given_options,
                                                       paritas_kappa_result *fits, paritas_potential *results)
{
    REQUIRE_AS(context, "spectra", given_spectra);
    paritas_spectra spectra = PARITAS_SPECTRA_DEFAULT;
    paritas_potential_options options;
    paritas_status status = potential_options_read(context, given_options, &options);
    if (status == PARITAS_OK)
        status = SIZED_TAKE(context, paritas_spectra, "spectra", given_spectra, &spectra);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_kappa_result, "fits", spectra.n, fits);
    if (status == PARITAS_OK) status = SIZED_CHECK(context, paritas_potential, "results", spectra.n, results);
    if (status != PARITAS_OK) return status;
    /* checks the other arguments */
    if (spectra.n == 0) return paritas_kappa_fit(context, given_spectra, kappa, fits);
    if (!sunlit) return paritas_refuse(context, "sunlit: none given");
    struct search *searches = NULL;
    struct automatic_run run;
    status = run_allocate(context, &spectra, spectra.n, 0, &run);
    if (status != PARITAS_OK) return status;
    status = fit_and_solve(context, &run, &spectra, sunlit, kappa, &options, fits, results);
    run_free(context, &run);
    if (status == PARITAS_OK && options.refits > 0) {
        searches = paritas_allocate(context, spectra.n, sizeof *searches);
        if (!searches) status = paritas_fail_memory(context);
    }
    for (size_t k = 0; searches && k < spectra.n; k++)
        searches[k] = (struct search){0.0, FURTHEST, 0.0, results[k].potential, 0};
    for (unsigned r = 0; r < options.refits && status == PARITAS_OK; r++) {
        size_t n = 0;
        for (size_t k = 0; k < spectra.n; k++) n += is_open(&searches[k], &results[k]);
        if (n == 0) break;
        status = run_allocate(context, &spectra, n, 1, &run);
        if (status != PARITAS_OK) break;
        n = 0;
        for (size_t k = 0; k < spectra.n; k++) {
            struct search *search = &searches[k];
            const paritas_potential *last = &results[k];
            if (!is_open(search, last)) continue;
            const double next = r == 0 ? last->potential : next_shift(search, last),
                         off = last->potential - last->shift;
            if (last->status == PARITAS_POTENTIAL_FOUND) {
                search->shift = last->shift;
                search->off = off;
            }
            shift(&spectra, k, next, options.liouville, &run, n);
            run.shift[n] = next;
            run.sunlit[n] = 1;
            run.which[n++] = k;
        }
        const paritas_spectra shifted = {.size = sizeof shifted,
                                         .n = n,
                                         .energy = run.energy,
                                         .flux = run.flux,
                                         .sensitivity = run.sensitivity,
                                         .counts = run.counts};
        status = fit_and_solve(context, &run, &shifted, run.sunlit, kappa, &options, run.fits, run.results);
        for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
            struct search *search = &searches[run.which[k]];
            paritas_potential *result = &results[run.which[k]];
            fits[run.which[k]] = run.fits[k];
            *result = run.results[k];
            result->shift = run.shift[k];
            result->error *= feedback(search, result);
            learn(search, result);
            const double ratio = (result->potential - result->shift) / search->off;
            search->stalls = !(ratio <= 0.5 && ratio >= -0.5);
        }
        run_free(context, &run);
    }
    for (size_t k = 0; options.refits > 1 && k < spectra.n && status == PARITAS_OK; k++)
        refuse_unsettled(&searches[k], &results[k]);
    for (size_t k = 0; k < spectra.n && status == PARITAS_OK; k++) refuse_bound(&fits[k], &results[k]);
    paritas_release(&context->allocator, searches);
    return status;
}
