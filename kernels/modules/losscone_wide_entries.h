/* losscone_wide_entries.h: entries of the wide loss-cone module, in the order of losscone_entries.h. */
#pragma once

#define MODULE_ENTRIES(X)       \
    X(losscone_wide_misfit)     \
    X(losscone_wide_model)      \
    X(losscone_wide_cosines)    \
    X(losscone_wide_search)     \
    X(losscone_wide_evolve)     \
    X(losscone_wide_profile)    \
    X(losscone_wide_confidence) \
    X(losscone_wide_bootstrap)  \
    X(losscone_wide_counted)    \
    X(losscone_wide_counted_set)
