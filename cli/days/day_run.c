/* day_run.c: runs days: read, fit, write tables. */
#define _POSIX_C_SOURCE 200809L
#include "days/day_run.h"
#include "days/day_provenance.h"
#include "table.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct option options_tables[] = {
    {"--output-folder", 'o', OPTION_TEXT, "DIR", "the tables are written there; made where it is not there"},
    {"--overwrite", 0, OPTION_FLAG, NULL,
     "tables that other options, inputs or versions made are replaced; default: they are refused"},
    {"--json", 0, OPTION_FLAG, NULL, "answer as one JSON document"},
    {"--quiet", 0, OPTION_FLAG, NULL, "no progress and no notes on standard error"},
    {"--help", 'h', OPTION_FLAG, NULL, "this text"},
    {0},
};

#define TEXT_DIGEST "csv_sha256" /* array of the text's digest */

/* Read by the thread beside, then answered. */
struct loading {
    const struct state *state;
    const struct day *day;
    const struct sources *sources;
    paritas_context *context;                 /* the thread's */
    const struct paritas_workspace *found[2]; /* provenance of existing tables; NULL: none */
    bool answered;                            /* made from these inputs */
    bool other;                               /* made from others */
    /* first table with damaged bytes; -1: none */
    int damaged;
    struct sweeps sweeps;
    paritas_status status;
};

struct state {
    struct session *session;
    const struct day_run *run;
    const struct sources *sources;
    const char *folder;
    bool overwrite;
    struct days days;
    struct paritas_workspace *wanted; /* this run's version, command, options */
    struct paritas_workspace **made;  /* provenance of each day's tables */
    struct paritas_workspace *found[2];
    bool *resumed;
    const char **errors; /* why a day could not be read; NULL: it could */
    size_t n_errors;
    struct loading loading;
    pthread_t thread;
    bool running;
    uint64_t sweeps_done, days_made;
    struct {
        size_t days, first; /* with sweeps, all missing in the table */
    } unmatched[SOURCES_TABLES];
};

static void write_head(struct session *session, const struct json *options, struct writer *writer)
{
    write_object(writer, NULL, true);
    write_string(writer, "paritas", paritas_version());
    write_string(writer, "command", session->arguments->command->name);
    if (!options) return;
    write_object(writer, "options", true);
    for (const struct json *one = options->first; one; one = one->next) write_tree(writer, one->key, one);
    write_close(writer);
}

static paritas_status make_wanted(struct state *state)
{
    struct session *session = state->session;
    struct text text;
    struct writer writer;
    text_open(&text, &session->context->allocator);
    writer_open(&writer, &text, false);
    write_head(session, NULL, &writer);
    write_object(&writer, "options", true);
    state->run->describe(state->run->user, &writer);
    paritas_status status = sources_describe(session, state->sources, &writer);
    write_string(&writer, "precision", paritas_precision_name(session->context));
    write_close(&writer);
    write_close(&writer);
    if (status == PARITAS_OK && text.failed) status = paritas_fail_memory(session->context);
    if (status == PARITAS_OK)
        status = json_read(session->context, text.bytes, text.length, "options", &state->wanted);
    text_free(&text);
    return status;
}

static paritas_status table_path(const struct state *state, const struct day *day, const char *ending,
                                 char path[4096])
{
    const int length =
        snprintf(path, 4096, "%s/%s_%s.%s", state->folder, state->run->stem, day->date, ending);
    return length < 4096 ? PARITAS_OK
                         : paritas_fail(state->session->context, PARITAS_UNWRITABLE,
                                        "%s: the path is too long", state->folder);
}

static const char *const endings[2] = {"npz", "csv"};

