/* bench.c: times operations on the CPU and other devices, also against an earlier run. After a
 * warm-up the median of the repeats counts. */
#include "base/platform.h"
#include "print/output.h"
#include "commands/workspaces/sorting.h"
#include "commands/moon/sweep_questions.h"
#include "print/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BATCH 1000 /* points of the likelihood; toys */
#define SCAN 21
#define REPEATS 1001
#define SLOW 10.0     /* times --seconds: no more repeats */
#define TOO_SLOW 40.0 /* an operation is given up */
#define DEVICES 8

static const struct option options[] = {
    {"--device", OPTION_TEXT, "NAME,...",
     "devices to measure beside the CPU, as `paritas devices` lists them; default: PARITAS_DEVICE, or none"},
    {"--seconds", OPTION_NUMBER, "S",
     "time for each number; an operation is skipped if it takes longer than 40 times this", "0.5"},
    {"--threads", OPTION_COUNT, "N", "threads of the CPU; default: one a processor"},
    {"--precision", OPTION_CHOICE, "f64|f32", "precision on all devices; fits in f32 are polished in f64",
     "f64"},
    {"--save", OPTION_OUTPUT, "FILE", "write the measurements as JSON; -: standard output"},
    {"--sweeps", OPTION_COUNT, "N", "sweeps of losscone and kappa", "200"},
    {"--baseline", OPTION_INPUT, "FILE", "compare with measurements of an earlier --save"},
    {0},
};

#define OPERATION_LIST(X)       \
    X(NLL, "likelihood")        \
    X(GRADIENT, "gradient")     \
    X(NLLS, "1000 likelihoods") \
    X(FIT, "fit")               \
    X(SCAN, "scan of 21")       \
    X(RANKING, "ranking")       \
    X(TOYS, "1000 toys")

enum operation {
#define X(id, name) OPERATION_##id,
    OPERATION_LIST(X)
#undef X
        OPERATIONS
};
static const char *const operation_names[OPERATIONS] = {
#define X(id, name) name,
    OPERATION_LIST(X)
#undef X
};
#define MEASURED 16 /* operations of a workspace, or of a family of sweeps */

/* Times of one operation. NaN: the model lacks the operation, or the baseline the number. */
struct measured {
    double seconds, baseline;
    double longer_than; /* of an operation that was given up; else NaN */
    size_t repeats;
};

struct difference {
    const char *what, *device, *baseline, *now;
};
#define DIFFERENCES (DEVICES + 2)

struct bench {
    struct session *session;
    enum sweep_family family;
    struct sweep_work work;
    size_t n_operations;
    int operations[MEASURED]; /* enum operation, or enum sweep_question */
    const char *names[MEASURED];
    size_t n_devices;
    paritas_context *devices[DEVICES];
    const char *device_names[DEVICES];
    struct measured measured[MEASURED][DEVICES];
    double *points, *values, scan[SCAN]; /* points: BATCH rows */
    paritas_scan_point *scanned;
    paritas_ranking_entry *entries;
    size_t parameter; /* scanned: the POI, or the first free parameter */
    bool poi;
    char digest[72];
    double times[REPEATS];
    struct difference differences[DIFFERENCES];
    size_t n_differences;
};

#define BINS 8

/* Rates of the signal (sample 0) or a background, tilted over the bins. */
static void append_rates(struct text *text, const char *key, int channel, int sample, double tilt)
{
    text_format(text, "\"%s\": [", key);
    for (int b = 0; b < BINS; b++) {
        const int rate = sample ? 400 / (sample + b + 1) + 10 * channel : 2 + b + channel;
        text_format(text, "%s%g", b ? ", " : "", rate * (1.0 + tilt * (b - 3)));
    }
    text_format(text, "]");
}

