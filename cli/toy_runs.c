/* toy_runs.c: see toy_runs.h. */
#define _POSIX_C_SOURCE 200809L
#include "toy_runs.h"
#include "record_output.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct option options_toys[] = {
    {"--ntoys", 0, OPTION_WHOLE, "N",
     "toys (of each hypothesis, for tests), over all shards; default: 2000. For a limit: the most of each "
     "tested value; default: 100000"},
    {"--seed", 0, OPTION_WHOLE, "S", "toy t depends on the seed and t alone; default: 0"},
    {"--shard", 0, OPTION_TEXT, "I/N", "draw part I (from 1) of N; `paritas merge` pools the stores"},
    {"--fix-aux", 0, OPTION_FLAG, NULL, "auxiliary data stay as observed"},
    {"--store", 0, OPTION_TEXT, "FILE", "keep every toy in this SQLite database"},
    {"--resume", 0, OPTION_FLAG, NULL, "go on with a store that exists"},
    {"--minimizer", 0, OPTION_CHOICE, "auto|newton",
     "auto: quasi-Newton with a matrix that all toys share where the first toys show that it wins; default: "
     "auto"},
    {"--max-failed", 0, OPTION_NUMBER, "PART",
     "exit code 1 where a larger part of the toys has no answer; default: 0.001"},
    {0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

/* What decides the toys beside the toy options themselves: workspace and model, as they were named. */
static paritas_status write_key(struct session *session, paritas_toys_options *options)
{
    static const char *const named[] = {"--measurement",   "--poi",         "--normsys-code",
                                        "--histosys-code", "--clip-sample", "--clip-bin"};
    paritas_key_entry *entries = arena_array(&session->arena, KEY_ENTRIES, sizeof *entries);
    char *digest = arena_array(&session->arena, 72, 1);
    if (entries == NULL || digest == NULL) return paritas_fail_memory(session->context);
    paritas_status status = paritas_workspace_digest(session->context, session->workspace, digest);
    entries[options->n_entries++] = (paritas_key_entry){"workspace", digest};
    for (size_t k = 0; k < sizeof named / sizeof named[0]; k++) {
        const char *text = option_text(session->arguments, named[k], NULL);
        if (text != NULL) entries[options->n_entries++] = (paritas_key_entry){named[k] + 2, text};
    }
    options->entries = entries;
    return status;
}

paritas_status toy_run_open(struct session *session, struct toy_run *run)
{
    const struct arguments *arguments = session->arguments;
    *run = (struct toy_run){.options = PARITAS_TOYS_OPTIONS_DEFAULT, .start = now()};
    paritas_toys_options *options = &run->options;
    const char *shard = option_text(arguments, "--shard", NULL);
    if (shard != NULL && !read_shard(shard, options))
        return usage_failure(session, "--shard takes I/N with I from 1 to N, not '%s'", shard);
    const uint64_t n = option_whole(arguments, "--ntoys", 2000);
    if (n == 0) return usage_failure(session, "--ntoys takes a whole number from 1");
    options->n = n;
    options->seed = option_whole(arguments, "--seed", 0);
    options->fix_aux = option_flag(arguments, "--fix-aux");
    options->store = option_text(arguments, "--store", NULL);
    options->resume = option_flag(arguments, "--resume");
    options->newton_only = strcmp(option_text(arguments, "--minimizer", "auto"), "newton") == 0;
    if (options->resume && options->store == NULL)
        return usage_failure(session, "--resume needs --store FILE");
    session->progress.unit = "toys";
    return options->store != NULL ? write_key(session, options) : PARITAS_OK;
}

const char *toy_option_given(const struct arguments *arguments)
{
    for (const struct option *option = options_toys; option->name != NULL; option++)
        if (option_given(arguments, option->name) != NULL) return option->name;
    return NULL;
}

void toy_run_close(struct session *session, struct toy_run *run,
                   const uint64_t counts[PARITAS_FIT_STATUS_COUNT])
{
    uint64_t all = 0;
    run->seconds = now() - run->start;
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++) all += counts[k];
    const double failed = (double)(all - counts[PARITAS_FIT_CONVERGED]);
    if (failed > option_number(session->arguments, "--max-failed", 0.001) * (double)all)
        session->not_converged = true;
}

void toy_run_write(struct writer *w, const struct toy_run *run, const paritas_toys_tally *r)
{
    write_object(w, "counts", false);
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (r->counts[k] > 0 || k == PARITAS_FIT_CONVERGED)
            write_integer(w, paritas_fit_status_name((paritas_fit_status)k), r->counts[k]);
    write_close(w);
    write_integer(w, "ntoys", run->options.n);
    write_integer(w, "seed", run->options.seed);
    write_integer(w, "fitted", r->fitted);
    write_object(w, "methods", false);
    write_fields(w, "paritas_toys_tally", r, "quasi_newton", "refitted");
    write_close(w);
    write_integer(w, "iterations", r->iterations);
    write_number(w, "seconds", run->seconds);
    write_number(w, "toys_per_second", r->fitted > 0 ? (double)r->fitted / run->seconds : (double)NAN);
}

void toy_run_describe(struct text *out, const struct toy_run *run, const paritas_toys_tally *r)
{
    const char *between = "";
    text_format(out, "\ntoys: ");
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (r->counts[k] > 0) {
            text_format(out, "%s%" PRIu64 " %s", between, r->counts[k],
                        paritas_fit_status_name((paritas_fit_status)k));
            between = ", ";
        }
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
}

void hypotest_toys_write(struct writer *w, const paritas_hypotest_toys_result *r)
{
    write_fields(w, "paritas_hypotest_toys_result", r, "mu", "status");
}

void hypotest_toys_describe(struct session *session, const char *poi, const paritas_hypotest_toys_result *r)
{
    struct table table;
    text_format(&session->out, "test of %s = %.6g: best fit %.6g, q = %.6g, fits %s\n\n", poi, r->mu,
                r->mu_hat, r->q, paritas_fit_status_name(r->status));
    table_open(&table, &session->context->allocator, "|value|error", "lrr");
    const struct {
        const char *name;
        double value, error;
    } rows[] = {{"CLs", r->cls_obs, r->cls_obs_error},
                {"CLs+b", r->clsb, r->clsb_error},
                {"CLb", r->clb, r->clb_error},
                {"p0", r->p0, r->p0_error}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (k == 3 ? isnan(r->p0) : !isnan(r->p0) && k == 0) continue; /* q0 has p0 for CLs */
        table_text(&table, rows[k].name);
        table_probability(&table, rows[k].value);
        table_number(&table, rows[k].error, 2);
    }
    table_close(&table, &session->out);
    if (isnan(r->cls_exp[2])) return;
    text_format(&session->out, "\nexpected at -2 .. 2 sigma:");
    for (int i = 0; i < 5; i++) text_format(&session->out, " %.4g", r->cls_exp[i]);
    text_format(&session->out, "\n");
}
