/* command_toys.c: toys from a point or expected data, each with its best fit. */
#include "session.h"
#include "record_output.h"
#include "table.h"
#include "toy_runs.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"--point", 0, OPTION_INPUT, "FILE",
     "draw toys at this point, as of `nll`; default: the best fit to the observed data"},
    {"--expected-data", 0, OPTION_INPUT, "FILE",
     "draw toys around these data: a JSON array, main data then auxiliary, or an object {\"main\": [...], "
     "\"aux\": [...]}"},
    {"--errors", 0, OPTION_FLAG, NULL,
     "errors of every toy's fit, from its exact second derivatives; then there are pulls, too"},
    {"--save-parameters", 0, OPTION_FLAG, NULL, "the store keeps fitted parameters"},
    {0},
};

/* Numbers of a JSON array; `place` names it in messages. */
static paritas_status read_numbers(struct session *session, const char *path, const char *place,
                                   const struct json *array, size_t n, double *values)
{
    if (!json_is(array, JSON_ARRAY))
        return paritas_fail(session->context, PARITAS_INVALID_INPUT,
                            "%s: %s is %s, not an array of %zu numbers", path, place,
                            array ? json_type_name(array) : "missing", n);
    if (array->count != n)
        return paritas_fail(session->context, PARITAS_INVALID_INPUT,
                            "%s: %s has %u numbers; the model has %zu", path, place, array->count, n);
    size_t i = 0;
    for (const struct json *one = array->first; one != NULL; one = one->next, i++) {
        if (!json_is(one, JSON_NUMBER))
            return paritas_fail(session->context, PARITAS_INVALID_INPUT, "%s: %s[%zu] is %s, not a number",
                                path, place, i, json_type_name(one));
        values[i] = one->number;
    }
    return PARITAS_OK;
}

/* Data of --expected-data; whether toys can be drawn from them is the library's to say. In the arena. */
static paritas_status load_expected(struct session *session, const char *path, double **expected)
{
    struct paritas_workspace *document = NULL;
    *expected = numbers(session, session->n_main + session->n_aux);
    if (*expected == NULL) return PARITAS_OUT_OF_MEMORY;
    paritas_status status = json_read_file(session->context, path, &document);
    if (status != PARITAS_OK) return status;
    const struct json *root = document->root;
    if (json_is(root, JSON_ARRAY)) {
        status = read_numbers(session, path, "the array", root, session->n_main + session->n_aux, *expected);
    } else if (json_is(root, JSON_OBJECT)) {
        const struct json *aux = json_get(root, "aux");
        for (const struct json *one = root->first; one != NULL && status == PARITAS_OK; one = one->next)
            if (strcmp(one->key, "main") != 0 && strcmp(one->key, "aux") != 0)
                status =
                    paritas_fail(session->context, PARITAS_INVALID_INPUT,
                                 "%s: expected data have the keys main and aux, not '%s'", path, one->key);
        if (status == PARITAS_OK)
            status = read_numbers(session, path, "main", json_get(root, "main"), session->n_main, *expected);
        if (status == PARITAS_OK && (aux != NULL || session->n_aux > 0))
            status = read_numbers(session, path, "aux", aux, session->n_aux, *expected + session->n_main);
    } else {
        status =
            paritas_fail(session->context, PARITAS_INVALID_INPUT,
                         "%s: expected data are an array, or an object with the keys main and aux, not %s",
                         path, json_type_name(root));
    }
    for (size_t i = 0; i < session->n_main && status == PARITAS_OK; i++)
        if ((*expected)[i] < 0.0)
            status = paritas_fail(session->context, PARITAS_INVALID_INPUT,
                                  "%s: main[%zu] is %.10g: an expected count cannot be negative", path, i,
                                  (*expected)[i]);
    paritas_workspace_free(document);
    return status;
}

/* Fits start at the point, but for what --init and --fix name. In the arena. */
static paritas_status start_at(struct session *session, const double *point)
{
    static const char *const named[2] = {"--init", "--fix"};
    double *start = numbers(session, session->n_parameters);
    if (start == NULL) return PARITAS_OUT_OF_MEMORY;
    const double *lower = paritas_model_lower_bounds(session->model),
                 *upper = paritas_model_upper_bounds(session->model);
    for (size_t i = 0; i < session->n_parameters; i++) {
        start[i] = session->job.fixed[i] || (point[i] >= lower[i] && point[i] <= upper[i]) ? point[i]
                   : point[i] < lower[i]                                                   ? lower[i]
                                                                                           : upper[i];
    }
    for (int k = 0; k < 2; k++) {
        size_t at = 0, i;
        for (const struct given *given; (given = option_next(session->arguments, named[k], &at)) != NULL;) {
            const paritas_status status =
                paritas_model_parameter_index(session->context, session->model, given->text, &i);
            if (status != PARITAS_OK) return status;
            start[i] = given->number;
        }
    }
    session->job.start = start;
    return PARITAS_OK;
}

