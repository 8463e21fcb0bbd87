/* own_context.h: a copy of a context with other settings for a part of a call. */
#ifndef PARITAS_INFER_OWN_CONTEXT_H
#define PARITAS_INFER_OWN_CONTEXT_H

#include "base/context.h"

#include <string.h>

static inline paritas_context own_context(const paritas_context *context)
{
    paritas_context own = *context;
    own.message[0] = '\0';
    return own;
}

/* A context on the CPU in f64. */
static inline paritas_context own_context_on_host(const paritas_context *context)
{
    paritas_context own = own_context(context);
    own.device = own.host;
    return own;
}

/* Copies the error message back; returns `status`. */
static inline paritas_status own_context_ends(const paritas_context *own, paritas_context *context,
                                              paritas_status status)
{
    if (own->message[0]) memcpy(context->message, own->message, sizeof context->message);
    return status;
}

#endif