static void append_sample(struct text *text, int channel, int sample)
{
    text_format(text, "%s{\"name\": \"%s%d\", ", sample ? ", " : "", sample ? "background" : "signal",
                sample);
    append_rates(text, "data", channel, sample, 0.0);
    text_format(text, ", \"modifiers\": [%s",
                sample ? "" : "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, ");
    for (int k = 0; k < 6; k++)
        text_format(text,
                    "{\"name\": \"scale%d\", \"type\": \"normsys\", \"data\": {\"hi\": %g, \"lo\": %g}}, ",
                    sample * 6 + k, 1.0 + 0.01 * (k + 1 + channel), 1.0 - 0.009 * (k + 1 + sample));
    text_format(text, "{\"name\": \"shape%d\", \"type\": \"histosys\", \"data\": {", sample);
    append_rates(text, "hi_data", channel, sample, 0.01);
    text_format(text, ", ");
    append_rates(text, "lo_data", channel, sample, -0.011);
    text_format(text, "}}, {\"name\": \"stat%d\", \"type\": \"staterror\", \"data\": [", channel);
    for (int b = 0; b < BINS; b++) text_format(text, "%s%g", b ? ", " : "", 0.5 + 0.1 * (sample + b));
    text_format(text, "]}]}");
}

/* Four channels of eight bins: signal and three backgrounds, 60 parameters. */
static paritas_status built_in(struct session *session)
{
    struct text text;
    text_open(&text, &session->context->allocator);
    text_format(&text, "{\"channels\": [");
    for (int c = 0; c < 4; c++) {
        text_format(&text, "%s{\"name\": \"channel%d\", \"samples\": [", c ? ", " : "", c);
        for (int sample = 0; sample < 4; sample++) append_sample(&text, c, sample);
        text_format(&text, "]}");
    }
    text_format(&text, "], \"observations\": [");
    for (int c = 0; c < 4; c++) {
        text_format(&text, "%s{\"name\": \"channel%d\", \"data\": [", c ? ", " : "", c);
        for (int b = 0; b < BINS; b++)
            text_format(&text, "%s%d", b ? ", " : "",
                        400 / (b + 2) + 400 / (b + 3) + 400 / (b + 4) + 31 * c + (b * 5 + c * 3) % 7);
        text_format(&text, "]}");
    }
    text_format(&text, "], \"measurements\": [{\"name\": \"bench\", \"config\": {\"poi\": \"mu\", "
                       "\"parameters\": []}}], \"version\": \"1.0.0\"}");
    const paritas_status status = text.failed
                                      ? paritas_fail_memory(session->context)
                                      : paritas_workspace_parse(session->context, text.bytes, text.length,
                                                                "the built-in model", &session->workspace);
    text_free(&text);
    return status;
}

static paritas_status run_toys(struct bench *b, paritas_context *context)
{
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    toys.n = b->poi ? BATCH / 2 : BATCH; /* a test has two hypotheses */
    if (b->poi) {
        const struct range bounds = bounds_of(b->session, b->parameter);
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        return paritas_hypotest_toys(context, b->session->model, &b->session->job, PARITAS_STATISTIC_QTILDE,
                                     in_range(bounds, 1.0) ? 1.0 : bounds.upper, &toys, &result);
    }
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    return paritas_toys(context, b->session->model, &b->session->job,
                        &(paritas_toys_request){.size = sizeof(paritas_toys_request)}, &toys, &result);
}

