/* dynamic_library.h: vendors' libraries, opened at run time. */
#ifndef PARITAS_DYNAMIC_LIBRARY_H
#define PARITAS_DYNAMIC_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* NULL: it is not installed. It stays loaded after dlclose, since drivers keep threads and handlers of their
 * own running in it. */
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

#endif
