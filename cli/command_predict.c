/* command_predict.c: yields before and after the fit, with errors propagated through the covariance. */
#include "session.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct predicted {
    paritas_fit_result result;
    double *prefit, *prefit_error, *postfit, *error;                 /* main data */
    double *prefit_samples, *postfit_samples;                        /* by channel, sample, bin */
    double *prefit_total, *prefit_total_error, *total, *total_error; /* per channel */
};

/* Standard deviations of bins and of channel sums: the diagonal of J C J^T, for the bins' rows of J and for
 * their sums. */
static paritas_status propagate(struct session *session, const double *point, const double *covariance,
                                double *bins, double *totals)
{
    size_t n = session->n_parameters;
    double *jacobian = numbers(session, session->n_main * n), *sum = numbers(session, n),
           *product = numbers(session, n);
    if (jacobian == NULL || sum == NULL || product == NULL) return PARITAS_OUT_OF_MEMORY;
    paritas_status status = paritas_expected_jacobian(session->context, session->model, point, jacobian);
    if (status != PARITAS_OK) return status;
    size_t bin = 0;
    for (size_t c = 0; c < paritas_model_channel_count(session->model); c++) {
        memset(sum, 0, n * sizeof *sum);
        size_t n_bins = paritas_model_channel_bins(session->model, c);
        for (size_t b = 0; b <= n_bins; b++) { /* the last round is the channel's */
            const double *row = b < n_bins ? jacobian + bin * n : sum;
            double variance = 0.0;
            for (size_t i = 0; i < n; i++) {
                if (row[i] == 0.0) continue;
                double inner = 0.0;
                for (size_t j = 0; j < n; j++) inner += covariance[i * n + j] * row[j];
                variance += row[i] * inner;
            }
            double deviation = sqrt(variance > 0.0 ? variance : variance * 0.0);
            if (b == n_bins) {
                totals[c] = deviation;
                break;
            }
            bins[bin++] = deviation;
            for (size_t i = 0; i < n; i++) sum[i] += row[i];
        }
    }
    return PARITAS_OK;
}

static void sum_channels(const paritas_model *model, const double *bins, double *totals)
{
    for (size_t c = 0, bin = 0; c < paritas_model_channel_count(model); c++) {
        totals[c] = 0.0;
        for (size_t b = 0; b < paritas_model_channel_bins(model, c); b++) totals[c] += bins[bin++];
    }
}

static paritas_status predict(struct session *session, struct predicted *p)
{
    const paritas_model *model = session->model;
    size_t n = session->n_parameters, n_main = session->n_main,
           n_channels = paritas_model_channel_count(model), n_samples = 0;
    for (size_t c = 0; c < n_channels; c++)
        n_samples += paritas_model_sample_count(model, c) * paritas_model_channel_bins(model, c);
    p->result = (paritas_fit_result)PARITAS_INIT(paritas_fit_result);
    double *best = numbers(session, n), *covariance = numbers(session, n * n),
           *before = numbers(session, n * n), *expected = numbers(session, n_main + session->n_aux);
    p->prefit = numbers(session, n_main);
    p->prefit_error = numbers(session, n_main);
    p->postfit = numbers(session, n_main);
    p->error = numbers(session, n_main);
    p->prefit_samples = numbers(session, n_samples);
    p->postfit_samples = numbers(session, n_samples);
    p->prefit_total = numbers(session, 4 * n_channels);
    if (best == NULL || covariance == NULL || before == NULL || expected == NULL || p->prefit == NULL ||
        p->prefit_error == NULL || p->postfit == NULL || p->error == NULL || p->prefit_samples == NULL ||
        p->postfit_samples == NULL || p->prefit_total == NULL)
        return PARITAS_OUT_OF_MEMORY;
    p->prefit_total_error = p->prefit_total + n_channels;
    p->total = p->prefit_total + 2 * n_channels;
    p->total_error = p->prefit_total + 3 * n_channels;
    const double *widths = paritas_model_constraint_widths(model), *start = session->job.start;
    for (size_t i = 0; i < n; i++)
        if (!isnan(widths[i]) && !session->job.fixed[i]) before[i * n + i] = widths[i] * widths[i];
    paritas_context *context = session->context;
    paritas_status status = paritas_fit(context, model, NULL, 1, &session->job,
                                        &(paritas_fit_answers){.size = sizeof(paritas_fit_answers),
                                                               .results = &p->result,
                                                               .parameters = best,
                                                               .covariance = covariance});
    if (status == PARITAS_OK) status = paritas_expected_data(context, model, 1, start, expected);
    if (status == PARITAS_OK) memcpy(p->prefit, expected, n_main * sizeof *expected);
    if (status == PARITAS_OK) status = paritas_expected_data(context, model, 1, best, expected);
    if (status == PARITAS_OK) memcpy(p->postfit, expected, n_main * sizeof *expected);
    if (status == PARITAS_OK) status = paritas_expected_by_sample(context, model, start, p->prefit_samples);
    if (status == PARITAS_OK) status = paritas_expected_by_sample(context, model, best, p->postfit_samples);
    if (status == PARITAS_OK)
        status = propagate(session, start, before, p->prefit_error, p->prefit_total_error);
    if (status == PARITAS_OK) status = propagate(session, best, covariance, p->error, p->total_error);
    if (status != PARITAS_OK) return status;
    sum_channels(model, p->prefit, p->prefit_total);
    sum_channels(model, p->postfit, p->total);
    note_status(session, p->result.status);
    return PARITAS_OK;
}

