/* interval.c: intervals of the likelihood with all parts, and those of Feldman and Cousins by toys. */
#include "print/record_output.h"
#include "print/table.h"
#include "commands/models/toy_runs.h"

static const struct option options[] = {
    LIBRARY_ROW("--level", paritas_interval_toys_request),
    {"--calc", OPTION_CHOICE, "asymptotic|toys", "by the likelihood, with all parts, or by toys", "toys"},
    {"--confidence", OPTION_PART, "CL",
     "confidence; may be repeated; default: 1 less --level if that is given, else one and two standard "
     "deviations'",
     .needs = "--calc asymptotic"},
    {"--rtol", .library = "paritas_interval_toys_request", .needs = "--calc toys"},
    {0},
};

static const double usual_confidences[] = PARITAS_INTERVAL_CONFIDENCE;

struct parts {
    paritas_fit_result best;
    double *best_parameters, *confidences;
    size_t n_confidences, n;
    paritas_interval_part *parts;
};

static paritas_status analyse(struct session *session, void *result)
{
    struct parts *p = result;
    p->best.size = sizeof p->best;
    const double level = 1.0 - option_number(session, "--level");
    const bool by_level = option_given(session, "--level") != NULL;
    TRY(read_confidences(session, by_level ? 1 : COUNT_OF(usual_confidences),
                         by_level ? &level : usual_confidences, &p->n_confidences, &p->confidences));
    const size_t room = p->n_confidences * PARITAS_PARTS_MOST;
    p->best_parameters = arena_numbers(session, session->n_parameters);
    p->parts = arena_records(session, room, sizeof *p->parts);
    TRY(allocated(session));
    const paritas_interval_request request = {.size = sizeof request,
                                              .parameter = (size_t)poi_of(session),
                                              .n_levels = p->n_confidences,
                                              .levels = p->confidences,
                                              .best = &p->best,
                                              .best_parameters = p->best_parameters,
                                              .room = room,
                                              .parts = p->parts,
                                              .n_parts = &p->n};
    TRY(paritas_interval(session->context, session->model, &session->job, &request));
    if (p->n > room) p->n = room;
    note_status(session, p->best.status);
    for (size_t i = 0; i < p->n; i++) note_status(session, p->parts[i].status);
    return PARITAS_OK;
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct parts *p = result;
    write_members(w, "calc:s status:s mu_hat:n twice_nll_min:n", "asymptotic",
                  paritas_fit_status_name(p->best.status), p->best_parameters[poi_of(session)],
                  p->best.twice_nll);
    write_array(w, "parts", true);
    for (size_t i = 0; i < p->n; i++) write_record_row(w, NULL, "paritas_interval_part", &p->parts[i]);
    write_close(w);
    write_minima(w, p->n > 0 ? &p->parts[0].minima : &(paritas_minima){0});
}

/* How a part ends, where that is no crossing. */
static const char *end_word(paritas_minos_end end, const char *bound, const char *edge)
{
    return end == PARITAS_MINOS_END_BOUND     ? bound
           : end == PARITAS_MINOS_END_EDGE    ? edge
           : end == PARITAS_MINOS_END_UNKNOWN ? "an end was not found"
                                              : "";
}

static void write_text(struct session *session, const void *result)
{
    const struct parts *p = result;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Likelihood interval of %s, with all parts\n\n", poi_name(session));
    table_open(&table, out, "confidence|lower|upper|minimum|q there|", "4 6 6 6 .5 l");
    for (size_t i = 0; i < p->n; i++) {
        const paritas_interval_part *part = &p->parts[i];
        const char *below = end_word(part->lower_end, "cut by the lower bound", "the domain ends below"),
                   *above = end_word(part->upper_end, "cut by the upper bound", "the domain ends above");
        table_number(&table, part->confidence, 4);
        table_number(&table, part->lower, 6);
        table_number(&table, part->upper, 6);
        table_number(&table, part->minimum, 6);
        table_decimal(&table, part->q, 5);
        table_format(&table, "%s%s%s", below, *below && *above ? "; " : "", above);
    }
    table_close(&table);
    text_format(out, "\n");
    describe_fits(out, "fits", p->best.status, poi_name(session), p->best_parameters[poi_of(session)]);
}

