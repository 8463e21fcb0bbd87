/* device_plain.h: one device of one kind: its name, its self-test, the models that stay on it. */
#pragma once

#include "device/device_kind.h"

/* Opens as device_open does, without "auto". */
paritas_status plain_open(paritas_context *context, const char *name, const struct device_request *request,
                          struct paritas_device **device);
/* Opens number `index` of the kind named `kind` and self-tests it. */
paritas_status plain_open_as(paritas_context *context, const struct device_operations *operations,
                             const char *kind, unsigned index, const struct device_request *request,
                             struct paritas_device **device);
void plain_close(struct paritas_device *device); /* NULL is a no-op */
paritas_status plain_launch(paritas_context *context, struct paritas_device *device,
                            const struct device_model *model, const struct device_launch *launch);
