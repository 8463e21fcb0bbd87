/* metal.h: which libraries the Metal device opens, for metal.c and tests. */
#ifndef PARITAS_DEVICE_METAL_METAL_H
#define PARITAS_DEVICE_METAL_METAL_H

/* Tests set a library with all functions of api.h before opening a device. NULL: the system's. */
extern const char *metal_library;

#endif