/* Refuses other options unless overwriting is allowed. */
static paritas_status find_tables(struct state *state, const struct day *day,
                                  struct paritas_workspace *found[2])
{
    paritas_context *context = state->session->context;
    found[0] = found[1] = NULL;
    for (int i = 0; i < 2 && day->date[0] != '\0'; i++) {
        char path[4096], difference[256];
        paritas_status status = table_path(state, day, endings[i], path);
        if (status != PARITAS_OK) return status;
        status = i == 0 ? npz_provenance(context, path, &found[i]) : csv_provenance(context, path, &found[i]);
        if (status == PARITAS_INVALID_INPUT && state->overwrite) continue;
        if (status != PARITAS_OK) return status;
        if (!found[i] ||
            !provenance_differs(context, found[i]->root, state->wanted->root, difference, sizeof difference))
            continue;
        if (!state->overwrite)
            return paritas_fail(context, PARITAS_INVALID_INPUT,
                                "%s: was made otherwise: %s; --overwrite replaces it", path, difference);
        paritas_workspace_free(found[i]);
        found[i] = NULL;
    }
    return PARITAS_OK;
}

/* Checks all days first: no refusal after hours. */
static paritas_status check_tables(struct state *state)
{
    paritas_status status = PARITAS_OK;
    for (size_t k = 0; k < state->days.n && status == PARITAS_OK; k++) {
        struct paritas_workspace *found[2];
        status = find_tables(state, &state->days.days[k], found);
        paritas_workspace_free(found[0]);
        paritas_workspace_free(found[1]);
    }
    return status;
}

static paritas_status same_inputs(struct loading *loading, bool *same)
{
    *same = true;
    char digest[65];
    for (size_t i = 0; i < loading->day->n; i++) {
        const paritas_status status = file_digest(loading->context, loading->day->files[i].path, digest);
        if (status != PARITAS_OK) return status;
        for (int k = 0; k < 2; k++) {
            const struct json *inputs = json_get(loading->found[k]->root, "inputs"),
                              *input = json_at(inputs, i);
            *same = *same && json_is(inputs, JSON_ARRAY) && inputs->count == loading->day->n &&
                    json_text_is(json_get(input, "sha256"), digest);
        }
    }
    return PARITAS_OK;
}

/* Arrays have checksums, the text a digest. */
static paritas_status check_bytes(struct loading *loading)
{
    char path[2][4096], digest[65], written[65];
    bool whole = false;
    for (int i = 0; i < 2; i++) table_path(loading->state, loading->day, endings[i], path[i]);
    paritas_status status = npz_whole(loading->context, path[0], TEXT_DIGEST, &whole, written);
    if (status == PARITAS_OK) status = file_digest(loading->context, path[1], digest);
    if (status == PARITAS_OK) loading->damaged = !whole ? 0 : strcmp(digest, written) != 0 ? 1 : -1;
    return status;
}

static void *load(void *user)
{
    struct loading *loading = user;
    loading->status = loading->day->date[0] != '\0'
                          ? PARITAS_OK
                          : no_day_file(loading->context, loading->day->files[0].path);
    if (loading->found[0] && loading->found[1]) {
        loading->status = same_inputs(loading, &loading->answered);
        loading->other = !loading->answered;
        if (loading->status == PARITAS_OK && loading->answered) loading->status = check_bytes(loading);
        loading->answered = loading->answered && loading->damaged < 0;
    }
    if (loading->status == PARITAS_OK && !loading->answered)
        loading->status = sweeps_load(loading->context, loading->sources, loading->day, &loading->sweeps);
    return NULL;
}

static paritas_status start_loading(struct state *state, size_t k)
{
    struct loading *loading = &state->loading;
    paritas_context *context = loading->context;
    const paritas_status status = find_tables(state, &state->days.days[k], state->found);
    *loading = (struct loading){.state = state,
                                .day = &state->days.days[k],
                                .sources = state->sources,
                                .context = context,
                                .found = {state->found[0], state->found[1]},
                                .damaged = -1};
    if (status != PARITAS_OK) return status;
    state->running = pthread_create(&state->thread, NULL, load, loading) == 0;
    if (!state->running) load(loading); /* no thread: read here */
    return PARITAS_OK;
}

static void end_loading(struct state *state)
{
    if (state->running) pthread_join(state->thread, NULL);
    state->running = false;
}

