/* analysis.c: runs analyses. */
#include "analysis.h"
#include "commands/models/patch_runs.h"
#include <math.h>

static const struct analysis *analysis_of(const struct session *session)
{
    const struct command *command = session->arguments->command;
    return command->by_toys.analyse && option_value(session, "--calc")->choice == 1 ? &command->by_toys
                                                                                    : &command->analysis;
}

bool takes_patchset(const struct command *command)
{
    return command->whole_sets || command->analysis.write_cells;
}

static paritas_status check_pois(struct session *session, const struct analysis *analysis)
{
    if (session->n_pois < 2) return PARITAS_OK;
    if (analysis->several == POIS_ONE) return refuse_several_pois(session);
    if (analysis->several == POIS_IN_TURN && option_text(session, "--store"))
        return usage_failure(session,
                             "--store keeps the toys of one --poi: run each with a store of its own");
    return PARITAS_OK;
}

static paritas_status check_toys(struct session *session, const struct analysis *analysis)
{
    if (session->n_toys < 2) return PARITAS_OK;
    if (session->n_pois > 1 && analysis->several == POIS_IN_TURN)
        return usage_failure(session, "several --poi and several toys: choose one with --toy T");
    for (size_t k = 0; k < 2; k++) {
        const char *const option = k == 0 ? "--store" : "--save";
        if (option_text(session, option))
            return usage_failure(session, "%s keeps the toys of one answer: choose data with --toy T",
                                 option);
    }
    if (option_given(session, "--csv"))
        return usage_failure(session, "--csv has one answer: choose data with --toy T");
    return PARITAS_OK;
}

/* `key`: what the answer is one of, "toy" or "poi"; NULL: it is the only one. */
static paritas_status run_once(struct session *session, const struct analysis *analysis, const char *key)
{
    struct writer *w = &session->writer;
    void *result = arena_element(session, analysis->result_size);
    TRY(allocated(session));
    TRY(analysis->analyse(session, result));
    if (!session->json) {
        analysis->write_text(session, result);
        return PARITAS_OK;
    }
    write_object(w, NULL, true);
    if (key && session->n_toys > 1)
        write_integer(w, key, session->data->first + session->toy);
    else if (key)
        write_string(w, key, poi_name(session));
    analysis->write_keys(session, w, result);
    if (!key) write_provenance(session);
    write_close(w);
    return PARITAS_OK;
}

static void choose_toy(struct session *session, size_t k)
{
    use_toy(session, k);
    if (session->json) return;
    if (k > 0) text_format(&session->out, "\n");
    text_format(&session->out, "Toy %llu\n", (unsigned long long)(session->data->first + k));
}

static void choose_poi(struct session *session, size_t k)
{
    session->job.pois = session->pois + k;
    session->job.n_pois = 1;
    if (!session->json && k > 0) text_format(&session->out, "\n");
}

/* An answer for each toy of a file of data, or for each parameter of interest, with the others free. */
static paritas_status run_in_turn(struct session *session, const struct analysis *analysis)
{
    struct writer *w = &session->writer;
    const bool toys = session->n_toys > 1;
    const size_t n = toys ? session->n_toys : session->n_pois;
    if (session->json) {
        write_object(w, NULL, true);
        write_array(w, "answers", true);
    }
    if (toys && analysis->prepare) TRY(analysis->prepare(session));
    for (size_t k = 0; k < n; k++) {
        if (toys)
            choose_toy(session, k);
        else
            choose_poi(session, k);
        const struct arena outer = arena_begin(session);
        const paritas_status status = run_once(session, analysis, toys ? "toy" : "poi");
        arena_end(session, outer);
        TRY(status);
    }
    if (!session->json) return PARITAS_OK;
    write_close(w);
    write_provenance(session);
    write_close(w);
    return PARITAS_OK;
}

static paritas_status check_csv(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    if (!option_given(session, "--csv")) return PARITAS_OK;
    if (takes_patchset(arguments->command) && !wants_patchset(arguments))
        return usage_failure(session, "--csv has a line for each patch: leave --patch-name out");
    return session->json ? usage_failure(session, "--csv or --json, not both") : PARITAS_OK;
}

paritas_status analysis_run(struct session *session)
{
    const struct analysis *analysis = analysis_of(session);
    TRY(check_csv(session));
    if (analysis->check) TRY(analysis->check(session));
    if (wants_patchset(session->arguments)) return run_patches(session, analysis);
    session->keeps_notes = true;
    TRY(load_model(session));
    TRY(check_pois(session, analysis));
    if (analysis->needs_poi) TRY(require_poi(session));
    TRY(check_toys(session, analysis));
    if (session->n_toys > 1 || (session->n_pois > 1 && analysis->several == POIS_IN_TURN))
        return run_in_turn(session, analysis);
    return run_once(session, analysis, NULL);
}

paritas_status read_confidences(struct session *session, size_t n_usual, const double *usual, size_t *n,
                                double **confidences)
{
    const struct given *given;
    size_t at = 0, n_given = 0;
    while (option_next(session, "--confidence", &at)) n_given++;
    *n = n_given > 0 ? n_given : n_usual;
    *confidences = arena_numbers(session, *n);
    TRY(allocated(session));
    at = 0;
    for (size_t i = 0; i < *n; i++) {
        given = n_given > 0 ? option_next(session, "--confidence", &at) : NULL;
        (*confidences)[i] = given ? given->number : usual[i];
    }
    return PARITAS_OK;
}

const char *failure_word(paritas_fit_status status)
{
    return status == PARITAS_FIT_CONVERGED ? "" : paritas_fit_status_name(status);
}

const char *state_word(paritas_parameter_state state)
{
    return state == PARITAS_PARAMETER_FREE ? "" : paritas_parameter_state_name(state);
}

void write_excluded(struct writer *w, bool known, bool excluded)
{
    if (!w->one_line) return;
    if (known)
        write_bool(w, "excluded", excluded);
    else
        write_string(w, "excluded", NULL);
}

void describe_fits(struct text *out, const char *fits, paritas_fit_status status, const char *poi,
                   double best)
{
    if (status == PARITAS_FIT_CONVERGED)
        text_format(out, "All %s converged.", fits);
    else
        text_format(out, "Not all %s converged: %s.", fits, paritas_fit_status_name(status));
    if (!isnan(best)) text_format(out, " Best fit: %s = %.6g.", poi, best);
    text_format(out, "\n");
}

const char *statistic_name(const struct session *session)
{
    return option_text(session, "--test-stat");
}

paritas_test_statistic statistic_of(const struct session *session)
{
    return (paritas_test_statistic)option_constant(session, "--test-stat", "paritas_test_statistic");
}
