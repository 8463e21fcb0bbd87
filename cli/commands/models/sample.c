/* sample.c: draws from the posterior, and what they say. */
#include "analysis.h"
#include "commands/models/toy_runs.h"
#include "days/day_tables.h"
#include "print/record_output.h"

#include "paritas_sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    LIBRARY_ROWS(PARITAS_SAMPLE_OPTIONS, paritas_sample_options),
    {"--prior", OPTION_TEXT, "NAME=KIND:A,B",
     "prior of a parameter (repeatable): normal:MEAN,SD, lognormal:MEAN,SD (of its logarithm), "
     "gamma:SHAPE,RATE or uniform:LO,HI. It multiplies a constraint term. Default: flat between its bounds"},
    {"--level", OPTION_PART, "P", "share of draws in the intervals", "0.9"},
    {"--store", OPTION_OUTPUT, "FILE", "store of the run, .npz: --resume continues it after a stop"},
    {"--resume", OPTION_FLAG, NULL, "continue a store that exists, also to more draws",
     .needs = "--store FILE"},
    {"--save", OPTION_OUTPUT, "FILE", "write the draws: a table in .csv, NumPy arrays in .npz"},
    {"--predictive", OPTION_OUTPUT, "FILE",
     "posterior predictive data, as a file for --data; FILE.npz: as arrays of NumPy"},
    {"--npredictive", OPTION_COUNT, "N",
     "number of predictive data sets, at draws evenly spaced over all chains", "1000",
     .needs = "--predictive FILE"},
    {0},
};

struct sampled {
    paritas_sample_options options;
    size_t n; /* draws of all chains */
    double level;
    double *parameters; /* n rows of n_parameters */
    paritas_draw *draws;
    paritas_chain *chains;
    paritas_posterior *posteriors;
    paritas_sample_verdict verdict;
};

/* ---- priors ---- */

static paritas_status read_prior(struct session *session, const char *text, paritas_prior *prior)
{
    char *copy = arena_copied(session, text, strlen(text));
    TRY(allocated(session));
    char *equals = strrchr(copy, '='), *colon = equals ? strchr(equals, ':') : NULL,
         *comma = colon ? strchr(colon, ',') : NULL;
    int kind = 0;
    if (comma) *equals = *colon = *comma = '\0';
    if (!comma || !number_of_text(colon + 1, &prior->numbers[0]) ||
        !number_of_text(comma + 1, &prior->numbers[1]) ||
        !paritas_enumeration_value(paritas_enumeration_find("paritas_prior_kind"), equals + 1, &kind))
        return usage_failure(
            session,
            "--prior takes NAME=KIND:A,B, with the kind normal, lognormal, gamma or uniform, "
            "not '%s'",
            text);
    prior->kind = (paritas_prior_kind)kind;
    return paritas_model_parameter_index(session->context, session->model, copy, &prior->parameter);
}

static paritas_status read_options(struct session *session, paritas_sample_options *sample)
{
    *sample = (paritas_sample_options)PARITAS_SAMPLE_OPTIONS_DEFAULT;
    TRY(options_take(session, "paritas_sample_options", sample));
    paritas_prior *priors = arena_elements(session, session->arguments->n_given, sizeof *priors);
    size_t at = 0;
    TRY(allocated(session));
    for (const struct given *given; (given = option_next(session, "--prior", &at));)
        TRY(read_prior(session, given->text, &priors[sample->n_priors++]));
    sample->priors = priors;
    sample->store = option_text(session, "--store");
    sample->resume = option_given(session, "--resume") != NULL;
    return PARITAS_OK;
}

/* ---- the file of draws ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static paritas_status check_place(struct session *session, const char *path)
{
    return !path || output_check(path)
               ? PARITAS_OK
               : paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the draws could not be kept", path);
}

static paritas_status check(struct session *session)
{
    const char *path = option_text(session, "--save");
    if (path && !ends_with(path, ".csv") && !ends_with(path, ".npz"))
        return usage_failure(session, "--save takes a file whose name ends in .csv or .npz, not '%s'", path);
    TRY(check_place(session, path));
    return check_place(session, option_text(session, "--predictive"));
}

static const char *provenance_of(struct session *session, const struct sampled *s)
{
    struct text text;
    struct writer writer;
    text_open(&text, &session->context->allocator);
    writer_open(&writer, &text, false);
    write_object(&writer, NULL, false);
    options_write(&writer, "paritas_sample_options", &s->options, (const char *const[]){NULL});
    write_integer(&writer, "chains", s->options.chains);
    write_integer(&writer, "draws", s->options.draws);
    write_integer(&writer, "warmup", s->options.warmup);
    write_integer(&writer, "seed", s->options.seed);
    write_close(&writer);
    const char *kept = text.failed ? NULL : arena_copied(session, text.bytes, text.length);
    text_free(&text);
    return kept;
}

/* chain, twice_nll, divergent of each draw; returns how many columns. */
static size_t add_statistics(struct session *session, const struct sampled *s, struct column *columns)
{
    uint32_t *chain = arena_elements(session, s->n, sizeof *chain);
    unsigned char *divergent = arena_elements(session, s->n, sizeof *divergent);
    double *twice_nll = arena_numbers(session, s->n);
    for (size_t i = 0; i < s->n && chain && divergent && twice_nll; i++) {
        chain[i] = (uint32_t)(i / s->options.draws);
        divergent[i] = s->draws[i].divergent != 0;
        twice_nll[i] = s->draws[i].twice_nll;
    }
    columns[0] =
        (struct column){.name = "chain", .unit = "", .kind = COLUMN_U32, .rows = s->n, .values = chain};
    columns[1] = (struct column){
        .name = "twice_nll", .unit = "", .kind = COLUMN_F64, .rows = s->n, .values = twice_nll};
    columns[2] = (struct column){
        .name = "divergent", .unit = "", .kind = COLUMN_BOOL, .rows = s->n, .values = divergent};
    return 3;
}

