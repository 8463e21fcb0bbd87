/* unfold.c: regularised unfolding, and the workspace with its penalty. */
#include "print/document_output.h"
#include "print/table.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"--parameters", OPTION_TEXT, "PATTERN",
     "normfactors of the truth bins (* is any text, ? one character), in the order of their numbers; "
     "repeatable",
     "mu_*"},
    {"--tau", OPTION_NUMBER, "T", "a strength, in place of a scan; repeatable"},
    LIBRARY_ROWS(PARITAS_UNFOLD_OPTIONS, paritas_unfold_options),
    {"--weight", OPTION_NUMBER, "W", "truth yield of a bin; one for each bin, in order", "1"},
    {"--centre", OPTION_NUMBER, "C", "value of a bin without penalty; one for each bin, in order", "1"},
    {"--truth", OPTION_NUMBER, "X",
     "assumed true value of a bin, to compute the bias; one for each bin, in order",
     "the fit without regularisation"},
    {"--penalised", OPTION_FLAG, NULL,
     "write a workspace with the chosen penalty, which other commands can fit"},
    {0},
};

static paritas_status numbers_of(struct session *session, const char *option, const double **values,
                                 size_t *n)
{
    double *numbers = arena_numbers(session, session->arguments->n_given);
    size_t at = 0;
    TRY(allocated(session));
    for (const struct given *given; (given = option_next(session, option, &at));)
        numbers[(*n)++] = given->number;
    if (*n > 0) *values = numbers;
    return PARITAS_OK;
}

static paritas_status read_options(struct session *session, paritas_unfold_options *unfold)
{
    paritas_names parameters;
    static const char *const usual[] = {"mu_*"}, *const of_scans[] = {"--scan", "--tau-min", "--tau-max"};
    TRY(options_take(session, "paritas_unfold_options", unfold));
    TRY(list_of(session, "--parameters", &parameters));
    unfold->parameters = parameters.count > 0 ? parameters.items : usual;
    unfold->n_parameters = parameters.count > 0 ? parameters.count : 1;
    TRY(numbers_of(session, "--tau", &unfold->taus, &unfold->n_taus));
    for (size_t k = 0; unfold->n_taus > 0 && k < COUNT_OF(of_scans); k++)
        if (option_given(session, of_scans[k]))
            return usage_failure(session, "%s is of a scan: give it without --tau", of_scans[k]);
    TRY(numbers_of(session, "--weight", &unfold->weights, &unfold->n_weights));
    TRY(numbers_of(session, "--centre", &unfold->centres, &unfold->n_centres));
    return numbers_of(session, "--truth", &unfold->truth, &unfold->n_truth);
}

static double number(const struct json *object, const char *key)
{
    const struct json *node = json_get(object, key);
    return json_is(node, JSON_NUMBER) ? node->number : (double)NAN;
}

static double element(const struct json *object, const char *key, size_t i)
{
    const struct json *node = json_at(json_get(object, key), i);
    return json_is(node, JSON_NUMBER) ? node->number : (double)NAN;
}

static const struct json *chosen_of(const struct json *answer)
{
    const struct json *index = json_get(answer, "chosen");
    return json_is(index, JSON_NUMBER) ? json_at(json_get(answer, "points"), (size_t)index->number) : NULL;
}

static void write_points(struct text *out, const struct json *points, const struct json *chosen)
{
    struct table table;
    table_open(&table, out, "|tau|chi2|penalty|curvature|degrees|correlation|", "l 4 6 4 4 .2 .4 l");
    for (const struct json *one = points->first; one; one = one->next) {
        const char *status = json_get(one, "status")->text;
        table_row(&table, one == chosen ? "*" : "", number(one, "tau"), number(one, "chi2"),
                  number(one, "penalty"), number(one, "curvature"), number(one, "degrees"),
                  number(one, "correlation"), strcmp(status, "converged") == 0 ? "" : status);
    }
    table_close(&table);
}

static void write_text(struct session *session, const struct json *answer)
{
    struct text *out = &session->out;
    const struct json *chosen = chosen_of(answer), *name = json_get(answer, "parameters")->first;
    struct table table;
    write_points(out, json_get(answer, "points"), chosen);
    if (!chosen) {
        text_format(out, "\nNo strength is chosen: no fit has what is compared.\n");
        return;
    }
    text_format(out, "\ntau %.4g; bias where data are expected at %s:\n\n", number(chosen, "tau"),
                option_given(session, "--truth") ? "--truth" : "the fit without regularisation");
    table_open(&table, out, "parameter|value|error|correlation|bias", "l .5 .5 .4 .5");
    for (size_t i = 0; name; name = name->next, i++)
        table_row(&table, name->text, element(chosen, "estimates", i), element(chosen, "errors", i),
                  element(chosen, "correlations", i), element(chosen, "bias", i));
    table_close(&table);
}

static void write_keys(struct session *session, const struct json *answer)
{
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    for (const struct json *one = answer->first; one; one = one->next) {
        if (one->type != JSON_ARRAY || one->first->type != JSON_OBJECT) {
            write_tree(w, one->key, one);
            continue;
        }
        write_array(w, one->key, true);
        for (const struct json *point = one->first; point; point = point->next) write_tree(w, NULL, point);
        write_close(w);
    }
    write_device(session);
    write_close(w);
}

static paritas_status write_answer(struct session *session, const paritas_model_options *model,
                                   const paritas_unfold_options *unfold, const struct json *answer)
{
    const struct json *chosen = chosen_of(answer);
    paritas_workspace *penalised = NULL;
    for (const struct json *one = json_get(answer, "points")->first; one; one = one->next)
        if (!json_text_is(json_get(one, "status"), "converged")) session->not_converged = true;
    if (!option_flag(session, "--penalised")) {
        (session->json ? write_keys : write_text)(session, answer);
        return PARITAS_OK;
    }
    if (!chosen)
        return paritas_fail(session->context, PARITAS_NOT_CONVERGED,
                            "no strength is chosen: no fit has what is compared");
    const paritas_status status = paritas_penalise(session->context, session->workspace, model, unfold,
                                                   number(chosen, "tau"), &penalised);
    return answer_made(session, status, penalised);
}

static int run(struct session *session)
{
    paritas_unfold_options unfold = PARITAS_UNFOLD_OPTIONS_DEFAULT;
    paritas_workspace *answer;
    TRY(load_workspace(session));
    paritas_model_options model = model_options(session);
    model.poi = option_text(session, "--poi");
    TRY(read_options(session, &unfold));
    TRY(paritas_unfold(session->context, session->workspace, &model, &unfold, &answer));
    const paritas_status status = write_answer(session, &model, &unfold, answer->root);
    paritas_workspace_free(answer);
    return status;
}

const struct command command_unfold = {
    .name = "unfold",
    .operands = "WORKSPACE",
    .summary = "regularised unfolding: strength, spectrum, covariance and bias",
    .description =
        "Each truth bin is a sample with a normfactor of its own. 2 NLL gets the penalty "
        "tau |L W (x - c)|^2: L takes differences, W holds weights. A scan of tau shows the L-curve, and one "
        "strength is chosen.",
    .groups = {GROUP_OPTIONS, GROUPS_MODEL},
    .run = run,
};
