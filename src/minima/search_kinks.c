/* search_kinks.c: a parameter whose slope falls at its kink at 0 is also tried on the other side. */
#include "minima/search_kinks.h"
#include "fit/family.h"
#include "fit/fit_evaluate.h"

#include <math.h>
#include <string.h>

#define PEAKS_MOST 16
#define PEAK_LEAST 1e-3 /* jump of the slope of twice the NLL */
#define PEAK_STEP 1e-9
#define PEAK_ROUNDS 8

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

paritas_status search_kinks(struct search *search)
{
    if (!paritas_model_frozen(search->infer->model)->kinked) return PARITAS_OK;
    struct infer *infer = search->infer;
    struct attempt *attempts = infer_array(infer, (PEAKS_MOST + search->n) * search->n, sizeof *attempts);
    const double **before = infer_array(infer, search->n, sizeof *before);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < search->n; i++) before[i] = search->targets[i].parameters;
    search->lowered = true;
    for (int round = 0; round < PEAK_ROUNDS && search->lowered; round++) {
        size_t n = 0;
        for (size_t i = 0; i < search->n; i++) {
            struct target *s = &search->targets[i];
            if (s->status == PARITAS_FIT_CONVERGED) TRY(cross_peaks(search, s, attempts, &n));
            for (size_t j = 0; j < search->n && s->parameters != before[i]; j++)
                if (j != i) attempts[n++] = (struct attempt){&search->targets[j], s->parameters};
            before[i] = s->parameters;
        }
        search->lowered = false;
        TRY(search_run_attempts(search, n, attempts));
    }
    return PARITAS_OK;
}
