/* opencl.h: state of an open OpenCL device. */
#pragma once

#include "device/accelerator.h"
#include "device/opencl/opencl_api.h"

struct opencl_state {
    struct opencl_api api;
    opencl_device device;
    opencl_context context;
    opencl_queue queue;
    /* float quotients and roots are not IEEE 754: kernels build them from fma */
    bool builds_division;
};
