/* store_lines.c: a store's lines: written, read, sorted. */
#include "wasi/store_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

paritas_status lines_open(paritas_context *context, const char *name, struct store **store)
{
    *store = paritas_allocate_clear(context, 1, sizeof **store);
    if (!*store) return paritas_fail_memory(context);
    (*store)->context = context;
    (*store)->sorted = true;
    arena_open(&(*store)->arena, &context->allocator);
    (*store)->name = arena_text(&(*store)->arena, name, strlen(name));
    return store_opened((*store)->name ? PARITAS_OK : paritas_fail_memory(context), store);
}

/* ---- writing ---- */

static paritas_status write_text(struct store *store, struct text *text)
{
    paritas_status status = text->failed ? paritas_fail_memory(store->context) : PARITAS_OK;
    if (status == PARITAS_OK &&
        (fwrite(text->bytes, 1, text->length, store->file) != text->length || fflush(store->file) != 0))
        status = lines_fail(store, PARITAS_UNWRITABLE, "cannot be written: %s", strerror(errno));
    text_free(text);
    return status;
}

static void quote(struct text *text, const char *word)
{
    text_quoted(text, word, strlen(word));
}

paritas_status lines_begin(struct store *store, const struct store_run *run, const char *without)
{
    struct text text;
    TRY(run_copy(store->context, &store->arena, run, without, &store->run));
    const struct store_table *table = run_table(run);
    text_open(&text, &store->context->allocator);
    text_format(&text, "{\"store\": %d, \"kind\": \"%s\", \"run\": {", LINES_FORMAT,
                store_kind_names[run->kind]);
    for (size_t i = 0; i < store->run.n_entries; i++) {
        text_format(&text, "%s", i ? ", " : "");
        quote(&text, store->run.entries[i].name);
        text_format(&text, ": ");
        quote(&text, store->run.entries[i].value);
    }
    text_format(&text, "}, \"parameters\": [");
    for (size_t i = 0; i < run->n_parameters; i++) {
        text_format(&text, "%s", i ? ", " : "");
        quote(&text, run->parameters[i]);
    }
    text_format(&text, "], \"columns\": [");
    for (int i = 0; i < table->n; i++) text_format(&text, "%s\"%s\"", i ? ", " : "", table->columns[i].name);
    text_format(&text, "]}\n");
    return write_text(store, &text);
}

static void write_value(struct text *text, const struct store *store, enum column_type type,
                        const void *value)
{
    const store_vector *vector = value;
    switch (type) {
    case COLUMN_double:
        text_number(text, *(const double *)value);
        return;
    case COLUMN_uint64_t:
        text_format(text, "%llu", (unsigned long long)*(const uint64_t *)value);
        return;
    case COLUMN_unsigned:
        text_format(text, "%u", *(const unsigned *)value);
        return;
    case COLUMN_paritas_fit_status:
        text_format(text, "\"%s\"", paritas_fit_status_name(*(const paritas_fit_status *)value));
        return;
    case COLUMN_store_vector:
        text_format(text, *vector ? "[" : "null");
        for (size_t i = 0; *vector && i < store->run.n_parameters; i++) {
            text_format(text, "%s", i ? ", " : "");
            text_number(text, (*vector)[i]);
        }
        text_format(text, *vector ? "]" : "");
    }
}

paritas_status lines_append(struct store *store, size_t fact, size_t row)
{
    const struct store_table *table = run_table(&store->run);
    struct text text;
    text_open(&text, &store->context->allocator);
    for (; fact < store->n_facts; fact++) {
        text_format(&text, "{\"fact\": ");
        quote(&text, store->facts[fact].name);
        text_format(&text, ", \"value\": ");
        text_number(&text, store->facts[fact].value);
        text_format(&text, "}\n");
    }
    for (; row < store->n; row++) {
        for (int i = 0; i < table->n; i++) {
            text_format(&text, i ? ", " : "[");
            write_value(&text, store, table->columns[i].type,
                        (const char *)lines_row(store, row) + table->columns[i].offset);
        }
        text_format(&text, "]\n");
    }
    return write_text(store, &text);
}

/* ---- in memory ---- */

void *lines_row(const struct store *store, size_t i)
{
    return store->rows + i * run_table(&store->run)->row_size;
}

paritas_status lines_keep_row(struct store *store, const void *row)
{
    const struct store_table *table = run_table(&store->run);
    if (store->n == store->room) {
        const size_t room = store->room ? 2 * store->room : 256;
        char *more = paritas_reallocate(store->context, store->rows, room, table->row_size);
        if (!more) return paritas_fail_memory(store->context);
        store->rows = more;
        store->room = room;
    }
    char *kept = memcpy(lines_row(store, store->n), row, table->row_size);
    for (int i = 0; i < table->n; i++) {
        const struct column *column = &table->columns[i];
        store_vector *vector = (store_vector *)(kept + column->offset);
        if (column->type == COLUMN_double) *(double *)(kept + column->offset) += 0.0; /* as SQLite: no -0.0 */
        if (column->type != COLUMN_store_vector || !*vector) continue;
        double *numbers = arena_array(&store->arena, store->run.n_parameters, sizeof *numbers);
        if (!numbers) return paritas_fail_memory(store->context);
        *vector = memcpy(numbers, *vector, store->run.n_parameters * sizeof *numbers);
    }
    if (store->n > 0 && store->sorted)
        store->sorted = row_compare(store->run.kind, lines_row(store, store->n - 1), kept) < 0;
    store->n++;
    return PARITAS_OK;
}

paritas_status lines_keep_fact(struct store *store, const char *name, double value)
{
    struct fact *more =
        paritas_reallocate(store->context, store->facts, store->n_facts + 1, sizeof *store->facts);
    if (!more) return paritas_fail_memory(store->context);
    store->facts = more;
    const char *kept = arena_text(&store->arena, name, strlen(name));
    if (!kept) return paritas_fail_memory(store->context);
    store->facts[store->n_facts++] = (struct fact){kept, value};
    return PARITAS_OK;
}

static int compare_tests(const void *a, const void *b)
{
    return row_compare(STORE_TESTS, a, b);
}
static int compare_fits(const void *a, const void *b)
{
    return row_compare(STORE_FITS, a, b);
}

paritas_status lines_sort(struct store *store)
{
    const enum store_kind kind = store->run.kind;
    if (store->sorted) return PARITAS_OK;
    qsort(store->rows, store->n, run_table(&store->run)->row_size,
          kind == STORE_TESTS ? compare_tests : compare_fits);
    for (size_t i = 1; i < store->n; i++) {
        if (row_compare(kind, lines_row(store, i - 1), lines_row(store, i)) != 0) continue;
        char name[160];
        row_name(name, kind, lines_row(store, i));
        return lines_fail(store, PARITAS_INVALID_INPUT, "%s is there twice", name);
    }
    store->sorted = true;
    return PARITAS_OK;
}
