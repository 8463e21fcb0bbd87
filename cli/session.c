/* session.c: opening a context, loading workspaces, models, jobs and points as all commands do. */
#define _POSIX_C_SOURCE 200809L
#include "session.h"
#include "infer/infer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option options_job[] = {
    {"--fix", 0, OPTION_NAMED, "NAME=V", "hold a parameter at a value (repeatable)"},
    {"--init", 0, OPTION_NAMED, "NAME=V", "start a parameter there (repeatable)"},
    {0},
};

const struct option options_patches[] = {
    {"--patch", 0, OPTION_INPUT, "FILE", "apply a JSON Patch to the workspace (repeatable)"},
    {"--patchset", 0, OPTION_INPUT, "FILE", "patch set of this workspace; its digests are checked"},
    {"--patch-name", 0, OPTION_TEXT, "NAME", "the patch of the patch set to apply"},
    {0},
};

const struct option options_model[] = {
    {"--measurement", 0, OPTION_TEXT, "NAME", "measurement; default: the first"},
    {"--poi", 0, OPTION_TEXT, "NAME", "parameter of interest; default: the measurement's; \"\": none"},
    {"--normsys-code", 0, OPTION_CHOICE, "1|4", "interpolation of normsys; default: 4"},
    {"--histosys-code", 0, OPTION_CHOICE, "0|2|4p", "interpolation of histosys; default: 4p"},
    {"--clip-sample", 0, OPTION_NUMBER, "RATE", "clip the rate of each sample in each bin from below"},
    {"--clip-bin", 0, OPTION_NUMBER, "RATE", "clip the rate of each bin from below"},
    {0},
};

/* `fits`: what becomes of fits in f32, ended by "; ". */
#define ENGINE_ROWS(fits)                                                      \
    {"--threads", 0, OPTION_COUNT, "N", "threads; default: one a processor"},  \
        {"--device", 0, OPTION_TEXT, "NAME",                                   \
         "auto, cpu or a device that `paritas devices` lists; default: auto"}, \
        {"--precision", 0, OPTION_CHOICE, "f64|f32|auto",                      \
         "of the kernels; " fits                                               \
         "auto: f64 where the device has it at useful speed, else f32; default: f64"}

const struct option options_engine[] = {
    ENGINE_ROWS("fits in f32 are polished in f64; "),
    {"--no-polish", 0, OPTION_FLAG, NULL,
     "keep f32 fits without the f64 polish, to test f32 itself: parameters may be 0.003 errors from the "
     "minimum, or worse. Differences of 2 NLL below 1e-4 are rounding"},
    {0},
};

const struct option options_fit_engine[] = {
    ENGINE_ROWS(""),
    {0},
};

#define JSON_ROW {"--json", 0, OPTION_FLAG, NULL, "answer as one JSON document"}
#define LAST_ROWS                                                       \
    {"--quiet", 0, OPTION_FLAG, NULL, "no progress on standard error"}, \
        {"--help", 'h', OPTION_FLAG, NULL, "this text"}, {0}

const struct option options_output[] = {
    JSON_ROW,
    {"--output-file", 'o', OPTION_TEXT, "FILE",
     "write the answer there, whole or not at all; -: standard output, the default"},
    LAST_ROWS,
};

const struct option options_answer[] = {
    JSON_ROW,
    LAST_ROWS,
};

/* What an environment variable says; NULL: it is not set, or empty. */
static const char *environment(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* PARITAS_LANES; 0 where it says nothing, or (then `wrong` is its text) no width that kernels are built
 * for. */
static unsigned environment_lanes(const char **wrong)
{
    static const struct {
        const char *text;
        unsigned lanes;
    } widths[] = {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}};
    const char *text = environment("PARITAS_LANES");
    *wrong = NULL;
    if (text == NULL) return 0;
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        if (strcmp(text, widths[k].text) == 0) return widths[k].lanes;
    *wrong = text;
    return 0;
}

const char *environment_device(void)
{
    return environment("PARITAS_DEVICE");
}

/* Does the command evaluate something? */
static bool takes_device(const struct command *command)
{
    for (const struct option_group *group = command->groups; group->options != NULL; group++)
        if (group->options == options_engine || group->options == options_fit_engine) return true;
    return false;
}

/* Commands that evaluate nothing need no device, whatever the environment says. */
static const char *device_of(const struct arguments *arguments)
{
    if (!takes_device(arguments->command)) return "cpu";
    const char *named = environment_device();
    return option_text(arguments, "--device", named != NULL ? named : "auto");
}