static paritas_status run_operation(struct bench *b, enum operation operation, paritas_context *context)
{
    const paritas_model *model = b->session->model;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    size_t n;
    switch (operation) {
    case OPERATION_NLL:
        return paritas_evaluate(
            context, model, 1, b->points, 0, NULL,
            &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers), .twice_nll = b->values});
    case OPERATION_GRADIENT:
        return paritas_evaluate(context, model, 1, b->points, 0, NULL,
                                &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                            .twice_nll = b->values,
                                                            .gradient = b->values + BATCH});
    case OPERATION_NLLS:
        return paritas_evaluate(
            context, model, BATCH, b->points, 0, NULL,
            &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers), .twice_nll = b->values});
    case OPERATION_FIT:
        return paritas_fit(context, model, NULL, 1, &b->session->job,
                           &(paritas_fit_answers){.size = sizeof(paritas_fit_answers),
                                                  .results = &result,
                                                  .parameters = b->values});
    case OPERATION_SCAN:
        return paritas_scan(context, model, &b->session->job,
                            &(paritas_scan_request){.size = sizeof(paritas_scan_request),
                                                    .n_parameters = 1,
                                                    .parameters = &b->parameter,
                                                    .n_points = SCAN,
                                                    .values = b->scan,
                                                    .best = &result,
                                                    .points = b->scanned});
    case OPERATION_RANKING:
        return paritas_ranking(context, model, &b->session->job, b->entries, &n);
    case OPERATION_TOYS:
        return run_toys(b, context);
    case OPERATIONS:
        break;
    }
    return PARITAS_OK;
}

static paritas_status run_once(struct bench *b, size_t operation, paritas_context *context)
{
    const int which = b->operations[operation];
    if (b->family == SWEEP_FAMILIES) return run_operation(b, (enum operation)which, context);
    const struct arena outer = arena_begin(b->session);
    const paritas_status status = sweep_ask(b->session, context, &b->work, (enum sweep_question)which, NULL);
    arena_end(b->session, outer);
    return status;
}

/* Progress that ends an operation after some time. */
struct watch {
    double until;
    bool ended;
    paritas_progress report;
    void *user;
};

static int watch_time(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    watch->ended = watch->ended || platform_seconds() > watch->until;
    return watch->ended || (watch->report && watch->report(watch->user, done, total) != 0);
}

/* Until `seconds` have passed and there are three times. The first run makes what a model makes once: its
 * time counts if it is the only one. */
static paritas_status repeat(struct bench *b, size_t operation, paritas_context *context, double seconds,
                             struct measured *m)
{
    const double started = platform_seconds();
    paritas_status status = run_once(b, operation, context);
    if (status != PARITAS_OK) return status;
    m->seconds = platform_seconds() - started;
    while (status == PARITAS_OK && m->repeats < REPEATS &&
           (m->repeats < 3 || platform_seconds() - started < seconds)) {
        const double before = platform_seconds();
        if (before - started > SLOW * seconds) break;
        status = run_once(b, operation, context);
        if (status == PARITAS_OK) b->times[m->repeats++] = platform_seconds() - before;
    }
    sort_numbers(m->repeats, b->times);
    if (m->repeats > 0) m->seconds = sorted_median(m->repeats, b->times);
    if (m->repeats == 0) m->repeats = 1;
    return status;
}

static paritas_status measure(struct bench *b, size_t operation, size_t device, double seconds)
{
    paritas_context *context = b->devices[device];
    struct measured *m = &b->measured[operation][device];
    struct session *session = b->session;
    if (b->family == SWEEP_FAMILIES && b->operations[operation] == OPERATION_RANKING && !b->poi)
        return PARITAS_OK;
    struct watch watch = {.until = platform_seconds() + TOO_SLOW * seconds,
                          .report = context->progress,
                          .user = context->progress_user};
    char unit[80];
    snprintf(unit, sizeof unit, "steps of %s on %s", b->names[operation], b->device_names[device]);
    session->progress.unit = unit;
    context->progress = watch_time;
    context->progress_user = &watch;
    const paritas_status status = repeat(b, operation, context, seconds, m);
    context->progress = watch.report;
    context->progress_user = watch.user;
    session->progress.unit = "fits";
    if (status == PARITAS_CANCELLED && watch.ended) {
        m->longer_than = m->repeats == 0 ? TOO_SLOW * seconds : NAN;
        return PARITAS_OK;
    }
    if (status == PARITAS_OK || context == session->context) return status;
    return paritas_fail(session->context, status, "%s on %s: %s", b->names[operation],
                        b->device_names[device], paritas_error_message(context));
}

