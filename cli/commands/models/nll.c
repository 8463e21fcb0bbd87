/* nll.c: twice the NLL at a point. */
#include "analysis.h"
#include "print/outside_output.h"

static const struct option options[] = {
    {"--point", OPTION_INPUT, "FILE",
     "JSON array in parameter order, or object by name; default: the suggested start"},
    {"--gradient", OPTION_FLAG, NULL, "also the derivatives"},
    {"--expected", OPTION_FLAG, NULL, "also the expected main and auxiliary data"},
    {0},
};

struct likelihood {
    double twice_nll;
    double *point, *gradient, *expected; /* NULL: not asked for */
    struct outside outside;
};

static paritas_status analyse(struct session *session, void *result)
{
    struct likelihood *l = result;
    session->no_fits = true;
    TRY(load_point(session, option_text(session, "--point"), &l->point));
    if (option_flag(session, "--gradient")) l->gradient = arena_numbers(session, session->n_parameters);
    if (option_flag(session, "--expected"))
        l->expected = arena_numbers(session, session->n_main + session->n_aux);
    TRY(allocated(session));
    TRY(paritas_evaluate(session->context, session->model, 1, l->point, 1, NULL,
                         &(paritas_evaluate_answers){.size = sizeof(paritas_evaluate_answers),
                                                     .twice_nll = &l->twice_nll,
                                                     .gradient = l->gradient}));
    TRY(outside_look(session, l->twice_nll, l->point, &l->outside));
    if (!l->expected) return PARITAS_OK;
    return paritas_expected_data(session->context, session->model, 1, l->point, l->expected);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct likelihood *l = result;
    write_number(w, "twice_nll", l->twice_nll);
    outside_write(w, &l->outside);
    if (l->gradient) write_numbers(w, "gradient", session->n_parameters, l->gradient);
    if (l->expected) {
        write_numbers(w, "expected_main", session->n_main, l->expected);
        write_numbers(w, "expected_aux", session->n_aux, l->expected + session->n_main);
    }
    write_array(w, "parameters", true);
    for (size_t i = 0; i < session->n_parameters; i++)
        write_row(w, "name:s value:n", parameter_name(session, i), l->point[i]);
    write_close(w);
}

static void write_expected(struct session *session, const double *expected)
{
    const paritas_model *model = session->model;
    const double *data = paritas_model_data(model);
    struct table table;
    table_open(&table, &session->out, "channel|bin|expected|observed", "l z 6 6");
    for (size_t c = 0, bin = 0; c < paritas_model_channel_count(model); c++)
        for (size_t b = 0; b < paritas_model_channel_bins(model, c); b++, bin++)
            table_row(&table, paritas_model_channel_name(model, c), b, expected[bin], data[bin]);
    table_close(&table);
}

static void write_text(struct session *session, const void *result)
{
    const struct likelihood *l = result;
    struct text *out = &session->out;
    struct table table;
    text_format(out, "2 NLL  %s\n", shown(l->twice_nll, 12).text);
    outside_print(out, &l->outside);
    if (l->gradient) {
        text_format(out, "\n");
        table_open(&table, out, "parameter|value|d(2 NLL)", "l 6 6");
        for (size_t i = 0; i < session->n_parameters; i++)
            table_row(&table, parameter_name(session, i), l->point[i], l->gradient[i]);
        table_close(&table);
    }
    if (!l->expected) return;
    text_format(out, "\n");
    write_expected(session, l->expected);
}

const struct command command_nll = {
    .name = "nll",
    .operands = "WORKSPACE",
    .summary = "twice the negative log-likelihood at a point",
    .groups = {GROUP_OPTIONS, GROUPS_MODEL},
    .analysis =
        {
            .result_size = sizeof(struct likelihood),
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