static void print_note(void *user, const char *message)
{
    (void)user;
    fprintf(stderr, "paritas: %s\n", message);
}

/* The folder of compiled kernels: PARITAS_CACHE ("" for none), else where the system keeps what may be made
 * again. */
static const char *cache_folder(char *path, size_t room)
{
    const char *given = getenv("PARITAS_CACHE"), *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
    if (given != NULL) return given[0] != '\0' ? given : NULL;
#if defined(__APPLE__)
    const char *below = "Library/Caches";
#else
    const char *below = ".cache";
#endif
    if (xdg != NULL && xdg[0] == '/')
        snprintf(path, room, "%s/paritas", xdg);
    else if (home != NULL && home[0] == '/')
        snprintf(path, room, "%s/%s/paritas", home, below);
    else
        return NULL;
    return strlen(path) + 1 < room ? path : NULL;
}

/* Arena and answer, once there is a context. */
static void open_outputs(struct session *session)
{
    arena_open(&session->arena, &session->context->allocator);
    text_open(&session->out, &session->context->allocator);
    writer_open(&session->writer, &session->out, false);
}

static paritas_status open_context(struct session *session)
{
    paritas_status status = paritas_open(&session->options, &session->context);
    if (session->context != NULL) open_outputs(session);
    return status;
}

paritas_status session_open(struct session *session, const struct arguments *arguments)
{
    *session = (struct session){.job = PARITAS_JOB_DEFAULT};
    session->arguments = arguments;
    session->json = option_flag(arguments, "--json");
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    const char *precision = option_text(arguments, "--precision", "f64"), *wrong_lanes;
    options.threads = (unsigned)option_count(arguments, "--threads", 0);
    options.isa = environment("PARITAS_ISA");
    options.lanes = environment_lanes(&wrong_lanes);
    options.cache = cache_folder(session->cache, sizeof session->cache);
    options.device = device_of(arguments);
    options.precision = strcmp(precision, "f32") == 0    ? 32
                        : strcmp(precision, "auto") == 0 ? PARITAS_PRECISION_AUTO
                                                         : 64;
    options.no_polish = option_flag(arguments, "--no-polish");
    options.progress = progress_report;
    options.progress_user = &session->progress;
    if (!option_flag(arguments, "--quiet")) options.note = print_note;
    progress_open(&session->progress, option_flag(arguments, "--quiet"), "fits");
    if (arguments->command->days) {
        recycler_open(&session->recycler);
        options.allocator = &session->recycler.allocator;
    }
    session->options = options;
    const paritas_status status = open_context(session);
    if (status == PARITAS_OK && wrong_lanes != NULL)
        return paritas_fail(session->context, PARITAS_INVALID_ARGUMENT,
                            "PARITAS_LANES takes 1, 2, 4, 8 or 16, not '%s'", wrong_lanes);
    return status;
}

paritas_status session_open_beside(struct session *session, const struct session *first, const char *device)
{
    *session = (struct session){.job = PARITAS_JOB_DEFAULT};
    session->arguments = first->arguments;
    session->json = first->json;
    session->options = first->options;
    session->options.device = device;
    session->options.threads = 1;
    session->options.progress = NULL;
    return open_context(session);
}

void session_share(struct session *session, struct session *first)
{
    *session = (struct session){.job = PARITAS_JOB_DEFAULT};
    session->arguments = first->arguments;
    session->json = first->json;
    session->options = first->options;
    session->context = first->context;
    session->shares = true;
    first->progress.on = false;
    open_outputs(session);
}

void session_clear(struct session *session)
{
    paritas_model_free(session->model);
    paritas_workspace_free(session->workspace);
    arena_free(&session->arena);
    session->model = NULL;
    session->workspace = NULL;
    session->job = (paritas_job)PARITAS_JOB_DEFAULT;
    session->n_parameters = session->n_main = session->n_aux = 0;
    session->not_converged = session->partial = session->wrong_usage = false;
    session->context->message[0] = '\0';
}

void session_close(struct session *session)
{
    if (session->context == NULL) return;
    session_clear(session);
    text_free(&session->out);
    if (!session->shares) paritas_close(session->context);
    session->context = NULL;
    if (session->arguments->command->days) recycler_close(&session->recycler);
}