static const char *devices_of(const struct bench *b)
{
    const char *given = option_text(b->session, "--device"), *named = environment_device();
    return given ? given : named && strcmp(named, "auto") != 0 ? named : "cpu";
}

/* Skips a device that is open already: opencl is opencl:0. */
static paritas_status open_device(struct bench *b, const char *name)
{
    if (b->n_devices == DEVICES)
        return usage_failure(b->session, "--device takes at most %d devices beside the CPU", DEVICES - 1);
    paritas_options device_options = b->session->options;
    device_options.device = name;
    device_options.precision = b->session->context->precision; /* the same on all */
    paritas_context **context = &b->devices[b->n_devices++];
    TRY(open_another(b->session, &device_options, context));
    const size_t last = b->n_devices - 1;
    b->device_names[last] = paritas_device_name(*context);
    for (size_t d = 0; d < last && last < b->n_devices; d++)
        if (strcmp(b->device_names[d], b->device_names[last]) == 0) {
            paritas_close(*context);
            b->n_devices--;
        }
    return PARITAS_OK;
}

static paritas_status open_devices(struct bench *b)
{
    struct session *session = b->session;
    b->devices[b->n_devices] = session->context;
    b->device_names[b->n_devices++] = paritas_device_name(session->context);
    for (const char *at = devices_of(b); *at != '\0';) {
        const size_t length = strcspn(at, ",");
        char *name = arena_text(&session->arena, at, length);
        if (!name) return paritas_fail_memory(session->context);
        at += length + (at[length] == ',');
        if (strcmp(name, "auto") == 0)
            return usage_failure(
                session,
                "--device auto is no device to measure: it moves between the CPU and another; name that");
        if (strcmp(name, "cpu") != 0) TRY(open_device(b, name));
    }
    for (size_t o = 0; o < b->n_operations; o++)
        for (size_t d = 0; d < b->n_devices; d++)
            b->measured[o][d].seconds = b->measured[o][d].baseline = b->measured[o][d].longer_than = NAN;
    return PARITAS_OK;
}

static void name_operations(struct bench *b)
{
    if (b->family == SWEEP_FAMILIES)
        for (int o = 0; o < OPERATIONS; o++) {
            b->operations[b->n_operations] = o;
            b->names[b->n_operations++] = operation_names[o];
        }
    for (int q = 0; q < SWEEP_QUESTIONS; q++) {
        if (sweep_questions[q].family != b->family) continue;
        b->operations[b->n_operations] = q;
        b->names[b->n_operations++] = sweep_questions[q].name;
    }
}

/* The digest of sweeps says what they are. */
static paritas_status prepare_sweeps(struct bench *b)
{
    const size_t n = option_count(b->session, "--sweeps");
    snprintf(b->digest, sizeof b->digest, "%s, %zu synthetic sweeps", b->session->arguments->operands[0], n);
    return sweep_work_open(b->session, b->session->context, b->family, n, 0, &b->work);
}

/* Points up to 0.01 widths from the start; a scan over two errors. */
static paritas_status prepare(struct bench *b)
{
    struct session *session = b->session;
    const paritas_model *model = session->model;
    const size_t n = session->n_parameters;
    const double *widths = paritas_model_constraint_widths(model);
    b->points = arena_numbers(session, BATCH * n);
    b->values = arena_numbers(session, BATCH + n);
    b->scanned = arena_records(session, SCAN, sizeof *b->scanned);
    b->entries = arena_records(session, n, sizeof *b->entries);
    double *best = arena_numbers(session, n), *errors = arena_numbers(session, n);
    TRY(allocated(session));
    for (size_t k = 0; k < BATCH; k++)
        for (size_t i = 0; i < n; i++)
            b->points[k * n + i] =
                session->job.start[i] +
                (session->job.fixed[i] || isnan(widths[i]) ? 0.0 : 0.01 * widths[i] * (double)k / BATCH);
    b->poi = has_free_poi(session);
    b->parameter = b->poi ? (size_t)paritas_model_poi_index(model) : 0;
    while (b->parameter + 1 < n && session->job.fixed[b->parameter]) b->parameter++;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    TRY(fit_best(session, (paritas_fit_answers){.results = &result, .parameters = best, .errors = errors}));
    note_status(session, result.status);
    const struct range range =
        range_around(session, b->parameter, best[b->parameter], errors[b->parameter], 2.0, 0.1);
    for (size_t k = 0; k < SCAN; k++) b->scan[k] = range_value(range, k, SCAN);
    return paritas_workspace_digest(session->context, session->workspace, b->digest);
}

