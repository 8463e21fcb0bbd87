/* command_fit.c: the best fit, its covariance, MINOS errors, and several starts. */
#include "session.h"
#include "record_output.h"
#include "fit_starts.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--asimov", 0, OPTION_NUMBER, "MU",
     "fit Asimov data: expected at the fit to the data with the parameter of interest held at MU"},
    {"--minos", 0, OPTION_TEXT, "NAME|all", "MINOS errors of a parameter, or of all (repeatable)"},
    {"--covariance", 0, OPTION_FLAG, NULL,
     "the covariance matrix (with --json), or the largest correlations"},
    {"--minimizer", 0, OPTION_CHOICE, "newton|lbfgsb|de", "method of minimisation; default: newton"},
    {"--max-iterations", 0, OPTION_COUNT, "N",
     "give up after so many; default: 200 for newton, 5000 for lbfgsb, 3000 for de"},
    {"--population", 0, OPTION_COUNT, "N", "members, for de; default: 10 for each parameter, from 20 to 200"},
    {"--seed", 0, OPTION_WHOLE, "S", "of the random numbers of de; default: 0"},
    {"--starts", 0, OPTION_COUNT, "N",
     "fit from the suggested start and N - 1 random ones; the lowest minimum answers"},
    {0},
};

/* What a fit leaves. */
struct fitted {
    paritas_fit_result result;
    double *values, *errors, *covariance;
    double *centres;   /* where pulls are 0 */
    double *down, *up; /* MINOS; NaN where not asked for */
    paritas_parameter_state *states;
    bool minos;
};

static paritas_status allocate(struct session *session, struct fitted *fitted)
{
    size_t n = session->n_parameters;
    fitted->values = numbers(session, n);
    fitted->errors = numbers(session, n);
    fitted->covariance = option_flag(session->arguments, "--covariance") ? numbers(session, n * n) : NULL;
    fitted->down = numbers(session, n);
    fitted->up = numbers(session, n);
    fitted->states = arena_array(&session->arena, n + 1, sizeof *fitted->states);
    if (fitted->values == NULL || fitted->errors == NULL || fitted->down == NULL || fitted->up == NULL ||
        fitted->states == NULL)
        return paritas_fail_memory(session->context);
    for (size_t i = 0; i < n; i++) fitted->down[i] = fitted->up[i] = (double)NAN;
    return PARITAS_OK;
}

static paritas_status minos_of(struct session *session, struct fitted *fitted, size_t i)
{
    const paritas_minos_request request = {.size = sizeof request,
                                           .parameter = i,
                                           .best = fitted->values,
                                           .best_twice_nll = fitted->result.twice_nll,
                                           .error = fitted->errors[i]};
    double offsets[2];
    paritas_status status = paritas_minos(session->context, session->model, &session->job, &request, offsets);
    fitted->down[i] = offsets[0];
    fitted->up[i] = offsets[1];
    if (status != PARITAS_NOT_CONVERGED) return status;
    session->not_converged = true; /* this side or both stay NaN */
    return PARITAS_OK;
}

static paritas_status minos(struct session *session, struct fitted *fitted)
{
    paritas_status status = PARITAS_OK;
    size_t at = 0;
    for (const struct given *given;
         status == PARITAS_OK && (given = option_next(session->arguments, "--minos", &at)) != NULL;) {
        fitted->minos = true;
        if (strcmp(given->text, "all") == 0) {
            for (size_t i = 0; i < session->n_parameters && status == PARITAS_OK; i++)
                if (fitted->states[i] != PARITAS_PARAMETER_FIXED) status = minos_of(session, fitted, i);
            continue;
        }
        size_t i;
        status = paritas_model_parameter_index(session->context, session->model, given->text, &i);
        if (status == PARITAS_OK) status = minos_of(session, fitted, i);
    }
    return status;
}

static void write_json(struct session *session, const struct fitted *fitted, const struct starts *starts)
{
    struct writer *w = &session->writer;
    size_t n = session->n_parameters;
    write_object(w, NULL, true);
    write_string(w, "status", paritas_fit_status_name(fitted->result.status));
    write_string(w, "minimizer", option_text(session->arguments, "--minimizer", "newton"));
    write_number(w, "twice_nll", fitted->result.twice_nll);
    write_number(w, "nll", 0.5 * fitted->result.twice_nll);
    write_number(w, "edm", fitted->result.edm);
    write_number(w, "projected_gradient", fitted->result.projected_gradient);
    write_integer(w, "iterations", fitted->result.iterations);
    if (starts != NULL) starts_write(w, starts);
    write_array(w, "parameters", true);
    for (size_t i = 0; i < n; i++) {
        write_object(w, NULL, false);
        write_string(w, "name", paritas_model_parameter_name(session->model, i));
        write_number(w, "value", fitted->values[i]);
        write_number(w, "error", fitted->errors[i]);
        write_string(w, "state", paritas_parameter_state_name(fitted->states[i]));
        if (fitted->minos) {
            write_number(w, "minos_down", fitted->down[i]);
            write_number(w, "minos_up", fitted->up[i]);
        }
        write_close(w);
    }
    write_close(w);
    if (fitted->covariance != NULL) {
        write_array(w, "covariance", true);
        for (size_t i = 0; i < n; i++) write_numbers(w, NULL, n, fitted->covariance + i * n);
        write_close(w);
    }
    write_provenance(session);
    write_close(w);
}