/* Text first: the arrays hold its digest. */
static paritas_status write_tables(struct state *state, const struct day *day, const char *document,
                                   struct day_tables *tables)
{
    paritas_context *context = state->session->context;
    char path[4096], digest[65];
    const char *text = digest;
    if (tables->rows.failed || tables->arrays.failed) return paritas_fail_memory(context);
    paritas_status status = table_path(state, day, endings[1], path);
    if (status == PARITAS_OK)
        status = csv_write(context, path, document, tables->rows.n, tables->rows.columns);
    if (status == PARITAS_OK) status = file_digest(context, path, digest);
    column_add(&tables->arrays, TEXT_DIGEST, "", COLUMN_TEXT, 1, 64, &text);
    if (tables->arrays.failed) return paritas_fail_memory(context);
    tables->arrays.columns[tables->arrays.n - 1].scalar = true;
    if (status == PARITAS_OK) status = table_path(state, day, endings[0], path);
    if (status == PARITAS_OK)
        status = npz_write(context, path, document, tables->arrays.n, tables->arrays.columns);
    return status;
}

static void write_inputs(struct writer *writer, const struct day *day, const struct sweeps *sweeps)
{
    write_array(writer, "inputs", true);
    for (size_t i = 0; i < day->n; i++) {
        write_object(writer, NULL, false);
        write_path(writer, "file", file_name(day->files[i].path));
        write_string(writer, "sha256", sweeps->digests[i]);
        write_close(writer);
    }
    write_close(writer);
}

static paritas_status make_day(struct state *state, size_t k, const struct day *day, struct sweeps *sweeps)
{
    struct session *session = state->session;
    struct day_tables tables;
    struct arena arena;
    struct text text;
    struct writer writer;
    arena_open(&arena, &session->context->allocator);
    text_open(&text, &session->context->allocator);
    writer_open(&writer, &text, false);
    column_list_open(&tables.rows, &arena);
    column_list_open(&tables.arrays, &arena);
    write_head(session, json_get(state->wanted->root, "options"), &writer);
    write_inputs(&writer, day, sweeps);
    write_object(&writer, "run", false);
    write_string(&writer, "device", paritas_device_name(session->context));
    write_close(&writer);
    write_object(&writer, "answer", true);
    write_integer(&writer, "sweeps", sweeps->n);
    /* numbers of days are far apart: a sweep has the same random numbers in any run */
    const uint64_t first = (uint64_t)day->files[0].date << 24;
    paritas_status status = state->run->answer(session, state->run->user, state->sources, sweeps, first,
                                               &arena, &tables, &writer);
    write_reasons(&writer, sweeps->day);
    write_close(&writer);
    write_close(&writer);
    text_append(&text, "", 1);
    if (status == PARITAS_OK && text.failed) status = paritas_fail_memory(session->context);
    if (status == PARITAS_OK) status = write_tables(state, day, text.bytes, &tables);
    if (status == PARITAS_OK)
        status = json_read(session->context, text.bytes, text.length - 1, "provenance", &state->made[k]);
    text_free(&text);
    arena_free(&arena);
    return status;
}

static paritas_status one_day(struct state *state, size_t k)
{
    struct session *session = state->session;
    end_loading(state);
    struct loading loaded = state->loading;
    struct paritas_workspace *found[2] = {state->found[0], state->found[1]};
    state->found[0] = state->found[1] = NULL;
    state->loading.sweeps = (struct sweeps){.n = 0};
    paritas_status status = loaded.status;
    char path[4096];
    if (status == PARITAS_INVALID_INPUT || status == PARITAS_UNREADABLE) {
        /* a bad file costs its day, not the run */
        const char *message = paritas_error_message(loaded.context);
        state->errors[k] = arena_text(&session->arena, message, strlen(message));
        state->n_errors++;
        status = state->errors[k] ? PARITAS_OK : paritas_fail_memory(session->context);
    } else if (status != PARITAS_OK) {
        paritas_fail(session->context, status, "%s", paritas_error_message(loaded.context));
    } else if (loaded.other && !state->overwrite) {
        status = table_path(state, loaded.day, endings[1], path);
        if (status == PARITAS_OK)
            status = paritas_fail(session->context, PARITAS_INVALID_INPUT,
                                  "%s: was made from other files than %s; --overwrite replaces it", path,
                                  loaded.day->files[0].path);
    }
    if (loaded.damaged >= 0 && status == PARITAS_OK &&
        table_path(state, loaded.day, endings[loaded.damaged], path) == PARITAS_OK)
        paritas_note(session->context, "%s: is damaged; the tables of this day are made again", path);
    if (status == PARITAS_OK && k + 1 < state->days.n) status = start_loading(state, k + 1);
    if (status == PARITAS_OK && loaded.answered) {
        state->made[k] = found[1];
        state->resumed[k] = true;
        found[1] = NULL;
    } else if (status == PARITAS_OK && !state->errors[k]) {
        status = make_day(state, k, loaded.day, &loaded.sweeps);
        state->sweeps_done += loaded.sweeps.n;
        state->days_made++;
        for (size_t i = 0; i < SOURCES_TABLES; i++)
            if (state->sources->tables[i] && loaded.sweeps.n > 0 && loaded.sweeps.matched[i] == 0 &&
                state->unmatched[i].days++ == 0)
                state->unmatched[i].first = k;
        const uint64_t left = state->days.n - k - 1;
        progress_estimate(&session->progress, state->sweeps_done,
                          state->sweeps_done + left * (state->sweeps_done / state->days_made));
    }
    sweeps_free(&loaded.sweeps);
    paritas_workspace_free(found[0]);
    paritas_workspace_free(found[1]);
    return status;
}

