/* session.c: opens contexts; loads models, jobs and points. */
#define _POSIX_C_SOURCE 200809L
#include "session.h"
#include "base/platform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_ROWS                                                                                  \
    {"--fix", OPTION_NAMED, "NAME=V",                                                             \
     "hold a parameter at a value (repeatable); the parameter of interest also above its bound"}, \
        {"--init", OPTION_NAMED, "NAME=V", "start a parameter at a value (repeatable)"},          \
        {"--max-iterations", OPTION_COUNT, "N",                                                   \
         "a fit gives up after so many; default: 200 for newton, 5000 for lbfgsb, 3000 for de"}

const struct option options_job[] = {JOB_ROWS, {0}};

const struct option options_statistic[] = {
    JOB_ROWS,
    {"--starts", OPTION_COUNT, "N",
     "fit everything from the usual start and N - 1 further ones, at most 100000; default: further ones "
     "where there are "
     "signs of several minima"},
    {"--quick", OPTION_FLAG, NULL, "fit everything from the usual start alone, as --starts 1"},
    {0},
};

const struct option options_patches[] = {
    {"--patch", OPTION_INPUT, "FILE", "apply a JSON Patch to the workspace (repeatable)"},
    {"--patchset", OPTION_INPUT, "FILE", "patch set of this workspace; its digests are checked"},
    {"--patch-name", OPTION_TEXT, "NAME", "the patch of the patch set to apply"},
    {0},
};

const struct option options_model[] = {
    {"--measurement", OPTION_TEXT, "NAME", "measurement; default: the first"},
    {"--poi", OPTION_TEXT, "NAME",
     "parameter of interest; default: the measurement's; \"\": none. Repeated: several; all: those that the "
     "measurement lists"},
    LIBRARY_ROWS(PARITAS_MODEL_OPTIONS, paritas_model_options),
    {"--clip-sample", OPTION_NUMBER, "RATE", "clip the rate of each sample in each bin from below"},
    {"--clip-bin", OPTION_NUMBER, "RATE", "clip the rate of each bin from below"},
    {0},
};

/* `fits`: f32 fits, ended by "; " */
#define PRECISION_AUTO \
    "auto: f64 if the device is fast enough in it, else f32. Default: f64, if the device has it"
#define ENGINE_ROWS(fits)                                                                              \
    {"--threads", OPTION_COUNT, "N", "threads; default: one a processor"},                             \
        {"--device", OPTION_TEXT, "NAME",                                                              \
         "auto, cpu or a device that `paritas devices` lists; default: auto"},                         \
    {                                                                                                  \
        "--precision", OPTION_CHOICE, "f64|f32|auto", "precision of the kernels; " fits PRECISION_AUTO \
    }

const struct option options_engine[] = {
    ENGINE_ROWS("fits in f32 are polished in f64; "),
    {"--no-polish", OPTION_FLAG, NULL,
     "keep f32 fits without the f64 polish, to test f32 itself: parameters may be 0.003 errors from the "
     "minimum, or worse. Differences of 2 NLL below 1e-4 are rounding"},
    {0},
};

const struct option options_fit_engine[] = {
    ENGINE_ROWS(""),
    {0},
};

#define JSON_ROW {"--json", OPTION_FLAG, NULL, "answer as one JSON document"}
#define LAST_ROWS                                                    \
    {"--quiet", OPTION_FLAG, NULL, "no progress on standard error"}, \
        {"--help", OPTION_FLAG, NULL, "this text", .letter = 'h'}, {0}

const struct option options_output[] = {
    JSON_ROW,
    {"--output-file", OPTION_TEXT, "FILE",
     "write the answer there, whole or not at all; -: standard output, the default", .letter = 'o'},
    LAST_ROWS,
};

const struct option options_answer[] = {
    JSON_ROW,
    LAST_ROWS,
};

static const char *environment(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] != '\0' ? text : NULL;
}