/* The largest correlations: what a person looks for in a covariance. */
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
            double r = fitted->covariance[i * n + j] / (fitted->errors[i] * fitted->errors[j]);
            if (!(fabs(r) > 0.0) || (found == SHOWN && fabs(r) <= fabs(best[SHOWN - 1].r))) continue;
            size_t at = found < SHOWN ? found++ : SHOWN - 1;
            for (; at > 0 && fabs(best[at - 1].r) < fabs(r); at--) best[at] = best[at - 1];
            best[at].r = r;
            best[at].i = i;
            best[at].j = j;
        }
    struct table table;
    text_format(&session->out, "\nLargest correlations\n");
    table_open(&table, &session->context->allocator, "||", "llr");
    for (size_t k = 0; k < found; k++) {
        table_text(&table, paritas_model_parameter_name(session->model, best[k].i));
        table_text(&table, paritas_model_parameter_name(session->model, best[k].j));
        table_format(&table, "%+.3f", best[k].r);
    }
    table_close(&table, &session->out);
}

static void write_table(struct session *session, const struct fitted *fitted, const struct starts *starts)
{
    const paritas_model *model = session->model;
    const double *widths = paritas_model_constraint_widths(model);
    struct text *out = &session->out;
    const paritas_fit_result *r = &fitted->result;
    text_format(out, "Fit %s after %u iterations (EDM %.1e)\n2 NLL %.10g\n",
                paritas_fit_status_name(r->status), r->iterations, r->edm, r->twice_nll);
    if (starts != NULL) starts_describe(out, starts);
    ptrdiff_t poi = paritas_model_poi_index(model);
    if (poi >= 0) text_format(out, "Parameter of interest: %s\n", poi_name(session));
    text_append(out, "\n", 1);
    struct table table;
    table_open(&table, &session->context->allocator,
               fitted->minos ? "parameter|value|error|pull|minos|state" : "parameter|value|error|pull|state",
               fitted->minos ? "lrrrrl" : "lrrrl");
    for (size_t i = 0; i < session->n_parameters; i++) {
        double pull = (fitted->values[i] - fitted->centres[i]) / widths[i];
        table_text(&table, paritas_model_parameter_name(model, i));
        table_decimal(&table, fitted->values[i], 5);
        table_decimal(&table, fitted->errors[i], 5);
        table_decimal(&table, fitted->states[i] == PARITAS_PARAMETER_FIXED ? (double)NAN : pull, 3);
        if (fitted->minos) {
            char down[32] = "-", up[32] = "-";
            if (!isnan(fitted->down[i])) snprintf(down, sizeof down, "%.5f", fitted->down[i]);
            if (!isnan(fitted->up[i])) snprintf(up, sizeof up, "%+.5f", fitted->up[i]);
            table_format(&table, "%s %s", down, up);
        }
        table_text(&table, fitted->states[i] == PARITAS_PARAMETER_FREE
                               ? ""
                               : paritas_parameter_state_name(fitted->states[i]));
    }
    table_close(&table, out);
    if (fitted->covariance != NULL) write_correlations(session, fitted);
}

/* The method that the command line names. */
static paritas_fit_options method_of(const struct arguments *arguments)
{
    paritas_fit_options method = PARITAS_FIT_OPTIONS_DEFAULT;
    method.minimizer = (paritas_minimizer)option_constant(arguments, "--minimizer", "paritas_minimizer",
                                                          PARITAS_MINIMIZER_NEWTON);
    method.max_iterations = (unsigned)option_count(arguments, "--max-iterations", 0);
    method.population = (unsigned)option_count(arguments, "--population", 0);
    method.seed = option_whole(arguments, "--seed", 0);
    return method;
}

static int run(struct session *session)
{
    struct fitted fitted = {.result = PARITAS_INIT(paritas_fit_result)};
    const paritas_fit_options method = method_of(session->arguments);
    struct starts starts;
    size_t n_starts = option_count(session->arguments, "--starts", 1);
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = load_asimov(session);
    if (status == PARITAS_OK) status = allocate(session, &fitted);
    if (status == PARITAS_OK && n_starts > 1) status = starts_run(session, &method, n_starts, &starts);
    if (status != PARITAS_OK) return status;
    paritas_job job = session->job;
    if (n_starts > 1) job.start = starts.winner; /* the same fit once more, now with its covariance */
    status = paritas_fit(session->context, session->model, &method, 1, &job,
                         &(paritas_fit_answers){.size = sizeof(paritas_fit_answers),
                                                .results = &fitted.result,
                                                .parameters = fitted.values,
                                                .errors = fitted.errors,
                                                .covariance = fitted.covariance,
                                                .states = fitted.states});
    if (status == PARITAS_OK) status = minos(session, &fitted);
    if (status == PARITAS_OK && !session->json) status = load_centres(session, &fitted.centres);
    if (status != PARITAS_OK) return status;
    note_status(session, fitted.result.status);
    if (session->json)
        write_json(session, &fitted, n_starts > 1 ? &starts : NULL);
    else
        write_table(session, &fitted, n_starts > 1 ? &starts : NULL);
    return PARITAS_OK;
}

const struct command command_fit = {
    .name = "fit",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "best fit, with errors",
    .description = "Errors come from the inverse of the exact second derivatives at the best fit. A "
                   "parameter on its bound has none, and says so.",
    .groups =
        {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