static void write_json(struct session *session, const struct predicted *p)
{
    const paritas_model *model = session->model;
    const double *data = paritas_model_data(model);
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_string(w, "status", paritas_fit_status_name(p->result.status));
    write_number(w, "twice_nll", p->result.twice_nll);
    write_array(w, "channels", true);
    for (size_t c = 0, bin = 0, at = 0; c < paritas_model_channel_count(model); c++) {
        size_t n = paritas_model_channel_bins(model, c);
        write_object(w, NULL, true);
        write_string(w, "name", paritas_model_channel_name(model, c));
        write_numbers(w, "prefit", n, p->prefit + bin);
        write_numbers(w, "prefit_error", n, p->prefit_error + bin);
        write_numbers(w, "postfit", n, p->postfit + bin);
        write_numbers(w, "error", n, p->error + bin);
        write_numbers(w, "data", n, data + bin);
        write_object(w, "total", false);
        write_number(w, "prefit", p->prefit_total[c]);
        write_number(w, "prefit_error", p->prefit_total_error[c]);
        write_number(w, "postfit", p->total[c]);
        write_number(w, "error", p->total_error[c]);
        double sum = 0.0;
        for (size_t b = 0; b < n; b++) sum += data[bin + b];
        write_number(w, "data", sum);
        write_close(w);
        write_array(w, "samples", true);
        for (size_t s = 0; s < paritas_model_sample_count(model, c); s++, at += n) {
            write_object(w, NULL, false);
            write_string(w, "name", paritas_model_sample_name(model, c, s));
            write_numbers(w, "prefit", n, p->prefit_samples + at);
            write_numbers(w, "postfit", n, p->postfit_samples + at);
            write_close(w);
        }
        write_close(w);
        write_close(w);
        bin += n;
    }
    write_close(w);
    write_provenance(session);
    write_close(w);
}

static void write_row(struct table *table, const char *channel, const char *bin, const double values[5])
{
    table_text(table, channel);
    table_text(table, bin);
    table_decimal(table, values[0], 3);
    table_decimal(table, values[1], 3);
    table_decimal(table, values[2], 3);
    table_decimal(table, values[3], 3);
    table_number(table, values[4], 6);
}

static void write_table(struct session *session, const struct predicted *p)
{
    const paritas_model *model = session->model;
    const double *data = paritas_model_data(model);
    struct table table;
    text_format(&session->out, "Fit %s, 2 NLL %.10g\n\n", paritas_fit_status_name(p->result.status),
                p->result.twice_nll);
    table_open(&table, &session->context->allocator, "channel|bin|prefit|+-|postfit|+-|data", "lrrrrrr");
    for (size_t c = 0, bin = 0; c < paritas_model_channel_count(model); c++) {
        const char *name = paritas_model_channel_name(model, c);
        size_t n = paritas_model_channel_bins(model, c);
        double sum = 0.0;
        for (size_t b = 0; b < n; b++, bin++) {
            char number[24];
            snprintf(number, sizeof number, "%zu", b);
            write_row(&table, name, number,
                      (const double[5]){p->prefit[bin], p->prefit_error[bin], p->postfit[bin], p->error[bin],
                                        data[bin]});
            sum += data[bin];
        }
        if (n > 1)
            write_row(&table, name, "sum",
                      (const double[5]){p->prefit_total[c], p->prefit_total_error[c], p->total[c],
                                        p->total_error[c], sum});
    }
    table_close(&table, &session->out);
}

static int run(struct session *session)
{
    struct predicted predicted;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = predict(session, &predicted);
    if (status != PARITAS_OK) return status;
    if (session->json)
        write_json(session, &predicted);
    else
        write_table(session, &predicted);
    return PARITAS_OK;
}

const struct command command_predict = {
    .name = "predict",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "yields before and after the fit, with errors",
    .description = "Prefit: at the suggested start, with the widths of the constraints, free parameters "
                   "without error. Postfit: at the "
                   "best fit, with its "
                   "covariance. Channel sums take correlations between bins along.",
    .groups = {GROUP_JOB, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