/* PARITAS_LANES; 0: not set, or wrong (text in `wrong`). */
static unsigned environment_lanes(const char **wrong)
{
    const char *text = environment("PARITAS_LANES");
    const int power = text ? option_choice("1|2|4|8|16", text) : -1;
    *wrong = power < 0 ? text : NULL;
    return power < 0 ? 0 : 1u << power;
}

const char *environment_device(void)
{
    return environment("PARITAS_DEVICE");
}

static bool takes_device(const struct command *command)
{
    for (const struct option_group *group = command->groups; group->options; group++)
        if (group->options == options_engine || group->options == options_fit_engine) return true;
    return false;
}

/* NULL for commands that evaluate nothing, whatever the environment says. */
static const char *device_of(const struct session *session)
{
    const char *given = option_text(session, "--device"), *named = environment_device();
    if (!takes_device(session->arguments->command)) return "cpu";
    return given ? given : named ? named : "auto";
}

static void print_note(void *user, const char *message)
{
    (void)user;
    fprintf(stderr, "paritas: %s\n", message);
}

static void open_outputs(struct session *session)
{
    arena_open(&session->arena, &session->context->allocator);
    text_open(&session->out, &session->context->allocator);
    writer_open(&session->writer, &session->out, false);
}

static paritas_status open_context(struct session *session)
{
    paritas_status status = paritas_open(&session->options, &session->context);
    if (session->context) open_outputs(session);
    return status;
}

/* A device that PARITAS_DEVICE names and that cannot run: the message names the variable. */
static paritas_status name_variable(struct session *session, paritas_status status)
{
    const bool named = !option_given(session, "--device") && takes_device(session->arguments->command) &&
                       environment_device();
    if (status != PARITAS_NO_DEVICE || !named || !session->context) return status;
    char message[sizeof session->context->message];
    memcpy(message, session->context->message, sizeof message);
    return paritas_fail(session->context, status, "PARITAS_DEVICE: %s", message);
}

paritas_status session_open(struct session *session, const struct arguments *arguments)
{
    static const unsigned precisions[] = {64, 32, PARITAS_PRECISION_AUTO};
    const char *wrong_lanes;
    *session = (struct session){
        .job = PARITAS_JOB_DEFAULT, .arguments = arguments, .options = PARITAS_OPTIONS_DEFAULT};
    const struct given *precision = option_given(session, "--precision");
    const bool quiet = option_flag(session, "--quiet");
    session->json = option_flag(session, "--json");
    paritas_options *options = &session->options;
    options->threads = (unsigned)option_count(session, "--threads");
    options->isa = environment("PARITAS_ISA");
    options->lanes = environment_lanes(&wrong_lanes);
    options->cache = paritas_cache_folder(getenv("PARITAS_CACHE"), getenv("XDG_CACHE_HOME"), platform_home(),
                                          sizeof session->cache, session->cache);
    options->device = device_of(session);
    options->precision = precision ? precisions[precision->choice] : 0;
    options->no_polish = option_flag(session, "--no-polish");
    options->progress = progress_report;
    options->progress_user = &session->progress;
    if (!quiet) options->note = print_note;
    progress_open(&session->progress, quiet, "fits");
    if (arguments->command->days || wants_patchset(arguments)) {
        recycler_open(&session->recycler);
        options->allocator = &session->recycler.allocator;
    }
    TRY(name_variable(session, open_context(session)));
    return !wrong_lanes ? PARITAS_OK
                        : paritas_refuse(session->context, "PARITAS_LANES takes 1, 2, 4, 8 or 16, not '%s'",
                                         wrong_lanes);
}

static void copy_options(struct session *session, const struct session *first)
{
    *session = (struct session){.job = PARITAS_JOB_DEFAULT,
                                .arguments = first->arguments,
                                .json = first->json,
                                .options = first->options};
}

