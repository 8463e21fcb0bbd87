/* store_lines_read.c: opens stores of lines, and reads what they have. */
#include "wasi/store_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static paritas_status fail_line(struct store *store, size_t line, const char *wanted)
{
    return lines_fail(store, PARITAS_INVALID_INPUT, "is not a store of toys: line %zu is not %s", line,
                      wanted);
}

static bool read_texts(const struct json *list, const char **texts)
{
    size_t i = 0;
    for (const struct json *text = list->first; text; text = text->next, i++) {
        if (!json_is(text, JSON_STRING)) return false;
        texts[i] = text->text;
    }
    return true;
}

/* The first line. */
static paritas_status read_head(struct store *store, const struct json *head)
{
    const struct json *format = json_get(head, "store"), *kind = json_get(head, "kind"),
                      *run = json_get(head, "run"), *parameters = json_get(head, "parameters");
    if (!json_is(format, JSON_NUMBER) || format->number != LINES_FORMAT || !json_is(run, JSON_OBJECT) ||
        !json_is(parameters, JSON_ARRAY) || !json_is(kind, JSON_STRING))
        return fail_line(store, 1, "the head of a store that this version knows");
    paritas_key_entry *entries = paritas_allocate(store->context, run->count + 1, sizeof *entries);
    const char **texts = paritas_allocate(store->context, run->count + parameters->count + 1, sizeof *texts);
    paritas_status status = entries && texts ? PARITAS_OK : paritas_fail_memory(store->context);
    if (status == PARITAS_OK && (!read_texts(run, texts) || !read_texts(parameters, texts + run->count)))
        status = fail_line(store, 1, "a head of texts");
    if (status == PARITAS_OK) {
        size_t i = 0;
        for (const struct json *entry = run->first; entry; entry = entry->next, i++)
            entries[i] = (paritas_key_entry){entry->key, entry->text};
        const struct store_run made = {json_text_is(kind, store_kind_names[STORE_FITS]) ? STORE_FITS
                                                                                        : STORE_TESTS,
                                       run->count, entries, parameters->count, texts + run->count};
        status = run_copy(store->context, &store->arena, &made, NULL, &store->run);
    }
    paritas_release(&store->context->allocator, entries);
    paritas_release(&store->context->allocator, texts);
    return status;
}

static bool read_number(const struct json *node, double *number)
{
    *number = json_is(node, JSON_NUMBER) ? node->number : NAN;
    return json_is(node, JSON_NUMBER) || json_is(node, JSON_NULL);
}

static bool read_status(const struct json *node, paritas_fit_status *status)
{
    for (int k = 0; k < (int)PARITAS_FIT_STATUS_COUNT; k++) {
        *status = (paritas_fit_status)k;
        if (json_text_is(node, paritas_fit_status_name(*status))) return true;
    }
    return false;
}

/* `numbers`: room for the vector. */
static bool read_value(const struct json *node, enum column_type type, size_t n, double *numbers, void *value)
{
    const bool whole = json_is(node, JSON_NUMBER) && node->integer && node->text[0] != '-';
    switch (type) {
    case COLUMN_double:
        return read_number(node, value);
    case COLUMN_uint64_t:
        if (whole) *(uint64_t *)value = strtoull(node->text, NULL, 10);
        return whole;
    case COLUMN_unsigned:
        if (whole) *(unsigned *)value = (unsigned)strtoul(node->text, NULL, 10);
        return whole;
    case COLUMN_paritas_fit_status:
        return read_status(node, value);
    case COLUMN_store_vector:
        *(store_vector *)value = json_is(node, JSON_ARRAY) ? numbers : NULL;
        if (json_is(node, JSON_NULL)) return true;
        if (!json_is(node, JSON_ARRAY) || node->count != n) return false;
        for (const struct json *number = node->first; number; number = number->next)
            if (!read_number(number, numbers++)) return false;
    }
    return true;
}

