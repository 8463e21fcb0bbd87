/* command_nll.c: twice the negative log-likelihood at a point. */
#include "session.h"
#include "table.h"

static const struct option options[] = {
    {"--point", 0, OPTION_INPUT, "FILE",
     "JSON array in parameter order, or object by name; default: the suggested start"},
    {"--gradient", 0, OPTION_FLAG, NULL, "its derivatives too"},
    {"--expected", 0, OPTION_FLAG, NULL, "the expected main and auxiliary data too"},
    {0},
};

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    bool with_gradient = option_flag(arguments, "--gradient"),
         with_expected = option_flag(arguments, "--expected");
    double *point, twice_nll;
    session->no_fits = true;
    paritas_status status = load_model(session);
    if (status == PARITAS_OK) status = load_point(session, option_text(arguments, "--point", NULL), &point);
    if (status != PARITAS_OK) return status;
    size_t n = session->n_parameters;
    double *gradient = numbers(session, n), *expected = numbers(session, session->n_main + session->n_aux);
    if (gradient == NULL || expected == NULL) return PARITAS_OUT_OF_MEMORY;
    status = paritas_evaluate(session->context, session->model, 1, point, 1, NULL, &twice_nll,
                              with_gradient ? gradient : NULL, NULL);
    if (status == PARITAS_OK && with_expected)
        status = paritas_expected_data(session->context, session->model, 1, point, expected);
    if (status != PARITAS_OK) return status;
    if (session->json) {
        struct writer *w = &session->writer;
        write_object(w, NULL, true);
        write_number(w, "twice_nll", twice_nll);
        if (with_gradient) write_numbers(w, "gradient", n, gradient);
        if (with_expected) {
            write_numbers(w, "expected_main", session->n_main, expected);
            write_numbers(w, "expected_aux", session->n_aux, expected + session->n_main);
        }
        write_array(w, "parameters", true);
        for (size_t i = 0; i < n; i++) {
            write_object(w, NULL, false);
            write_string(w, "name", paritas_model_parameter_name(session->model, i));
            write_number(w, "value", point[i]);
            write_close(w);
        }
        write_close(w);
        write_provenance(session);
        write_close(w);
        return PARITAS_OK;
    }
    text_format(&session->out, "2 NLL  %.12g\n", twice_nll);
    if (with_gradient) {
        struct table table;
        text_append(&session->out, "\n", 1);
        table_open(&table, &session->context->allocator, "parameter|value|d(2 NLL)", "lrr");
        for (size_t i = 0; i < n; i++) {
            table_text(&table, paritas_model_parameter_name(session->model, i));
            table_number(&table, point[i], 6);
            table_number(&table, gradient[i], 6);
        }
        table_close(&table, &session->out);
    }
    if (with_expected) {
        struct table table;
        text_append(&session->out, "\n", 1);
        table_open(&table, &session->context->allocator, "channel|bin|expected|observed", "lrrr");
        const double *data = paritas_model_data(session->model);
        for (size_t c = 0, bin = 0; c < paritas_model_channel_count(session->model); c++)
            for (size_t b = 0; b < paritas_model_channel_bins(session->model, c); b++, bin++) {
                table_text(&table, paritas_model_channel_name(session->model, c));
                table_format(&table, "%zu", b);
                table_number(&table, expected[bin], 6);
                table_number(&table, data[bin], 6);
            }
        table_close(&table, &session->out);
    }
    return PARITAS_OK;
}

const struct command command_nll = {
    .name = "nll",
    .operands = "WORKSPACE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "twice the negative log-likelihood at a point",
    .groups = {{"Options", options}, GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT, GROUP_END},
    .run = run,
};
