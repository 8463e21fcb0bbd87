/* day_files.c: finds day files and sorts them into days. */
#include "days/day_files.h"
#include "days/day_provenance.h"
#include "base/platform.h"
#include "moon/er/er.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option options_days[] = {
    {"--year", OPTION_COUNT, "YYYY", "only day files of this year"},
    {"--month", OPTION_COUNT, "MM", "only of this month"},
    {"--day", OPTION_COUNT, "DD", "only of this day of the month"},
    {0},
};

/* YYYY-MM-DD */
static void write_date(int date, char out[11])
{
    snprintf(out, 11, "%04u-%02u-%02u", (unsigned)date / 10000 % 10000, (unsigned)date / 100 % 100,
             (unsigned)date % 100);
}

struct search {
    struct session *session;
    int year, month, day; /* 0: any */
    struct day_file *files;
    size_t n;
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
    struct session *session = search->session;
    if (date != 0 && !is_wanted(search, date)) return PARITAS_OK;
    search->files = grown(session, search->files, search->n, sizeof *search->files);
    const char *copy = copied(session, path, strlen(path));
    TRY(allocated(session));
    search->files[search->n++] = (struct day_file){copy, date};
    return PARITAS_OK;
}

/* Its rows say what date a file is of; without any, its name does. */
static paritas_status add_found(struct search *search, const char *path, int name)
{
    paritas_context *context = search->session->context;
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
    struct session *session = search->session;
    paritas_er_files *found = NULL;
    TRY(paritas_er_find(session->context, folder, 0, 0, 0, &found));
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; status == PARITAS_OK && i < found->n; i++)
        status = add_found(search, found->path[i], found->date[i]);
    paritas_er_files_free(found);
    return status;
}

paritas_status no_day_file(paritas_context *context, const char *path)
{
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s: no row begins with a time, YYYY-MM-DDThh:mm:ss: this is no day file", path);
}

/* A file of any name. */
static paritas_status add_given(struct search *search, const char *path)
{
    const int name = paritas_er_file_date(path);
    int date;
    const paritas_status status = er_date_of_rows(search->session->context, path, name, &date);
    if (status != PARITAS_OK && status != PARITAS_INVALID_INPUT) return status;
    return add_file(search, path, status == PARITAS_OK && date != 0 ? date : name);
}

static int by_date_and_path(const void *a, const void *b)
{
    const struct day_file *x = a, *y = b;
    return x->date != y->date ? (x->date > y->date) - (x->date < y->date) : strcmp(x->path, y->path);
}

/* Equal bytes? An unreadable file equals none; its day reports why. */
static bool same_bytes(paritas_context *context, const char *one, const char *other)
{
    struct platform_info first, second;
    char digests[2][65];
    if (!platform_info(one, &first) || !platform_info(other, &second) || first.size != second.size)
        return false;
    return file_digest(context, one, digests[0]) == PARITAS_OK &&
           file_digest(context, other, digests[1]) == PARITAS_OK && strcmp(digests[0], digests[1]) == 0;
}

/* One of n sorted files with date and bytes of `file`; NULL: none. */
static const struct day_file *copy_of(paritas_context *context, const struct day_file *files, size_t n,
                                      const struct day_file *file)
{
    while (n > 0 && files[n - 1].date == file->date)
        if (same_bytes(context, files[--n].path, file->path)) return &files[n];
    return NULL;
}

static paritas_status none_found(struct session *session)
{
    static const char *const options[3] = {"--year", "--month", "--day"};
    char wanted[64] = "";
    for (int k = 0; k < 3; k++) {
        const size_t value = option_count(session, options[k]), length = strlen(wanted);
        if (value != 0)
            snprintf(wanted + length, sizeof wanted - length, "%s%s %zu", length > 0 ? ", " : " of ",
                     options[k] + 2, value);
    }
    return paritas_fail(session->context, PARITAS_NOT_FOUND, "%s: there is no day file (3DYYMMDD.TAB)%s",
                        session->arguments->operands[0], wanted);
}

/* Files of one date are one day. Of copies the first is kept. */
static paritas_status sort_into_days(struct session *session, size_t n, struct day_file *files,
                                     struct days *days)
{
    size_t kept = 0, copies = 0;
    struct day_file copy = {NULL, 0}, original = {NULL, 0};
    *days = (struct days){.days = elements(session, n, sizeof *days->days)};
    TRY(allocated(session));
    for (size_t i = 0; i < n; i++) {
        const struct day_file file = files[i];
        if (kept > 0 && by_date_and_path(&files[kept - 1], &file) == 0) continue; /* given twice */
        const struct day_file *same = copy_of(session->context, files, kept, &file);
        if (same && copies++ == 0) {
            copy = file;
            original = *same;
        }
        if (same) continue;
        files[kept] = file;
        if (kept == 0 || file.date == 0 || files[kept - 1].date != file.date) {
            struct day *day = &days->days[days->n++];
            day->files = &files[kept];
            if (file.date != 0) write_date(file.date, day->date);
        }
        days->days[days->n - 1].n++;
        kept++;
    }
    if (copies == 1)
        paritas_note(session->context, "%s: is a copy of %s and left out", copy.path, original.path);
    else if (copies > 1)
        paritas_note(session->context, "%zu files are copies of others and left out; the first is %s, of %s",
                     copies, copy.path, original.path);
    return PARITAS_OK;
}

paritas_status days_find(struct session *session, struct days *days)
{
    const struct arguments *arguments = session->arguments;
    const size_t year = option_count(session, "--year"), month = option_count(session, "--month"),
                 date = option_count(session, "--day");
    if (year > 9999) return usage_failure(session, "--year takes a year of four digits");
    if (month > 12) return usage_failure(session, "--month takes a whole number from 1 to 12");
    if (date > 31) return usage_failure(session, "--day takes a whole number from 1 to 31");
    struct search search = {.session = session, .year = (int)year, .month = (int)month, .day = (int)date};
    for (size_t i = 0; i < arguments->n_operands; i++) {
        struct platform_info info;
        const char *path = arguments->operands[i];
        const bool folder = platform_info(path, &info) && info.kind == PLATFORM_FOLDER;
        TRY((folder ? add_folder : add_given)(&search, path));
    }
    if (search.n == 0) return none_found(session);
    qsort(search.files, search.n, sizeof *search.files, by_date_and_path);
    if (search.files[search.n - 1].date == 0) return no_day_file(session->context, search.files[0].path);
    return sort_into_days(session, search.n, search.files, days);
}

uint64_t day_first_sweep(const struct day *day)
{
    return (uint64_t)day->files[0].date << 24;
}

paritas_status make_folder(struct session *session, const char *folder)
{
    struct platform_info info;
    char *path = copied(session, folder, strlen(folder));
    TRY(allocated(session));
    for (char *at = path; *at;) {
        while (platform_is_separator(*at)) at++;
        while (*at && !platform_is_separator(*at)) at++;
        const char separator = *at;
        *at = '\0';
        if (!platform_make_folder(path))
            return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: cannot be made: %s", path,
                                strerror(errno));
        *at = separator;
    }
    if (!platform_info(folder, &info) || info.kind != PLATFORM_FOLDER)
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: is no folder", folder);
    if (!platform_writable(folder))
        return paritas_fail(session->context, PARITAS_UNWRITABLE, "%s: cannot be written: %s", folder,
                            strerror(errno));
    return PARITAS_OK;
}
