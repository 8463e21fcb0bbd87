/* scan.c: profile likelihood scans in one or two parameters. */
#include "analysis.h"
#include "print/record_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--start", OPTION_NUMBER, "MU",
     "first value; replaces LO of --par; default: 3 errors below the lowest minimum that is known"},
    {"--stop", OPTION_NUMBER, "MU", "last value; replaces HI of --par; default: 3 errors above the highest"},
    {"--points", OPTION_COUNT, "N", "number of values; replaces N of --par", "21"},
    {"--par", OPTION_TEXT, "NAME[=LO:HI:N]",
     "scan this parameter instead, or a grid of two, with ranges (give it twice)"},
    {"--confidence", OPTION_PART, "CL",
     "crossings of one parameter have this confidence; may be repeated; default: one and two standard "
     "deviations'"},
    {0},
};

static const double usual_confidences[] = PARITAS_INTERVAL_CONFIDENCE;

struct axis {
    size_t parameter, n;
    struct range range;
};

struct scan {
    size_t k, n;
    struct axis axes[2];
    double *values; /* n rows of k */
    paritas_fit_result best;
    double *best_parameters;
    paritas_scan_point *points;
    size_t n_confidences, n_crossings;
    double *confidences;
    paritas_crossing *crossings;
};

static const char *axis_name(const struct session *session, const struct scan *scan, size_t j)
{
    return parameter_name(session, scan->axes[j].parameter);
}

/* An axis without a range has n = 0. */
static paritas_status read_axis(struct session *session, const char *text, struct axis *axis)
{
    paritas_context *context = session->context;
    char *copy = arena_text(&session->arena, text, strlen(text));
    if (!copy) return paritas_fail_memory(context);
    char *equals = strrchr(copy, '='), *colon = equals ? strchr(equals, ':') : NULL,
         *second = colon ? strchr(colon + 1, ':') : NULL;
    double n = 0.0;
    if (second) *equals = *colon = *second = '\0';
    const bool range = strchr(text, ':');
    if (range && (!second || !number_of_text(equals + 1, &axis->range.lower) ||
                  !number_of_text(colon + 1, &axis->range.upper) || !number_of_text(second + 1, &n) ||
                  !(n >= 1.0 && n <= 1e6) || n != floor(n)))
        return usage_failure(session, "--par takes NAME=LO:HI:N or NAME, not '%s'", text);
    axis->n = (size_t)n;
    return paritas_model_parameter_index(context, session->model, copy, &axis->parameter);
}

/* Begins below the lowest known minimum, and ends above the highest. */
static paritas_status default_range(struct session *session, struct axis *axis)
{
    double ends[2];
    TRY(paritas_scan_range(session->context, session->model, &session->job, axis->parameter, ends));
    axis->range = (struct range){ends[0], ends[1]};
    return PARITAS_OK;
}

/* --start, --stop and --points, where they are given, count for the only axis. */
static void adjust_axis(const struct session *session, struct axis *axis)
{
    axis->range.lower = option_number_or(session, "--start", axis->range.lower);
    axis->range.upper = option_number_or(session, "--stop", axis->range.upper);
    if (option_given(session, "--points")) axis->n = option_count(session, "--points");
}

static paritas_status check_grid(struct session *session, const struct axis axes[2])
{
    static const char *const names[] = {"--start", "--stop", "--points"};
    for (size_t j = 0; j < COUNT_OF(names); j++)
        if (option_given(session, names[j]))
            return usage_failure(session, "%s is for one parameter; a grid of two has its ranges in --par",
                                 names[j]);
    if (axes[0].n == 0 || axes[1].n == 0) return usage_failure(session, "--par of a grid takes NAME=LO:HI:N");
    return PARITAS_OK;
}

static paritas_status read_axes(struct session *session, struct axis axes[2], size_t *k)
{
    size_t at = 0;
    *k = 0;
    for (const struct given *given; (given = option_next(session, "--par", &at));) {
        if (*k == 2) return usage_failure(session, "--par can be given once or twice");
        TRY(read_axis(session, given->text, &axes[(*k)++]));
    }
    if (*k > 0 && session->n_pois > 1)
        return usage_failure(session,
                             "--par names what is scanned; with several --poi each is scanned in turn");
    if (*k == 2) return check_grid(session, axes);
    struct axis *axis = &axes[0];
    if (*k == 0) {
        TRY(require_poi(session));
        axis->parameter = (size_t)poi_of(session);
        *k = 1;
    }
    if (axis->n == 0) {
        if (!option_given(session, "--start") || !option_given(session, "--stop"))
            TRY(default_range(session, axis));
        axis->n = option_count(session, "--points"); /* its default, too */
    }
    adjust_axis(session, axis);
    return PARITAS_OK;
}

