/* command_bench.c: how long what users ask takes, on the CPU and on other devices, side by side and against an
 * earlier run.
 *
 *   for each operation, for each device: once to warm up, then again and again for a while ─► median
 *
 * The CPU is always measured: it is what the others are compared with. */
#define _POSIX_C_SOURCE 200809L
#include "device/device.h"
#include "output.h"
#include "session.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 1000 /* points of the batched likelihood; toys */
#define SCAN 21
#define REPEATS 1001 /* most */
#define DEVICES 8    /* most */

static const struct option options[] = {
    {"--device", 0, OPTION_TEXT, "NAME,...",
     "devices to measure beside the CPU, as `paritas devices` lists them; default: PARITAS_DEVICE, or none"},
    {"--seconds", 0, OPTION_NUMBER, "S", "time for each number; default: 0.5"},
    {"--threads", 0, OPTION_COUNT, "N", "threads of the CPU; default: one a processor"},
    {"--precision", 0, OPTION_CHOICE, "f64|f32",
     "of all devices; fits in f32 are polished in f64; default: f64"},
    {"--save", 0, OPTION_TEXT, "FILE", "keep the measurements there, as JSON; -: standard output"},
    {"--baseline", 0, OPTION_INPUT, "FILE", "compare with measurements that --save kept"},
    {0},
};

/* The operations: identifier, name. */
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
static const char *const names[OPERATIONS] = {
#define X(id, name) name,
    OPERATION_LIST(X)
#undef X
};

/* One median. NaN: the model has no such operation, or the baseline no such number. */
struct measured {
    double seconds, baseline;
    size_t repeats;
};

/* What makes two measurements of one operation incomparable, though they may be compared. */
struct difference {
    const char *what, *device, *baseline, *now; /* device: NULL where it is the process's */
};
#define DIFFERENCES (DEVICES + 2)

struct bench {
    struct session *session;
    size_t n_devices;
    paritas_context *devices[DEVICES];
    const char *device_names[DEVICES];
    struct measured measured[OPERATIONS][DEVICES];
    double *points, *values, scan[SCAN]; /* points: BATCH rows; values: room for what is answered */
    paritas_scan_point *scanned;
    paritas_ranking_entry *entries;
    size_t parameter; /* that is scanned: the parameter of interest, or the first free one */
    bool poi;
    char digest[72];
    double times[REPEATS];                      /* of the operation in hand */
    struct difference differences[DIFFERENCES]; /* between the baseline's circumstances and these */
    size_t n_differences;
};

/* ---- the model that is there without a workspace ---- */

/* Four channels of eight bins; signal and three backgrounds with normsys, histosys and staterror: 60
 * parameters. */
