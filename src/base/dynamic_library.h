/* dynamic_library.h: opens vendors' libraries at run time. Needs only this folder and base.
 *
 * A list X(return type, name, parameters) makes a struct of function pointers and the names to find:
 *
 *   struct opencl_api { OPENCL_FUNCTIONS(LIBRARY_MEMBER) };
 *   static const char *const names[] = {OPENCL_FUNCTIONS(LIBRARY_NAME) NULL};
 *   missing = library_find_all(&library, 1, names, &api); */
#pragma once

#include "base/platform.h"

#include <stdbool.h>
#include <string.h>

#define LIBRARY_MEMBER(type, name, parameters) type(*name) parameters;
#define LIBRARY_NAME(type, name, parameters) #name,

/* Returns NULL if it is not installed. It is never closed: drivers keep threads and handlers running in it.
 * */
static inline void *library_open(const char *name)
{
    return platform_library_open(name);
}

/* Whether something in this process, or Paritas itself, has opened it. */
static inline bool library_is_open(const char *name)
{
    return platform_library_is_open(name);
}

/* Address into the pointer of `size` bytes at `function` (ISO C has no other conversion). False: not
 * found. */
static inline bool library_find(void *library, const char *name, void *function, size_t size)
{
    void *address = platform_library_find(library, name);
    if (address) memcpy(function, &address, size);
    return address != NULL;
}

/* In the order of `names`, each from the first library that has it. Returns a missing name, or NULL. */
static inline const char *library_find_all(void *const *libraries, size_t n_libraries,
                                           const char *const *names, void *api)
{
    typedef void (*function)(void);
    for (size_t k = 0; names[k]; k++) {
        bool found = false;
        for (size_t l = 0; l < n_libraries && !found; l++)
            found = library_find(libraries[l], names[k], (function *)api + k, sizeof(function));
        if (!found) return names[k];
    }
    return NULL;
}
