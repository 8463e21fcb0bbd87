/* compiler_probe.c: what the kernels ask of a compiler beyond C17. gcc and clang can from version 12 on.
 * CMake (ParitasModule.cmake) and tools/setup try it. */
typedef int pair __attribute__((vector_size(2 * sizeof(int))));

#ifdef __x86_64__
#pragma GCC diagnostic error "-Wattributes"
#ifdef __clang__
#pragma clang diagnostic error "-Wignored-attributes"
#endif
__attribute__((target("arch=x86-64-v3"))) int knows_the_processor(void);
int knows_the_processor(void)
{
    return 3;
}
#endif

pair turned(pair v);
pair turned(pair v)
{
    return __builtin_shufflevector(v, v, 1, 0);
}
