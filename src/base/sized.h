/* sized.h: public structs begin with their size (paritas_records.h).
 *
 * To let one grow: add the field at its end, the old size to `earlier` in sized.c. Older callers get the
 * default. */
#pragma once

#include "base/context.h"

/* Copies the caller's `given` over the defaults in *own; NULL keeps them. INVALID_ARGUMENT: a size of no
 * version. */
#define SIZED_TAKE(context, type, argument, given, own) \
    sized_take(context, #type, argument, given, own, sizeof(type))
paritas_status sized_take(paritas_context *context, const char *type, const char *argument, const void *given,
                          void *own, size_t size);

/* SIZED_TAKE of a struct of options, and the checks that its list asks for. A refusal names the options in
 * back quotes. */
#define OPTIONS_READ(context, type, argument, given, own) \
    options_read(context, paritas_option_list_find(#type), argument, given, own)
paritas_status options_read(paritas_context *context, const paritas_option_list *list, const char *argument,
                            const void *given, void *own);

/* The same check for results: one struct, or the first of `n`. */
#define SIZED_CHECK(context, type, argument, n, given) \
    sized_check(context, #type, argument, n, given, sizeof(type))
paritas_status sized_check(paritas_context *context, const char *type, const char *argument, size_t n,
                           const void *given, size_t size);
