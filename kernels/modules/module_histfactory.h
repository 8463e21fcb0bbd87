/* module_histfactory.h: the HistFactory kernels, behind a dialect. */
#include "entry/entry_histfactory.h"
