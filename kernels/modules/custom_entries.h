/* custom_entries.h: entries of a user's model, in the order of device tables. */
#pragma once

#define MODULE_ENTRIES(X) \
    X(custom_about)       \
    X(custom_evaluate)    \
    X(custom_expected)    \
    X(custom_hessian)     \
    X(custom_jacobian)    \
    X(custom_covariance)  \
    X(custom_profile) X(custom_draw) X(custom_fit) X(custom_fit_lbfgsb) X(custom_fit_de) X(custom_sample)
