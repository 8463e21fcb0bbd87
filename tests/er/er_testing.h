/* er_testing.h: day files in memory, to be damaged on purpose; the context and the file that the tests of a
 * program share. */
#ifndef PARITAS_ER_TESTING_H
#define PARITAS_ER_TESTING_H

#include "common.h"
#include "paritas_er.h"

#include <stdbool.h>
#include <unistd.h>

#define ROWS PARITAS_SWEEP_ROWS
#define CELLS PARITAS_SWEEP_CELLS

/* Opened for one thread: nothing here computes on a device. */
static inline paritas_context *open_context(const paritas_allocator *allocator)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.allocator = allocator;
    options.threads = 1;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    return context;
}

static paritas_context *context;
static char path[] = "/tmp/paritas-er-XXXXXX";

/* Before and after all tests of a program: the context, and an empty file at `path`. */
static inline int open_shared(void **state)
{
    (void)state;
    context = open_context(NULL);
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return 1;
    close(descriptor);
    return 0;
}

static inline int close_shared(void **state)
{
    (void)state;
    unlink(path);
    paritas_close(context);
    return 0;
}

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Growing text. */
struct page {
    char *text;
    size_t length, room;
};

static inline void page_add(struct page *page, const char *format, ...)
{
    va_list arguments;
    if (page->room - page->length < 64) {
        page->room = 2 * page->room + 4096;
        page->text = realloc(page->text, page->room);
        assert_non_null(page->text);
    }
    va_start(arguments, format);
    const int length = vsnprintf(page->text + page->length, page->room - page->length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && length < 64);
    page->length += (size_t)length;
}

static inline void page_free(struct page *page)
{
    free(page->text);
    *page = (struct page){NULL, 0, 0};
}

/* Where a day of the tests begins: 1998-02-01. */
#define START 886291200.0

/* What a sound row holds: each cell a number of its own. */
static inline double energy_of(unsigned row)
{
    return 38.641 * pow(1.5, row);
}
static inline double flux_of(unsigned sweep, unsigned row, unsigned cell)
{
    return (1.0 + 0.125 * cell) * pow(2.0, 12 - (int)row) + sweep;
}
static inline double azimuth_of(unsigned row, unsigned cell)
{
    return fmod(22.5 * cell + 1.25 * row, 360.0);
}

/* What is to be different in a row. Fields count from 1; text NULL: the field is left out. */
struct change {
    unsigned field;
    const char *text;
};

/* A row of sweep `sweep` (from 1) at energy `row`, with changes, without a newline. */
static inline void page_row(struct page *page, unsigned sweep, unsigned row, const struct change *changes,
                            unsigned n)
{
    for (unsigned field = 1; field <= PARITAS_ER_FIELDS; field++) {
        const struct change *change = NULL;
        for (unsigned k = 0; k < n; k++)
            if (changes[k].field == field) change = &changes[k];
        if (change) {
            if (change->text) page_add(page, " %s", change->text);
        } else if (field == 1) {
            page_add(page, "1998-02-01T%02u:%02u:%02u", sweep * 80 / 3600, sweep * 80 / 60 % 60,
                     sweep * 80 % 60);
        } else if (field == 2) {
            page_add(page, " %.3f", START + sweep * 80 + 2.5 * row);
        } else if (field == 3) {
            page_add(page, " %10.3f", energy_of(row));
        } else if (field == 4) {
            page_add(page, " %5u", sweep);
        } else if (field <= 7) {
            page_add(page, " %11.6f", (field == 5 ? 3.0 : field == 6 ? -4.0 : 12.0) + 0.001 * row);
        } else if (field <= 95) {
            page_add(page, " %9.3E", flux_of(sweep, row, field - 8));
        } else {
            page_add(page, " %7.2f", azimuth_of(row, field - 96));
        }
    }
}

static inline void page_sweep(struct page *page, unsigned sweep)
{
    for (unsigned row = 0; row < ROWS; row++) {
        page_row(page, sweep, row, NULL, 0);
        page_add(page, "\n");
    }
}

/* Reads the page, which must be a day. */
static inline paritas_er_day *parse(paritas_context *context, const struct page *page,
                                    const paritas_er_options *options)
{
    paritas_er_day *day;
    const paritas_status status = paritas_er_parse(context, page->text, page->length, "page", options, &day);
    if (status) print_error("%s\n", paritas_error_message(context));
    assert_int_equal(status, PARITAS_OK);
    return day;
}

/* The page must be refused, in these words. */
static inline void assert_refused(paritas_context *context, const struct page *page,
                                  const paritas_er_options *options, const char *message)
{
    paritas_er_day *day = NULL;
    assert_int_equal(paritas_er_parse(context, page->text, page->length, "page", options, &day),
                     PARITAS_INVALID_INPUT);
    assert_string_equal(paritas_error_message(context), message);
    assert_null(day);
}

/* No reason was met but those that are named: {reason, count, line, column}, ended by KEPT. */
struct expected {
    paritas_er_reason reason;
    uint64_t count, line;
    unsigned column;
};

static inline void assert_counts(const paritas_er_day *day, const struct expected *expected)
{
    for (int r = 1; r < PARITAS_ER_REASON_COUNT; r++) {
        struct expected wanted = {(paritas_er_reason)r, 0, 0, 0};
        for (const struct expected *e = expected; e->reason != PARITAS_ER_KEPT; e++)
            if (e->reason == (paritas_er_reason)r) wanted = *e;
        const paritas_er_count *found = &day->counts[r];
        if (found->count != wanted.count || found->line != wanted.line || found->column != wanted.column) {
            print_error("%s: %llu times, first in line %llu, field %u; expected %llu, %llu, %u\n",
                        paritas_er_reason_name((paritas_er_reason)r), (unsigned long long)found->count,
                        (unsigned long long)found->line, found->column, (unsigned long long)wanted.count,
                        (unsigned long long)wanted.line, wanted.column);
            fail();
        }
    }
}
#define ASSERT_COUNTS(day, ...) \
    assert_counts(day, (const struct expected[]){__VA_ARGS__, {PARITAS_ER_KEPT, 0, 0, 0}})
#define ASSERT_SOUND(day) assert_counts(day, (const struct expected[]){{PARITAS_ER_KEPT, 0, 0, 0}})

#endif
