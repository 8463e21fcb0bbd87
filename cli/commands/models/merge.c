/* merge.c: shards of a run of toys into one store. */
#include "commands/models/toy_runs.h"
#include "commands.h"

#include <stdio.h>

static const struct option options[] = {
    {"--output", OPTION_OUTPUT, "FILE", "the pooled store; must not exist", .letter = 'o'},
    {"--partial", OPTION_FLAG, NULL, "exit code 0 also if shards of the run, or toys of them, are missing"},
    {0},
};

struct pool {
    const char *path;
    paritas_store_run *run;
    uint64_t toys;
    bool partial; /* shards are missing, or toys of them */
    bool tested;  /* the run tested one value, with this answer: */
    paritas_hypotest_toys_result test;
};

static uint64_t toys_of(const paritas_store_run *run)
{
    uint64_t toys = 0;
    for (int i = 0; i < PARITAS_FIT_STATUS_COUNT; i++) toys += run->counts[i];
    return toys;
}

/* Says what is missing, unless that is asked for. */
static paritas_status check_whole(struct session *session, struct pool *pool)
{
    const struct arguments *arguments = session->arguments;
    const paritas_status status =
        paritas_store_check_whole(session->context, arguments->n_operands, arguments->operands);
    pool->partial = status == PARITAS_INVALID_INPUT;
    if (!pool->partial) return status;
    if (option_flag(session, "--partial")) return PARITAS_OK;
    session->not_converged = true;
    fprintf(stderr, "paritas: %s\n", NAME_OPTIONS(arguments->command, session->context->message));
    return PARITAS_OK;
}

static void write_json(struct session *session, const struct pool *pool)
{
    const paritas_store_run *run = pool->run;
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_integer(w, "stores", session->arguments->n_operands);
    write_integer(w, "toys", pool->toys);
    if (pool->partial) write_bool(w, "partial", true);
    if (pool->tested) hypotest_toys_write(w, &pool->test);
    write_status_counts(w, run->counts, PARITAS_FIT_STATUS_COUNT);
    write_object(w, "key", true);
    for (size_t i = 0; i < run->n_entries; i++) write_string(w, run->entries[i].name, run->entries[i].value);
    write_close(w);
    write_close(w);
}

static void write_table(struct session *session, const struct pool *pool)
{
    const paritas_store_run *run = pool->run;
    struct text *out = &session->out;
    const size_t n = session->arguments->n_operands;
    struct table table;
    text_format(out, "%llu toys of %zu store%s in %s%s\n\n", (unsigned long long)pool->toys, n,
                n == 1 ? "" : "s", pool->path, pool->partial ? ", a part of the run" : "");
    if (pool->tested) hypotest_toys_describe(session, "the parameter of interest", &pool->test);
    if (pool->tested) text_format(out, "\n");
    table_open(&table, out, "status|toys", "l r");
    for (int i = 0; i < PARITAS_FIT_STATUS_COUNT; i++) {
        if (run->counts[i] == 0) continue;
        table_text(&table, paritas_fit_status_name((paritas_fit_status)i));
        table_format(&table, "%llu", (unsigned long long)run->counts[i]);
    }
    table_close(&table);
    text_format(out, "\n");
    table_open(&table, out, "key|value", "l l");
    for (size_t i = 0; i < run->n_entries; i++)
        table_row(&table, run->entries[i].name, run->entries[i].value);
    table_close(&table);
}

/* Answer of a test of one value. Other runs, and runs without a toy, have none. */
static paritas_status read_test(struct session *session, struct pool *pool)
{
    pool->tested = pool->run->has_hypotest;
    if (!pool->tested) return PARITAS_OK;
    paritas_status status = paritas_store_hypotest(session->context, pool->path, &pool->test);
    if (toy_run_lacks_place(session, &status, &pool->test)) pool->tested = false;
    TRY(status);
    note_status(session, pool->test.status);
    return PARITAS_OK;
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    struct pool pool = {.path = option_text(session, "--output"),
                        .test = PARITAS_INIT(paritas_hypotest_toys_result)};
    if (!pool.path) return usage_failure(session, "merge needs a name for the pooled store: -o FILE");
    session->progress.unit = "toys";
    paritas_status status =
        paritas_store_merge(session->context, arguments->n_operands, arguments->operands, pool.path);
    if (status == PARITAS_OK) status = paritas_store_run_read(session->context, pool.path, &pool.run);
    if (status == PARITAS_OK) pool.toys = toys_of(pool.run);
    if (status == PARITAS_OK) status = check_whole(session, &pool);
    if (status == PARITAS_OK) status = read_test(session, &pool);
    if (status == PARITAS_OK && session->json)
        write_json(session, &pool);
    else if (status == PARITAS_OK)
        write_table(session, &pool);
    paritas_store_run_free(pool.run);
    return status;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "STORE...",
    .summary = "pools stores of toys, the shards of one run",
    .description =
        "The stores must be of one run and share no toy. The pooled store has the rows of the uncut run, and "
        "the answer is that run's. Runs that differ in --ntoys alone are one run, of the largest number. "
        "If a shard is missing or was killed, standard error names it, and the exit code is 1. Stores of "
        "commands other than `hypotest-toys` and `significance` are pooled without a test: toys are only "
        "counted.",
    .groups = {GROUP_OPTIONS, GROUP_ANSWER},
    .run = run,
};
