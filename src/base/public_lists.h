/* public_lists.h: the lists of enumerations and records of all public headers. A new header adds its two here. */
#ifndef PARITAS_PUBLIC_LISTS_H
#define PARITAS_PUBLIC_LISTS_H

#include "paritas.h"
#include "paritas_er.h"
#include "paritas_gradient.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"

#define ALL_ENUMERATIONS(ENUMERATION)                                                  \
    PARITAS_CONTEXT_ENUMERATIONS(ENUMERATION)                                          \
    PARITAS_MODEL_ENUMERATIONS(ENUMERATION)                                            \
    PARITAS_FIT_ENUMERATIONS(ENUMERATION)                                              \
    PARITAS_STATISTICS_ENUMERATIONS(ENUMERATION)                                       \
    PARITAS_GRADIENT_ENUMERATIONS(ENUMERATION)                                         \
    PARITAS_LOSSCONE_ENUMERATIONS(ENUMERATION) PARITAS_KAPPA_ENUMERATIONS(ENUMERATION) \
        PARITAS_ER_ENUMERATIONS(ENUMERATION)
#define ALL_RECORDS(RECORD)            \
    PARITAS_CONTEXT_RECORDS(RECORD)    \
    PARITAS_FIT_RECORDS(RECORD)        \
    PARITAS_STATISTICS_RECORDS(RECORD) \
    PARITAS_TOYS_RECORDS(RECORD) PARITAS_LOSSCONE_RECORDS(RECORD) PARITAS_KAPPA_RECORDS(RECORD)

#endif
