/* device_self_test.h: does a device give the CPU's bits? Asked when it is opened. */
#ifndef PARITAS_DEVICE_DEVICE_SELF_TEST_H
#define PARITAS_DEVICE_DEVICE_SELF_TEST_H

#include "device/device.h"
#include "entry/conformance_sizes.h"

#include <stdbool.h>

#define SELF_TEST_ROWS 12 /* several teams on any device */
#define SELF_TEST_OUT (SELF_TEST_ROWS * CONFORM_OUT)

/* Runs the conformance module (kernels/entry/module_conformance.h) on `device` and on the CPU in the same
 * precision and compares every bit. PARITAS_NO_DEVICE where one differs: the message names the word of the
 * kernel language or the function. Else the status of what failed. `usual_teams`: as in a launch. */
paritas_status self_test_run(paritas_context *context, struct paritas_device *device, bool usual_teams);

/* What the kernels are given: one row of inputs after the other, and the tables. */
struct self_test_data {
    double in[SELF_TEST_ROWS * CONFORM_IN], reals[CONFORM_REALS];
    uint32_t ints[CONFORM_INTS];
};
void self_test_fill(struct self_test_data *data);
/* The module's outputs on a device: SELF_TEST_OUT numbers into `out`. `lanes` and `usual_teams`: as in a
 * launch. */
paritas_status self_test_launch(paritas_context *context, struct paritas_device *device,
                                const struct self_test_data *data, unsigned lanes, bool usual_teams,
                                double *out);
/* What group number `group` of a row's results is about. */
const char *self_test_word(unsigned group);

#endif