/* Adds a column a parameter to a text, or names and a matrix to arrays. */
static size_t add_parameters(struct session *session, const struct sampled *s, bool csv,
                             struct column *columns)
{
    const size_t p = session->n_parameters;
    const char **names = arena_elements(session, p, sizeof *names);
    for (size_t k = 0; k < p && names; k++) names[k] = parameter_name(session, k);
    if (!csv) {
        columns[0] = (struct column){
            .name = "parameters", .unit = "", .kind = COLUMN_TEXT, .rows = p, .values = names};
        columns[1] = (struct column){.name = "values",
                                     .unit = "",
                                     .kind = COLUMN_F64,
                                     .rows = s->n,
                                     .width = p,
                                     .values = s->parameters};
        return 2;
    }
    for (size_t k = 0; k < p; k++) {
        double *values = arena_numbers(session, s->n);
        for (size_t i = 0; i < s->n && values; i++) values[i] = s->parameters[i * p + k];
        columns[k] = (struct column){.name = parameter_name(session, k),
                                     .unit = "",
                                     .kind = COLUMN_F64,
                                     .rows = s->n,
                                     .values = values};
    }
    return p;
}

static paritas_status save(struct session *session, const struct sampled *s)
{
    const char *path = option_text(session, "--save");
    if (!path) return PARITAS_OK;
    const bool csv = ends_with(path, ".csv");
    struct column *columns = arena_elements(session, session->n_parameters + 8, sizeof *columns);
    TRY(allocated(session));
    size_t n = add_statistics(session, s, columns);
    n += add_parameters(session, s, csv, columns + n);
    const char *provenance = provenance_of(session, s);
    TRY(allocated(session));
    if (!provenance) return paritas_fail_memory(session->context);
    if (csv) return csv_write(session->context, path, provenance, n, columns);
    struct output_file file;
    if (!output_open(&file, path)) return columns_unwritable(session->context, path);
    const paritas_status status = npz_put(session->context, &file, path, provenance, n, columns);
    if (!output_close(&file, status == PARITAS_OK) && status == PARITAS_OK)
        return columns_unwritable(session->context, path);
    return status;
}

/* ---- predicted data ---- */

/* Writes data at some of the draws, numbered from 0. */
static paritas_status save_predictive(struct session *session, const struct sampled *s)
{
    const char *path = option_text(session, "--predictive");
    if (!path) return PARITAS_OK;
    const size_t p = session->n_parameters, n_data = session->n_main + session->n_aux,
                 wanted = option_count(session, "--npredictive"), n = wanted < s->n ? wanted : s->n;
    double *points = arena_numbers(session, n * p), *rows = arena_numbers(session, n * n_data);
    char *digest = arena_elements(session, 72, 1), *text;
    size_t length;
    TRY(allocated(session));
    for (size_t i = 0; i < n; i++)
        memcpy(points + i * p, s->parameters + (n > 1 ? i * (s->n - 1) / (n - 1) : 0) * p,
               p * sizeof *points);
    TRY(paritas_predictive_data(session->context, session->model, n, points, s->options.seed, rows));
    TRY(paritas_model_digest(session->context, session->model, digest));
    const paritas_toy_data data = {.size = sizeof data,
                                   .n = n,
                                   .seed = s->options.seed,
                                   .status = PARITAS_FIT_CONVERGED,
                                   .rows = rows,
                                   .model = digest};
    TRY(write_toys(session, path, &data, &text, &length));
    const bool written = output_write(path, text, length);
    paritas_text_free(session->context, text);
    return written ? PARITAS_OK
                   : paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: the data were not saved", path);
}

/* ---- the analysis ---- */

