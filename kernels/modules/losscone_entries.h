/* losscone_entries.h: the entries of the loss-cone module. */
#pragma once

#define MODULE_ENTRIES(X)  \
    X(losscone_misfit)     \
    X(losscone_model)      \
    X(losscone_cosines)    \
    X(losscone_search)     \
    X(losscone_evolve)     \
    X(losscone_profile)    \
    X(losscone_confidence) \
    X(losscone_bootstrap)  \
    X(losscone_counted)    \
    X(losscone_counted_set)
