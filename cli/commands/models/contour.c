/* contour.c: confidence regions of two parameters. */
#include "analysis.h"
#include "print/record_output.h"

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
    paritas_contour_point *points;
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
    return allocated(session);
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
                                             .points = c->points};
    TRY(paritas_contour(session->context, session->model, &session->job, &request));
    note_status(session, c->best.status);
    for (size_t i = 0; i < c->n_levels * c->n_points; i++) note_status(session, c->points[i].status);
    return PARITAS_OK;
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
        write_close(w);
    }
    write_close(w);
    write_minima(w, &c->points[0].minima);
}

static const char *remark_of(const paritas_contour_point *point)
{
    return point->at_bound ? "at a bound" : failure_word(point->status);
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
}

const struct command command_contour = {
    .name = "contour",
    .operands = "WORKSPACE",
    .summary = "confidence regions of two parameters",
    .description =
        "At the edge of a region q is -2 ln(1 - CL): 2.30 for 68.27 %, 5.99 for 95 %. q is twice the NLL "
        "there, minimised over all other parameters, less twice the NLL of the best fit. If a region "
        "has several parts, only the one around the best fit is found.",
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
