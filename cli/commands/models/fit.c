/* fit.c: best fit, covariance, MINOS errors, several starts. */
#include "analysis.h"
#include "days/day_tables.h"
#include "print/outside_output.h"
#include "print/record_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--minos", OPTION_TEXT, "NAME|all", "MINOS errors of one parameter or all (repeatable)"},
    {"--covariance", OPTION_FLAG, NULL, "the covariance matrix (with --json), or the largest correlations"},
    LIBRARY_ROWS(PARITAS_FIT_OPTIONS, paritas_fit_options),
    LIBRARY_ROW("--starts", paritas_job),
    QUICK_ROW,
    {"--csv", OPTION_FLAG, NULL, "the parameters as CSV, a line a parameter, as --json has them"},
    {0},
};

struct fitted {
    paritas_fit_result result;
    double *values, *errors, *covariance;
    double *centres;   /* pulls are 0 here */
    double *down, *up; /* MINOS; NaN: not asked for */
    double *reach;     /* how far both sides of each go, to a bound or an edge, too */
    paritas_minos_end *ends;
    bool *followed; /* a parameter's sides, by MINOS */
    paritas_parameter_state *states;
    bool minos;
    paritas_minima minima; /* that fits of MINOS errors met */
    paritas_fit_starts starts;
    struct outside outside, edge;
};

static paritas_status check(struct session *session)
{
    if (option_flag(session, "--csv") && option_flag(session, "--covariance"))
        return usage_failure(session, "--csv has no covariance matrix: take --json");
    return PARITAS_OK;
}

static bool needs_covariance(const struct session *session)
{
    return option_flag(session, "--covariance") || session->n_pois > 1;
}

static paritas_status allocate(struct session *session, struct fitted *fitted)
{
    const size_t n = session->n_parameters;
    fitted->values = arena_numbers(session, n);
    fitted->errors = arena_numbers(session, n);
    fitted->covariance = needs_covariance(session) ? arena_numbers(session, n * n) : NULL;
    fitted->down = arena_numbers(session, n);
    fitted->up = arena_numbers(session, n);
    fitted->states = arena_elements(session, n, sizeof *fitted->states);
    fitted->reach = arena_numbers(session, 2 * n);
    fitted->ends = arena_elements(session, 2 * n, sizeof *fitted->ends);
    fitted->followed = arena_elements(session, n, sizeof *fitted->followed);
    TRY(allocated(session));
    for (size_t i = 0; i < n; i++)
        fitted->down[i] = fitted->up[i] = fitted->reach[2 * i] = fitted->reach[2 * i + 1] = NAN;
    return PARITAS_OK;
}

static paritas_status minos_of(struct session *session, struct fitted *fitted, size_t i)
{
    const paritas_minos_request request = {.size = sizeof request,
                                           .parameter = i,
                                           .best = fitted->values,
                                           .best_twice_nll = fitted->result.twice_nll,
                                           .error = fitted->errors[i],
                                           .minima = &fitted->minima,
                                           .ends = fitted->ends + 2 * i,
                                           .reach = fitted->reach + 2 * i};
    double offsets[2];
    paritas_status status = paritas_minos(session->context, session->model, &session->job, &request, offsets);
    fitted->down[i] = offsets[0];
    fitted->up[i] = offsets[1];
    fitted->followed[i] = true;
    if (status != PARITAS_NOT_CONVERGED) return status;
    fprintf(stderr, "paritas: %s\n", paritas_error_message(session->context));
    session->not_converged = true; /* this side or both stay NaN */
    return PARITAS_OK;
}

static paritas_status minos(struct session *session, struct fitted *fitted)
{
    size_t at = 0, i;
    for (const struct given *given; (given = option_next(session, "--minos", &at));) {
        fitted->minos = true;
        if (strcmp(given->text, "all") == 0) {
            for (i = 0; i < session->n_parameters; i++)
                if (fitted->states[i] != PARITAS_PARAMETER_FIXED) TRY(minos_of(session, fitted, i));
            continue;
        }
        TRY(paritas_model_parameter_index(session->context, session->model, given->text, &i));
        TRY(minos_of(session, fitted, i));
    }
    return PARITAS_OK;
}

