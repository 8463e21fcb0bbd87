/* codes_testing.h: workspaces whose modifiers have interpolation codes of their own. */
#ifndef PARITAS_TESTS_CODES_TESTING_H
#define PARITAS_TESTS_CODES_TESTING_H

#include "common.h"

#include <stdbool.h>

/* The text with a code for each normsys and histosys, in turn from these lists, which end with NULL. */
static inline void put_codes(const char *text, const char *const *normsys, const char *const *histosys,
                             char *to, size_t room)
{
    size_t n[2] = {0, 0}, at = 0;
    for (const char *c = text; *c; c++) {
        const bool factor = !strncmp(c, "\"hi\":", 5), shift = !strncmp(c, "\"hi_data\":", 10);
        if (factor || shift) {
            const char *const *codes = factor ? normsys : histosys;
            if (!codes[n[shift]]) n[shift] = 0;
            at += (size_t)snprintf(to + at, room - at, "\"interpcode\": \"code%s\", ", codes[n[shift]++]);
        }
        assert_true(at + 1 < room);
        to[at++] = *c;
    }
    to[at] = '\0';
}

#endif
