/* merge.c: shards of a run of toys into one store. */
#include "session.h"
#include "store/store.h"
#include "table.h"

#include <stdio.h>

static const struct option options[] = {
    {"--output", 'o', OPTION_TEXT, "FILE", "the pooled store; must not exist"},
    {0},
};
/* the answer goes to standard output: -o is the store here */
static const struct option options_answer[] = {
    {"--json", 0, OPTION_FLAG, NULL, "answer as one JSON document"},
    {"--quiet", 0, OPTION_FLAG, NULL, "no progress on standard error"},
    {"--help", 'h', OPTION_FLAG, NULL, "this text"},
    {0},
};

static void write_json(struct session *session, const struct store_run *run, uint64_t toys, const uint64_t *counts)
{
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_integer(w, "stores", session->arguments->n_operands);
    write_integer(w, "toys", toys);
    write_object(w, "counts", false);
    for (int i = 0; i < (int)STORE_STATUSES; i++)
        if (counts[i] > 0) write_integer(w, paritas_fit_status_name((paritas_fit_status)i), counts[i]);
    write_close(w);
    write_object(w, "key", true);
    for (size_t i = 0; i < run->n_entries; i++) write_string(w, run->entries[i].name, run->entries[i].value);
    write_close(w);
    write_close(w);
}

static void write_table(struct session *session, const char *output, const struct store_run *run, uint64_t toys, const uint64_t *counts)
{
    struct text *out = &session->out;
    const size_t n = session->arguments->n_operands;
    struct table table;
    text_format(out, "%llu toys of %zu store%s in %s\n\n", (unsigned long long)toys, n, n == 1 ? "" : "s", output);
    table_open(&table, out->allocator, "status|toys", "lr");
    for (int i = 0; i < (int)STORE_STATUSES; i++) {
        if (counts[i] == 0) continue;
        table_text(&table, paritas_fit_status_name((paritas_fit_status)i));
        table_format(&table, "%llu", (unsigned long long)counts[i]);
    }
    table_close(&table, out);
    text_format(out, "\n");
    table_open(&table, out->allocator, "key|value", "ll");
    for (size_t i = 0; i < run->n_entries; i++) {
        table_text(&table, run->entries[i].name);
        table_text(&table, run->entries[i].value);
    }
    table_close(&table, out);
}

static int run(struct session *session)
{
    const struct arguments *arguments = session->arguments;
    const char *output = option_text(arguments, "--output", NULL);
    struct store *pool = NULL;
    uint64_t counts[STORE_STATUSES], toys = 0;
    if (output == NULL) {
        session->wrong_usage = true;
        return paritas_fail(session->context, PARITAS_INVALID_ARGUMENT, "merge needs a name for the pooled store: -o FILE");
    }
    session->progress.unit = "toys";
    paritas_status status = paritas_store_merge(session->context, arguments->n_operands, arguments->operands, output);
    if (status == PARITAS_OK) status = store_open_read(session->context, output, &pool);
    if (status == PARITAS_OK) status = store_counts(pool, counts);
    for (int i = 0; i < (int)STORE_STATUSES && status == PARITAS_OK; i++) toys += counts[i];
    if (status == PARITAS_OK && session->json) write_json(session, store_run(pool), toys, counts);
    else if (status == PARITAS_OK) write_table(session, output, store_run(pool), toys, counts);
    store_close(pool);
    return status;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "STORE...",
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .summary = "pools stores of toys, the shards of one run",
    .description = "The stores must be of one run and share no toy; the pooled store has the rows of the run that was not cut into shards.",
    .groups = {{"Options", options}, {"Output", options_answer}, GROUP_END},
    .run = run,
};
