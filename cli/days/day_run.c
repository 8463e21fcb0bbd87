/* day_run.c: runs days: read, fit, write tables. */
#define _POSIX_C_SOURCE 200809L
#include "days/day_run.h"
#include "base/platform.h"
#include "days/day_columns.h"
#include "days/day_losscone.h"
#include "days/day_provenance.h"
#include "print/table.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

const struct option options_tables[] = {
    {"--output-folder", OPTION_TEXT, "DIR", "folder for the tables; created if it does not exist",
     .letter = 'o'},
    {"--overwrite", OPTION_FLAG, NULL,
     "replace tables made with other options, inputs or versions; default: refuse them"},
    {"--json", OPTION_FLAG, NULL, "answer as one JSON document"},
    {"--quiet", OPTION_FLAG, NULL, "no progress and no notes on standard error"},
    {"--help", OPTION_FLAG, NULL, "this text", .letter = 'h'},
    {0},
};

enum { NPZ, CSV, TABLES };
static const char *const endings[TABLES] = {"npz", "csv"};
#define CLEARLY (2.0 / 3.0)      /* so many sweeps that prefer a model make it the day's */
#define TEXT_DIGEST "csv_sha256" /* array of the text's digest */

/* Read by the thread beside, then answered. */
struct loading {
    const struct state *state;
    const paritas_day *day;
    const struct sources *sources;
    paritas_context *context;                /* the thread's */
    struct paritas_workspace *found[TABLES]; /* provenance of existing tables; NULL: none */
    bool answered;                           /* made from these inputs */
    bool other;                              /* made from others */
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
    paritas_days *days;
    struct paritas_workspace *wanted; /* this run's version, command, options */
    struct paritas_workspace **made;  /* provenance of each day's tables */
    bool *resumed;
    const char **errors; /* why a day could not be read; NULL: it could */
    size_t n_errors;
    struct loading loading;
    pthread_t thread;
    bool running;
    uint64_t sweeps_done, days_made;
    struct {
        size_t days, first; /* with sweeps, all missing in the source */
    } unmatched[SOURCES];
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

static paritas_status table_path(const struct state *state, const paritas_day *day, int table,
                                 char path[4096])
{
    const int length =
        snprintf(path, 4096, "%s/%s_%s.%s", state->folder, state->run->stem, day->date, endings[table]);
    return length < 4096 ? PARITAS_OK
                         : paritas_fail(state->session->context, PARITAS_UNWRITABLE,
                                        "%s: the path is too long", state->folder);
}

/* Nobody knows who made a file whose provenance cannot be read. */
static paritas_status refuse_unread(struct state *state)
{
    paritas_context *context = state->session->context;
    char message[sizeof context->message];
    memcpy(message, context->message, sizeof message);
    return wrong_input(state->session, "%s; --overwrite replaces the file", message);
}

/* Refuses other options unless overwriting is allowed. */
static paritas_status find_table(struct state *state, const paritas_day *day, int table,
                                 struct paritas_workspace **found)
{
    paritas_context *context = state->session->context;
    char path[4096];
    struct text difference;
    TRY(table_path(state, day, table, path));
    paritas_status status = (table == NPZ ? npz_provenance : csv_provenance)(context, path, found);
    if (status == PARITAS_INVALID_INPUT) return state->overwrite ? PARITAS_OK : refuse_unread(state);
    if (status != PARITAS_OK || !*found) return status;
    text_open(&difference, &context->allocator);
    if (provenance_differs((*found)->root, state->wanted->root, &difference)) {
        text_append(&difference, "", 1);
        if (!state->overwrite)
            status = wrong_input(state->session, "%s: was made otherwise: %s; --overwrite replaces it", path,
                                 difference.failed ? "" : difference.bytes);
        paritas_workspace_free(*found);
        *found = NULL;
    }
    text_free(&difference);
    return status;
}

static paritas_status find_tables(struct state *state, const paritas_day *day,
                                  struct paritas_workspace *found[TABLES])
{
    found[NPZ] = found[CSV] = NULL;
    for (int i = 0; i < TABLES && day->date[0] != '\0'; i++) TRY(find_table(state, day, i, &found[i]));
    return PARITAS_OK;
}

static void free_tables(struct paritas_workspace *found[TABLES])
{
    for (int i = 0; i < TABLES; i++) paritas_workspace_free(found[i]);
}

/* Checks all days first: no refusal after hours. */
static paritas_status check_tables(struct state *state)
{
    paritas_status status = PARITAS_OK;
    for (size_t k = 0; k < state->days->n && status == PARITAS_OK; k++) {
        struct paritas_workspace *found[TABLES];
        status = find_tables(state, &state->days->days[k], found);
        free_tables(found);
    }
    return status;
}

/* The files of a day, then those of the magnetometer; NULL: no more. */
static const paritas_day_file *input_of(const struct sources *sources, const paritas_day *day, size_t at)
{
    if (at < day->n) return &day->files[at];
    at -= day->n;
    for (size_t i = 0; i < sources->n_mags; i++)
        if (sources_mag_is_of(&sources->mags[i], day) && at-- == 0) return &sources->mags[i];
    return NULL;
}

static paritas_status same_inputs(struct loading *loading, bool *same)
{
    *same = true;
    char digest[65];
    size_t n = 0;
    for (const paritas_day_file *file; (file = input_of(loading->sources, loading->day, n)); n++) {
        TRY(sha256_file(loading->context, file->path, digest));
        for (int k = 0; k < TABLES; k++) {
            const struct json *input = json_at(json_get(loading->found[k]->root, "inputs"), n);
            *same = *same && json_text_is(json_get(input, "sha256"), digest);
        }
    }
    for (int k = 0; k < TABLES; k++) {
        const struct json *inputs = json_get(loading->found[k]->root, "inputs");
        *same = *same && json_is(inputs, JSON_ARRAY) && inputs->count == n;
    }
    return PARITAS_OK;
}

/* Arrays have checksums, the text a digest. */
static paritas_status check_bytes(struct loading *loading)
{
    char path[TABLES][4096], digest[65], written[65];
    bool whole = false;
    for (int i = 0; i < TABLES; i++) TRY(table_path(loading->state, loading->day, i, path[i]));
    TRY(npz_whole(loading->context, path[NPZ], TEXT_DIGEST, &whole, written));
    TRY(sha256_file(loading->context, path[CSV], digest));
    loading->damaged = !whole ? NPZ : strcmp(digest, written) != 0 ? CSV : -1;
    return PARITAS_OK;
}

static paritas_status load_day(struct loading *loading)
{
    paritas_context *context = loading->context;
    if (loading->found[NPZ] && loading->found[CSV]) {
        TRY(same_inputs(loading, &loading->answered));
        loading->other = !loading->answered;
        if (loading->answered) TRY(check_bytes(loading));
        loading->answered = loading->answered && loading->damaged < 0;
    }
    return loading->answered ? PARITAS_OK
                             : sweeps_load(context, loading->sources, loading->day, &loading->sweeps);
}

static void *load(void *user)
{
    struct loading *loading = user;
    loading->status = load_day(loading);
    return NULL;
}

static paritas_status start_loading(struct state *state, size_t k)
{
    struct loading *loading = &state->loading;
    *loading = (struct loading){.state = state,
                                .day = &state->days->days[k],
                                .sources = state->sources,
                                .context = loading->context,
                                .damaged = -1};
    TRY(find_tables(state, loading->day, loading->found));
    state->running = pthread_create(&state->thread, NULL, load, loading) == 0;
    if (!state->running) load(loading); /* no thread: read here */
    return PARITAS_OK;
}

static void end_loading(struct state *state)
{
    if (state->running) pthread_join(state->thread, NULL);
    state->running = false;
}

/* Arrays hold every column of the text, as spec_NAME. */
static void complete_arrays(struct day_work *work)
{
    for (size_t i = 0; i < work->rows.n; i++) {
        const struct column *column = &work->rows.columns[i];
        if (!column_values(&work->arrays, "spec_", column->name))
            column_add(&work->arrays, "spec_", column->name, column->kind, column->rows, column->width,
                       column->values);
    }
}

/* Text first: the arrays hold its digest. */
static paritas_status put_tables(struct day_work *work, const char *document,
                                 struct output_file files[TABLES], char paths[TABLES][4096])
{
    paritas_context *context = work->session->context;
    char digest[65];
    const char *text = digest;
    TRY(csv_put(context, &files[CSV], paths[CSV], document, work->rows.n, work->rows.columns));
    TRY(sha256_open_file(context, paths[CSV], files[CSV].file, digest));
    complete_arrays(work);
    column_add(&work->arrays, TEXT_DIGEST, "", COLUMN_TEXT, 1, 64, &text);
    TRY(allocated(work->session));
    work->arrays.columns[work->arrays.n - 1].scalar = true;
    return npz_put(context, &files[NPZ], paths[NPZ], document, work->arrays.n, work->arrays.columns);
}

/* Both tables or neither: on a full disk too. */
static paritas_status write_tables(struct state *state, const paritas_day *day, const char *document,
                                   struct day_work *work)
{
    paritas_context *context = state->session->context;
    char paths[TABLES][4096];
    struct output_file files[TABLES];
    int opened = 0, named = 0;
    TRY(allocated(state->session));
    for (int i = 0; i < TABLES; i++) TRY(table_path(state, day, i, paths[i]));
    while (opened < TABLES && output_open(&files[opened], paths[opened])) opened++;
    paritas_status status = opened < TABLES ? columns_unwritable(context, paths[opened])
                                            : put_tables(work, document, files, paths);
    for (int i = 0; i < opened; i++)
        if (!output_seal(&files[i]) && status == PARITAS_OK) status = columns_unwritable(context, paths[i]);
    for (int i = 0; i < opened; i++) {
        if (output_name(&files[i], status == PARITAS_OK))
            named++;
        else if (status == PARITAS_OK)
            status = columns_unwritable(context, paths[i]);
    }
    for (int i = 0; i < named && status != PARITAS_OK; i++) platform_remove(paths[i]);
    return status;
}

/* A line a column of the text. */
static void write_columns(struct writer *writer, const struct column_list *list)
{
    write_object(writer, "columns", true);
    for (size_t i = 0; i < list->n; i++) write_string(writer, list->columns[i].name, list->columns[i].unit);
    write_close(writer);
}

static double number_of(const struct json *object, const char *key)
{
    const struct json *node = json_get(object, key);
    return json_is(node, JSON_NUMBER) ? node->number : NAN;
}

#define MAG_SKIPPED "rows_skipped"

/* What is out of the ordinary with a file, in its input of the provenance and in a note. */
static const struct oddity {
    const char *key, *note; /* %s: the file; %.0f: the number; %s: the files before */
} oddities[] = {
    {"sweeps_repeated", "%s: %.0f of its sweeps are in %s too and count once"},
    {"sweeps_with_other_data",
     "%s: %.0f of its sweeps have other data in %s; the sweep with more rows counts, else the first"},
    {"added_to_numbers", "%s: %.0f is added to its spectrum numbers; other sweeps have them in %s"},
    {"sweeps_of_other_days", "%s: %.0f of its sweeps are of other days"},
    {MAG_SKIPPED, "%s: %.0f of its rows are no records of the magnetometer and left out"},
};

static void write_share(struct writer *writer, const paritas_day_share *share)
{
    const uint64_t numbers[] = {share->repeated, share->other, (uint64_t)share->shift, share->strays};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] != 0) write_integer(writer, oddities[i].key, (size_t)numbers[i]);
}

