/* command_scan.c: profile likelihood scans over one or two parameters. */
#include "session.h"
#include "record_output.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--start", 0, OPTION_NUMBER, "MU",
     "first value of the parameter of interest; default: 3 errors below its best fit"},
    {"--stop", 0, OPTION_NUMBER, "MU", "last value; default: 3 errors above"},
    {"--points", 0, OPTION_COUNT, "N", "values; default: 21"},
    {"--par", 0, OPTION_TEXT, "NAME=LO:HI:N",
     "scan this parameter instead, or a grid of two (give it twice)"},
    {"--asimov", 0, OPTION_NUMBER, "MU",
     "scan Asimov data: expected at the fit to the data with the parameter of interest held at MU"},
    {0},
};

/* One axis of a scan. */
struct axis {
    size_t parameter, n;
    double start, stop;
};

static double axis_value(const struct axis *axis, size_t i)
{
    if (i + 1 == axis->n && axis->n > 1) return axis->stop;
    return axis->n > 1 ? axis->start + (axis->stop - axis->start) * ((double)i / (double)(axis->n - 1))
                       : axis->start;
}

/* Reads NAME=LO:HI:N. */
static paritas_status read_axis(struct session *session, const char *text, struct axis *axis)
{
    paritas_context *context = session->context;
    char *copy = arena_text(&session->arena, text, strlen(text));
    if (copy == NULL) return paritas_fail_memory(context);
    char *equals = strrchr(copy, '='), *colon = equals != NULL ? strchr(equals, ':') : NULL,
         *second = colon != NULL ? strchr(colon + 1, ':') : NULL;
    double n = 0.0;
    if (second != NULL) *equals = *colon = *second = '\0';
    if (second == NULL || !number_of_text(equals + 1, &axis->start) ||
        !number_of_text(colon + 1, &axis->stop) || !number_of_text(second + 1, &n) ||
        !(n >= 1.0 && n <= 1e6) || n != floor(n))
        return usage_failure(session, "--par takes NAME=LO:HI:N, not '%s'", text);
    axis->n = (size_t)n;
    return paritas_model_parameter_index(context, session->model, copy, &axis->parameter);
}

/* Three errors around the best fit, within the bounds. */
static paritas_status default_range(struct session *session, struct axis *axis)
{
    size_t n = session->n_parameters, k = axis->parameter;
    double *values = numbers(session, n), *errors = numbers(session, n);
    if (values == NULL || errors == NULL) return PARITAS_OUT_OF_MEMORY;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    paritas_status status = paritas_fit(
        session->context, session->model, NULL, 1, &session->job,
        &(paritas_fit_answers){
            .size = sizeof(paritas_fit_answers), .results = &result, .parameters = values, .errors = errors});
    if (status != PARITAS_OK) return status;
    double lower = paritas_model_lower_bounds(session->model)[k],
           upper = paritas_model_upper_bounds(session->model)[k];
    /* on its bound it has no error */
    double reach = errors[k] > 0.0 ? 3.0 * errors[k] : 0.25 * (upper - lower);
    axis->start = values[k] - reach > lower ? values[k] - reach : lower;
    axis->stop = values[k] + reach < upper ? values[k] + reach : upper;
    return PARITAS_OK;
}

static paritas_status read_axes(struct session *session, struct axis axes[2], size_t *k)
{
    const struct arguments *arguments = session->arguments;
    size_t at = 0;
    *k = 0;
    for (const struct given *given; (given = option_next(arguments, "--par", &at)) != NULL;) {
        if (*k == 2) return usage_failure(session, "--par can be given once or twice");
        paritas_status status = read_axis(session, given->text, &axes[(*k)++]);
        if (status != PARITAS_OK) return status;
    }
    if (*k > 0) return PARITAS_OK;
    paritas_status status = require_poi(session);
    if (status != PARITAS_OK) return status;
    *k = 1;
    axes[0].parameter = (size_t)paritas_model_poi_index(session->model);
    if (option_given(arguments, "--start") == NULL || option_given(arguments, "--stop") == NULL)
        status = default_range(session, &axes[0]);
    axes[0].start = option_number(arguments, "--start", axes[0].start);
    axes[0].stop = option_number(arguments, "--stop", axes[0].stop);
    axes[0].n = option_count(arguments, "--points", 21);
    return status;
}

struct scanned {
    size_t k, n;
    struct axis axes[2];
    double *values; /* n rows of k */
    paritas_fit_result best;
    double *best_parameters;
    paritas_scan_point *points;
};

