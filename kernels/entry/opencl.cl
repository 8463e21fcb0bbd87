/* opencl.cl: all kernels as one OpenCL C program. The build joins it with what it includes into one text. */
#include "dialect/opencl.h"
#include "entry/histfactory.h"