double *numbers(struct session *session, size_t n)
{
    double *values = arena_array(&session->arena, n + 1, sizeof *values);
    if (values == NULL) paritas_fail_memory(session->context);
    return values;
}

void *arena_records(struct arena *arena, size_t n, size_t size)
{
    char *records = arena_array(arena, n + 1, size);
    for (size_t i = 0; i < n && records != NULL; i++) memcpy(records + i * size, &size, sizeof size);
    return records;
}

void *sized_records(struct session *session, size_t n, size_t size)
{
    void *records = arena_records(&session->arena, n, size);
    if (records == NULL) paritas_fail_memory(session->context);
    return records;
}

bool wants_patchset(const struct arguments *arguments)
{
    return option_given(arguments, "--patchset") != NULL && option_given(arguments, "--patch-name") == NULL;
}

/* Exchanges the session's workspace for a changed copy. */
static void take_workspace(struct session *session, paritas_workspace *changed)
{
    paritas_workspace_free(session->workspace);
    session->workspace = changed;
}

static paritas_status apply_named_patch(struct session *session, const char *path, const char *name)
{
    paritas_workspace *patchset = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_read(session->context, path, &patchset);
    if (status == PARITAS_OK)
        status = paritas_patchset_apply(session->context, session->workspace, patchset, name, &patched);
    if (status == PARITAS_OK) take_workspace(session, patched);
    paritas_workspace_free(patchset);
    return status;
}

static paritas_status apply_patch(struct session *session, const char *path)
{
    paritas_workspace *patch = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_read(session->context, path, &patch);
    if (status == PARITAS_OK)
        status = paritas_workspace_patch(session->context, session->workspace, patch, &patched);
    if (status == PARITAS_OK) take_workspace(session, patched);
    paritas_workspace_free(patch);
    return status;
}

paritas_status apply_patches(struct session *session)
{
    paritas_status status = PARITAS_OK;
    size_t at = 0;
    for (const struct given *given;
         status == PARITAS_OK && (given = option_next(session->arguments, "--patch", &at)) != NULL;)
        status = apply_patch(session, given->text);
    return status;
}

paritas_status load_workspace(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    paritas_status status =
        paritas_workspace_read(session->context, arguments->operands[0], &session->workspace);
    const char *patchset = option_text(arguments, "--patchset", NULL),
               *name = option_text(arguments, "--patch-name", NULL);
    if (status == PARITAS_OK && patchset != NULL && name != NULL)
        status = apply_named_patch(session, patchset, name);
    return status == PARITAS_OK ? apply_patches(session) : status;
}

/* Sets the job's starts and fixed flags from --fix and --init. */
static paritas_status load_job(struct session *session)
{
    const paritas_model *model = session->model;
    size_t n = session->n_parameters;
    double *start = numbers(session, n);
    unsigned char *fixed = arena_array(&session->arena, n + 1, 1);
    if (start == NULL || fixed == NULL) return paritas_fail_memory(session->context);
    memcpy(start, paritas_model_suggested_init(model), n * sizeof *start);
    memcpy(fixed, paritas_model_suggested_fixed(model), n);
    static const char *const options[2] = {"--init", "--fix"};
    for (int k = 0; k < 2; k++) {
        size_t at = 0, i;
        for (const struct given *given; (given = option_next(session->arguments, options[k], &at)) != NULL;) {
            paritas_status status = paritas_model_parameter_index(session->context, model, given->text, &i);
            if (status != PARITAS_OK) return status;
            double lower = paritas_model_lower_bounds(model)[i], upper = paritas_model_upper_bounds(model)[i];
            if (!(given->number >= lower && given->number <= upper))
                return paritas_fail(session->context, PARITAS_INVALID_ARGUMENT,
                                    "%s %s=%.10g lies outside the bounds [%.10g, %.10g]", options[k],
                                    given->text, given->number, lower, upper);
            start[i] = given->number;
            if (k == 1) fixed[i] = 1;
        }
    }
    session->job.start = start;
    session->job.fixed = fixed;
    return PARITAS_OK;
}

