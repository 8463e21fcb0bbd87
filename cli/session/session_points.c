/* session_points.c: points and data that options name: a file, Asimov data, centres of constraints. */
#include "session/session.h"

#include <string.h>

/* What is expected where fits start, with the parameter of interest at `mu`. */
static paritas_status expect_prefit(struct session *session, double mu, double *data)
{
    double *point;
    TRY(load_point(session, NULL, &point));
    point[poi_of(session)] = mu;
    return paritas_expected_data(session->context, session->model, 1, point, data);
}

paritas_status load_asimov(struct session *session)
{
    const struct given *given = option_given(session, "--asimov");
    if (!given) return PARITAS_OK;
    TRY(require_poi(session));
    const struct range bounds = bounds_of(session, (size_t)poi_of(session));
    if (!in_range(bounds, given->number))
        return paritas_refuse(session->context, "--asimov %.10g lies outside the bounds [%.10g, %.10g] of %s",
                              given->number, bounds.lower, bounds.upper, poi_name(session));
    double *data = arena_numbers(session, session->n_main + session->n_aux);
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    TRY(allocated(session));
    if (option_flag(session, "--prefit"))
        TRY(expect_prefit(session, given->number, data));
    else
        TRY(paritas_asimov_data(session->context, session->model, &session->job, given->number, &result,
                                data));
    note_status(session, result.status);
    session->job.data = data;
    return PARITAS_OK;
}

/* Toy --toy of the file, or its first; without --toy commands go on to the others. */
paritas_status load_data(struct session *session)
{
    const char *path = option_text(session, "--data");
    if (!path) return PARITAS_OK;
    if (option_given(session, "--asimov"))
        return usage_failure(session, "--data and --asimov: the data are one of the two");
    TRY(paritas_toy_data_read(session->context, session->model, path, &session->data));
    const paritas_toy_data *data = session->data;
    const struct given *toy = option_given(session, "--toy");
    if (toy && (toy->whole < data->first || toy->whole - data->first >= data->n))
        return wrong_input(session, "%s: there is no toy %llu: it has %zu, from %llu on", path,
                           (unsigned long long)toy->whole, data->n, (unsigned long long)data->first);
    session->n_toys = toy ? 1 : data->n;
    if (session->n_toys > 1 &&
        (wants_patchset(session->arguments) || session->arguments->command->whole_sets))
        return usage_failure(session, "%s has %zu toys: choose one with --toy T", path, data->n);
    session->toy_row = arena_numbers(session, session->n_main + session->n_aux);
    TRY(allocated(session));
    use_toy(session, toy ? (size_t)(toy->whole - data->first) : 0);
    session->job.data = session->toy_row;
    if (session->n_toys > 1) return PARITAS_OK;
    paritas_toy_data_free(session->data);
    session->data = NULL;
    return PARITAS_OK;
}

void use_toy(struct session *session, size_t toy)
{
    const size_t n = session->n_main + session->n_aux;
    session->toy = toy;
    memcpy(session->toy_row, session->data->rows + toy * n, n * sizeof *session->toy_row);
}

static paritas_status set_value(struct session *session, const char *path, const char *name,
                                const struct json *value, double *point)
{
    size_t i;
    if (!json_is(value, JSON_NUMBER))
        return wrong_input(session, "%s: the value of '%s' is %s, not a number", path, name,
                           json_type_name(value));
    paritas_status status = paritas_model_parameter_index(session->context, session->model, name, &i);
    if (status == PARITAS_NOT_FOUND)
        return paritas_fail(session->context, status, "%s: the model has no parameter '%s'", path, name);
    if (status == PARITAS_OK) point[i] = value->number;
    return status;
}

static paritas_status read_point(struct session *session, const char *path, const struct json *root,
                                 double *point)
{
    const struct json *parameters = json_get(root, "parameters"), *one = root->first;
    const bool by_place = json_is(root, JSON_ARRAY), of_fit = json_is(parameters, JSON_ARRAY);
    if (by_place && root->count != session->n_parameters)
        return wrong_input(session, "%s: an array of %u values for a model of %zu parameters", path,
                           root->count, session->n_parameters);
    if (!by_place && !json_is(root, JSON_OBJECT))
        return wrong_input(session, "%s: a point is an array in parameter order or an object by name, not %s",
                           path, json_type_name(root));
    if (of_fit) one = parameters->first;
    for (size_t i = 0; one; one = one->next, i++) {
        const struct json *named = json_get(one, "name");
        if (of_fit && !json_is(named, JSON_STRING))
            return wrong_input(session, "%s: an entry of parameters has no name", path);
        const char *name = of_fit     ? named->text
                           : by_place ? paritas_model_parameter_name(session->model, i)
                                      : one->key;
        TRY(set_value(session, path, name, of_fit ? json_get(one, "value") : one, point));
    }
    return PARITAS_OK;
}

paritas_status load_point(struct session *session, const char *path, double **point)
{
    *point = arena_numbers(session, session->n_parameters);
    TRY(allocated(session));
    memcpy(*point, session->job.start, session->n_parameters * sizeof **point);
    if (!path) return PARITAS_OK;
    struct paritas_workspace *document = NULL;
    TRY(json_read_file(session->context, path, &document));
    const paritas_status status = read_point(session, path, document->root, *point);
    paritas_workspace_free(document);
    return status;
}

paritas_status load_centres(struct session *session, double **centres)
{
    *centres = arena_numbers(session, session->n_parameters);
    TRY(allocated(session));
    return paritas_constraint_centres(session->context, session->model, session->job.data, *centres);
}