struct interval {
    paritas_interval_toys_result edges;
    paritas_hypotest_toys_result scan[PARITAS_SCAN_MOST];
    struct toy_run toys;
};

static paritas_status analyse_toys(struct session *session, void *result)
{
    struct interval *found = result;
    paritas_interval_toys_request request = PARITAS_INTERVAL_TOYS_REQUEST_DEFAULT;
    found->edges.size = sizeof found->edges;
    found->scan[0].size = sizeof found->scan[0];
    TRY(toy_run_open(session, &found->toys));
    TRY(options_take(session, "paritas_interval_toys_request", &request));
    request.scan = found->scan;
    request.scan_room = PARITAS_SCAN_MOST;
    paritas_status status = paritas_interval_toys(session->context, session->model, &session->job, &request,
                                                  &found->toys.options, &found->edges);
    if (toy_run_lacks_place(session, &status, NULL)) {
        record_clear("paritas_interval_toys_result", &found->edges, PARITAS_FIT_NON_FINITE);
        found->edges.upper_reason = PARITAS_REASON_UNDEFINED;
    }
    TRY(status);
    toy_run_close(session, &found->toys, &found->edges.tally);
    note_status(session, found->edges.status);
    return PARITAS_OK;
}

static void write_keys_toys(struct session *session, struct writer *w, const void *result)
{
    const struct interval *found = result;
    write_members(w, "level:n rtol:n", option_number(session, "--level"), option_number(session, "--rtol"));
    write_record(w, "paritas_interval_toys_result", &found->edges);
    toy_run_write(w, &found->toys);
    write_array(w, "scan", true);
    for (size_t i = 0; i < found->edges.n_scan; i++) {
        const paritas_hypotest_toys_result *r = &found->scan[i];
        write_row(w, "mu:n p:n p_error:n t:n n:z", r->mu, r->clsb, r->clsb_error, r->q, (size_t)r->n_tested);
    }
    write_close(w);
}

static void write_text_toys(struct session *session, const void *result)
{
    const struct interval *found = result;
    const paritas_interval_toys_result *r = &found->edges;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Feldman-Cousins interval of %s at %.4g %% confidence\n\n", poi_name(session),
                100.0 * (1.0 - option_number(session, "--level")));
    table_open(&table, out, "lower|error|upper|error|", "4 2 4 2 l");
    table_row(&table, r->lower, r->lower_error, r->upper, r->upper_error,
              r->lower_at_bound ? "the lower bound is in the interval" : "");
    table_close(&table);
    text_format(out, "\n%zu values tested. ", r->n_scan);
    describe_fits(out, "fits to the data", r->status, poi_name(session), r->mu_hat);
    if (r->upper_reason == PARITAS_REASON_NONE_BELOW_BOUND)
        text_format(out, "No upper edge: all values up to %.6g are in the interval\n", r->upper_bound);
    else if (r->upper_reason == PARITAS_REASON_NOT_REACHED)
        text_format(out, "No upper edge: more tests are needed than a search makes\n");
    describe_widening(session, r->bound_widened != 0, r->upper_bound, r->mu_hat);
    toy_run_describe(out, &found->toys);
}

const struct command command_interval = {
    .name = "interval",
    .operands = "WORKSPACE",
    .summary = "confidence intervals: by the likelihood, or Feldman-Cousins by toys",
    .description =
        "With --calc asymptotic the interval has all values whose q is at most a quantile of chi-squared: 1 "
        "for 68.27 %, 4 for 95.45 %. q is twice the NLL at the value, less its minimum. All parts are found, "
        "each with its edges to 1e-6 and its minimum. A bound that cuts a part is named. With --calc toys, "
        "the default, the interval of Feldman and Cousins has all values whose p-value is above the level. "
        "The p-value is the part of the toys drawn at the value with at least the observed q. Edges are "
        "found by bisection. Their errors come from the number of toys.",
    .groups = {GROUP_OPTIONS, GROUP_UNCUT_TOYS("--calc toys"), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct parts),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
    .by_toys =
        {
            .result_size = sizeof(struct interval),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse_toys,
            .write_keys = write_keys_toys,
            .write_text = write_text_toys,
        },
};