paritas_status load_model(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    paritas_status status = session->workspace != NULL ? PARITAS_OK : load_workspace(session);
    if (status != PARITAS_OK) return status;
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    const char *histosys = option_text(arguments, "--histosys-code", NULL);
    options.measurement = option_text(arguments, "--measurement", NULL);
    options.poi = option_text(arguments, "--poi", NULL);
    options.normsys_code = option_text(arguments, "--normsys-code", "4")[0] - '0';
    if (histosys != NULL)
        options.histosys_code = histosys[0] == '0'   ? PARITAS_HISTOSYS_CODE_0
                                : histosys[0] == '2' ? PARITAS_HISTOSYS_CODE_2
                                                     : PARITAS_HISTOSYS_CODE_4P;
    options.clip_sample = option_given(arguments, "--clip-sample") != NULL;
    options.clip_sample_at = option_number(arguments, "--clip-sample", 0.0);
    options.clip_bin = option_given(arguments, "--clip-bin") != NULL;
    options.clip_bin_at = option_number(arguments, "--clip-bin", 0.0);
    status = paritas_model_create(session->context, session->workspace, &options, &session->model);
    if (status != PARITAS_OK) return status;
    session->n_parameters = paritas_model_parameter_count(session->model);
    session->n_main = paritas_model_main_count(session->model);
    session->n_aux = paritas_model_aux_count(session->model);
    return load_job(session);
}

const char *poi_name(const struct session *session)
{
    ptrdiff_t poi = paritas_model_poi_index(session->model);
    return poi < 0 ? NULL : paritas_model_parameter_name(session->model, (size_t)poi);
}

paritas_status require_poi(struct session *session)
{
    if (paritas_model_poi_index(session->model) >= 0) return PARITAS_OK;
    const char *command = session->arguments->command->name, *label = session->workspace->label;
    const char *wanted = option_text(session->arguments, "--measurement", NULL);
    /* only "" gets here: what is not there was refused before */
    if (option_given(session->arguments, "--poi") != NULL)
        return paritas_fail(session->context, PARITAS_NOT_FOUND,
                            "%s needs a parameter of interest, and --poi says that there is none", command);
    const struct json *measurements = json_get(session->workspace->root, "measurements");
    size_t index = 0;
    const struct json *measurement = measurements != NULL ? measurements->first : NULL;
    for (; wanted != NULL && measurement != NULL && !json_text_is(json_get(measurement, "name"), wanted);
         measurement = measurement->next)
        index++;
    const struct json *poi = json_get(json_get(measurement, "config"), "poi");
    if (poi == NULL || poi->length == 0)
        return paritas_fail(session->context, PARITAS_NOT_FOUND,
                            "%s: measurements[%zu].config.poi: %s needs a parameter of interest, and none is "
                            "named; --poi NAME names one",
                            label, index, command);
    return paritas_fail(session->context, PARITAS_NOT_FOUND,
                        "%s: measurements[%zu].config.poi: no modifier of the model is named '%s'; --poi "
                        "NAME names another parameter of interest",
                        label, index, poi->text);
}

paritas_status load_asimov(struct session *session)
{
    const struct given *given = option_given(session->arguments, "--asimov");
    if (given == NULL) return PARITAS_OK;
    paritas_status status = require_poi(session);
    if (status != PARITAS_OK) return status;
    size_t n = session->n_parameters, poi = (size_t)paritas_model_poi_index(session->model);
    double lower = paritas_model_lower_bounds(session->model)[poi],
           upper = paritas_model_upper_bounds(session->model)[poi];
    if (!(given->number >= lower && given->number <= upper))
        return paritas_fail(session->context, PARITAS_INVALID_ARGUMENT,
                            "--asimov %.10g lies outside the bounds [%.10g, %.10g] of %s", given->number,
                            lower, upper, poi_name(session));
    double *start = numbers(session, n), *point = numbers(session, n),
           *data = numbers(session, session->n_main + session->n_aux);
    unsigned char *fixed = arena_array(&session->arena, n + 1, 1);
    if (start == NULL || point == NULL || data == NULL || fixed == NULL)
        return paritas_fail_memory(session->context);
    memcpy(start, session->job.start, n * sizeof *start);
    memcpy(fixed, session->job.fixed, n);
    start[poi] = given->number;
    fixed[poi] = 1;
    paritas_job job = session->job;
    job.start = start;
    job.fixed = fixed;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    status = paritas_fit(
        session->context, session->model, NULL, 1, &job,
        &(paritas_fit_answers){.size = sizeof(paritas_fit_answers), .results = &result, .parameters = point});
    if (status == PARITAS_OK)
        status = paritas_expected_data(session->context, session->model, 1, point, data);
    note_status(session, result.status);
    session->job.data = data;
    return status;
}

