/* fit_starts.c: random starts and their outcome. */
#include "fit_starts.h"
#include "infer/lowest.h"

#include <math.h>
#include <string.h>

#define SAME_OUTCOME 1e-6 /* in twice the NLL */

static void draw_start(const struct session *session, uint64_t k, double *start)
{
    const paritas_model *model = session->model;
    lowest_draw_start(session->n_parameters, paritas_model_constraint_widths(model),
                      paritas_model_lower_bounds(model), paritas_model_upper_bounds(model),
                      session->job.fixed, k, start);
}

static void count_minimum(struct starts *starts, double twice_nll)
{
    size_t at = 0;
    while (at < starts->n_minima && starts->minima[at].twice_nll < twice_nll - SAME_OUTCOME) at++;
    if (at < starts->n_minima && starts->minima[at].twice_nll <= twice_nll + SAME_OUTCOME) {
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
    const size_t p = session->n_parameters;
    paritas_job *jobs = elements(session, n, sizeof *jobs);
    paritas_fit_result *results = sized_records(session, n, sizeof *results);
    double *rows = elements(session, n, (p + 1) * sizeof *rows);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        double *start = rows + k * p;
        memcpy(start, session->job.start, p * sizeof *start);
        if (k > 0) draw_start(session, k, start);
        jobs[k] = session->job;
        jobs[k].start = start;
    }
    const paritas_fit_answers answers = {.size = sizeof answers, .results = results};
    TRY(paritas_fit(session->context, session->model, options, n, jobs, &answers));
    *starts = (struct starts){.n = n, .winner = session->job.start};
    starts->lowest = starts->highest = starts->first = (double)NAN;
    if (results[0].status == PARITAS_FIT_CONVERGED) starts->first = results[0].twice_nll;
    for (size_t k = 0; k < n; k++) {
        double twice_nll = results[k].twice_nll;
        if (results[k].status != PARITAS_FIT_CONVERGED) continue;
        /* equal minima: the earliest start wins, whatever rounding says */
        if (starts->converged == 0 || twice_nll < starts->lowest - SAME_OUTCOME) {
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
    write_members(w, "n:z converged:z best_start:z spread:n", starts->n, starts->converged, starts->best,
                  starts->highest - starts->lowest);
    write_array(w, "minima", false);
    for (size_t i = 0; i < starts->n_minima; i++)
        write_row(w, "twice_nll:n count:z", starts->minima[i].twice_nll, starts->minima[i].count);
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
