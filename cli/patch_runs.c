/* patch_runs.c: a patch set as a list of independent models. */
#define _POSIX_C_SOURCE 200809L
#include "patch_runs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MAX 64

/* What the workers share. Workspace and patch set are only read; each outcome belongs to who drew its
 * number. */
struct patch_run {
    const struct patch_analysis *analysis;
    struct session *first; /* the command's; no worker's own, but one worker alone takes its context */
    const paritas_workspace *background; /* with the --patch files */
    const struct json **patches;         /* the operations of each */
    struct patch_outcome *outcomes;
    size_t n;
    atomic_size_t next;
    char (*errors)[1024];
    const char *label; /* of the patch set */
};

struct patch_worker {
    struct patch_run *run;
    const char *device; /* of the worker's context; NULL: it works in the context of `first` */
    pthread_t thread;
    bool started;
};

/* The patched workspace becomes the session's. */
static paritas_status apply(struct session *session, const struct patch_run *run, size_t i)
{
    struct paritas_workspace *copy = NULL;
    paritas_status status = json_copy(session->context, run->background->root, run->background->label, &copy);
    if (status != PARITAS_OK) return status;
    session->workspace = copy;
    return json_patch(session->context, copy, run->patches[i], run->label);
}

static paritas_status run_one(struct session *session, const struct patch_run *run, size_t i)
{
    struct patch_outcome *outcome = &run->outcomes[i];
    paritas_status status = apply(session, run, i);
    if (status == PARITAS_OK) status = load_model(session);
    if (status == PARITAS_OK) status = require_poi(session);
    if (status == PARITAS_OK) status = run->analysis->analyse(session, outcome->result);
    if (status == PARITAS_OK)
        snprintf(outcome->device, sizeof outcome->device, "%s", paritas_device_name(session->context));
    else
        snprintf(outcome->error, sizeof run->errors[i], "%s", paritas_error_message(session->context));
    session_clear(session);
    return status;
}

/* A context that cannot be opened fails the patch at hand alone: the next one tries again. */
static paritas_status open_worker(struct session *session, const struct patch_worker *worker, size_t i)
{
    struct patch_run *run = worker->run;
    if (worker->device == NULL) {
        session_share(session, run->first);
        return PARITAS_OK;
    }
    paritas_status status = session_open_beside(session, run->first, worker->device);
    if (status == PARITAS_OK) return status;
    snprintf(run->errors[i], sizeof run->errors[i], "%s", paritas_error_message(session->context));
    session_close(session);
    return status;
}

static void *work(void *argument)
{
    const struct patch_worker *worker = argument;
    struct patch_run *run = worker->run;
    struct session session = {0}; /* its context is kept over patches */
    for (size_t i; (i = atomic_fetch_add(&run->next, 1)) < run->n;) {
        paritas_status status = session.context == NULL ? open_worker(&session, worker, i) : PARITAS_OK;
        run->outcomes[i].status = status == PARITAS_OK ? run_one(&session, run, i) : status;
    }
    session_close(&session);
    return NULL;
}

/* As many as there are processors or --threads names, but one alone on an accelerator: contexts there would
 * take each other's memory. */
static size_t worker_count(const struct session *session, size_t n_patches)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = option_count(session->arguments, "--threads", processors > 0 ? (size_t)processors : 1);
    if (strcmp(paritas_device_name(session->context), "cpu") != 0) n = 1;
    if (n > n_patches) n = n_patches;
    return n < WORKERS_MAX ? n : WORKERS_MAX;
}

/* The first of several workers has the session's device: where that is "auto" it may come to an accelerator,
 * which is then its alone. */
