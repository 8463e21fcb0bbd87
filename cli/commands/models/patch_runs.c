/* patch_runs.c: runs each patch of a patch set. */
#include "commands/models/patch_runs.h"
#include "commands/models/patch_csv.h"
#include "base/platform.h"
#include "commands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WORKERS_MAX 64

struct patch_outcome {
    paritas_status status;
    bool not_converged, wrong_usage;
    struct text answer; /* a line of JSON or CSV, or a row's cells; after a failure its message */
};

/* Shared, read only. A worker owns the outcomes whose numbers it drew. */
struct patch_run {
    const struct analysis *analysis;
    struct session *first; /* the command's; a lone worker uses its context */
    struct patches patches;
    char headers[256], formats[64]; /* of the table */
    const char *columns;            /* of CSV; NULL: another answer */
    struct patch_outcome *outcomes; /* one a patch */
    atomic_size_t next;
    /* The last patches, of which one may take long, get the threads of workers that are done. */
    unsigned threads;
    atomic_uint busy, threads_each;
};

struct patch_worker {
    struct patch_run *run;
    const char *device; /* NULL: uses the context of `first` */
    pthread_t thread;
    bool started;
};

paritas_status patch_load(struct session *session, const struct patches *patches, const struct patch *patch)
{
    TRY(json_share(session->context, patches->background, &session->workspace));
    TRY(json_patch(session->context, session->workspace, patch->operations, patches->patchset->label));
    TRY(load_model(session));
    if (session->n_pois > 1) return usage_failure(session, "a whole patch set takes one --poi");
    return require_poi(session);
}

static void open_line(struct writer *w, struct text *text, const struct patch *patch)
{
    writer_open(w, text, true);
    write_object(w, NULL, false);
    write_string(w, "name", patch->name);
    write_tree(w, "values", patch->values);
}

static void write_line(const struct patch_run *run, const struct patch *patch, const char *device,
                       const void *result, struct text *line)
{
    struct writer w;
    open_line(&w, line, patch);
    run->analysis->write_keys(run->first, &w, result);
    write_members(&w, "device:s precision:s polish:s", device, paritas_precision_name(run->first->context),
                  paritas_polish_name(run->first->context));
    write_close(&w);
}

/* The cells of a table with empty headers. */
static void write_cells(const struct patch_run *run, const struct patch *patch, const void *result,
                        struct text *cells)
{
    struct table table;
    table_open(&table, cells, "", run->formats);
    table_text(&table, patch->name);
    run->analysis->write_cells(&table, result);
    *cells = table.cells;
}

static paritas_status write_csv_line(struct session *session, const struct patch_run *run,
                                     const struct patch *patch, const void *result, struct text *line)
{
    struct text answer;
    text_open(&answer, line->allocator);
    write_line(run, patch, paritas_device_name(session->context), result, &answer);
    const paritas_status status = patch_csv_line(session->context, patch, run->columns, &answer, line);
    text_free(&answer);
    return status;
}

/* Results are large, those of limits 80 kB: they become text at once. */
static paritas_status run_one(struct session *session, const struct patch_run *run, const struct patch *patch,
                              struct patch_outcome *outcome)
{
    TRY(patch_load(session, &run->patches, patch));
    void *result = arena_elements(session, 1, run->analysis->result_size);
    TRY(allocated(session));
    TRY(run->analysis->analyse(session, result));
    outcome->not_converged = session->not_converged;
    if (run->columns) return write_csv_line(session, run, patch, result, &outcome->answer);
    if (session->json)
        write_line(run, patch, paritas_device_name(session->context), result, &outcome->answer);
    else
        write_cells(run, patch, result, &outcome->answer);
    return outcome->answer.failed ? paritas_fail_memory(session->context) : PARITAS_OK;
}

/* Without a context only this patch fails. */
static paritas_status open_worker(struct session *session, const struct patch_worker *worker)
{
    const struct patch_run *run = worker->run;
    if (!worker->device) {
        session_share(session, run->first);
        return PARITAS_OK;
    }
    TRY(session_open_beside(session, run->first, worker->device, run->threads));
    session->context->threads_now = &run->threads_each;
    return PARITAS_OK;
}