static paritas_status compare(struct bench *b, const char *what, const char *device, const char *baseline,
                              const char *now)
{
    struct arena *arena = &b->session->arena;
    if (!baseline || strcmp(baseline, now) == 0) return PARITAS_OK;
    struct difference *d = &b->differences[b->n_differences++];
    *d = (struct difference){what, device, arena_text(arena, baseline, strlen(baseline)),
                             arena_text(arena, now, strlen(now))};
    return d->baseline && d->now ? PARITAS_OK : paritas_fail_memory(b->session->context);
}

static const char *text_of(const struct json *node)
{
    return json_is(node, JSON_STRING) ? node->text : NULL;
}

static paritas_status compare_circumstances(struct bench *b, const struct json *root)
{
    const paritas_context *context = b->session->context;
    const struct json *threads = json_get(root, "threads"), *devices = json_get(root, "devices");
    char before[24], now[24];
    snprintf(before, sizeof before, "%.10g", json_is(threads, JSON_NUMBER) ? threads->number : 0.0);
    snprintf(now, sizeof now, "%u", context->threads);
    TRY(compare(b, "isa", NULL, text_of(json_get(root, "isa")), paritas_isa_name(context)));
    TRY(compare(b, "threads", NULL, json_is(threads, JSON_NUMBER) ? before : NULL, now));
    for (size_t d = 0; d < b->n_devices; d++) {
        const struct json *one = json_is(devices, JSON_ARRAY) ? devices->first : NULL;
        while (one && !json_text_is(json_get(one, "device"), b->device_names[d])) one = one->next;
        TRY(compare(b, "description", b->device_names[d], text_of(json_get(one, "description")),
                    paritas_device_description(b->devices[d])));
    }
    return PARITAS_OK;
}

/* Returns false if the row has no measurement. `null` seconds: the model lacked the operation. */
static bool read_row(struct bench *b, const struct json *one)
{
    const struct json *name = json_get(one, "operation"), *device = json_get(one, "device"),
                      *seconds = json_get(one, "seconds");
    if (!json_is(name, JSON_STRING) || !json_is(device, JSON_STRING)) return false;
    if (json_is(seconds, JSON_NULL)) return true;
    if (!json_is(seconds, JSON_NUMBER) || !(seconds->number > 0.0)) return false;
    for (size_t o = 0; o < b->n_operations; o++)
        for (size_t d = 0; d < b->n_devices; d++)
            if (strcmp(name->text, b->names[o]) == 0 && strcmp(device->text, b->device_names[d]) == 0)
                b->measured[o][d].baseline = seconds->number;
    return true;
}

/* Reads the baseline's rows of the same workspace and precision. */
static paritas_status read_rows(struct bench *b, const struct paritas_workspace *document)
{
    paritas_context *context = b->session->context;
    const struct json *operations = json_get(document->root, "operations");
    const char *digest = text_of(json_get(document->root, "workspace")),
               *precision = text_of(json_get(document->root, "precision"));
    bool measurements = digest && precision && json_is(operations, JSON_ARRAY);
    for (const struct json *one = measurements ? operations->first : NULL; one && measurements;
         one = one->next)
        measurements = read_row(b, one);
    if (!measurements)
        return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: is no file of measurements",
                            document->label);
    if (strcmp(digest, b->digest) != 0 || strcmp(precision, paritas_precision_name(context)) != 0)
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: was measured on another workspace, or in another precision",
                            document->label);
    return compare_circumstances(b, document->root);
}

