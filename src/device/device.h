/* device.h: devices for the layers above.
 *
 *   device_open ─► device_launch (job rows in, result rows out) ─► ... ─► device_close
 *
 * device.c (front door) ─► device_automatic.c ("auto") ─► device_plain.c (names, self-test, resident models)
 * ─► a kind: cpu/, or accelerator.c with cuda/, metal/ or opencl/. */
#pragma once

#include "device/device_kind.h"

/* Opens "cpu" (NULL), "opencl:1", "auto", ...; close with device_close. A device that cannot run is an error
 * with the reason, never another device. May return DEVICE_ABSENT, DEVICE_LACKS_PRECISION. */
paritas_status device_open(paritas_context *context, const char *name, const struct device_request *request,
                           struct paritas_device **device);
/* The status that the library's callers see. */
paritas_status device_status(paritas_status status);
void device_close(struct paritas_device *device); /* NULL is a no-op */

/* The device that runs most ("auto" may move). Owned by the device. */
const char *device_name(const struct paritas_device *device);
/* Teams per launch that keep the device busy. */
uint32_t device_teams(const struct paritas_device *device);

/* A number unique in the process. Contexts share nothing else. */
uint64_t device_model_serial(void);
/* Uploads missing tables where devices keep models, the last DEVICE_RESIDENTS used; others read the
 * caller's. */
paritas_status device_launch(paritas_context *context, struct paritas_device *device,
                             const struct device_model *model, const struct device_launch *launch);
