/* fit_starts.c: random starts and their outcome. */
#include "commands/models/fit_starts.h"
#include "minima/lowest.h"

#include <math.h>
#include <string.h>

#define SAME_OUTCOME 1e-6 /* in twice the NLL */
#define FURTHER_ROUNDS 4  /* of fits from where others failed */

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

static bool has_converged(const paritas_fit_result *result)
{
    return result->status == PARITAS_FIT_CONVERGED;
}

static void summarise(struct starts *starts)
{
    starts->converged = starts->n_minima = starts->best = 0;
    starts->first = starts->lowest = starts->highest = NAN;
    if (has_converged(&starts->results[0])) starts->first = starts->results[0].twice_nll;
    for (size_t k = 0; k < starts->n; k++) {
        const double twice_nll = starts->results[k].twice_nll;
        if (!has_converged(&starts->results[k])) continue;
        /* equal minima: the earliest start wins, whatever rounding says */
        if (starts->converged == 0 || twice_nll < starts->lowest - SAME_OUTCOME) starts->best = k;
        starts->lowest = starts->converged == 0 || twice_nll < starts->lowest ? twice_nll : starts->lowest;
        starts->highest = starts->converged == 0 || twice_nll > starts->highest ? twice_nll : starts->highest;
        starts->converged++;
        count_minimum(starts, twice_nll);
    }
}

/* Did the fit of start k fail below this value? Any value in the domain lies below NaN. */
static bool failed_below(const struct starts *starts, size_t k, double twice_nll)
{
    const paritas_fit_result *result = &starts->results[k];
    return !has_converged(result) && isfinite(result->twice_nll) &&
           !(result->twice_nll >= twice_nll - SAME_OUTCOME);
}

static void find_lower_known(struct starts *starts, double answer)
{
    starts->lower_known = NAN;
    for (size_t k = 0; k < starts->n; k++)
        if (failed_below(starts, k, answer) && !(starts->results[k].twice_nll >= starts->lower_known)) {
            starts->lower_known = starts->results[k].twice_nll;
            starts->lower_status = starts->results[k].status;
        }
}

/* Fits again from where `n` failed fits ended, with errors: their checks are stricter. A fit that ends higher
 * changes nothing. */
static paritas_status fit_on(struct session *session, const paritas_fit_options *options, bool same_method,
                             size_t n, const size_t *list, struct starts *starts)
{
    const size_t p = session->n_parameters;
    paritas_job *jobs = elements(session, n, sizeof *jobs);
    paritas_fit_result *results = sized_records(session, n, sizeof *results);
    double *points = elements(session, n, p * sizeof *points),
           *errors = elements(session, n, p * sizeof *errors);
    TRY(allocated(session));
    for (size_t i = 0; i < n; i++) {
        jobs[i] = session->job;
        jobs[i].start = starts->points[list[i]];
    }
    const paritas_fit_answers answers = {
        .size = sizeof answers, .results = results, .parameters = points, .errors = errors};
    TRY(paritas_fit(session->context, session->model, options, n, jobs, &answers));
    for (size_t i = 0; i < n; i++) {
        const size_t k = list[i];
        const double known = starts->results[k].twice_nll;
        const bool converged = has_converged(&results[i]);
        if (!(results[i].twice_nll <= known + SAME_OUTCOME)) continue;
        if (!converged && !(results[i].twice_nll < known)) continue;
        starts->results[k] = results[i];
        starts->points[k] = points + i * p;
        /* the answer's fit must end there too */
        if (same_method || converged) starts->jobs[k].start = same_method ? jobs[i].start : points + i * p;
    }
    return PARITAS_OK;
}

/* Failed fits below the lowest minimum go on from where they ended. */
static paritas_status go_on(struct session *session, const paritas_fit_options *options,
                            struct starts *starts)
{
    paritas_fit_options other = PARITAS_FIT_OPTIONS_DEFAULT;
    size_t *list = elements(session, starts->n, sizeof *list);
    other.minimizer = PARITAS_MINIMIZER_LBFGSB;
    TRY(allocated(session));
    for (int round = 0; round < FURTHER_ROUNDS; round++) {
        /* another method may leave the place where this one is stuck */
        const bool same_method = round % 2 == 0;
        size_t n = 0;
        for (size_t k = 0; k < starts->n; k++)
            if (failed_below(starts, k, starts->lowest)) list[n++] = k;
        if (n == 0) break;
        TRY(fit_on(session, same_method ? options : &other, same_method, n, list, starts));
        summarise(starts);
    }
    return PARITAS_OK;
}

paritas_status starts_run(struct session *session, const paritas_fit_options *options, size_t n,
                          struct starts *starts)
{
    const size_t p = session->n_parameters;
    *starts = (struct starts){.n = n, .lower_known = NAN};
    starts->jobs = elements(session, n, sizeof *starts->jobs);
    starts->results = sized_records(session, n, sizeof *starts->results);
    starts->points = elements(session, n, sizeof *starts->points);
    double *rows = elements(session, n, p * sizeof *rows), *ends = elements(session, n, p * sizeof *ends);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        double *start = rows + k * p;
        memcpy(start, session->job.start, p * sizeof *start);
        if (k > 0) draw_start(session, k, start);
        starts->jobs[k] = session->job;
        starts->jobs[k].start = start;
        starts->points[k] = ends + k * p;
    }
    const paritas_fit_answers answers = {
        .size = sizeof answers, .results = starts->results, .parameters = ends};
    TRY(paritas_fit(session->context, session->model, options, n, starts->jobs, &answers));
    summarise(starts);
    return go_on(session, options, starts);
}

const double *starts_winner(const struct starts *starts)
{
    size_t lowest = 0;
    if (starts->converged > 0) return starts->jobs[starts->best].start;
    for (size_t k = 0; k < starts->n; k++)
        if (starts->results[k].twice_nll < starts->results[lowest].twice_nll ||
            isnan(starts->results[lowest].twice_nll))
            lowest = k;
    return starts->jobs[lowest].start;
}

paritas_status starts_answer(struct session *session, const paritas_fit_options *options,
                             const paritas_fit_result *answer, struct starts *starts, bool *again)
{
    *again = !has_converged(answer) && starts->converged > 0 && starts->n_answers++ < FURTHER_ROUNDS;
    if (*again) {
        for (size_t k = 0; k < starts->n; k++)
            if (has_converged(&starts->results[k]) &&
                starts->results[k].twice_nll <= starts->lowest + SAME_OUTCOME)
                starts->results[k].status = answer->status;
        summarise(starts);
        return go_on(session, options, starts);
    }
    find_lower_known(starts, answer->twice_nll);
    if (!isnan(starts->lower_known)) session->not_converged = true;
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
    if (isnan(starts->lower_known))
        write_string(w, "lower_known", NULL);
    else {
        write_object(w, "lower_known", false);
        write_members(w, "twice_nll:n status:s", starts->lower_known,
                      paritas_fit_status_name(starts->lower_status));
        write_close(w);
    }
    write_close(w);
}

void starts_describe(struct text *out, const struct starts *starts, double answer)
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
    if (!isnan(starts->lower_known))
        text_format(
            out, "Not the lowest point known: a fit that ended as %s reached %.10g, which is %.3g lower\n",
            paritas_fit_status_name(starts->lower_status), starts->lower_known, answer - starts->lower_known);
}