static paritas_fit_options method_of(const struct session *session)
{
    paritas_fit_options method = PARITAS_FIT_OPTIONS_DEFAULT;
    method.minimizer = (paritas_minimizer)option_constant(session, "--minimizer", "paritas_minimizer");
    method.population = (unsigned)option_whole(session, "--population");
    method.seed = option_whole(session, "--seed");
    return method;
}

static paritas_status fit_with_errors(struct session *session, const paritas_fit_options *method,
                                      struct fitted *fitted)
{
    const paritas_fit_answers answers = {.size = sizeof answers,
                                         .results = &fitted->result,
                                         .parameters = fitted->values,
                                         .errors = fitted->errors,
                                         .covariance = fitted->covariance,
                                         .states = fitted->states,
                                         .starts = &fitted->starts};
    return paritas_fit_lowest(session->context, session->model, method, &session->job, &answers);
}

/* The fits of all toys of a file. */
struct batch {
    paritas_fit_result *results;
    double *values, *errors;
    paritas_parameter_state *states;
    paritas_fit_starts *starts;
};

/* One call fits all toys: in lanes, and with all threads. Covariances would take too much memory. */
static paritas_status fit_all(struct session *session)
{
    const size_t n = session->n_toys, p = session->n_parameters, n_data = session->n_main + session->n_aux;
    const paritas_fit_options method = method_of(session);
    if (needs_covariance(session)) return PARITAS_OK;
    struct batch *batch = arena_element(session, sizeof *batch);
    paritas_job *jobs = arena_elements(session, n, sizeof *jobs);
    TRY(allocated(session));
    batch->results = arena_records(session, n, sizeof *batch->results);
    batch->starts = arena_records(session, n, sizeof *batch->starts);
    batch->values = arena_numbers(session, n * p);
    batch->errors = arena_numbers(session, n * p);
    batch->states = arena_elements(session, n * p, sizeof *batch->states);
    TRY(allocated(session));
    for (size_t k = 0; k < n; k++) {
        jobs[k] = session->job;
        jobs[k].data = session->data->rows + k * n_data;
    }
    const paritas_fit_answers answers = {.size = sizeof answers,
                                         .results = batch->results,
                                         .parameters = batch->values,
                                         .errors = batch->errors,
                                         .states = batch->states,
                                         .starts = batch->starts};
    session->prepared = batch;
    return paritas_fit(session->context, session->model, &method, n, jobs, &answers);
}

static void take_from_batch(const struct session *session, const struct batch *batch, struct fitted *fitted)
{
    const size_t k = session->toy, p = session->n_parameters;
    fitted->result = batch->results[k];
    fitted->starts = batch->starts[k];
    fitted->values = batch->values + k * p;
    fitted->errors = batch->errors + k * p;
    fitted->states = batch->states + k * p;
}

static bool has_lower_known(const paritas_fit_starts *starts)
{
    return !isnan(starts->lower_known.twice_nll);
}

static paritas_status analyse(struct session *session, void *result)
{
    struct fitted *fitted = result;
    const paritas_fit_options method = method_of(session);
    fitted->result.size = sizeof fitted->result;
    fitted->starts.size = sizeof fitted->starts;
    TRY(allocate(session, fitted));
    if (session->prepared)
        take_from_batch(session, session->prepared, fitted);
    else
        TRY(fit_with_errors(session, &method, fitted));
    if (has_lower_known(&fitted->starts)) session->not_converged = true;
    TRY(outside_look(session, fitted->result.twice_nll, fitted->values, &fitted->outside));
    if (fitted->result.status == PARITAS_FIT_CONVERGED)
        TRY(edge_look(session, fitted->values, &fitted->edge));
    TRY(minos(session, fitted));
    if (!session->json) TRY(load_centres(session, &fitted->centres));
    note_status(session, fitted->result.status);
    return PARITAS_OK;
}

