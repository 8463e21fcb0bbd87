/* day_settings.h: numbers of a plan, each under one name: option "--beam-width", key "beam_width". */
#ifndef PARITAS_DAY_SETTINGS_H
#define PARITAS_DAY_SETTINGS_H

#include "session.h"

struct setting {
    const char *option;
    size_t offset; /* of the double in the plan */
};

/* Takes what was given on the command line; the plan holds the defaults. */
void settings_take(const struct arguments *arguments, size_t n, const struct setting *settings, void *plan);
/* Writes all under their keys. */
void settings_write(struct writer *writer, size_t n, const struct setting *settings, const void *plan);

#endif
