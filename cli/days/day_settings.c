/* day_settings.c: takes and writes the fields of a plan. */
#include "days/day_settings.h"

#include <string.h>

/* LO:HI, or one number. */
static bool read_range(const char *text, paritas_range *range)
{
    char lower[64] = "";
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof lower) return false;
    memcpy(lower, text, length);
    return number_of_text(lower, &range->lower) && number_of_text(colon ? colon + 1 : text, &range->upper) &&
           range->lower <= range->upper;
}

static paritas_status take(struct session *session, const struct setting *s, void *field)
{
    const struct given *given = option_value(session, s->option);
    double *number = field;
    paritas_range *range = field;
    switch (s->kind) {
    case SETTING_FLAG:
        *(int *)field = given != NULL;
        break;
    case SETTING_RANGE:
        if (given && (!read_range(given->text, range) || range->lower < s->least))
            return usage_failure(session, "%s takes LO:HI, not '%s'", s->option, given->text);
        break;
    case SETTING_NUMBER:
        if (given) *number = given->number;
        if (s->most > 0.0 && !(*number >= s->least && *number <= s->most))
            return usage_failure(session, "%s takes a number from %g to %g", s->option, s->least, s->most);
        break;
    }
    return PARITAS_OK;
}

paritas_status settings_take(struct session *session, size_t n, const struct setting *settings, void *plan)
{
    for (size_t i = 0; i < n; i++) TRY(take(session, &settings[i], (char *)plan + settings[i].offset));
    return PARITAS_OK;
}

void settings_write(struct writer *writer, size_t n, const struct setting *settings, const void *plan,
                    unsigned parts)
{
    for (size_t i = 0; i < n; i++) {
        const void *field = (const char *)plan + settings[i].offset;
        const paritas_range *range = field;
        char key[32] = "";
        if (settings[i].part != 0 && !(settings[i].part & parts)) continue;
        strncat(key, settings[i].option + strlen("--"), sizeof key - 1);
        for (char *at = key; *at != '\0'; at++)
            if (*at == '-') *at = '_';
        if (settings[i].kind == SETTING_FLAG)
            write_bool(writer, key, *(const int *)field != 0);
        else if (settings[i].kind == SETTING_RANGE)
            write_numbers(writer, key, 2, (const double[2]){range->lower, range->upper});
        else
            write_number(writer, key, *(const double *)field);
    }
}
