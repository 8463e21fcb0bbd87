/* toys.c: toys and their best fits. */
#include "print/output.h"
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <string.h>

static const struct option options[] = {
    OPTIONS_CENTRE,
    {"--errors", OPTION_FLAG, NULL, "errors of each toy's fit, from its exact second derivatives, and pulls"},
    {"--save", OPTION_OUTPUT, "FILE",
     "the data of the toys, as a file for --data; FILE.npz: as arrays of NumPy"},
    {"--save-parameters", OPTION_FLAG, NULL, "keep fitted parameters in the store", .needs = "--store FILE"},
    {0},
};

paritas_status load_expected(struct session *session, const char *path, double **expected)
{
    const size_t n = session->n_main + session->n_aux;
    paritas_toy_data *data;
    *expected = arena_numbers(session, n);
    TRY(allocated(session));
    TRY(paritas_toy_data_read(session->context, session->model, path, &data));
    const size_t n_rows = data->n;
    memcpy(*expected, data->rows, n * sizeof **expected);
    paritas_toy_data_free(data);
    return n_rows == 1
               ? PARITAS_OK
               : wrong_input(session, "%s: toys are drawn around one row of data, not %zu", path, n_rows);
}

static paritas_status start_at(struct session *session, const double *point)
{
    double *start = arena_numbers(session, session->n_parameters);
    TRY(allocated(session));
    for (size_t i = 0; i < session->n_parameters; i++)
        start[i] = session->job.fixed[i] ? point[i] : clamped(bounds_of(session, i), point[i]);
    session->job.start = start;
    return read_starts(session, start, NULL);
}

paritas_status check_centre(struct session *session)
{
    if (option_given(session, "--point") && option_given(session, "--expected-data"))
        return usage_failure(
            session, "--point and --expected-data: toys are drawn at a point or around data, not both");
    return PARITAS_OK;
}

static paritas_status name_file(struct session *session, const char *path, paritas_status status)
{
    static const char lead[] = "toys cannot be drawn";
    const char *message = paritas_error_message(session->context);
    if (status == PARITAS_OK || !path || strncmp(message, lead, sizeof lead - 1) != 0) return status;
    char *copy = arena_text(&session->arena, message, strlen(message));
    return !copy ? paritas_fail_memory(session->context)
                 : paritas_fail(session->context, status, "%s: %s", path, copy);
}

/* The data of the toys that were fitted, drawn again: with their numbers that costs no fit. */
static paritas_status save(struct session *session, const char *path, const paritas_toys_request *fitted,
                           const paritas_toys_options *options)
{
    paritas_toys_request request = *fitted;
    paritas_toy_data *data;
    char *text;
    size_t length;
    request.flags = 0;
    TRY(paritas_generate(session->context, session->model, &session->job, &request, options, &data));
    const paritas_status status = write_toys(session, path, data, &text, &length);
    paritas_toy_data_free(data);
    TRY(status);
    const bool written = output_write(path, text, length);
    paritas_text_free(session->context, text);
    return written ? PARITAS_OK
                   : paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the toys were not saved", path);
}

/* A place that cannot be written is told before the fits. */
static paritas_status check(struct session *session)
{
    const char *path = option_text(session, "--save");
    TRY(check_centre(session));
    return !path || output_check(path)
               ? PARITAS_OK
               : paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the toys could not be saved", path);
}

struct drawn {
    paritas_toys_result result;
    paritas_toys_parameter *parameters;
    struct toy_run toys;
};

static paritas_status analyse(struct session *session, void *result)
{
    struct drawn *d = result;
    const char *at = option_text(session, "--point"), *around = option_text(session, "--expected-data");
    double *point = NULL, *expected = NULL;
    d->result.size = sizeof d->result;
    if (at) {
        TRY(load_point(session, at, &point));
        TRY(start_at(session, point));
    }
    if (around) TRY(load_expected(session, around, &expected));
    TRY(toy_run_open(session, &d->toys));
    d->parameters = arena_records(session, session->n_parameters, sizeof *d->parameters);
    TRY(allocated(session));
    const paritas_toys_request request = {
        .size = sizeof request,
        .point = point,
        .expected = expected,
        .flags = (option_flag(session, "--save-parameters") ? PARITAS_TOYS_KEEP_PARAMETERS : 0) |
                 (option_flag(session, "--errors") ? PARITAS_TOYS_ERRORS : 0),
        .parameters = d->parameters};
    paritas_status status =
        paritas_toys(session->context, session->model, &session->job, &request, &d->toys.options, &d->result);
    if (toy_run_lacks_place(session, &status, NULL)) {
        record_clear("paritas_toys_result", &d->result, PARITAS_FIT_NON_FINITE);
        for (size_t i = 0; i < session->n_parameters; i++)
            record_clear("paritas_toys_parameter", &d->parameters[i], PARITAS_FIT_NON_FINITE);
    }
    TRY(name_file(session, at ? at : around, status));
    const char *file = option_text(session, "--save");
    if (file) TRY(save(session, file, &request, &d->toys.options));
    toy_run_close(session, &d->toys, &d->result.tally);
    note_status(session, d->result.status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct drawn *d = result;
    write_string(w, "status", paritas_fit_status_name(d->result.status));
    toy_run_write(w, &d->toys);
    write_array(w, "parameters", true);
    for (size_t i = 0; i < session->n_parameters; i++)
        write_record_row(w, parameter_name(session, i), "paritas_toys_parameter", &d->parameters[i]);
    write_close(w);
}

static void write_text(struct session *session, const void *result)
{
    const struct drawn *d = result;
    struct table table;
    table_open(&table, &session->out, "parameter|generated|mean|rms|pull mean|pull rms", "l 6 6 3 3 3");
    for (size_t i = 0; i < session->n_parameters; i++) {
        const paritas_toys_parameter *p = &d->parameters[i];
        table_row(&table, parameter_name(session, i), p->generated, p->mean, p->rms, p->pull_mean,
                  p->pull_rms);
    }
    table_close(&table);
    toy_run_describe(&session->out, &d->toys);
}

const struct command command_toys = {
    .name = "toys",
    .operands = "WORKSPACE",
    .summary = "toys from a point or expected data, each with its best fit",
    .description = "Main and auxiliary data are drawn around their expectation, and each toy is fitted "
                   "freely. --fix holds parameters in the fits, wherever the toys are drawn. Toy number t "
                   "depends only on --seed and t.",
    .groups = {GROUP_OPTIONS, GROUP_TOYS(NULL), GROUPS_FIT},
    .analysis =
        {
            .result_size = sizeof(struct drawn),
            .check = check,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