paritas_status session_open_beside(struct session *session, const struct session *first, const char *device,
                                   unsigned threads)
{
    copy_options(session, first);
    session->options.device = device;
    session->options.threads = threads;
    session->options.progress = NULL;
    return open_context(session);
}

void session_share(struct session *session, struct session *first)
{
    copy_options(session, first);
    session->context = first->context;
    session->shares = true;
    first->progress.on = false;
    open_outputs(session);
}

paritas_status open_another(struct session *session, const paritas_options *options,
                            paritas_context **context)
{
    const paritas_status status = paritas_open(options, context);
    if (status == PARITAS_OK) return status;
    return paritas_fail(session->context, status, "%s",
                        *context ? paritas_error_message(*context) : paritas_status_message(status));
}

void session_clear(struct session *session)
{
    paritas_model_free(session->model);
    paritas_workspace_free(session->workspace);
    arena_free(&session->arena);
    session->model = NULL;
    session->workspace = NULL;
    session->job = (paritas_job)PARITAS_JOB_DEFAULT;
    session->n_parameters = session->n_main = session->n_aux = session->n_pois = 0;
    session->not_converged = session->partial = session->wrong_usage = session->short_of_memory = false;
    session->context->message[0] = '\0';
}

void session_close(struct session *session)
{
    if (!session->context) return;
    session_clear(session);
    text_free(&session->out);
    if (!session->shares) paritas_close(session->context);
    session->context = NULL;
    if (session->recycler.allocator.allocate) recycler_close(&session->recycler);
}

/* Notes a failed allocation for allocated(). */
static void *noted(struct session *session, void *memory)
{
    if (!memory) {
        paritas_fail_memory(session->context);
        session->short_of_memory = true;
    }
    return memory;
}

void *elements(struct session *session, size_t n, size_t size)
{
    return noted(session, arena_array(&session->arena, n + 1, size));
}

void *element(struct session *session, size_t size)
{
    return noted(session, arena_array(&session->arena, 1, size));
}

double *numbers(struct session *session, size_t n)
{
    return elements(session, n, sizeof(double));
}

void *sized_records(struct session *session, size_t n, size_t size)
{
    char *records = elements(session, n, size);
    for (size_t i = 0; i < n && records; i++) memcpy(records + i * size, &size, sizeof size);
    return records;
}

void *grown(struct session *session, void *items, size_t n, size_t size)
{
    const size_t least = 16;
    if (n > 0 && (n < least || (n & (n - 1)) != 0)) return items; /* doubles at powers of two */
    void *more = elements(session, n > 0 ? 2 * n : least, size);
    if (more && items) memcpy(more, items, n * size);
    return more;
}

char *copied(struct session *session, const char *text, size_t length)
{
    return noted(session, arena_text(&session->arena, text, length));
}

struct arena arena_begin(struct session *session)
{
    const struct arena outer = session->arena;
    arena_open(&session->arena, &session->context->allocator);
    return outer;
}

void arena_end(struct session *session, struct arena outer)
{
    arena_free(&session->arena);
    session->arena = outer;
}

paritas_status allocated(const struct session *session)
{
    return session->short_of_memory ? PARITAS_OUT_OF_MEMORY : PARITAS_OK;
}

bool wants_patchset(const struct arguments *arguments)
{
    return argument_given(arguments, "--patchset") && !argument_given(arguments, "--patch-name");
}

static paritas_status apply_patch(struct session *session, const char *path, const char *name)
{
    paritas_context *context = session->context;
    paritas_workspace *patch = NULL, *patched = NULL;
    paritas_status status = paritas_workspace_read(context, path, &patch);
    if (status == PARITAS_OK)
        status = name ? paritas_patchset_apply(context, session->workspace, patch, name, &patched)
                      : paritas_workspace_patch(context, session->workspace, patch, &patched);
    if (status == PARITAS_OK) {
        paritas_workspace_free(session->workspace);
        session->workspace = patched;
    }
    paritas_workspace_free(patch);
    return status;
}