/* `vectors`: room for two. */
static paritas_status read_row(struct store *store, size_t line, const struct json *list, double *vectors)
{
    const struct store_table *table = run_table(&store->run);
    union {
        paritas_toy test;
        struct store_fit fit;
    } row = {.test = {.size = sizeof row.test, .weight = NAN, .weight_other = NAN}};
    if (!json_is(list, JSON_ARRAY) || list->count != (uint32_t)table->n)
        return fail_line(store, line, "a toy of this run");
    const struct json *node = list->first;
    for (int i = 0; i < table->n; i++, node = node->next) {
        const struct column *column = &table->columns[i];
        if (!read_value(node, column->type, store->run.n_parameters, vectors, (char *)&row + column->offset))
            return fail_line(store, line, "a toy of this run");
        if (column->type == COLUMN_store_vector) vectors += store->run.n_parameters;
    }
    char reason[ROW_REASON];
    if (!row_is_possible(table, &row, store->run.n_parameters, reason))
        return lines_fail(store, PARITAS_INVALID_INPUT, "line %zu: %s", line, reason);
    return lines_keep_row(store, &row);
}

static paritas_status read_line(struct store *store, size_t line, const struct json *node, double **vectors)
{
    double value;
    if (line == 1) {
        TRY(read_head(store, node));
        *vectors = arena_array(&store->arena, 2 * store->run.n_parameters + 1, sizeof **vectors);
        return *vectors ? PARITAS_OK : paritas_fail_memory(store->context);
    }
    const struct json *fact = json_get(node, "fact");
    if (!fact) return read_row(store, line, node, *vectors);
    if (!json_is(fact, JSON_STRING) || !read_number(json_get(node, "value"), &value))
        return fail_line(store, line, "a fact");
    return lines_keep_fact(store, fact->text, value);
}

static paritas_status read_text(struct store *store, const char *text, size_t length)
{
    double *vectors = NULL;
    size_t line = 1;
    for (const char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + length - at)));
         at = end + 1, line++) {
        paritas_workspace *document;
        TRY(json_read(store->context, at, (size_t)(end - at), store->name, &document));
        const paritas_status status = read_line(store, line, document->root, &vectors);
        paritas_workspace_free(document);
        if (status != PARITAS_OK) return status;
    }
    return line > 1 ? PARITAS_OK
                    : lines_fail(store, PARITAS_INVALID_INPUT, "is not a store of toys: it has no line");
}

static paritas_status read_file(struct store *store, FILE *file)
{
    char *text = NULL;
    size_t length = 0, room = 0, n = 1;
    while (n > 0) {
        if (length == room) {
            room = room ? 2 * room : 65536;
            char *more = paritas_reallocate(store->context, text, room, 1);
            if (!more) break;
            text = more;
        }
        n = fread(text + length, 1, room - length, file);
        length += n;
    }
    paritas_status status = n > 0 ? paritas_fail_memory(store->context) : PARITAS_OK;
    if (status == PARITAS_OK && ferror(file))
        status = lines_fail(store, PARITAS_UNREADABLE, "cannot be read: %s", strerror(errno));
    if (status == PARITAS_OK) status = read_text(store, text, length);
    paritas_release(&store->context->allocator, text);
    return status;
}

static paritas_status read_store(struct store *store)
{
    FILE *file = fopen(store->name, "rb");
    if (!file) return lines_fail(store, PARITAS_UNREADABLE, "cannot be read: %s", strerror(errno));
    const paritas_status status = read_file(store, file);
    fclose(file);
    return status;
}

/* The whole file anew: what a kill cut off goes. */
static paritas_status open_to_write(struct store *store, const struct store_run *run)
{
    store->file = fopen(store->name, "wb");
    if (!store->file) return lines_fail(store, PARITAS_UNWRITABLE, "cannot be written: %s", strerror(errno));
    TRY(lines_begin(store, run, NULL));
    return lines_append(store, 0, 0);
}

static paritas_status open_store(struct store *store, const struct store_run *run, bool resume)
{
    FILE *file = fopen(store->name, "rb");
    if (file) fclose(file);
    if (file && !resume)
        return lines_fail(store, PARITAS_INVALID_ARGUMENT, "exists already; `resume` goes on with it");
    if (file) {
        TRY(read_store(store));
        const char *const *without = run_extends(run, &store->run) ? store_shard_entries : NULL;
        TRY(run_compare(store->context, store->name, &store->run, run, without, "this run",
                        PARITAS_INVALID_ARGUMENT));
    }
    return open_to_write(store, run);
}

paritas_status store_open(paritas_context *context, const char *path, const struct store_run *run,
                          bool resume, struct store **store)
{
    TRY(lines_open(context, path, store));
    return store_opened(open_store(*store, run, resume), store);
}

paritas_status store_open_read(paritas_context *context, const char *path, struct store **store)
{
    TRY(lines_open(context, path, store));
    return store_opened(read_store(*store), store);
}
