/* day_settings.c: takes and writes numbers of a plan. */
#include "days/day_settings.h"

#include <string.h>

void settings_take(const struct arguments *arguments, size_t n, const struct setting *settings, void *plan)
{
    for (size_t i = 0; i < n; i++) {
        double *value = (double *)(void *)((char *)plan + settings[i].offset);
        *value = option_number(arguments, settings[i].option, *value);
    }
}

void settings_write(struct writer *writer, size_t n, const struct setting *settings, const void *plan)
{
    for (size_t i = 0; i < n; i++) {
        char key[32] = "";
        strncat(key, settings[i].option + strlen("--"), sizeof key - 1);
        for (char *at = key; *at != '\0'; at++)
            if (*at == '-') *at = '_';
        write_number(writer, key, *(const double *)(const void *)((const char *)plan + settings[i].offset));
    }
}
