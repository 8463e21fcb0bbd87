/* metal.h: where the Metal device finds its libraries. Apart from metal.c only tests look here. */
#ifndef PARITAS_DEVICE_METAL_METAL_H
#define PARITAS_DEVICE_METAL_METAL_H

/* A library that has all functions of api.h, in place of the system's: set by tests before a device is
 * opened. NULL, as always else: the system's own. */
extern const char *metal_library;

#endif
