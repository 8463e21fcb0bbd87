/* processor.h: what this processor can do. */
#pragma once

/* x86-64-v3 (level 3) has fma and AVX2, v4 (level 4) AVX-512; plainer: 1. 0: not x86-64. */
int processor_level(void);

/* What the processor calls itself, as far as it does; "unknown". */
#define PROCESSOR_NAME_ROOM 96
void processor_name(char name[PROCESSOR_NAME_ROOM]);

/* HOST_FUNCTION(name, function): double name(double x), the kernels' `function` at width one. On x86-64 fma
 * calls the C library unless the compiler may use the instruction: a twin of the function may. Both round the
 * same way. */
#if defined(__x86_64__) && !defined(__FMA__)
#define HOST_FUNCTION(name, function)                                                       \
    __attribute__((target("fma"), flatten, noinline)) static double name##_by_fma(double x) \
    {                                                                                       \
        return function(x);                                                                 \
    }                                                                                       \
    double name(double x)                                                                   \
    {                                                                                       \
        return processor_level() >= 3 ? name##_by_fma(x) : function(x);                     \
    }
#else
#define HOST_FUNCTION(name, function) \
    double name(double x)             \
    {                                 \
        return function(x);           \
    }
#endif