/* The second axis runs faster. */
static paritas_status lay_out(struct session *session, struct scan *scan)
{
    TRY(read_axes(session, scan->axes, &scan->k));
    const size_t inner = scan->k == 2 ? scan->axes[1].n : 1;
    scan->n = scan->axes[0].n * inner;
    scan->values = arena_numbers(session, scan->n * scan->k);
    scan->best_parameters = arena_numbers(session, session->n_parameters);
    scan->points = arena_records(session, scan->n, sizeof *scan->points);
    TRY(allocated(session));
    for (size_t i = 0; i < scan->n; i++) {
        const size_t places[2] = {i / inner, i % inner};
        for (size_t j = 0; j < scan->k; j++)
            scan->values[i * scan->k + j] = range_value(scan->axes[j].range, places[j], scan->axes[j].n);
    }
    return PARITAS_OK;
}

static paritas_status analyse(struct session *session, void *result)
{
    struct scan *scan = result;
    scan->best.size = sizeof scan->best;
    TRY(lay_out(session, scan));
    TRY(read_confidences(session, COUNT_OF(usual_confidences), usual_confidences, &scan->n_confidences,
                         &scan->confidences));
    const size_t room = scan->n_confidences * 2 * PARITAS_PARTS_MOST;
    scan->crossings = arena_records(session, room, sizeof *scan->crossings);
    TRY(allocated(session));
    const size_t parameters[2] = {scan->axes[0].parameter, scan->axes[1].parameter};
    const paritas_scan_request request = {.size = sizeof request,
                                          .n_parameters = scan->k,
                                          .parameters = parameters,
                                          .n_points = scan->n,
                                          .values = scan->values,
                                          .best = &scan->best,
                                          .best_parameters = scan->best_parameters,
                                          .points = scan->points,
                                          .n_levels = scan->n_confidences,
                                          .levels = scan->confidences,
                                          .crossings_room = room,
                                          .crossings = scan->crossings,
                                          .n_crossings = &scan->n_crossings};
    TRY(paritas_scan(session->context, session->model, &session->job, &request));
    if (scan->n_crossings > room) scan->n_crossings = room;
    note_status(session, scan->best.status);
    for (size_t i = 0; i < scan->n; i++) note_status(session, scan->points[i].status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct scan *scan = result;
    const ptrdiff_t poi = poi_of(session);
    write_members(w, "status:s mu_hat:n twice_nll_min:n", paritas_fit_status_name(scan->best.status),
                  poi >= 0 ? scan->best_parameters[poi] : NAN, scan->best.twice_nll);
    write_array(w, "parameters", false);
    for (size_t j = 0; j < scan->k; j++) write_string(w, NULL, axis_name(session, scan, j));
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
    if (scan->k == 1) {
        write_array(w, "crossings", true);
        for (size_t i = 0; i < scan->n_crossings; i++)
            write_record_row(w, NULL, "paritas_crossing", &scan->crossings[i]);
        write_close(w);
    }
    write_minima(w, scan->n > 0 ? &scan->points[0].minima : &(paritas_minima){0});
}

/* "q crosses 1 (68.27 %) at 0.2, 1.3" */
static void describe_crossings(struct text *out, const struct scan *scan)
{
    if (scan->n_crossings > 0) text_format(out, "\n");
    for (size_t i = 0; i < scan->n_crossings; i++) {
        const paritas_crossing *crossing = &scan->crossings[i];
        const bool first = i == 0 || crossing[-1].confidence != crossing->confidence,
                   last = i + 1 == scan->n_crossings || crossing[1].confidence != crossing->confidence;
        if (first)
            text_format(out, "q crosses %s (%.4g %%) at ", shown(crossing->q, 5).text,
                        100.0 * crossing->confidence);
        text_format(out, "%s%s", shown(crossing->value, 7).text, last ? "" : ", ");
        if (last) text_format(out, "\n");
    }
}

static void write_text(struct session *session, const void *result)
{
    const struct scan *scan = result;
    struct text *out = &session->out;
    struct table table;
    char headers[256];
    int used = 0;
    text_format(out, "Best fit %s, 2 NLL %s\n", paritas_fit_status_name(scan->best.status),
                shown(scan->best.twice_nll, 10).text);
    for (size_t j = 0; j < scan->k; j++) {
        const char *name = axis_name(session, scan, j);
        text_format(out, "%s = %s\n", name, shown(scan->best_parameters[scan->axes[j].parameter], 6).text);
        used += snprintf(headers + used, sizeof headers - (size_t)used, "%.60s|", name);
    }
    text_format(out, "\n");
    snprintf(headers + used, sizeof headers - (size_t)used, "q|");
    table_open(&table, out, headers, scan->k == 1 ? "6 .5 l" : "6 6 .5 l");
    for (size_t i = 0; i < scan->n; i++) {
        for (size_t j = 0; j < scan->k; j++) table_number(&table, scan->values[i * scan->k + j], 6);
        table_row(&table, scan->points[i].q, failure_word(scan->points[i].status));
    }
    table_close(&table);
    describe_crossings(out, scan);
}

const struct command command_scan = {
    .name = "scan",
    .operands = "WORKSPACE",
    .summary = "profile likelihood at given values",
    .description =
        "q is twice the NLL with the parameter fixed, less twice the NLL of the best fit, and not "
        "below 0. All crossings of the levels of confidences by one parameter are found by fits, to "
        "1e-6, between its first and its last value.",
    .groups = {GROUP_OPTIONS, GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct scan),
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
