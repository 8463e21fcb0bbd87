/* sized.h: structs of the public interface, which begin with their size (paritas_records.h).
 *
 * To let a struct grow, add the field at its end and the old size to `earlier` in sized.c. Older callers then
 * get the field's default. */
#ifndef PARITAS_SIZED_H
#define PARITAS_SIZED_H

#include "base/context.h"

/* Takes the caller's struct `given` of `type`, the argument of this name, into *own, which holds the defaults
 * (NULL: they stay). INVALID_ARGUMENT: a size that no version had. */
#define SIZED_TAKE(context, type, argument, given, own) \
    sized_take(context, #type, argument, given, own, sizeof(type))
paritas_status sized_take(paritas_context *context, const char *type, const char *argument, const void *given,
                          void *own, size_t size);

/* The same check of a struct that receives an answer, or of the first one of an array of `n`. */
#define SIZED_CHECK(context, type, argument, n, given) \
    sized_check(context, #type, argument, n, given, sizeof(type))
paritas_status sized_check(paritas_context *context, const char *type, const char *argument, size_t n,
                           const void *given, size_t size);

#endif