/* Among `busy` workers, of which ever fewer are left. */
static void share_threads(struct patch_run *run, unsigned busy)
{
    const unsigned each = busy > 0 ? run->threads / busy : 0;
    unsigned before = atomic_load(&run->threads_each);
    while (before < each && !atomic_compare_exchange_weak(&run->threads_each, &before, each)) {
    }
}

static void *work(void *argument)
{
    const struct patch_worker *worker = argument;
    struct patch_run *run = worker->run;
    struct session session = {0}; /* keeps its context over patches */
    for (size_t i; (i = atomic_fetch_add(&run->next, 1)) < run->patches.n;) {
        struct patch_outcome *outcome = &run->outcomes[i];
        const bool opened =
            session.context || (outcome->status = open_worker(&session, worker)) == PARITAS_OK;
        if (opened) outcome->status = run_one(&session, run, &run->patches.items[i], outcome);
        if (outcome->status != PARITAS_OK) {
            text_free(&outcome->answer);
            text_format(&outcome->answer, "%s",
                        NAME_OPTIONS(session.arguments->command, session.context->message));
        }
        outcome->wrong_usage = session.wrong_usage;
        if (opened)
            session_clear(&session);
        else
            session_close(&session);
    }
    session_close(&session);
    share_threads(run, atomic_fetch_sub(&run->busy, 1) - 1);
    return NULL;
}

static unsigned thread_count(const struct session *session)
{
    const size_t n = option_count(session, "--threads");
    return n > 0 ? (unsigned)n : platform_processors();
}

/* One a thread. One on an accelerator: contexts there compete for memory. */
static size_t worker_count(const struct session *session, size_t n_patches)
{
    size_t n = thread_count(session);
    if (strcmp(paritas_device_name(session->context), "cpu") != 0) n = 1;
    if (n > n_patches) n = n_patches;
    return n < WORKERS_MAX ? n : WORKERS_MAX;
}

/* Only the first worker has the session's device ("auto" may be an accelerator). */
static void run_workers(struct patch_run *run, size_t n_workers, struct patch_worker *workers)
{
    run->threads = thread_count(run->first);
    atomic_init(&run->busy, (unsigned)n_workers);
    atomic_init(&run->threads_each, run->threads / (unsigned)n_workers);
    workers[0].device = n_workers > 1 ? run->first->options.device : NULL;
    for (size_t i = 1; i < n_workers; i++) {
        workers[i].run = run;
        workers[i].device = "cpu";
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
        if (!workers[i].started) atomic_fetch_sub(&run->busy, 1);
    }
    workers[0].run = run;
    work(&workers[0]); /* this thread works too: others may fail to start */
    for (size_t i = 1; i < n_workers; i++)
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
}

static paritas_status list_patches(struct session *session, struct patches *patches)
{
    TRY(paritas_patchset_count(session->context, patches->patchset, &patches->n));
    patches->items = arena_elements(session, patches->n, sizeof *patches->items);
    TRY(allocated(session));
    const struct json *patch = json_get(patches->patchset->root, "patches")->first;
    for (size_t i = 0; i < patches->n; i++, patch = patch->next) {
        const struct json *metadata = json_get(patch, "metadata");
        patches->items[i] = (struct patch){.name = json_get(metadata, "name")->text,
                                           .values = json_get(metadata, "values"),
                                           .operations = json_get(patch, "patch")};
    }
    return PARITAS_OK;
}

paritas_status patches_open(struct session *session, struct patches *patches)
{
    TRY(json_read_packed(session->context, option_text(session, "--patchset"), &patches->patchset));
    TRY(json_read_packed(session->context, session->arguments->operands[0], &session->workspace));
    TRY(paritas_patchset_verify(session->context, session->workspace, patches->patchset));
    TRY(apply_patches(session));
    TRY(paritas_workspace_prepare(session->context, session->workspace));
    patches->background = session->workspace;
    return list_patches(session, patches);
}

void patches_close(struct patches *patches)
{
    paritas_workspace_free(patches->patchset);
}

static const char *message_of(const struct patch_outcome *outcome)
{
    return outcome->answer.failed ? paritas_status_message(PARITAS_OUT_OF_MEMORY) : outcome->answer.bytes;
}

