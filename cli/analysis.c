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

/* An answer for each parameter of interest, with the others free. */
static paritas_status run_in_turn(struct session *session, const struct analysis *analysis)
{
    struct writer *w = &session->writer;
    if (session->json) {
        write_object(w, NULL, true);
        write_array(w, "answers", true);
    }
    for (size_t k = 0; k < session->n_pois; k++) {
        session->job.pois = session->pois + k;
        session->job.n_pois = 1;
        void *result = arena_element(session, analysis->result_size);
        TRY(allocated(session));
        TRY(analysis->analyse(session, result));
        if (!session->json) {
            text_format(&session->out, "%s", k > 0 ? "\n" : "");
            analysis->write_text(session, result);
            continue;
        }
        write_object(w, NULL, true);
        write_string(w, "poi", poi_name(session));
        analysis->write_keys(session, w, result);
        write_close(w);
    }
    if (!session->json) return PARITAS_OK;
    write_close(w);
    write_provenance(session);
    write_close(w);
    return PARITAS_OK;
}

paritas_status analysis_run(struct session *session)
{
    const struct analysis *analysis = analysis_of(session);
    if (analysis->check) TRY(analysis->check(session));
    if (wants_patchset(session->arguments)) return run_patches(session, analysis);
    TRY(load_model(session));
    TRY(check_pois(session, analysis));
    if (analysis->needs_poi) TRY(require_poi(session));
    TRY(load_asimov(session));
    if (session->n_pois > 1 && analysis->several == POIS_IN_TURN) return run_in_turn(session, analysis);
    void *result = arena_element(session, analysis->result_size);
    TRY(allocated(session));
    TRY(analysis->analyse(session, result));
    if (!session->json) {
        analysis->write_text(session, result);
        return PARITAS_OK;
    }
    write_object(&session->writer, NULL, true);
    analysis->write_keys(session, &session->writer, result);
    write_provenance(session);
    write_close(&session->writer);
    return PARITAS_OK;
}

const char *failure_word(paritas_fit_status status)
{
    return status == PARITAS_FIT_CONVERGED ? "" : paritas_fit_status_name(status);
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
