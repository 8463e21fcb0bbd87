/* er_find.c: finds day files by the dates in their names. */
#define _POSIX_C_SOURCE 200809L
#include "moon/er/er_input.h"

#include "base/platform.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEEPEST 16 /* nested folders */

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

int er_name_date(const char *path, const char *kind)
{
    const char *const name = platform_file_name(path);
    if (!ends_with(name, ".tab") && !ends_with(name, ".tab.gz")) return 0;
    for (const char *at = name; *at; at++) {
        if (strncasecmp(at, kind, 2) != 0) continue;
        int date = 0, digits = 0;
        for (const char *d = at + 2; digits < 9 && *d >= '0' && *d <= '9'; d++, digits++)
            date = date * 10 + (*d - '0');
        if (digits == 6)
            date += date / 10000 > 50 ? 19000000 : 20000000;
        else if (digits != 8)
            continue;
        const int year = date / 10000, month = date / 100 % 100, day = date % 100;
        if (year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= er_month_days(year, month))
            return date;
    }
    return 0;
}

int paritas_er_file_date(const char *path)
{
    GIVEN(0, path);
    return er_name_date(path, "3D");
}

/* YYYYMMDD of a line that begins with YYYY-MM-DDT, also after blanks; else 0, also where a clock was not
 * set. */
static int line_date(const char *line)
{
    static const char form[] = "dddd-dd-ddT";
    int date = 0;
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (form[i] != 'd' && line[i] != form[i]) return 0;
        if (form[i] == 'd' && (line[i] < '0' || line[i] > '9')) return 0;
        if (form[i] == 'd') date = 10 * date + (line[i] - '0');
    }
    return date == 19700101 ? 0 : date;
}

/* Beginnings of lines, as they come. */
struct dates {
    char begin[64];
    size_t length;
    int name, first;
    uint64_t of_name, of_first; /* lines */
};

static void end_line(struct dates *dates)
{
    dates->begin[dates->length] = '\0';
    dates->length = 0;
    const int date = line_date(dates->begin);
    if (date == 0) return;
    if (dates->first == 0) dates->first = date;
    dates->of_name += date == dates->name;
    dates->of_first += date == dates->first;
}

static void take_lines(struct dates *dates, const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *const stop = newline ? newline : end;
        const size_t room = sizeof dates->begin - 1 - dates->length, here = (size_t)(stop - at),
                     taken = here < room ? here : room;
        memcpy(dates->begin + dates->length, at, taken);
        dates->length += taken;
        if (newline) end_line(dates);
        at = newline ? newline + 1 : end;
    }
}

paritas_status er_date_of_rows(paritas_context *context, const char *path, int name, int *date)
{
    struct dates dates = {.name = name};
    struct er_input input;
    char piece[16384];
    TRY(er_input_open(context, path, NULL, &input));
    for (size_t got = 1; got > 0 && (dates.first == 0 || (name != 0 && dates.first != name));) {
        got = er_input_read(&input, piece, sizeof piece);
        take_lines(&dates, piece, piece + got);
    }
    end_line(&dates);
    *date = dates.of_name >= dates.of_first && dates.of_name > 0 ? name : dates.first;
    return er_input_close(&input, NULL);
}

struct dated {
    char *path; /* in the arena */
    int date;
};
struct folder {
    uint64_t volume, number;
};

struct files {
    paritas_er_files open;
    struct arena paths;
    const char *kind;
    int year, month, day;
    struct dated *found;
    size_t n, room;
    struct folder *entered; /* links may lead to folders entered before */
    size_t n_entered, entered_room;
};

void paritas_er_files_free(paritas_er_files *open)
{
    if (!open) return;
    struct files *files = (struct files *)(void *)open;
    const paritas_allocator allocator = files->paths.allocator;
    paritas_release(&allocator, files->found);
    paritas_release(&allocator, open->path);
    paritas_release(&allocator, open->date);
    paritas_release(&allocator, files->entered);
    arena_free(&files->paths);
    paritas_release(&allocator, files);
}

static bool wanted(const struct files *files, int date)
{
    return (!files->year || date / 10000 == files->year) &&
           (!files->month || date / 100 % 100 == files->month) && (!files->day || date % 100 == files->day);
}

/* A path in the arena; NULL: out of memory. */
static paritas_status add(paritas_context *context, struct files *files, char *path, int date)
{
    if (!path) return paritas_fail_memory(context);
    struct dated *found = er_grow(context, files->found, files->n, &files->room, 64, sizeof *found);
    if (!found) return PARITAS_OUT_OF_MEMORY;
    files->found = found;
    found[files->n++] = (struct dated){path, date};
    return PARITAS_OK;
}

