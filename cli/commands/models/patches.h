/* patches.h: the patches of a set. */
#pragma once

#include "session/session.h"

struct patch {
    const char *name;
    const struct json *values, *operations;
};

/* The patches of --patchset. The session's workspace is their background, with each --patch. */
struct patches {
    paritas_workspace *patchset;
    const paritas_workspace *background;
    struct patch *items; /* in the session's arena */
    size_t n;
};
