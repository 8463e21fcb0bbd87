/* live_model.c: a model that stays in memory, for sliders and quick fits on the web page (README.md).
 *
 * The page calls the functions below by their exported names. Arguments are those of `paritas fit`. Answers
 * are JSON texts or arrays of doubles in this module's memory, valid until the model's next call. */
#include "analysis.h"
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), used)) name

#define MODELS_MOST 16

struct live_model {
    struct session session;
    struct arguments arguments;
    char *words; /* of the command line */
    char **argv;
    double *point;  /* parameter_count: what the page writes */
    double *values; /* parameter_count */
    double *errors;
    double *covariance;
    double *yields; /* by sample */
    size_t n_yields;
};
static struct live_model *models[MODELS_MOST];

void *EXPORT(live_allocate)(size_t size)
{
    return malloc(size);
}

static void release(struct live_model *live)
{
    session_close(&live->session);
    arguments_free(&live->arguments);
    free(live->argv);
    free(live->words);
    free(live);
}

/* Main data by sample: as many numbers as paritas_expected_by_sample gives. */
static size_t count_yields(const paritas_model *model)
{
    size_t n = 0;
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        n += paritas_model_channel_bins(model, c) * paritas_model_sample_count(model, c);
    return n;
}

static paritas_status open_model(struct live_model *live)
{
    struct session *session = &live->session;
    TRY(session_open(session, &live->arguments));
    TRY(load_model(session));
    const size_t n = session->n_parameters;
    live->n_yields = count_yields(session->model);
    live->point = arena_numbers(session, n);
    live->values = arena_numbers(session, n);
    live->errors = arena_numbers(session, n);
    live->covariance = arena_numbers(session, n * n);
    live->yields = arena_numbers(session, live->n_yields);
    return allocated(session);
}

static void print_failure(const struct session *session, paritas_status status)
{
    const char *message = session->context ? paritas_error_message(session->context) : "";
    fprintf(stderr, "paritas: %s\n", message[0] != '\0' ? message : paritas_status_message(status));
}

/* `words`: n_words texts with their zeros, one after the other, from live_allocate; taken over. Returns the
 * model's number, or -1 with a message on standard error. */
int EXPORT(live_open)(char *words, int n_words)
{
    size_t k = 0;
    while (k < MODELS_MOST && models[k]) k++;
    struct live_model *live = k < MODELS_MOST ? calloc(1, sizeof *live) : NULL;
    char **argv = live ? calloc((size_t)n_words + 1, sizeof *argv) : NULL;
    if (!argv) {
        fprintf(stderr, "paritas: more than %d models are open, or there is no memory\n", MODELS_MOST);
        free(live);
        free(words);
        return -1;
    }
    live->words = words;
    live->argv = argv;
    for (int i = 0; i < n_words; i++, words += strlen(words) + 1) argv[i] = words;
    if (arguments_parse(&command_fit, n_words, argv, &live->arguments) != PARSE_OK) {
        release(live);
        return -1;
    }
    const paritas_status status = open_model(live);
    if (status != PARITAS_OK) {
        print_failure(&live->session, status);
        release(live);
        return -1;
    }
    models[k] = live;
    return (int)k;
}

void EXPORT(live_close)(int number)
{
    release(models[number]);
    models[number] = NULL;
}

static void write_channels(struct writer *w, const paritas_model *model)
{
    const double *data = paritas_model_data(model);
    write_array(w, "channels", true);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++) {
        const size_t bins = paritas_model_channel_bins(model, c);
        write_object(w, NULL, false);
        write_members(w, "name:s bins:z", paritas_model_channel_name(model, c), bins);
        write_numbers(w, "data", bins, data);
        write_array(w, "samples", false);
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++)
            write_string(w, NULL, paritas_model_sample_name(model, c, s));
        write_close(w);
        write_close(w);
        data += bins;
    }
    write_close(w);
}

static const char *finish(struct session *session)
{
    write_close(&session->writer);
    text_format(&session->out, "%c", 0);
    return session->out.bytes;
}

static struct writer *start_answer(struct session *session)
{
    session->out.length = 0;
    writer_open(&session->writer, &session->out, true);
    write_object(&session->writer, NULL, false);
    return &session->writer;
}

/* What the model consists of, as JSON. */
const char *EXPORT(live_describe)(int number)
{
    struct session *session = &models[number]->session;
    const paritas_model *model = session->model;
    struct writer *w = start_answer(session);
    write_string(w, "poi", poi_of(session) < 0 ? NULL : poi_name(session));
    write_string(w, "isa", paritas_isa_name(session->context));
    write_array(w, "parameters", true);
    for (size_t i = 0; i < session->n_parameters; i++) {
        const struct range bounds = bounds_of(session, i);
        write_object(w, NULL, false);
        write_members(w, "name:s init:n lower:n upper:n fixed:b width:n", parameter_name(session, i),
                      session->job.start[i], bounds.lower, bounds.upper, session->job.fixed[i] != 0,
                      paritas_model_constraint_widths(model)[i]);
        write_close(w);
    }
    write_close(w);
    write_channels(w, model);
    return finish(session);
}

/* Where the page writes the parameters' values before the two functions below. */
double *EXPORT(live_point)(int number)
{
    return models[number]->point;
}

/* Expected main data: for each channel, for each sample, its bins. 0 with a message on standard error. */
const double *EXPORT(live_expected)(int number)
{
    struct live_model *live = models[number];
    const struct session *session = &live->session;
    const paritas_status status =
        paritas_expected_by_sample(session->context, session->model, live->point, live->yields);
    if (status == PARITAS_OK) return live->yields;
    print_failure(session, status);
    return NULL;
}

int EXPORT(live_expected_count)(int number)
{
    return (int)models[number]->n_yields;
}

/* Best fit from the point's values, as JSON: status, twice_nll, edm, iterations, values, errors. */
const char *EXPORT(live_fit)(int number)
{
    struct live_model *live = models[number];
    struct session *session = &live->session;
    const size_t n = session->n_parameters;
    paritas_fit_result result = {.size = sizeof result};
    const paritas_fit_answers answers = {.size = sizeof answers,
                                         .results = &result,
                                         .parameters = live->values,
                                         .errors = live->errors,
                                         .covariance = live->covariance};
    paritas_job job = session->job;
    job.start = live->point;
    const paritas_status status = paritas_fit(session->context, session->model, NULL, 1, &job, &answers);
    if (status != PARITAS_OK) {
        print_failure(session, status);
        return NULL;
    }
    struct writer *w = start_answer(session);
    write_members(w, "status:s twice_nll:n edm:n iterations:u", paritas_fit_status_name(result.status),
                  result.twice_nll, result.edm, result.iterations);
    write_numbers(w, "values", n, live->values);
    write_numbers(w, "errors", n, live->errors);
    return finish(session);
}
