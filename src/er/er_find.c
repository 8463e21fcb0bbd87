/* er_find.c: finds day files by the dates in their names. */
#define _POSIX_C_SOURCE 200809L
#include "er/er.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 16 /* nested folders */

static int digit(char byte)
{
    return byte >= '0' && byte <= '9' ? byte - '0' : -1;
}
static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

int paritas_er_file_date(const char *path)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    if (length < 4 || lower(name[length - 4]) != '.' || lower(name[length - 3]) != 't' ||
        lower(name[length - 2]) != 'a' || lower(name[length - 1]) != 'b')
        return 0;
    for (const char *at = name; *at; at++) {
        if (at[0] != '3' || lower(at[1]) != 'd') continue;
        int date = 0, digits = 0;
        for (; digits < 9 && digit(at[2 + digits]) >= 0; digits++) date = date * 10 + digit(at[2 + digits]);
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

struct dated {
    char *path;
    int date;
};
struct folder {
    dev_t device;
    ino_t inode;
};

struct files {
    paritas_er_files open;
    paritas_allocator allocator;
    int year, month, day;
    struct dated *found; /* own the paths */
    size_t n, room;
    struct folder *entered; /* links may lead to folders entered before */
    size_t n_entered, entered_room;
};

void paritas_er_files_free(paritas_er_files *open)
{
    if (!open) return;
    struct files *files = (struct files *)(void *)open;
    const paritas_allocator allocator = files->allocator;
    for (size_t k = 0; k < files->n; k++) paritas_release(&allocator, files->found[k].path);
    paritas_release(&allocator, files->found);
    paritas_release(&allocator, open->path);
    paritas_release(&allocator, open->date);
    paritas_release(&allocator, files->entered);
    paritas_release(&allocator, files);
}

static bool wanted(const struct files *files, int date)
{
    return (!files->year || date / 10000 == files->year) &&
           (!files->month || date / 100 % 100 == files->month) && (!files->day || date % 100 == files->day);
}

/* Owns the path afterwards. */
static paritas_status add(paritas_context *context, struct files *files, char *path, int date)
{
    struct dated *found = er_grow(context, files->found, files->n, &files->room, 64, sizeof *found);
    if (!found) {
        paritas_release(&context->allocator, path);
        return PARITAS_OUT_OF_MEMORY;
    }
    files->found = found;
    found[files->n++] = (struct dated){path, date};
    return PARITAS_OK;
}

/* FOLDER/NAME; NULL: out of memory. */
static char *join(paritas_context *context, const char *folder, const char *name)
{
    const size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = paritas_allocate(context, room, 1);
    if (path) snprintf(path, room, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

/* first: not entered before. */
static paritas_status enter(paritas_context *context, struct files *files, const struct stat *folder,
                            bool *first)
{
    *first = false;
    for (size_t k = 0; k < files->n_entered; k++)
        if (files->entered[k].device == folder->st_dev && files->entered[k].inode == folder->st_ino)
            return PARITAS_OK;
    struct folder *entered =
        er_grow(context, files->entered, files->n_entered, &files->entered_room, 64, sizeof *entered);
    if (!entered) return PARITAS_OUT_OF_MEMORY;
    files->entered = entered;
    files->entered[files->n_entered++] = (struct folder){folder->st_dev, folder->st_ino};
    *first = true;
    return PARITAS_OK;
}

static paritas_status search(paritas_context *context, struct files *files, const char *folder,
                             unsigned depth)
{
    DIR *entries = opendir(folder);
    if (!entries) return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", folder, strerror(errno));
    paritas_status status = PARITAS_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(entries);
        if (!entry) {
            if (errno) status = paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", folder, strerror(errno));
            break;
        }
        if (entry->d_name[0] == '.') continue;
        struct stat found;
        char *path = join(context, folder, entry->d_name);
        if (!path) {
            status = paritas_fail_memory(context);
            break;
        }
        const int date = paritas_er_file_date(path);
        const bool there = stat(path, &found) == 0;
        if (there && S_ISDIR(found.st_mode)) {
            bool first = false;
            if (depth < DEEPEST) status = enter(context, files, &found, &first);
            if (!status && first) status = search(context, files, path, depth + 1);
            paritas_release(&context->allocator, path);
        } else if (there && date && wanted(files, date)) {
            status = add(context, files, path, date);
        } else {
            paritas_release(&context->allocator, path);
        }
        if (status) break;
    }
    closedir(entries);
    return status;
}

static int by_date(const void *a, const void *b)
{
    const struct dated *const one = a, *const other = b;
    return one->date != other->date ? (one->date < other->date ? -1 : 1) : strcmp(one->path, other->path);
}

/* By date. */
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
    struct stat found;
    *out = NULL;
    if (year < 0 || year > 9999 || month < 0 || month > 12 || day < 0 || day > 31)
        return paritas_refuse(context, "year, month, day: %d-%d-%d is no date, nor a part of one", year,
                              month, day);
    if (stat(path, &found) != 0)
        return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", path, strerror(errno));
    struct files *files = paritas_allocate_clear(context, 1, sizeof *files);
    if (!files) return paritas_fail_memory(context);
    files->allocator = context->allocator;
    files->year = year;
    files->month = month;
    files->day = day;
    paritas_status status = PARITAS_OK;
    const int date = paritas_er_file_date(path);
    if (S_ISDIR(found.st_mode)) {
        bool first;
        status = enter(context, files, &found, &first);
        if (!status) status = search(context, files, path, 0);
    } else if (!date || wanted(files, date)) {
        const size_t length = strlen(path) + 1;
        char *copy = paritas_allocate(context, length, 1);
        if (copy) memcpy(copy, path, length);
        status = copy ? add(context, files, copy, date) : paritas_fail_memory(context);
    }
    if (!status) status = publish(context, files);
    if (status)
        paritas_er_files_free(&files->open);
    else
        *out = &files->open;
    return status;
}
