/* losscone_medium_entries.h: entries of the medium loss-cone module, in the order of losscone_entries.h. */
#pragma once

#define MODULE_ENTRIES(X)         \
    X(losscone_medium_misfit)     \
    X(losscone_medium_model)      \
    X(losscone_medium_cosines)    \
    X(losscone_medium_search)     \
    X(losscone_medium_evolve)     \
    X(losscone_medium_profile)    \
    X(losscone_medium_confidence) \
    X(losscone_medium_bootstrap)  \
    X(losscone_medium_counted)    \
    X(losscone_medium_counted_set)
