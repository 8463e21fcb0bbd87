/* visible.h: text for people. Names come from files, and a terminal obeys what they may hold. */
#pragma once

#include "base/bytes.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define VISIBLE_MOST 8 /* bytes of a letter as it is shown */

/* Letters that no one sees: of control, of the direction of writing, of no width. */
static inline bool is_hidden_letter(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* The first letter of `left` > 0 bytes as it is shown: itself, or a hidden one as \xNN or \uNNNN. Returns the
 * length of `shown`, which has no end byte. *step: the bytes of the letter. */
static inline size_t visible_letter(const char *bytes, size_t left, size_t *step, char shown[VISIBLE_MOST])
{
    const unsigned char *letter = (const unsigned char *)bytes;
    *step = utf8_sequence(letter, left);
    const uint32_t code = *step == 2   ? (letter[0] & 31u) << 6 | (letter[1] & 63u)
                          : *step == 3 ? (letter[0] & 15u) << 12 | (letter[1] & 63u) << 6 | (letter[2] & 63u)
                                       : letter[0];
    if (*step == 4 || (*step > 0 && !is_hidden_letter(code))) {
        memcpy(shown, bytes, *step);
        return *step;
    }
    const bool wide = *step > 1; /* no other byte stands alone */
    if (*step == 0) *step = 1;
    memcpy(shown, wide ? "\\u" : "\\x", 2);
    const size_t digits = wide ? 4 : 2;
    for (size_t k = 0; k < digits; k++) shown[2 + k] = hex_digit(code >> 4 * (digits - 1 - k));
    return 2 + digits;
}

/* Copies a text as it is shown into to[0..room), cut at a whole letter. Returns `to`. */
static inline char *visible_copy(const char *from, size_t room, char *to)
{
    size_t used = 0, step;
    for (size_t left = strlen(from); left > 0; left -= step, from += step) {
        char shown[VISIBLE_MOST];
        const size_t length = visible_letter(from, left, &step, shown);
        if (room - 1 - used < length) break;
        memcpy(to + used, shown, length);
        used += length;
    }
    to[used] = '\0';
    return to;
}
