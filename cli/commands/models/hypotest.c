/* hypotest.c: asymptotic CLs at one mu. */
#include "analysis.h"
#include "print/record_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--mu", OPTION_NUMBER, "MU",
     "tested value of the parameter of interest, also beyond its upper bound; q0 always tests 0. With "
     "several --poi: once for each, in their order",
     "1"},
    {"--test-stat", .words = "paritas_test_statistic", .help = "test statistic"},
    CSV_ROW,
    {0},
};

struct tested {
    paritas_hypotest_result one;
    /* of several parameters of interest */
    double values[PARITAS_SCAN_PARAMETERS_MOST];
    paritas_fit_result best;
    double *best_parameters;
    paritas_scan_point point;
};

static paritas_status read_values(struct session *session, double *values)
{
    size_t at = 0, n = 0;
    if (session->n_pois > PARITAS_SCAN_PARAMETERS_MOST)
        return usage_failure(session, "%zu times --poi: a test takes at most %d", session->n_pois,
                             PARITAS_SCAN_PARAMETERS_MOST);
    if (option_given(session, "--test-stat"))
        return usage_failure(session, "--test-stat is for one parameter of interest; several are tested by "
                                      "their profile likelihood ratio");
    for (const struct given *given; (given = option_next(session, "--mu", &at)); n++)
        if (n < session->n_pois) values[n] = given->number;
    if (n > 0 && n != session->n_pois)
        return usage_failure(session, "--mu is wanted once for each of %zu --poi, not %zu times",
                             session->n_pois, n);
    for (; n < session->n_pois; n++) values[n] = option_number(session, "--mu"); /* its default */
    return PARITAS_OK;
}

static paritas_status check(struct session *session)
{
    size_t at = 0, n = 0, n_pois = 0;
    while (option_next(session, "--mu", &at)) n++;
    at = 0;
    for (const struct given *given; (given = option_next(session, "--poi", &at));)
        n_pois += strcmp(given->text, "all") == 0 ? n : 1; /* counted when the model is known */
    if (n < 2 || n_pois > 1) return PARITAS_OK;
    return usage_failure(session, "--mu is wanted once, not %zu times: one --poi is tested", n);
}

/* One point of all parameters of interest, with the others profiled. */
static paritas_status test_together(struct session *session, struct tested *tested)
{
    tested->best.size = sizeof tested->best;
    tested->point.size = sizeof tested->point;
    tested->best_parameters = arena_numbers(session, session->n_parameters);
    TRY(allocated(session));
    TRY(read_values(session, tested->values));
    const paritas_scan_request request = {.size = sizeof request,
                                          .n_parameters = session->n_pois,
                                          .parameters = session->pois,
                                          .n_points = 1,
                                          .values = tested->values,
                                          .best = &tested->best,
                                          .best_parameters = tested->best_parameters,
                                          .points = &tested->point};
    TRY(paritas_scan(session->context, session->model, &session->job, &request));
    note_status(session, tested->best.status);
    note_status(session, tested->point.status);
    return PARITAS_OK;
}

static paritas_status analyse(struct session *session, void *result)
{
    struct tested *tested = result;
    paritas_hypotest_result *r = &tested->one;
    const double mu = option_number(session, "--mu");
    if (session->n_pois > 1) return test_together(session, tested);
    r->size = sizeof *r;
    TRY(paritas_hypotest(session->context, session->model, &session->job, statistic_of(session), 1, &mu, r));
    note_status(session, r->status);
    return PARITAS_OK;
}

static paritas_fit_status worst_of(const struct tested *tested)
{
    return tested->best.status > tested->point.status ? tested->best.status : tested->point.status;
}

static void write_together(struct session *session, struct writer *w, const struct tested *tested)
{
    write_numbers(w, "mu", session->n_pois, tested->values);
    write_array(w, "mu_hat", false);
    for (size_t k = 0; k < session->n_pois; k++)
        write_number(w, NULL, tested->best_parameters[session->pois[k]]);
    write_close(w);
    write_members(w, "p:n q:n ndof:z status:s test_stat:s", tested->point.p, tested->point.q, session->n_pois,
                  paritas_fit_status_name(worst_of(tested)), "t");
    write_minima(w, &tested->point.minima);
}

/* Does a tested or best value lie at a bound, where the chi-squared law fails? */
static bool meets_bound(const struct session *session, const struct tested *tested)
{
    for (size_t k = 0; k < session->n_pois; k++) {
        const size_t parameter = session->pois[k];
        const struct range bounds = bounds_of(session, parameter);
        const double near = 1e-6 * (bounds.upper - bounds.lower); /* fits end this near */
        const double values[2] = {tested->values[k], tested->best_parameters[parameter]};
        for (int i = 0; i < 2; i++)
            if (values[i] <= bounds.lower + near ||
                (!upper_gives_way(session, parameter) && values[i] >= bounds.upper - near))
                return true;
    }
    return false;
}

