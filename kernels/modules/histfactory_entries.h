/* histfactory_entries.h: HistFactory's entries, in the order of device tables. */
#pragma once

#define MODULE_ENTRIES(X) \
    X(hf_evaluate)        \
    X(hf_expected)        \
    X(hf_hessian)         \
    X(hf_jacobian)        \
    X(hf_fit)             \
    X(hf_covariance) X(hf_profile) X(hf_draw) X(hf_fit_lbfgsb) X(hf_fit_de) X(hf_tangent_rows) X(hf_sample)