static void note_oddities(const struct state *state)
{
    for (size_t k = 0; k < state->days->n; k++) {
        const struct json *inputs = state->made[k] ? json_get(state->made[k]->root, "inputs") : NULL;
        const paritas_day *day = &state->days->days[k];
        const paritas_day_file *file;
        for (size_t i = 0; inputs && (file = input_of(state->sources, day, i)); i++)
            for (size_t j = 0; j < COUNT_OF(oddities); j++) {
                const double number = number_of(json_at(inputs, i), oddities[j].key);
                if (number > 0.0)
                    paritas_note(state->session->context, oddities[j].note, file->path, number,
                                 i == 1 ? day->files[0].path : "files before it");
            }
    }
}

static paritas_status write_inputs(struct state *state, struct writer *writer, const paritas_day *day,
                                   const struct sweeps *sweeps)
{
    char digest[65];
    paritas_status status = PARITAS_OK;
    write_array(writer, "inputs", true);
    const paritas_day_file *file;
    for (size_t i = 0; status == PARITAS_OK && (file = input_of(state->sources, day, i)); i++) {
        write_object(writer, NULL, false);
        /* without folders: the digest identifies a file */
        write_path(writer, "file", platform_file_name(file->path));
        if (i >= day->n) status = sha256_file(state->session->context, file->path, digest);
        write_string(writer, "sha256", i < day->n ? sweeps->shares[i].digest : digest);
        if (i < day->n) write_share(writer, &sweeps->shares[i]);
        if (i == day->n && sweeps->mag_skipped > 0)
            write_integer(writer, MAG_SKIPPED, (size_t)sweeps->mag_skipped);
        write_close(writer);
    }
    write_close(writer);
    return status;
}

