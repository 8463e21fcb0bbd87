/* day_settings.h: named numbers of a plan: option "--beam-width", key "beam_width". */
#ifndef PARITAS_DAY_SETTINGS_H
#define PARITAS_DAY_SETTINGS_H

#include "session.h"

struct setting {
    const char *option;
    size_t offset; /* of a double in the plan */
};

void settings_take(const struct arguments *arguments, size_t n, const struct setting *settings, void *plan);
void settings_write(struct writer *writer, size_t n, const struct setting *settings, const void *plan);

#endif
