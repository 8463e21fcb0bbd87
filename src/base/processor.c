/* processor.c: what this processor can do. */
#include "base/processor.h"

#include <stdatomic.h>
#include <stddef.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

/* Operating system included. */
static int ask(void)
{
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    const unsigned need1 = bit_FMA | bit_AVX | bit_OSXSAVE | bit_MOVBE | bit_F16C | bit_SSE4_2 | bit_POPCNT;
    if ((c & need1) != need1) return 1;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6) return 1;
    __cpuid_count(7, 0, a, b, c, d); /* exists, as the leaf of what OSXSAVE saves, 13, does */
    const unsigned need7 = bit_AVX2 | bit_BMI | bit_BMI2;
    if ((b & need7) != need7) return 1;
    const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512CD | bit_AVX512VL;
    return (b & avx512) == avx512 && (low & 0xe6) == 0xe6 ? 4 : 3;
}

int processor_level(void)
{
    static atomic_int known; /* asking takes 40 us in a virtual machine */
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level == 0) {
        level = ask();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

/* Brand (three leaves of 16 bytes), family and model (Intel SDM, CPUID; AMD has the same). */
void processor_name(char name[PROCESSOR_NAME_ROOM])
{
    unsigned words[13] = {0}, a, b, c, d;
    const char *brand = (const char *)words;
    if ((unsigned)__get_cpuid_max(0x80000000, NULL) >= 0x80000004)
        for (unsigned leaf = 0; leaf < 3; leaf++)
            __cpuid(0x80000002 + leaf, words[4 * leaf], words[4 * leaf + 1], words[4 * leaf + 2],
                    words[4 * leaf + 3]);
    while (*brand == ' ') brand++;
    size_t length = strlen(brand);
    while (length > 0 && brand[length - 1] == ' ') length--;
    __cpuid(1, a, b, c, d);
    const unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    snprintf(name, PROCESSOR_NAME_ROOM, "%.*s (family %u, model %u)", (int)length, brand,
             family == 15 ? family + (a >> 20 & 255) : family,
             family == 15 || family == 6 ? model + (a >> 12 & 240) : model);
}
#else
#include "base/platform.h"

int processor_level(void)
{
    return 0;
}

void processor_name(char name[PROCESSOR_NAME_ROOM])
{
    platform_processor(PROCESSOR_NAME_ROOM, name);
}
#endif