static void write_failure(const struct patch_run *run, size_t i, struct text *out)
{
    struct writer w;
    if (run->columns) {
        patch_csv_failure(&run->patches.items[i], run->columns, message_of(&run->outcomes[i]), out);
        return;
    }
    open_line(&w, out, &run->patches.items[i]);
    write_string(&w, "error", message_of(&run->outcomes[i]));
    write_close(&w);
}

static void write_lines(struct session *session, const struct patch_run *run)
{
    if (run->columns) patch_csv_header(&run->patches, run->columns, &session->out);
    for (size_t i = 0; i < run->patches.n; i++) {
        struct patch_outcome *outcome = &run->outcomes[i];
        if (outcome->status == PARITAS_OK)
            text_append(&session->out, outcome->answer.bytes, outcome->answer.length);
        else
            write_failure(run, i, &session->out);
        text_free(&outcome->answer);
    }
}

static void write_rows(struct session *session, const struct patch_run *run)
{
    struct table table;
    table_open(&table, &session->out, run->headers, run->formats);
    for (size_t i = 0; i < run->patches.n; i++) {
        const struct patch_outcome *outcome = &run->outcomes[i];
        if (outcome->status == PARITAS_OK) {
            const char *cell = outcome->answer.bytes + table.columns; /* behind the headers' end bytes */
            for (size_t k = 0; k < table.columns; k++, cell += strlen(cell) + 1) table_text(&table, cell);
            continue;
        }
        table_text(&table, run->patches.items[i].name);
        for (size_t k = 2; k < table.columns; k++) table_text(&table, "-");
        table_text(&table, "failed");
    }
    table_close(&table);
    for (size_t i = 0; i < run->patches.n; i++)
        if (run->outcomes[i].status != PARITAS_OK)
            text_format(&session->out, "%s: %s\n", run->patches.items[i].name, message_of(&run->outcomes[i]));
}

static paritas_status open_run(struct session *session, struct patch_run *run)
{
    const struct analysis *analysis = run->analysis;
    snprintf(run->headers, sizeof run->headers, "patch|%s %s|%s", analysis->quantity(session),
             data_word(session), analysis->headers);
    snprintf(run->formats, sizeof run->formats, "l%s", analysis->formats);
    run->columns = option_flag(session, "--csv") ? analysis->columns : NULL;
    TRY(patches_open(session, &run->patches));
    struct patch_outcome *outcomes = arena_elements(session, run->patches.n, sizeof *outcomes);
    TRY(allocated(session));
    for (size_t i = 0; i < run->patches.n; i++) text_open(&outcomes[i].answer, &session->context->allocator);
    run->outcomes = outcomes;
    atomic_init(&run->next, 0);
    return PARITAS_OK;
}

static void close_run(struct patch_run *run)
{
    for (size_t i = 0; run->outcomes && i < run->patches.n; i++) text_free(&run->outcomes[i].answer);
    patches_close(&run->patches);
}

static paritas_status run_all(struct session *session, struct patch_run *run)
{
    struct patch_worker workers[WORKERS_MAX];
    memset(workers, 0, sizeof workers);
    TRY(open_run(session, run));
    const size_t n_workers = worker_count(session, run->patches.n);
    if (n_workers > 0) run_workers(run, n_workers, workers);
    size_t n_failed = 0;
    for (size_t i = 0; i < run->patches.n; i++) {
        if (run->outcomes[i].wrong_usage) return usage_failure(session, "%s", message_of(&run->outcomes[i]));
        n_failed += run->outcomes[i].status != PARITAS_OK;
        session->not_converged = session->not_converged || run->outcomes[i].not_converged;
    }
    if (session->json || run->columns)
        write_lines(session, run);
    else
        write_rows(session, run);
    if (n_failed == 0) return PARITAS_OK;
    session->partial = true;
    return wrong_input(session, "%s: %zu of %zu patches failed; their lines say why",
                       option_text(session, "--patchset"), n_failed, run->patches.n);
}

paritas_status run_patches(struct session *session, const struct analysis *analysis)
{
    struct patch_run run = {.analysis = analysis, .first = session};
    const paritas_status status = run_all(session, &run);
    close_run(&run);
    return status;
}
