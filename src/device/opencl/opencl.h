/* opencl.h: what an opened OpenCL device holds. Apart from opencl.c only tests look here. */
#ifndef PARITAS_DEVICE_OPENCL_OPENCL_H
#define PARITAS_DEVICE_OPENCL_OPENCL_H

#include "device/device.h"
#include "device/opencl/api.h"

/* Device memory that grows when a launch needs more and is kept until the device is closed. */
struct opencl_buffer {
    opencl_memory memory;
    size_t bytes;
};

/* An entry as a program of its own, in the device's precision; nothing before it is first launched. */
struct opencl_entry {
    opencl_program program;
    opencl_kernel kernel;
    unsigned workers; /* of a work-group */
};

struct opencl_state {
    void *library;
    struct opencl_api api;
    opencl_device device;
    opencl_context context;
    opencl_queue queue;
    struct opencl_entry entries[PARITAS_KERNEL_ENTRY_COUNT];
    bool is_cpu;
    unsigned workers; /* wished for a work-group */
    uint32_t compute_units;
    uint64_t largest_buffer, memory; /* bytes */
    struct opencl_buffer args, in, out, slabs;
    uint32_t teams_at_once; /* of the last launch, for tests */
    char description[256];
};

#endif
