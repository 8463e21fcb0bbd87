/* dynamic_library.h: vendors' libraries, opened at run time. Needs nothing of the library but this folder.
 *
 * The part of a vendor's interface that is used stands in a list X(return type, name, parameters). It makes a
 * struct of function pointers, and the names to look for, in the same order:
 *
 *   struct opencl_api { OPENCL_FUNCTIONS(LIBRARY_MEMBER) };
 *   static const char *const names[] = {OPENCL_FUNCTIONS(LIBRARY_NAME)};
 *   missing = library_find_all(&library, 1, names, n, &api, sizeof api);
 */
#ifndef PARITAS_DEVICE_DYNAMIC_LIBRARY_H
#define PARITAS_DEVICE_DYNAMIC_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY_MEMBER(type, name, parameters) type(*name) parameters;
#define LIBRARY_NAME(type, name, parameters) #name,

/* NULL: it is not installed. It stays loaded to the end of the process, since drivers keep threads and
 * handlers of their own running in it. */
static inline void *library_open(const char *name)
{
    int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_NODELETE)
    flags |= RTLD_NODELETE;
#endif
    return dlopen(name, flags);
}

/* The address of a function into the pointer of `size` bytes at `function`: the one conversion to a function
 * that ISO C leaves. False: there is none of that name. */
static inline bool library_find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    if (address) memcpy(function, &address, size);
    return address != NULL;
}

/* Fills a struct of function pointers, in the order of `names`, each from the first library that has it. The
 * name of one that none has; NULL: all were found. */
static inline const char *library_find_all(void *const *libraries, size_t n_libraries,
                                           const char *const *names, size_t n, void *api)
{
    typedef void (*function)(void);
    for (size_t k = 0; k < n; k++) {
        bool found = false;
        for (size_t l = 0; l < n_libraries && !found; l++)
            found = library_find(libraries[l], names[k], (function *)api + k, sizeof(function));
        if (!found) return names[k];
    }
    return NULL;
}

#endif
