/* device_self_test.h: checks at opening that a device gives the CPU's bits. */
#pragma once

#include "device/device_kind.h"
#include "entry/conformance_sizes.h"

#include <stdbool.h>

#define SELF_TEST_ROWS 12  /* several teams on any device */
#define SELF_TEST_MIDDLE 5 /* the row whose first a b is hard to round */
#define SELF_TEST_OUT (SELF_TEST_ROWS * CONFORM_OUT)

/* Runs kernels/modules/module_conformance.h on `device` and the CPU in one precision. PARITAS_NO_DEVICE names
 * the word or function of a different bit. `usual_teams`: as in a launch. */
paritas_status self_test_run(paritas_context *context, struct paritas_device *device, bool usual_teams);

/* Inputs row by row, and the tables. */
struct self_test_data {
    double in[SELF_TEST_ROWS * CONFORM_IN], reals[CONFORM_ELEMS];
    uint32_t ints[CONFORM_INTS];
};
void self_test_fill(struct self_test_data *data, unsigned precision);
/* SELF_TEST_OUT numbers into `out`. */
paritas_status self_test_launch(paritas_context *context, struct paritas_device *device,
                                const struct self_test_data *data, unsigned lanes, bool usual_teams,
                                double *out);
/* Word for a group of results. */
const char *self_test_word(unsigned group);
