/* day_files.c: asks for days by the options of dates; makes folders. */
#include "days/day_files.h"
#include "base/platform.h"

#include <errno.h>
#include <string.h>

const struct option options_days[] = {
    {"--year", OPTION_COUNT, "YYYY", "only day files of this year"},
    {"--month", OPTION_COUNT, "MM", "only day files of this month"},
    {"--day", OPTION_COUNT, "DD", "only day files of this day of the month"},
    {0},
};

paritas_status find_days(struct session *session, paritas_days **days)
{
    const struct arguments *arguments = session->arguments;
    const size_t year = option_count(session, "--year"), month = option_count(session, "--month"),
                 date = option_count(session, "--day");
    *days = NULL;
    if (year > 9999) return usage_failure(session, "--year takes a year of four digits");
    if (month > 12) return usage_failure(session, "--month takes a whole number from 1 to 12");
    if (date > 31) return usage_failure(session, "--day takes a whole number from 1 to 31");
    return paritas_days_find(session->context, arguments->n_operands,
                             (const char *const *)arguments->operands, (int)year, (int)month, (int)date,
                             days);
}

paritas_status make_folder(struct session *session, const char *folder)
{
    struct platform_info info;
    char *path = arena_copied(session, folder, strlen(folder));
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
