/* probe.h: tries a driver in a child process. One that aborts, crashes or hangs takes nothing else down.
 *
 *   probe_run ─► child: work, which opens devices ─► records through a pipe ─► parent: the last record, and
 *       how the child ended */
#pragma once

#include "device/device_kind.h"

struct probe {
    const char *name;      /* of the device, "opencl:0" */
    unsigned milliseconds; /* for all of `work`; the context's limit replaces it. To open a device: 5 s */
    struct device_request request;
    /* what the child says; the parent keeps the last that arrived */
    paritas_status status;    /* for `work` to set */
    paritas_device_info info; /* name and description: filled once the device is open */
    bool opened;              /* a device answered: what failed then was its self-test */
    bool remembered;          /* by the cache (verdict.h): there was no child */
    bool inherited;           /* the driver was in use before the child was made */
    bool loaded;              /* the child has opened a driver itself */
    int pipe;                 /* the child's end */
};

enum probe_end {
    PROBE_ANSWERED, /* `work` returned in the child */
    PROBE_FAILED,   /* it did not; the context has the message */
    PROBE_REFUSED   /* there can be no child, or the driver is in use in this process: try it here */
};

/* Runs work(context, probe) in a child, with a copy of the context. Notes of the child reach the caller's
 * function. */
enum probe_end probe_run(paritas_context *context, struct probe *probe,
                         void (*work)(paritas_context *context, struct probe *probe));

/* The child tells by these that a device is open, and what `info` holds by now. */
void probe_opened(struct probe *probe, const struct paritas_device *device);
void probe_tell(struct probe *probe);