/* A row and a column for each parameter of interest. */
static void write_pois_covariance(struct session *session, struct writer *w, const struct fitted *fitted)
{
    write_array(w, "pois_covariance", true);
    for (size_t i = 0; i < session->n_pois; i++) {
        const double *row = fitted->covariance + session->pois[i] * session->n_parameters;
        write_array(w, NULL, false);
        for (size_t j = 0; j < session->n_pois; j++) write_number(w, NULL, row[session->pois[j]]);
        write_close(w);
    }
    write_close(w);
}

static void write_starts(struct writer *w, const paritas_fit_starts *starts)
{
    write_object(w, "starts", false);
    write_fields(w, "paritas_fit_starts", starts, "n", "spread");
    write_array(w, "minima", false);
    for (size_t i = 0; i < starts->n_minima; i++)
        write_record_row(w, NULL, "paritas_fit_minimum", &starts->minima[i]);
    write_close(w);
    if (has_lower_known(starts))
        write_fields(w, "paritas_fit_starts", starts, "lower_known", NULL);
    else
        write_string(w, "lower_known", NULL);
    write_close(w);
}

/* side: 0 down, 1 up. NULL: MINOS did not follow the parameter. */
static const char *end_of(const struct fitted *fitted, size_t i, size_t side)
{
    return fitted->followed[i] ? paritas_minos_end_name(fitted->ends[2 * i + side]) : NULL;
}

static void write_sides(struct writer *w, const struct fitted *fitted, size_t i)
{
    write_members(w,
                  "minos_down:n minos_up:n minos_down_end:s minos_up_end:s minos_down_reach:n "
                  "minos_up_reach:n",
                  fitted->down[i], fitted->up[i], end_of(fitted, i, 0), end_of(fitted, i, 1),
                  fitted->reach[2 * i], fitted->reach[2 * i + 1]);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct fitted *fitted = result;
    const paritas_fit_result *r = &fitted->result;
    const size_t n = session->n_parameters;
    write_members(w, "status:s minimizer:s twice_nll:n nll:n", paritas_fit_status_name(r->status),
                  option_text(session, "--minimizer"), r->twice_nll, 0.5 * r->twice_nll);
    write_fields(w, "paritas_fit_result", r, "edm", "iterations");
    outside_write(w, &fitted->outside);
    edge_write(w, &fitted->edge);
    if (fitted->starts.n > 1) write_starts(w, &fitted->starts);
    write_array(w, "parameters", true);
    for (size_t i = 0; i < n; i++) {
        write_object(w, NULL, false);
        write_members(w, "name:s value:n error:n state:s", parameter_name(session, i), fitted->values[i],
                      fitted->errors[i], paritas_parameter_state_name(fitted->states[i]));
        if (fitted->minos) write_sides(w, fitted, i);
        write_close(w);
    }
    write_close(w);
    if (fitted->minos) write_minima(w, &fitted->minima);
    if (session->n_pois > 1) write_pois_covariance(session, w, fitted);
    if (!option_flag(session, "--covariance")) return;
    write_array(w, "covariance", true);
    for (size_t i = 0; i < n; i++) write_numbers(w, NULL, n, fitted->covariance + i * n);
    write_close(w);
}

static double correlation_of(const struct session *session, const struct fitted *fitted, size_t i, size_t j)
{
    const double scale = fitted->errors[i] * fitted->errors[j];
    return scale > 0.0 ? fitted->covariance[i * session->n_parameters + j] / scale : NAN;
}