static paritas_status make_day(struct state *state, size_t k, const paritas_day *day, struct sweeps *sweeps)
{
    struct session *session = state->session;
    struct text text;
    struct writer writer;
    const struct arena outer = arena_begin(session);
    text_open(&text, &session->context->allocator);
    writer_open(&writer, &text, false);
    write_head(session, json_get(state->wanted->root, "options"), &writer);
    paritas_status status = write_inputs(state, &writer, day, sweeps);
    write_object(&writer, "run", false);
    write_string(&writer, "device", paritas_device_name(session->context));
    write_close(&writer);
    write_object(&writer, "answer", true);
    write_integer(&writer, "sweeps", sweeps->n);
    struct day_work work = {.session = session,
                            .sources = state->sources,
                            .sweeps = sweeps,
                            .first = day->first,
                            .rows = {.session = session},
                            .arrays = {.session = session},
                            .writer = &writer};
    if (status == PARITAS_OK) status = state->run->answer(state->run->user, &work);
    write_reasons(&writer, sweeps->day);
    write_close(&writer);
    write_columns(&writer, &work.rows);
    write_close(&writer);
    text_append(&text, "", 1);
    if (status == PARITAS_OK && text.failed) status = paritas_fail_memory(session->context);
    if (status == PARITAS_OK) status = write_tables(state, day, text.bytes, &work);
    if (status == PARITAS_OK)
        status = json_read(session->context, text.bytes, text.length - 1, "provenance", &state->made[k]);
    text_free(&text);
    arena_end(session, outer);
    return status;
}

