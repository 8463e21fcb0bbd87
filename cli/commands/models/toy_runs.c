/* toy_runs.c: options and answers of toys. */
#include "commands/models/toy_runs.h"
#include "base/platform.h"
#include "print/record_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct option options_toys[] = {
    LIBRARY_ROW("--ntoys", paritas_toys_options),
    LIBRARY_ROW("--seed", paritas_toys_options),
    {"--shard", OPTION_TEXT, "I/N", "draw part I (from 1) of N; `paritas merge` pools the stores"},
    LIBRARY_ROW("--fix-aux", paritas_toys_options),
    {"--store", OPTION_OUTPUT, "FILE", "keep every toy in this SQLite database"},
    {"--resume", .library = "paritas_toys_options", .needs = "--store FILE"},
    {"--minimizer", OPTION_CHOICE, "auto|newton",
     "auto: quasi-Newton with one matrix for all toys, if the first toys are faster with it", "auto"},
    {"--max-failed", OPTION_NUMBER, "PART", "exit code 1 if a larger part of the toys has no result",
     "0.001"},
    {0},
};

paritas_status write_toys(struct session *session, const char *path, const paritas_toy_data *data,
                          char **text, size_t *length)
{
    const size_t end = path ? strlen(path) : 0;
    const bool archive = end > 4 && strcmp(path + end - 4, ".npz") == 0;
    return (archive ? paritas_toy_data_pack : paritas_toy_data_write)(session->context, session->model, data,
                                                                      text, length);
}

/* "i/n" */
static bool read_shard(const char *text, paritas_toys_options *options)
{
    unsigned shard, shards;
    int length = 0;
    if (strspn(text, "0123456789/") != strlen(text) ||
        sscanf(text, "%9u/%9u%n", &shard, &shards, &length) != 2 || text[length] != '\0')
        return false;
    options->shard = shard;
    options->shards = shards;
    return shard >= 1 && shard <= shards;
}

#define KEY_ENTRIES 8

/* The store's key: workspace and model options, as named. */
static paritas_status write_key(struct session *session, paritas_toys_options *options)
{
    static const char *const named[] = {"--measurement",   "--poi",         "--normsys-code",
                                        "--histosys-code", "--clip-sample", "--clip-bin"};
    paritas_key_entry *entries = arena_elements(session, KEY_ENTRIES, sizeof *entries);
    char *digest = arena_elements(session, 72, 1);
    TRY(allocated(session));
    TRY(paritas_workspace_digest(session->context, session->workspace, digest));
    entries[options->n_entries++] = (paritas_key_entry){"workspace", digest};
    for (size_t k = 0; k < COUNT_OF(named); k++) {
        const struct given *given = option_given(session, named[k]);
        if (given) entries[options->n_entries++] = (paritas_key_entry){named[k] + 2, given->text};
    }
    options->entries = entries;
    return PARITAS_OK;
}

static paritas_status read_strengths(struct session *session, paritas_toys_options *options)
{
    const struct arguments *arguments = session->arguments;
    if (!option_given(session, "--strength")) return PARITAS_OK;
    double *strengths = arena_numbers(session, arguments->n_given);
    TRY(allocated(session));
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, "--strength") == 0)
            strengths[options->n_strengths++] = arguments->given[i].number;
    options->strengths = strengths;
    return PARITAS_OK;
}

paritas_status toy_run_open(struct session *session, struct toy_run *run)
{
    *run = (struct toy_run){.options = PARITAS_TOYS_OPTIONS_DEFAULT, .start = platform_seconds()};
    paritas_toys_options *options = &run->options;
    const char *shard = option_text(session, "--shard");
    if (shard && !read_shard(shard, options))
        return usage_failure(session, "--shard takes I/N with I from 1 to N, not '%s'", shard);
    const struct given *failed = option_value(session, "--max-failed");
    if (!(failed->number >= 0.0 && failed->number <= 1.0))
        return usage_failure(session, "--max-failed takes a part from 0 to 1, not '%s'", failed->text);
    TRY(options_take(session, "paritas_toys_options", options));
    if (options->n == 0) options->n = PARITAS_TOYS;
    options->store = option_text(session, "--store");
    const struct given *minimizer = option_value(session, "--minimizer");
    options->newton_only = minimizer && minimizer->choice == 1;
    session->progress.unit = "toys";
    TRY(read_strengths(session, options));
    return options->store ? write_key(session, options) : PARITAS_OK;
}

bool toy_run_lacks_place(struct session *session, paritas_status *status,
                         const paritas_hypotest_toys_result *test)
{
    if (*status != PARITAS_NOT_CONVERGED) return false;
    fprintf(stderr, "paritas: %s\n", paritas_error_message(session->context));
    *status = PARITAS_OK;
    session->not_converged = true;
    return !test || test->n_strengths == 0;
}

void toy_run_close(struct session *session, struct toy_run *run, const paritas_toys_tally *tally)
{
    uint64_t all = 0;
    run->seconds = platform_seconds() - run->start;
    run->tally = *tally;
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++) all += tally->counts[k];
    const double failed = (double)(all - tally->counts[PARITAS_FIT_CONVERGED]);
    run->failed = failed > option_number(session, "--max-failed") * (double)all;
    session->not_converged = session->not_converged || run->failed;
}