static void run_workers(struct patch_run *run, size_t n_workers, struct patch_worker *workers)
{
    workers[0].device = n_workers > 1 ? run->first->options.device : NULL;
    for (size_t i = 1; i < n_workers; i++) {
        workers[i].run = run;
        workers[i].device = "cpu";
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    workers[0].run = run;
    work(&workers[0]); /* this thread is a worker too, so all is done even if none could be started */
    for (size_t i = 1; i < n_workers; i++)
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
}

/* Names, values and operations of the patches. */
static paritas_status list_patches(struct session *session, const paritas_workspace *patchset,
                                   struct patch_run *run)
{
    const struct json *patches = json_get(patchset->root, "patches");
    paritas_status status = paritas_patchset_count(session->context, patchset, &run->n);
    if (status != PARITAS_OK) return status;
    run->patches = arena_array(&session->arena, run->n + 1, sizeof *run->patches);
    run->outcomes = arena_array(&session->arena, run->n + 1, sizeof *run->outcomes);
    run->errors = arena_array(&session->arena, run->n + 1, sizeof *run->errors);
    if (run->patches == NULL || run->outcomes == NULL || run->errors == NULL)
        return paritas_fail_memory(session->context);
    const struct json *patch = patches->first;
    for (size_t i = 0; i < run->n; i++, patch = patch->next) {
        struct patch_outcome *outcome = &run->outcomes[i];
        status = paritas_patchset_name(session->context, patchset, i, &outcome->name);
        if (status != PARITAS_OK) return status;
        outcome->values = json_get(json_get(patch, "metadata"), "values");
        outcome->error = run->errors[i];
        outcome->result = arena_array(&session->arena, 1, run->analysis->result_size);
        if (outcome->result == NULL) return paritas_fail_memory(session->context);
        run->patches[i] = json_get(patch, "patch");
    }
    return PARITAS_OK;
}

static void write_lines(struct session *session, const struct patch_run *run)
{
    struct writer w;
    for (size_t i = 0; i < run->n; i++) {
        const struct patch_outcome *outcome = &run->outcomes[i];
        writer_open(&w, &session->out, true);
        write_object(&w, NULL, false);
        write_string(&w, "name", outcome->name);
        write_tree(&w, "values", outcome->values);
        if (outcome->status == PARITAS_OK) {
            run->analysis->write_fields(&w, outcome->result);
            write_string(&w, "device", outcome->device);
            write_string(&w, "precision", paritas_precision_name(session->context));
            write_string(&w, "polish", paritas_polish_name(session->context));
        } else {
            write_string(&w, "error", outcome->error);
        }
        write_close(&w);
    }
}

static void write_rows(struct session *session, const struct patch_run *run)
{
    struct table table;
    size_t columns = strlen(run->analysis->alignment);
    char headers[256], alignment[TABLE_COLUMNS + 1];
    snprintf(headers, sizeof headers, "patch|%s", run->analysis->headers);
    snprintf(alignment, sizeof alignment, "l%s", run->analysis->alignment);
    table_open(&table, &session->context->allocator, headers, alignment);
    for (size_t i = 0; i < run->n; i++) {
        const struct patch_outcome *outcome = &run->outcomes[i];
        table_text(&table, outcome->name);
        if (outcome->status == PARITAS_OK) {
            run->analysis->write_cells(&table, outcome->result);
            continue;
        }
        for (size_t k = 0; k + 1 < columns; k++) table_text(&table, "-");
        table_text(&table, "failed");
    }
    table_close(&table, &session->out);
    for (size_t i = 0; i < run->n; i++)
        if (run->outcomes[i].status != PARITAS_OK)
            text_format(&session->out, "%s: %s\n", run->outcomes[i].name, run->outcomes[i].error);
}

paritas_status run_patches(struct session *session, const struct patch_analysis *analysis)
{
    struct patch_run run = {.analysis = analysis, .first = session};
    paritas_workspace *patchset = NULL;
    const char *path = option_text(session->arguments, "--patchset", NULL);
    struct patch_worker workers[WORKERS_MAX];
    memset(workers, 0, sizeof workers);
    paritas_status status = paritas_workspace_read(session->context, path, &patchset);
    if (status == PARITAS_OK)
        status =
            paritas_workspace_read(session->context, session->arguments->operands[0], &session->workspace);
    if (status == PARITAS_OK)
        status = paritas_patchset_verify(session->context, session->workspace, patchset);
    if (status == PARITAS_OK) status = apply_patches(session);
    if (status == PARITAS_OK) status = list_patches(session, patchset, &run);
    if (status == PARITAS_OK) {
        const size_t n_workers = worker_count(session, run.n);
        run.background = session->workspace;
        run.label = patchset->label;
        atomic_init(&run.next, 0);
        if (n_workers > 0) run_workers(&run, n_workers, workers);
        size_t n_failed = 0;
        for (size_t i = 0; i < run.n; i++) {
            if (run.outcomes[i].status != PARITAS_OK)
                n_failed++;
            else if (!analysis->converged(run.outcomes[i].result))
                session->not_converged = true;
        }
        if (session->json)
            write_lines(session, &run);
        else
            write_rows(session, &run);
        if (n_failed > 0) {
            session->partial = true;
            status =
                paritas_fail(session->context, PARITAS_INVALID_INPUT,
                             "%s: %zu of %zu patches failed; their lines say why", path, n_failed, run.n);
        }
    }
    paritas_workspace_free(patchset);
    return status;
}