static void write_json(struct session *session, const struct scanned *scan)
{
    struct writer *w = &session->writer;
    ptrdiff_t poi = paritas_model_poi_index(session->model);
    write_object(w, NULL, true);
    write_string(w, "status", paritas_fit_status_name(scan->best.status));
    write_number(w, "mu_hat", poi >= 0 ? scan->best_parameters[poi] : (double)NAN);
    write_number(w, "twice_nll_min", scan->best.twice_nll);
    write_array(w, "parameters", false);
    for (size_t j = 0; j < scan->k; j++)
        write_string(w, NULL, paritas_model_parameter_name(session->model, scan->axes[j].parameter));
    write_close(w);
    write_array(w, "best", false);
    for (size_t j = 0; j < scan->k; j++)
        write_number(w, NULL, scan->best_parameters[scan->axes[j].parameter]);
    write_close(w);
    write_array(w, "points", true);
    for (size_t i = 0; i < scan->n; i++) {
        write_object(w, NULL, false);
        if (scan->k == 1) write_number(w, "mu", scan->values[i]);
        write_numbers(w, "values", scan->k, scan->values + i * scan->k);
        write_record(w, "paritas_scan_point", &scan->points[i]);
        write_close(w);
    }
    write_close(w);
    write_provenance(session);
    write_close(w);
}

static void write_table(struct session *session, const struct scanned *scan)
{
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Best fit %s, 2 NLL %.10g\n", paritas_fit_status_name(scan->best.status),
                scan->best.twice_nll);
    for (size_t j = 0; j < scan->k; j++)
        text_format(out, "%s = %.6g\n", paritas_model_parameter_name(session->model, scan->axes[j].parameter),
                    scan->best_parameters[scan->axes[j].parameter]);
    text_append(out, "\n", 1);
    char headers[256];
    int used = 0;
    for (size_t j = 0; j < scan->k; j++)
        used += snprintf(headers + used, sizeof headers - (size_t)used, "%.60s|",
                         paritas_model_parameter_name(session->model, scan->axes[j].parameter));
    snprintf(headers + used, sizeof headers - (size_t)used, "q|");
    table_open(&table, &session->context->allocator, headers, scan->k == 1 ? "rrl" : "rrrl");
    for (size_t i = 0; i < scan->n; i++) {
        for (size_t j = 0; j < scan->k; j++) table_number(&table, scan->values[i * scan->k + j], 6);
        table_decimal(&table, scan->points[i].q, 5);
        table_text(&table, scan->points[i].status == PARITAS_FIT_CONVERGED
                               ? ""
                               : paritas_fit_status_name(scan->points[i].status));
    }
    table_close(&table, out);
}

static int run(struct session *session)
{
    struct scanned scan = {.best = PARITAS_INIT(paritas_fit_result)};
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = load_asimov(session);
    if (status == PARITAS_OK) status = read_axes(session, scan.axes, &scan.k);
    if (status != PARITAS_OK) return status;
    scan.n = scan.axes[0].n * (scan.k == 2 ? scan.axes[1].n : 1);
    scan.values = numbers(session, scan.n * scan.k);
    scan.best_parameters = numbers(session, session->n_parameters);
    scan.points = sized_records(session, scan.n, sizeof *scan.points);
    if (scan.values == NULL || scan.best_parameters == NULL || scan.points == NULL)
        return paritas_fail_memory(session->context);
    for (size_t i = 0; i < scan.n; i++) {
        if (scan.k == 1) {
            scan.values[i] = axis_value(&scan.axes[0], i);
        } else {
            scan.values[2 * i] = axis_value(&scan.axes[0], i / scan.axes[1].n);
            scan.values[2 * i + 1] = axis_value(&scan.axes[1], i % scan.axes[1].n);
        }
    }
    const size_t parameters[2] = {scan.axes[0].parameter, scan.axes[1].parameter};
    status = paritas_scan(session->context, session->model, &session->job,
                          &(paritas_scan_request){.size = sizeof(paritas_scan_request),
                                                  .n_parameters = scan.k,
                                                  .parameters = parameters,
                                                  .n_points = scan.n,
                                                  .values = scan.values,
                                                  .best = &scan.best,
                                                  .best_parameters = scan.best_parameters,
                                                  .points = scan.points});
    if (status != PARITAS_OK) return status;
    note_status(session, scan.best.status);
    for (size_t i = 0; i < scan.n; i++) note_status(session, scan.points[i].status);
    if (session->json)
        write_json(session, &scan);
    else
        write_table(session, &scan);
    return PARITAS_OK;
}

const struct command command_scan = {
    .name = "scan",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "profile likelihood at given values",
    .description = "q is twice the NLL with the parameter held, less twice the NLL of the best fit, and not "
                   "below 0.",
    .groups =
        {{"Options", options}, GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
