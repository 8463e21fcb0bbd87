/* day_files.c: finds day files and sorts them into days. */
#include "base/digest.h"
#include "base/platform.h"
#include "moon/days/days.h"
#include "moon/er/er.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The public days (first) and their memory. */
struct days {
    paritas_days open;
    struct arena arena;
};

/* YYYY-MM-DD */
static void write_date(int date, char out[11])
{
    snprintf(out, 11, "%04u-%02u-%02u", (unsigned)date / 10000 % 10000, (unsigned)date / 100 % 100,
             (unsigned)date % 100);
}

struct search {
    paritas_context *context;
    struct arena *arena;
    int year, month, day; /* 0: any */
    paritas_day_file *files;
    size_t n, room;
};

static bool is_wanted(const struct search *search, int date)
{
    return (search->year == 0 || date / 10000 == search->year) &&
           (search->month == 0 || date / 100 % 100 == search->month) &&
           (search->day == 0 || date % 100 == search->day);
}

/* A file without a date costs only itself. */
static paritas_status add_file(struct search *search, const char *path, int date)
{
    if (date != 0 && !is_wanted(search, date)) return PARITAS_OK;
    paritas_day_file *files =
        er_grow(search->context, search->files, search->n, &search->room, 64, sizeof *files);
    if (!files) return PARITAS_OUT_OF_MEMORY;
    search->files = files;
    const char *copy = arena_text(search->arena, path, strlen(path));
    if (!copy) return paritas_fail_memory(search->context);
    files[search->n++] = (paritas_day_file){copy, date};
    return PARITAS_OK;
}

/* Its rows say what date a file is of; without any, its name does. */
static paritas_status add_found(struct search *search, const char *path, int name)
{
    paritas_context *context = search->context;
    char shown[2][11];
    int date;
    const paritas_status status = er_date_of_rows(context, path, name, &date);
    if (status != PARITAS_OK && status != PARITAS_UNREADABLE && status != PARITAS_INVALID_INPUT)
        return status;
    if (status != PARITAS_OK || date == 0) date = name; /* its day says what is wrong */
    if (date != name) {
        write_date(name, shown[0]);
        write_date(date, shown[1]);
        paritas_note(context, "%s: its rows are of %s, not of %s as its name says; the rows count", path,
                     shown[1], shown[0]);
    }
    return add_file(search, path, date);
}

static paritas_status add_folder(struct search *search, const char *folder)
{
    paritas_er_files *found = NULL;
    TRY(paritas_er_find(search->context, folder, 0, 0, 0, &found));
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; status == PARITAS_OK && i < found->n; i++)
        status = add_found(search, found->path[i], found->date[i]);
    paritas_er_files_free(found);
    return status;
}

/* A file of any name. */
static paritas_status add_given(struct search *search, const char *path)
{
    const int name = paritas_er_file_date(path);
    int date;
    const paritas_status status = er_date_of_rows(search->context, path, name, &date);
    if (status != PARITAS_OK && status != PARITAS_INVALID_INPUT) return status;
    return add_file(search, path, status == PARITAS_OK && date != 0 ? date : name);
}

static int by_date_and_path(const void *a, const void *b)
{
    const paritas_day_file *x = a, *y = b;
    return x->date != y->date ? (x->date > y->date) - (x->date < y->date) : strcmp(x->path, y->path);
}

/* Equal bytes? An unreadable file equals none; its day reports why. */
static bool same_bytes(paritas_context *context, const char *one, const char *other)
{
    struct platform_info first, second;
    char digests[2][65];
    if (!platform_info(one, &first) || !platform_info(other, &second) || first.size != second.size)
        return false;
    return sha256_file(context, one, digests[0]) == PARITAS_OK &&
           sha256_file(context, other, digests[1]) == PARITAS_OK && strcmp(digests[0], digests[1]) == 0;
}

/* One of n sorted files with date and bytes of `file`; NULL: none. */
static const paritas_day_file *copy_of(paritas_context *context, const paritas_day_file *files, size_t n,
                                       const paritas_day_file *file)
{
    while (n > 0 && files[n - 1].date == file->date)
        if (same_bytes(context, files[--n].path, file->path)) return &files[n];
    return NULL;
}