/* A bad file costs its day, not the run. */
static paritas_status note_failure(struct state *state, size_t k, const struct loading *loaded)
{
    struct session *session = state->session;
    const char *message = paritas_error_message(loaded->context);
    if (loaded->status != PARITAS_INVALID_INPUT && loaded->status != PARITAS_UNREADABLE)
        return paritas_fail(session->context, loaded->status, "%s", message);
    state->errors[k] = arena_copied(session, message, strlen(message));
    state->n_errors++;
    return allocated(session);
}

static void note_made(struct state *state, size_t k, const struct sweeps *sweeps)
{
    state->sweeps_done += sweeps->n;
    state->days_made++;
    for (int i = 0; i < SOURCES; i++)
        if (sources_has(state->sources, i) && sweeps->n > 0 && sweeps_matched(sweeps, i) == 0 &&
            state->unmatched[i].days++ == 0)
            state->unmatched[i].first = k;
    const uint64_t left = state->days->n - k - 1;
    progress_estimate(&state->session->progress, state->sweeps_done,
                      state->sweeps_done + left * (state->sweeps_done / state->days_made));
}

/* Answers the loaded day while the next is read. */
static paritas_status answer_day(struct state *state, size_t k, struct loading *loaded)
{
    paritas_context *context = state->session->context;
    char path[4096];
    if (loaded->status != PARITAS_OK) {
        TRY(note_failure(state, k, loaded));
    } else if (loaded->other && !state->overwrite) {
        TRY(table_path(state, loaded->day, CSV, path));
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: was made from other files than %s; --overwrite replaces it", path,
                            loaded->day->files[0].path);
    }
    if (loaded->damaged >= 0) {
        TRY(table_path(state, loaded->day, loaded->damaged, path));
        paritas_note(context, "%s: is damaged; the tables of this day are made again", path);
    }
    if (k + 1 < state->days->n) TRY(start_loading(state, k + 1));
    if (loaded->answered) {
        state->made[k] = loaded->found[CSV];
        loaded->found[CSV] = NULL;
        state->resumed[k] = true;
        return PARITAS_OK;
    }
    if (state->errors[k]) return PARITAS_OK;
    const paritas_status status = make_day(state, k, loaded->day, &loaded->sweeps);
    note_made(state, k, &loaded->sweeps);
    return status;
}

