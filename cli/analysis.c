/* analysis.c: runs analyses. */
#include "analysis.h"
#include "patch_runs.h"

static const struct analysis *analysis_of(const struct session *session)
{
    const struct command *command = session->arguments->command;
    return command->by_toys.analyse && option_value(session, "--calc")->choice == 1 ? &command->by_toys
                                                                                    : &command->analysis;
}

bool takes_patchset(const struct command *command)
{
    return command->analysis.write_cells;
}

paritas_status analysis_run(struct session *session)
{
    const struct analysis *analysis = analysis_of(session);
    if (analysis->check) TRY(analysis->check(session));
    if (wants_patchset(session->arguments)) return run_patches(session, analysis);
    TRY(load_model(session));
    if (analysis->needs_poi) TRY(require_poi(session));
    TRY(load_asimov(session));
    void *result = elements(session, 1, analysis->result_size);
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

const char *statistic_name(const struct session *session)
{
    return option_text(session, "--test-stat");
}

paritas_test_statistic statistic_of(const struct session *session)
{
    return (paritas_test_statistic)option_constant(session, "--test-stat", "paritas_test_statistic");
}