static paritas_status none_found(const struct search *search, const char *path)
{
    static const char *const names[3] = {"year", "month", "day"};
    const int wanted[3] = {search->year, search->month, search->day};
    char text[64] = "";
    for (int k = 0; k < 3; k++) {
        const size_t length = strlen(text);
        if (wanted[k] != 0)
            snprintf(text + length, sizeof text - length, "%s%s %d", length > 0 ? ", " : " of ", names[k],
                     wanted[k]);
    }
    return paritas_fail(search->context, PARITAS_NOT_FOUND, "%s: there is no day file (3DYYMMDD.TAB)%s", path,
                        text);
}

/* Leaves out files given twice and copies of others, of which the first is kept. */
static void drop_copies(struct search *search)
{
    size_t kept = 0, copies = 0;
    paritas_day_file copy = {NULL, 0}, original = {NULL, 0}, *files = search->files;
    for (size_t i = 0; i < search->n; i++) {
        const paritas_day_file file = files[i];
        if (kept > 0 && by_date_and_path(&files[kept - 1], &file) == 0) continue;
        const paritas_day_file *same = copy_of(search->context, files, kept, &file);
        if (same && copies++ == 0) {
            copy = file;
            original = *same;
        }
        if (!same) files[kept++] = file;
    }
    search->n = kept;
    if (copies == 1)
        paritas_note(search->context, "%s: is a copy of %s and left out", copy.path, original.path);
    else if (copies > 1)
        paritas_note(search->context, "%zu files are copies of others and left out; the first is %s, of %s",
                     copies, copy.path, original.path);
}

/* Files of one date are one day. */
static paritas_status sort_into_days(const struct search *search, struct days *made)
{
    paritas_day *days = arena_array(search->arena, search->n, sizeof *days), *day = days;
    paritas_day_file *files = arena_array(search->arena, search->n, sizeof *files);
    if (!days || !files) return paritas_fail_memory(search->context);
    memcpy(files, search->files, search->n * sizeof *files);
    for (size_t i = 0; i < search->n; i++) {
        const int date = files[i].date;
        if (i == 0 || date == 0 || files[i - 1].date != date) {
            day = &days[made->open.n++];
            day->files = &files[i];
            day->first = (uint64_t)date << 24; /* days are far apart */
            if (date != 0) write_date(date, day->date);
        }
        day->n++;
    }
    made->open.days = days;
    return PARITAS_OK;
}

static paritas_status find(struct search *search, size_t n, const char *const *paths, struct days *made)
{
    REQUIRE_EACH(search->context, "paths", n, paths);
    for (size_t i = 0; i < n; i++) {
        struct platform_info info;
        const bool folder = platform_info(paths[i], &info) && info.kind == PLATFORM_FOLDER;
        TRY((folder ? add_folder : add_given)(search, paths[i]));
    }
    if (search->n == 0) return none_found(search, paths[0]);
    qsort(search->files, search->n, sizeof *search->files, by_date_and_path);
    if (search->files[search->n - 1].date == 0) return day_refuse(search->context, search->files[0].path);
    drop_copies(search);
    return sort_into_days(search, made);
}

paritas_status paritas_days_find(paritas_context *context, size_t n, const char *const *paths, int year,
                                 int month, int day, paritas_days **days)
{
    REQUIRE(context, paths, days);
    *days = NULL;
    if (n == 0) return paritas_refuse(context, "paths: there are none");
    if (year < 0 || year > 9999 || month < 0 || month > 12 || day < 0 || day > 31)
        return paritas_refuse(context, "year, month, day: %d-%d-%d is no date, nor a part of one", year,
                              month, day);
    struct days *made = paritas_allocate_clear(context, 1, sizeof *made);
    if (!made) return paritas_fail_memory(context);
    arena_open(&made->arena, &context->allocator);
    struct search search = {
        .context = context, .arena = &made->arena, .year = year, .month = month, .day = day};
    const paritas_status status = find(&search, n, paths, made);
    paritas_release(&context->allocator, search.files);
    if (status == PARITAS_OK)
        *days = &made->open;
    else
        paritas_days_free(&made->open);
    return status;
}

void paritas_days_free(paritas_days *days)
{
    struct days *made = (struct days *)(void *)days;
    if (!made) return;
    const paritas_allocator allocator = made->arena.allocator;
    arena_free(&made->arena);
    paritas_release(&allocator, made);
}
