/* metal.h: which libraries the Metal device opens, for metal.c and tests. */
#pragma once

/* Tests set a library with all functions of api.h before opening a device. NULL: the system's. */
extern const char *metal_library;