static void write_table(struct session *session, const struct toy_run *toys,
                        const paritas_toys_parameter *parameters, const paritas_toys_tally *tally)
{
    struct table table;
    table_open(&table, &session->context->allocator, "parameter|generated|mean|rms|pull mean|pull rms",
               "lrrrrr");
    for (size_t i = 0; i < session->n_parameters; i++) {
        table_text(&table, paritas_model_parameter_name(session->model, i));
        table_number(&table, parameters[i].generated, 6);
        table_number(&table, parameters[i].mean, 6);
        table_number(&table, parameters[i].rms, 3);
        table_number(&table, parameters[i].pull_mean, 3);
        table_number(&table, parameters[i].pull_rms, 3);
    }
    table_close(&table, &session->out);
    toy_run_describe(&session->out, toys, tally);
}

static void write_json(struct session *session, const struct toy_run *toys,
                       const paritas_toys_parameter *parameters, const paritas_toys_result *result)
{
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_string(w, "status", paritas_fit_status_name(result->status));
    toy_run_write(w, toys, &result->tally);
    write_array(w, "parameters", true);
    for (size_t i = 0; i < session->n_parameters; i++) {
        write_object(w, NULL, false);
        write_string(w, "name", paritas_model_parameter_name(session->model, i));
        write_record(w, "paritas_toys_parameter", &parameters[i]);
        write_close(w);
    }
    write_close(w);
    write_provenance(session);
    write_close(w);
}

/* What the command line says that no option says alone. */
static paritas_status check_usage(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const char *reason = NULL;
    if (option_given(arguments, "--point") != NULL && option_given(arguments, "--expected-data") != NULL)
        reason = "--point and --expected-data: toys are drawn at a point or around data, not both";
    else if (option_flag(arguments, "--save-parameters") && option_given(arguments, "--store") == NULL)
        reason = "--save-parameters needs --store FILE";
    if (reason == NULL) return PARITAS_OK;
    return usage_failure(session, "%s", reason);
}

/* What the library says of expectations that nothing can be drawn from does not know the file that they come
 * from. */
static paritas_status name_file(struct session *session, const char *path, paritas_status status)
{
    static const char lead[] = "toys cannot be drawn";
    const char *message = paritas_error_message(session->context);
    if (status == PARITAS_OK || path == NULL || strncmp(message, lead, sizeof lead - 1) != 0) return status;
    char *copy = arena_text(&session->arena, message, strlen(message));
    return copy == NULL ? paritas_fail_memory(session->context)
                        : paritas_fail(session->context, status, "%s: %s", path, copy);
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const char *at = option_text(arguments, "--point", NULL),
               *around = option_text(arguments, "--expected-data", NULL);
    const unsigned flags = (option_flag(arguments, "--save-parameters") ? PARITAS_TOYS_KEEP_PARAMETERS : 0) |
                           (option_flag(arguments, "--errors") ? PARITAS_TOYS_ERRORS : 0);
    double *point = NULL, *expected = NULL;
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    struct toy_run toys;
    paritas_status status = check_usage(session);
    if (status == PARITAS_OK) status = load_model(session);
    if (status == PARITAS_OK && at != NULL) status = load_point(session, at, &point);
    if (status == PARITAS_OK && at != NULL) status = start_at(session, point);
    if (status == PARITAS_OK && around != NULL) status = load_expected(session, around, &expected);
    if (status == PARITAS_OK) status = toy_run_open(session, &toys);
    if (status != PARITAS_OK) return status;
    paritas_toys_parameter *parameters = sized_records(session, session->n_parameters, sizeof *parameters);
    if (parameters == NULL) return PARITAS_OUT_OF_MEMORY;
    status = paritas_toys(session->context, session->model, &session->job,
                          &(paritas_toys_request){.size = sizeof(paritas_toys_request),
                                                  .point = point,
                                                  .expected = expected,
                                                  .flags = flags,
                                                  .parameters = parameters},
                          &toys.options, &result);
    if (status != PARITAS_OK) return name_file(session, at != NULL ? at : around, status);
    toy_run_close(session, &toys, result.tally.counts);
    note_status(session, result.status);
    if (session->json)
        write_json(session, &toys, parameters, &result);
    else
        write_table(session, &toys, parameters, &result.tally);
    return PARITAS_OK;
}

const struct command command_toys = {
    .name = "toys",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "toys from a point or expected data, each with its best fit",
    .description = "Main and auxiliary data are drawn around their expectation, and each toy is fitted "
                   "freely. --fix holds parameters in the fits, wherever the toys are drawn. Toy number t "
                   "depends only on --seed and t.",
    .groups = {{"Options", options},
               GROUP_TOYS,
               GROUP_JOB,
               GROUP_PATCHES,
               GROUP_MODEL,
               GROUP_ENGINE,
               GROUP_OUTPUT,
               GROUP_END},
    .run = run,
};