static paritas_status read_baseline(struct bench *b, const char *path)
{
    struct paritas_workspace *document = NULL;
    TRY(json_read_file(b->session->context, path, &document));
    const paritas_status status = read_rows(b, document);
    paritas_workspace_free(document);
    return status;
}

static size_t winner_of(const struct bench *b, size_t operation)
{
    size_t best = 0;
    for (size_t d = 1; d < b->n_devices; d++)
        if (b->measured[operation][d].seconds < b->measured[operation][best].seconds) best = d;
    return best;
}

/* NaN of a workspace. */
static double sweeps_a_second(const struct bench *b, const struct measured *m)
{
    return b->family == SWEEP_FAMILIES ? NAN : (double)b->work.n / m->seconds;
}

static void write_document(const struct bench *b, struct writer *w)
{
    const paritas_context *context = b->session->context;
    write_object(w, NULL, true);
    write_array(w, "operations", true);
    for (size_t o = 0; o < b->n_operations; o++)
        for (size_t d = 0; d < b->n_devices; d++) {
            const struct measured *m = &b->measured[o][d];
            write_row(w,
                      "operation:s device:s seconds:n longer_than:n sweeps_a_second:n repeats:z "
                      "faster_than_cpu:n faster_than_baseline:n winner:b",
                      b->names[o], b->device_names[d], m->seconds, m->longer_than, sweeps_a_second(b, m),
                      m->repeats, b->measured[o][0].seconds / m->seconds, m->baseline / m->seconds,
                      m->repeats > 0 && winner_of(b, o) == d);
        }
    write_close(w);
    write_members(w, "workspace:s parameters:z version:s isa:s threads:u", b->digest,
                  b->session->n_parameters, paritas_version(), paritas_isa_name(context), context->threads);
    write_array(w, "devices", true);
    for (size_t d = 0; d < b->n_devices; d++)
        write_row(w, "device:s description:s", b->device_names[d], paritas_device_description(b->devices[d]));
    write_close(w);
    write_array(w, "baseline_differs", true);
    for (size_t k = 0; k < b->n_differences; k++) {
        const struct difference *d = &b->differences[k];
        write_row(w, "what:s device:s baseline:s now:s", d->what, d->device, d->baseline, d->now);
    }
    write_close(w);
    write_members(w, "precision:s polish:s", paritas_precision_name(context), paritas_polish_name(context));
    write_close(w);
}

static void table_seconds(struct table *table, double seconds, double longer_than)
{
    if (!isnan(longer_than))
        table_format(table, "> %.3g s", longer_than);
    else if (isnan(seconds))
        table_text(table, "-");
    else if (seconds < 1e-3)
        table_format(table, "%.3g us", 1e6 * seconds);
    else if (seconds < 1.0)
        table_format(table, "%.3g ms", 1e3 * seconds);
    else
        table_format(table, "%.3g s", seconds);
}

static void table_ratio(struct table *table, double ratio)
{
    if (isnan(ratio))
        table_text(table, "-");
    else
        table_format(table, ratio < 0.1 ? "%.2g" : "%.2f", ratio);
}

