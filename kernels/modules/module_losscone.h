/* module_losscone.h: the loss-cone kernels, one lane (the search branches). */
#include "entry/entry_losscone_counted.h"
#include "entry/entry_losscone_evaluate.h"
#include "entry/entry_losscone_evolve.h"
#include "entry/entry_losscone_profile.h"
#include "entry/entry_losscone_search.h"
