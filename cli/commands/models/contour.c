/* contour.c: confidence regions of two parameters. */
#include "analysis.h"
#include "print/record_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--par", OPTION_TEXT, "NAME",
     "one of the two parameters; give it twice. Given once: with the parameter of interest. "
     "Default: two --poi"},
    {"--confidence", OPTION_PART, "CL",
     "confidence of a region; may be repeated; default: one standard deviation's and 95 %"},
    LIBRARY_ROW("--points", paritas_contour_request),
    {0},
};

static const double usual_levels[] = PARITAS_CONTOUR_CONFIDENCE;

struct contours {
    size_t parameters[2], n_levels, n_points;
    double *levels;
    paritas_fit_result best;
    double *best_parameters;
    paritas_contour_point *points, *edges;
    paritas_contour_part *parts;
    size_t n_parts, n_edges;
};

static paritas_status read_parameters(struct session *session, size_t parameters[2])
{
    size_t at = 0, n = 0;
    for (const struct given *given; (given = option_next(session, "--par", &at));) {
        if (n == 2) return usage_failure(session, "--par can be given once or twice");
        TRY(paritas_model_parameter_index(session->context, session->model, given->text, &parameters[n++]));
    }
    if (n > 0 && session->n_pois > 1)
        return usage_failure(session, "a region of two parameters: --par or several --poi, not both");
    if (n == 0 && session->n_pois == 2) {
        memcpy(parameters, session->pois, 2 * sizeof *parameters);
        return PARITAS_OK;
    }
    if (n == 0)
        return usage_failure(session, "a region needs two parameters: --par NAME --par NAME, or two --poi");
    if (n == 1) {
        TRY(require_poi(session));
        parameters[1] = parameters[0];
        parameters[0] = (size_t)poi_of(session);
    }
    return parameters[0] != parameters[1]
               ? PARITAS_OK
               : usage_failure(session, "a region needs two different parameters, not %s twice",
                               parameter_name(session, parameters[0]));
}

static paritas_status lay_out(struct session *session, struct contours *c)
{
    TRY(read_parameters(session, c->parameters));
    TRY(read_confidences(session, COUNT_OF(usual_levels), usual_levels, &c->n_levels, &c->levels));
    c->n_points = option_count(session, "--points");
    c->best_parameters = arena_numbers(session, session->n_parameters);
    c->points = arena_records(session, c->n_levels * c->n_points, sizeof *c->points);
    c->parts = arena_records(session, c->n_levels * PARITAS_PARTS_MOST, sizeof *c->parts);
    c->edges = arena_records(session, c->n_levels * PARITAS_EDGES_MOST, sizeof *c->edges);
    return allocated(session);
}

static size_t end_of(const paritas_contour_part *part)
{
    return part->first + part->n_points;
}

static paritas_status analyse(struct session *session, void *result)
{
    struct contours *c = result;
    c->best.size = sizeof c->best;
    TRY(lay_out(session, c));
    const paritas_contour_request request = {.size = sizeof request,
                                             .parameters = c->parameters,
                                             .n_levels = c->n_levels,
                                             .levels = c->levels,
                                             .n_points = c->n_points,
                                             .best = &c->best,
                                             .best_parameters = c->best_parameters,
                                             .points = c->points,
                                             .parts_room = c->n_levels * PARITAS_PARTS_MOST,
                                             .parts = c->parts,
                                             .n_parts = &c->n_parts,
                                             .edges_room = c->n_levels * PARITAS_EDGES_MOST,
                                             .edges = c->edges,
                                             .n_edges = &c->n_edges};
    TRY(paritas_contour(session->context, session->model, &session->job, &request));
    while (c->n_parts > 0 &&
           (c->n_parts > request.parts_room || end_of(&c->parts[c->n_parts - 1]) > request.edges_room))
        c->n_parts--;
    note_status(session, c->best.status);
    for (size_t i = 0; i < c->n_levels * c->n_points; i++) note_status(session, c->points[i].status);
    for (size_t i = 0; i < c->n_parts; i++)
        for (size_t k = c->parts[i].first; k < end_of(&c->parts[i]); k++)
            note_status(session, c->edges[k].status);
    return PARITAS_OK;
}