/* NULL: the day could not be read. */
static const struct json *answer_of(const struct state *state, size_t k)
{
    return state->made[k] ? json_get(state->made[k]->root, "answer") : NULL;
}

static double number_of(const struct json *object, const char *key)
{
    const struct json *node = json_get(object, key);
    return json_is(node, JSON_NUMBER) ? node->number : NAN;
}

static void answer_json(struct state *state)
{
    struct session *session = state->session;
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_array(w, "days", true);
    for (size_t k = 0; k < state->days.n; k++) {
        char path[4096];
        write_object(w, NULL, false);
        write_string(w, "date", state->days.days[k].date[0] != '\0' ? state->days.days[k].date : NULL);
        const struct json *answer = answer_of(state, k);
        for (int i = 0; i < 2 && answer; i++)
            if (table_path(state, &state->days.days[k], endings[i], path) == PARITAS_OK)
                write_path(w, endings[i], path);
        if (answer)
            write_bool(w, "resumed", state->resumed[k]);
        else
            write_string(w, "error", state->errors[k]);
        for (const struct json *one = answer ? answer->first : NULL; one; one = one->next)
            if (strcmp(one->key, "reason_codes") != 0) write_tree(w, one->key, one);
        write_close(w);
    }
    write_close(w);
    write_tree(w, "options", json_get(state->wanted->root, "options"));
    write_string(w, "device", paritas_device_name(session->context));
    write_string(w, "precision", paritas_precision_name(session->context));
    write_close(w);
}

/* Median columns: of the first day that has any. */
static void answer_table(struct state *state)
{
    struct session *session = state->session;
    const struct json *medians = NULL;
    for (size_t k = 0; k < state->days.n && !medians; k++) medians = json_get(answer_of(state, k), "medians");
    struct text headers;
    struct table table;
    char alignment[TABLE_COLUMNS + 1] = "lrr";
    size_t columns = 3;
    text_open(&headers, &session->context->allocator);
    text_format(&headers, "day|sweeps|fitted");
    for (const struct json *one = medians ? medians->first : NULL; one && columns + 1 < TABLE_COLUMNS;
         one = one->next) {
        text_format(&headers, "|%s", one->key);
        alignment[columns++] = 'r';
    }
    text_format(&headers, "|");
    alignment[columns++] = 'l';
    text_append(&headers, "", 1);
    if (headers.failed) {
        session->out.failed = true;
        return;
    }
    text_format(&session->out, "tables in %s; numbers of a day are medians\n\n", state->folder);
    table_open(&table, &session->out, headers.bytes, alignment);
    text_free(&headers);
    for (size_t k = 0; k < state->days.n; k++) {
        const struct json *answer = answer_of(state, k), *of_day = json_get(answer, "medians");
        table_text(&table, state->days.days[k].date[0] != '\0' ? state->days.days[k].date : "-");
        table_number(&table, number_of(answer, "sweeps"), 9);
        table_number(&table, number_of(answer, "fitted"), 9);
        size_t column = 3;
        for (const struct json *one = medians ? medians->first : NULL; one && column + 1 < columns;
             one = one->next, column++)
            table_number(&table, number_of(of_day, one->key), 4);
        table_text(&table, state->errors[k] ? "could not be read" : state->resumed[k] ? "already there" : "");
    }
    table_close(&table);
}

