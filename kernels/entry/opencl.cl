/* opencl.cl: one entry as an OpenCL C program. The build joins it with what it includes into one text. */
#include "dialect/opencl.h"
#include "entry/histfactory.h"
#include "entry/profiles.h"
#include "entry/toys.h"
#include "entry/minimisers.h"

KERNEL_OF(PARITAS_ENTRY)
