/* sized.h: structs of the public interface with their size set, without cmocka: programs that are no tests
 * use it too. */
#ifndef PARITAS_TESTS_SIZED_H
#define PARITAS_TESTS_SIZED_H

#include <stdlib.h>
#include <string.h>

/* A pointer to a struct with its size and these fields set, for one call:
 * SIZED(paritas_fit_answers, .results = &result, .parameters = best). */
#define SIZED(type, ...) (&(type){.size = sizeof(type), __VA_ARGS__})

/* n structs with their size set, all else 0; NULL where there is no memory. Freed by the caller. */
static inline void *sized_calloc(size_t n, size_t size)
{
    char *structs = calloc(n + 1, size);
    for (size_t i = 0; structs && i < n; i++) memcpy(structs + i * size, &size, sizeof size);
    return structs;
}

#endif