/* Outcomes and masks over all days. */
static void answer_counts(struct state *state, const char *key, const char *title)
{
    struct text *out = &state->session->out;
    bool any = false;
    /* names in the order of their first day */
    for (size_t k = 0; k < state->days.n; k++) {
        const struct json *counts = json_get(answer_of(state, k), key);
        for (const struct json *one = counts ? counts->first : NULL; one; one = one->next) {
            bool known = false;
            for (size_t before = 0; before < k && !known; before++)
                known = json_get(json_get(answer_of(state, before), key), one->key);
            if (known) continue;
            double sum = 0.0;
            const char *unit = "";
            for (size_t later = k; later < state->days.n; later++) {
                const struct json *count = json_get(json_get(answer_of(state, later), key), one->key);
                if (json_is(count, JSON_OBJECT))
                    unit = json_is(json_get(count, "unit"), JSON_STRING) ? json_get(count, "unit")->text : "";
                const double value = json_is(count, JSON_OBJECT)   ? number_of(count, "count")
                                     : json_is(count, JSON_NUMBER) ? count->number
                                                                   : 0.0;
                if (!isnan(value)) sum += value;
            }
            text_format(out, "%s%s %.0f%s%s%s", any ? ", " : title, one->key, sum, unit[0] != '\0' ? " " : "",
                        unit, unit[0] != '\0' && sum != 1.0 ? "s" : "");
            any = true;
        }
    }
    if (any) text_format(out, "\n");
}

static void answer_of_run(struct state *state)
{
    struct session *session = state->session;
    if (session->json) {
        answer_json(state);
        return;
    }
    answer_table(state);
    text_format(&session->out, "\n");
    answer_counts(state, "statuses", "sweeps: ");
    answer_counts(state, "spacecraft_potentials", "spacecraft potentials: ");
    answer_counts(state, "preferred", "lesser misfit: ");
    answer_counts(state, "reasons", "masked: ");
}

static paritas_status make_folder(struct state *state)
{
    struct session *session = state->session;
    struct stat info;
    if (mkdir(state->folder, 0777) != 0 && errno != EEXIST)
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: cannot be made: %s", state->folder,
                            strerror(errno));
    if (stat(state->folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: is no folder", state->folder);
    if (access(state->folder, W_OK | X_OK) != 0)
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", state->folder,
                            strerror(errno));
    return PARITAS_OK;
}

/* For the reading thread: one thread, CPU, f64. */
static paritas_status open_beside(struct session *session, paritas_context **beside)
{
    paritas_options options = session->options;
    options.device = "cpu";
    options.precision = 64;
    options.threads = 1;
    options.progress = NULL;
    options.note = NULL;
    const paritas_status status = paritas_open(&options, beside);
    return status == PARITAS_OK
               ? status
               : paritas_fail(session->context, status, "%s",
                              *beside ? paritas_error_message(*beside) : paritas_status_message(status));
}

static void note_unmatched(const struct state *state)
{
    for (size_t i = 0; i < SOURCES_TABLES; i++) {
        if (state->unmatched[i].days == 0) continue;
        paritas_note(state->session->context,
                     "%s: has no sweep of %zu of the %llu days that were read; the first is %s",
                     option_text(state->session->arguments, sources_options[i], ""), state->unmatched[i].days,
                     (unsigned long long)state->days_made, state->days.days[state->unmatched[i].first].date);
    }
}

/* The most frequent reason; NULL: none. */
static const struct json *most_of(const struct json *counts)
{
    const struct json *most = NULL;
    for (const struct json *one = json_is(counts, JSON_OBJECT) ? counts->first : NULL; one; one = one->next)
        if (strcmp(one->key, "found") != 0 && (!most || one->number > most->number)) most = one;
    return most;
}