/* One named value of a point. */
static paritas_status set_value(struct session *session, const char *path, const char *name,
                                const struct json *value, double *point)
{
    size_t i;
    if (!json_is(value, JSON_NUMBER))
        return paritas_fail(session->context, PARITAS_INVALID_INPUT,
                            "%s: the value of '%s' is %s, not a number", path, name, json_type_name(value));
    paritas_status status = paritas_model_parameter_index(session->context, session->model, name, &i);
    if (status == PARITAS_NOT_FOUND)
        return paritas_fail(session->context, status, "%s: the model has no parameter '%s'", path, name);
    if (status == PARITAS_OK) point[i] = value->number;
    return status;
}

paritas_status load_point(struct session *session, const char *path, double **point)
{
    size_t n = session->n_parameters;
    *point = numbers(session, n);
    if (*point == NULL) return PARITAS_OUT_OF_MEMORY;
    memcpy(*point, session->job.start, n * sizeof **point);
    if (path == NULL) return PARITAS_OK;
    struct paritas_workspace *document = NULL;
    paritas_status status = json_read_file(session->context, path, &document);
    if (status != PARITAS_OK) return status;
    const struct json *root = document->root, *parameters = json_get(root, "parameters");
    if (json_is(root, JSON_ARRAY)) {
        if (root->count != n)
            status =
                paritas_fail(session->context, PARITAS_INVALID_INPUT,
                             "%s: an array of %u values for a model of %zu parameters", path, root->count, n);
        size_t i = 0;
        for (const struct json *value = root->first; value != NULL && status == PARITAS_OK;
             value = value->next, i++)
            status = set_value(session, path, paritas_model_parameter_name(session->model, i), value, *point);
    } else if (json_is(parameters, JSON_ARRAY)) {
        for (const struct json *one = parameters->first; one != NULL && status == PARITAS_OK;
             one = one->next) {
            const struct json *name = json_get(one, "name");
            if (!json_is(name, JSON_STRING))
                status = paritas_fail(session->context, PARITAS_INVALID_INPUT,
                                      "%s: an entry of parameters has no name", path);
            else
                status = set_value(session, path, name->text, json_get(one, "value"), *point);
        }
    } else if (json_is(root, JSON_OBJECT)) {
        for (const struct json *value = root->first; value != NULL && status == PARITAS_OK;
             value = value->next)
            status = set_value(session, path, value->key, value, *point);
    } else {
        status = paritas_fail(session->context, PARITAS_INVALID_INPUT,
                              "%s: a point is an array in parameter order or an object by name, not %s", path,
                              json_type_name(root));
    }
    paritas_workspace_free(document);
    return status;
}

paritas_status load_centres(struct session *session, double **centres)
{
    *centres = numbers(session, session->n_parameters);
    if (*centres == NULL) return PARITAS_OUT_OF_MEMORY;
    struct infer infer;
    paritas_status status = infer_open(&infer, session->context, session->model, &session->job, false);
    if (status == PARITAS_OK) status = infer_constraint_centres(&infer, *centres);
    infer_close(&infer);
    return status;
}

paritas_status usage_failure(struct session *session, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    session->wrong_usage = true;
    return paritas_fail(session->context, PARITAS_INVALID_ARGUMENT, "%s", text);
}

void note_status(struct session *session, paritas_fit_status status)
{
    if (status != PARITAS_FIT_CONVERGED) session->not_converged = true;
}

/* Values at given points are what the kernels answered: fits alone are polished. */
static const char *polish_of(const struct session *session)
{
    return session->no_fits ? "none" : paritas_polish_name(session->context);
}

void write_provenance(struct session *session)
{
    write_string(&session->writer, "poi", poi_name(session));
    write_string(&session->writer, "device", paritas_device_name(session->context));
    write_string(&session->writer, "precision", paritas_precision_name(session->context));
    write_string(&session->writer, "polish", polish_of(session));
}

void describe_provenance(struct session *session)
{
    const char *precision = paritas_precision_name(session->context),
               *device = paritas_device_name(session->context);
    const bool chosen = strcmp(option_text(session->arguments, "--precision", ""), "auto") == 0;
    if (session->json || session->model == NULL || !takes_device(session->arguments->command)) return;
    if (!chosen && strcmp(precision, "f64") == 0 && strcmp(device, "cpu") == 0) return;
    text_format(&session->out, "\ndevice: %s, precision: %s", device, precision);
    if (strcmp(precision, "f32") == 0) text_format(&session->out, ", polish: %s", polish_of(session));
    text_format(&session->out, "\n");
}
