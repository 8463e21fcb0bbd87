/* module_histfactory.h: all kernels of the HistFactory family. A dialect stands in front of it. */
#include "entry/entry_histfactory.h"
