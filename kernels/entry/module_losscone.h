/* module_losscone.h: the loss-cone kernels. One lane: the search branches. */
#include "entry/losscone_evaluate.h"
#include "entry/losscone_evolve.h"
#include "entry/losscone_profile.h"
#include "entry/losscone_search.h"