static void print_together(struct session *session, const struct tested *tested)
{
    struct table table;
    struct text *out = &session->out;
    text_format(
        out,
        "%zu parameters of interest tested together: t_mu, two-sided; p by chi-squared with %zu degrees "
        "of freedom\n\n",
        session->n_pois, session->n_pois);
    table_open(&table, out, "parameter|tested|best fit", "l p p");
    for (size_t k = 0; k < session->n_pois; k++)
        table_row(&table, parameter_name(session, session->pois[k]), tested->values[k],
                  tested->best_parameters[session->pois[k]]);
    table_close(&table);
    text_format(out, "\np %s   q %s   degrees of freedom %zu\n", shown(tested->point.p, 6).text,
                shown(tested->point.q, 6).text, session->n_pois);
    describe_fits(out, "fits", worst_of(tested), NULL, NAN);
    if (meets_bound(session, tested))
        text_format(out, "Note: a tested value or the best fit lies at a bound, where q has another law than "
                         "chi-squared\n");
}

static void write_other_asimov(struct writer *w, const paritas_hypotest_result *r)
{
    if (isnan(r->q_asimov_other)) return;
    write_object(w, "other_asimov", false);
    write_number(w, "q_A", r->q_asimov_other);
    write_number(w, "CLs_obs", r->cls_obs_other);
    write_numbers(w, "CLs_exp", 5, r->cls_exp_other);
    write_close(w);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct tested *tested = result;
    const paritas_hypotest_result *r = &tested->one;
    if (session->n_pois > 1) {
        write_together(session, w, tested);
        return;
    }
    write_record(w, "paritas_hypotest_result", r);
    write_number(w, "upper_bound", r->upper_bound);
    write_bool(w, "bound_widened", r->bound_widened != 0);
    write_other_asimov(w, r);
    const paritas_limit_request usual = PARITAS_LIMIT_REQUEST_DEFAULT;
    write_excluded(w,
                   r->mu == 1.0 && statistic_of(session) != PARITAS_STATISTIC_Q0 &&
                       r->status == PARITAS_FIT_CONVERGED && !isnan(r->cls_obs),
                   r->cls_obs < usual.level);
    if (!w->one_line) write_string(w, "test_stat", statistic_name(session));
}

static const char *quantity(const struct session *session)
{
    return statistic_of(session) == PARITAS_STATISTIC_Q0 ? "p0" : "CLs";
}

static void write_cells(struct table *table, const void *result)
{
    const paritas_hypotest_result *r = &((const struct tested *)result)->one;
    table_row(table, r->cls_obs, r->cls_exp[0], r->cls_exp[1], r->cls_exp[2], r->cls_exp[3], r->cls_exp[4],
              failure_word(r->status));
}

static void write_text(struct session *session, const void *result)
{
    const struct tested *tested = result;
    const paritas_hypotest_result *r = &tested->one;
    struct text *out = &session->out;
    struct table table;
    if (session->n_pois > 1) {
        print_together(session, tested);
        return;
    }
    text_format(out, "Test of %s = %.6g with %s\n\n", poi_name(session), r->mu, statistic_name(session));
    char headers[80];
    snprintf(headers, sizeof headers, "|%s|expected -2s|-1s|median|+1s|+2s|", data_word(session));
    table_open(&table, out, headers, "l p p p p p p l");
    table_text(&table, quantity(session));
    write_cells(&table, result);
    table_close(&table);
    text_format(out, "\nCLsb %s   CLb %s   q %s   q_A %s\n", shown(r->clsb, 6).text, shown(r->clb, 6).text,
                shown(r->q, 6).text, shown(r->q_asimov, 6).text);
    describe_fits(out, "fits", r->status, poi_name(session), r->mu_hat);
    if (!isnan(r->q_asimov_other))
        text_format(
            out,
            "The fit behind the Asimov data has two minima, equally low. By the other one: observed %s, "
            "median %s, q_A %s\n",
            shown(r->cls_obs_other, 6).text, shown(r->cls_exp_other[2], 6).text,
            shown(r->q_asimov_other, 6).text);
    describe_widening(session, r->bound_widened != 0, r->upper_bound, r->mu_hat);
    if (r->reason == PARITAS_REASON_UNDEFINED)
        text_format(out, "CLs is undefined: a fit or q_A is not finite, or q_A is 0\n");
}

const struct command command_hypotest = {
    .name = "hypotest",
    .operands = "WORKSPACE",
    .summary = "asymptotic CLs at one value, observed and expected",
    .description =
        "With --patchset and no --patch-name the whole patch set is tested. The output is one "
        "JSON line, or one row, a patch, in the order of the patch set. Several --poi are tested together, "
        "by the profile likelihood ratio: p is the chi-squared probability of q, with a degree of "
        "freedom for each.",
    .groups = {GROUP_OPTIONS, GROUPS_STATISTIC},
    .analysis =
        {
            .result_size = sizeof(struct tested),
            .needs_poi = true,
            .several = POIS_TOGETHER,
            .check = check,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
            .quantity = quantity,
            .headers = "expected -2s|-1s|median|+1s|+2s|",
            .formats = "p p p p p p l",
            .write_cells = write_cells,
            .columns = "mu|CLs_obs|CLs_exp*5|CLsb|CLb|q|q_A|mu_hat|p0|status|error|excluded",
        },
};
