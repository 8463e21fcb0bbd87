/* store_records.h: the key of a run of toys, and the toys of a run of fits. */
#pragma once

#include "base/context.h"

enum store_kind { STORE_TESTS, STORE_FITS };

/* Entry of a key: TESTS by importance sampling. Only their toys have columns of weights. */
#define STORE_IMPORTANCE "importance"

/* Runs that differ in kind, entries or parameters have different toys. */
struct store_run {
    enum store_kind kind;
    size_t n_entries;
    const paritas_key_entry *entries; /* distinct names, none is "kind" */
    size_t n_parameters;              /* FITS: length of the vectors; TESTS: 0 */
    const char *const *parameters;
};

/* n_parameters numbers; NULL: not kept. */
typedef const double *store_vector;

/* A toy of a FITS store. */
#define STORE_FIT_FIELDS(FIELD, R)                                                                       \
    FIELD(R, uint64_t, toy, , "toy", "", "its number")                                                   \
    FIELD(R, double, twice_nll, , "twice_nll", "", "twice the NLL at the best fit")                      \
    FIELD(R, double, statistic, , "statistic", "", "twice the NLL less its saturated value, all digits") \
    FIELD(R, double, edm, , "edm", "", "estimated distance to the minimum")                              \
    FIELD(R, paritas_fit_status, status, , "status", "", "outcome of its fit")                           \
    FIELD(R, unsigned, iterations, , "iterations", "", "of its fit")                                     \
    FIELD(R, store_vector, parameters, , "parameters", "", "fitted values")                              \
    FIELD(R, store_vector, errors, , "errors", "", "their errors")
struct store_fit {
    STORE_FIT_FIELDS(PARITAS_MEMBER, )
};