paritas_status apply_patches(struct session *session)
{
    size_t at = 0;
    for (const struct given *given; (given = option_next(session, "--patch", &at));)
        TRY(apply_patch(session, given->text, NULL));
    return PARITAS_OK;
}

/* What is made of a large document is about twice its size. */
static void prepare_memory(const char *path)
{
    struct platform_info file;
    const uint64_t least = 512 << 10, most = 256 << 20;
    if (!platform_info(path, &file) || file.kind != PLATFORM_FILE || file.size < least) return;
    platform_enlarge_pages(2 * (size_t)(file.size < most ? file.size : most));
}

paritas_status load_workspace(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const char *patchset = option_text(session, "--patchset"), *name = option_text(session, "--patch-name");
    prepare_memory(arguments->operands[0]);
    TRY(json_read_packed(session->context, arguments->operands[0], &session->workspace));
    if (patchset && name) TRY(apply_patch(session, patchset, name));
    return apply_patches(session);
}

/* Of the parameter of interest a held value may lie above the bound, as the value that a test asks for. */
static bool widens(const struct session *session, size_t parameter, double value)
{
    const struct range bounds = bounds_of(session, parameter);
    bool interests = (ptrdiff_t)parameter == poi_of(session);
    for (size_t k = 0; k < session->job.n_pois; k++)
        interests = interests || session->job.pois[k] == parameter;
    return interests && value > bounds.upper && value <= paritas_widest_bound(session->model, parameter);
}

static void print_widening(const struct session *session, size_t parameter, double value)
{
    if (option_flag(session, "--quiet")) return;
    fprintf(stderr, "paritas: the upper bound of %s was widened to %.6g\n",
            parameter_name(session, parameter), value);
}

paritas_status read_starts(struct session *session, double *start, unsigned char *fixed)
{
    static const char *const options[2] = {"--init", "--fix"};
    for (int k = 0; k < 2; k++) {
        size_t at = 0, i;
        for (const struct given *given; (given = option_next(session, options[k], &at));) {
            TRY(paritas_model_parameter_index(session->context, session->model, given->text, &i));
            const struct range bounds = bounds_of(session, i);
            if (k == 1 && widens(session, i, given->number))
                print_widening(session, i, given->number);
            else if (!in_range(bounds, given->number))
                return paritas_refuse(session->context, "%s %s=%.10g lies outside the bounds [%.10g, %.10g]",
                                      options[k], given->text, given->number, bounds.lower, bounds.upper);
            start[i] = given->number;
            if (k == 1 && fixed) fixed[i] = 1;
        }
    }
    return PARITAS_OK;
}

