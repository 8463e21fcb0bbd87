/* session_points.c: points and data that options name: a file, Asimov data, centres of constraints. */
#include "session/session.h"

#include <string.h>

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
    TRY(paritas_asimov_data(session->context, session->model, &session->job, given->number, &result, data));
    note_status(session, result.status);
    session->job.data = data;
    return PARITAS_OK;
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
