/* philox.h: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11), the same for all lanes. */
#pragma once

typedef struct {
    u32 word[4];
} philox_block;

/* By 16-bit products: wider words are not everywhere. */
FN u32 philox_high(u32 a, u32 b)
{
    const u32 al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16, cross = ah * bl, other = al * bh;
    const u32 middle = (al * bl >> 16) + (cross & 0xffff) + (other & 0xffff);
    return ah * bh + (cross >> 16) + (other >> 16) + (middle >> 16);
}

FN philox_block philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 key0, u32 key1)
{
    for (u32 round = 0; round < 10; round++) {
        const u32 high0 = philox_high(c0, 0xd2511f53), high1 = philox_high(c2, 0xcd9e8d57);
        const u32 low0 = c0 * 0xd2511f53, low1 = c2 * 0xcd9e8d57;
        c0 = high1 ^ c1 ^ key0;
        c1 = low1;
        c2 = high0 ^ c3 ^ key1;
        c3 = low0;
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
    philox_block b;
    b.word[0] = c0;
    b.word[1] = c1;
    b.word[2] = c2;
    b.word[3] = c3;
    return b;
}

/* A uniform number of 24 bits, exact in every precision. */
FN real philox_uniform(u32 word)
{
    return (REAL_OF(word >> 8) + R(0.5)) * R(5.9604644775390625e-8);
}
