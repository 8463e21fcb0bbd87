/* crc32.c: eight bytes at a time. */
#include "base/crc32.h"

void crc32_open(struct crc32 *crc)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t c = byte;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? UINT32_C(0xEDB88320) : 0);
        crc->tables[0][byte] = c;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint32_t before = crc->tables[t - 1][byte];
            crc->tables[t][byte] = before >> 8 ^ crc->tables[0][before & 255];
        }
}

uint32_t crc32_append(const struct crc32 *crc, uint32_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint32_t c = ~before;
    for (; length >= 8; length -= 8, at += 8) {
        c ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        c = crc->tables[7][c & 255] ^ crc->tables[6][c >> 8 & 255] ^ crc->tables[5][c >> 16 & 255] ^
            crc->tables[4][c >> 24] ^ crc->tables[3][at[4]] ^ crc->tables[2][at[5]] ^ crc->tables[1][at[6]] ^
            crc->tables[0][at[7]];
    }
    for (; length > 0; length--, at++) c = c >> 8 ^ crc->tables[0][(c ^ *at) & 255];
    return ~c;
}
