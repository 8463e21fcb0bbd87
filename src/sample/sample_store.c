/* sample_store.c: runs of chains as archives of arrays. */
#include "sample/sample_store.h"
#include "base/npz.h"
#include "base/platform.h"
#include "store/store_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 1.0 /* between copies, at least */
#define SHARE 20.0  /* of what a copy takes: its cost stays below 5 % */

#define COUNT_FIELD(R, type, field, count, word, unit, doc) +1
#define NAME_FIELD(R, type, field, count, word, unit, doc) word,
#define PUT_FIELD(R, type, field, count, word, unit, doc) *to++ = (double)draw->field;
/* Whole numbers of a forged file may be anything. */
#define TAKE_FIELD(R, type, field, count, word, unit, doc)                                 \
    {                                                                                      \
        const double number = npz_number(array, at++);                                     \
        const bool fits = (type)0.5 > 0 || (number >= 0.0 && number <= (double)INT32_MAX); \
        draw->field = fits ? (type)number : (type)0;                                       \
        good = good && fits;                                                               \
    }
#define FIELDS (0 PARITAS_DRAW_FIELDS(COUNT_FIELD, paritas_draw))
static const char *const field_names[] = {PARITAS_DRAW_FIELDS(NAME_FIELD, paritas_draw)};

static paritas_status fail_unwritable(const struct sample_store *store)
{
    if (errno == ENOMEM) return paritas_fail_memory(store->context);
    return paritas_fail(store->context, PARITAS_UNWRITABLE, "%s: the draws cannot be kept: %s", store->path,
                        strerror(errno));
}

#define damaged(store, ...) \
    paritas_fail((store)->context, PARITAS_INVALID_INPUT, "%s: is not a run of chains: " __VA_ARGS__)

static size_t n_draws(const struct sample_store *store)
{
    return (size_t)store->options->chains * store->options->draws;
}

/* ---- writing ---- */

static bool put(struct npz *npz, int file, const struct column *column)
{
    return npz_add(npz, column) && platform_write(file, npz->header.bytes, npz->header.length) &&
           platform_write(file, npz->array.bytes, npz->array.length);
}

static bool put_texts(struct npz *npz, int file, const char *name, size_t n, const char *const *texts)
{
    return put(npz, file,
               &(struct column){.name = name, .kind = COLUMN_TEXT, .rows = n, .width = 1, .values = texts});
}

static bool put_matrix(struct npz *npz, int file, const char *name, size_t rows, size_t width,
                       const double *values)
{
    return put(npz, file,
               &(struct column){.name = name,
                                .kind = COLUMN_F64,
                                .matrix = true,
                                .rows = rows,
                                .width = width,
                                .values = values});
}

/* `room`: for the key's texts and the draws' fields. */
static bool put_all(const struct sample_store *store, struct npz *npz, int file, const char **texts,
                    double *fields)
{
    const struct store_run *run = store->run;
    const size_t n = n_draws(store);
    double *to = fields;
    for (size_t i = 0; i < run->n_entries; i++) {
        texts[i] = run->entries[i].name;
        texts[run->n_entries + i] = run->entries[i].value;
    }
    for (size_t i = 0; i < n; i++) {
        const paritas_draw *draw = &store->answers->draws[i];
        PARITAS_DRAW_FIELDS(PUT_FIELD, paritas_draw)
    }
    return put_texts(npz, file, "key", run->n_entries, texts) &&
           put_texts(npz, file, "key_values", run->n_entries, texts + run->n_entries) &&
           put_texts(npz, file, "parameters", run->n_parameters, run->parameters) &&
           put_matrix(npz, file, "values", n, store->n_parameters, store->answers->parameters) &&
           put_texts(npz, file, "fields", FIELDS, field_names) &&
           put_matrix(npz, file, "draws", n, FIELDS, fields) &&
           put_matrix(npz, file, "state", store->options->chains, store->state_size, store->states) &&
           npz_end(npz) && platform_write(file, npz->directory.bytes, npz->directory.length);
}

/* Writes beside `target`, then takes its name. */
static bool replace(const struct sample_store *store, const char *target, char *beside, const char **texts,
                    double *fields)
{
    struct npz npz;
    const int file = platform_open_temporary(beside);
    if (file < 0) return false;
    npz_open(&npz, &store->context->allocator);
    bool ok = put_all(store, &npz, file, texts, fields) && platform_set_permissions(file, target);
    int error = errno;
    npz_close(&npz);
    errno = error;
    ok = platform_close_temporary(file, beside, ok, true);
    if (!ok || platform_rename(beside, target)) return ok;
    error = errno;
    platform_remove(beside);
    errno = error;
    return false;
}