/* The ten largest. */
static void write_correlations(struct session *session, const struct fitted *fitted)
{
    enum { SHOWN = 10 };
    struct {
        double r;
        size_t i, j;
    } best[SHOWN];
    size_t n = session->n_parameters, found = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double r = correlation_of(session, fitted, i, j);
            if (!(fabs(r) > 0.0) || (found == SHOWN && fabs(r) <= fabs(best[SHOWN - 1].r))) continue;
            size_t at = found < SHOWN ? found++ : SHOWN - 1;
            for (; at > 0 && fabs(best[at - 1].r) < fabs(r); at--) best[at] = best[at - 1];
            best[at].r = r;
            best[at].i = i;
            best[at].j = j;
        }
    struct table table;
    text_format(&session->out, "\nLargest correlations\n");
    table_open(&table, &session->out, "||", "l l r");
    for (size_t k = 0; k < found; k++) {
        table_text(&table, parameter_name(session, best[k].i));
        table_text(&table, parameter_name(session, best[k].j));
        table_format(&table, "%+.3f", best[k].r);
    }
    table_close(&table);
}

/* Five, and more where an error would have fewer than four digits. */
static int decimals_of(double error)
{
    const double wanted = isfinite(error) && error > 0.0 ? ceil(3.0 - log10(error)) : 0.0;
    return wanted > 5.0 ? (int)fmin(wanted, 17.0) : 5;
}

/* An end of a MINOS error, with its sign. */
static struct shown minos_end(double offset)
{
    const struct shown number = shown_decimal(offset, decimals_of(fabs(offset)));
    struct shown end;
    snprintf(end.text, sizeof end.text, "%s%.30s", offset > 0.0 ? "+" : "", number.text);
    return end;
}

static void write_minos(struct table *table, double down, double up)
{
    table_format(table, "%s %s", minos_end(down).text, minos_end(up).text);
}

static void write_parameters(struct session *session, const struct fitted *fitted)
{
    const double *widths = paritas_model_constraint_widths(session->model);
    struct table table;
    table_open(&table, &session->out,
               fitted->minos ? "parameter|value|error|pull|minos|state" : "parameter|value|error|pull|state",
               fitted->minos ? "l .5 .5 .3 r l" : "l .5 .5 .3 l");
    for (size_t i = 0; i < session->n_parameters; i++) {
        const paritas_parameter_state state = fitted->states[i];
        table_text(&table, parameter_name(session, i));
        const int decimals = decimals_of(fitted->errors[i]);
        table_decimal(&table, fitted->values[i], decimals);
        table_decimal(&table, fitted->errors[i], decimals);
        table_decimal(
            &table,
            state == PARITAS_PARAMETER_FIXED ? NAN : (fitted->values[i] - fitted->centres[i]) / widths[i], 3);
        if (fitted->minos) write_minos(&table, fitted->down[i], fitted->up[i]);
        table_text(&table, state_word(state));
    }
    table_close(&table);
}

/* The parameters of which a side ends so, as one line. */
static void print_ends(struct session *session, const struct fitted *fitted, paritas_minos_end end,
                       const char *lead, const char *last)
{
    bool any = false;
    for (size_t i = 0; i < session->n_parameters; i++) {
        if (!fitted->followed[i] || (fitted->ends[2 * i] != end && fitted->ends[2 * i + 1] != end)) continue;
        if (!any) text_format(&session->out, "\n");
        text_format(&session->out, "%s %s", any ? "," : lead, parameter_name(session, i));
        any = true;
    }
    if (any) text_format(&session->out, "%s\n", last);
}

/* Why a parameter lacks a MINOS error, unless standard error says it. */
static void print_missing(struct session *session, const struct fitted *fitted)
{
    print_ends(session, fitted, PARITAS_MINOS_END_BOUND,
               "No MINOS error where a bound comes first:", ". --range NAME=LO:HI gives other bounds");
    print_ends(session, fitted, PARITAS_MINOS_END_EDGE,
               "No MINOS error where the domain ends first, as a rate would be negative:", "");
}

