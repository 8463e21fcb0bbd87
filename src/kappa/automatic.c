/* automatic.c: spacecraft potentials from spectra: see paritas_spacecraft_potential_of_spectra. */
#include "base/context.h"
#include "paritas_kappa.h"

#include <string.h>

#define ROWS PARITAS_SPECTRUM_ENERGIES
#define MOST_SLOPE 0.98 /* of the potential by the shift, beyond which no error is told */
#define CLOSE 1e-3 /* V: a potential this near the shift is not worth another fit */

/* The spectra at hand, all or those that are fitted again, and what becomes of them. */
struct automatic_run {
    size_t n;
    size_t *which; /* their numbers among all; owned, as the others */
    double *shift;
    double *energy, *flux, *sensitivity, *counts; /* n x 15; the last two where they were given */
    unsigned char *sunlit;
    paritas_kappa_result *fits;
    paritas_potential *results;
    paritas_kappa_plasma *plasma;
    double *covariance;
};

static void run_free(paritas_context *context, struct automatic_run *run)
{
    void *const owned[] = {run->which, run->shift, run->energy, run->flux, run->sensitivity, run->counts, run->sunlit, run->fits, run->results, run->plasma, run->covariance};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) paritas_release(&context->allocator, owned[i]);
}

static paritas_status run_allocate(paritas_context *context, const paritas_spectra *spectra, size_t n, int shifted, struct automatic_run *run)
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
        there = there && run->which && run->shift && run->energy && run->flux && run->sunlit && run->fits && run->results;
        there = there && (run->sensitivity || !spectra->sensitivity) && (run->counts || !spectra->counts);
    }
    if (there) return PARITAS_OK;
    run_free(context, run);
    return paritas_fail_memory(context);
}

/* Fits, then potentials. */
static paritas_status fit_and_solve(paritas_context *context, struct automatic_run *run, const paritas_spectra *spectra, const unsigned char *sunlit, const paritas_kappa_options *kappa,
                                    const paritas_potential_options *options, paritas_kappa_result *fits, paritas_potential *results)
{
    const paritas_status status = paritas_kappa_fit(context, spectra, kappa, fits);
    if (status != PARITAS_OK) return status;
    for (size_t k = 0; k < spectra->n; k++) {
        const int fitted = fits[k].status == PARITAS_SPECTRUM_FITTED;
        run->plasma[k] = fitted ? fits[k].plasma : (paritas_kappa_plasma){0.0, 0.0, 0.0};
        memcpy(run->covariance + 9 * k, fits[k].covariance, sizeof fits[k].covariance);
    }
    return paritas_spacecraft_potential(context, spectra->n, run->plasma, run->covariance, sunlit, options, results);
}

/* Spectrum `from` as it is in the plasma, which the spacecraft's potential lets fall by so much. */
static void shift(const paritas_spectra *spectra, size_t from, double potential, int liouville, struct automatic_run *run, size_t to)
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

/* Is it worth another fit? */
static int is_open(const paritas_potential *result)
{
    if (!result->sunlit || result->status != PARITAS_POTENTIAL_FOUND) return 0;
    const double off = result->potential - result->shift;
    return !(off <= CLOSE && off >= -CLOSE);
}

/* What moves the potential moves the shift, which moves the potential: by how much in the end for one. */
static double feedback(const double *before, const paritas_potential *result)
{
    const double slope = (result->potential - before[1]) / (result->shift - before[0]);
    return slope > -1.0 && slope < MOST_SLOPE ? 1.0 / (1.0 - slope) : __builtin_nan("");
}

/* Where potential and shift agree by the secant through the last two; where that leads nowhere, the potential. */
static double next_shift(const double *before, const paritas_potential *result)
{
    const double off = result->potential - result->shift, change = off - (before[1] - before[0]);
    const double next = result->shift - off * (result->shift - before[0]) / change;
    return next > 0.0 && next < 2.0 * result->potential ? next : result->potential;
}

/* What currents of a thermal speed that stands at its bound balance is the bound's, not the plasma's. */
static void refuse_bound(const paritas_kappa_result *fit, paritas_potential *result)
{
    if (result->status != PARITAS_POTENTIAL_FOUND || (fit->theta_state != PARITAS_AT_LOWER_BOUND && fit->theta_state != PARITAS_AT_UPPER_BOUND)) return;
    const double none = __builtin_nan("");
    *result = (paritas_potential){PARITAS_POTENTIAL_AT_BOUND, result->sunlit, none, none, none, result->shift, none, none, none, none};
}

paritas_status paritas_spacecraft_potential_of_spectra(paritas_context *context, const paritas_spectra *spectra, const unsigned char *sunlit, const paritas_kappa_options *kappa,
                                                       const paritas_potential_options *given, paritas_kappa_result *fits, paritas_potential *results)
{
    paritas_potential_options options = PARITAS_POTENTIAL_OPTIONS_DEFAULT;
    if (given) memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (!spectra) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "spectra: none given");
    if (spectra->n == 0) return PARITAS_OK;
    if (!sunlit || !fits || !results) return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s: none given", !sunlit ? "sunlit" : !fits ? "fits" : "results");
    double *before = NULL; /* of each, the shift before and what was found with it */
    struct automatic_run run;
    paritas_status status = run_allocate(context, spectra, spectra->n, 0, &run);
    if (status != PARITAS_OK) return status;
    status = fit_and_solve(context, &run, spectra, sunlit, kappa, &options, fits, results);
    run_free(context, &run);
    if (status == PARITAS_OK && options.refits > 0) {
        before = paritas_allocate_clear(context, spectra->n, 2 * sizeof *before);
        if (!before) status = paritas_fail_memory(context);
    }
    for (unsigned r = 0; r < options.refits && status == PARITAS_OK; r++) {
        size_t n = 0;
        for (size_t k = 0; k < spectra->n; k++) n += is_open(&results[k]);
        if (n == 0) break;
        status = run_allocate(context, spectra, n, 1, &run);
        if (status != PARITAS_OK) break;
        n = 0;
        for (size_t k = 0; k < spectra->n; k++) {
            if (!is_open(&results[k])) continue;
            const double next = r == 0 ? results[k].potential : next_shift(before + 2 * k, &results[k]);
            before[2 * k] = results[k].shift;
            before[2 * k + 1] = results[k].potential;
            shift(spectra, k, next, options.liouville, &run, n);
            run.shift[n] = next;
            run.sunlit[n] = 1;
            run.which[n++] = k;
        }
        const paritas_spectra shifted = {n, run.energy, run.flux, run.sensitivity, run.counts};
        status = fit_and_solve(context, &run, &shifted, run.sunlit, kappa, &options, run.fits, run.results);
        for (size_t k = 0; k < n && status == PARITAS_OK; k++) {
            paritas_potential *result = &results[run.which[k]];
            fits[run.which[k]] = run.fits[k];
            *result = run.results[k];
            result->shift = run.shift[k];
            result->error *= feedback(before + 2 * run.which[k], result);
        }
        run_free(context, &run);
    }
    for (size_t k = 0; k < spectra->n && status == PARITAS_OK; k++) refuse_bound(&fits[k], &results[k]);
    paritas_release(&context->allocator, before);
    return status;
}