/* Days with sweeps but no answer; the reason of the first. */
static void note_unanswered(const struct state *state)
{
    size_t days = 0, first = 0;
    for (size_t k = 0; k < state->days.n; k++)
        if (number_of(answer_of(state, k), "fitted") == 0.0 &&
            number_of(answer_of(state, k), "sweeps") > 0.0 && days++ == 0)
            first = k;
    const struct json *answer = days > 0 ? answer_of(state, first) : NULL,
                      *reason = most_of(json_get(answer, "statuses"));
    if (!reason) return;
    const bool potential = strcmp(reason->key, "no_spacecraft_potential") == 0,
               polarity = strcmp(reason->key, paritas_er_reason_name(PARITAS_ER_POLARITY)) == 0;
    const struct json *cause = potential ? most_of(json_get(answer, "spacecraft_potentials")) : NULL;
    char more[160] = "", which[80];
    if (cause)
        snprintf(more, sizeof more, " (spacecraft_potential_status %s %.0f)", cause->key, cause->number);
    if (days > 1)
        snprintf(which, sizeof which, "%zu days has an answer; %s", days, state->days.days[first].date);
    else
        snprintf(which, sizeof which, "%s has an answer", state->days.days[first].date);
    paritas_note(state->session->context, "no sweep of %s: %s %.0f of %.0f%s%s", which, reason->key,
                 reason->number, number_of(answer, "sweeps"), more,
                 potential ? "; --spacecraft-potential V|FILE gives potentials, --illumination or --geometry "
                             "says whether the spacecraft is in sunlight"
                 : polarity ? "; see --polarity"
                            : "");
}

paritas_status day_run(struct session *session, const struct day_run *run, const struct sources *sources)
{
    struct state state = {.session = session,
                          .run = run,
                          .sources = sources,
                          .folder = option_text(session->arguments, "--output-folder", NULL)};
    state.overwrite = option_flag(session->arguments, "--overwrite");
    if (!state.folder)
        return usage_failure(session, "%s needs -o DIR, where its tables go",
                             session->arguments->command->name);
    session->context->progress = NULL; /* one progress line for the run, not for each fit */
    session->progress.unit = "sweeps";
    paritas_status status = days_find(session, &state.days);
    if (status == PARITAS_OK) status = sources_check_days(session, sources, state.days.n);
    if (status == PARITAS_OK) status = make_folder(&state);
    if (status == PARITAS_OK) status = make_wanted(&state);
    if (status == PARITAS_OK) status = check_tables(&state);
    if (status == PARITAS_OK) status = open_beside(session, &state.loading.context);
    paritas_context *beside = state.loading.context;
    state.made = arena_array(&session->arena, state.days.n + 1, sizeof *state.made);
    state.resumed = arena_array(&session->arena, state.days.n + 1, sizeof *state.resumed);
    state.errors = arena_array(&session->arena, state.days.n + 1, sizeof *state.errors);
    if (status == PARITAS_OK && (!state.made || !state.resumed || !state.errors))
        status = paritas_fail_memory(session->context);
    if (status == PARITAS_OK) status = start_loading(&state, 0);
    for (size_t k = 0; k < state.days.n && status == PARITAS_OK; k++) status = one_day(&state, k);
    if (status == PARITAS_OK) note_unmatched(&state);
    if (status == PARITAS_OK) note_unanswered(&state);
    if (status == PARITAS_OK) answer_of_run(&state);
    if (status == PARITAS_OK && state.n_errors > 0) {
        size_t k = 0;
        while (!state.errors[k]) k++;
        session->partial = true;
        status =
            paritas_fail(session->context, PARITAS_INVALID_INPUT, "%zu of %zu days could not be read: %s%s",
                         state.n_errors, state.days.n, state.errors[k], state.n_errors > 1 ? ", ..." : "");
    }
    end_loading(&state);
    sweeps_free(&state.loading.sweeps);
    paritas_workspace_free(state.found[0]);
    paritas_workspace_free(state.found[1]);
    for (size_t k = 0; k < state.days.n && state.made; k++) paritas_workspace_free(state.made[k]);
    paritas_workspace_free(state.wanted);
    paritas_close(beside);
    return status;
}