static void write_table(const struct bench *b)
{
    struct session *session = b->session;
    struct table table;
    const bool sweeps = b->family != SWEEP_FAMILIES;
    const char *precision = paritas_precision_name(session->context);
    if (sweeps)
        text_format(&session->out, "%s, %s, medians; ratios above 1 are faster\n\n", b->digest, precision);
    else
        text_format(&session->out, "%zu parameters, %s, medians; ratios above 1 are faster\n\n",
                    session->n_parameters, precision);
    table_open(&table, &session->out,
               sweeps ? "operation|device|time|sweeps/s|than the CPU|than the baseline|"
                      : "operation|device|time|than the CPU|than the baseline|",
               sweeps ? "l l r r r r l" : "l l r r r l");
    for (size_t o = 0; o < b->n_operations; o++)
        for (size_t d = 0; d < b->n_devices; d++) {
            const struct measured *m = &b->measured[o][d];
            table_text(&table, d == 0 ? b->names[o] : "");
            table_text(&table, b->device_names[d]);
            table_seconds(&table, m->seconds, m->longer_than);
            if (sweeps) table_format(&table, "%.0f", sweeps_a_second(b, m));
            table_ratio(&table, b->measured[o][0].seconds / m->seconds);
            table_ratio(&table, m->baseline / m->seconds);
            table_text(&table, m->repeats > 0 && b->n_devices > 1 && winner_of(b, o) == d ? "wins" : "");
        }
    table_close(&table);
    for (size_t k = 0; k < b->n_differences; k++) {
        const struct difference *d = &b->differences[k];
        if (k == 0) text_format(&session->out, "\n");
        text_format(&session->out, "the baseline has another %s%s%s: %s, now %s\n", d->what,
                    d->device ? " of " : "", d->device ? d->device : "", d->baseline, d->now);
    }
}

static paritas_status save(const struct bench *b, const char *path)
{
    struct text text;
    struct writer writer;
    text_open(&text, &b->session->context->allocator);
    writer_open(&writer, &text, false);
    write_document(b, &writer);
    const bool whole = !text.failed, written = whole && output_write(path, text.bytes, text.length);
    text_free(&text);
    if (!whole) return paritas_fail_memory(b->session->context);
    return written ? PARITAS_OK
                   : paritas_fail(b->session->context, PARITAS_UNWRITABLE,
                                  "%s: the measurements are not kept", path);
}

static paritas_status bench(struct bench *b)
{
    struct session *session = b->session;
    const char *path = option_text(session, "--save"), *baseline = option_text(session, "--baseline");
    const double seconds = option_number(session, "--seconds");
    if (!(seconds > 0.0)) return usage_failure(session, "--seconds takes a number above 0");
    if (path && !output_check(path))
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the measurements could not be kept",
                            path);
    name_operations(b);
    if (b->family != SWEEP_FAMILIES) {
        TRY(sweep_check_options(session, b->family, (const char *const[]){NULL}));
        TRY(open_devices(b));
        TRY(prepare_sweeps(b));
    } else {
        if (session->arguments->n_operands == 0) TRY(built_in(session));
        TRY(load_model(session));
        TRY(refuse_several_pois(session));
        TRY(open_devices(b));
        TRY(prepare(b));
    }
    /* first: a bad one must not cost the measurements */
    if (baseline) TRY(read_baseline(b, baseline));
    for (size_t o = 0; o < b->n_operations; o++)
        for (size_t d = 0; d < b->n_devices; d++) TRY(measure(b, o, d, seconds));
    if (session->json)
        write_document(b, &session->writer);
    else
        write_table(b);
    return path ? save(b, path) : PARITAS_OK;
}

static int run(struct session *session)
{
    struct bench *b = arena_elements(session, 1, sizeof *b);
    TRY(allocated(session));
    b->session = session;
    b->family = sweep_family_of(session);
    const paritas_status status = bench(b);
    for (size_t d = 1; d < b->n_devices; d++) paritas_close(b->devices[d]);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .operands = "[WORKSPACE|losscone|kappa]",
    .summary = "how long things take, on the CPU and on other devices",
    .description = "Median times of a likelihood, a gradient, 1000 likelihoods, a fit, a scan of 21 points, "
                   "a ranking and 1000 toys. Kernels are compiled and the model is uploaded before. Without "
                   "a workspace: of a built-in model. With `losscone` or `kappa`: fits of synthetic "
                   "sweeps of the Electron Reflectometer, their confidence sets and potentials.",
    .groups = {GROUP_OPTIONS, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_OUTPUT},
    .run = run,
};