static paritas_status analyse(struct session *session, void *result)
{
    struct sampled *s = result;
    const size_t p = session->n_parameters;
    TRY(read_options(session, &s->options));
    s->n = (size_t)s->options.chains * s->options.draws;
    s->level = option_number(session, "--level");
    s->parameters = arena_numbers(session, s->n * p);
    s->draws = arena_elements(session, s->n, sizeof *s->draws);
    s->chains = arena_records(session, s->options.chains, sizeof *s->chains);
    s->posteriors = arena_records(session, p, sizeof *s->posteriors);
    s->verdict.size = sizeof s->verdict;
    TRY(allocated(session));
    session->progress.unit = "transitions";
    const paritas_sample_answers answers = {
        .size = sizeof answers, .parameters = s->parameters, .draws = s->draws, .chains = s->chains};
    TRY(paritas_sample(session->context, session->model, &session->job, &s->options, &answers));
    TRY(paritas_summarise_draws(session->context, s->options.chains, s->options.draws, p, s->parameters,
                                s->level, s->posteriors));
    TRY(paritas_judge_draws(session->context, p, s->posteriors, s->options.chains, s->chains, &s->verdict));
    if (!s->verdict.converged) session->not_converged = true;
    TRY(save(session, s));
    return save_predictive(session, s);
}

static void write_keys(struct session *session, struct writer *w, const void *result)
{
    const struct sampled *s = result;
    write_members(w, "level:n", s->level);
    write_integer(w, "chains", s->options.chains);
    write_integer(w, "draws", s->options.draws);
    write_record(w, "paritas_sample_verdict", &s->verdict);
    write_members(w, "rhat_of:s ess_of:s", parameter_name(session, s->verdict.rhat_of),
                  parameter_name(session, s->verdict.ess_of));
    write_array(w, "parameters", true);
    for (size_t i = 0; i < session->n_parameters; i++)
        write_record_row(w, parameter_name(session, i), "paritas_posterior", &s->posteriors[i]);
    write_close(w);
}

/* Which of the conditions hold not. */
static void write_verdict(struct session *session, const paritas_sample_verdict *v)
{
    struct text *out = &session->out;
    text_format(out, "Chains %s\n", v->converged ? "converged" : "not converged");
    text_format(out, "largest R-hat %s of %s%s\n", shown_decimal(v->rhat, 4).text,
                parameter_name(session, v->rhat_of),
                v->rhat <= PARITAS_RHAT_MOST ? "" : ": above 1.01, more draws are needed");
    text_format(out, "least effective size %s of %s%s\n", shown_decimal(v->ess, 0).text,
                parameter_name(session, v->ess_of),
                v->ess >= PARITAS_ESS_LEAST ? "" : ": below 400, more draws are needed");
    if (v->divergent > 0)
        text_format(out, "%llu divergent draws: a higher --target makes shorter steps\n",
                    (unsigned long long)v->divergent);
    text_format(out, "%llu gradients, %s for each effective draw\n\n", (unsigned long long)v->gradients,
                shown_decimal((double)v->gradients / v->ess, 1).text);
}

static void write_text(struct session *session, const void *result)
{
    const struct sampled *s = result;
    struct table table;
    char headers[160];
    write_verdict(session, &s->verdict);
    snprintf(headers, sizeof headers, "parameter|mean|sd|%.4g %%|median|%.4g %%|R-hat|bulk|tail",
             50.0 * (1.0 - s->level), 50.0 * (1.0 + s->level));
    table_open(&table, &session->out, headers, "l .5 .5 .5 .5 .5 .4 r r");
    for (size_t i = 0; i < session->n_parameters; i++) {
        const paritas_posterior *p = &s->posteriors[i];
        table_text(&table, parameter_name(session, i));
        const double numbers[] = {p->mean, p->sd, p->lower, p->median, p->upper};
        for (size_t k = 0; k < COUNT_OF(numbers); k++) table_decimal(&table, numbers[k], 5);
        table_decimal(&table, p->rhat, 4);
        table_format(&table, "%.0f", p->ess_bulk);
        table_format(&table, "%.0f", p->ess_tail);
    }
    table_close(&table);
}

const struct command command_sample = {
    .name = "sample",
    .operands = "WORKSPACE",
    .summary = "draws from the posterior, by the No-U-Turn sampler",
    .description = "The constraint terms are priors. Other parameters are flat within their bounds, unless "
                   "--prior says more. Chains converged if, for all parameters, R-hat is at most 1.01 and "
                   "the effective size at least 400, and no draw diverges. Else the exit code is 1. "
                   "Draws have the same bits on every device.",
    .groups = {GROUP_OPTIONS, GROUPS_FIT},
    .analysis =
        {
            .result_size = sizeof(struct sampled),
            .check = check,
            .analyse = analyse,
            .write_keys = write_keys,
            .write_text = write_text,
        },
};
