/* fuzzing.h: a context on malloc, and a check that stops the program where a fuzzer notices. */
#ifndef PARITAS_TESTS_FUZZ_FUZZING_H
#define PARITAS_TESTS_FUZZ_FUZZING_H

#include "base/json/json.h"
#include <stdlib.h>
#include <string.h>

static void *fuzz_allocate(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void *fuzz_reallocate(void *user, void *memory, size_t size)
{
    (void)user;
    return realloc(memory, size);
}

static void fuzz_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static inline paritas_context fuzz_context(void)
{
    return (paritas_context){.allocator = {fuzz_allocate, fuzz_reallocate, fuzz_release, NULL}};
}

static inline void check(bool claim)
{
    if (!claim) abort();
}

#endif
