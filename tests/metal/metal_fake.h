/* metal_fake.h: a stand-in for the Objective-C runtime, Foundation and Metal, as one shared library whose
 * devices run the kernels' Metal text as native code. It counts references as Metal's do, keeps to the order
 * of calls that Metal asks for, and fails on request. */
#ifndef PARITAS_METAL_FAKE_H
#define PARITAS_METAL_FAKE_H

#include "metal/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What shall go wrong; zeros: nothing. Numbers count calls from 1 on; 0: never. */
struct fake_faults {
    bool nil_devices, no_devices, no_queue, nil_function, nil_encoder;
    unsigned nil_commands;           /* this command buffer is nil */
    const char *compiler, *pipeline; /* the error's words; NULL: none */
    bool without_words;              /* errors are nil */
    unsigned failing_commands;       /* this command buffer ends with failing_code */
    unsigned then_all;               /* nonzero: and all that follow */
    int failing_code;
    unsigned nil_buffer; /* this buffer is nil */
    size_t buffer_most;  /* larger buffers are nil */
};

struct fake_metal {
    struct fake_faults faults;
    /* how the device is */
    unsigned threads_most; /* of a threadgroup of any kernel; 0: 1024 */
    bool before_macos_15;  /* no math mode */
    bool flushes;          /* subnormal numbers are flushed */
    bool rounds_wrongly;   /* the first number that a kernel writes is one unit off */
    enum team_order order;
    /* what happened */
    unsigned long live;  /* objects that someone still holds */
    unsigned long pools; /* open autorelease pools */
    unsigned long libraries, buffers, commands, dispatches;
    unsigned long teams_most;    /* of a dispatch */
    bool was_safe, was_fast_off; /* options of the last library */
    unsigned violations;
    char violation[256]; /* the first rule that was broken; "" */
};
extern struct fake_metal fake_metal;

/* All faults, settings and counts back to zero, but for `live` and `pools`. */
void fake_metal_reset(void);

#endif
