/* limit_toys.c: see limit_toys.h. */
#include "limit_toys.h"
#include "record_output.h"
#include "statistics.h"
#include "toy_runs.h"

#include <inttypes.h>
#include <math.h>

struct limits {
    paritas_limit_toys_result limits;
    paritas_hypotest_toys_result scan[PARITAS_SCAN_MOST];
    struct toy_run run;
    double rtol;
    bool failed; /* more toys than --max-failed have no answer */
};

static paritas_status analyse(struct session *session, void *result)
{
    const struct arguments *arguments = session->arguments;
    struct limits *l = result;
    l->rtol = option_number(arguments, "--rtol", 0.05);
    paritas_status status = toy_run_open(session, &l->run);
    if (option_given(arguments, "--ntoys") == NULL) l->run.options.n = PARITAS_LIMIT_TOYS;
    paritas_limit_toys_request request = PARITAS_LIMIT_TOYS_REQUEST_DEFAULT;
    l->limits = (paritas_limit_toys_result)PARITAS_INIT(paritas_limit_toys_result);
    l->scan[0] = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    request.statistic = statistic_of(option_text(arguments, "--test-stat", "qtilde"));
    request.level = option_number(arguments, "--level", 0.05);
    request.rtol = l->rtol;
    request.scan = l->scan;
    request.scan_room = PARITAS_SCAN_MOST;
    if (status == PARITAS_OK)
        status = paritas_limit_toys(session->context, session->model, &session->job, &request,
                                    &l->run.options, &l->limits);
    if (status != PARITAS_OK) return status;
    const bool before = session->not_converged;
    session->not_converged = false;
    toy_run_close(session, &l->run, l->limits.tally.counts);
    l->failed = session->not_converged;
    session->not_converged = before || l->failed;
    return PARITAS_OK;
}

static bool reached(const paritas_limit_toys_result *r)
{
    bool all = r->reached_obs != 0;
    for (int i = 0; i < 5; i++) all = all && r->reached_exp[i];
    return all;
}

static bool converged(const void *result)
{
    const struct limits *l = result;
    return l->limits.status == PARITAS_FIT_CONVERGED && reached(&l->limits) && !l->failed;
}

static void write_result(struct writer *w, const void *result)
{
    const struct limits *l = result;
    const paritas_limit_toys_result *r = &l->limits;
    write_string(w, "calc", "toys");
    write_number(w, "rtol", l->rtol);
    write_fields(w, "paritas_limit_toys_result", r, "limit_obs", "reached_exp");
    write_object(w, "asymptotic", false);
    write_number(w, "limit_obs", r->asymptotic_obs);
    write_numbers(w, "limit_exp", 5, r->asymptotic_exp);
    write_close(w);
    write_fields(w, "paritas_limit_toys_result", r, "mu_hat", "status");
    toy_run_write(w, &l->run, &l->limits.tally);
    write_array(w, "scan", true);
    for (size_t i = 0; i < r->n_scan; i++) {
        write_object(w, NULL, false);
        write_record(w, "paritas_hypotest_toys_result", &l->scan[i]);
        write_close(w);
    }
    write_close(w);
}

static const char *note(const struct limits *l)
{
    if (l->limits.status != PARITAS_FIT_CONVERGED) return paritas_fit_status_name(l->limits.status);
    return !reached(&l->limits)      ? "errors above --rtol"
           : l->failed               ? "toys without answer"
           : l->limits.bound_widened ? "bound widened"
                                     : "";
}

static void write_cells(struct table *table, const void *result)
{
    const struct limits *l = result;
    table_number(table, l->limits.limit_obs, 4);
    table_number(table, l->limits.limit_obs_error, 2);
    for (int i = 0; i < 5; i++) table_number(table, l->limits.limit_exp[i], 4);
    table_text(table, note(l));
}

const struct patch_analysis limit_toys_analysis = {
    .result_size = sizeof(struct limits),
    .analyse = analyse,
    .converged = converged,
    .write_fields = write_result,
    .headers = "limit observed|error|expected -2s|-1s|median|+1s|+2s|",
    .alignment = "rrrrrrrl",
    .write_cells = write_cells,
};

static void write_line(struct table *table, const char *name, double limit, double error, double asymptotic,
                       bool has_error)
{
    table_text(table, name);
    table_number(table, limit, 4);
    table_number(table, error, 2);
    table_number(table, asymptotic, 4);
    table_text(table, has_error ? "" : "error above --rtol");
}

void limit_toys_describe(struct session *session, const void *result)
{
    static const char *const names[] = {"expected -2s", "-1s", "median", "+1s", "+2s"};
    const struct limits *l = result;
    const paritas_limit_toys_result *r = &l->limits;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "Upper limit on %s at CLs = %.4g, by toys\n\n", poi_name(session),
                option_number(session->arguments, "--level", 0.05));
    table_open(&table, &session->context->allocator, "|limit|error|asymptotic|", "lrrrl");
    write_line(&table, "observed", r->limit_obs, r->limit_obs_error, r->asymptotic_obs, r->reached_obs);
    for (int i = 0; i < 5; i++)
        write_line(&table, names[i], r->limit_exp[i], r->limit_exp_error[i], r->asymptotic_exp[i],
                   r->reached_exp[i]);
    table_close(&table, out);
    text_format(out, "\n%zu values tested, observed fits %s, best fit %.6g\n", r->n_scan,
                paritas_fit_status_name(r->status), r->mu_hat);
    if (!reached(r))
        text_format(out,
                    "Errors are above --rtol %.4g with %" PRIu64
                    " toys at each value: raise --ntoys or --rtol\n",
                    l->rtol, l->run.options.n);
    if (r->bound_widened)
        text_format(out, "The upper bound of %s was widened to %.6g\n", poi_name(session), r->upper_bound);
    bool missing = isnan(r->limit_obs);
    for (int i = 0; i < 5; i++) missing = missing || isnan(r->limit_exp[i]);
    if (missing)
        text_format(out, "A limit shown as - does not exist or was not found up to %.6g\n", r->upper_bound);
    toy_run_describe(out, &l->run, &l->limits.tally);
}