/* The parameters of this state without an error, as one line. */
static void print_without_error(struct session *session, const struct fitted *fitted,
                                paritas_parameter_state state, const char *lead)
{
    bool any = false;
    for (size_t i = 0; i < session->n_parameters; i++) {
        if (fitted->states[i] != state || !isnan(fitted->errors[i])) continue;
        if (!any) text_format(&session->out, "\n");
        text_format(&session->out, "%s %s", any ? "," : lead, parameter_name(session, i));
        any = true;
    }
    if (any) text_format(&session->out, "\n");
}

/* Why a free parameter has no error. */
static void print_unknown(struct session *session, const struct fitted *fitted)
{
    if (fitted->result.status != PARITAS_FIT_CONVERGED) return;
    print_without_error(session, fitted, PARITAS_PARAMETER_FREE,
                        "No error, as the likelihood is flat along it:");
    print_without_error(session, fitted, PARITAS_PARAMETER_AT_EDGE,
                        "No symmetric error at the edge of the domain (--minos gives both sides):");
}

/* The answer in one line, as the table may be long. */
/* A fit keeps its bounds, and says how another one is given. */
static void describe_bound(struct session *session, size_t poi, paritas_parameter_state state)
{
    const struct range bounds = bounds_of(session, poi);
    if (state == PARITAS_PARAMETER_AT_UPPER_BOUND && upper_gives_way(session, poi))
        text_format(&session->out, "%s = %.6g is at its upper bound; --range %s=%.6g:%.6g widens it\n",
                    parameter_name(session, poi), bounds.upper, parameter_name(session, poi), bounds.lower,
                    bounds.lower + 2.0 * (bounds.upper - bounds.lower));
}

static void print_poi(struct session *session, const struct fitted *fitted)
{
    const size_t poi = (size_t)poi_of(session);
    const double error = fitted->errors[poi];
    const int decimals = decimals_of(error);
    struct text *out = &session->out;
    text_format(out, "Parameter of interest: %s = %s", poi_name(session),
                shown_decimal(fitted->values[poi], decimals).text);
    if (!isnan(error)) text_format(out, " +- %s", shown_decimal(error, decimals).text);
    const bool down = !isnan(fitted->down[poi]), up = !isnan(fitted->up[poi]);
    if (down || up) text_format(out, ", MINOS");
    if (down) text_format(out, " %s", minos_end(fitted->down[poi]).text);
    if (up) text_format(out, " %s", minos_end(fitted->up[poi]).text);
    const char *state = state_word(fitted->states[poi]);
    text_format(out, "%s%s\n", state[0] != '\0' ? ", " : "", state);
    describe_bound(session, poi, fitted->states[poi]);
}

/* Prints the parameters of interest with their correlations. */
static void print_pois(struct session *session, const struct fitted *fitted)
{
    text_format(&session->out, "Parameters of interest:");
    for (size_t k = 0; k < session->n_pois; k++)
        text_format(&session->out, "%s %s", k > 0 ? "," : "", parameter_name(session, session->pois[k]));
    text_format(&session->out, "\n");
    for (size_t i = 0; i < session->n_pois; i++)
        for (size_t j = i + 1; j < session->n_pois; j++)
            text_format(&session->out, "correlation of %s and %s: %+.3f\n",
                        parameter_name(session, session->pois[i]), parameter_name(session, session->pois[j]),
                        correlation_of(session, fitted, session->pois[i], session->pois[j]));
    for (size_t k = 0; k < session->n_pois; k++)
        describe_bound(session, session->pois[k], fitted->states[session->pois[k]]);
}