static void write_parts(struct writer *w, const struct contours *c, double confidence)
{
    write_array(w, "parts", true);
    for (size_t i = 0; i < c->n_parts; i++) {
        const paritas_contour_part *part = &c->parts[i];
        if (part->confidence != confidence) continue;
        write_object(w, NULL, true);
        write_fields(w, "paritas_contour_part", part, "hole", "q");
        write_array(w, "points", true);
        for (size_t k = part->first; k < end_of(part); k++)
            write_record_row(w, NULL, "paritas_contour_point", &c->edges[k]);
        write_close(w);
        write_close(w);
    }
    write_close(w);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct contours *c = result;
    write_members(w, "status:s twice_nll_min:n", paritas_fit_status_name(c->best.status), c->best.twice_nll);
    write_array(w, "parameters", false);
    for (size_t j = 0; j < 2; j++) write_string(w, NULL, parameter_name(session, c->parameters[j]));
    write_close(w);
    write_array(w, "best", false);
    for (size_t j = 0; j < 2; j++) write_number(w, NULL, c->best_parameters[c->parameters[j]]);
    write_close(w);
    write_array(w, "contours", true);
    for (size_t i = 0; i < c->n_levels; i++) {
        write_object(w, NULL, true);
        write_number(w, "confidence", c->levels[i]);
        write_array(w, "points", true);
        for (size_t k = 0; k < c->n_points; k++)
            write_record_row(w, NULL, "paritas_contour_point", &c->points[i * c->n_points + k]);
        write_close(w);
        write_parts(w, c, c->levels[i]);
        write_close(w);
    }
    write_close(w);
    write_minima(w, &c->points[0].minima);
}

static const char *remark_of(const paritas_contour_point *point)
{
    return point->at_bound ? "at a bound" : failure_word(point->status);
}

/* A line for each closed curve: where its points lie. --json has the points. */
static void describe_parts(struct session *session, const struct contours *c)
{
    struct table table;
    char headers[256];
    const char *const names[2] = {parameter_name(session, c->parameters[0]),
                                  parameter_name(session, c->parameters[1])};
    snprintf(headers, sizeof headers, "part of|%.60s|to|%.60s|to|q of its minimum|points|", names[0],
             names[1]);
    table_open(&table, &session->out, headers, "4 6 6 6 6 .5 z l");
    for (size_t i = 0; i < c->n_parts; i++) {
        const paritas_contour_part *part = &c->parts[i];
        double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};
        for (size_t k = part->first; k < end_of(part); k++)
            for (size_t j = 0; j < 2; j++) {
                least[j] = fmin(least[j], c->edges[k].values[j]);
                most[j] = fmax(most[j], c->edges[k].values[j]);
            }
        table_row(&table, part->confidence, least[0], most[0], least[1], most[1], part->q, part->n_points,
                  part->hole ? "a hole" : "");
    }
    table_close(&table);
}

static void write_text(struct session *session, const void *result)
{
    const struct contours *c = result;
    struct text *out = &session->out;
    struct table table;
    char headers[256];
    text_format(out, "Best fit %s, 2 NLL %s\n", paritas_fit_status_name(c->best.status),
                shown(c->best.twice_nll, 10).text);
    for (size_t j = 0; j < 2; j++)
        text_format(out, "%s = %s\n", parameter_name(session, c->parameters[j]),
                    shown(c->best_parameters[c->parameters[j]], 6).text);
    text_format(out, "\n");
    snprintf(headers, sizeof headers, "confidence|%.60s|%.60s|q|", parameter_name(session, c->parameters[0]),
             parameter_name(session, c->parameters[1]));
    table_open(&table, out, headers, "4 6 6 .5 l");
    for (size_t i = 0; i < c->n_levels * c->n_points; i++) {
        const paritas_contour_point *point = &c->points[i];
        table_row(&table, c->levels[i / c->n_points], point->values[0], point->values[1], point->q,
                  remark_of(point));
    }
    table_close(&table);
    text_format(out, "\n");
    describe_parts(session, c);
}

const struct command command_contour = {
    .name = "contour",
    .operands = "WORKSPACE",
    .summary = "confidence regions of two parameters",
    .description =
        "At the edge of a region q is -2 ln(1 - CL): 2.30 for 68.27 %, 5.99 for 95 %. q is twice the NLL "
        "there, minimised over all other parameters, less twice the NLL of the best fit. The points lie "
        "around the best fit. Then all parts of the regions follow, and holes in them; --json has their "
        "points.",
    .groups = {GROUP_OPTIONS, GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct contours),
            .several = POIS_TOGETHER,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