static paritas_status one_day(struct state *state, size_t k)
{
    end_loading(state);
    struct loading loaded = state->loading;
    state->loading = (struct loading){.context = loaded.context};
    const paritas_status status = answer_day(state, k, &loaded);
    sweeps_free(&loaded.sweeps);
    free_tables(loaded.found);
    return status;
}

/* Returns NULL if the day could not be read. */
static const struct json *answer_of(const struct state *state, size_t k)
{
    return state->made[k] ? json_get(state->made[k]->root, "answer") : NULL;
}

static void answer_json(struct state *state)
{
    struct session *session = state->session;
    struct writer *w = &session->writer;
    write_object(w, NULL, true);
    write_array(w, "days", true);
    for (size_t k = 0; k < state->days->n; k++) {
        char path[4096];
        write_object(w, NULL, false);
        write_string(w, "date", state->days->days[k].date[0] != '\0' ? state->days->days[k].date : NULL);
        const struct json *answer = answer_of(state, k);
        for (int i = 0; i < TABLES && answer; i++)
            if (table_path(state, &state->days->days[k], i, path) == PARITAS_OK)
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
    write_device(session);
    write_close(w);
}

static const struct json *first_of(const struct json *object)
{
    return json_is(object, JSON_OBJECT) ? object->first : NULL;
}

/* Median columns: of the first day that has any. */
static void answer_table(struct state *state)
{
    struct text *out = &state->session->out, headers;
    const struct json *medians = NULL;
    bool judged = false;
    for (size_t k = 0; k < state->days->n && !medians; k++) {
        medians = first_of(json_get(answer_of(state, k), "medians"));
        judged = json_get(answer_of(state, k), "good");
    }
    struct table table;
    char formats[TABLE_COLUMNS + 1] = "l99";
    if (judged) strcat(formats, "9");
    size_t columns = strlen(formats);
    const size_t first_median = columns;
    text_open(&headers, out->allocator);
    text_format(&headers, "day|sweeps|fitted%s", judged ? "|good" : "");
    for (const struct json *one = medians; one && columns + 1 < TABLE_COLUMNS; one = one->next) {
        text_format(&headers, "|%s", one->key);
        formats[columns++] = '4';
    }
    formats[columns++] = 'l';
    text_append(&headers, "|", 2);
    out->failed = out->failed || headers.failed;
    if (headers.failed) return;
    text_format(out, "tables in %s; numbers of a day are medians%s\n\n", state->folder,
                judged ? " of its good sweeps" : "");
    table_open(&table, out, headers.bytes, formats);
    text_free(&headers);
    for (size_t k = 0; k < state->days->n; k++) {
        const struct json *answer = answer_of(state, k), *one = medians;
        table_text(&table, state->days->days[k].date[0] != '\0' ? state->days->days[k].date : "-");
        table_number(&table, number_of(answer, "sweeps"), 9);
        table_number(&table, number_of(answer, "fitted"), 9);
        if (judged) table_number(&table, number_of(answer, "good"), 9);
        for (size_t column = first_median; column + 1 < columns; column++, one = one->next)
            table_number(&table, number_of(json_get(answer, "medians"), one->key), 4);
        table_text(&table, state->errors[k] ? "could not be read" : state->resumed[k] ? "already there" : "");
    }
    table_close(&table);
}

/* Sums the counts of all days. *unit: that of the first day that has one. */
static double sum_of(const struct state *state, const char *key, const char *word, const char **unit)
{
    double sum = 0.0;
    for (size_t k = 0; k < state->days->n; k++) {
        const struct json *count = json_get(json_get(answer_of(state, k), key), word),
                          *named = json_get(count, "unit");
        if (json_is(named, JSON_STRING) && (*unit)[0] == '\0') *unit = named->text;
        if (json_is(count, JSON_OBJECT)) count = json_get(count, "count");
        if (json_is(count, JSON_NUMBER)) sum += count->number;
    }
    return sum;
}

/* "WORD 7" or, with a unit, "WORD 7 rows". */
static void answer_count(struct state *state, const char *key, const char *word)
{
    const char *unit = "";
    const double sum = sum_of(state, key, word, &unit);
    const bool has_unit = unit[0] != '\0';
    text_format(&state->session->out, "%s %.0f%s%s%s", word, sum, has_unit ? " " : "", unit,
                has_unit && sum != 1.0 ? "s" : "");
}

/* Outcomes and masks over all days, in the order of their first day. */
static void answer_counts(struct state *state, const char *key, const char *title)
{
    struct text *out = &state->session->out;
    const char *before = title;
    for (size_t k = 0; k < state->days->n; k++)
        for (const struct json *one = first_of(json_get(answer_of(state, k), key)); one; one = one->next) {
            bool known = false;
            for (size_t i = 0; i < k && !known; i++)
                known = json_get(json_get(answer_of(state, i), key), one->key);
            if (known) continue;
            text_format(out, "%s", before);
            answer_count(state, key, one->key);
            before = ", ";
        }
    if (before != title) text_format(out, "\n");
}

/* Which column is the answer, if two models were fitted. */
static void answer_quoted(struct state *state)
{
    const char *unit = "";
    const double hard = sum_of(state, "preferred", losscone_model_name(0), &unit),
                 folded = sum_of(state, "preferred", losscone_model_name(1), &unit);
    if (hard + folded == 0.0) return;
    text_format(
        &state->session->out, "quote: %s\n",
        folded >= CLEARLY * (hard + folded)
            ? "potential_folded, with confidence_lower_folded and confidence_upper_folded, where good is 1"
        : hard >= CLEARLY * (hard + folded)
            ? "potential, with confidence_lower and confidence_upper, where good is 1"
            : "both potential and potential_folded, where good is 1: no model is clearly preferred");
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
    answer_counts(state, "preferred", "preferred model: ");
    answer_quoted(state);
    answer_counts(state, "qualities", "quality: ");
    answer_counts(state, "reasons", "masked: ");
}

/* Opens a context for the reading thread: one thread, CPU, f64. */
static paritas_status open_beside(struct session *session, paritas_context **beside)
{
    paritas_options options = session->options;
    options.device = "cpu";
    options.precision = 64;
    options.threads = 1;
    options.progress = NULL;
    options.note = NULL;
    return open_another(session, &options, beside);
}

static void note_unmatched(const struct state *state)
{
    for (size_t i = 0; i < SOURCES; i++) {
        if (state->unmatched[i].days == 0) continue;
        paritas_note(state->session->context,
                     "%s: has no sweep of %zu of the %llu days that were read; the first is %s",
                     option_text(state->session, sources_options[i]), state->unmatched[i].days,
                     (unsigned long long)state->days_made, state->days->days[state->unmatched[i].first].date);
    }
}

/* The most frequent reason; NULL: none. */
static const struct json *most_of(const struct json *counts)
{
    const struct json *most = NULL;
    for (const struct json *one = first_of(counts); one; one = one->next)
        if (strcmp(one->key, "found") != 0 && (!most || one->number > most->number)) most = one;
    return most;
}

/* Days with sweeps but no answer; the reason of the first. */
static void note_unanswered(const struct state *state)
{
    size_t days = 0, first = 0;
    for (size_t k = 0; k < state->days->n; k++)
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
        snprintf(which, sizeof which, "%zu days has an answer; %s", days, state->days->days[first].date);
    else
        snprintf(which, sizeof which, "%s has an answer", state->days->days[first].date);
    paritas_note(state->session->context, "no sweep of %s: %s %.0f of %.0f%s%s", which, reason->key,
                 reason->number, number_of(answer, "sweeps"), more,
                 potential ? "; --spacecraft-potential V|FILE gives potentials, --illumination or --geometry "
                             "says whether the spacecraft is in sunlight"
                 : polarity ? "; see --polarity"
                            : "");
}

/* Days of which most sweeps are not good; the likely cause of the first. */
static void note_few_good(const struct state *state)
{
    size_t days = 0, first = 0;
    for (size_t k = 0; k < state->days->n; k++)
        if (json_get(answer_of(state, k), "few_good") && days++ == 0) first = k;
    if (days == 0) return;
    const struct json *answer = answer_of(state, first), *few = json_get(answer, "few_good"),
                      *cause = json_get(few, "cause");
    char which[64] = "", tried[240];
    if (days > 1) snprintf(which, sizeof which, "%zu days have few good sweeps; ", days);
    if (json_is(cause, JSON_STRING))
        snprintf(tried, sizeof tried, "with another %s %.0f of %.0f others are good%s", cause->text,
                 number_of(few, "good"), number_of(few, "tried"),
                 strcmp(cause->text, "--illumination") == 0
                     ? ", but wrong ones can be good, too, and U is then off by tens of volts; cells that "
                       "see the Sun and are not masked cost potentials as well (--geometry, --spice)"
                     : "");
    else
        snprintf(tried, sizeof tried,
                 "another polarity, illumination or spacecraft potential does not help %.0f others",
                 number_of(few, "tried"));
    paritas_note(state->session->context, "%s%s: %.0f of %.0f sweeps are good; %s", which,
                 state->days->days[first].date, number_of(answer, "good"), number_of(answer, "sweeps"),
                 tried);
}

/* Cones of days that have another background, or another response; the numbers of the first. */
static void note_doubts(const struct state *state)
{
    size_t days = 0, first = 0;
    for (size_t k = 0; k < state->days->n; k++)
        if (json_get(answer_of(state, k), "doubts") && days++ == 0) first = k;
    if (days == 0) return;
    const struct json *doubts = json_get(answer_of(state, first), "doubts"),
                      *level = json_get(doubts, "cone_level");
    char which[64] = "";
    if (days > 1) snprintf(which, sizeof which, "%zu days have doubtful cones; ", days);
    if (level)
        paritas_note(
            state->session->context,
            "%s%s: the flux in the cones is %.3g in the median, --background is %.3g; U and its sets "
            "are wrong by volts or more until these agree",
            which, state->days->days[first].date, level->number,
            option_number(state->session, "--background"));
    else
        paritas_note(state->session->context,
                     "%s%s: the median of excess is %.3g, so the response does not describe the counts; U "
                     "and its sets are wrong by volts or more if --response-width is",
                     which, state->days->days[first].date, number_of(doubts, "excess"));
}

static paritas_status run_days(struct state *state)
{
    struct session *session = state->session;
    TRY(find_days(session, &state->days));
    const size_t n = state->days->n;
    TRY(sources_check_days(session, state->sources, n));
    TRY(make_folder(session, state->folder));
    TRY(make_wanted(state));
    TRY(check_tables(state));
    sources_note(session, state->sources);
    TRY(open_beside(session, &state->loading.context));
    state->made = arena_elements(session, n, sizeof *state->made);
    state->resumed = arena_elements(session, n, sizeof *state->resumed);
    state->errors = arena_elements(session, n, sizeof *state->errors);
    TRY(allocated(session));
    TRY(start_loading(state, 0));
    for (size_t k = 0; k < n; k++) TRY(one_day(state, k));
    note_oddities(state);
    note_unmatched(state);
    note_unanswered(state);
    note_few_good(state);
    note_doubts(state);
    answer_of_run(state);
    if (state->n_errors == 0) return PARITAS_OK;
    size_t first = 0;
    while (!state->errors[first]) first++;
    session->partial = true;
    return wrong_input(session, "%zu of %zu days could not be read: %s%s", state->n_errors, n,
                       state->errors[first], state->n_errors > 1 ? ", ..." : "");
}

paritas_status day_run(struct session *session, const struct day_run *run, const struct sources *sources)
{
    struct state state = {.session = session,
                          .run = run,
                          .sources = sources,
                          .folder = option_text(session, "--output-folder"),
                          .overwrite = option_flag(session, "--overwrite")};
    if (!state.folder)
        return usage_failure(session, "%s needs -o DIR, where its tables go",
                             session->arguments->command->name);
    session->context->progress = NULL; /* one progress line for the run, not for each fit */
    session->progress.unit = "sweeps";
    const paritas_status status = run_days(&state);
    end_loading(&state);
    sweeps_free(&state.loading.sweeps);
    free_tables(state.loading.found);
    for (size_t k = 0; state.made && k < state.days->n; k++) paritas_workspace_free(state.made[k]);
    paritas_workspace_free(state.wanted);
    paritas_days_free(state.days);
    paritas_close(state.loading.context);
    return status;
}