/* `numbered`: the user asked for so many starts, which have numbers. */
static void print_starts(struct text *out, const paritas_fit_starts *starts, bool numbered, double answer)
{
    text_format(out, "%zu of %zu starts converged, into %zu%s %s: ", starts->converged, starts->n,
                starts->n_minima, starts->n_minima == PARITAS_FIT_MINIMA_MOST ? " or more" : "",
                starts->n_minima == 1 ? "minimum" : "minima");
    if (starts->converged == 0)
        text_format(out, "none to choose\n");
    else if (starts->best_start == 0)
        text_format(out, "none lower than that of the suggested start\n");
    else if (!numbered)
        text_format(out, "the lowest is %.3g below that of the suggested start\n", starts->gain);
    else if (isnan(starts->gain))
        text_format(out, "start %zu won, the suggested start did not converge\n", starts->best_start);
    else
        text_format(out, "start %zu won, %.3g below the minimum of the suggested start\n", starts->best_start,
                    starts->gain);
    if (has_lower_known(starts))
        text_format(out, "Not the lowest point known: a fit that ended as %s reached %s, which is %s lower\n",
                    paritas_fit_status_name(starts->lower_known.status),
                    shown(starts->lower_known.twice_nll, 10).text,
                    shown(answer - starts->lower_known.twice_nll, 3).text);
}

/* The members of write_sides as columns. */
static void csv_sides(struct text *out, const struct fitted *fitted, size_t i)
{
    csv_number(out, fitted->down[i]);
    csv_number(out, fitted->up[i]);
    for (size_t side = 0; side < 2; side++) {
        const char *end = end_of(fitted, i, side);
        text_format(out, ",%s", end ? end : "");
    }
    csv_number(out, fitted->reach[2 * i]);
    csv_number(out, fitted->reach[2 * i + 1]);
}

static void write_csv(struct session *session, const struct fitted *fitted)
{
    struct text *out = &session->out;
    text_format(out, "name,value,error,state,status%s\n",
                fitted->minos
                    ? ",minos_down,minos_up,minos_down_end,minos_up_end,minos_down_reach,minos_up_reach"
                    : "");
    for (size_t i = 0; i < session->n_parameters; i++) {
        csv_text(out, parameter_name(session, i));
        csv_number(out, fitted->values[i]);
        csv_number(out, fitted->errors[i]);
        text_format(out, ",%s,%s", paritas_parameter_state_name(fitted->states[i]),
                    paritas_fit_status_name(fitted->result.status));
        if (fitted->minos) csv_sides(out, fitted, i);
        text_append(out, "\n", 1);
    }
}

static void write_text(struct session *session, const void *result)
{
    const struct fitted *fitted = result;
    const paritas_fit_result *r = &fitted->result;
    struct text *out = &session->out;
    if (option_flag(session, "--csv")) {
        write_csv(session, fitted);
        return;
    }
    text_format(out, "Fit %s after %u iterations", paritas_fit_status_name(r->status), r->iterations);
    if (!isnan(r->edm)) text_format(out, " (EDM %.1e)", r->edm);
    text_format(out, "\n2 NLL %s\n", shown(r->twice_nll, 10).text);
    outside_print(out, &fitted->outside);
    edge_print(out, &fitted->edge);
    if (fitted->starts.n > 1) print_starts(out, &fitted->starts, session->job.starts > 1, r->twice_nll);
    if (session->n_pois > 1)
        print_pois(session, fitted);
    else if (poi_name(session))
        print_poi(session, fitted);
    text_format(out, "\n");
    write_parameters(session, fitted);
    print_missing(session, fitted);
    print_unknown(session, fitted);
    if (option_flag(session, "--covariance")) write_correlations(session, fitted);
}

const struct command command_fit = {
    .name = "fit",
    .operands = "WORKSPACE",
    .summary = "best fit, with errors",
    .description =
        "Errors come from the inverse of the exact second derivatives at the best fit. A "
        "parameter on its bound has none, and says so. At a kink (at_kink: interpolation codes 0 "
        "and 1, at 0) an error is the mean of both sides'. Several --poi are listed with their correlations.",
    .groups = {GROUP_OPTIONS, GROUPS_FIT},
    .analysis =
        {
            .result_size = sizeof(struct fitted),
            .several = POIS_TOGETHER,
            .check = check,
            .analyse = analyse,
            .prepare = fit_all,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