void write_status_counts(struct writer *w, const uint64_t counts[PARITAS_FIT_STATUS_COUNT],
                         paritas_fit_status always)
{
    write_object(w, "counts", false);
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (counts[k] > 0 || k == (int)always)
            write_integer(w, paritas_fit_status_name((paritas_fit_status)k), counts[k]);
    write_close(w);
}

void toy_run_write(struct writer *w, const struct toy_run *run)
{
    const paritas_toys_tally *r = &run->tally;
    write_status_counts(w, r->counts, PARITAS_FIT_CONVERGED);
    write_integer(w, "ntoys", run->options.n);
    write_integer(w, "seed", run->options.seed);
    write_integer(w, "fitted", r->fitted);
    write_object(w, "methods", false);
    write_fields(w, "paritas_toys_tally", r, "quasi_newton", "refitted");
    write_close(w);
    write_integer(w, "iterations", r->iterations);
    write_number(w, "seconds", run->seconds);
    write_number(w, "toys_per_second", r->fitted > 0 ? (double)r->fitted / run->seconds : NAN);
}

void toy_run_describe(struct text *out, const struct toy_run *run)
{
    const paritas_toys_tally *r = &run->tally;
    const char *between = "";
    text_format(out, "\ntoys: ");
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (r->counts[k] > 0) {
            text_format(out, "%s%" PRIu64 " %s", between, r->counts[k],
                        paritas_fit_status_name((paritas_fit_status)k));
            between = ", ";
        }
    if (between[0] == '\0') text_format(out, "none");
    text_format(out, "; seed %" PRIu64 "\n%" PRIu64 " fitted in %.3g s", run->options.seed, r->fitted,
                run->seconds);
    if (r->fitted > 0)
        text_format(out,
                    ", %.3g a second, %.3g iterations each, %" PRIu64 " by quasi-Newton, %" PRIu64
                    " after a retry, %" PRIu64 " refitted",
                    (double)r->fitted / run->seconds, (double)r->iterations / (double)r->fitted,
                    r->by_quasi_newton,
                    r->from_suggested_start + r->from_the_other_fit + r->from_further_starts + r->at_edge,
                    r->refitted);
    text_format(out, "\n");
    if (run->failed)
        text_format(out, "The exit code is 1: more toys have no result than --max-failed allows\n");
}

void importance_write(struct writer *w, const paritas_hypotest_toys_result *r)
{
    if (r->n_strengths == 0) return;
    write_numbers(w, "strengths", r->n_strengths, r->strengths);
    write_members(w, "effective_tested:n effective_other:n", r->effective_tested, r->effective_other);
}

void importance_describe(struct text *out, const paritas_hypotest_toys_result *r)
{
    if (r->n_strengths == 0) return;
    text_format(out, "\nimportance sampling at");
    for (size_t i = 0; i < r->n_strengths; i++) text_format(out, " %s", shown(r->strengths[i], 4).text);
    text_format(out, "; effective number of toys behind CLs+b %s, behind CLb %s\n",
                shown(r->effective_tested, 4).text, shown(r->effective_other, 4).text);
}

void hypotest_toys_write(struct writer *w, const paritas_hypotest_toys_result *r)
{
    write_fields(w, "paritas_hypotest_toys_result", r, "mu", "status");
    write_fields(w, "paritas_hypotest_toys_result", r, "several_minima", "minima");
    importance_write(w, r);
}

void hypotest_toys_describe(struct session *session, const char *poi, const paritas_hypotest_toys_result *r)
{
    struct table table;
    text_format(&session->out, "Test of %s = %.6g: q = %s\n", poi, r->mu, shown(r->q, 6).text);
    describe_fits(&session->out, "fits to the data", r->status, poi, r->mu_hat);
    text_format(&session->out, "\n");
    table_open(&table, &session->out, "|value|error", "l p 2");
    if (isnan(r->p0)) {
        table_row(&table, "CLs", r->cls_obs, r->cls_obs_error);
        table_row(&table, "CLs+b", r->clsb, r->clsb_error);
        table_row(&table, "CLb", r->clb, r->clb_error);
    } else { /* of q0 */
        table_row(&table, "CLs+b", r->clsb, r->clsb_error);
        table_row(&table, "CLb", r->clb, r->clb_error);
        table_row(&table, "p0", r->p0, r->p0_error);
    }
    table_close(&table);
    importance_describe(&session->out, r);
    bool expects = false;
    for (int i = 0; i < 5; i++) expects = expects || !isnan(r->cls_exp[i]);
    if (!expects) return;
    text_format(&session->out, "\nexpected at -2 .. 2 sigma:");
    for (int i = 0; i < 5; i++) text_format(&session->out, " %s", shown(r->cls_exp[i], 4).text);
    text_format(&session->out, "\nerrors of these:          ");
    for (int i = 0; i < 5; i++) text_format(&session->out, " %s", shown(r->cls_exp_error[i], 4).text);
    text_format(&session->out, "\n");
}