static paritas_status copy_starts(struct session *session, double **start, unsigned char **fixed)
{
    const size_t n = session->n_parameters;
    *start = numbers(session, n);
    *fixed = elements(session, n, 1);
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
    if (option_count(session, "--starts") > PARITAS_STARTS_MOST)
        return usage_failure(session, "--starts takes at most %d", PARITAS_STARTS_MOST);
    session->job.starts = quick ? 1 : (unsigned)option_count(session, "--starts");
    session->job.max_iterations = (unsigned)option_count(session, "--max-iterations");
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
    session->pois = elements(session, session->n_pois, sizeof *session->pois);
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

static paritas_status create_model(struct session *session)
{
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.measurement = option_text(session, "--measurement");
    options.poi = first_poi(session);
    options.normsys_code =
        (paritas_normsys_code)option_constant(session, "--normsys-code", "paritas_normsys_code");
    options.histosys_code =
        (paritas_histosys_code)option_constant(session, "--histosys-code", "paritas_histosys_code");
    options.clip_sample = option_flag(session, "--clip-sample");
    options.clip_sample_at = option_number_or(session, "--clip-sample", 0.0);
    options.clip_bin = option_flag(session, "--clip-bin");
    options.clip_bin_at = option_number_or(session, "--clip-bin", 0.0);
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
    TRY(read_starts(session, start, fixed));
    return read_effort(session);
}

struct range bounds_of(const struct session *session, size_t parameter)
{
    return (struct range){paritas_model_lower_bounds(session->model)[parameter],
                          paritas_model_upper_bounds(session->model)[parameter]};
}

bool in_range(struct range range, double value)
{
    return value >= range.lower && value <= range.upper;
}

double clamped(struct range range, double value)
{
    return value < range.lower ? range.lower : value > range.upper ? range.upper : value;
}

struct range range_around(const struct session *session, size_t parameter, double best, double error,
                          double errors, double part)
{
    const struct range bounds = bounds_of(session, parameter);
    const double reach = error > 0.0 ? errors * error : part * (bounds.upper - bounds.lower);
    return (struct range){best - reach > bounds.lower ? best - reach : bounds.lower,
                          best + reach < bounds.upper ? best + reach : bounds.upper};
}

double range_value(struct range range, size_t k, size_t n)
{
    if (n == 1) return range.lower;
    return k + 1 == n ? range.upper
                      : range.lower + (range.upper - range.lower) * ((double)k / (double)(n - 1));
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

paritas_status fit_job(struct session *session, paritas_fit_answers answers)
{
    paritas_job job = session->job;
    job.starts = 1;
    answers.size = sizeof answers;
    return paritas_fit(session->context, session->model, NULL, 1, &job, &answers);
}

const char *parameter_name(const struct session *session, size_t parameter)
{
    return paritas_model_parameter_name(session->model, parameter);
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
                        "%s: measurements[%zu].config.poi: no modifier of the model is named '%s'; --poi "
                        "NAME names another parameter of interest",
                        label, index, poi->text);
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
    double *data = numbers(session, session->n_main + session->n_aux);
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
    *point = numbers(session, session->n_parameters);
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
    *centres = numbers(session, session->n_parameters);
    TRY(allocated(session));
    return paritas_constraint_centres(session->context, session->model, session->job.data, *centres);
}

paritas_status usage_failure(struct session *session, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    session->wrong_usage = true;
    return paritas_refuse(session->context, "%s", text);
}

void note_status(struct session *session, paritas_fit_status status)
{
    if (status != PARITAS_FIT_CONVERGED) session->not_converged = true;
}

/* Only fits are polished. */
static const char *polish_of(const struct session *session)
{
    return session->no_fits ? "none" : paritas_polish_name(session->context);
}

void write_device(struct session *session)
{
    write_members(&session->writer, "device:s precision:s", paritas_device_name(session->context),
                  paritas_precision_name(session->context));
}

static void write_pois(struct session *session)
{
    write_array(&session->writer, "pois", false);
    for (size_t k = 0; k < session->n_pois; k++)
        write_string(&session->writer, NULL, parameter_name(session, session->pois[k]));
    write_close(&session->writer);
}

void write_provenance(struct session *session)
{
    if (session->n_pois < 2)
        write_string(&session->writer, "poi", poi_name(session));
    else
        write_pois(session);
    write_device(session);
    write_string(&session->writer, "polish", polish_of(session));
}

void describe_provenance(struct session *session)
{
    const char *precision = paritas_precision_name(session->context),
               *device = paritas_device_name(session->context);
    if (session->json || !session->model || !takes_device(session->arguments->command)) return;
    const struct given *given = option_given(session, "--precision");
    const bool chosen = given && strcmp(given->text, "auto") == 0;
    if (!chosen && strcmp(precision, "f64") == 0 && strcmp(device, "cpu") == 0) return;
    text_format(&session->out, "\ndevice: %s, precision: %s", device, precision);
    if (strcmp(precision, "f32") == 0) text_format(&session->out, ", polish: %s", polish_of(session));
    text_format(&session->out, "\n");
}