static paritas_status built_in(struct session *session)
{
    struct text text;
    text_open(&text, &session->context->allocator);
    text_format(&text, "{\"channels\": [");
    for (int c = 0; c < 4; c++) {
        text_format(&text, "%s{\"name\": \"channel%d\", \"samples\": [", c ? ", " : "", c);
        for (int s = 0; s < 4; s++) {
            text_format(&text, "%s{\"name\": \"%s%d\", \"data\": [", s ? ", " : "",
                        s ? "background" : "signal", s);
            for (int b = 0; b < 8; b++)
                text_format(&text, "%s%d", b ? ", " : "", s ? 400 / (s + b + 1) + 10 * c : 2 + b + c);
            text_format(&text, "], \"modifiers\": [%s",
                        s ? "" : "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, ");
            for (int k = 0; k < 6; k++)
                text_format(
                    &text,
                    "{\"name\": \"scale%d\", \"type\": \"normsys\", \"data\": {\"hi\": %g, \"lo\": %g}}, ",
                    s * 6 + k, 1.0 + 0.01 * (k + 1 + c), 1.0 - 0.009 * (k + 1 + s));
            text_format(&text, "{\"name\": \"shape%d\", \"type\": \"histosys\", \"data\": {\"hi_data\": [",
                        s);
            for (int b = 0; b < 8; b++)
                text_format(&text, "%s%g", b ? ", " : "",
                            (s ? 400 / (s + b + 1) + 10 * c : 2 + b + c) * (1.0 + 0.01 * (b - 3)));
            text_format(&text, "], \"lo_data\": [");
            for (int b = 0; b < 8; b++)
                text_format(&text, "%s%g", b ? ", " : "",
                            (s ? 400 / (s + b + 1) + 10 * c : 2 + b + c) * (1.0 - 0.011 * (b - 3)));
            text_format(&text, "]}}, {\"name\": \"stat%d\", \"type\": \"staterror\", \"data\": [", c);
            for (int b = 0; b < 8; b++) text_format(&text, "%s%g", b ? ", " : "", 0.5 + 0.1 * (s + b));
            text_format(&text, "]}]}");
        }
        text_format(&text, "]}");
    }
    text_format(&text, "], \"observations\": [");
    for (int c = 0; c < 4; c++) {
        text_format(&text, "%s{\"name\": \"channel%d\", \"data\": [", c ? ", " : "", c);
        for (int b = 0; b < 8; b++)
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

/* ---- one operation ---- */

static paritas_status run_toys(struct bench *b, paritas_context *context)
{
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    toys.n = b->poi ? BATCH / 2 : BATCH; /* a test has two hypotheses */
    if (b->poi) {
        const double lower = paritas_model_lower_bounds(b->session->model)[b->parameter],
                     upper = paritas_model_upper_bounds(b->session->model)[b->parameter];
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        return paritas_hypotest_toys(context, b->session->model, &b->session->job, PARITAS_STATISTIC_QTILDE,
                                     lower <= 1.0 && upper >= 1.0 ? 1.0 : upper, &toys, &result);
    }
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    return paritas_toys(context, b->session->model, &b->session->job,
                        &(paritas_toys_request){.size = sizeof(paritas_toys_request)}, &toys, &result);
}

static paritas_status run_once(struct bench *b, enum operation operation, paritas_context *context)
{
    const paritas_model *model = b->session->model;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    size_t n;
    switch (operation) {
    case OPERATION_NLL:
        return paritas_evaluate(context, model, 1, b->points, 0, NULL, b->values, NULL, NULL);
    case OPERATION_GRADIENT:
        return paritas_evaluate(context, model, 1, b->points, 0, NULL, b->values, b->values + BATCH, NULL);
    case OPERATION_NLLS:
        return paritas_evaluate(context, model, BATCH, b->points, 0, NULL, b->values, NULL, NULL);
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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static paritas_status measure(struct bench *b, enum operation operation, size_t device, double seconds)
{
    double *times = b->times;
    paritas_context *context = b->devices[device];
    struct measured *m = &b->measured[operation][device];
    if (operation == OPERATION_RANKING && !b->poi) return PARITAS_OK;
    paritas_status status = run_once(b, operation, context); /* what is made once for a model is made here */
    const double started = now();
    while (status == PARITAS_OK && m->repeats < REPEATS && (m->repeats < 3 || now() - started < seconds)) {
        const double before = now();
        status = run_once(b, operation, context);
        times[m->repeats++] = now() - before;
        if (now() - started > 10.0 * seconds) break; /* the third is not worth it */
    }
    if (status != PARITAS_OK)
        return context == b->session->context
                   ? status
                   : paritas_fail(b->session->context, status, "%s on %s: %s", names[operation],
                                  b->device_names[device], paritas_error_message(context));
    qsort(times, m->repeats, sizeof *times, ascending);
    m->seconds =
        m->repeats % 2 ? times[m->repeats / 2] : 0.5 * (times[m->repeats / 2 - 1] + times[m->repeats / 2]);
    return PARITAS_OK;
}

/* ---- what is measured ---- */

/* PARITAS_DEVICE may say auto, which is no device: the CPU is measured then. */
static const char *devices_of(const struct bench *b)
{
    const char *named = environment_device();
    return option_text(b->session->arguments, "--device",
                       named != NULL && strcmp(named, "auto") != 0 ? named : "cpu");
}

static paritas_status open_devices(struct bench *b)
{
    struct session *session = b->session;
    const char *list = devices_of(b);
    b->devices[b->n_devices] = session->context;
    b->device_names[b->n_devices++] = paritas_device_name(session->context);
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        char *name = arena_text(&session->arena, at, length);
        if (name == NULL) return paritas_fail_memory(session->context);
        at += length + (at[length] == ',');
        if (strcmp(name, "cpu") == 0) continue;
        if (strcmp(name, "auto") == 0)
            return usage_failure(
                session,
                "--device auto is no device to measure: it moves between the CPU and another; name that");
        if (b->n_devices == DEVICES)
            return usage_failure(session, "--device takes at most %d devices beside the CPU", DEVICES - 1);
        paritas_options options_of_device = session->options;
        options_of_device.device = name;
        paritas_context **context = &b->devices[b->n_devices++];
        const paritas_status status = paritas_open(&options_of_device, context);
        if (status != PARITAS_OK)
            return paritas_fail(session->context, status, "%s",
                                *context != NULL ? paritas_error_message(*context)
                                                 : paritas_status_message(status));
        b->device_names[b->n_devices - 1] = paritas_device_name(*context);
        bool known = false; /* under this name or another: opencl is opencl:0 */
        for (size_t d = 0; d + 1 < b->n_devices; d++)
            known = known || strcmp(b->device_names[d], paritas_device_name(*context)) == 0;
        if (!known) continue;
        paritas_close(*context);
        b->n_devices--;
    }
    for (int o = 0; o < OPERATIONS; o++)
        for (size_t d = 0; d < b->n_devices; d++)
            b->measured[o][d].seconds = b->measured[o][d].baseline = (double)NAN;
    return PARITAS_OK;
}

/* Points in line between the start and a hundredth of a width away, and a scan of two errors. */
static paritas_status prepare(struct bench *b)
{
    struct session *session = b->session;
    const paritas_model *model = session->model;
    const size_t n = session->n_parameters;
    const double *widths = paritas_model_constraint_widths(model);
    b->points = numbers(session, BATCH * n);
    b->values = numbers(session, BATCH + n);
    b->scanned = sized_records(session, SCAN, sizeof *b->scanned);
    b->entries = sized_records(session, n, sizeof *b->entries);
    double *best = numbers(session, n), *errors = numbers(session, n);
    if (b->points == NULL || b->values == NULL || b->scanned == NULL || b->entries == NULL || best == NULL ||
        errors == NULL)
        return paritas_fail_memory(session->context);
    for (size_t k = 0; k < BATCH; k++)
        for (size_t i = 0; i < n; i++)
            b->points[k * n + i] =
                session->job.start[i] +
                (session->job.fixed[i] || isnan(widths[i]) ? 0.0 : 0.01 * widths[i] * (double)k / BATCH);
    const ptrdiff_t poi = paritas_model_poi_index(model);
    b->poi = poi >= 0 && !session->job.fixed[poi];
    b->parameter = b->poi ? (size_t)poi : 0;
    while (b->parameter + 1 < n && session->job.fixed[b->parameter]) b->parameter++;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_status status = paritas_fit(
        session->context, model, NULL, 1, &session->job,
        &(paritas_fit_answers){
            .size = sizeof(paritas_fit_answers), .results = &result, .parameters = best, .errors = errors});
    if (status != PARITAS_OK) return status;
    note_status(session, result.status);
    const double lower = paritas_model_lower_bounds(model)[b->parameter],
                 upper = paritas_model_upper_bounds(model)[b->parameter];
    const double centre = best[b->parameter],
                 reach = errors[b->parameter] > 0.0 ? 2.0 * errors[b->parameter] : 0.1 * (upper - lower);
    const double start = centre - reach > lower ? centre - reach : lower,
                 stop = centre + reach < upper ? centre + reach : upper;
    for (size_t k = 0; k < SCAN; k++)
        b->scan[k] = k + 1 < SCAN ? start + (stop - start) * ((double)k / (SCAN - 1)) : stop;
    return paritas_workspace_digest(session->context, session->workspace, b->digest);
}

/* ---- baselines ---- */

static const char *description_of(const paritas_context *context)
{
    return context->device->operations->describe(context->device);
}

/* Notes a circumstance of the baseline where it is known and another one than now. */
static paritas_status compare(struct bench *b, const char *what, const char *device, const char *baseline,
                              const char *now)
{
    struct arena *arena = &b->session->arena;
    if (baseline == NULL || strcmp(baseline, now) == 0) return PARITAS_OK;
    struct difference *d = &b->differences[b->n_differences++];
    *d = (struct difference){what, device, arena_text(arena, baseline, strlen(baseline)),
                             arena_text(arena, now, strlen(now))};
    return d->baseline != NULL && d->now != NULL ? PARITAS_OK : paritas_fail_memory(b->session->context);
}

static paritas_status compare_circumstances(struct bench *b, const struct json *root)
{
    const paritas_context *context = b->session->context;
    const struct json *isa = json_get(root, "isa"), *threads = json_get(root, "threads"),
                      *devices = json_get(root, "devices");
    char before[24], now[24];
    snprintf(before, sizeof before, "%.10g", json_is(threads, JSON_NUMBER) ? threads->number : 0.0);
    snprintf(now, sizeof now, "%u", context->threads);
    paritas_status status =
        compare(b, "isa", NULL, json_is(isa, JSON_STRING) ? isa->text : NULL, paritas_isa_name(context));
    if (status == PARITAS_OK)
        status = compare(b, "threads", NULL, json_is(threads, JSON_NUMBER) ? before : NULL, now);
    for (size_t d = 0; d < b->n_devices && status == PARITAS_OK; d++) {
        const struct json *description = NULL;
        for (const struct json *one = json_is(devices, JSON_ARRAY) ? devices->first : NULL;
             one != NULL && description == NULL; one = one->next)
            if (json_text_is(json_get(one, "device"), b->device_names[d]))
                description = json_get(one, "description");
        status = compare(b, "description", b->device_names[d],
                         json_is(description, JSON_STRING) ? description->text : NULL,
                         description_of(b->devices[d]));
    }
    return status;
}

/* One row of a baseline; false: no measurement. Without seconds: the model had no such operation. */
static bool read_row(struct bench *b, const struct json *one)
{
    const struct json *name = json_get(one, "operation"), *device = json_get(one, "device"),
                      *seconds = json_get(one, "seconds");
    if (!json_is(name, JSON_STRING) || !json_is(device, JSON_STRING)) return false;
    if (json_is(seconds, JSON_NULL)) return true;
    if (!json_is(seconds, JSON_NUMBER) || !(seconds->number > 0.0)) return false;
    for (int o = 0; o < OPERATIONS; o++)
        for (size_t d = 0; d < b->n_devices; d++)
            if (strcmp(name->text, names[o]) == 0 && strcmp(device->text, b->device_names[d]) == 0)
                b->measured[o][d].baseline = seconds->number;
    return true;
}

static paritas_status read_baseline(struct bench *b, const char *path)
{
    paritas_context *context = b->session->context;
    struct paritas_workspace *document = NULL;
    paritas_status status = json_read_file(context, path, &document);
    if (status != PARITAS_OK) return status;
    const struct json *digest = json_get(document->root, "workspace"),
                      *operations = json_get(document->root, "operations"),
                      *precision = json_get(document->root, "precision");
    bool measurements =
        json_is(digest, JSON_STRING) && json_is(operations, JSON_ARRAY) && json_is(precision, JSON_STRING);
    for (const struct json *one = measurements ? operations->first : NULL; one != NULL && measurements;
         one = one->next)
        measurements = read_row(b, one);
    if (!measurements)
        status =
            paritas_fail(context, PARITAS_INVALID_INPUT, "%s: is no file of measurements", document->label);
    else if (strcmp(digest->text, b->digest) != 0 ||
             strcmp(precision->text, paritas_precision_name(context)) != 0)
        status =
            paritas_fail(context, PARITAS_INVALID_INPUT,
                         "%s: was measured on another workspace, or in another precision", document->label);
    else
        status = compare_circumstances(b, document->root);
    paritas_workspace_free(document);
    return status;
}

/* ---- the answer ---- */

static size_t winner_of(const struct bench *b, int operation)
{
    size_t best = 0;
    for (size_t d = 1; d < b->n_devices; d++)
        if (b->measured[operation][d].seconds < b->measured[operation][best].seconds) best = d;
    return best;
}

static void write_document(const struct bench *b, struct writer *w)
{
    write_object(w, NULL, true);
    write_array(w, "operations", true);
    for (int o = 0; o < OPERATIONS; o++)
        for (size_t d = 0; d < b->n_devices; d++) {
            const struct measured *m = &b->measured[o][d];
            write_object(w, NULL, false);
            write_string(w, "operation", names[o]);
            write_string(w, "device", b->device_names[d]);
            write_number(w, "seconds", m->seconds);
            write_integer(w, "repeats", m->repeats);
            write_number(w, "faster_than_cpu", b->measured[o][0].seconds / m->seconds);
            write_number(w, "faster_than_baseline", m->baseline / m->seconds);
            write_bool(w, "winner", m->repeats > 0 && winner_of(b, o) == d);
            write_close(w);
        }
    write_close(w);
    write_string(w, "workspace", b->digest);
    write_integer(w, "parameters", b->session->n_parameters);
    write_string(w, "version", paritas_version());
    write_string(w, "isa", paritas_isa_name(b->session->context));
    write_integer(w, "threads", b->session->context->threads);
    write_array(w, "devices", true);
    for (size_t d = 0; d < b->n_devices; d++) {
        write_object(w, NULL, false);
        write_string(w, "device", b->device_names[d]);
        write_string(w, "description", description_of(b->devices[d]));
        write_close(w);
    }
    write_close(w);
    write_array(w, "baseline_differs", true);
    for (size_t k = 0; k < b->n_differences; k++) {
        const struct difference *d = &b->differences[k];
        write_object(w, NULL, false);
        write_string(w, "what", d->what);
        write_string(w, "device", d->device);
        write_string(w, "baseline", d->baseline);
        write_string(w, "now", d->now);
        write_close(w);
    }
    write_close(w);
    write_string(w, "precision", paritas_precision_name(b->session->context));
    write_string(w, "polish", paritas_polish_name(b->session->context));
    write_close(w);
}

/* Seconds, as people read them. */
static void table_seconds(struct table *table, double seconds)
{
    if (isnan(seconds))
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
    text_format(&session->out, "%zu parameters, %s, medians; ratios above 1 are faster\n\n",
                session->n_parameters, paritas_precision_name(session->context));
    table_open(&table, &session->context->allocator, "operation|device|time|than the CPU|than the baseline|",
               "llrrrl");
    for (int o = 0; o < OPERATIONS; o++)
        for (size_t d = 0; d < b->n_devices; d++) {
            const struct measured *m = &b->measured[o][d];
            table_text(&table, d == 0 ? names[o] : "");
            table_text(&table, b->device_names[d]);
            table_seconds(&table, m->seconds);
            table_ratio(&table, b->measured[o][0].seconds / m->seconds);
            table_ratio(&table, m->baseline / m->seconds);
            table_text(&table, m->repeats > 0 && b->n_devices > 1 && winner_of(b, o) == d ? "wins" : "");
        }
    table_close(&table, &session->out);
    for (size_t k = 0; k < b->n_differences; k++) {
        const struct difference *d = &b->differences[k];
        text_format(&session->out, "%sthe baseline has another %s%s%s: %s, now %s\n", k == 0 ? "\n" : "",
                    d->what, d->device != NULL ? " of " : "", d->device != NULL ? d->device : "", d->baseline,
                    d->now);
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
    const char *path = option_text(session->arguments, "--save", NULL),
               *baseline = option_text(session->arguments, "--baseline", NULL);
    const double seconds = option_number(session->arguments, "--seconds", 0.5);
    if (!(seconds > 0.0)) return usage_failure(session, "--seconds takes a number above 0");
    if (path != NULL && !output_check(path))
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the measurements could not be kept",
                            path);
    paritas_status status = session->arguments->n_operands > 0 ? PARITAS_OK : built_in(session);
    if (status == PARITAS_OK) status = load_model(session);
    if (status == PARITAS_OK) status = open_devices(b);
    if (status == PARITAS_OK) status = prepare(b);
    /* before the measurements, which a bad one would lose */
    if (status == PARITAS_OK && baseline != NULL) status = read_baseline(b, baseline);
    for (int o = 0; o < OPERATIONS; o++)
        for (size_t d = 0; d < b->n_devices && status == PARITAS_OK; d++)
            status = measure(b, (enum operation)o, d, seconds);
    if (status == PARITAS_OK && session->json)
        write_document(b, &session->writer);
    else if (status == PARITAS_OK)
        write_table(b);
    return status == PARITAS_OK && path != NULL ? save(b, path) : status;
}

static int run(struct session *session)
{
    struct bench *b = arena_array(&session->arena, 1, sizeof *b);
    if (b == NULL) return paritas_fail_memory(session->context);
    b->session = session;
    const paritas_status status = bench(b);
    for (size_t d = 1; d < b->n_devices; d++) paritas_close(b->devices[d]);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .operands = "[WORKSPACE]",
    .operands_min = 0,
    .operands_max = 1,
    .summary = "how long things take, on the CPU and on other devices",
    .description = "Median times of a likelihood, a gradient, 1000 likelihoods, a fit, a scan of 21 points, "
                   "a ranking and 1000 toys. Kernels are compiled and the model is uploaded before. Without "
                   "a workspace: of a built-in model.",
    .groups = {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