static paritas_status write_file(const struct sample_store *store)
{
    paritas_context *context = store->context;
    char *target = platform_behind_links(store->path);
    const size_t size = target ? strlen(target) + sizeof ".XXXXXX" : 1;
    char *beside = paritas_allocate(context, size, 1);
    const char **texts = paritas_allocate_clear(context, 2 * store->run->n_entries, sizeof *texts);
    double *fields = paritas_allocate(context, n_draws(store) * FIELDS, sizeof *fields);
    paritas_status status = PARITAS_OK;
    if (!target || !beside || !texts || !fields) {
        status = paritas_fail_memory(context);
    } else {
        snprintf(beside, size, "%s.XXXXXX", target);
        if (!replace(store, target, beside, texts, fields)) status = fail_unwritable(store);
    }
    free(target);
    paritas_release(&context->allocator, beside);
    paritas_release(&context->allocator, texts);
    paritas_release(&context->allocator, fields);
    return status;
}

paritas_status sample_store_keep(struct sample_store *store, bool now)
{
    if (!store->path) return PARITAS_OK;
    const double begin = platform_seconds();
    if (!now && begin < store->due) return PARITAS_OK;
    TRY(write_file(store));
    const double end = platform_seconds(), pause = SHARE * (end - begin);
    store->due = end + (pause > SECONDS ? pause : SECONDS);
    return PARITAS_OK;
}

/* ---- reading ---- */

/* Array `name`, whose `plain` is released by the caller. */
static paritas_status find(const struct sample_store *store, const struct file_bytes *bytes, const char *name,
                           struct npz_array *array)
{
    bool found;
    TRY(npz_find(store->context, store->path, bytes, name, array, &found));
    return found ? PARITAS_OK : damaged(store, "it has no array '%s'", store->path, name);
}

/* The same, with rows of `width` numbers. */
static paritas_status find_rows(const struct sample_store *store, const struct file_bytes *bytes,
                                const char *name, size_t width, struct npz_array *array)
{
    TRY(find(store, bytes, name, array));
    if (array->dimensions != 2 || array->shape[1] != width || array->kind != 'f')
        return damaged(store, "%s has no rows of %zu numbers", store->path, name, width);
    return PARITAS_OK;
}

/* The texts of array `name`. */
static paritas_status take_texts(struct infer *infer, const struct sample_store *store,
                                 const struct file_bytes *bytes, const char *name, size_t *n,
                                 const char ***texts)
{
    struct npz_array array = {0};
    paritas_status status = find(store, bytes, name, &array);
    if (status == PARITAS_OK && (array.dimensions != 1 || array.kind != 'U'))
        status = damaged(store, "%s is no list of texts", store->path, name);
    *n = status == PARITAS_OK ? array.shape[0] : 0;
    *texts = infer_array(infer, *n + 1, sizeof **texts);
    for (size_t i = 0; i < *n && *texts && status == PARITAS_OK; i++) {
        struct text text;
        text_open(&text, &store->context->allocator);
        npz_text(&array, i, &text);
        char *copy = infer_array(infer, text.length + 1, 1);
        if (copy && text.length > 0) memcpy(copy, text.bytes, text.length);
        (*texts)[i] = copy;
        infer->out_of_memory = infer->out_of_memory || text.failed;
        text_free(&text);
    }
    paritas_release(&store->context->allocator, array.plain);
    return status == PARITAS_OK ? infer_memory(infer) : status;
}

static paritas_status check_key(struct infer *infer, const struct sample_store *store,
                                const struct file_bytes *bytes)
{
    size_t n, n_values;
    const char **names, **values;
    TRY(take_texts(infer, store, bytes, "key", &n, &names));
    TRY(take_texts(infer, store, bytes, "key_values", &n_values, &values));
    if (n != n_values)
        return damaged(store, "its key has %zu names and %zu values", store->path, n, n_values);
    paritas_key_entry *entries = infer_array(infer, n + 1, sizeof *entries);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) entries[i] = (paritas_key_entry){names[i], values[i]};
    const struct store_run there = {.n_entries = n, .entries = entries};
    return sample_key_check(store->context, store->path, store->run, &there);
}

/* Draw i of the array; false: with numbers that no draw has. */
static bool take_draw(const struct npz_array *array, size_t i, paritas_draw *draw)
{
    size_t at = i * FIELDS;
    bool good = true;
    PARITAS_DRAW_FIELDS(TAKE_FIELD, paritas_draw)
    return good;
}

/* Copies as many of each chain's draws as there is room for. */
static bool copy_draws(const struct sample_store *store, const struct npz_array *values,
                       const struct npz_array *draws)
{
    const size_t now = store->options->draws, rows = store->kept < now ? store->kept : now,
                 n = store->n_parameters;
    bool good = true;
    for (size_t c = 0; c < store->options->chains; c++)
        for (size_t i = 0; i < rows; i++) {
            const size_t from = c * store->kept + i, to = c * now + i;
            for (size_t k = 0; k < n; k++)
                store->answers->parameters[to * n + k] = npz_number(values, from * n + k);
            good = take_draw(draws, from, &store->answers->draws[to]) && good;
        }
    return good;
}

