/* day_settings.h: options that set a plan's fields and stand in its description: "--beam-width" is the key
 * "beam_width". */
#pragma once

#include "session/session.h"
#include "paritas_days.h"

enum setting_kind { SETTING_NUMBER, SETTING_RANGE, SETTING_FLAG };

struct setting {
    const char *option;
    size_t offset; /* in the plan: of a double, a paritas_range or an int */
    enum setting_kind kind;
    double least, most; /* most = 0: no check; of a range, `least` alone */
    unsigned part;      /* 0: always described */
};

/* Fields without option and default stay as they are. Wrong values: exit code 2. */
paritas_status settings_take(struct session *session, size_t n, const struct setting *settings, void *plan);
/* `parts`: bits of the parts that are described. */
void settings_write(struct writer *writer, size_t n, const struct setting *settings, const void *plan,
                    unsigned parts);
