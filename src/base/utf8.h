/* utf8.h: well-formed UTF-8 sequences (Unicode 15, table 3-7: not overlong, no surrogates). */
#pragma once

#include <stddef.h>

/* Length (1 to 4) of the sequence at `bytes`, of which `left` are readable; 0: none. */
static inline size_t utf8_sequence(const unsigned char *bytes, size_t left)
{
    if (left == 0) return 0;
    unsigned char lead = bytes[0];
    if (lead < 0x80) return 1;
    size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                    : (lead & 0xf0) == 0xe0        ? 3
                    : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || left < length) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
    }
    if ((lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xed && bytes[1] > 0x9f)) return 0;
    if ((lead == 0xf0 && bytes[1] < 0x90) || (lead == 0xf4 && bytes[1] > 0x8f)) return 0;
    return length;
}
