/* predict.c: yields before and after the fit, with errors. */
#include "analysis.h"
#include "print/record_output.h"

struct predicted {
    paritas_fit_result result;
    paritas_yields before, after;
};

static void allocate_yields(struct session *session, paritas_yields *yields)
{
    const paritas_model *model = session->model;
    const size_t n_channels = paritas_model_channel_count(model);
    size_t n_samples = 0;
    for (size_t c = 0; c < n_channels; c++)
        n_samples += paritas_model_sample_count(model, c) * paritas_model_channel_bins(model, c);
    *yields = (paritas_yields){.bins = arena_numbers(session, session->n_main),
                               .errors = arena_numbers(session, session->n_main),
                               .samples = arena_numbers(session, n_samples),
                               .totals = arena_numbers(session, n_channels),
                               .total_errors = arena_numbers(session, n_channels)};
}

static paritas_status analyse(struct session *session, void *result)
{
    struct predicted *p = result;
    const size_t n = session->n_parameters;
    double *best = arena_numbers(session, n), *covariance = arena_numbers(session, n * n);
    allocate_yields(session, &p->before);
    allocate_yields(session, &p->after);
    TRY(allocated(session));
    p->result.size = sizeof p->result;
    TRY(fit_best(session,
                 (paritas_fit_answers){.results = &p->result, .parameters = best, .covariance = covariance}));
    note_status(session, p->result.status);
    const paritas_predict_request request = {sizeof request, best, covariance};
    const paritas_predict_answers answers = {sizeof answers, p->before, p->after};
    return paritas_predict(session->context, session->model, &session->job, &request, &answers);
}

static void write_channel(struct session *session, struct writer *w, const struct predicted *p, size_t c,
                          size_t bin, size_t sample)
{
    const paritas_model *model = session->model;
    const double *data = paritas_model_data(model);
    const paritas_yields *before = &p->before, *after = &p->after;
    const size_t n = paritas_model_channel_bins(model, c);
    double sum = 0.0;
    for (size_t b = 0; b < n; b++) sum += data[bin + b];
    write_object(w, NULL, true);
    write_string(w, "name", paritas_model_channel_name(model, c));
    write_bool(w, "masked", paritas_model_channel_masked(model, c));
    write_numbers(w, "prefit", n, before->bins + bin);
    write_numbers(w, "prefit_error", n, before->errors + bin);
    write_numbers(w, "postfit", n, after->bins + bin);
    write_numbers(w, "error", n, after->errors + bin);
    write_numbers(w, "data", n, data + bin);
    write_object(w, "total", false);
    write_members(w, "prefit:n prefit_error:n postfit:n error:n data:n", before->totals[c],
                  before->total_errors[c], after->totals[c], after->total_errors[c], sum);
    write_close(w);
    write_array(w, "samples", true);
    for (size_t s = 0; s < paritas_model_sample_count(model, c); s++, sample += n) {
        write_object(w, NULL, false);
        write_string(w, "name", paritas_model_sample_name(model, c, s));
        write_numbers(w, "prefit", n, before->samples + sample);
        write_numbers(w, "postfit", n, after->samples + sample);
        write_close(w);
    }
    write_close(w);
    write_close(w);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct predicted *p = result;
    const paritas_model *model = session->model;
    write_fields(w, "paritas_fit_result", &p->result, "status", "twice_nll");
    write_array(w, "channels", true);
    for (size_t c = 0, bin = 0, sample = 0; c < paritas_model_channel_count(model); c++) {
        const size_t n = paritas_model_channel_bins(model, c);
        write_channel(session, w, p, c, bin, sample);
        bin += n;
        sample += n * paritas_model_sample_count(model, c);
    }
    write_close(w);
}

static void write_text(struct session *session, const void *result)
{
    const struct predicted *p = result;
    const paritas_yields *before = &p->before, *after = &p->after;
    const paritas_model *model = session->model;
    const double *data = paritas_model_data(model);
    struct table table;
    text_format(&session->out, "Fit %s, 2 NLL %s\n\n", paritas_fit_status_name(p->result.status),
                shown(p->result.twice_nll, 10).text);
    table_open(&table, &session->out, "channel|bin|prefit|+-|postfit|+-|data|", "l r .3 .3 .3 .3 6 l");
    for (size_t c = 0, bin = 0; c < paritas_model_channel_count(model); c++) {
        const char *name = paritas_model_channel_name(model, c), *masked = masked_word(session, c);
        const size_t n = paritas_model_channel_bins(model, c);
        double sum = 0.0;
        for (size_t b = 0; b < n; b++, bin++) {
            table_text(&table, name);
            table_format(&table, "%zu", b);
            table_row(&table, before->bins[bin], before->errors[bin], after->bins[bin], after->errors[bin],
                      data[bin], masked);
            sum += data[bin];
        }
        if (n > 1)
            table_row(&table, name, "sum", before->totals[c], before->total_errors[c], after->totals[c],
                      after->total_errors[c], sum, masked);
    }
    table_close(&table);
}

const struct command command_predict = {
    .name = "predict",
    .operands = "WORKSPACE",
    .summary = "yields before and after the fit, with errors",
    .description = "Prefit: at the suggested start, with the widths of the constraints, free parameters "
                   "without error. Postfit: at the best fit, with its covariance. Errors of channel "
                   "sums include correlations between bins.",
    .groups = {GROUPS_FIT},
    .analysis =
        {
            .result_size = sizeof(struct predicted),
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
