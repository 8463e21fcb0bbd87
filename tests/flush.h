/* flush.h: makes this thread's processor flush subnormal numbers, as many devices do: operands count as zero,
 * results become zero. */
#ifndef PARITAS_TESTS_FLUSH_H
#define PARITAS_TESTS_FLUSH_H

#include <stdint.h>

/* why tests skip where FLUSH_IS_KNOWN is 0 */
#define FLUSH_UNKNOWN "how this processor flushes subnormal numbers is not known"

#if defined(__x86_64__)
#include <immintrin.h>
#define FLUSH_IS_KNOWN 1
/* Flushes from now on; what flush_end restores. */
static inline uint64_t flush_begin(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* flush to zero, denormals are zero */
    return before;
}
static inline void flush_end(uint64_t before)
{
    _mm_setcsr((unsigned)before);
}
#elif defined(__aarch64__)
#define FLUSH_IS_KNOWN 1
static inline uint64_t flush_begin(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (uint64_t)1 << 24) : "memory");
    return before;
}
static inline void flush_end(uint64_t before)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory");
}
#else
#define FLUSH_IS_KNOWN 0
static inline uint64_t flush_begin(void)
{
    return 0;
}
static inline void flush_end(uint64_t before)
{
    (void)before;
}
#endif

#endif
