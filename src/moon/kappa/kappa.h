/* kappa.h: shared by the files of this folder. */
#pragma once

#include "device/kernel_module.h"
#include "modules/kappa_entries.h"
#include "paritas_kappa.h"

#include <stdbool.h>

extern const struct kernel_module paritas_module_kappa;

enum kappa_entry {
#define X(name) ENTRY_##name,
    MODULE_ENTRIES(X)
#undef X
};

/* Limits of distributions; theta in m/s. */
#define KAPPA_MOST 1000.0
#define THETA_LEAST 1e4
#define THETA_MOST 1e9

/* The kernels' functions at width 1, in f64. */
double kappa_log_normalisation(double kappa); /* ln A, kernels/kappa/kappa_distribution.h */
double kappa_log_thermal_energy(double theta);
double kappa_speed(double energy); /* eV to m/s */
/* 1 / (2 sigma^2) of a response's relative FWHM. */
double kappa_sharpness(double response);

bool kappa_plasma_is_valid(const paritas_kappa_plasma *plasma);
/* Refuses plasma k of the argument `name` unless it is valid. */
paritas_status kappa_plasma_check(paritas_context *context, const char *name, size_t k,
                                  const paritas_kappa_plasma *plasma);

/* Checks options and adds defaults. `given` may be NULL. */
paritas_status potential_options_read(paritas_context *context, const paritas_potential_options *given,
                                      paritas_potential_options *options);

/* Its numbers are NaN. */
paritas_potential potential_unknown(paritas_potential_status status, unsigned sunlit, double shift);
