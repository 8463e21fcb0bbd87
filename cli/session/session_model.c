/* session_model.c: the model and the job of a run, and its parameters of interest. */
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the parameter of interest a held value may lie above the bound, as the value that a test asks for. */
static bool widens(const struct session *session, size_t parameter, double value)
{
    const struct range bounds = bounds_of(session, parameter);
    return is_of_interest(session, parameter) && value > bounds.upper &&
           value <= paritas_widest_bound(session->model, parameter);
}

static void print_widening(const struct session *session, size_t parameter, double value)
{
    if (option_flag(session, "--quiet")) return;
    paritas_note(session->context,
                 "the upper bound of %s was widened from %.6g to %.6g, where --fix holds it",
                 parameter_name(session, parameter), bounds_of(session, parameter).upper, value);
}

void describe_widening(struct session *session, bool widened, double upper, double best)
{
    if (!widened) return;
    const size_t poi = (size_t)poi_of(session);
    const double before = bounds_of(session, poi).upper;
    text_format(&session->out,
                "The upper bound of %s was widened from %.6g to %.6g, as %s lies beyond; --range sets "
                "another\n",
                parameter_name(session, poi), before, upper,
                best > before ? "the best fit" : "a tested value");
}

/* Sets the start of parameter i, and holds it there if `fixed` is not NULL. A value of NaN: its start. */
static paritas_status set_start(struct session *session, const struct given *given, size_t i, double *start,
                                unsigned char *fixed)
{
    const double value = isnan(given->number) ? start[i] : given->number;
    const struct range bounds = bounds_of(session, i);
    if (fixed && widens(session, i, value))
        print_widening(session, i, value);
    else if (!in_range(bounds, value))
        return paritas_refuse(session->context, "%s %s=%.10g lies outside the bounds [%.10g, %.10g]",
                              given->option->name, parameter_name(session, i), value, bounds.lower,
                              bounds.upper);
    start[i] = value;
    if (fixed) fixed[i] = 1;
    return PARITAS_OK;
}

/* All that match, but for parameters of interest. */
static paritas_status hold_matches(struct session *session, const struct given *given, double *start,
                                   unsigned char *fixed)
{
    unsigned char *members = arena_elements(session, session->n_parameters, 1);
    const ptrdiff_t poi = poi_of(session);
    TRY(allocated(session));
    TRY(paritas_match_parameters(session->context, session->model, given->text, members));
    if (poi >= 0) members[poi] = 0;
    for (size_t k = 0; k < session->job.n_pois; k++) members[session->job.pois[k]] = 0;
    for (size_t i = 0; i < session->n_parameters; i++)
        if (members[i]) TRY(set_start(session, given, i, start, fixed));
    return PARITAS_OK;
}

/* A name is given once: of two values one would be lost. Patterns may overlap. */
static paritas_status check_repeats(struct session *session, const char *option)
{
    size_t at = 0;
    for (const struct given *given; (given = option_next(session, option, &at));) {
        size_t later = at;
        for (const struct given *other; (other = option_next(session, option, &later));)
            if (strcmp(given->text, other->text) == 0)
                return usage_failure(session, "%s %s is given twice: give it once", option, given->text);
    }
    return PARITAS_OK;
}

paritas_status read_starts(struct session *session, double *start, unsigned char *fixed)
{
    TRY(check_repeats(session, "--init"));
    TRY(check_repeats(session, "--fix"));
    unsigned char *flags = fixed ? fixed : arena_elements(session, session->n_parameters, 1);
    size_t at = 0, i;
    TRY(allocated(session));
    for (const struct given *given; (given = option_next(session, "--init", &at));) {
        TRY(paritas_model_parameter_index(session->context, session->model, given->text, &i));
        TRY(set_start(session, given, i, start, NULL));
    }
    at = 0;
    for (const struct given *given; (given = option_next(session, "--fix", &at));) {
        if (strpbrk(given->text, "*?")) {
            TRY(hold_matches(session, given, start, flags));
            continue;
        }
        TRY(paritas_model_parameter_index(session->context, session->model, given->text, &i));
        TRY(set_start(session, given, i, start, flags));
    }
    return PARITAS_OK;
}

