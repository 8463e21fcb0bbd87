/* toys.c: toys and their best fits. */
#include "print/record_output.h"
#include "commands/models/toy_runs.h"

#include <string.h>

static const struct option options[] = {
    {"--point", OPTION_INPUT, "FILE",
     "draw toys at this point, a file as for `nll --point`; default: the best fit to the observed data"},
    {"--expected-data", OPTION_INPUT, "FILE",
     "draw toys around these data: a JSON array, main data then auxiliary, or an object {\"main\": [...], "
     "\"aux\": [...]}"},
    {"--errors", OPTION_FLAG, NULL, "errors of each toy's fit, from its exact second derivatives, and pulls"},
    {"--save-parameters", OPTION_FLAG, NULL, "keep fitted parameters in the store", .needs = "--store FILE"},
    {0},
};

/* `place` names the array in messages. */
static paritas_status read_numbers(struct session *session, const char *path, const char *place,
                                   const struct json *array, size_t n, double *values)
{
    if (!json_is(array, JSON_ARRAY))
        return wrong_input(session, "%s: %s is %s, not an array of %zu numbers", path, place,
                           array ? json_type_name(array) : "missing", n);
    if (array->count != n)
        return wrong_input(session, "%s: %s has %u numbers; the model has %zu", path, place, array->count, n);
    size_t i = 0;
    for (const struct json *one = array->first; one; one = one->next, i++) {
        if (!json_is(one, JSON_NUMBER))
            return wrong_input(session, "%s: %s[%zu] is %s, not a number", path, place, i,
                               json_type_name(one));
        values[i] = one->number;
    }
    return PARITAS_OK;
}

/* An array or an object; the library checks that toys can be drawn. */
static paritas_status read_expected(struct session *session, const char *path, const struct json *root,
                                    double *expected)
{
    const size_t n_main = session->n_main, n_aux = session->n_aux;
    if (json_is(root, JSON_ARRAY)) {
        TRY(read_numbers(session, path, "the array", root, n_main + n_aux, expected));
    } else if (json_is(root, JSON_OBJECT)) {
        const struct json *aux = json_get(root, "aux");
        for (const struct json *one = root->first; one; one = one->next)
            if (strcmp(one->key, "main") != 0 && strcmp(one->key, "aux") != 0)
                return wrong_input(session, "%s: expected data have the keys main and aux, not '%s'", path,
                                   one->key);
        TRY(read_numbers(session, path, "main", json_get(root, "main"), n_main, expected));
        if (aux || n_aux > 0) TRY(read_numbers(session, path, "aux", aux, n_aux, expected + n_main));
    } else {
        return wrong_input(session,
                           "%s: expected data are an array, or an object with the keys main and aux, not %s",
                           path, json_type_name(root));
    }
    for (size_t i = 0; i < n_main; i++)
        if (expected[i] < 0.0)
            return wrong_input(session, "%s: main[%zu] is %.10g: an expected count cannot be negative", path,
                               i, expected[i]);
    return PARITAS_OK;
}

static paritas_status load_expected(struct session *session, const char *path, double **expected)
{
    struct paritas_workspace *document = NULL;
    *expected = arena_numbers(session, session->n_main + session->n_aux);
    TRY(allocated(session));
    TRY(json_read_file(session->context, path, &document));
    const paritas_status status = read_expected(session, path, document->root, *expected);
    paritas_workspace_free(document);
    return status;
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

static paritas_status check(struct session *session)
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