static paritas_status take_draws(struct sample_store *store, const struct file_bytes *bytes)
{
    const size_t chains = store->options->chains;
    struct npz_array values = {0}, draws = {0};
    paritas_status status = find_rows(store, bytes, "values", store->n_parameters, &values);
    if (status == PARITAS_OK) status = find_rows(store, bytes, "draws", FIELDS, &draws);
    store->kept = values.shape[0] / chains;
    if (status == PARITAS_OK && (values.shape[0] % chains != 0 || values.shape[0] != draws.shape[0]))
        status = damaged(store, "it has %zu rows of values and %zu of draws for %zu chains", store->path,
                         values.shape[0], draws.shape[0], chains);
    if (status == PARITAS_OK && !copy_draws(store, &values, &draws))
        status = damaged(store, "its draws have numbers that no draw has", store->path);
    paritas_release(&store->context->allocator, values.plain);
    paritas_release(&store->context->allocator, draws.plain);
    return status;
}

static paritas_status take_states(const struct sample_store *store, const struct file_bytes *bytes)
{
    const size_t chains = store->options->chains;
    struct npz_array array = {0};
    paritas_status status = find_rows(store, bytes, "state", store->state_size, &array);
    if (status == PARITAS_OK && array.shape[0] != chains)
        status = damaged(store, "there are %zu states for %zu chains", store->path, array.shape[0], chains);
    for (size_t i = 0; i < chains * store->state_size && status == PARITAS_OK; i++)
        store->states[i] = npz_number(&array, i);
    paritas_release(&store->context->allocator, array.plain);
    return status;
}

static paritas_status read_file(struct infer *infer, struct sample_store *store)
{
    struct file_bytes bytes = {0};
    const int file = platform_open_read(store->path);
    if (file < 0)
        return paritas_fail(store->context, PARITAS_UNREADABLE, "%s: cannot be read: %s", store->path,
                            strerror(errno));
    paritas_status status = file_bytes_read(store->context, store->path, file, SIZE_MAX, &bytes);
    platform_close(file);
    if (status == PARITAS_OK && !npz_is(bytes.at, bytes.length))
        status = damaged(store, "it is no archive", store->path);
    if (status == PARITAS_OK) status = check_key(infer, store, &bytes);
    if (status == PARITAS_OK) status = take_draws(store, &bytes);
    if (status == PARITAS_OK) status = take_states(store, &bytes);
    paritas_release(&store->context->allocator, bytes.at);
    return status;
}

/* ---- opening ---- */

static paritas_status take_lock(struct infer *infer, struct sample_store *store)
{
    const size_t size = strlen(store->path) + sizeof "-lock";
    store->lock_path = infer_array(infer, size, 1);
    TRY(infer_memory(infer));
    snprintf(store->lock_path, size, "%s-lock", store->path);
    switch (platform_lock_take(store->lock_path, &store->lock)) {
    case PLATFORM_LOCK_TAKEN:
        return PARITAS_OK;
    case PLATFORM_LOCK_IN_USE:
        return paritas_fail(store->context, PARITAS_UNWRITABLE, "%s: is in use by another process",
                            store->path);
    default:
        return fail_unwritable(store);
    }
}

paritas_status sample_store_open(struct infer *infer, const paritas_sample_options *options,
                                 const paritas_sample_answers *answers, double *states,
                                 struct sample_store *store, bool *found)
{
    *store = (struct sample_store){.context = infer->context,
                                   .path = options->store,
                                   .lock = -1,
                                   .options = options,
                                   .answers = answers,
                                   .states = states,
                                   .kept = options->draws,
                                   .state_size = paritas_sample_state_size(infer->model),
                                   .n_parameters = infer->n_parameters};
    *found = options->resume != 0;
    if (!store->path) return PARITAS_OK;
    struct platform_info info;
    if (platform_info(store->path, &info) && info.kind != PLATFORM_FILE)
        return paritas_fail(store->context, PARITAS_UNWRITABLE,
                            "%s: cannot keep draws: it is no regular file", store->path);
    TRY(take_lock(infer, store));
    *found = platform_exists(store->path);
    if (*found && !options->resume)
        return paritas_refuse(store->context, "%s: exists already; `resume` goes on with it", store->path);
    TRY(sample_key_make(infer, options, &store->run));
    return *found ? read_file(infer, store) : PARITAS_OK;
}

void sample_store_close(struct sample_store *store)
{
    if (store->lock >= 0) platform_lock_drop(store->lock_path, store->lock);
    store->lock = -1;
}