static paritas_status copy_starts(struct session *session, double **start, unsigned char **fixed)
{
    const size_t n = session->n_parameters;
    *start = arena_numbers(session, n);
    *fixed = arena_elements(session, n, 1);
    TRY(allocated(session));
    session->job.start = memcpy(*start, session->job.start, n * sizeof **start);
    session->job.fixed = memcpy(*fixed, session->job.fixed, n);
    return PARITAS_OK;
}

/* Starts and iterations of each fit. */
static paritas_status read_effort(struct session *session)
{
    const bool quick = option_flag(session, "--quick");
    if (quick && option_given(session, "--starts"))
        return usage_failure(session, "--quick is --starts 1: give one of the two");
    TRY(options_take(session, "paritas_job", &session->job));
    if (quick) session->job.starts = 1;
    return PARITAS_OK;
}

/* Does --poi ask for all that the measurement lists? */
static bool asks_for_all(const struct session *session)
{
    size_t at = 0;
    for (const struct given *given; (given = option_next(session, "--poi", &at));)
        if (strcmp(given->text, "all") == 0) return true;
    return false;
}

/* Returns NULL for the measurement's parameter of interest. */
static const char *first_poi(const struct session *session)
{
    size_t at = 0;
    const struct given *given = option_next(session, "--poi", &at);
    if (session->poi_if_there) return session->poi_if_there;
    return given && !asks_for_all(session) ? given->text : NULL;
}

/* One of several makes job.pois: commands that take them in turn move on from it. */
static paritas_status read_pois(struct session *session)
{
    const paritas_model *model = session->model;
    size_t at = 0, n_given = 0, n = 0;
    while (option_next(session, "--poi", &at)) n_given++;
    const bool all = asks_for_all(session);
    if (all && n_given > 1) return usage_failure(session, "--poi all cannot be combined with other names");
    if (!all && n_given < 2) {
        session->n_pois = poi_of(session) >= 0;
        return PARITAS_OK;
    }
    session->n_pois = all ? paritas_model_poi_count(model) : n_given;
    session->pois = arena_elements(session, session->n_pois, sizeof *session->pois);
    TRY(allocated(session));
    if (all && session->n_pois > 0)
        memcpy(session->pois, paritas_model_pois(model), session->n_pois * sizeof *session->pois);
    at = 0;
    for (const struct given *given; !all && (given = option_next(session, "--poi", &at)); n++) {
        if (given->text[0] == '\0')
            return usage_failure(session, "--poi \"\" says that there is none: give it alone");
        TRY(paritas_model_parameter_index(session->context, model, given->text, &session->pois[n]));
        for (size_t k = 0; k < n; k++)
            if (session->pois[k] == session->pois[n])
                return usage_failure(session, "--poi %s is given twice", given->text);
    }
    session->job.pois = session->pois;
    session->job.n_pois = session->n_pois;
    if (session->n_pois < 2) return PARITAS_OK;
    if (option_given(session, "--asimov"))
        return usage_failure(session, "--asimov holds one parameter of interest, and --poi names several");
    return PARITAS_OK;
}

paritas_model_options model_options(const struct session *session)
{
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.measurement = option_text(session, "--measurement");
    options.normsys_code =
        (paritas_normsys_code)option_constant(session, "--normsys-code", "paritas_normsys_code");
    options.histosys_code =
        (paritas_histosys_code)option_constant(session, "--histosys-code", "paritas_histosys_code");
    options.clip_sample = option_flag(session, "--clip-sample");
    options.clip_sample_at = option_number_or(session, "--clip-sample", 0.0);
    options.clip_bin = option_flag(session, "--clip-bin");
    options.clip_bin_at = option_number_or(session, "--clip-bin", 0.0);
    return options;
}

paritas_status create_model_of(struct session *session, const paritas_workspace *workspace,
                               paritas_model **model)
{
    const paritas_model_options options = model_options(session);
    return paritas_model_create(session->context, workspace, &options, model);
}

static paritas_status create_model(struct session *session)
{
    paritas_model_options options = model_options(session);
    options.poi = first_poi(session);
    paritas_status status =
        paritas_model_create(session->context, session->workspace, &options, &session->model);
    if (status == PARITAS_NOT_FOUND && session->poi_if_there) {
        options.poi = "";
        status = paritas_model_create(session->context, session->workspace, &options, &session->model);
    }
    if (status == PARITAS_NOT_FOUND && options.poi && strchr(options.poi, ','))
        return usage_failure(session, "--poi %s: there is no such parameter; give --poi once for each",
                             options.poi);
    return status;
}