char *er_path(struct arena *arena, const char *folder, const char *name)
{
    const size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = arena_allocate(arena, room);
    if (path)
        snprintf(path, room, "%s%s%s", folder, length && platform_is_separator(folder[length - 1]) ? "" : "/",
                 name);
    return path;
}

/* first: not entered before. */
static paritas_status enter(paritas_context *context, struct files *files, const struct platform_info *folder,
                            bool *first)
{
    *first = false;
    for (size_t k = 0; k < files->n_entered; k++)
        if (files->entered[k].volume == folder->volume && files->entered[k].number == folder->number)
            return PARITAS_OK;
    struct folder *entered =
        er_grow(context, files->entered, files->n_entered, &files->entered_room, 64, sizeof *entered);
    if (!entered) return PARITAS_OUT_OF_MEMORY;
    files->entered = entered;
    files->entered[files->n_entered++] = (struct folder){folder->volume, folder->number};
    *first = true;
    return PARITAS_OK;
}

static paritas_status search(paritas_context *context, struct files *files, const char *folder,
                             unsigned depth)
{
    struct platform_folder *entries = platform_folder_open(folder);
    if (!entries) return er_unreadable(context, folder);
    paritas_status status = PARITAS_OK;
    for (const char *name; !status && (name = platform_folder_next(entries)) != NULL;) {
        struct platform_info found;
        const int date = er_name_date(name, files->kind);
        if (name[0] == '.' || !platform_folder_info(entries, name, &found)) continue;
        if (found.kind == PLATFORM_FOLDER) {
            bool first = false;
            if (depth < DEEPEST) status = enter(context, files, &found, &first);
            if (status || !first) continue;
            const char *path = er_path(&files->paths, folder, name);
            status = path ? search(context, files, path, depth + 1) : paritas_fail_memory(context);
        } else if (date && wanted(files, date)) {
            status = add(context, files, er_path(&files->paths, folder, name), date);
        }
    }
    if (!status && errno) status = er_unreadable(context, folder);
    platform_folder_close(entries);
    return status;
}

static int by_date(const void *a, const void *b)
{
    const struct dated *const one = a, *const other = b;
    return one->date != other->date ? (one->date < other->date ? -1 : 1) : strcmp(one->path, other->path);
}

/* Publishes the files in the order of dates. */
static paritas_status publish(paritas_context *context, struct files *files)
{
    paritas_er_files *open = &files->open;
    open->path = paritas_allocate(context, files->n + 1, sizeof *open->path);
    open->date = paritas_allocate(context, files->n + 1, sizeof *open->date);
    if (!open->path || !open->date) return paritas_fail_memory(context);
    if (files->n) qsort(files->found, files->n, sizeof *files->found, by_date);
    for (; open->n < files->n; open->n++) {
        open->path[open->n] = files->found[open->n].path;
        open->date[open->n] = files->found[open->n].date;
    }
    return PARITAS_OK;
}

paritas_status paritas_er_find(paritas_context *context, const char *path, int year, int month, int day,
                               paritas_er_files **out)
{
    REQUIRE_AS(context, "path, files", path, out);
    return er_find_kind(context, path, "3D", year, month, day, out);
}

paritas_status paritas_er_find_mags(paritas_context *context, const char *path, paritas_er_files **out)
{
    REQUIRE_AS(context, "path, files", path, out);
    return er_find_kind(context, path, "MA", 0, 0, 0, out);
}

paritas_status er_find_kind(paritas_context *context, const char *path, const char *kind, int year, int month,
                            int day, paritas_er_files **out)
{
    struct platform_info found;
    *out = NULL;
    if (year < 0 || year > 9999 || month < 0 || month > 12 || day < 0 || day > 31)
        return paritas_refuse(context, "year, month, day: %d-%d-%d is no date, nor a part of one", year,
                              month, day);
    if (!platform_info(path, &found)) return er_unreadable(context, path);
    struct files *files = paritas_allocate_clear(context, 1, sizeof *files);
    if (!files) return paritas_fail_memory(context);
    arena_open(&files->paths, &context->allocator);
    files->kind = kind;
    files->year = year;
    files->month = month;
    files->day = day;
    paritas_status status = PARITAS_OK;
    const int date = er_name_date(path, kind);
    if (found.kind == PLATFORM_FOLDER) {
        bool first;
        status = enter(context, files, &found, &first);
        if (!status) status = search(context, files, path, 0);
    } else if (!date || wanted(files, date)) {
        status = add(context, files, arena_text(&files->paths, path, strlen(path)), date);
    }
    if (!status) status = publish(context, files);
    if (status)
        paritas_er_files_free(&files->open);
    else
        *out = &files->open;
    return status;
}
