/* interval.c: intervals of Feldman and Cousins by toys. */
#include "print/record_output.h"
#include "print/table.h"
#include "commands/models/toy_runs.h"

static const struct option options[] = {
    LIBRARY_ROWS(PARITAS_INTERVAL_TOYS_REQUEST_OPTIONS, paritas_interval_toys_request),
    {0},
};

struct interval {
    paritas_interval_toys_result edges;
    paritas_hypotest_toys_result scan[PARITAS_SCAN_MOST];
    struct toy_run toys;
};

static paritas_status analyse(struct session *session, void *result)
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

static void write_keys(struct session *session, struct writer *w, const void *result)
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

static void write_text(struct session *session, const void *result)
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
    .summary = "Feldman-Cousins interval by toys",
    .description =
        "The interval has all values whose p-value is above the level. t is twice the NLL at the value, less "
        "its minimum. The p-value is the part of the toys drawn at the value with at least the observed t. "
        "Edges are found by bisection. Their errors come from the number of toys.",
    .groups = {GROUP_OPTIONS, GROUP_UNCUT_TOYS(NULL), GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct interval),
            .needs_poi = true,
            .several = POIS_IN_TURN,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