paritas_status load_model(struct session *session)
{
    if (!session->workspace) TRY(load_workspace(session));
    TRY(create_model(session));
    const paritas_model *model = session->model;
    session->n_parameters = paritas_model_parameter_count(model);
    session->n_main = paritas_model_main_count(model);
    session->n_aux = paritas_model_aux_count(model);
    session->job.start = paritas_model_suggested_init(model);
    session->job.fixed = paritas_model_suggested_fixed(model);
    double *start;
    unsigned char *fixed;
    TRY(read_pois(session));
    TRY(copy_starts(session, &start, &fixed));
    TRY(read_ranges(session));
    TRY(read_starts(session, start, fixed));
    TRY(check_ranges(session));
    TRY(read_effort(session));
    TRY(load_data(session));
    return load_asimov(session);
}

ptrdiff_t poi_of(const struct session *session)
{
    return session->job.n_pois > 0 ? (ptrdiff_t)*session->job.pois : paritas_model_poi_index(session->model);
}

bool has_free_poi(const struct session *session)
{
    const ptrdiff_t poi = poi_of(session);
    return poi >= 0 && !session->job.fixed[poi];
}

static bool is_at_upper_bound(const struct session *session, const double *values)
{
    for (size_t i = 0; i < session->n_parameters; i++)
        if (!session->job.fixed[i] && upper_gives_way(session, i) && values[i] >= bounds_of(session, i).upper)
            return true;
    return false;
}

paritas_status fit_best(struct session *session, paritas_fit_answers answers)
{
    const size_t n = session->n_parameters;
    double *upper = arena_numbers(session, n);
    if (!answers.parameters) answers.parameters = arena_numbers(session, n);
    TRY(allocated(session));
    paritas_job job = session->job;
    answers.size = sizeof answers;
    TRY(paritas_fit_lowest(session->context, session->model, NULL, &job, &answers));
    if (!is_at_upper_bound(session, answers.parameters)) return PARITAS_OK;
    TRY(paritas_best_fit_bounds(session->context, session->model, &job, upper));
    job.upper = upper;
    return paritas_fit_lowest(session->context, session->model, NULL, &job, &answers);
}

const char *parameter_name(const struct session *session, size_t parameter)
{
    return paritas_model_parameter_name(session->model, parameter);
}

const char *masked_word(const struct session *session, size_t channel)
{
    return paritas_model_channel_masked(session->model, channel) ? "masked" : "";
}

const char *poi_name(const struct session *session)
{
    ptrdiff_t poi = poi_of(session);
    return poi < 0 ? NULL : parameter_name(session, (size_t)poi);
}

paritas_status refuse_several_pois(struct session *session)
{
    if (session->n_pois < 2) return PARITAS_OK;
    return usage_failure(session, "%s takes one --poi", session->arguments->command->name);
}

paritas_status require_poi(struct session *session)
{
    if (poi_of(session) >= 0) return PARITAS_OK;
    const char *command = session->arguments->command->name, *label = session->workspace->label;
    const char *wanted = option_text(session, "--measurement");
    /* of names only --poi "" gets here: missing ones are refused before */
    if (option_given(session, "--poi") && !asks_for_all(session))
        return paritas_fail(session->context, PARITAS_NOT_FOUND,
                            "%s needs a parameter of interest, and --poi says that there is none", command);
    const struct json *measurements = json_get(session->workspace->root, "measurements");
    size_t index = 0;
    const struct json *measurement = measurements ? measurements->first : NULL;
    for (; wanted && measurement && !json_text_is(json_get(measurement, "name"), wanted);
         measurement = measurement->next)
        index++;
    const struct json *poi = json_get(json_get(measurement, "config"), "poi");
    if (!poi || poi->length == 0)
        return paritas_fail(session->context, PARITAS_NOT_FOUND,
                            "%s: measurements[%zu].config.poi: %s needs a parameter of interest, and none is "
                            "named; --poi NAME names one",
                            label, index, command);
    return paritas_fail(session->context, PARITAS_NOT_FOUND,
                        "%s: measurements[%zu].config.poi: no modifier of the model is named '%s'; "
                        "--patch or --patchset adds the signal to a background, --poi NAME names another "
                        "parameter of interest",
                        label, index, poi->text);
}
