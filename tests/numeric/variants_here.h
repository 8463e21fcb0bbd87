/* variants_here.h: all variants of this build, and which of them this processor runs. */
#ifndef PARITAS_TESTS_NUMERIC_VARIANTS_HERE_H
#define PARITAS_TESTS_NUMERIC_VARIANTS_HERE_H

#include "numeric_variants.h"
#include "numeric_variant.h"

#define DECLARE(name, isa) extern const struct numeric_variant name;
NUMERIC_VARIANTS(DECLARE)
#undef DECLARE

enum isa { portable, avx2, avx512 };
static const struct {
    const struct numeric_variant *variant;
    enum isa isa;
} variants[] = {
#define ENTRY(name, isa) {&name, isa},
    NUMERIC_VARIANTS(ENTRY)
#undef ENTRY
};

static inline int runs_here(enum isa isa)
{
#if defined(__x86_64__)
    int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl");
    return isa == portable || (isa == avx2 ? has_avx2 : has_avx512);
#else
    return isa == portable;
#endif
}

#endif
