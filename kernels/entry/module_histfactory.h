/* module_histfactory.h: all kernels of the HistFactory family. A dialect stands in front of it. */
#include "entry/histfactory.h"
#include "entry/toys.h"
