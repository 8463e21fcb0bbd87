/* fit_starts.c: random starts and what became of them. */
#include "fit_starts.h"
#include "infer/probability.h"

#include <math.h>
#include <string.h>

#define SAME_MINIMUM 1e-6 /* of twice the NLL */

/* A number in (0, 1) that belongs to (start, parameter): the output function of SplitMix64 on a counter. */
static double uniform(uint64_t start, uint64_t parameter)
{
    uint64_t z = (start << 32 | parameter) * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

/* A constrained parameter is drawn with its width around the start; a free one evenly between its bounds, but
 * no further from the start than three times its size. */
static void draw_start(const struct session *session, uint64_t k, double *start)
{
    const double *lower = paritas_model_lower_bounds(session->model),
                 *upper = paritas_model_upper_bounds(session->model);
    const double *widths = paritas_model_constraint_widths(session->model);
    for (size_t i = 0; i < session->n_parameters; i++) {
        if (session->job.fixed[i]) continue;
        double u = uniform(k, i), reach = 3.0 * (fabs(start[i]) > 1.0 ? fabs(start[i]) : 1.0);
        double low = lower[i] > start[i] - reach ? lower[i] : start[i] - reach,
               high = upper[i] < start[i] + reach ? upper[i] : start[i] + reach;
        start[i] = isnan(widths[i]) ? low + u * (high - low) : start[i] + normal_quantile(u) * widths[i];
        if (start[i] < lower[i]) start[i] = lower[i];
        if (start[i] > upper[i]) start[i] = upper[i];
    }
}

/* Counts the minimum into the list, which is kept ascending. */
static void count_minimum(struct starts *starts, double twice_nll)
{
    size_t at = 0;
    while (at < starts->n_minima && starts->minima[at].twice_nll < twice_nll - SAME_MINIMUM) at++;
    if (at < starts->n_minima && starts->minima[at].twice_nll <= twice_nll + SAME_MINIMUM) {
        starts->minima[at].count++;
        return;
    }
    if (at == STARTS_MINIMA) return;
    if (starts->n_minima < STARTS_MINIMA) starts->n_minima++;
    memmove(&starts->minima[at + 1], &starts->minima[at],
            (starts->n_minima - 1 - at) * sizeof starts->minima[0]);
    starts->minima[at].twice_nll = twice_nll;
    starts->minima[at].count = 1;
}

paritas_status starts_run(struct session *session, const paritas_fit_options *options, size_t n,
                          struct starts *starts)
{
    size_t p = session->n_parameters;
    paritas_job *jobs = arena_array(&session->arena, n, sizeof *jobs);
    paritas_fit_result *results = sized_records(session, n, sizeof *results);
    double *rows = arena_array(&session->arena, n, (p + 1) * sizeof *rows);
    if (jobs == NULL || results == NULL || rows == NULL) return paritas_fail_memory(session->context);
    for (size_t k = 0; k < n; k++) {
        double *start = rows + k * p;
        memcpy(start, session->job.start, p * sizeof *start);
        if (k > 0) draw_start(session, k, start);
        jobs[k] = session->job;
        jobs[k].start = start;
    }
    paritas_status status =
        paritas_fit(session->context, session->model, options, n, jobs,
                    &(paritas_fit_answers){.size = sizeof(paritas_fit_answers), .results = results});
    if (status != PARITAS_OK) return status;
    memset(starts, 0, sizeof *starts);
    starts->n = n;
    starts->lowest = starts->highest = starts->first = (double)NAN;
    starts->winner = session->job.start;
    if (results[0].status == PARITAS_FIT_CONVERGED) starts->first = results[0].twice_nll;
    for (size_t k = 0; k < n; k++) {
        double twice_nll = results[k].twice_nll;
        if (results[k].status != PARITAS_FIT_CONVERGED) continue;
        /* of equal minima the earliest start wins, not the one that rounding favours */
        if (starts->converged == 0 || twice_nll < starts->lowest - SAME_MINIMUM) {
            starts->best = k;
            starts->winner = jobs[k].start;
        }
        starts->lowest = starts->converged == 0 || twice_nll < starts->lowest ? twice_nll : starts->lowest;
        starts->highest = starts->converged == 0 || twice_nll > starts->highest ? twice_nll : starts->highest;
        starts->converged++;
        count_minimum(starts, twice_nll);
    }
    return PARITAS_OK;
}

void starts_write(struct writer *w, const struct starts *starts)
{
    write_object(w, "starts", false);
    write_integer(w, "n", starts->n);
    write_integer(w, "converged", starts->converged);
    write_integer(w, "best_start", starts->best);
    write_number(w, "spread", starts->highest - starts->lowest);
    write_array(w, "minima", false);
    for (size_t i = 0; i < starts->n_minima; i++) {
        write_object(w, NULL, false);
        write_number(w, "twice_nll", starts->minima[i].twice_nll);
        write_integer(w, "count", starts->minima[i].count);
        write_close(w);
    }
    write_close(w);
    write_close(w);
}

void starts_describe(struct text *out, const struct starts *starts)
{
    text_format(out, "%zu of %zu starts converged, into %zu%s %s: ", starts->converged, starts->n,
                starts->n_minima, starts->n_minima == STARTS_MINIMA ? " or more" : "",
                starts->n_minima == 1 ? "minimum" : "minima");
    if (starts->converged == 0)
        text_format(out, "none to choose\n");
    else if (starts->best == 0)
        text_format(out, "none lower than that of the suggested start\n");
    else if (isnan(starts->first))
        text_format(out, "start %zu won, the suggested start did not converge\n", starts->best);
    else
        text_format(out, "start %zu won, %.3g below the minimum of the suggested start\n", starts->best,
                    starts->first - starts->lowest);
}
