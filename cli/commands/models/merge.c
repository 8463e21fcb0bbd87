/* merge.c: shards of a run of toys into one store. */
#include "commands/models/toy_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"--output", OPTION_OUTPUT, "FILE", "the pooled store; must not exist", .letter = 'o'},
    {"--partial", OPTION_FLAG, NULL, "exit code 0 also if shards of the run, or toys of them, are missing"},
    {0},
};

#define SHARDS_SHOWN 8

struct pool {
    const char *path;
    paritas_store_run *run;
    uint64_t toys;
    struct text missing; /* "2/3, 3/3"; empty: all shards are there, with all their toys */
    bool tested;         /* the run tested one value, with this answer: */
    paritas_hypotest_toys_result test;
};

static const char *key_value(const paritas_store_run *run, const char *name)
{
    for (size_t i = 0; i < run->n_entries; i++)
        if (strcmp(run->entries[i].name, name) == 0) return run->entries[i].value;
    return NULL;
}

static uint64_t toys_of(const paritas_store_run *run)
{
    uint64_t toys = 0;
    for (int i = 0; i < PARITAS_FIT_STATUS_COUNT; i++) toys += run->counts[i];
    return toys;
}

/* What a store says of its place in the run: shard 2 of 3, with so many toys. 0 of 0: it does not say. */
struct shard {
    unsigned number, of;
    uint64_t toys, wanted; /* in it; of each hypothesis */
    uint64_t ntoys;        /* of each hypothesis, of the whole run */
};

static paritas_status read_shard_of(struct session *session, const char *path, struct shard *shard)
{
    paritas_store_run *run;
    TRY(paritas_store_run_read(session->context, path, &run));
    const char *place = key_value(run, "shard"), *wanted = key_value(run, "ntoys");
    *shard = (struct shard){.of = 0, .toys = toys_of(run)};
    if (!place || sscanf(place, "%u/%u", &shard->number, &shard->of) != 2) shard->of = 0;
    const uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 0, of = shard->of > 0 ? shard->of : 1;
    shard->ntoys = n;
    shard->wanted = n / of + (shard->of > 0 && shard->number <= n % of);
    paritas_store_run_free(run);
    return PARITAS_OK;
}

static void note_missing(struct pool *pool, unsigned number, unsigned of)
{
    text_format(&pool->missing, "%sshard %u/%u", pool->missing.length > 0 ? ", " : "", number, of);
}

/* Each hypothesis of a run has as many toys. A killed shard has fewer. */
static uint64_t count_hypotheses(const struct shard *shards, size_t n)
{
    uint64_t hypotheses = 0;
    for (size_t k = 0; k < n; k++) {
        const uint64_t wanted = shards[k].wanted,
                       here = wanted > 0 ? (shards[k].toys + wanted - 1) / wanted : 1;
        if (here > hypotheses) hypotheses = here;
    }
    return hypotheses;
}

/* Of shards of one cut, by number. */
static void find_missing(struct pool *pool, const struct shard *shards, size_t n, uint64_t hypotheses)
{
    const unsigned of = shards[0].of;
    for (unsigned number = 1, shown = 0; number <= of && shown < SHARDS_SHOWN; number++) {
        bool whole = false;
        for (size_t k = 0; k < n; k++)
            whole = whole || (shards[k].number == number && shards[k].toys > 0 &&
                              shards[k].toys >= hypotheses * shards[k].wanted);
        if (whole) continue;
        note_missing(pool, number, of);
        shown++;
    }
}

/* Of pools, and of a run with the shards that made it longer, by the number of toys. */
static void count_missing(struct pool *pool, uint64_t hypotheses)
{
    const char *toys = key_value(pool->run, "ntoys");
    const uint64_t wanted = toys ? hypotheses * strtoull(toys, NULL, 10) : 0;
    if (pool->toys < wanted)
        text_format(&pool->missing, "%llu of %llu toys", (unsigned long long)(wanted - pool->toys),
                    (unsigned long long)wanted);
}

static paritas_status check_whole(struct session *session, struct pool *pool)
{
    const struct arguments *arguments = session->arguments;
    struct shard *shards = arena_elements(session, arguments->n_operands, sizeof *shards);
    TRY(allocated(session));
    bool one_cut = true;
    for (size_t k = 0; k < arguments->n_operands; k++) {
        TRY(read_shard_of(session, arguments->operands[k], &shards[k]));
        one_cut =
            one_cut && shards[k].of > 0 && shards[k].of == shards[0].of && shards[k].ntoys == shards[0].ntoys;
    }
    const uint64_t hypotheses = count_hypotheses(shards, arguments->n_operands);
    if (one_cut)
        find_missing(pool, shards, arguments->n_operands, hypotheses);
    else
        count_missing(pool, hypotheses);
    if (pool->missing.length == 0 || option_flag(session, "--partial")) return PARITAS_OK;
    session->not_converged = true;
    fprintf(stderr, "paritas: the pool is no whole run: %.*s missing or incomplete; give all, or --partial\n",
            (int)pool->missing.length, pool->missing.bytes);
    return PARITAS_OK;
}

static void write_json(struct session *session, const struct pool *pool)
{
    const paritas_store_run *run = pool->run;
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_integer(w, "stores", session->arguments->n_operands);
    write_integer(w, "toys", pool->toys);
    if (pool->missing.length > 0) write_bool(w, "partial", true);
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
                n == 1 ? "" : "s", pool->path, pool->missing.length > 0 ? ", a part of the run" : "");
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
    text_open(&pool.missing, &session->context->allocator);
    if (status == PARITAS_OK) status = check_whole(session, &pool);
    if (status == PARITAS_OK) status = read_test(session, &pool);
    if (status == PARITAS_OK && session->json)
        write_json(session, &pool);
    else if (status == PARITAS_OK)
        write_table(session, &pool);
    paritas_store_run_free(pool.run);
    text_free(&pool.missing);
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
        "commands "
        "other than `hypotest-toys` and `significance` are pooled without a test: toys are only counted.",
    .groups = {GROUP_OPTIONS, GROUP_ANSWER},
    .run = run,
};
