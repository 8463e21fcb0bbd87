/* entries.h: the kernels of all families by name, in the order of every device's tables. */
#ifndef PARITAS_DEVICE_ENTRIES_H
#define PARITAS_DEVICE_ENTRIES_H

#define PARITAS_KERNEL_ENTRIES(X) X(hf_evaluate) X(hf_expected) X(hf_hessian) X(hf_jacobian) X(hf_fit) X(hf_covariance) X(hf_profile) X(hf_draw) X(hf_fit_lbfgsb) X(hf_fit_de)

enum kernel_entry {
#define X(name) KERNEL_ENTRY_##name,
    PARITAS_KERNEL_ENTRIES(X)
#undef X
    PARITAS_KERNEL_ENTRY_COUNT
};

#endif
